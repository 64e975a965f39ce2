"""What a reranker says of its scores: asked for, and checked where it is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from irplatform.errors import PluginError, counted, in_a_line, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.plugin import Documents, Reranker, Topic
    from irplatform.registry import Registration


def explanations(
    registration: Registration[Reranker], reranker: Reranker, topic: Topic, documents: Documents
) -> list[Mapping[str, Any]]:
    """A reranker's explanations of documents, one for each.

    Args:
        registration: who made the reranker, for error messages.
        reranker: the reranker, prepared (and trained).
        topic: what the documents were scored for.
        documents: the documents.

    Raises:
        PluginError: they are too few, are not JSON, or one has no score.
    """
    who = registration.who
    with registration.plugin_call(f"explaining topic {topic.id}"):
        explained = reranker.explain(topic, documents)
    if not isinstance(explained, Sequence):
        raise PluginError(
            f"{who} explained {counted(len(documents), 'document')} with "
            f"{type(explained).__name__}; a list with a mapping for each is needed."
        )
    if len(explained) != len(documents):
        raise PluginError(
            f"{who} explained {counted(len(explained), 'document')}, not {len(documents)}."
        )
    for doc_id, explanation in zip(documents.ids, explained, strict=True):
        try:
            json.dumps(explanation, allow_nan=False)
            if isinstance(explanation["score"], str):
                raise TypeError(f"the score {quoted(explanation['score'])} is no number")
            float(explanation["score"])  # type: ignore[arg-type]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise PluginError(
                f"{who} explained document {doc_id} with something that is not JSON with a score: "
                f"{in_a_line(error)}."
            ) from error
    return [dict(explanation) for explanation in explained]
