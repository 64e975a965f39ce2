"""What a row's figures depend on beside its command and the code: the data, as they are now.

A call that goes on after an interruption must not report figures of data that were mended since.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any

from irplatform.digests import digest, folder_digests
from irplatform.knowledge import installed
from irplatform.registry import registry
from irplatform.storage import fingerprint
from irplatform.training_topics.pretraining import MESH, NO_PRETRAINING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from irplatform.collections import Collection

_LEARNED_FROM = ("--train-on", "--pretrain")
_OF_FOLDERS = ("--checkpoint", "--set")
"""Options that take folders. A word of another option may be the name of some folder by chance."""


def inputs_mark(collection: Collection, command: Sequence[str]) -> str:
    """Return a digest of all data that a command reads.

    These are documents, topics and judgments, also of collections that train for it, knowledge
    bases, and the files and folders (those of checkpoints and models) that its options name.
    """
    options = list(_options(command))
    partner = collection.training() if collection.training else None
    learned_from = [partner, *map(registry().collection, _learned_from(options))]
    validation = [c.validation() for c in learned_from if c and c.validation]
    files = [path for _, text in options for path in _paths(text) if _is_there(path, S_ISREG)]
    folders = [
        path
        for option, text in options
        if option in _OF_FOLDERS
        for path in _paths(text)
        if _is_there(path, S_ISDIR)
    ]
    return fingerprint(
        {
            "collections": [_described(c) for c in (collection, *learned_from, *validation) if c],
            "knowledge": {name: manifest.fingerprint for name, manifest in installed().items()},
            "files": [digest(path) for path in files],
            "folders": [folder_digests(path) for path in folders],
        }
    )


def _options(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options and their values; of `--set NAME=VALUE`, too."""
    for word, following in pairwise([*command, ""]):
        option, equals, value = word.partition("=")
        if option.startswith("--"):
            text = value if equals else following
            yield option, text.partition("=")[2] if option == "--set" else text


def _learned_from(options: Sequence[tuple[str, str]]) -> list[str]:
    """Names of the collections that a run is told to learn from."""
    names = [text for option, text in options if option in _LEARNED_FROM]
    return [name for name in names if name not in (MESH, NO_PRETRAINING)]


def _paths(text: str) -> list[Path]:
    """What a value may be the path of; lists are JSON."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    texts = values if isinstance(values, list) else [text]
    return [Path(path) for path in texts if isinstance(path, str) and path]


def _is_there(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a value is the path of such a thing; many, like prompts, can be no path at all."""
    try:
        return is_kind(path.stat().st_mode)
    except (OSError, ValueError):
        return False


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
