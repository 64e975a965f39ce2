"""Reads small XML files safely, with line numbers.

A document type declaration is refused: it is where entities are declared, which can be made to
grow without end or to fetch other files, and no file of topics needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from irplatform.errors import InputError
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def parse(path: Path) -> tuple[Element, Mapping[Element, int]]:
    """Parse a file.

    Returns:
        The root, and the line where each element begins.

    Raises:
        InputError: the file is missing, not well-formed, or declares a document type.
    """
    builder = TreeBuilder()
    lines: dict[Element, int] = {}
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    def refuse(*_: object) -> NoReturn:
        raise InputError(
            "a document type declaration is not accepted here. Remove the line with <!DOCTYPE.",
            path=path,
            line=parser.CurrentLineNumber,
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    with open_bytes(path) as file:
        try:
            parser.ParseFile(file)
        except expat.ExpatError as error:
            raise InputError(
                f"this is not well-formed XML ({expat.ErrorString(error.code)}).{_hint(error)}",
                path=path,
                line=error.lineno,
            ) from error
        except (LookupError, ValueError) as error:  # of the encoding that it declares
            raise InputError(f"cannot be read: {error}. Save it as UTF-8.", path=path) from error
    return builder.close(), lines


def _hint(error: expat.ExpatError) -> str:
    """What characters that XML does not take often are."""
    if error.code != expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]:
        return ""
    return " Write '&' as '&amp;' and '<' as '&lt;', and save the file as UTF-8."
