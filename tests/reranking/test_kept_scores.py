"""Scores are kept, and made again when what they depend on has changed."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from letters import (
    CORPUS,
    OTHER_CORPUS,
    TOPICS,
    Letters,
    choose,
    make_candidates,
    rerank,
    training_set_of,
)
from small import SmallResources, registration

from irplatform.collection_resources import CollectionResources
from irplatform.plugin import Options
from irplatform.reranking.rerank import rerank_with_seeds
from irplatform.reranking.systems import ChosenReranker
from irplatform.reranking.training_set import LearningPlan
from irplatform.retrieval.retrievers import RetrievedRun

pytestmark = pytest.mark.usefixtures("fresh_home")


def test_scores_that_a_weight_was_chosen_on_are_kept(resources):
    """The next run over other topics asks for the same ones."""
    scored = []

    class Counting(Letters):
        def score(self, topic, documents):
            scored.append(topic.id)
            return super().score(topic, documents)

    source = LearningPlan(training_set_of(*range(20)))
    run = rerank(choose(Counting), make_candidates(), None, source, None, resources)
    again = rerank(choose(Counting), make_candidates(), None, source, None, resources)
    assert again.weight == run.weight
    assert [topic for topic in scored if topic.startswith("x")] == [f"x{n}" for n in range(20)]


class Noting(Letters):
    """Counts what it scores, tells of a topic, and looks at the index."""

    scored: ClassVar[list[str]] = []

    def prepare(self, resources):
        self.resources = resources

    def score(self, topic, documents):
        Noting.scored.append(topic.id)
        self.resources.forward_index()
        if topic.id == "t7":
            self.resources.notice("t7 is odd")
        return super().score(topic, documents)


@pytest.fixture
def recorded(resources):
    """Ranks with it, with resources that are as new each time; how many topics were scored."""
    forward = SimpleNamespace(fingerprint="forward", path=Path("forward"))
    built = forward, forward

    def again(candidates=None, **changed):
        Noting.scored.clear()
        fresh_resources = replace(
            CollectionResources(CORPUS, device="cpu", seed=1, threads=1), **changed
        )
        fresh_resources.documents = resources.documents
        fresh_resources._opened.forward_index = built
        source = LearningPlan()
        run = rerank(
            choose(Noting), candidates or make_candidates(), None, source, None, fresh_resources
        )
        return len(Noting.scored), fresh_resources, run

    return again


def test_what_was_scored_is_not_scored_again(recorded, capsys):
    scored, first, run = recorded()
    assert scored == len(TOPICS)
    assert "t7 is odd" in capsys.readouterr().err
    scored, second, same = recorded()
    assert scored == 0
    assert same.final.rankings["t7"].scores.tolist() == run.final.rankings["t7"].scores.tolist()
    assert "t7 is odd" in capsys.readouterr().err
    assert first.artifacts == second.artifacts == {"forward_index": "forward"}


def test_what_an_interrupted_call_told_is_told_by_those_that_go_on(recorded, monkeypatch, capsys):
    score, scored = Letters.score, []

    def interrupted(self, topic, documents):
        if topic.id == TOPICS[-1].id:
            raise KeyboardInterrupt
        scored.append(topic.id)
        return score(self, topic, documents)

    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 1)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Letters, "score", interrupted)
        recorded()
    assert "t7" in scored
    for count in (1, 0):
        capsys.readouterr()
        again, resources, _ = recorded()
        assert again == count
        assert "t7 is odd" in capsys.readouterr().err
        assert resources.artifacts == {"forward_index": "forward"}


def test_what_one_reranker_uses_is_not_said_of_another():
    base = make_candidates()
    retrieved = [RetrievedRun(base.first, "mark", {}, {"index": "index"})]
    candidates = replace(base, retrieved=retrieved)
    resources = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    resources.documents = SmallResources().documents
    built = SimpleNamespace(fingerprint="forward", path=Path("forward"))
    resources._opened.forward_index = built, built
    artifacts = []
    for kind in (Noting, Letters):
        choice = ChosenReranker(registration(kind, kind.__name__), Options())
        (run,) = rerank_with_seeds(choice, candidates, LearningPlan(), resources, 1)
        artifacts.append(run.resources.artifacts)
    assert artifacts == [{"index": "index", "forward_index": "forward"}, {"index": "index"}]


@pytest.mark.parametrize("changed", [{"seed": 2}, {"model_threads": 2}, {"corpus": OTHER_CORPUS}])
def test_what_scores_depend_on_makes_them_others(recorded, changed):
    recorded()
    assert recorded()[0] == 0
    assert recorded(**changed)[0] == len(TOPICS)


def test_other_candidates_are_scored(recorded):
    recorded()
    assert recorded(make_candidates(depth=4))[0] == len(TOPICS)


def test_scores_of_other_code_of_ours_are_not_taken(recorded, monkeypatch):
    recorded()
    for module in ("results", "scoring"):
        monkeypatch.setattr(f"irplatform.reranking.{module}.our_digest", lambda: "edited")
    assert recorded()[0] == len(TOPICS)


def test_scores_that_cannot_be_read_are_made_again(recorded, fresh_home, capsys):
    recorded()
    (scores,) = (fresh_home / "scores").glob("*/scores.npz")
    scores.write_bytes(bytes(scores.stat().st_size))
    shutil.rmtree(fresh_home / "result")
    recorded()
    assert "has a damaged file, scores.npz, and is made again" in capsys.readouterr().err


def test_an_interrupted_reranking_goes_on_unless_told_not_to(resources, monkeypatch):
    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 1)

    class Interrupted(Letters):
        topics: ClassVar[list[str]] = []
        stop = "t5"

        def score(self, topic, documents):
            if topic.id == self.stop:
                raise KeyboardInterrupt
            self.topics.append(topic.id)
            return super().score(topic, documents)

    def call():
        Interrupted.topics.clear()
        rerank(choose(Interrupted), make_candidates(), None, LearningPlan(), None, resources)
        return list(Interrupted.topics)

    with pytest.raises(KeyboardInterrupt):
        call()
    Interrupted.stop = None
    assert call() == [f"t{n}" for n in range(5, 20)]
    assert call() == []
    resources.seed = 2
    Interrupted.stop = "t5"
    with pytest.raises(KeyboardInterrupt):
        call()
    Interrupted.stop = None
    resources.resume = False
    assert len(call()) == 20
