"""Both sides of `fine_tuning` read the same documents, and take a step each."""

from types import SimpleNamespace

import pytest
import torch

from irplatform_encoders.crossencoder_reading import Reader

SMALL = SimpleNamespace(base=False, device="cpu", precision="float32", documents=9, steps=1)


def test_both_sides_learn_from_the_same_documents():
    from fine_tuning import sides

    learners = sides(24, SMALL)
    assert list(learners) == ["ours", "padded"]
    for learn in learners.values():
        learn()


def test_sides_that_disagree_are_not_compared(monkeypatch):
    from fine_tuning import sides

    monkeypatch.setattr(Reader, "forward_to_train", lambda _, step: torch.zeros(len(step.places)))
    with pytest.raises(SystemExit, match="the sides disagree: scores differ by up to"):
        sides(24, SMALL)
