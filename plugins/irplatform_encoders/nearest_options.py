"""How an index of vectors (`nearest`) is searched, as options; importing it loads no FAISS."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irplatform.options import Options

_EXACT_BELOW = 1_000_000


class NearestOptions(Options):
    """How documents' vectors are searched."""

    index: Literal["auto", "exact", "ivf"] = Field(
        "auto",
        description="compare all documents (exact) or those of the nearest clusters (ivf); auto: "
        "ivf from a million documents on",
    )
    probes: int = Field(
        64, gt=0, description="clusters that are looked at per query, where index is ivf"
    )

    def compares_all(self, count: int) -> bool:
        """Whether all of so many documents are compared."""
        return self.index == "exact" or (self.index == "auto" and count < _EXACT_BELOW)
