"""A look at what comes before the first element of an XML document, while its file streams by.

Entities are declared there. They can be made to grow without end ("billion laughs") or to name
other files, and PubMed's files declare none: a file that does is refused before it reaches the
parser. So is one whose root element says that it is something else.

A file can hold several documents, one after the other, as loops over efetch write them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path
    from typing import BinaryIO


_LONGEST_TAG = 64
"""Bytes that the end of a root element takes at most."""
_LONGEST_COMMENT = 1 << 20
_BETWEEN = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.*?-->)*", re.DOTALL)
"""What may stand before and behind a document and is none."""


def documents(
    stream: BinaryIO, path: Path | str, roots: Collection[str]
) -> Iterator[CheckedStream]:
    """The XML documents of a file, each to be read to its end before the next one."""
    before = CheckedStream(stream, path, roots)
    rest = before.rest()
    document = CheckedStream(stream, path, roots, rest, before.lines)
    yield document
    while rest := document.rest():
        document = CheckedStream(stream, path, roots, rest, document.lines)
        yield document


class CheckedStream:
    """A document of XML whose beginning is checked, and that knows how many lines were read.

    Attributes:
        first_line: where it begins in the file.
        lines: where it was read to.
    """

    def __init__(
        self,
        stream: BinaryIO,
        path: Path | str,
        roots: Collection[str],
        beginning: bytes = b"",
        line: int = 1,
    ) -> None:
        self.path = path
        self.first_line = self.lines = line
        self._stream = stream
        self._roots = roots
        self._next = beginning
        self._end = re.compile(rf"</(?:{'|'.join(roots)})\s*>".encode())
        self._tail = b""
        self._is_over = False
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = self._refuse_entity
        parser.StartElementHandler = self._check_root
        self._parser: expat.XMLParserType | None = parser

    def read(self, size: int = -1) -> bytes:
        """Some of the document.

        Raises:
            InputError: it declares entities, begins with another element, or is not XML.
        """
        chunk = self._read(size)
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

    def rest(self) -> bytes:
        """The beginning of what comes after the document; empty at the end of the file."""
        rest = self._next
        while True:
            between = _BETWEEN.match(rest)
            left = rest[between.end() :] if between else rest
            if len(left) > _LONGEST_COMMENT or (left and not left.startswith(b"<!--")):
                break
            chunk = self._stream.read(1 << 16)
            if not chunk:
                break
            rest += chunk
        self.lines += rest[: len(rest) - len(left)].count(b"\n")
        return left

    def _read(self, size: int) -> bytes:
        """The next bytes, up to the end of the root element."""
        if self._is_over:
            return b""
        chunk, self._next = self._next or self._stream.read(size), b""
        window = self._tail + chunk
        self._tail = window[-_LONGEST_TAG:]
        if end := self._end.search(window):
            self._is_over = True
            cut = end.end() - len(window) + len(chunk)
            chunk, self._next = chunk[:cut], chunk[cut:]
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
                f"this begins with <{name}>, not with <PubmedArticleSet>, as PubMed's files do "
                "around their articles.",
                path=self.path,
                line=parser.CurrentLineNumber,
            )
