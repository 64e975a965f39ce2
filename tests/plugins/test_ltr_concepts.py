"""Where documents speak of a topic's concepts, and how close together."""

import numpy as np
import pytest
from feature_resources import feature_resources

from irplatform.knowledge import add
from irplatform.plugin import Document, Documents, Topic
from irplatform.text import ForwardIndex, build_forward_index
from irplatform_ltr.groups.concepts import Concepts

pytestmark = pytest.mark.java

KB = """id\tname\tkind\tsynonyms\tparents\txrefs
X:1\tmelanoma\tdisease\tskin cancer\t\t
X:2\tlentigo maligna\tdisease\t\tX:1\t
X:3\tBRAF\tgene\t\t\t
X:4\tNRAS\tgene\t\t\t
"""
DOCUMENTS = [
    Document("both", "", "braf v600e and nras in melanoma"),
    Document("kind", "NRAS", "nras expression in lentigo maligna"),
    Document("synonym", "", "braf prognosis in skin cancers"),
    Document("disease", "", "melanomas were treated, and brafs"),
    Document("nothing", "", "other words"),
    Document("empty", "", ""),
]
IDS = [document.id for document in DOCUMENTS]
TOPIC = Topic("t", "melanoma", {"disease": "melanoma", "gene": "BRAF (V600E), NRAS"})


@pytest.fixture
def features(index_of, fresh_home, tmp_path):
    """The features of all documents by name, each by the document."""
    (tmp_path / "own.tsv").write_text(KB)
    add("own", [tmp_path / "own.tsv"])
    build_forward_index(iter(DOCUMENTS), tmp_path / "forward", workers=1)
    resources = feature_resources(tmp_path / "small", {}, {"x": np.ones(2)})
    forward, index = ForwardIndex.open(tmp_path / "forward"), index_of(DOCUMENTS)
    resources.forward_index, resources.index = lambda: forward, lambda: index
    group = Concepts()
    group.prepare(resources)

    def of(topic):
        values = group.compute(topic, Documents.of(DOCUMENTS))
        return {
            name: dict(zip(IDS, column, strict=True))
            for name, column in zip(group.names(), values.T.tolist(), strict=True)
        }

    return of


def _having(values):
    return {doc_id: value for doc_id, value in values.items() if value}


def test_the_share_of_genes_and_variants_that_a_document_speaks_of(features):
    rows = features(TOPIC)
    assert _having(rows["genes_share"]) == {"both": 1, "kind": 0.5, "synonym": 0.5}
    assert _having(rows["variants_share"]) == {"both": 1}
    without = features(Topic("t", "melanoma", {"disease": "melanoma"}))
    assert not _having(without["genes_share"])
    assert not _having(without["variants_share"])


def test_documents_with_the_disease_and_a_gene_are_told_from_others(features):
    rows = features(TOPIC)
    assert set(_having(rows["disease_and_gene"])) == {"both", "kind", "synonym"}
    counts = {"both": 3, "kind": 3, "synonym": 2, "disease": 1}
    assert {d: np.expm1(v) for d, v in _having(rows["names_used"]).items()} == pytest.approx(counts)


def test_places_are_shares_of_the_length_and_far_away_where_there_is_no_mention(features):
    rows = features(TOPIC)
    assert rows["gene_first"] == pytest.approx(
        {"both": 0, "kind": 0, "synonym": 0, "disease": 1.5, "nothing": 1.5, "empty": 1.5}
    )
    assert rows["gene_last"]["both"] == pytest.approx(3 / 6)
    assert rows["gene_last"]["nothing"] == -0.5
    assert rows["gene_density"]["kind"] == pytest.approx(2 / 6)
    assert (rows["gene_title"]["kind"], rows["gene_title"]["both"]) == (1, 0)
    assert rows["gene_abstract"]["kind"] == pytest.approx(np.log1p(1))
    assert rows["gene_abstract"]["both"] == pytest.approx(np.log1p(2))


def test_own_names_synonyms_and_kinds_of_the_disease_are_told_apart(features):
    rows = features(TOPIC)
    having = {name: set(_having(rows[f"{name}_abstract"])) for name in ("disease_own", "disease")}
    assert having == {
        "disease_own": {"both", "disease"},
        "disease": {"both", "disease", "synonym"},
    }
    assert set(_having(rows["disease_kind_abstract"])) == {"both", "disease", "synonym", "kind"}


def test_pairs_are_close_in_the_order_in_which_they_come(features):
    rows = features(TOPIC)
    distance = {d: np.expm1(v) for d, v in rows["gene_disease_distance"].items()}
    assert distance["both"] == pytest.approx(2)  # nras in melanoma
    assert distance["nothing"] == pytest.approx(400)
    assert rows["gene_disease_order"]["both"] == 1
    assert rows["gene_disease_order"]["disease"] == 0
    assert np.expm1(rows["gene_disease_close"]["both"]) == pytest.approx(2)
