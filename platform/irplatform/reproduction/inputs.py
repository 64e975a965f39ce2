"""What a row's figures depend on beside its command and the code: the data, as they are now.

A call that goes on after an interruption must not report figures of data that were mended since.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.digests import digest
from irplatform.knowledge import installed
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.collections import Collection


def inputs_mark(collection: Collection, command: Sequence[str]) -> str:
    """Stands for documents, topics, judgments, knowledge bases and files that a command names.

    Args:
        collection: what is searched; what trains for it counts, too.
        command: the arguments of `platform`, placeholders filled in.

    Raises:
        InputError: a file of the collections cannot be read.
    """
    partner = collection.training() if collection.training else None
    validation = partner.validation() if partner and partner.validation else None
    words = (word.rpartition("=")[2] for word in command)  # of --option=PATH, too
    return fingerprint(
        {
            "collections": [_described(c) for c in (collection, partner, validation) if c],
            "knowledge": {name: manifest.fingerprint for name, manifest in installed().items()},
            "files": [digest(path) for path in map(Path, words) if path.is_file()],
        }
    )


def _described(collection: Collection) -> dict[str, Any]:
    """What a collection says; an id of ir_datasets is taken at its word, and never downloaded."""
    if "ir_datasets id" in collection.metadata:
        return {"id": collection.id}
    sampled = collection.sampled_qrels
    qrels = collection.load_qrels() if collection.load_qrels else {}
    return {
        "documents": collection.corpus.fingerprint,
        "topics": [topic.describe() for topic in collection.load_topics()],
        "qrels": {topic: dict(grades) for topic, grades in qrels.items()},
        "sampled": digest(sampled) if sampled is not None else None,
        "plan": dict(collection.plan),
        "expand": list(collection.expand),
        "measures": list(collection.measures),
    }
