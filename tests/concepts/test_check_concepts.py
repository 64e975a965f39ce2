"""`platform concepts check`: links compared with an article's headings."""

import json
import re

import pytest
from concept_data import Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.check import check
from irplatform.errors import InputError
from irplatform.knowledge import add

MESH = "\n".join(
    [
        "D008545\tMelanoma\tMalignant Melanoma\tC04.557\t",
        "D009369\tNeoplasms\tTumor|Neoplasm\tC04\t",
        "D006801\tHumans\tHuman\tB01\t",
        "D010361\tPatients\tPatient\tM01\t",
    ]
)
HEADINGS = {"d1": ["Humans", "Melanoma/drug therapy*"], "d2": ["Melanoma", "Neoplasms", "Nowhere"]}
CHECKED = [("d1", "Humans and patients", ""), ("d2", "A melanoma", ""), ("d3", "Melanoma", "")]


def test_check_without_mesh_is_refused_before_a_graph_is_built(concepts, workspace):
    result = concepts("check")
    assert result.code == 2
    assert "mesh is not among the knowledge bases of the graph (own, second)" in result.err
    assert not (workspace / "home" / "concepts").exists()


@pytest.fixture
def checked(fresh_home, tmp_path):
    from irplatform.concepts.build import open_graph

    (tmp_path / "mesh.tsv").write_text(MESH)
    add("mesh", [tmp_path / "mesh.tsv"])
    corpus = Articles(CHECKED, HEADINGS)
    return open_graph(corpus, ConceptOptions(), workers=1), corpus


def test_check_counts_links_among_headings(checked):
    """Right: Humans in d1, Melanoma in d2. Missed: Melanoma in d1, Neoplasms in d2."""
    facts = check(*checked)
    assert facts["documents"] == 2
    assert facts["unknown_headings"] == 1
    figures = facts["all"]
    assert (figures["headings"], figures["links"]) == (4, 3)
    assert (figures["precision"], figures["recall"]) == (round(2 / 3, 4), 0.5)
    assert figures["recall_near"] == 0.75  # Neoplasms is one step from Melanoma
    assert facts["without_check_tags"]["precision"] == 0.5
    assert facts["disease"]["headings"] == 3
    assert facts["gene"] == {
        "headings": 0, "links": 0,
        "precision": None, "recall": None, "precision_near": None, "recall_near": None,
    }  # fmt: skip
    misses = {(miss["document"], miss["heading"]) for miss in facts["misses"]}
    assert misses == {("d1", "Melanoma"), ("d2", "Neoplasms")}
    (false,) = facts["false_links"]
    assert (false["document"], false["linked"]) == ("d1", "Patients")
    assert "[patients]" in false["text"]


def test_check_tells_no_precision_where_nothing_is_linked(concepts, workspace):
    (workspace / "mesh.tsv").write_text(MESH)
    add("mesh", [workspace / "mesh.tsv"])
    headings = {"mesh": ["Humans"]}
    article = {"_id": "d1", "title": "Nothing", "text": "", "metadata": headings}
    (workspace / "small" / "corpus.jsonl").write_text(json.dumps(article))
    result = concepts("check")
    assert result.code == 0, result.err
    assert re.search(r"^all +1 +0 +- +0.000 +- +0.000$", result.out, re.MULTILINE)
    assert concepts("check", "--json").json["all"]["precision"] is None


def test_check_shows_as_many_examples_as_asked(checked):
    facts = check(*checked, examples=1)
    assert (len(facts["misses"]), len(facts["false_links"])) == (1, 1)
    assert facts["misses"] == check(*checked, examples=1)["misses"]


def test_check_needs_mesh_and_headings(checked, graph, corpus):
    with pytest.raises(InputError, match=r"mesh is not among .* \(own, second\)"):
        check(graph, corpus)
    with pytest.raises(InputError, match="no document has headings in a field 'keywords'"):
        check(*checked, "keywords")
