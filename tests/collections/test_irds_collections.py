"""Datasets of ir_datasets: their splits, judgments and candidates."""

from typing import NamedTuple

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseQrels, GenericDoc
from ir_datasets.formats.trec import TrecSubQrel
from irds_parts import Docs, Qrels, Queries, Scored

from irplatform import run
from irplatform.collections.irds import exists, open_dataset
from irplatform.data import subtopics_of


def test_splits_share_documents_and_train_and_validate_each_other(registered):
    collection = open_dataset("local/test")
    training = collection.training()
    assert training.metadata["ir_datasets id"] == "local/train"
    assert training.validation().metadata["ir_datasets id"] == "local/dev"
    assert training.corpus.fingerprint == collection.corpus.fingerprint
    assert collection.corpus.name == "local"
    assert [(d.id, d.abstract) for d in collection.corpus] == [("a", "alpha"), ("b", "beta")]
    assert collection.corpus.count() == 2
    assert collection.load_qrels() == {"test": {"a": 1}}
    assert [t.id for t in training.load_topics()] == ["train"]


def test_a_dataset_may_bring_candidates_with_scores(registered):
    dataset = Dataset(Docs(), Queries("test"), Qrels("test"), Scored())
    ir_datasets.registry.register("local/scored", dataset)
    assert open_dataset("local/scored").load_scored() == {"test": {"b": 2.5, "a": 1.5}}
    assert open_dataset("local/test").load_scored is None


@pytest.mark.java
@pytest.mark.usefixtures("registered", "fresh_home")
def test_the_candidates_of_a_dataset_are_reranked(tmp_path):
    dataset = Dataset(Docs(), Queries("test"), Qrels("test"), Scored())
    ir_datasets.registry.register("local/scored", dataset)
    report = run(
        "local/scored",
        first_stages="scoreddocs",
        rerankers="bm25-text",
        interpolate=0,
        measures="RR",
        run_dir=tmp_path,
    )
    assert report.first_stage == "scoreddocs"
    assert (tmp_path / "scoreddocs.run").read_text() == (
        "test Q0 b 1 2.5 scoreddocs\ntest Q0 a 2 1.5 scoreddocs\n"
    )
    assert report.final_stage.measures["RR"] == 0.5
    assert report.ceiling["RR"] == 1.0
    assert report.candidates.facts["protocol"] == "scoreddocs"


class PassageQrel(NamedTuple):
    query_id: str
    doc_id: str
    start: int
    relevance: int


class PassageQrels(BaseQrels):
    def qrels_iter(self):
        grades = {"a": (0, 2, 1, 0), "b": (-1, 0), "c": (-1,)}
        return iter(PassageQrel("1", d, n, g) for d in grades for n, g in enumerate(grades[d]))


def test_a_document_has_the_grade_of_its_best_passage(registered):
    dataset = Dataset(Docs(), Queries("1"), PassageQrels())
    ir_datasets.registry.register("local/passages", dataset)
    assert open_dataset("local/passages").load_qrels() == {"1": {"a": 2, "b": 0, "c": -1}}


class DefinedQrels(PassageQrels):
    def qrels_defs(self):
        return {0: "no", 1: "yes"}


def test_grades_are_defined_as_far_as_the_library_says(registered):
    for name, qrels in (("told", DefinedQrels()), ("untold", PassageQrels())):
        ir_datasets.registry.register(f"local/{name}", Dataset(Docs(), Queries("1"), qrels))
    assert open_dataset("local/told").grades == {0: "no", 1: "yes"}
    assert open_dataset("local/untold").grades == {}


class SubtopicQrels(BaseQrels):
    def qrels_iter(self):
        return iter([TrecSubQrel("1", "a", 0, "x"), TrecSubQrel("1", "a", 1, "y")])


def test_subtopics_are_kept(registered):
    dataset = Dataset(Docs(), Queries("1"), SubtopicQrels())
    ir_datasets.registry.register("local/diversity", dataset)
    qrels = open_dataset("local/diversity").load_qrels()
    assert qrels == {"1": {"a": 1}}
    assert subtopics_of(qrels) == {"1": {"x": {"a": 0}, "y": {"a": 1}}}


class RepeatedDocs(Docs):
    def docs_iter(self):
        return iter([GenericDoc("a", "alpha"), GenericDoc("b", "beta"), GenericDoc("a", "")])

    def docs_count(self):
        return 3


def test_of_several_records_of_a_paper_in_cord19_the_first_one_counts(registered):
    dataset = Dataset(RepeatedDocs(), Queries("1"), Qrels("1"))
    ir_datasets.registry.register("cord19/local", dataset)
    corpus = open_dataset("cord19/local").corpus
    assert [(d.id, d.abstract) for d in corpus] == [("a", "alpha"), ("b", "beta")]
    assert (corpus.count(), corpus.size_hint()) == (None, 3)


def test_dev_is_not_validated_on_itself_and_train_trains_nothing(registered):
    assert open_dataset("local/dev").training().validation is None
    assert open_dataset("local/train").training is None


def test_other_names_of_splits_are_known():
    assert open_dataset("nfcorpus/test/nontopic").training().id == "nfcorpus-train-nontopic"
    assert open_dataset("wikir/en1k/test").training().validation().id == "wikir-en1k-validation"
    assert open_dataset("msmarco-passage/dev/small").training().validation is None


def test_ids_are_known_or_not():
    assert exists("beir/nfcorpus/test")
    assert not exists("beir/nfcorpus/tests")
