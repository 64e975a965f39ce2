"""The training of GRAPHENE: L = β L_graph + γ L_rank (Zhao et al., CIKM 2019, equation 10).

L_rank is a hinge loss; equation 9 has no margin, which equal vectors satisfy. A relevant document
is compared with one of lower grade of its topic and (our choice, `others`) with relevant documents
of other topics in the step. L_graph is the cross-entropy of titles (section 3.2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from irplatform.kit import PairSampler, Validator, pairwise_hinge, pairwise_logistic
from irplatform_graphene.model import encodings, fit_last_layer, link_tensors, sides
from irplatform_graphene.network import Links, TitleDecoder, TitleVocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import Float32, ForwardIndex, Int64
    from irplatform.plugin import LabelledTopic, TrainingData
    from irplatform_graphene.model import Model
    from irplatform_graphene.reading import EncodedTopic

_SAMPLE = 100
"""Random documents of a topic to draw negatives from."""
_LARGEST = 80.0  # difference of scores: float32 holds exp of it, added up for all negatives


class GrapheneTask:
    """Pairs of documents to rank, and titles to write."""

    def __init__(self, model: Model, data: TrainingData, seed: int, *, encoder: bool) -> None:
        self._model = model
        self._options = model.options
        self._seed = seed
        self._encoder = encoder
        network = model.network
        for part in (network.project, network.encoder, *([network.words] if network.words else [])):
            part.requires_grad_(encoder)
        self._titles = Titles(model, seed) if encoder and self._options.decoder.on else None
        self.module = nn.ModuleDict({"network": network})
        if self._titles is not None:
            self.module["decoder"] = self._titles.decoder
        training = data.training
        if self._options.unjudged == "random":
            training = with_random_candidates(training, model.reader.index, seed)
        self.sampler = PairSampler(training, self._options.pairs, self._seed)
        pools = self.sampler.pools
        index = model.reader.index
        self._rows = index.rows([doc_id for pool in pools for doc_id in pool.doc_ids])
        self._topics = [model.topics.read(topic.topic) for topic in self.sampler.topics]
        # All judged relevant: one that the first stage missed can be in another topic's pool.
        relevant = [
            [doc_id for doc_id, grade in topic.judgments.items() if grade > 0]
            for topic in self.sampler.topics
        ]
        owners = np.repeat(np.arange(len(pools)), [len(doc_ids) for doc_ids in relevant])
        rows = index.rows([doc_id for doc_ids in relevant for doc_id in doc_ids])
        self._relevant = np.unique(self._pair_keys(owners, rows))
        features = np.concatenate(model.features.fit(data, pools))
        self._features = torch.from_numpy(features).to(model.device)
        if features.any():  # otherwise no group applies
            self._fit_last_layer(features)
        self._validator = Validator.of(data, self._options)
        labelled = self._validator.topics
        self._validation_topics = [model.topics.read(topic.topic) for topic in labelled]
        candidates = [(topic.topic, topic.candidates) for topic in labelled]
        self._validation = model.features.matrices(candidates) if labelled else []
        self._candidates = self._validator.candidate_rows(index)

    def _pair_keys(self, topics: Int64, rows: Int64) -> Int64:
        return topics * self._model.reader.index.count + rows

    def _fit_last_layer(self, features: Float32) -> None:
        offsets = self.sampler.offsets
        # Not stored: training changes the weights at once.
        distinct, places = np.unique(self._rows, return_inverse=True)
        side = self._sides(distinct)
        parts = zip(self._topics, np.split(places, offsets[1:-1]), strict=True)
        network_scores = [self._scores(topic, distinct, side, part, None) for topic, part in parts]
        fit_last_layer(
            self._model.network,
            np.concatenate(network_scores),
            features,
            np.concatenate([pool.grades for pool in self.sampler.pools]),
            offsets,
            l2=self._options.feature_l2,
            seed=self._seed,
        )

    def batches(self, epoch: int) -> list[Step]:
        pairs = self.sampler.epoch(epoch).batches(self._options.loop.batch_size)
        return [Step(part, (self._seed, 3, epoch, number)) for number, part in enumerate(pairs)]

    def loss(self, batch: Step) -> Tensor:
        random = np.random.default_rng(batch.seed)
        pairs = batch.pairs
        places = pairs.rows(self.sampler.starts)
        rows, document = np.unique(self._rows[places], return_inverse=True)
        numbers, topic = np.unique(pairs.topic, return_inverse=True)
        topics = [self._topics[number] for number in numbers]
        network = self._model.network
        queries = network.query(*self._model.reader.topics(topics))
        documents = BatchDocuments(self._model, rows, self._encode(rows))

        def vectors(topic: Int64, document: Int64) -> tuple[Tensor, Tensor]:
            of_topics = torch.from_numpy(topic).to(queries.device)
            return queries[of_topics], documents.vectors(topic, document, topics)

        pair_vectors = vectors(np.tile(topic, 2), document)
        scores = network.score(*pair_vectors, self._features[torch.from_numpy(places)])
        weight = torch.from_numpy(pairs.weight).to(scores.device)
        higher, lower = scores[: len(pairs)], scores[len(pairs) :]
        if self._options.loss == "hinge":
            loss = pairwise_hinge(higher, lower, weight, self._options.margin)
        else:
            loss = pairwise_logistic(higher, lower, weight)
        relevant = document[: len(pairs)]
        pair, other = self._in_batch_negatives(pairs.topic, rows[relevant], random)
        if len(pair):
            # Features say nothing of a document of another topic.
            compared = vectors(topic[pair], relevant[other])
            negatives = network.score(*compared, None)
            positives = network.score(*pair_vectors, None)[: len(pairs)]
            places_of = torch.from_numpy(pair).to(positives.device)
            loss = loss + self._of_in_batch_negatives(positives, negatives, places_of)
        if self._options.graph and self._options.graph_l2:
            penalty = network.concept_layer.weight.square().sum()
            loss = loss + self._options.graph_l2 / 2 * penalty
        if self._titles is None:
            return loss
        share = self._options.decoder.weight
        return (1 - share) * loss + share * self._titles.loss(rows, random)

    def _in_batch_negatives(
        self, topic: Int64, relevant: Int64, random: np.random.Generator
    ) -> tuple[Int64, Int64]:
        """Places of pairs, and of the pairs whose relevant document is a negative of theirs.

        `others` pairs are drawn for each with replacement, and not all are usable.
        """
        size = len(topic)
        pair = np.repeat(np.arange(size), min(self._options.others, size))
        other = random.integers(size, size=len(pair))
        relevant_too = np.isin(self._pair_keys(topic[pair], relevant[other]), self._relevant)
        usable = (topic[pair] != topic[other]) & ~relevant_too
        return pair[usable], other[usable]

    def _of_in_batch_negatives(self, positives: Tensor, negatives: Tensor, pair: Tensor) -> Tensor:
        if self._options.loss == "hinge":
            weight = torch.ones_like(negatives)
            return pairwise_hinge(positives[pair], negatives, weight, self._options.margin)
        # The softmax of each relevant document among its negatives, all of them at once.
        larger = (negatives - positives[pair]).clamp(max=_LARGEST).exp()
        return torch.log1p(torch.zeros_like(positives).index_add(0, pair, larger)).mean()

    def _encode(self, rows: Int64) -> Tensor:
        if not self._encoder:
            return self._model.encodings(rows)
        return self._model.network.encode(self._model.reader.texts(rows))

    def validate(self) -> float:
        self._model.changed()
        rows, of_topic = self._candidates.distinct, self._candidates.of_topic
        side = self._sides(rows)

        def score(number: int) -> Float32:
            places, features = of_topic[number], self._validation[number]
            return self._scores(self._validation_topics[number], rows, side, places, features)

        return self._validator(score)

    def _sides(self, rows: Int64) -> Tensor:
        model = self._model
        with torch.no_grad():
            if self._encoder:
                encoded = encodings(model.network, model.reader, rows)
            else:
                encoded = model.encodings(rows)
            links = model.concepts.links(rows) if model.concepts is not None else None
            return sides(model.network, encoded, links, model.messages())

    def _scores(
        self,
        topic: EncodedTopic,
        rows: Int64,
        side: Tensor,
        places: Int64,
        features: Float32 | None,
    ) -> Float32:
        chosen_sides = side[torch.from_numpy(places).to(side.device)]
        scores: Float32 = (
            self._model.scores(topic, rows[places], features, chosen_sides).cpu().numpy()
        )
        return scores


@dataclass(frozen=True)
class Step:
    """A batch of pairs, and the seed of the other choices that go with it."""

    pairs: PairSampler.Batch
    seed: tuple[int, ...]

    @property
    def weight(self) -> Float32:
        return self.pairs.weight


class BatchDocuments:
    """The documents of a step, each encoded once for all topics: Enc(d) [documents, encoded]."""

    def __init__(self, model: Model, rows: Int64, encoded: Tensor) -> None:
        self._model = model
        self._network = model.network
        self._text = model.network.text_part(encoded)
        if model.concepts is not None:
            self._links = model.concepts.links(rows)
            distinct, local = np.unique(self._links.concepts, return_inverse=True)
            sums = torch.from_numpy(model.concepts.sums(distinct)).to(model.device)
            self._messages = self._network.messages(sums)
            self._local = local.astype(np.int64)
            links = link_tensors(self._links, model.device)
            local_links = replace(links, concepts=torch.from_numpy(self._local).to(model.device))
            self._received = local_links.sums(self._messages)

    def vectors(self, topic: Int64, document: Int64, topics: Sequence[EncodedTopic]) -> Tensor:
        """v_d of documents, each for its topic, by their places in the step: [n, vector]."""
        places = torch.from_numpy(document).to(self._text.device)
        if self._model.concepts is None:
            return self._network.compose(self._text[places], None)
        received = self._received[places]
        reward = self._model.options.reward
        if reward != 1:
            matching = self._matching(topic, document, topics)
            received = received + (reward - 1) * matching.sums(self._messages)
        return self._network.compose(self._text[places], received)

    def plain_vectors(self) -> Tensor:
        received = self._received if self._model.concepts is not None else None
        return self._network.compose(self._text, received)

    def _matching(self, topic: Int64, document: Int64, topics: Sequence[EncodedTopic]) -> Links:
        links, offsets = self._links.of(document)
        count = self._model.concepts.graph.concept_count if self._model.concepts else 0
        owner = np.repeat(topic, np.diff(offsets))
        matching = np.concatenate([n * count + query.matching for n, query in enumerate(topics)])
        matches = np.flatnonzero(np.isin(owner * count + self._links.concepts[links], matching))
        device = self._model.device
        return Links(
            torch.from_numpy(self._local[links[matches]]).to(device),
            torch.from_numpy(self._links.weights[links[matches]]).to(device),
            torch.from_numpy(np.searchsorted(matches, offsets[:-1]).astype(np.int64)).to(device),
        )


def with_random_candidates(
    topics: Sequence[LabelledTopic], index: ForwardIndex, seed: int
) -> list[LabelledTopic]:
    """Give each topic a random sample of unjudged documents in place of the first stage's."""
    random = np.random.default_rng([seed, 17])
    sampled = []
    for topic in topics:
        drawn = index.doc_ids(np.sort(random.choice(index.count, min(_SAMPLE, index.count), False)))
        unjudged = tuple(doc_id for doc_id in drawn if doc_id not in topic.judgments)
        judged = tuple(doc_id for doc_id in topic.candidates if doc_id in topic.judgments)
        sampled.append(replace(topic, candidates=(*judged, *unjudged), first_stage=()))
    return sampled


class Titles:
    """L_graph, the loss of writing the titles of some of a step's documents."""

    def __init__(self, model: Model, seed: int) -> None:
        self._model = model
        settings = model.options.decoder
        self._vocabulary = TitleVocabulary(model.reader.index, settings.vocabulary)
        torch.manual_seed(seed)
        sizes = model.network.sizes
        self.decoder = TitleDecoder(
            sizes.vector, sizes.word, settings.hidden, len(self._vocabulary.words)
        ).to(model.device)

    def loss(self, rows: Int64, random: np.random.Generator) -> Tensor:
        settings = self._model.options.decoder
        reader, network = self._model.reader, self._model.network
        lengths = reader.index.lengths("abstract")[rows], reader.index.lengths("title")[rows]
        usable = rows[(lengths[0] > 0) & (lengths[1] > 0)]
        if not len(usable):
            return self.decoder.bias.sum() * 0
        count = max(1, round(settings.share * len(usable)))
        sample = np.sort(random.choice(usable, count, replace=False))
        encoded = network.encode(reader.abstracts(sample))
        documents = BatchDocuments(self._model, sample, encoded)
        symbols = self._vocabulary.symbols(reader.titles(sample, settings.title_words))
        return self.decoder.loss(
            documents.plain_vectors(),
            network.project(reader.word_vectors(self._vocabulary.words)),
            torch.from_numpy(symbols).to(encoded.device),
        )
