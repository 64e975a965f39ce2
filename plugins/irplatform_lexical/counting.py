"""Baselines that score a document by how often it has each word of the query.

Words are neither stemmed nor stopped, and the statistics of a field are those of the whole
collection (Mohan et al., WWW 2018, section 4.3.1).
"""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import NonNegativeFloat, PositiveFloat  # noqa: TC002 - pydantic reads them

from irplatform.kit import FieldMatch, Validator, content_words, read_json, tokenize
from irplatform.plugin import (
    Documents,
    Field,
    InputError,
    Options,
    Reranker,
    Resources,
    Topic,
    TrainableReranker,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.kit import ForwardIndex
    from irplatform.plugin import TrainingData


class CountingOptions(Options):
    """The options of every baseline that counts words."""

    field: Literal["title", "abstract", "text"] = Field(
        "text", description="text: title and abstract"
    )


class CountingReranker(Reranker):
    """Scores by the counts of query words in one field; subclasses bring the formula."""

    Options = CountingOptions
    options: CountingOptions

    def prepare(self, resources: Resources) -> None:
        self._index: ForwardIndex = resources.forward_index()

    def weigh(self, match: FieldMatch) -> npt.NDArray[np.float64]:
        """The scores of documents, higher is better; finite also where the field is empty."""
        raise NotImplementedError(f"{type(self).__name__} does not define weigh()")

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        query, rows = self._index.query_ids(topic.query), self._index.rows(documents.ids)
        scores: list[float] = self.weigh(
            FieldMatch(self._index, self.options.field, query, rows)
        ).tolist()
        return scores


class BM25Options(CountingOptions):
    """Options of BM25; `[paper]` marks a value of Mohan et al., WWW 2018."""

    k1: float = Field(2.0, ge=0, description="how slowly repeated words saturate [paper]")
    b: float = Field(0.75, ge=0, le=1, description="how much long fields are discounted [paper]")


class BM25(CountingReranker):
    """BM25 over title, abstract or both.

    Unlike Lucene's `bm25`, it reads unstemmed words, keeps stop words, and knows exact lengths.
    """

    Options = BM25Options
    citation: ClassVar[str] = (
        "Stephen Robertson, Hugo Zaragoza. The Probabilistic Relevance Framework: BM25 and Beyond. "
        "FnTIR 2009, with the parameters of Mohan et al., WWW 2018, section 4.3.1."
    )
    options: BM25Options

    def weigh(self, match: FieldMatch) -> npt.NDArray[np.float64]:
        return match.bm25(self.options.k1, self.options.b)


class DLH13(CountingReranker):
    """DLH13 over title, abstract or both: divergence from randomness without a parameter."""

    citation: ClassVar[str] = (
        "Giambattista Amati. Frequentist and Bayesian Approach to Information Retrieval. ECIR "
        "2006; DLH13 is the variant of the Terrier platform."
    )

    def weigh(self, match: FieldMatch) -> npt.NDArray[np.float64]:
        return dlh13(match)


def dlh13(match: FieldMatch) -> npt.NDArray[np.float64]:
    """DLH13 of each document: float64 [documents].

    Per word of the query, with tf its count in the document, F in the collection, qtf in the query,
    dl and avgdl the document's and the mean length of the field, and N the number of documents
    (Amati, ECIR 2006; Terrier's class of that name):

        qtf · (tf · log2((tf · avgdl / dl) · (N / F)) + 0.5 · log2(2π · tf · (1 − tf / dl)))
            / (tf + 0.5)

    The second logarithm, Stirling's correction, is 0 where a field is one word alone (tf = dl).
    """
    index, field = match.index, match.field
    document, word = np.nonzero(match.frequencies)
    tf = match.frequencies[document, word].astype(np.float64)
    length = match.lengths[document].astype(np.float64)
    expected = index.collection_frequency(field)[match.known][word] / index.count
    information = tf * np.log2(tf * index.average_length(field) / length / expected)
    rest = 1 - tf / length
    mixed = rest > 0
    information[mixed] += 0.5 * np.log2(2 * np.pi * tf[mixed] * rest[mixed])
    gains = match.repeats[word] * information / (tf + 0.5)
    scores: npt.NDArray[np.float64] = (
        np.bincount(document, weights=gains, minlength=len(match.rows)) + 0.0
    )
    return scores


MEAN_LENGTH = "mean-length"


class UQLMOptions(CountingOptions):
    """Options of the query likelihood; the paper gives no μ."""

    mu: PositiveFloat | Literal["mean-length"] = Field(
        2000.0, description="smoothing, in words; mean-length: the mean length of the field"
    )


class UQLM(CountingReranker):
    """Query likelihood over title, abstract or both, with Dirichlet smoothing."""

    Options = UQLMOptions
    citation: ClassVar[str] = (
        "Chengxiang Zhai, John Lafferty. A Study of Smoothing Methods for Language Models Applied "
        "to Information Retrieval. TOIS 2004, as in Mohan et al., WWW 2018, section 4.3.1."
    )
    options: UQLMOptions

    def prepare(self, resources: Resources) -> None:
        super().prepare(resources)
        mu, field = self.options.mu, self.options.field
        self._words = int(self._index.collection_frequency(field).sum())
        # Where no document has the field, any positive μ gives all of them the same score.
        self._mu = mu if mu != MEAN_LENGTH else self._index.average_length(field) or 1.0

    def weigh(self, match: FieldMatch) -> npt.NDArray[np.float64]:
        return log_likelihood(match, self._words, float(self._mu))


def log_likelihood(match: FieldMatch, words: int, mu: float) -> npt.NDArray[np.float64]:
    """Log-likelihoods (below 0) of the query in documents' smoothed models: float64 [documents].

    Σ qtf · log((tf + μ · p) / (dl + μ)) over all words of the query, with p = (F + 1) / (T + 1), F
    the word's count in the collection and T that of all words (Lucene's
    `IndriDirichletSimilarity`).
    """
    counts = match.index.collection_frequency(match.field)[match.known]
    background = mu * ((counts + 1.0) / (words + 1.0))
    unseen = mu / (words + 1)
    lengths = match.lengths + mu
    sums = (np.log(match.frequencies + background) * match.repeats).sum(axis=1)
    constant = match.unknown * np.log(unseen) - len(match.query) * np.log(lengths)
    return np.asarray(sums + constant)


_FILE = "bm25.json"


class MBMOptions(Options):
    """Options of MBM; one value instead of several is not tuned."""

    k1: tuple[NonNegativeFloat, ...] = Field(
        (0.2, 0.4, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0),
        min_length=1,
        description="values of k1 to try",
    )
    b: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(
        (0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0), min_length=1, description="values of b to try"
    )
    once: bool = Field(True, description="count every word of the query once")
    stop_words: bool = Field(False, description="keep the query's stop words")
    topics: int = Field(500, gt=0, description="training topics to choose on, at most")


class MBM(TrainableReranker):
    """BM25 over title and abstract for cleaned queries, with k1 and b from training topics.

    After DeepSenSe's first stage, "a modified BM25 algorithm (MBM)", for which the paper gives no
    formula. The clean-up spells out Greek letters and drops stop words and punctuation. Every query
    word counts once (our choice). k1 and b have the best mean nDCG@20 on training topics.
    """

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
        """Choose k1 and b, the first in the options of equally good pairs."""
        validator = Validator(data.training, limit=self.options.topics, on="alone")
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
        values = {"k1": self.k1, "b": self.b}
        (folder / _FILE).write_text(json.dumps(values) + "\n", encoding="utf-8")

    def load(self, folder: Path) -> None:
        try:
            values = read_json(folder / _FILE)
            self.k1, self.b = float(values["k1"]), float(values["b"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("this holds no k1 and b of 'mbm'.", path=folder / _FILE) from error

    def score(self, topic: Topic, documents: Documents) -> Sequence[float]:
        scores: list[float] = self._weigh(self._match(topic, documents.ids)).tolist()
        return scores

    def _weigh(self, match: FieldMatch) -> npt.NDArray[np.float64]:
        return match.bm25(self.k1, self.b)

    def _match(self, topic: Topic, doc_ids: Sequence[str]) -> FieldMatch:
        return FieldMatch(self._index, "text", self.query(topic), self._index.rows(doc_ids))

    def query(self, topic: Topic) -> npt.NDArray[np.int32]:
        words = [] if self.options.stop_words else content_words(topic.query)
        words = words or tokenize(topic.query)  # "what if" has stop words only
        return self._index.vocabulary.ids(
            list(dict.fromkeys(words)) if self.options.once else words
        )
