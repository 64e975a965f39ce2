"""What is told where a checkpoint was trained with other things than there are now."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from irplatform.reranking import warnings as changed_since
from irplatform.reranking.training_set import LearningPlan
from irplatform.training.checkpoints import Checkpoint

CODE = {"distribution": "fame", "version": "1.0", "source": "aa"}


@pytest.mark.parametrize(
    ("trained", "now", "phrases"),
    [
        ({"knowledge": "a"}, {"knowledge": "a"}, ()),
        (
            {"knowledge": "a"},
            {"knowledge": "b"},
            ("with: knowledge.", "Was a package, a knowledge base or a model"),
        ),
        (
            {"features": {"fame": CODE, "other": {"file": "x"}}},
            {"features": {"fame": {**CODE, "source": "bb"}, "other": {"file": "x"}}},
            ("with: feature group 'fame'.",),
        ),
        (
            {"features": {"stack": {"graph": "a"}}},
            {"features": {"stack": {"graph": "b"}}},
            ("with: feature group 'stack'.",),
        ),
        (
            {"features": {"fame": CODE}, "knowledge": "a"},
            {"features": {"fame": {**CODE, "version": "2"}}, "knowledge": "b"},
            ("with: feature group 'fame', knowledge.",),
        ),
    ],
)
def test_what_changed_is_named(monkeypatch, trained, now, phrases):
    checkpoint = SimpleNamespace(description={"of": trained})
    monkeypatch.setattr(Checkpoint, "read", lambda _: checkpoint)
    choice = SimpleNamespace(trainable=True, name="ltr", describe_reads=lambda: now)
    source = LearningPlan(checkpoint=Path("somewhere"))
    warning = changed_since.warning_of_surroundings(choice, source)
    assert bool(warning) == bool(phrases)
    assert all(words in warning for words in phrases)
