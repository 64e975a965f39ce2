"""Reranking: who learns, who scores, and how scores are mixed with the first stage."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from letters import (
    CORPUS,
    IDS,
    TOPICS,
    Letters,
    Witness,
    choose,
    make_candidates,
    rerank,
    training_set_of,
)
from small import SmallResources

from irplatform.collection_resources import CollectionResources
from irplatform.reranking.rerank import rerank_with_seeds
from irplatform.reranking.training_set import LearningPlan, examples, seeds_of
from irplatform.system.console import notice

pytestmark = pytest.mark.usefixtures("fresh_home")


def test_without_training_an_untrained_reranker_ranks_alone(resources):
    run = rerank(choose(Letters), make_candidates(), None, LearningPlan(), None, resources)
    assert run.weight == 0
    assert run.final.name == "ranker"
    assert run.alone.name == "ranker-alone"
    assert list(run.final.rankings) == [t.id for t in TOPICS]
    assert all(r.doc_ids == tuple("abcde") for r in run.final.rankings.values())


def test_a_reranker_may_compare_all_candidates_at_the_end(resources):
    class Reversing(Letters):
        def rescore(self, topic, documents, scores):
            assert documents.ids == tuple(IDS)
            return [-score for score in scores]

    run = rerank(choose(Reversing), make_candidates(), None, LearningPlan(), None, resources)
    assert run.alone.rankings["t3"].doc_ids == tuple("edcba")


def test_documents_below_the_rerank_depth_stay_below(resources):
    run = rerank(choose(Letters), make_candidates(3), None, LearningPlan(), 0.0, resources)
    assert run.final.rankings["t0"].doc_ids == tuple("cdeba")


def test_candidates_know_how_many_there_are_unless_they_are_all():
    assert (make_candidates(3).most, make_candidates(5).most) == (3, None)


@pytest.mark.parametrize(("weight", "expected"), [(1.0, "edcba"), (0.0, "abcde")])
def test_a_given_weight_is_used(resources, weight, expected):
    run = rerank(choose(Letters), make_candidates(), None, LearningPlan(), weight, resources)
    assert run.weight == weight
    assert run.final.rankings["t3"].doc_ids == tuple(expected)
    assert run.alone.rankings["t3"].doc_ids == tuple("abcde")


@pytest.mark.parametrize("source", [LearningPlan(folds=True), None])
def test_nothing_is_scored_for_a_weight_that_was_given(resources, source):
    scored = []

    class Counting(Letters):
        def score(self, topic, documents):
            scored.append(topic.id)
            return super().score(topic, documents)

    qrels = {t.id: {"a": 1} for t in TOPICS}
    source = source or LearningPlan(training_set_of(*range(20)))
    run = rerank(choose(Counting), make_candidates(), qrels, source, 0.3, resources)
    assert run.weight == 0.3
    assert scored == [t.id for t in TOPICS]


class Indexed(CollectionResources):
    """Resources of an index of `IDS` and of "far", which no topic finds."""

    def index_artifact(self):
        return SimpleNamespace(fingerprint="index")

    def index(self):
        return SimpleNamespace(missing=lambda ids: {*ids} - {*IDS, "far"})


def test_judged_documents_that_the_corpus_lacks_are_told_and_not_learned_from(capsys):
    resources = Indexed(CORPUS, device="cpu", seed=1, threads=1)
    qrels = {"t0": {"a": 1, "gone": 0}, "t1": {"far": 2, "lost": 1}, "elsewhere": {"no": 1}}
    candidates = replace(make_candidates(), qrels=qrels)
    judged = {e.topic.id: e.labelled.judgments for e in examples(candidates, resources)}
    assert judged == {"t0": {"a": 1}, "t1": {"far": 2}}
    warning = "2 of the 4 judged documents of 'corpus' are not among its documents (gone, lost)"
    assert warning in capsys.readouterr().err
    examples(replace(candidates, name="c"), resources)
    assert "documents of 'c' are not" in capsys.readouterr().err


def test_the_index_is_asked_once_for_judged_documents_and_never_for_candidates(monkeypatch):
    resources = Indexed(CORPUS, device="cpu", seed=1, threads=1)
    candidates = replace(make_candidates(), qrels={"t0": {"a": 1, "gone": 0}})
    examples(candidates, resources)
    monkeypatch.setattr(Indexed, "index", lambda self: pytest.fail("the index was opened"))
    (again,) = examples(candidates, resources)
    assert again.labelled.judgments == {"a": 1}
    monkeypatch.setattr(Indexed, "index_artifact", lambda self: pytest.fail("was built"))
    (only,) = examples(replace(candidates, qrels={"t0": {"a": 1}}), resources)
    assert only.labelled.judgments == {"a": 1}


@pytest.mark.parametrize("seeds", [1, 2])
def test_of_several_seeds_every_line_names_its_own(resources, monkeypatch, capsys, seeds):
    documents = SmallResources().documents
    monkeypatch.setattr(CollectionResources, "documents", lambda _, doc_ids: documents(doc_ids))
    qrels = {t.id: {"a": 1} for t in TOPICS}
    candidates = replace(make_candidates(), qrels=qrels)
    learning = LearningPlan(folds=True, interpolate=0.5)
    for run in rerank_with_seeds(choose(Witness), candidates, learning, resources, seeds):
        notice(f"{run.final.name} is written")
    lines = capsys.readouterr().err.splitlines()
    prefixes = [
        line.partition("training ranker on fold 1")[0] for line in lines if "fold 1" in line
    ]
    reports = [line for line in lines if "is written" in line]
    if seeds == 1:
        assert prefixes == [""]
        assert reports == ["ranker is written"]
    else:
        first, second = seeds_of(resources.seed, 2)
        assert prefixes == [f"seed {first}: ", f"seed {second}: "]
        assert reports == [f"ranker-seed{seed} is written" for seed in (first, second)]
