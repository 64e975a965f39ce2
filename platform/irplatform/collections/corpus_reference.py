"""A folder of topics and judgments that searches another collection's documents.

Judgments from click logs or citations are made for documents that lie elsewhere, perhaps 26.7
million of them. A file `corpus.toml` names their collection, and both then share its index:

    collection = "beir/nfcorpus/test"
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from pathlib import Path

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
    try:
        return registry().documents_of(target).corpus
    except InputError as error:
        raise InputError(f"the collection '{name}': {error}", path=path) from error
