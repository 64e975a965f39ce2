"""What became of the queries and lines of a log: per filter, per split, and what was asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = ""


@dataclass
class Counts:
    """How many queries and lines were kept (under `KEPT`) or refused, by reason."""

    queries: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)


@dataclass
class SplitCounts:
    """What a split holds.

    Attributes:
        queries: how many there are.
        judgments: pairs of query and document.
        relevant: those with a level above 0.
    """

    queries: int = 0
    judgments: int = 0
    relevant: int = 0

    def add(self, queries: int, judgments: int, relevant: int) -> None:
        """Count some more."""
        self.queries += queries
        self.judgments += judgments
        self.relevant += relevant


@dataclass(frozen=True)
class Report:
    """The account of a build.

    Attributes:
        log: the log's file name.
        options: the filters, weights, shares and seed.
        counts: queries and lines, kept and refused.
        reasons: all reasons to refuse a query, in the order in which they were looked at.
        splits: what each split holds, test subsets included.
        notes: what else the user should know.
    """

    log: str
    options: Mapping[str, Any]
    counts: Counts
    reasons: tuple[str, ...]
    splits: Mapping[str, SplitCounts]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as one JSON object."""
        return {
            "log": self.log,
            "options": dict(self.options),
            "read": {
                "queries": self.counts.queries.total(),
                "lines": self.counts.lines.total(),
            },
            "removed": {reason: self._of(reason) for reason in self.reasons},
            "kept": self._of(KEPT),
            "splits": {name: vars(counts) for name, counts in self.splits.items()},
            "notes": list(self.notes),
        }

    def filter_rows(self) -> list[tuple[str, ...]]:
        """What the filters removed, as a table of text."""
        record = self.as_json()
        removed = [
            (f"removed: {reason}", *_numbers(numbers))
            for reason, numbers in record["removed"].items()
        ]
        return [
            ("", "queries", "lines"),
            ("in the log", *_numbers(record["read"])),
            *removed,
            ("kept", *_numbers(record["kept"])),
        ]

    def split_rows(self) -> list[tuple[str, ...]]:
        """What the splits hold, as a table of text."""
        rows = [(name, *_numbers(vars(counts))) for name, counts in self.splits.items()]
        return [("split", "queries", "judgments", "relevant"), *rows]

    def _of(self, reason: str) -> dict[str, int]:
        return {"queries": self.counts.queries[reason], "lines": self.counts.lines[reason]}


def _numbers(counts: Mapping[str, int]) -> list[str]:
    return [f"{count:,}" for count in counts.values()]
