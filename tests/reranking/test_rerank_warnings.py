"""Warnings: of topics that were learned from, and of checkpoints that have changed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from checkpoints import described
from letters import TOPICS, Letters, Witness, choose, make_candidates, rerank, training_set_of

from irplatform.files.writing import home
from irplatform.plugin import PairsFile, Reads, TextPair, Topic
from irplatform.reranking.fitting import train_system
from irplatform.reranking.training_set import LearningPlan
from irplatform.reranking.warnings import (
    warning_of_fusion,
    warning_of_learned,
    warning_of_pairs,
    warning_of_scores_read,
    warning_of_tuning,
)
from irplatform.training.checkpoints import Checkpoint
from irplatform.training.text_pairs import PairsOfTopics

pytestmark = pytest.mark.usefixtures("fresh_home")


@pytest.mark.parametrize(
    ("changed", "phrase"),
    [
        ({"version": "0.0.1"}, "was trained by version 0.0.1 of plugin"),
        ({"source": "0123456789abcdef"}, "was trained by other source code of plugin"),
        ({}, ""),
    ],
)
def test_a_checkpoint_of_other_code_is_scored_with_a_warning(
    resources, tmp_path, capsys, changed, phrase
):
    built = train_system(choose(Witness), training_set_of(*range(20)), resources)
    folder = tmp_path / "checkpoint"
    shutil.copytree(built.path, folder)
    described = folder / "checkpoint.json"
    described.write_text(json.dumps({**json.loads(described.read_text()), **changed}))
    source = LearningPlan(checkpoint=folder)
    run = rerank(choose(Witness), make_candidates(), None, source, 0.5, resources)
    of_code = [warning for warning in run.warnings if "was trained by" in warning]
    assert len(of_code) == bool(phrase)
    assert all(phrase in warning for warning in of_code)
    assert ("other source code" in str(run.warnings)) == ("source" in changed)
    assert ("by version" in str(run.warnings)) == ("version" in changed)


def test_a_checkpoint_of_other_knowledge_is_scored_with_a_warning(resources, tmp_path):
    """A system says what it depends on; a knowledge base may have been replaced since."""
    knowledge = {"own": "1"}

    class Reading(Witness):
        def reads(self):
            return Reads(more={"feature_format": 2, "knowledge": (*knowledge.items(),)})

    built = train_system(choose(Reading), training_set_of(*range(20)), resources)
    source = LearningPlan(checkpoint=built.path)
    phrase = "reads other things than its checkpoint was trained with: knowledge."

    def warnings():
        return rerank(choose(Reading), make_candidates(), None, source, 0.5, resources).warnings

    assert not any(phrase in warning for warning in warnings())
    knowledge["own"] = "2"
    assert sum(phrase in warning for warning in warnings()) == 1


@pytest.mark.parametrize(
    ("kind", "source", "interpolate", "phrase"),
    [
        (
            Witness,
            LearningPlan(training_set_of(3, 5, 77)),
            None,
            "was trained on 2 of these 20 topics (t3, t5)",
        ),
        (
            Witness,
            LearningPlan(training_set_of(3)),
            0.5,
            "was trained on 1 of these 20 topics (t3)",
        ),
        (
            Witness,
            LearningPlan(training_set_of(77, validation=training_set_of(4).training)),
            None,
            "trained on 1 of",
        ),
        (
            Witness,
            LearningPlan(training_set_of(77), pretraining=training_set_of(8)),
            None,
            "trained on 1 of",
        ),
        (
            Witness,
            LearningPlan(folds=True, pretraining=training_set_of(8)),
            None,
            "trained on 1 of",
        ),
        (Witness, LearningPlan(training_set_of(77)), None, None),
        (Witness, LearningPlan(folds=True), None, None),
        (
            Letters,
            LearningPlan(training_set_of(3)),
            None,
            "share in ranker was chosen on 1 of these",
        ),
        (Letters, LearningPlan(training_set_of(3)), 0.5, None),
        (Letters, LearningPlan(training_set_of(77), pretraining=training_set_of(3)), None, None),
    ],
)
def test_learning_from_evaluated_topics_is_told_under_whatever_ids(
    kind, source, interpolate, phrase
):
    learning = replace(source, interpolate=interpolate)
    warning = warning_of_learned(choose(kind), TOPICS, learning)
    assert phrase in warning if phrase else warning == ""


def test_beside_a_checkpoint_each_is_told_of_what_it_learned_from_itself(tmp_path):
    folder = described(tmp_path / "seen", "ranker", [Topic("x5", "query 5")])
    source = LearningPlan(training_set_of(3), checkpoint=folder)
    warning = warning_of_learned(choose(Letters), TOPICS, source)
    assert warning == (
        "WARNING: the first stage's share in ranker was chosen on 1 of these 20 topics (t3)."
    )
    plan = replace(source, interpolate=0.5)
    assert warning_of_learned(choose(Letters), TOPICS, plan) == ""
    warning = warning_of_learned(choose(Witness), TOPICS, source)
    assert "trained on 1 of these 20 topics (t5)" in warning


def _reading(folder):
    """A reranker that learns and reads the scores of a checkpoint."""
    return choose(type("Reading", (Witness,), {"reads": lambda self: Reads(checkpoints=(folder,))}))


def test_reading_scores_of_who_learned_from_evaluated_topics_is_told(resources, tmp_path):
    folder = described(tmp_path / "seen", "delta", [Topic("other", "query 3")])
    source = LearningPlan(training_set_of(*range(50, 70)))
    run = rerank(_reading(folder), make_candidates(), None, source, 0.5, resources)
    phrase = "reads scores of a checkpoint that was trained on 1 of these 20 topics (t3)"
    assert any(phrase in warning for warning in run.warnings)
    fine = described(tmp_path / "fine", "delta", [Topic("t3", "other words")])
    assert warning_of_scores_read(_reading(fine), TOPICS) == ""


def test_what_was_trained_with_it_has_learned_from_its_topics(resources, tmp_path):
    folder = described(tmp_path / "seen", "delta", [Topic("other", "query 3")])
    built = train_system(_reading(folder), training_set_of(*range(50, 70)), resources)
    assert Checkpoint.read(built.path).learned(TOPICS) == [TOPICS[3]]
    start = train_system(
        choose(Witness), training_set_of(*range(50, 70)), resources, training_set_of(*range(5, 10))
    )
    assert Checkpoint.read(start.path).learned(TOPICS) == TOPICS[5:10]


def _learning_from_pairs(*pairs):
    """A reranker that learns from pairs of texts, too, but for those of the topics it is given."""

    def read(topics):
        topic_pairs = PairsOfTopics.of(topics, "citing_id")
        return [pair for pair in pairs if pair not in topic_pairs]

    reads = Reads(pairs=PairsFile(Path("pairs.tsv"), read))
    return choose(type("Pairs", (Witness,), {"reads": lambda self: reads}))


def test_learning_from_pairs_of_evaluated_topics_is_told(resources):
    of_article = replace(TOPICS[5], fields={"citing_id": "10.1/A"})
    topics = [*TOPICS[:5], of_article, *TOPICS[6:]]
    pairs = [
        TextPair("Query 3", "a title", "b"),
        TextPair("words", "a title", " 10.1/a"),
        TextPair("query 50", "of a training topic", ""),
        TextPair("others", "a title", ""),
    ]
    choice = _learning_from_pairs(*pairs)
    source = LearningPlan(training_set_of(*range(50, 70)))
    candidates = replace(make_candidates(), topics=topics)
    (warning,) = rerank(choice, candidates, None, source, 0.5, resources).warnings
    assert warning.startswith(
        "WARNING: ranker learns from pairs of texts that are of 2 of these 20 "
    )
    assert "topics (t3, t5), or of the same source (citing_id): its scores show" in warning
    assert warning_of_pairs(choice, [*TOPICS[:3]], source) == ""
    assert warning_of_pairs(choice, topics, LearningPlan(folds=True)) == ""
    built = train_system(choice, training_set_of(*range(50, 70)), resources)
    checkpoint = Checkpoint.read(built.path)
    assert checkpoint.learned(TOPICS) == [TOPICS[3]]
    assert checkpoint.learned([Topic("x", "OTHERS")])
    assert warning_of_pairs(choice, topics, LearningPlan(checkpoint=built.path)) == ""


def test_fusing_with_weights_of_evaluated_topics_is_told():
    others = [Topic("x3", "query 3"), Topic("t4", "other words")]
    assert "chosen on 1 of these 20 topics (t3)." in warning_of_fusion(TOPICS, others)
    assert warning_of_fusion(TOPICS, others[1:]) == ""
    assert "options are chosen on 1 of these 20 topics (t3)" in warning_of_tuning(TOPICS, others)
    assert warning_of_tuning(TOPICS, others[1:]) == ""


def test_a_run_carries_the_warning_that_was_told_and_a_checkpoint_knows_all_its_topics(
    resources, capsys, tmp_path
):
    training_set = training_set_of(*range(30, 40), validation=training_set_of(11).training)
    source = LearningPlan(training_set, pretraining=training_set_of(*range(50, 60), 12))
    run = rerank(choose(Witness), make_candidates(), None, source, None, resources)
    (warning,) = run.warnings
    assert "WARNING: ranker was trained on 2 of these 20 topics (t11, t12): its" in warning
    assert capsys.readouterr().err.count(warning) == 1
    (folder,) = (
        path.parent
        for path in home().glob("checkpoint/*/checkpoint.json")
        if len(json.loads(path.read_text())["queries"]) == 22
    )
    again = rerank(
        choose(Witness), make_candidates(), None, LearningPlan(checkpoint=folder), None, resources
    )
    assert again.warnings == (warning,)
    assert not any("queries" in system.description for system in again.systems)
    clean = LearningPlan(training_set_of(*range(30, 40)))
    assert rerank(choose(Witness), make_candidates(), None, clean, None, resources).warnings == ()


@pytest.mark.parametrize("kind", [Letters, Witness])
def test_on_how_few_topics_a_weight_was_chosen_is_told_once(resources, capsys, kind):
    def warning_lines(topics, interpolate=None):
        source = LearningPlan(training_set_of(*range(topics)))
        rerank(choose(kind), make_candidates(), None, source, interpolate, resources)
        return [line for line in capsys.readouterr().err.splitlines() if "share was chosen" in line]

    assert warning_lines(5) == []
    assert warning_lines(4, interpolate=0.5) == []
    line = "ranker: the first stage's share was chosen on only 4 topics, where luck decides much"
    assert warning_lines(4) == [line]
    assert warning_lines(4) == []
