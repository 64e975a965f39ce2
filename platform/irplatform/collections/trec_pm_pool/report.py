"""The account of a pool that is there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections.missing import FILE_NAME as MISSING
from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class PoolReport:
    """A pool that was built, or was there.

    Attributes:
        name: of the collection.
        path: the file that declares it.
        documents: how many there are; None if it was there.
        missing: judged documents that could not be had, with the reason; None if it was there.
    """

    name: str
    path: Path
    documents: int | None = None
    missing: Mapping[str, str] | None = None

    def facts(self) -> dict[str, object]:
        """For programs."""
        return {
            "collection": self.name,
            "path": str(self.path),
            "built now": self.documents is not None,
            "documents": self.documents,
            "missing": None if self.missing is None else dict(self.missing),
        }

    def lines(self) -> list[str]:
        """For people."""
        if self.missing is None:
            return [
                f"{self.name} is there: {self.path}",
                "To build it anew, remove that folder first.",
            ]
        lines = [f"{self.name}: {self.documents:,} documents in {self.path.parent}"]
        for reason, count in sorted(Counter(self.missing.values()).items()):
            lines.append(f"not there: {counted(count, 'judged document')} ({reason})")
        if self.missing:
            lines.append(f"They are listed in {self.path.with_name(MISSING)}")
        return [*lines, f"Use it: platform run --collection {self.name}"]
