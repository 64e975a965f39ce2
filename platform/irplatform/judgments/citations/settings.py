"""The limits and the split of judgments from citations."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from irplatform.judgments.citations.cleanup import FEWEST_WORDS, FEWEST_WORDS_CITED, MOST_WORDS
from irplatform.judgments.splits import Shares

SHARES = Shares(80, 10, 10)
"""By default, of the citing articles."""


@dataclass(frozen=True)
class CitationSettings:
    """How judgments are made of citations; the limits are DeepSenSe's.

    Attributes:
        least: fewest words that a sentence has without stop words.
        most: most words.
        least_cited: fewest words of title and abstract of a cited article.
        titles: seek documents by their title, too.
        skip_unreadable: leave out files that cannot be read.
        shares: of train, dev and test.
        seed: of the split.
    """

    least: int = FEWEST_WORDS
    most: int = MOST_WORDS
    least_cited: int = FEWEST_WORDS_CITED
    titles: bool = False
    skip_unreadable: bool = False
    shares: Shares = SHARES
    seed: int = 42

    def describe(self) -> dict[str, Any]:
        """The settings, flat."""
        return asdict(self) | {"shares": "/".join(map(str, asdict(self.shares).values()))}
