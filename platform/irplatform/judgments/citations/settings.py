"""The limits and the split of judgments from citations.

The limits are those of DeepSenSe's clean-up (Lo et al., Datasets): "The sentences were first
tokenized into words. Greek alphabets were converted into English words. Stop words and punctuations
were removed". What is left (`irplatform.text.content_words`) is counted against them. The sentence
itself stays as it was written, since every ranker has its own way with words.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from irplatform.errors import InputError
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

    Raises:
        InputError: no number of words is within the limits.
    """

    least: int = 5
    most: int = 50
    least_cited: int = 50
    titles: bool = False
    skip_unreadable: bool = False
    shares: Shares = SHARES
    seed: int = 42

    def __post_init__(self) -> None:
        if self.most < self.least:
            raise InputError(
                f"no sentence has at least {self.least} words and at most {self.most}: raise "
                "--max-words, or lower --min-words."
            )

    def describe(self) -> dict[str, Any]:
        """The settings, flat."""
        return asdict(self) | {"shares": "/".join(map(str, asdict(self.shares).values()))}
