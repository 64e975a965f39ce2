"""Grades that the program behind a measure cannot take, refused before anything is searched.

gdeval.pl, TREC's program for the Web track, which ir-measures calls for `ERR@k` and for `nDCG@k`
with exponential gains, knows five grades, 0 to 4. ERR's chance that a document satisfies is a share
of the highest of them, so that there is no value for others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.collections.collection import Qrels
    from irplatform.evaluation.measures import Measure

_HIGHEST = {"gdeval": 4}
"""What ir-measures calls a package, and the highest grade that it takes; others take any."""


def refuse_grades(
    measures: Mapping[str, Measure], qrels: Qrels, whose: str = "the judgments"
) -> None:
    """Refuse measures that cannot be computed from these grades.

    Args:
        measures: what computes each measure, by its name.
        qrels: the judgments.
        whose: what to call them.

    Raises:
        InputError: which measure, the highest grade that it takes, and the one that there is.
    """
    limits = {name: limit for name, measure in measures.items() if (limit := _limit(measure))}
    if not limits:
        return
    highest = max((grade for grades in qrels.values() for grade in grades.values()), default=0)
    for name, limit in limits.items():
        if highest > limit:
            raise InputError(
                f"{name} takes grades up to {limit}; {whose} have {highest}. Choose another "
                "measure: nDCG@20 takes any grade."
            )


def _limit(measure: Measure) -> int | None:
    """The highest grade that a measure's program takes; None where there is no limit."""
    import ir_measures

    if not isinstance(measure, ir_measures.measures.Measure):
        return None
    for package in ir_measures.DefaultPipeline.providers:
        if package.supports(measure) and package.is_available():  # the first one is used
            return _HIGHEST.get(package.NAME)
    return None
