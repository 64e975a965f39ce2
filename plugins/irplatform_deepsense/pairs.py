"""Pairs of a citing sentence and a title that it cites, as rows of word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.training.text_pairs import read_text_pairs

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from irplatform.training.text_pairs import PairsOfTopics
    from irplatform_deepsense.encoding import Encoder

SENTENCE, TITLE, ARTICLE = "sentence", "cited_title", "citing_id"


@dataclass(frozen=True)
class Pair:
    """A sentence and a title that it cites, as rows of word vectors."""

    article: str
    sentence: npt.NDArray[np.int64]
    title: npt.NDArray[np.int64]


def read_pairs(path: Path, encoder: Encoder, most: int, without: PairsOfTopics) -> list[Pair]:
    """Read pairs, one per sentence: its first title.

    Args:
        path: the TSV file.
        encoder: finds the words' vectors.
        most: how many to read.
        without: pairs to leave out.

    Raises:
        InputError: the file cannot be read, or lacks a column.
    """
    pairs: list[Pair] = []
    last = ""
    for pair in read_text_pairs(path, query=SENTENCE, text=TITLE, group=ARTICLE, marker="[CIT]"):
        if pair.query == last or pair in without:
            continue
        last = pair.query
        sentence, title = encoder.query(pair.query), encoder.title(pair.text)
        if len(sentence) and len(title):
            pairs.append(Pair(pair.group, sentence, title))
        if len(pairs) == most:
            break
    return pairs
