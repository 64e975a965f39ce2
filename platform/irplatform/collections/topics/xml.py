"""Reads small XML files safely, with line numbers.

A document type may be declared, but no entities: these can be made to grow without end or to fetch
other files. Characters that HTML knows by name (`&eacute;`) are read where there is a declaration.
"""

from __future__ import annotations

from html.entities import html5
from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from irplatform.collections.topics.record import LARGEST
from irplatform.errors import InputError
from irplatform.text_files import read_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def parse(path: Path) -> tuple[Element, Mapping[Element, int]]:
    """Parse a file.

    Returns:
        The root, and the line where each element begins.

    Raises:
        InputError: the file is missing, not well-formed, or declares entities.
    """
    builder = TreeBuilder()
    lines: dict[Element, int] = {}
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    def refuse(name: str, *_: object) -> NoReturn:
        raise InputError(
            f"the entity '{name}' is declared here, and entities are not read: they can be made to "
            "fill the memory. Write its text where it is used, and remove the declaration.",
            path=path,
            line=parser.CurrentLineNumber,
        )

    def skipped(name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        if f"{name};" not in html5:
            raise InputError(
                f"the entity '&{name};' is declared nowhere. Write its text.",
                path=path,
                line=parser.CurrentLineNumber,
            )
        builder.data(html5[f"{name};"])

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = skipped
    content = read_whole(path, LARGEST)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(
            f"this is not well-formed XML ({expat.ErrorString(error.code)}).{_hint(error)}",
            path=path,
            line=error.lineno,
        ) from error
    except (LookupError, ValueError) as error:  # of the encoding that it declares
        raise InputError(f"cannot be read: {error}. Save it as UTF-8.", path=path) from error
    return builder.close(), lines


_HINTS = {
    expat.errors.XML_ERROR_INVALID_TOKEN: "Write '&' as '&amp;' and '<' as '&lt;', and save "
    "the file as UTF-8.",
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "Put one element around all topics: "
    "<topics>…</topics>.",
    expat.errors.XML_ERROR_MISPLACED_XML_PI: "<?xml …?> can only be the beginning of the file.",
}


def _hint(error: expat.ExpatError) -> str:
    """What to do about errors whose messages do not say so."""
    return f" {_HINTS[message]}" if (message := expat.ErrorString(error.code)) in _HINTS else ""
