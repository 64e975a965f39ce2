"""A folder of topics and judgments that searches another collection's documents.

Judgments from click logs or citations are made for documents that lie elsewhere, perhaps 26.7
million of them. A file `corpus.toml` names their collection, and both then share its index:

    collection = "beir/nfcorpus/test"
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.toml_io import toml_value

if TYPE_CHECKING:
    from irplatform.collections.collection import Corpus

FILE_NAME = "corpus.toml"

_HINT = 'It needs one line: collection = "a name, a path or an ir_datasets id".'


def read(path: Path) -> Corpus:
    """The documents of the collection that a file names.

    Args:
        path: the file. A name in it that begins with a dot is a path relative to its folder, where
            that really is: a link to it may lie elsewhere.

    Raises:
        InputError: the file is not such a reference, or there is no such collection.
    """
    from irplatform.registry import registry

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"this cannot be read as TOML ({error}). {_HINT}", path=path) from error
    name = content.get("collection")
    if not isinstance(name, str) or len(content) != 1:
        raise InputError(f"this does not name a collection. {_HINT}", path=path)
    target = os.path.normpath(path.parent.resolve() / name) if name.startswith(".") else name
    if Path(target.rpartition(":")[0] or target).resolve() == path.parent.resolve():
        raise InputError("a collection cannot search its own reference. " + _HINT, path=path)
    try:
        return registry().collection(target).corpus
    except InputError as error:
        raise InputError(f"the collection '{name}': {error}", path=path) from error


def write(collection: str, path: Path, *, seen_from: Path) -> None:
    """Write a reference to a collection.

    Args:
        collection: as the user named it. A path is written relative to the folder, so that both
            can be moved together.
        path: the file to write.
        seen_from: the folder in which the file will lie in the end.

    Raises:
        InputError: the path is not UTF-8.
    """
    from irplatform.collections.aliases import aliases
    from irplatform.collections.resolve import expand, is_path
    from irplatform.registry import registry

    names = {*registry().collections, *aliases()}
    if collection.partition(":")[0] not in names and is_path(collection):
        source = expand(collection).absolute()
        relative = os.path.relpath(source.parent.resolve() / source.name, seen_from.resolve())
        collection = relative if relative.startswith(".") else f"./{relative}"
    try:
        content = f"collection = {toml_value(collection)}\n".encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the path of the collection is not UTF-8, as {FILE_NAME} has to be. Give it a name "
            "with `platform collections add NAME PATH`, and use that.",
            path=collection,
        ) from error
    path.write_bytes(content)
