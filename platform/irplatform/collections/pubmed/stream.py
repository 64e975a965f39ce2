"""A look at what comes before an XML file's first element, while the file streams by.

Entities are declared there. They can be made to grow without end ("billion laughs") or to name
other files, and PubMed's files declare none: a file that does is refused before it reaches the
parser. So is one whose root element says that it is something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path
    from typing import BinaryIO


class CheckedStream:
    """A stream of XML whose beginning is checked, and that knows how many lines were read.

    Args:
        stream: the XML, unpacked.
        path: what to call it in errors.
        roots: names of the root elements that are accepted.
    """

    def __init__(self, stream: BinaryIO, path: Path | str, roots: Container[str]) -> None:
        self.path = path
        self.lines = 1
        self._stream = stream
        self._roots = roots
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = self._refuse_entity
        parser.StartElementHandler = self._check_root
        self._parser: expat.XMLParserType | None = parser

    def read(self, size: int = -1) -> bytes:
        """Some of the stream.

        Raises:
            InputError: it declares entities, begins with another element, or is not XML.
        """
        chunk = self._stream.read(size)
        if (parser := self._parser) is not None:
            try:
                parser.Parse(chunk, not chunk)
            except expat.ExpatError as error:
                if self._parser is not None:  # what comes after the root is for the real parser
                    raise InputError(
                        f"this is not XML ({expat.ErrorString(error.code)}). Fetch the file again.",
                        path=self.path,
                        line=error.lineno,
                    ) from error
            except (LookupError, ValueError) as error:  # of the encoding that it declares
                raise InputError(
                    f"cannot be read: {error}. Save it as UTF-8.", path=self.path
                ) from error
        self.lines += chunk.count(b"\n")
        return chunk

    def _refuse_entity(self, name: str, *_: object) -> NoReturn:
        line = self._parser.CurrentLineNumber if self._parser else None
        raise InputError(
            f"the entity '{name}' is declared here. PubMed's files declare none, and entities can "
            "be made to fill the memory: the file is not read.",
            path=self.path,
            line=line,
        )

    def _check_root(self, name: str, _: object) -> None:
        parser, self._parser = self._parser, None
        if parser is None:
            return
        parser.StartElementHandler = None
        if name not in self._roots:
            raise InputError(
                f"the file begins with <{name}>, not with <PubmedArticleSet>: it is not PubMed's "
                "XML.",
                path=self.path,
                line=parser.CurrentLineNumber,
            )
