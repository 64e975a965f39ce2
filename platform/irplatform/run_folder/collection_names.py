"""The collections that runs name in their metadata."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.run_folder.metadata_files import read_metadata
from irplatform.spelling import option_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.run_folder.metadata_model import RunMetadata


def collections_named(files: Iterable[Path]) -> list[str]:
    """Return the collections that the metadata of some runs name, each once.

    A collection that lies in several places counts once: the first of them that is there.
    """
    names: dict[str, str] = {}
    for file in files:
        metadata = read_metadata(file)
        if name := _collection_of(metadata):
            marks = metadata.data.test_collection.content()
            names[name] = json.dumps(marks, sort_keys=True) if "topics" in marks else name
    if len({*names.values()}) == 1:
        return [next((name for name in names if Path(name).exists()), next(iter(names)))]
    return [*names]


def _collection_of(metadata: RunMetadata) -> str:
    if name := metadata.implementation.call.settings.get("collection"):
        return str(name)
    with suppress(ValueError, KeyError, IndexError):
        executable = metadata.implementation.executable
        words = shlex.split(executable["cmd"])
        (flag,) = option_words("collection")
        name = words[words.index(flag) + 1]
        path = Path(executable.get("working directory", ""), name)
        return str(path) if path.exists() else name
    return ""
