"""Why GRAPHENE scores a document as it does: concepts, their rewards, and features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from torch import Tensor

    from irplatform.kit import ConceptGraph, Float32, Int64
    from irplatform.plugin import Topic
    from irplatform_graphene.model import Model
    from irplatform_graphene.reading import ConceptInputs, DocumentLinks, EncodedTopic


_NEIGHBOURS = 3  # neighbours of a concept that are named
_OTHERS = 8  # concepts that do not match the topic and are listed, those that weigh most


def explain(model: Model, topic: Topic, row: int, features: Float32 | None) -> Mapping[str, object]:
    """Explain the score of the document in a row, with its standardized features [1, features]."""
    encoded = model.topics.read(topic)
    rows = np.array([row])
    score = model.scores(encoded, rows, features).item()
    distance = model.scores(encoded, rows, None).item()
    explanation: dict[str, object] = {"score": score}
    if features is not None:
        explanation |= {"of vectors": distance, "of features": score - distance}
    explanation["topic"] = [
        {"field": text, "concepts": _names(model, text)} for text in model.topics.fields(topic)
    ]
    if model.concepts is not None:
        explanation |= _of_concepts(model, model.concepts, encoded, rows, score, distance)
    else:
        explanation["graph"] = "none: concepts of the document take no part"
    if features is not None:
        weights = model.network.feature_weights.detach().cpu().numpy()
        explanation |= model.features.contributions(features[0], features[0] * weights)
    return explanation


def _of_concepts(
    model: Model,
    concepts: ConceptInputs,
    encoded: EncodedTopic,
    rows: Int64,
    score: float,
    distance: float,
) -> dict[str, object]:
    graph, links = concepts.graph, concepts.links(rows)
    matches = np.isin(links.concepts, encoded.matching)
    changes = _changes_without(model, encoded, rows, links, matches, distance)
    without, unrewarded, all_unrewarded = (score + change for change in changes)

    def described(place: int) -> dict[str, object]:
        concept = int(links.concepts[place])
        return {
            "concept": graph.names[concept],
            "kind": graph.KINDS[graph.kinds[concept]],
            "weight": float(links.weights[place]),
            "score without it": float(without[place]),
            **({"without its reward": float(unrewarded[place])} if matches[place] else {}),
            "neighbours": _neighbours(graph, concept),
        }

    order = np.argsort(-links.weights, kind="stable")
    others = order[~matches[order]].tolist()
    more = len(others) - _OTHERS
    return {
        "reward": model.options.reward,
        "without any reward": float(all_unrewarded[0]),
        **({"other concepts that are not listed": more} if more > 0 else {}),
        "matching concepts": [described(place) for place in order[matches[order]].tolist()],
        "other concepts": [described(place) for place in others[:_OTHERS]],
    }


def _changes_without(
    model: Model,
    encoded: EncodedTopic,
    rows: Int64,
    links: DocumentLinks,
    matches: npt.NDArray[np.bool_],
    distance: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Changes of the score without a concept's message; the others keep their weights.

    Returns float64 [links] without each concept, [links] without the reward of each, and [1]
    without any reward.
    """
    alphas = np.where(matches, model.options.reward, 1.0).astype(np.float32)
    with torch.no_grad():
        messages = model.messages()[torch.from_numpy(links.concepts).to(model.device)]
        weighted = torch.from_numpy(links.weights).to(model.device)[:, None] * messages
        rewarded = torch.from_numpy(alphas).to(model.device)[:, None] * weighted
        side = model.sides(rows)
        width = model.network.sizes.vector
        total = (rewarded - weighted).sum(dim=0, keepdim=True)
        received = side[:, width:] + total
        query = model.network.query(*model.reader.topics([encoded]))[0]

        def change(left_out: Tensor) -> npt.NDArray[np.float64]:
            vectors = model.network.compose(side[:, :width], received - left_out)
            scores = model.network.score(query, vectors, None) - distance
            return np.array(scores.tolist(), dtype=np.float64)

        return change(rewarded), change(rewarded - weighted), change(total)


def _neighbours(graph: ConceptGraph, concept: int) -> str:
    near: dict[int, str] = {}
    for other, source, _ in graph.neighbours(concept):
        near.setdefault(other, source.relation)
    names = [f"{graph.names[other]} ({relation})" for other, relation in near.items()]
    more = [f"{len(names) - _NEIGHBOURS} more"] if len(names) > _NEIGHBOURS else []
    return "; ".join([*names[:_NEIGHBOURS], *more]) or "none"


def _names(model: Model, text: str) -> str:
    graph = model.topics.graph
    if graph is None:
        return "none looked for"
    concepts = graph.find(text)
    matches = model.concepts is not None
    more = len(model.topics.concepts(text)) - len(concepts) if matches else 0
    names = "; ".join(graph.names[int(concept)] for concept in concepts) or "none"
    return f"{names} and {more} narrower" if more else names
