"""Seconds per stage of a command: stages lie within stages, and no second counts twice."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass
class Stopwatch:
    """Times stages."""

    seconds: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a block to a stage, less what stages within it take for themselves."""
        started, within = self.clock(), sum(self.seconds.values())
        yield
        inner = sum(self.seconds.values()) - within
        spent = self.clock() - started - inner
        self.seconds[stage] = self.seconds.get(stage, 0.0) + spent

    def since(self, before: Mapping[str, float]) -> dict[str, float]:
        """Time spent per stage since `seconds` was as it is given here."""
        return {
            stage: spent - before.get(stage, 0.0)
            for stage, spent in self.seconds.items()
            if spent > before.get(stage, 0.0)
        }


def added(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Seconds per stage of two spans."""
    stages = dict.fromkeys([*first, *second])
    return {stage: first.get(stage, 0.0) + second.get(stage, 0.0) for stage in stages}
