"""What was made of which topics: the account of a build."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.judgments.treatments.choice import Treated


@dataclass(frozen=True)
class Report:
    """The account of a build.

    Attributes:
        folder: what was made.
        source: id of the collection whose topics these are.
        judged: topics of it that have a relevant article.
        made: the topics with a treatment.
    """

    folder: Path
    source: str
    judged: int
    made: Sequence[Treated]

    @property
    def drugs(self) -> Counter[str]:
        """Treatments and the topics that ask for each, the most frequent first."""
        return Counter(dict(Counter(each.drug for each in self.made).most_common()))

    @property
    def used(self) -> int:
        """How many topics of the source got a treatment."""
        return len({each.source.id for each in self.made})

    @property
    def relevant(self) -> float:
        """Median number of relevant articles of a topic."""
        return median(each.relevant for each in self.made)

    def as_json(self) -> dict[str, Any]:
        """The report as one JSON object."""
        return {
            "collection": str(self.folder),
            "path": str(self.folder),
            "from": self.source,
            "topics": len(self.made),
            "source_topics": {"judged": self.judged, "used": self.used},
            "drugs": dict(self.drugs),
            "relevant_per_topic": self.relevant,
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The report as rows of text."""
        drugs = ", ".join(f"{name} {times}" for name, times in self.drugs.items())
        used = f"of {self.used:,} of {self.judged:,} judged topics of {self.source}"
        return [
            ("topics", f"{len(self.made):,}, {used}"),
            ("treatments", drugs),
            ("relevant articles", f"{self.relevant:g} a topic (median)"),
        ]
