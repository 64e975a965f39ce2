"""SevMos, the network and its training (Severyn & Moschitti, SIGIR 2015, section 3).

Query and document each go through convolutions of their own to a vector, x_q and x_d (Mohan et
al., BioNLP 2017, section 5.1.1; WWW 2018, section 4.3.3). Their similarity is x_qᵀ M x_d with a
trained M; [x_q ; similarity ; x_d ; lexical features] goes to the classifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from irplatform.kit import NeuralReranker, PointSampler, Validator, lexical_features, tokenize
from irplatform_delta.delta2017_network import ClassifierTask, FullConvolutions, RelevanceClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from irplatform.kit import ForwardIndex, Int64, WordVectors
    from irplatform.plugin import Topic, TrainingData
    from irplatform_delta.options import SevMosOptions

    Ids = npt.NDArray[np.int32]

_BLOCK = 512  # documents whose vectors are computed at once for validation


@dataclass(frozen=True)
class Sizes:
    """The shapes of the network, which weights must fit."""

    dimensions: int
    lexical: int
    filters: int
    layers: int
    width: int


class SevMosNetwork(nn.Module):
    """Two convolution stages, a bilinear similarity and a classifier."""

    lexical_mean: Tensor
    lexical_scale: Tensor

    def __init__(self, sizes: Sizes, dropout: float, classifier_dropout: float) -> None:
        super().__init__()
        self.sizes = sizes
        shape = sizes.dimensions, sizes.filters, sizes.layers, sizes.width, dropout
        self.query = FullConvolutions(*shape)
        self.document = FullConvolutions(*shape)
        self.similarity = nn.Linear(sizes.filters, sizes.filters, bias=False)
        self.classifier = RelevanceClassifier(
            2 * sizes.filters + 1 + sizes.lexical, classifier_dropout
        )
        # BM25 and proportions differ by orders of magnitude.
        self.register_buffer("lexical_mean", torch.zeros(sizes.lexical))
        self.register_buffer("lexical_scale", torch.ones(sizes.lexical))

    def match(self, query: Tensor, document: Tensor, lexical: Tensor) -> Tensor:
        """Score pairs of x_q and x_d [n, filters] with features [n, L]: logits of relevance [n]."""
        similarity = (self.similarity(query) * document).sum(dim=1, keepdim=True)
        standard = (lexical - self.lexical_mean) / self.lexical_scale
        logits: Tensor = self.classifier(torch.cat([query, similarity, document, standard], dim=1))
        return logits

    def penalty(self, l2_convolution: float, l2_classifier: float) -> Tensor:
        texts = self.query.penalty() + self.document.penalty()
        rest = self.classifier.penalty() + (self.similarity.weight**2).sum()
        return l2_convolution * texts + l2_classifier * rest


class Texts:
    """Reads texts as word ids, and makes vectors of them with a convolution stage.

    A word without a vector is UNK. A query's word may have one from another collection.
    """

    def __init__(
        self, index: ForwardIndex, vectors: WordVectors, options: SevMosOptions, device: str
    ) -> None:
        self.index = index
        self.device = device
        self._options = options
        self._words = len(index.vocabulary)
        # Behind the words of the collection come the rows themselves, for words that it lacks.
        vector_rows = np.arange(len(vectors.matrix))
        rows = np.concatenate([vectors.align(index.vocabulary), vector_rows]).astype(np.int64)
        self.size = len(rows)
        self._rows = torch.from_numpy(rows).to(device)
        self._word_vectors = vectors
        self._vectors = torch.from_numpy(np.array(vectors.matrix)).to(device)

    def documents(self, rows: Int64) -> Ids:
        """Word ids of documents, [n, N], padded with -1."""
        return self.index.matrix(rows, self._options.document_words)

    def query(self, topic: Topic) -> Int64:
        """Word ids of a query: int64 [m]."""
        words = tokenize(topic.query)[: self._options.query_words]
        ids = self.index.vocabulary.ids(words).astype(np.int64)
        return np.where(ids < 0, self._words + self._word_vectors.rows(words), ids)

    def queries(self, topics: Sequence[Topic]) -> Ids:
        """Word ids of queries, [n, length of the longest, at least 1], padded with -1."""
        texts = [self.query(topic) for topic in topics]
        padded = np.full((len(texts), max([1, *map(len, texts)])), -1, dtype=np.int32)
        for place, words in enumerate(texts):
            padded[place, : len(words)] = words
        return padded

    def vectors(self, stage: FullConvolutions, texts: Ids) -> Tensor:
        words, places = self.index.distinct_words(texts, self.size)
        tensors = (torch.from_numpy(array).to(self.device) for array in (words, places))
        return self.encoded(stage, *tensors)

    def encoded(self, stage: FullConvolutions, words: Tensor, places: Tensor) -> Tensor:
        """The vectors of texts given as places [n, N] among words."""
        vectors: Tensor = stage(functional.embedding(self._rows[words], self._vectors), places)
        return vectors


class SevMosTask(ClassifierTask):
    """SevMos in training."""

    def __init__(
        self,
        network: SevMosNetwork,
        texts: Texts,
        options: SevMosOptions,
        data: TrainingData,
        seed: int,
        advance: Callable[[int], None],
    ) -> None:
        super().__init__(data, options, seed, options.weighting if options.weighted else "none")
        self.module = network
        self._texts = texts
        self._index = index = texts.index
        self._options = options
        self._device = texts.device
        self._queries = texts.queries([labelled.topic for labelled in self.sampler.topics])
        rows, lexical = [], []
        for pool in self.sampler.pools:
            rows.append(index.rows(pool.doc_ids))
            lexical.append(self._lexical(pool.labelled.topic, rows[-1]))
            advance(1)
        self._documents = texts.documents(np.concatenate(rows))
        self._features = torch.cat(lexical)
        self._validator = Validator(data.validation, on=self._options.loop.validate_on)
        self._candidates = self._validator.candidate_rows(index)
        self._validation_features = []
        for labelled in self._validator.topics:
            features = self._lexical(labelled.topic, index.rows(labelled.candidates))
            self._validation_features.append(features)
            advance(1)
        topics = [labelled.topic for labelled in self._validator.topics]
        self._validation_queries = texts.queries(topics)

    def _lexical(self, topic: Topic, rows: Int64) -> Tensor:
        query = self._index.query_ids(topic.query)
        features = lexical_features(self._index, query, rows, self._options.lexical)
        return torch.from_numpy(features).to(self._device)

    def standardize_lexical(self) -> None:
        NeuralReranker.learn_standardization(
            self._features, self.module.lexical_mean, self.module.lexical_scale
        )

    def loss(self, batch: PointSampler.Batch) -> Tensor:
        rows = batch.rows(self.sampler.starts)
        topics, place = np.unique(batch.topic, return_inverse=True)
        queries = self._texts.vectors(self.module.query, self._queries[topics])
        documents = self._texts.vectors(self.module.document, self._documents[rows])
        logits = self.module.match(
            queries[torch.from_numpy(place).to(self._device)],
            documents,
            self._features[torch.from_numpy(rows).to(self._device)],
        )
        penalty = self.module.penalty(self._options.l2_convolution, self._options.l2_classifier)
        return self.entropy(logits, batch) + penalty

    def validate(self) -> float:
        rows = self._candidates.distinct
        if not len(rows):
            return 0.0
        blocks = [
            self._texts.vectors(self.module.document, self._texts.documents(rows[i : i + _BLOCK]))
            for i in range(0, len(rows), _BLOCK)
        ]
        documents = torch.cat(blocks)
        queries = self._texts.vectors(self.module.query, self._validation_queries)

        def score(number: int) -> Sequence[float]:
            places = torch.from_numpy(self._candidates.of_topic[number]).to(self._device)
            query = queries[number].expand(len(places), -1)
            lexical = self._validation_features[number]
            scores: list[float] = self.module.match(query, documents[places], lexical).tolist()
            return scores

        return self._validator(score)
