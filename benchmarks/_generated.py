"""Generated articles whose sentences are those of real ones, as many as are wanted."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from irplatform.data import Corpus, Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_END_OF_SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z])")


class GeneratedCorpus(Corpus):
    """Articles of sentences that are drawn from real articles, the same at every call.

    Words have the frequencies of the real ones, and articles their numbers of sentences.
    """

    fields = ()

    def __init__(self, real: Iterable[Document], count: int) -> None:
        self.name = f"generated-{count}"
        articles = [_END_OF_SENTENCE.split(document.text) for document in real]
        self._lengths = [len(article) for article in articles]
        self._sentences = [sentence for article in articles for sentence in article]
        self._count = count

    @property
    def fingerprint(self) -> str:
        """The number of articles and of sentences."""
        return f"generated {self._count} of {len(self._sentences)}"

    def count(self) -> int:
        """The number of articles."""
        return self._count

    def __iter__(self) -> Iterator[Document]:
        draw = random.Random(1)
        for number in range(self._count):
            size = draw.choice(self._lengths)
            text = " ".join(draw.choices(self._sentences, k=size))
            yield Document(f"g{number:08}", "", text)
