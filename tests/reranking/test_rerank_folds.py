"""Cross-validation: each topic is scored by a model that did not learn from it."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from letters import TOPICS, Letters, Witness, choose, make_candidates, rerank

from irplatform.plugin import Topic
from irplatform.reranking.training_set import FOLDS, LearningPlan

pytestmark = pytest.mark.usefixtures("fresh_home")


@pytest.mark.parametrize("count", [3, FOLDS])
def test_cross_validation_never_scores_a_topic_with_a_model_that_saw_it(resources, count):
    Witness.scored, Witness.held_out = [], []
    qrels = {t.id: {"a": 1} for t in TOPICS[:15]}
    learning = LearningPlan(folds=True, fold_count=count)
    run = rerank(choose(Witness), make_candidates(), qrels, learning, None, resources)
    assert len(run.systems) == count
    members = len(Witness.held_out) // count
    of_folds = Witness.held_out[::members]
    assert [*chain(*([fold] * members for fold in of_folds))] == Witness.held_out
    assert sorted(chain(*of_folds)) == sorted(qrels)
    assert {topic for topic, _ in Witness.scored} == {t.id for t in TOPICS}  # unjudged ones too
    assert not any(leak for _, leak in Witness.scored)


def test_sentences_of_one_article_are_in_one_fold_of_cross_validation(resources):
    Witness.scored, Witness.held_out = [], []
    topics = [Topic(t.id, t.query, {"citing_id": str(n % 7)}) for n, t in enumerate(TOPICS)]
    article_of = {t.id: t.fields["citing_id"] for t in topics}
    rerank(
        choose(Witness),
        replace(make_candidates(), topics=topics),
        {t.id: {"a": 1} for t in topics},
        LearningPlan(folds=True),
        None,
        resources,
    )
    folds = {frozenset(held_out) for held_out in Witness.held_out}
    assert len(folds) == FOLDS
    articles = [{article_of[topic_id] for topic_id in fold} for fold in folds]
    assert sum(map(len, articles)) == len(set(article_of.values())) == 7


def test_what_learns_nothing_scores_every_topic_once_in_cross_validation(resources, monkeypatch):
    """However many folds choose a weight on its scores; and it goes on after an interruption."""
    scored = []

    class Slow(Letters):
        def score(self, topic, documents):
            if len(scored) == 12:
                scored.append(None)
                raise KeyboardInterrupt
            scored.append(topic.id)
            return super().score(topic, documents)

    monkeypatch.setattr("irplatform.reranking.scoring.BATCH_DOCUMENTS", 5)  # a topic at a time
    qrels = {t.id: {"a": 1} for t in TOPICS[:15]}
    arguments = choose(Slow), make_candidates(), qrels, LearningPlan(folds=True), None, resources
    with pytest.raises(KeyboardInterrupt):
        rerank(*arguments)
    run = rerank(*arguments)
    assert len(run.systems) == FOLDS
    assert sorted(t for t in scored if t) == sorted(t.id for t in TOPICS)


def test_folds_that_were_scored_are_not_scored_again(resources, monkeypatch):
    """Where training a later one is interrupted, which may take hours."""
    from irplatform.reranking import rerank as assignment
    from irplatform.reranking import scoring as cached_scores

    qrels = {t.id: {"a": 1} for t in TOPICS}
    arguments = choose(Witness), make_candidates(), qrels, LearningPlan(folds=True), None, resources
    fitted, fit = [], assignment.fit_system
    scored, score = [], cached_scores.final_scores

    def scoring(registration, members, topics, *more):
        scored.extend(topic.id for topic in topics)
        return score(registration, members, topics, *more)

    monkeypatch.setattr(cached_scores, "final_scores", scoring)

    def interrupted(*inputs):
        fitted.append(inputs)
        if len(fitted) == 4:
            raise KeyboardInterrupt
        return fit(*inputs)

    monkeypatch.setattr(assignment, "fit_system", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rerank(*arguments)
    assert len(scored) == 3 * len(TOPICS) // FOLDS
    monkeypatch.setattr(assignment, "fit_system", fit)
    rerank(*arguments)
    assert len(scored) == len(set(scored)) == len(TOPICS)


def test_runs_do_not_hold_the_models_that_made_them(resources):
    """Folds of five members each would fill a device's memory."""
    qrels = {t.id: {"a": 1} for t in TOPICS}
    source = LearningPlan(folds=True)
    run = rerank(choose(Witness), make_candidates(), qrels, source, None, resources)
    assert all(len(system.members) == 0 for system in run.systems)


def test_each_fold_chooses_its_own_weight(resources):
    qrels = {t.id: {"a": 1} for t in TOPICS}
    run = rerank(
        choose(Letters), make_candidates(), qrels, LearningPlan(folds=True), None, resources
    )
    assert len(run.systems) == FOLDS
    assert run.weight == pytest.approx(np.mean([system.weight for system in run.systems]))
    assert run.weight < 0.5


def test_of_folds_the_one_with_the_fewest_topics_is_told(resources, capsys):
    qrels = {t.id: {"a": int(n < 6)} for n, t in enumerate(TOPICS)}
    source = LearningPlan(folds=True)
    rerank(choose(Letters), make_candidates(), qrels, source, None, resources)
    warning = "the first stage's share was chosen on only 4 topics in a fold"
    assert capsys.readouterr().err.count(warning) == 1


def test_each_fold_learns_from_as_many_topics_with_a_relevant_document(resources):
    """Of ten such topics four folds have eight, however the others fall."""
    qrels = {t.id: {"a": int(n < 10)} for n, t in enumerate(TOPICS)}
    run = rerank(
        choose(Witness), make_candidates(), qrels, LearningPlan(folds=True), None, resources
    )
    assert [system.description["topics"] for system in run.systems] == [16] * FOLDS
    chosen_on = [system.description["interpolation"]["topics"] for system in run.systems]
    assert chosen_on == [8] * FOLDS
