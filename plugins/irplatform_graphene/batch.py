"""The documents of a training step: each encoded once, whatever topics they are compared for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from irplatform_graphene.network import Links
from irplatform_graphene.scoring import link_tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from irplatform.text.arrays import Int64
    from irplatform_graphene.model import Model
    from irplatform_graphene.topics import EncodedTopic


@dataclass(frozen=True)
class TopicDocuments:
    """Documents, each to be scored for a topic.

    Attributes:
        topic: int64 [n], places among the topics of the step.
        document: int64 [n], places among its documents.
    """

    topic: Int64
    document: Int64


class BatchDocuments:
    """Documents of a step.

    Args:
        model: whose weights are trained.
        rows: the documents' rows of the forward index, each once.
        encoded: float32 [documents, encoded], Enc(d).
    """

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

    def vectors(self, documents: TopicDocuments, topics: Sequence[EncodedTopic]) -> Tensor:
        """v_d of documents, each for its topic: float32 [n, vector]."""
        places = torch.from_numpy(documents.document).to(self._text.device)
        if self._model.concepts is None:
            return self._network.compose(self._text[places], None)
        received = self._received[places]
        reward = self._model.options.reward
        if reward != 1:
            matching = self._matching(documents, topics)
            received = received + (reward - 1) * matching.sums(self._messages)
        return self._network.compose(self._text[places], received)

    def plain_vectors(self, places: Int64) -> Tensor:
        """v_d of documents for no topic: float32 [n, vector]."""
        chosen = torch.from_numpy(places).to(self._text.device)
        received = self._received[chosen] if self._model.concepts is not None else None
        return self._network.compose(self._text[chosen], received)

    def _matching(self, documents: TopicDocuments, topics: Sequence[EncodedTopic]) -> Links:
        """The links of each document to concepts that match its topic."""
        links, offsets = self._links.of(documents.document)
        count = self._model.concepts.graph.concept_count if self._model.concepts else 0
        owner = np.repeat(documents.topic, np.diff(offsets))
        matching = np.concatenate([n * count + topic.matching for n, topic in enumerate(topics)])
        matches = np.flatnonzero(np.isin(owner * count + self._links.concepts[links], matching))
        device = self._model.device
        return Links(
            torch.from_numpy(self._local[links[matches]]).to(device),
            torch.from_numpy(self._links.weights[links[matches]]).to(device),
            torch.from_numpy(np.searchsorted(matches, offsets[:-1]).astype(np.int64)).to(device),
        )
