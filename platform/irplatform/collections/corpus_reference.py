"""A folder of topics and judgments that searches another collection's documents.

Judgments from click logs or citations are made for documents that lie elsewhere, perhaps 26.7
million of them. A file `corpus.toml` names their collection, and both then share its index:

    collection = "beir/nfcorpus/test"
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from irplatform.collections.collection import Corpus

FILE_NAME = "corpus.toml"

_opening: ContextVar[tuple[Path, ...]] = ContextVar("opening", default=())
"""Folders of the references that are being followed."""
_HINT = 'It needs one line: collection = "a name, a path or an ir_datasets id".'


def read(path: Path) -> Corpus:
    """The documents of the collection that a file names.

    Args:
        path: the file. A name in it that begins with a dot is a path relative to its folder, where
            that really is: a link to it may lie elsewhere.

    Raises:
        InputError: the file is not such a reference, or there is no such collection.
    """
    # A collection may name another one: what resolves names opens references, too
    from irplatform.registry import registry

    try:
        content = read_toml(path)
    except InputError as error:
        raise InputError(f"{error.message} {_HINT}", path=path, line=error.line) from error
    name = content.get("collection")
    if not isinstance(name, str) or len(content) != 1:
        raise InputError(f"this does not name a collection. {_HINT}", path=path)
    target = os.path.normpath(path.parent.resolve() / name) if name.startswith(".") else name
    if Path(target.rpartition(":")[0] or target).resolve() == path.parent.resolve():
        raise InputError("a collection cannot search its own reference. " + _HINT, path=path)
    here = path.parent.resolve()
    if here in _opening.get():
        raise InputError("these references lead in a circle. " + _HINT, path=path)
    token = _opening.set((*_opening.get(), here))
    try:
        return registry().documents_of(target).corpus
    except InputError as error:
        raise InputError(f"the collection '{name}': {error}", path=path) from error
    finally:
        _opening.reset(token)
