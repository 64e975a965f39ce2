"""Scores of checkpoints as features: what is refused, since its scores would mislead."""

from types import SimpleNamespace

import pytest
from checkpoints import described

from irplatform.errors import InputError
from irplatform.plugin import Topic
from irplatform_ltr.groups.stacking import CheckpointOptions, Checkpoints

TOPICS = [Topic("1", "melanoma therapy"), Topic("2", "glioma")]


def _group(*folders):
    group = Checkpoints(CheckpointOptions(folders=tuple(map(str, folders))))
    group.prepare(SimpleNamespace(device="cpu", checkpoint=lambda _folder: []))
    return group


def test_one_that_was_trained_on_the_topics_is_refused(tmp_path):
    """What `write_checkpoint` records is what the guard looks for."""
    fine = described(tmp_path / "fine", "delta", [Topic("1", "other words")])
    seen = described(tmp_path / "seen", "delta", [Topic("77", "glioma")])
    assert _group(fine).lacks(TOPICS) == ""
    with pytest.raises(InputError, match=r"seen: .*trained on 1 of the 2 training topics"):
        _group(fine, seen).lacks(TOPICS)


def test_what_is_no_checkpoint_is_refused_before_any_work(tmp_path):
    folder = described(tmp_path / "held", "delta")
    _group(folder).check()
    (folder / "checkpoint.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="has format 99"):
        _group(folder).check()
