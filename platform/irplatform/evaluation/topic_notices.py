"""What a reader of scores must know of topics: those without results, those without judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.evaluation.inferred import INFERRED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 10


def without_results(topics: Sequence[str], measures: Iterable[str]) -> str:
    """A notice of judged topics that a run has nothing for.

    Args:
        topics: at least one.
        measures: names of those that are reported.
    """
    return f"{_topics(topics)} with no results ({_counted(measures)}): {listing(topics, _SHOWN)}"


def without_judgments(topics: Sequence[str]) -> str:
    """A notice of topics that a run has results for and nobody judged; at least one."""
    shown = listing(topics, _SHOWN)
    return f"{_topics(topics)} with results but no judgments (they do not count): {shown}"


def _counted(measures: Iterable[str]) -> str:
    """What topics without results mean to the means of these measures."""
    left_out = [name for name in measures if name in INFERRED]
    if not left_out:
        return "they count as 0"
    names = " and ".join(left_out)
    return f"they count as 0, but are left out of the mean of {names}, as in TREC's own program"


def _topics(topics: Sequence[str]) -> str:
    return f"{len(topics):,} topic{'' if len(topics) == 1 else 's'}"
