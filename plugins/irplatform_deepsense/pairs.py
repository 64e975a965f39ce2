"""Pairs of a citing sentence and a title that it cites, as rows of word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING

from irplatform.training.text_pairs import read_text_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from irplatform.plugin import TextPair
    from irplatform.training.text_pairs import PairsOfTopics
    from irplatform_deepsense.encoding import Encoder

SENTENCE, TITLE, ARTICLE = "sentence", "cited_title", "citing_id"


@dataclass(frozen=True)
class Pair:
    """A sentence and a title that it cites, as rows of word vectors.

    Attributes:
        article: that it stands in.
        sentence: int64.
        title: int64.
        cited: the bytes of all titles that the sentence cites, which are no negatives of it.
    """

    article: str
    sentence: npt.NDArray[np.int64]
    title: npt.NDArray[np.int64]
    cited: frozenset[bytes]


def read_pairs(path: Path, encoder: Encoder, most: int, without: PairsOfTopics) -> list[Pair]:
    """Read pairs, one per sentence: its first title."""
    pairs: list[Pair] = []
    for asking in read_sentences(path, most, without):
        sentence = encoder.query(asking[0].query)
        titles = [title for pair in asking if len(title := encoder.title(pair.text))]
        if len(sentence) and titles:
            cited = frozenset(title.tobytes() for title in titles)
            pairs.append(Pair(asking[0].group, sentence, titles[0], cited))
    return pairs


def read_sentences(path: Path, most: int, without: PairsOfTopics) -> Iterator[list[TextPair]]:
    """Stream the pairs of a file, sentence by sentence."""
    every = read_text_pairs(path, query=SENTENCE, text=TITLE, group=ARTICLE, marker="[CIT]")
    left = (pair for pair in every if pair not in without)
    for _, of_sentence in islice(groupby(left, key=lambda pair: (pair.group, pair.query)), most):
        yield list(of_sentence)
