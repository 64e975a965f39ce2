"""Authors test plugins with `irplatform.testing`: fixtures, and a case for each check."""

import warnings

import pytest
from _pytest.outcomes import Failed, Skipped

from irplatform import testing
from irplatform.conformance import check as conformance
from irplatform.conformance.data import Finding
from irplatform.conformance.template import new_plugin
from irplatform.errors import InputError
from irplatform.evaluation.measure_names import parse_measures
from irplatform.experiment.run import run
from irplatform.experiment.run_settings import RunSettings
from irplatform.registry.loading import registry
from irplatform.registry.session import load_plugin

pytest_plugins = ["irplatform.testing"]

test_the_demo_collection_keeps_the_contract = testing.check_plugin("demo", only=["demo"])


def test_the_small_collection_has_a_trial_a_case_and_larvae_for_every_topic(small_collection):
    documents = {document.id: document for document in small_collection.corpus}
    assert [*documents] == [f"d{n}" for n in range(1, 19)]
    assert small_collection.corpus.count() == 18
    topics, qrels = small_collection.load_topics(), small_collection.load_qrels()
    assert topics[0].query == "crizotinib lung cancer"
    assert topics[1].fields == {"disease": "melanoma", "drug": "vemurafenib"}
    assert qrels["t2"] == {"d4": 2, "d5": 1, "d6": 0}
    for topic in topics:
        trial, case, larvae = (documents[doc_id] for doc_id in qrels[topic.id])
        assert topic.fields["disease"] in trial.title
        assert topic.fields["drug"] in case.abstract
        assert "zebrafish" in larvae.title
    assert [*parse_measures(small_collection.measures)] == ["nDCG@10", "RR"]


def test_its_resources_have_documents_and_statistics(resources):
    (document,) = resources.documents(["d3"])
    assert document.title == "Crizotinib in zebrafish"
    assert resources.forward_index().rows(["d1", "d18"]).tolist() == [0, 17]


@pytest.mark.java
def test_training_data_are_four_topics_and_two_to_choose_on(training_data):
    assert [len(training_data.training), len(training_data.validation)] == [4, 2]
    assert training_data.workspace.is_dir()
    for labelled in training_data.training:
        assert {*labelled.judgments} <= {*labelled.candidates}


@pytest.mark.java
def test_commands_find_the_small_collection(small_collection, tmp_path, fresh_home):
    report = run(RunSettings("small", rerankers=("revdocid",), run_dir=tmp_path / "runs"))
    assert [system.name for system in report.systems] == ["bm25", "revdocid"]
    assert "small" in registry().collections


FINDING = Finding(
    "reranker",
    "mine",
    {"declarations": [], "asked again": ["one", "two"], conformance.FAILED: ["it failed"]},
)
EXPECTED = ("declarations", "asked again", "another order", "explain")


@pytest.mark.parametrize(
    ("check", "outcome", "message"),
    [
        ("declarations", None, ""),
        ("asked again", Failed, "one\ntwo"),
        ("another order", Failed, "it failed"),
        ("explain", Skipped, "not reached: it failed"),
    ],
)
def test_a_case_fails_with_what_its_check_found(check, outcome, message):
    if outcome is None:
        testing._judge(FINDING, check, EXPECTED)
        return
    with pytest.raises(outcome) as raised:
        testing._judge(FINDING, check, EXPECTED)
    assert str(raised.value) == message


def test_what_could_not_be_checked_is_skipped():
    with pytest.raises(Skipped, match="a file is missing"):
        testing._judge(Finding("reranker", "mine", {}, "a file is missing"), "explain", EXPECTED)
    with pytest.raises(Skipped, match="does not apply"):
        testing._judge(Finding("reranker", "mine", {"explain": []}), "rescore", EXPECTED)


def test_remarks_are_warnings_of_the_first_case(monkeypatch):
    finding = Finding("measure", "Mine", {"numbers": []}, remarks=["say more"])
    monkeypatch.setattr(conformance, "check_plugin", lambda *_: [finding])
    monkeypatch.setattr(conformance, "registered_by", lambda *_: {("measure", "Mine"): None})
    test = testing.check_plugin("demo")
    with pytest.warns(UserWarning, match="measure 'Mine': say more"):
        test("measure", "Mine", "numbers")
    (mark,) = test.pytestmark
    assert [case.id for case in mark.args[1]][:2] == ["Mine: numbers", "Mine: arguments"]
    with warnings.catch_warnings(), pytest.raises(Skipped):
        warnings.simplefilter("error")
        test("measure", "Mine", "arguments")


@pytest.mark.java
def test_a_file_is_tested_without_a_package(tmp_path):
    for kind in ("reranker", "trainable", "retriever", "collection", "measure", "features"):
        source = new_plugin("mine", tmp_path / kind, kind).folder
        file = (source / "irplatform_mine.py").rename(tmp_path / f"{kind}.py")
        with load_plugin(file) as loaded:
            (word,) = loaded.names
            (finding,) = conformance.check_plugin(kind)
        assert f"{finding.kind} {finding.name}" == word
        assert (finding.problems, finding.unchecked, finding.remarks) == ([], "", [])
        assert "another process" not in finding.checks


def test_an_unknown_plugin_is_refused_before_any_test():
    with pytest.raises(InputError, match="unknown plugin 'dmeo'"):
        testing.check_plugin("dmeo")
