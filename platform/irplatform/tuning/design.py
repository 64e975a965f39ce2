"""Which values are tried: a fixed design first, and a local search around the best of it.

The design is all combinations where they are few, else points of a scrambled Halton sequence, which
fill the space more evenly than random ones (Bergstra and Bengio, JMLR 2012, on why random search
beats grids). It depends on nothing but the space and the seed: so the trials of an interrupted
search are found again, more trials continue fewer, and what is tried says nothing about the topics
that cross-validation holds out. The local search is a pattern search (Hooke and Jeeves, JACM 1961);
it looks at scores, so every fold makes its own.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from irplatform.tuning.space import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.tuning.space import Dimension, Point

_FIRST_STEP = 0.125
_LAST_STEP = 0.01
_DRAWS_PER_TRIAL = 10
"""Draws that may repeat an earlier point before the design is taken to be exhausted."""


def design(dimensions: Sequence[Dimension], trials: int, seed: int) -> list[Point]:
    """At most so many points of a space, tried whatever they score."""
    sizes = [dimension.size for dimension in dimensions]
    if all(sizes) and math.prod(size or 0 for size in sizes) <= trials:
        return list(itertools.product(*(dimension.every() for dimension in dimensions)))
    from scipy.stats.qmc import Halton

    sequence = Halton(len(dimensions), seed=seed)
    points: dict[str, Point] = {}
    for _ in range(_DRAWS_PER_TRIAL):
        for row in sequence.random(trials).tolist():
            point = tuple(d.at(position) for d, position in zip(dimensions, row, strict=True))
            points.setdefault(repr(point), point)
            if len(points) == trials:
                return list(points.values())
    return list(points.values())


def pattern_search(
    dimensions: Sequence[Dimension],
    start: Point,
    score: Callable[[Point], float],
    trials: int,
) -> Point:
    """Improve a point along one dimension at a time, in steps that get smaller.

    Args:
        dimensions: the space.
        start: where to begin.
        score: the larger, the better; asked again for points that it has seen.
        trials: how many new points to ask for at most.
    """
    best, highest = start, score(start)
    tried = {repr(start)}
    step = _FIRST_STEP
    while step >= _LAST_STEP:
        improved = False
        for index in range(len(dimensions)):
            for point in _neighbours(dimensions, best, index, step):
                if repr(point) in tried:
                    continue
                if len(tried) > trials:
                    return best
                tried.add(repr(point))
                value = score(point)
                if value > highest:
                    best, highest, improved = point, value, True
                    break
        if not improved:
            step /= 2
    return best


def _neighbours(
    dimensions: Sequence[Dimension], point: Point, index: int, step: float
) -> Iterator[Point]:
    """A step up and a step down; all other values where there is no order."""
    dimension = dimensions[index]
    if isinstance(dimension, Values):
        others = dimension.values()
    else:
        current = dimension.position(point[index])
        others = [dimension.at(min(max(current + s, 0.0), 1 - 1e-9)) for s in (step, -step)]
    for value in others:
        yield (*point[:index], value, *point[index + 1 :])
