"""Whether what learns comes back from its files as it was, and learns the same again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from irplatform.conformance.answers import difference
from irplatform.plugin import TrainableFeatureGroup, TrainableReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from irplatform.conformance.answers import Answers
    from irplatform.conformance.ground import Asked, Ground

Learner = TypeVar("Learner", TrainableReranker, TrainableFeatureGroup)


def learned(
    make: Callable[[], Learner],
    at_work: Callable[[str], AbstractContextManager[None]],
    ground: Ground,
) -> Learner:
    """A new one that has learned from the ground's topics."""
    made = make()
    with ground.data() as data, at_work("learning"):
        made.fit(data)
    return made


def losses(
    system: Learner,
    make: Callable[[], Learner],
    at_work: Callable[[str], AbstractContextManager[None]],
    answer: Callable[[Learner, Asked], Answers],
    ground: Ground,
) -> Iterator[str]:
    """What a system that learned loses on the way through its files, and in a second training.

    Args:
        system: it has learned from the ground's topics.
        make: makes a new one, prepared.
        at_work: names the plugin where its code fails.
        answer: its scores or features.
        ground: the topics.
    """
    expected = answer(system, ground.asked)
    with TemporaryDirectory() as place:
        folder = Path(place)
        with at_work("saving"):
            system.save(folder)
        if not any(folder.iterdir()):
            yield "save() writes nothing, so that nothing can be loaded"
            return
        loaded = make()
        with at_work("loading"):
            loaded.load(folder)
        if told := difference(ground.asked, expected, answer(loaded, ground.asked)):
            yield f"{told} after save() and load()"
    again = learned(make, at_work, ground)
    if told := difference(ground.asked, expected, answer(again, ground.asked)):
        yield f"{told} after a second training with the same topics and seed"
