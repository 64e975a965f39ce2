"""Krovetz stems of a collection's words, made by Lucene once and kept as a table.

Mohan et al. (WWW 2018, section 4.3.4) stem with Krovetz's algorithm (SIGIR 1993). Lucene has it
(KStem), so the vocabulary goes through Lucene when a collection is first used; from then on a table
says the stem of each word, and neither Java nor text is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import PlatformError
from irplatform.text.distinct import distinct_per_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from irplatform.plugin import Resources
    from irplatform.text import ForwardIndex
    from irplatform.text.arrays import Int32

_FORMAT = 1
_BLOCK = 20_000
"""Words at once."""


@dataclass(frozen=True)
class Stems:
    """The stems of a vocabulary, numbered in order of first appearance.

    Attributes:
        of_word: int32, the stem of each word.
        document_frequency: int32, in how many documents each stem occurs.
    """

    of_word: Int32
    document_frequency: Int32

    @classmethod
    def of(cls, resources: Resources, stemmer: str) -> Stems:
        """The stems of the collection's words, from the cache or made now; "none" keeps words."""
        index = resources.forward_index()
        if stemmer == "none":
            words = np.arange(len(index.vocabulary), dtype=np.int32)
            return cls(words, index.document_frequency("text"))

        def build(folder: Path) -> None:
            of_word = number_stems(krovetz(list(index.vocabulary)))
            with resources.progress("counting stems", index.count, "documents") as advance:
                frequency = document_frequency(index, of_word, advance)
            np.save(folder / "of-word.npy", of_word)
            np.save(folder / "document-frequency.npy", frequency)

        folder = resources.artifact("krovetz-stems", {"format": _FORMAT}, build, of_vectors=False)
        return cls(
            np.load(folder / "of-word.npy", allow_pickle=False),
            np.load(folder / "document-frequency.npy", allow_pickle=False),
        )

    def __len__(self) -> int:
        return len(self.document_frequency)


def krovetz(words: Sequence[str]) -> list[str]:
    """The Krovetz stem of each word; words that are not of plain letters stay as they are."""
    from irplatform.retrieval.java import java_class

    analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").fromArguments(
        "krovetz",
        True,  # keeps stop words
        None,
    )
    analyze = java_class("io.anserini.analysis.AnalyzerUtils").analyze
    stems = list(words)
    plain = [n for n, word in enumerate(words) if word.isascii() and word.isalpha()]
    plain = [n for n in plain if len(words[n]) < 50]  # longer ones have no stem
    for start in range(0, len(plain), _BLOCK):
        part = plain[start : start + _BLOCK]
        answer = str(analyze(analyzer, " ".join(words[n] for n in part)).toString())
        part_stems = answer.strip("[]").split(", ")
        if len(part_stems) != len(part):
            raise PlatformError(f"Lucene made {len(part_stems)} stems of {len(part)} words.")
        for n, stem in zip(part, part_stems, strict=True):
            stems[n] = stem
    return stems


def number_stems(stems: Sequence[str]) -> Int32:
    """Per word the number of its stem, in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(stem, len(numbers)) for stem in stems], dtype=np.int32)


def document_frequency(
    index: ForwardIndex, of_word: Int32, advance: Callable[[int], None]
) -> Int32:
    """In how many documents each stem occurs."""
    frequency = np.zeros(int(of_word.max(initial=-1)) + 1, dtype=np.int32)
    for rows, _, stems in distinct_per_document(index, of_word):
        frequency += np.bincount(stems, minlength=len(frequency)).astype(np.int32)
        advance(len(rows))
    return frequency
