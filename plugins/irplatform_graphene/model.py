"""GRAPHENE with all that it reads, and how it scores.

A document's side is the share of Enc(d) in v_d, and the sum of its concepts' messages with α = 1.
Sides are stored; a topic adds (α − 1) times the messages of matching concepts.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from irplatform.kit import (
    SideFeatures,
    StoredVectors,
    WeightFile,
    centered,
    pairwise_weights,
    stored_documents,
)
from irplatform_graphene.network import GrapheneNetwork, Links, Sizes
from irplatform_graphene.reading import (
    ConceptInputs,
    DocumentLinks,
    EncodedTopic,
    Reader,
    TopicReader,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.kit import DeviceCandidates, Float32, Int64
    from irplatform.plugin import Resources
    from irplatform_graphene.options import GrapheneOptions

_AT_ONCE = 256
_CONCEPTS_AT_ONCE = 8192
_SIZES = {"projection", "hidden", "layers", "vector", "filters", "shortcut", "normalized"}
"""Options that are sizes of the network."""
_SPREAD = 2.0  # standard deviation of scores within a topic, which the losses' scale suits
_LEAST = 0.05  # share of a deviation that the network's own score keeps, to have something to train


class Model:
    """The network with its readers and stores; `concepts` is None without a graph."""

    def __init__(self, resources: Resources, options: GrapheneOptions) -> None:
        self.options = options
        self._resources = resources
        vectors = resources.vectors(options.vectors)
        self._vectors_digest = vectors.digest()
        self.reader = Reader(
            resources.forward_index(), vectors, options.document_words, resources.device
        )
        needed = options.graph or options.expansion
        graph = resources.concepts(options.concepts) if needed else None
        self.topics = TopicReader(vectors, graph, options)
        self.concepts = (
            ConceptInputs(
                graph,
                vectors,
                options.self_loop,
                resources,
                weighted=options.links == "shares",
            )
            if graph is not None and options.graph
            else None
        )
        self.features = SideFeatures(options.features, options.feature_settings, resources)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            graph=options.graph_width if options.graph else 0,
            features=self.features.width,
            **options.model_dump(include=_SIZES),
        )
        torch.manual_seed(resources.seed)
        self.network = GrapheneNetwork(sizes, options.dropout)
        if options.train_words:
            matrix = torch.from_numpy(np.array(vectors.matrix))
            self.network.words = nn.Embedding(len(matrix), matrix.shape[1], _weight=matrix)
        self.network = self.network.to(resources.device).eval()
        if self.network.words is not None:
            self.reader.vectors = self.network.words.weight
        self._messages: Tensor | None = None
        self._encodings: Float32 | None = None
        self._sides: StoredVectors | None = None

    @property
    def device(self) -> str:
        return self._resources.device

    def changed(self) -> None:
        self._messages = None
        self._encodings = None
        self._sides = None

    def messages(self) -> Tensor:
        if self._messages is None:
            with torch.no_grad():
                self._messages = (
                    messages_of_all(self.network, self.concepts, self.device)
                    if self.concepts is not None
                    else torch.empty(0, 0)
                )
        return self._messages

    def encodings(self, rows: Int64) -> Tensor:
        with torch.no_grad():
            if (
                self.reader.index.given_texts()
                or self.reader.index.count > self.options.stored_documents
            ):
                return encodings(self.network, self.reader, rows)
            if self._encodings is None:
                self._encodings = stored_documents(
                    self._resources,
                    "graphene-encodings",
                    self._identity("words.", "project.", "encoder."),
                    lambda part: encodings(self.network, self.reader, part).cpu().numpy(),
                    self.network.encoded,
                )
            return torch.from_numpy(self._encodings[rows]).to(self.device)

    def sides(self, rows: Int64) -> Tensor:
        """Document sides, from the store where there is one: float32 [n, vector + graph]."""
        stored = self._stored_sides()
        return self._computed_sides(rows) if stored is None else stored.copied(rows)

    def _stored_sides(self) -> StoredVectors | None:
        if (
            self.reader.index.given_texts()
            or self.reader.index.count > self.options.stored_documents
        ):
            return None
        if self._sides is None:
            graph = self.concepts.graph.fingerprint if self.concepts is not None else ""
            weights = ("words.", "project.", "encoder.", "concept", "document", "from_")
            stored = stored_documents(
                self._resources,
                "graphene-documents",
                {
                    **self._identity(*weights),
                    "graph": graph,
                    "λ": self.options.self_loop,
                    "links": self.options.links,
                },
                lambda part: self._computed_sides(part).cpu().numpy(),
                self.network.sizes.vector + self.network.sizes.graph,
            )
            self._sides = StoredVectors(stored, self.device)
        return self._sides

    def _computed_sides(self, rows: Int64) -> Tensor:
        with torch.no_grad():
            links = self.concepts.links(rows) if self.concepts is not None else None
            return sides(self.network, self.encodings(rows), links, self.messages())

    def scores(
        self, topic: EncodedTopic, rows: Int64, features: Float32 | None, side: Tensor | None = None
    ) -> Tensor:
        side = self.sides(rows) if side is None else side
        tensor = None if features is None else torch.from_numpy(features).to(self.device)
        return self._scores([topic], np.zeros(len(rows), dtype=np.int64), rows, tensor, side)

    def scores_of(self, topics: Sequence[EncodedTopic], candidates: DeviceCandidates) -> Tensor:
        """Scores of candidates of several topics: [documents]."""
        stored = self._stored_sides()
        rows, features = candidates.rows, candidates.features
        side = self._computed_sides(rows) if stored is None else stored.of(candidates)
        inputs = features if features.shape[1] else None
        return self._scores(topics, candidates.topic_of, rows, inputs, side)

    def _scores(
        self,
        topics: Sequence[EncodedTopic],
        topic_of: Int64,
        rows: Int64,
        features: Tensor | None,
        side: Tensor,
    ) -> Tensor:
        with torch.no_grad():
            queries = self.network.query(*self.reader.topics(topics))
            alone = len(topics) == 1
            query = queries[0] if alone else queries[torch.from_numpy(topic_of).to(self.device)]
            matched = None
            if self.concepts is not None:
                links = self.concepts.links(rows)
                count = self.concepts.graph.concept_count
                matched = matched_links(links, [t.matching for t in topics], topic_of, count)
            vectors = document_vectors(
                self.network, side, matched, self.messages(), self.options.reward
            )
            return self.network.score(query, vectors, features)

    def sizes(self) -> dict[str, Any]:
        """The sizes that weights must fit, as JSON; the features' are saved apart."""
        sizes = asdict(self.network.sizes)
        del sizes["features"]
        return {"model": "graphene", **sizes}

    def _identity(self, *prefixes: str) -> dict[str, Any]:
        state = self.network.state_dict()
        return {
            "format": 1,
            "weights": WeightFile.digest(
                {n: w for n, w in state.items() if n.startswith(prefixes)}
            ),
            "vectors": self._vectors_digest,
            "words": self.options.document_words,
            "device": self.device,
            "model_threads": self._resources.model_threads,
        }


def encodings(network: GrapheneNetwork, reader: Reader, rows: Int64) -> Tensor:
    """Enc(d) of documents: float32 [n, encoded]."""
    parts = [
        network.encode(reader.texts(rows[start : start + _AT_ONCE]))
        for start in range(0, len(rows), _AT_ONCE)
    ]
    return torch.cat([network.from_text.weight.new_zeros(0, network.encoded), *parts])


def messages_of_all(network: GrapheneNetwork, concepts: ConceptInputs, device: str) -> Tensor:
    """Messages of all concepts: float32 [concepts, graph]."""
    count = concepts.graph.concept_count
    parts = [network.from_text.weight.new_zeros(0, network.sizes.graph)]
    for start in range(0, count, _CONCEPTS_AT_ONCE):
        numbers = np.arange(start, min(start + _CONCEPTS_AT_ONCE, count))
        parts.append(network.messages(torch.from_numpy(concepts.sums(numbers)).to(device)))
    return torch.cat(parts)


def sides(
    network: GrapheneNetwork, encoded: Tensor, links: DocumentLinks | None, messages: Tensor
) -> Tensor:
    """Document sides: float32 [n, vector + graph]."""
    text = network.text_part(encoded)
    if links is None:
        return text
    return torch.cat([text, link_tensors(links, str(text.device)).sums(messages)], dim=1)


def document_vectors(
    network: GrapheneNetwork,
    side: Tensor,
    matched: DocumentLinks | None,
    messages: Tensor,
    reward: float,
) -> Tensor:
    """v_d of documents for a topic: [n, vector].

    `side` is [n, vector + graph], see `sides`; `matched` links to the concepts that match the
    topic.
    """
    width = network.sizes.vector
    if matched is None:
        return network.compose(side, None)
    received = side[:, width:]
    if reward != 1 and len(matched.concepts):
        added = link_tensors(matched, str(side.device)).sums(messages)
        received = received + (reward - 1) * added
    return network.compose(side[:, :width], received)


def matched_links(
    links: DocumentLinks, matching: Sequence[Int64], topic_of: Int64, concept_count: int
) -> DocumentLinks:
    """The links to concepts that match the topic of the document."""
    matches = np.zeros((len(matching), concept_count), np.bool_)
    for row, concepts in zip(matches, matching, strict=True):
        row[concepts] = True
    owners = np.repeat(topic_of, np.diff(links.offsets))
    places = np.flatnonzero(matches[owners, links.concepts])
    offsets = np.searchsorted(places, links.offsets).astype(np.int64)
    return DocumentLinks(links.concepts[places], links.weights[places], offsets)


def link_tensors(links: DocumentLinks, device: str) -> Links:
    """The links of documents as tensors."""
    return Links(
        torch.from_numpy(links.concepts).to(device),
        torch.from_numpy(links.weights).to(device),
        torch.from_numpy(links.offsets[:-1]).to(device),
    )


def fit_last_layer(
    network: GrapheneNetwork,
    network_scores: Float32,
    features: Float32,
    grades: npt.NDArray[np.float64],
    offsets: Int64,
    *,
    l2: float,
    seed: int,
) -> None:
    """Set the weights of features, and the scale of the network's own score where it has one.

    Gradient steps over forty topics would learn the topics by heart. A linear model over the
    network's scores [documents] and the standardized features has one optimum, which an L2 penalty
    keeps away from single topics. The weights of features stay there.
    """
    values = centered(np.hstack([network_scores[:, None], features]), offsets)
    deviation = np.sqrt((values**2).mean(axis=0))
    usable = deviation > 1e-6
    values[:, usable] /= deviation[usable]
    values[:, ~usable] = 0
    weights = pairwise_weights(values, grades, offsets, l2=l2, seed=seed)
    weights *= _SPREAD / max(float((values @ weights).std()), 1e-9)
    weights[0] = max(weights[0], _LEAST)
    weights = np.where(usable, weights / np.where(usable, deviation, 1.0), 0.0)
    with torch.no_grad():
        # Where the network's own scores are all the same, their scale does not matter.
        if usable[0] and network.sizes.normalized:
            network.scale.mul_(float(weights[0]))
        elif usable[0]:
            weights = weights / weights[0]
        feature_weights = torch.from_numpy(weights[1:].astype(np.float32))
        network.feature_weights.copy_(feature_weights.to(network.feature_weights.device))
