"""Why a document has its score: its concepts, their rewards, and the score without each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from torch import Tensor

    from irplatform.concepts import ConceptGraph
    from irplatform.plugin import Topic
    from irplatform_graphene.model import Model

_NEIGHBOURS = 3
"""Neighbours of a concept that are named."""
_OTHERS = 8
"""Concepts that do not match the topic and are told, those that weigh most."""


def explain(
    model: Model, topic: Topic, row: int, features: npt.NDArray[np.float32] | None
) -> Mapping[str, object]:
    """What made the score of a document.

    A concept is taken away by leaving out its message, reward included; the weights of the others
    stay as they are.

    Args:
        model: the model.
        topic: the topic.
        row: the document's, of the forward index.
        features: float32 [1, features], standardized; None for none.
    """
    encoded = model.topics.read(topic)
    rows = np.array([row])
    score = model.scores(encoded, rows, features).item()
    distance = model.scores(encoded, rows, None).item()
    held: dict[str, object] = {"score": score}
    if features is not None:
        held |= {"of vectors": distance, "of features": score - distance}
    held["topic"] = [
        {"field": text, "concepts": _names(model, text)} for text in model.topics.fields(topic)
    ]
    if model.concepts is None:
        return held
    links = model.concepts.links(rows)
    matches = np.isin(links.concepts, encoded.matching)
    alphas = np.where(matches, model.options.reward, 1.0)
    messages = model.messages()[torch.from_numpy(links.concepts).to(model.device)]
    weighted = torch.from_numpy(links.weights).to(model.device)[:, None] * messages
    rewarded = torch.from_numpy(alphas.astype(np.float32)).to(model.device)[:, None] * weighted
    side = model.sides(rows)
    width = model.network.sizes.vector
    received = side[:, width:] + (rewarded - weighted).sum(dim=0, keepdim=True)
    query = model.network.query(*model.reader.topics([encoded]))[0]

    def scored(messages_left_out: Tensor) -> list[float]:
        vectors = model.network.compose(side[:, :width], received - messages_left_out)
        scores: list[float] = (model.network.score(query, vectors, None) - distance).tolist()
        return scores

    graph = model.concepts.graph
    with torch.no_grad():
        without, unrewarded = scored(rewarded), scored(rewarded - weighted)
        all_unrewarded = scored((rewarded - weighted).sum(dim=0, keepdim=True))
    order = np.argsort(-links.weights, kind="stable")
    matched = [place for place in order.tolist() if matches[place]]
    rest = [place for place in order.tolist() if not matches[place]][:_OTHERS]
    held["reward"] = model.options.reward
    held["without any reward"] = score + all_unrewarded[0]
    held["matching concepts"] = [
        {
            **_told(graph, int(links.concepts[place]), float(links.weights[place])),
            "score without it": score + without[place],
            "without its reward": score + unrewarded[place],
            "neighbours": _neighbours(graph, int(links.concepts[place])),
        }
        for place in matched
    ]
    held["other concepts"] = [
        {
            **_told(graph, int(links.concepts[place]), float(links.weights[place])),
            "score without it": score + without[place],
            "neighbours": _neighbours(graph, int(links.concepts[place])),
        }
        for place in rest
    ]
    return held


def _told(graph: ConceptGraph, concept: int, weight: float) -> dict[str, object]:
    """A concept with its weight among those of the document."""
    return {
        "concept": graph.names[concept],
        "kind": graph.KINDS[graph.kinds[concept]],
        "weight": weight,
    }


def _neighbours(graph: ConceptGraph, concept: int) -> str:
    """Some of the neighbours of a concept, each with the first relation to it."""
    near: dict[int, str] = {}
    for other, source, _ in graph.neighbours(concept):
        near.setdefault(other, source.relation)
    shown = [f"{graph.names[other]} ({relation})" for other, relation in near.items()]
    more = [f"{len(shown) - _NEIGHBOURS} more"] if len(shown) > _NEIGHBOURS else []
    return "; ".join([*shown[:_NEIGHBOURS], *more]) or "none"


def _names(model: Model, text: str) -> str:
    """The concepts that a field speaks of, and how many narrower ones match, too."""
    graph = model.topics.graph
    if graph is None:
        return "none looked for"
    named = graph.find(text)
    more = len(model.topics.concepts(text)) - len(named)
    names = "; ".join(graph.names[int(concept)] for concept in named) or "none"
    return f"{names} and {more} narrower" if more else names
