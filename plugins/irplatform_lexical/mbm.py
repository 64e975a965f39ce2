"""MBM, after DeepSenSe's first stage: BM25 with clean queries, tuned on the training topics.

Lo et al. (DeepSenSe, "Datasets") retrieve with "a modified BM25 algorithm (MBM)" over title and
abstract, for sentences whose Greek letters are spelled out and whose stop words and punctuation are
dropped; they give neither a formula nor parameters. This is therefore not their algorithm but plain
BM25 with that clean-up, every query word counted once (our choice, since a sentence repeats words
for its grammar), and k1 and b chosen on a grid: the pair with the best mean nDCG@20 of training
topics' candidates, ranked by it alone. For a sentence with one cited article, nDCG@20 falls with
its rank. Their bounds of 5 to 50 words select sentences for an experiment; a ranker has to rank for
all, so they are not applied here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from irplatform.errors import InputError
from irplatform.plugin import Options, TrainableReranker
from irplatform.system.formats import read_own_json
from irplatform.text import FieldMatch, content_words, tokenize
from irplatform.training import Validator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform.text.arrays import Float64, Int32

_FILE = "bm25.json"


class MBMOptions(Options):
    """Options of MBM; one value instead of several is not tuned."""

    k1: tuple[float, ...] = Field(
        (0.2, 0.4, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0),
        min_length=1,
        description="values of k1 to try",
    )
    b: tuple[float, ...] = Field(
        (0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0), min_length=1, description="values of b to try"
    )
    once: bool = Field(True, description="count every word of the query once")
    stop_words: bool = Field(False, description="keep the query's stop words")
    topics: int = Field(500, gt=0, description="training topics to choose on, at most")

    @field_validator("k1", "b")
    @classmethod
    def _in_range(cls, values: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        most = 1.0 if info.field_name == "b" else inf
        if not all(0 <= value <= most for value in values):
            raise ValueError(f"{info.field_name} lies between 0 and {most}")
        return values


class MBM(TrainableReranker):
    """BM25 over title and abstract for cleaned queries, with k1 and b from training topics."""

    Options = MBMOptions
    citation: ClassVar[str] = (
        "The first stage of: Lo et al. DeepSenSe, section “Datasets”, which gives no formula; "
        "BM25 of Robertson and Zaragoza, FnTIR 2009."
    )
    options: MBMOptions

    def prepare(self, resources: Resources) -> None:
        """Open the forward index; until it is trained, the middle of each grid is used."""
        self._resources = resources
        self._index = resources.forward_index()
        self.k1, self.b = (sorted(grid)[len(grid) // 2] for grid in self._grids)

    @property
    def _grids(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return self.options.k1, self.options.b

    def fit(self, data: TrainingData) -> None:
        """Choose k1 and b; of equally good pairs, the one that stands first in the options.

        Where no topic has a relevant document among its candidates, they stay what they are.
        """
        # Without the first stage's scores, the validator ranks by what it is given alone.
        topics = [replace(topic, first_stage=()) for topic in data.training]
        validator = Validator(topics, limit=self.options.topics)
        matches = [self._match(t.topic, t.candidates) for t in validator.topics]
        pairs = list(product(*self._grids))
        values, start = [], (self.k1, self.b)
        with self._resources.progress("choosing k1 and b", len(pairs)) as advance:
            for k1, b in pairs:
                self.k1, self.b = k1, b
                values.append(validator(lambda number: self._weigh(matches[number])))
                advance(1)
        self.k1, self.b = pairs[int(np.argmax(values))] if any(values) else start

    def save(self, folder: Path) -> None:
        """Write k1 and b."""
        chosen = {"k1": self.k1, "b": self.b}
        (folder / _FILE).write_text(json.dumps(chosen) + "\n", encoding="utf-8")

    def load(self, folder: Path) -> None:
        """Read k1 and b; InputError where they are not there."""
        try:
            chosen = read_own_json(folder / _FILE)
            self.k1, self.b = float(chosen["k1"]), float(chosen["b"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("this holds no k1 and b of 'mbm'.", path=folder / _FILE) from error

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        """Score documents: one float each, 0 without a word of the cleaned query."""
        scores: list[float] = self._weigh(self._match(topic, documents.ids)).tolist()
        return scores

    def _weigh(self, match: FieldMatch) -> Float64:
        return match.bm25(self.k1, self.b)

    def _match(self, topic: Topic, doc_ids: Sequence[str]) -> FieldMatch:
        return FieldMatch(self._index, "text", self.query(topic), self._index.rows(doc_ids))

    def query(self, topic: Topic) -> Int32:
        """Ids of the words that are searched for, -1 for those that the collection lacks."""
        words = [] if self.options.stop_words else content_words(topic.query)
        words = words or tokenize(topic.query)  # "what if" has stop words only
        return self._index.vocabulary.ids(
            list(dict.fromkeys(words)) if self.options.once else words
        )
