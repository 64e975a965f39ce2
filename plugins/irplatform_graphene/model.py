"""A GRAPHENE network with all that it reads: documents, concepts, topics, stored document sides."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from irplatform.features import SideFeatures
from irplatform.training.neural import stored_documents, vectors_digest, weights_digest
from irplatform_graphene.concept_inputs import ConceptInputs
from irplatform_graphene.documents import Reader
from irplatform_graphene.network import GrapheneNetwork, Sizes
from irplatform_graphene.scoring import (
    document_vectors,
    encodings,
    matched_links,
    messages_of_all,
    sides,
)
from irplatform_graphene.topics import EncodedTopic, TopicReader

if TYPE_CHECKING:
    from irplatform.plugin import Resources
    from irplatform.text.arrays import Float32, Int64
    from irplatform_graphene.options import GrapheneOptions


_FORMAT = 1


class Model:
    """Network, readers and stores.

    Attributes:
        network: the network, untrained at first.
        reader: of documents.
        concepts: what concepts and documents read in the graph; None without a graph.
        topics: reads topics.
        features: of the last layer.
    """

    def __init__(self, resources: Resources, options: GrapheneOptions) -> None:
        self.options = options
        self._resources = resources
        vectors = resources.vectors(options.vectors)
        self._vectors_digest = vectors_digest(vectors)
        self.reader = Reader(
            resources.forward_index(), vectors, options.document_words, resources.device
        )
        needed = options.graph or options.expansion
        graph = resources.concepts(options.concepts) if needed else None
        self.topics = TopicReader(vectors, graph, options)
        self.concepts = (
            ConceptInputs(graph, vectors, options.self_loop, resources)
            if graph is not None and options.graph
            else None
        )
        self.features = SideFeatures(options.features, options.feature_settings, resources)
        sizes = Sizes(
            dimensions=vectors.dimensions,
            projection=options.projection,
            hidden=options.hidden,
            layers=options.layers,
            graph=options.graph_width if options.graph else 0,
            vector=options.vector,
            filters=options.filters,
            shortcut=options.shortcut,
            normalized=options.normalized,
            features=self.features.width,
        )
        torch.manual_seed(resources.seed)
        self.network = GrapheneNetwork(sizes, options.dropout).to(resources.device).eval()
        self._messages: Tensor | None = None
        self._encodings: Float32 | None = None
        self._sides: Float32 | None = None

    @property
    def device(self) -> str:
        """Where it computes."""
        return self._resources.device

    def changed(self) -> None:
        """Forget what was computed with other weights."""
        self._messages = None
        self._encodings = None
        self._sides = None

    def messages(self) -> Tensor:
        """Messages of all concepts, [concepts, graph]; without a graph, none."""
        if self._messages is None:
            with torch.no_grad():
                self._messages = (
                    messages_of_all(self.network, self.concepts, self.device)
                    if self.concepts is not None
                    else torch.empty(0, 0)
                )
        return self._messages

    def encodings(self, rows: Int64) -> Tensor:
        """Enc(d) of documents, from the store where there is one: float32 [n, encoded]."""
        with torch.no_grad():
            if self.reader.index.count > self.options.stored_documents:
                return encodings(self.network, self.reader, rows)
            if self._encodings is None:
                self._encodings = stored_documents(
                    self._resources,
                    "graphene-encodings",
                    self._identity("project.", "encoder."),
                    lambda part: encodings(self.network, self.reader, part).cpu().numpy(),
                    self.network.encoded,
                )
            return torch.from_numpy(self._encodings[rows]).to(self.device)

    def sides(self, rows: Int64) -> Tensor:
        """Document sides, from the store where there is one: float32 [n, vector + graph]."""
        if self.reader.index.count > self.options.stored_documents:
            return self._computed_sides(rows)
        if self._sides is None:
            graph = self.concepts.graph.fingerprint if self.concepts is not None else ""
            weights = ("project.", "encoder.", "concept", "document", "from_")
            self._sides = stored_documents(
                self._resources,
                "graphene-documents",
                {**self._identity(*weights), "graph": graph, "λ": self.options.self_loop},
                lambda part: self._computed_sides(part).cpu().numpy(),
                self.network.sizes.vector + self.network.sizes.graph,
            )
        return torch.from_numpy(self._sides[rows]).to(self.device)

    def _computed_sides(self, rows: Int64) -> Tensor:
        with torch.no_grad():
            links = self.concepts.links(rows) if self.concepts is not None else None
            return sides(self.network, self.encodings(rows), links, self.messages())

    def scores(
        self, topic: EncodedTopic, rows: Int64, features: Float32 | None, side: Tensor | None = None
    ) -> Tensor:
        """Scores of documents for a topic, by the weights as they are: float32 [n].

        Args:
            topic: the topic.
            rows: the documents' rows of the forward index.
            features: float32 [n, features], standardized; None for none.
            side: the documents' sides, where they are at hand.
        """
        with torch.no_grad():
            query = self.network.query(*self.reader.topics([topic]))[0]
            side = self.sides(rows) if side is None else side
            matched = None
            if self.concepts is not None:
                links = self.concepts.links(rows)
                count = self.concepts.graph.concept_count
                matched = matched_links(links, topic.matching, count)
            vectors = document_vectors(
                self.network, side, matched, self.messages(), self.options.reward
            )
            tensor = None if features is None else torch.from_numpy(features).to(self.device)
            return self.network.score(query, vectors, tensor)

    def sizes(self) -> dict[str, Any]:
        """What weights must fit, as JSON; those of the features are kept apart."""
        sizes = asdict(self.network.sizes)
        del sizes["features"]
        return {"model": "graphene", **sizes}

    def _identity(self, *prefixes: str) -> dict[str, Any]:
        state = self.network.state_dict()
        return {
            "format": _FORMAT,
            "weights": weights_digest({n: w for n, w in state.items() if n.startswith(prefixes)}),
            "vectors": self._vectors_digest,
            "words": self.options.document_words,
            "device": self.device,
            "model_threads": self._resources.model_threads,
        }
