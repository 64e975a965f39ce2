"""XML files that are read element by element: memory does not grow with the file.

Nothing that the document type names is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.system.reading import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lxml.etree import _Element


def elements(path: Path, tags: Sequence[str], *, entities: bool = False) -> Iterator[_Element]:
    """Yield the elements of some names below a file's root; each is emptied before the next.

    Args:
        path: the file; may be gzipped.
        tags: names of elements, as lxml writes them: {name space}name.
        entities: whether the file may declare entities for parts of itself, as OWL does for the
            beginnings of addresses; those in other files are never read.

    Raises:
        InputError: the file is not well-formed, or declares entities.
    """
    from lxml import etree

    resolved = "internal" if entities else False
    with open_bytes(path) as file:
        try:
            for _, element in etree.iterparse(
                file, tag=tags, resolve_entities=resolved, no_network=True, load_dtd=False
            ):
                if next(element.iter(etree.Entity), None) is not None:
                    raise InputError(
                        "entities are not accepted here.", path=path, line=element.sourceline
                    )
                parent = element.getparent()
                if parent is None or parent.getparent() is not None:
                    continue  # within another one
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del parent[0]
        except etree.XMLSyntaxError as error:
            raise InputError(
                f"this is not well-formed XML ({error.msg}).", path=path, line=error.lineno
            ) from error
