"""Writes references to collections, as `corpus_reference` reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from irplatform.collections.aliases import aliases
from irplatform.collections.corpus_reference import FILE_NAME
from irplatform.collections.resolve import expand, is_path
from irplatform.registry import registry
from irplatform.toml_io import toml_value

if TYPE_CHECKING:
    from pathlib import Path


def write_reference(collection: str, folder: Path, *, seen_from: Path) -> None:
    """Let the topics of a folder search the documents of a collection.

    Args:
        collection: as the user named it. A path is written relative to the folder, so that both
            can be moved together.
        folder: where the file is written.
        seen_from: the folder in which the file will lie in the end.
    """
    names = {*registry().collections, *aliases()}
    if collection.partition(":")[0] not in names and is_path(collection):
        source = expand(collection).absolute()
        relative = os.path.relpath(source.parent.resolve() / source.name, seen_from.resolve())
        collection = relative if relative.startswith(".") else f"./{relative}"
    content = f"collection = {toml_value(collection)}\n"
    (folder / FILE_NAME).write_text(content, encoding="utf-8")
