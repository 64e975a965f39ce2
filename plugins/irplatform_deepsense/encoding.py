"""Topics and documents as rows of word vectors, the input of DeepSenSe's network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from irplatform.kit import Int64, content_words, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import DeviceCandidates, ForwardIndex, WordVectors
    from irplatform.plugin import Topic
    from irplatform_deepsense.features import FieldFeatures
    from irplatform_deepsense.options import DeepSenSeOptions

    TextField = Literal["title", "abstract", "text"]


@dataclass(frozen=True)
class Texts:
    """Words of several texts, one text behind the other."""

    words: Tensor  # int64 [all words]
    starts: Tensor  # int64 [n], where each text begins

    @cached_property
    def lengths(self) -> Tensor:
        ends = functional.pad(self.starts, (0, 1), value=len(self.words))[1:]
        return ends - self.starts

    def padded(self, numbers: Tensor, padding: int) -> Tensor:
        """Some of the texts as rows, padded on the right: int64 [len(numbers), longest]."""
        lengths = self.lengths[numbers]
        width = torch.arange(int(lengths.max()) if len(numbers) else 0, device=lengths.device)
        absent = width >= lengths[:, None]
        if not len(self.words):
            return torch.full(absent.shape, padding, device=absent.device)
        places = (self.starts[numbers][:, None] + width).masked_fill_(absent, 0)
        return self.words[places].masked_fill_(absent, padding)


@dataclass(frozen=True)
class Encoded:
    """A topic's candidates as the network takes them."""

    query: Tensor  # int64 [m], rows of the vectors
    words: Tensor  # int64 [u], rows of the vectors: the documents' distinct words
    titles: Texts  # the titles, in places of `words`
    abstracts: Texts  # the abstracts, in places of `words`
    features: Tensor  # float32 [n, features]


class Encoder:
    """Turns topics and candidates into tensors, on one device.

    Words without a vector are left out. `vectors` is [rows, V], `idf` [rows].
    """

    def __init__(
        self,
        index: ForwardIndex,
        vectors: WordVectors,
        options: DeepSenSeOptions,
        features: FieldFeatures,
        device: str,
    ) -> None:
        self.index = index
        self._options = options
        self.features = features
        self._word_vectors = vectors
        self.device = device
        # The last entry serves words that the collection lacks.
        self._rows = np.append(vectors.align_known(index.vocabulary), -1)
        self._document_rows = self._rows.copy()  # rows of the words that are read of documents
        self._document_rows_there: Tensor | None = None
        if not options.document_stop_words:
            stops = index.stop_words()
            self._document_rows[stops] = -1
        self.vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)
        idf = np.full(len(vectors.matrix), index.idf("text").max(initial=0.0))
        mask = self._rows >= 0
        idf[self._rows[mask]] = index.idf("text")[mask[:-1]]
        self.idf = torch.from_numpy(idf.astype(np.float32)).to(device)

    def query(self, text: str) -> Int64:
        """Rows of a sentence's words, without stop words where it has others ("Datasets")."""
        words = content_words(text) or tokenize(text)
        return self._word_vectors.known_rows(words)[: self._options.query_words]

    def title(self, text: str) -> Int64:
        """Rows of the words of a title that is not in the collection, as `texts` reads them."""
        words = tokenize(text) if self._options.document_stop_words else content_words(text)
        return self._word_vectors.known_rows(words)[: self._options.title_words]

    def texts(self, rows: Int64, field: TextField) -> tuple[Int64, Int64]:
        """Rows of the words of documents' fields, one behind the other, and where each begins."""
        tokens, offsets = self.index.tokens(rows, field)
        words = self._document_rows[tokens]
        words, offsets = self.index.without(words, offsets, words < 0)
        most = self._options.title_words if field == "title" else self._options.abstract_words
        lengths = np.diff(offsets)
        if lengths.max(initial=0) > most:
            places, offsets = self.index.ragged(offsets[:-1], np.minimum(lengths, most))
            words = words[places]
        return words, offsets[:-1]

    def encode(self, topic: Topic, doc_ids: Sequence[str]) -> Encoded:
        query, features = self.query(topic.query), self.features(topic, doc_ids)
        rows = self.index.rows(doc_ids)
        return self.encode_rows(self.tensor(query), rows, self.tensor(features))

    def encode_rows(self, query: Tensor, rows: Int64, features: Tensor) -> Encoded:
        titles, title_starts = self.texts(rows, "title")
        abstracts, abstract_starts = self.texts(rows, "abstract")
        distinct, places = np.unique(np.concatenate([titles, abstracts]), return_inverse=True)
        return Encoded(
            query,
            self.tensor(distinct),
            Texts(self.tensor(places[: len(titles)]), self.tensor(title_starts)),
            Texts(self.tensor(places[len(titles) :]), self.tensor(abstract_starts)),
            features,
        )

    def padded(self, candidates: DeviceCandidates) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, titles and abstracts of candidates as rows of the vectors, on a GPU.

        Each is int64 [documents, words]; the number of rows stands for words that are not read.
        """
        if self._document_rows_there is None:
            self._document_rows_there = self.tensor(self._document_rows)
        words = self._document_rows_there[candidates.matrix(candidates.longest)]
        in_title = torch.arange(candidates.longest, device=words.device) < candidates.title_lengths
        padding = len(self.idf)

        def of_field(inside: Tensor, most: int) -> Tensor:
            read = inside & (words >= 0)
            return words.where(read & (read.cumsum(dim=1) <= most), padding)

        query = candidates.query[candidates.topic]
        longest_title = int(self.index.lengths("title", candidates.rows).max(initial=0))
        titles = of_field(in_title, self._options.title_words)[:, :longest_title]
        abstracts = of_field(~in_title, self._options.abstract_words)
        return query.where(query >= 0, padding), titles, abstracts

    def tensor(self, array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
