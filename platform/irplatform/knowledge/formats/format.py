"""What an importer is, and what it sees of a file before it reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.text_files import open_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from irplatform.knowledge.model import Concept, ConceptKind, Relation

_HEAD = 1 << 14
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Head:
    """The beginning of a file.

    Attributes:
        text: its first 16 kB, unpacked.
    """

    text: str

    @property
    def line(self) -> str:
        """The first line, without its end."""
        return self.text.partition("\n")[0].rstrip("\r")

    @property
    def columns(self) -> list[str]:
        """The first line's columns, as of a table."""
        return [column.strip() for column in self.line.split("\t")]

    def has_columns(self, *names: str) -> bool:
        """Whether the first line is a header with these columns."""
        return set(names) <= set(self.columns)


@dataclass(frozen=True)
class Format:
    """A file format of a knowledge base.

    Attributes:
        name: what `--format` takes.
        kb: the knowledge base that comes in this format; "" for any.
        description: a few words for the user: which file, from whom.
        recognizes: tells from its beginning whether a file is in this format.
        read: yields a file's concepts and relations.
        revision: of what `read` makes of a file; raised, files that are added again are read again.
        beside: names of files that are read too, if they lie in the same folder.
        kinds: kinds of terms by their prefix, "" for all others, that the user gave; None where the
            file itself says what things are.
    """

    name: str
    kb: str
    description: str
    recognizes: Callable[[Head], bool]
    read: Callable[..., Iterator[Concept | Relation]]
    revision: int = 1
    beside: tuple[str, ...] = ()
    kinds: Mapping[str, ConceptKind] | None = None

    @property
    def mark(self) -> str:
        """Stands for what is made of a file."""
        name = self.name if self.revision == 1 else f"{self.name} {self.revision}"
        kinds = sorted((self.kinds or {}).items())
        return " ".join([name, *(f"{prefix}={kind}" for prefix, kind in kinds)])

    def with_kinds(self, kinds: Mapping[str, ConceptKind]) -> Format:
        """The format with the kinds that the user gave.

        Raises:
            InputError: files of this format say themselves what things are.
        """
        if not kinds:
            return self
        if self.kinds is None:
            raise InputError(
                f"--kind is for ontologies (OBO, OBO graph, OWL), and this is {self.description}."
            )
        return replace(self, kinds=kinds, read=partial(self.read, kinds=kinds))


def head_of(path: Path) -> Head:
    """Read the beginning of a file.

    Raises:
        InputError: it is missing, not readable, or not sound gzip.
    """
    with open_bytes(path) as file:
        text = file.read(_HEAD).decode("utf-8", errors="replace")
    return Head(text.removeprefix(_BYTE_ORDER_MARK).lstrip())
