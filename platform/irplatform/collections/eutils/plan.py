"""What fetching articles takes, said before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections.eutils.access import BATCH
from irplatform.errors import counted

if TYPE_CHECKING:
    from irplatform.collections.eutils.access import Access

_BYTES = 15_000
"""Of an article's XML with its references, roughly."""
_SECONDS = 2.5
"""That efetch takes for 200 articles, roughly."""


def plan(articles: int, how: Access, *, kept: int) -> list[str]:
    """The number of calls, the size and the time, in lines for people.

    `kept` counts the calls whose answers an earlier attempt kept.
    """
    calls = -(-articles // BATCH)
    left = calls - kept
    minutes = left * max(_SECONDS, 1 / how.rate) / 60
    size = left * BATCH * _BYTES / 1e6
    before = f" ({kept:,} of {calls:,} were made before)" if kept else ""
    lines = [
        f"{counted(articles, 'article')} from {how}: {counted(left, 'call')} for {BATCH} articles "
        f"each{before}, roughly {size:,.0f} MB and {max(1, minutes):.0f} min"
    ]
    if how.anonymous:
        lines.append("no --email: NCBI asks for an address that it can write to")
    return lines
