"""From a network to scores: document sides made once and stored, the reward added per query.

A document's side is what Enc(d) adds to v_d, and the sum of its concepts' messages with α = 1. For
a topic only the messages of matching concepts are added, (α − 1) times. Tests go over all nodes of
the graph, as the equations do, and find the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from irplatform_graphene.concept_inputs import DocumentLinks
from irplatform_graphene.network import Links

if TYPE_CHECKING:
    from irplatform.text.arrays import Int64
    from irplatform_graphene.concept_inputs import ConceptInputs
    from irplatform_graphene.documents import Reader
    from irplatform_graphene.network import GrapheneNetwork


_AT_ONCE = 256
_CONCEPTS_AT_ONCE = 8192


def encodings(network: GrapheneNetwork, reader: Reader, rows: Int64) -> Tensor:
    """Enc(d) of documents: float32 [n, encoded]."""
    parts = [
        network.encode(reader.texts(rows[start : start + _AT_ONCE]))
        for start in range(0, len(rows), _AT_ONCE)
    ]
    return torch.cat([network.project.weight.new_zeros(0, network.encoded), *parts])


def messages_of_all(network: GrapheneNetwork, concepts: ConceptInputs, device: str) -> Tensor:
    """Messages of all concepts: float32 [concepts, graph]."""
    count = concepts.graph.concept_count
    parts = [network.project.weight.new_zeros(0, network.sizes.graph)]
    for start in range(0, count, _CONCEPTS_AT_ONCE):
        chosen = np.arange(start, min(start + _CONCEPTS_AT_ONCE, count))
        parts.append(network.messages(torch.from_numpy(concepts.sums(chosen)).to(device)))
    return torch.cat(parts)


def link_tensors(links: DocumentLinks, device: str) -> Links:
    """The links of documents as the network takes them."""
    return Links(
        torch.from_numpy(links.concepts).to(device),
        torch.from_numpy(links.weights).to(device),
        torch.from_numpy(links.offsets[:-1]).to(device),
    )


def matched_links(links: DocumentLinks, matching: Int64, concept_count: int) -> DocumentLinks:
    """The links to concepts that match a topic."""
    matches = np.zeros(concept_count, np.bool_)
    matches[matching] = True
    places = np.flatnonzero(matches[links.concepts])
    offsets = np.searchsorted(places, links.offsets).astype(np.int64)
    return DocumentLinks(links.concepts[places], links.weights[places], offsets)


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
    """v_d of documents for a topic: float32 [n, vector].

    Args:
        network: the network.
        side: float32 [n, vector + graph], see `sides`.
        matched: links to the concepts that match the topic; None without a graph.
        messages: of all concepts.
        reward: α.
    """
    width = network.sizes.vector
    if matched is None:
        return network.compose(side, None)
    received = side[:, width:]
    if reward != 1 and len(matched.concepts):
        added = link_tensors(matched, str(side.device)).sums(messages)
        received = received + (reward - 1) * added
    return network.compose(side[:, :width], received)
