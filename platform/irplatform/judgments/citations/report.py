"""What became of sentences and references: the account of a build."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

UNMARKED = "articles without a mark of their references"
SHORT = "fewer than {least} words without stop words"
LONG = "more than {most} words without stop words"
NOWHERE = "its marks point to no reference"
UNRESOLVED = "no cited article has a PMID or DOI"
OUTSIDE = "no cited article is in the collection"
SHORT_ARTICLE = "the cited article has fewer than {least_cited} words of title and abstract"
NOT_EARLIER = "the cited article is not from an earlier year"


@dataclass
class SplitCounts:
    """What a split holds."""

    articles: int = 0
    sentences: int = 0
    judgments: int = 0


@dataclass
class Report:
    """The account of a build.

    Attributes:
        options: limits, shares and seed.
        read: counts of what was read, by name.
        references: how the cited references were resolved, by way.
        removed: reason to citing sentences that it removed, in the order of the rules.
        splits: name to what it holds.
        notes: what else the user should know.
    """

    options: Mapping[str, Any]
    read: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    splits: dict[str, SplitCounts] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """Sentences in all splits."""
        return sum(counts.sentences for counts in self.splits.values())

    def as_json(self) -> dict[str, Any]:
        """The report as one JSON object."""
        return {
            "options": dict(self.options),
            "read": dict(self.read),
            "references": dict(self.references),
            "removed": dict(self.removed),
            "kept": self.kept,
            "splits": {name: vars(counts) for name, counts in self.splits.items()},
            "notes": self.notes,
        }

    def tables(self) -> list[list[tuple[str, ...]]]:
        """The report as tables of text."""
        return [
            _lines(self.read),
            _lines(self.references, "references "),
            [*_lines(self.removed, "removed: "), ("kept", f"{self.kept:,}")],
            [
                ("split", "articles", "sentences", "judgments"),
                *(
                    (name, *(f"{number:,}" for number in vars(counts).values()))
                    for name, counts in self.splits.items()
                ),
            ],
        ]


def _lines(counts: Mapping[str, int], prefix: str = "") -> list[tuple[str, ...]]:
    return [(f"{prefix}{name}", f"{number:,}") for name, number in counts.items()]
