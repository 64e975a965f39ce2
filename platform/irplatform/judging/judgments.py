"""Judgments with their source: who judged a document for a topic, when, and from which pool.

A file of them has a JSON object a line:

    {"topic": "1", "document": "d7", "grade": 2,
     "source": {"kind": "person", "name": "ann", "version": ""},
     "time": "2026-11-30T09:41:07Z", "pool": "4f2a…", "note": ""}

A grade of null means that the source could not tell. There is one current judgment of a document
by a source: a later one replaces it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import orjson
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter

from irplatform.errors import InputError
from irplatform.files.formats import parse_json
from irplatform.files.reading import numbered_lines
from irplatform.files.writing import atomic_write
from irplatform.run_folder.forms import of_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Kind: TypeAlias = Literal["person", "machine"]
PERSON: Kind = "person"
MACHINE: Kind = "machine"

ADJUDICATED = "adjudicated"
"""The version of a person whose grade settles a difference between others."""

_FITTED = "fitted-on:"
"""Begins a word of a machine's version that lists topics, separated by commas."""
_MODEL = "model:"
"""Begins a word of a machine's version that names its model."""
_OF = "of:"
"""Begins one that lists marks of its model, and of those that it was trained from."""
_HINT = (
    'A line is {"topic": …, "document": …, "grade": …, "source": {"kind": "person" or "machine", '
    '"name": …, "version": …}, "time": …, "pool": …, "note": …}.'
)
_MOST = 10**6
"""Grades have at most six digits: trec_eval allocates memory for every grade up to the highest."""
_Text: TypeAlias = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, order=True, slots=True)
class Source:
    """Who judges.

    Attributes:
        kind: "person" or "machine".
        name: the assessor's name, or that of the judge.
        version: of a machine, its model, prompt and settings, and `fitted-on:TOPIC,…` if it was
            fitted on judgments; of a person whose grade settles a difference between others,
            "adjudicated".

    Examples:
        >>> str(Source("person", "ann")), str(Source("machine", "llm", "gpt-x 1"))
        ('ann', 'llm gpt-x 1')
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    name: _Text
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    @property
    def short(self) -> str:
        """Name and version without the topics that it was fitted on, for tables.

        >>> Source("machine", "ce", "v1 fitted-on:3,7").short
        'ce v1'
        """
        return " ".join(word for word in str(self).split() if not word.startswith(_FITTED))

    @property
    def fitted_on(self) -> frozenset[str]:
        """The topics whose judgments its thresholds or prompts were fitted on, as it says.

        >>> sorted(Source("machine", "ce", "v1 fitted-on:3,7").fitted_on)
        ['3', '7']
        """
        return frozenset(filter(None, ",".join(self._after(_FITTED)).split(",")))

    @property
    def model(self) -> str:
        """The model that its version names; "" for none.

        >>> Source("machine", "llm", "model:gpt-x prompt:12ab").model
        'gpt-x'
        """
        return next(iter(self._after(_MODEL)), "")

    @property
    def of(self) -> frozenset[str]:
        """Digests of its model and of those that it was trained from, or their names.

        >>> sorted(Source("machine", "ce", "model:m of:0a1b,2c3d").of)
        ['0a1b', '2c3d']
        """
        return frozenset(filter(None, ",".join(self._after(_OF)).split(",")))

    def _after(self, mark: str) -> list[str]:
        words = self.version.split()
        return [word.removeprefix(mark) for word in words if word.startswith(mark)]

    @classmethod
    def parse(cls, text: str) -> Source:
        """Return a source written as KIND:NAME or KIND:NAME:VERSION.

        >>> Source.parse("person:ann")
        Source(kind='person', name='ann', version='')
        """
        kind, _, rest = text.partition(":")
        name, _, version = rest.partition(":")
        if kind not in (PERSON, MACHINE) or not name.strip():
            raise InputError(
                f"'{text}' is no source: write person:NAME, machine:NAME or machine:NAME:VERSION."
            )
        return cls(kind, name, version)


@lru_cache(maxsize=1 << 10)
def _shared(source: Source) -> Source:
    """One object for all judgments of a source."""
    return source


@lru_cache(maxsize=1 << 16)
def _utc(text: str) -> str:
    """A time in UTC, in seconds, so that times are ordered as texts are."""
    with suppress(ValueError, OverflowError):
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            return f"{time.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"
    if text:
        raise ValueError(f"'{text}' is not a time like 2026-11-30T09:41:07Z")
    return ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """A document's grade for a topic, by a source.

    Attributes:
        topic: the topic's id.
        document: the document's id.
        grade: a whole number, 0 and below for not relevant; None if the source cannot tell.
        source: who judged.
        time: when, in UTC: `2026-11-30T09:41:07Z`; "" if nobody wrote it down.
        pool: id of the pool; "" for none.
        note: what the source remarked.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    topic: _Text
    document: _Text
    grade: Annotated[int, Field(strict=True, gt=-_MOST, lt=_MOST)] | None
    source: Annotated[Source, AfterValidator(_shared)]
    time: Annotated[str, AfterValidator(_utc)] = ""
    pool: str = ""
    note: str = ""


_LINE = TypeAdapter(Judgment)


def now() -> str:
    """Return the time of a judgment that is made now."""
    return _utc(datetime.now(UTC).isoformat())


def judgment_of(record: Any, path: Path, line: int) -> Judgment:
    """Return the judgment of a line's JSON object; InputError if it has another form."""
    return of_form(record, _LINE, _HINT, path, line)


def read_judgments(
    path: Path | str, of_line: Callable[[Any, Path, int], Judgment | None] = judgment_of
) -> list[Judgment]:
    """Read the current judgments of a file of JSON lines, perhaps gzipped.

    Args:
        path: the file.
        of_line: makes a judgment of a line's object, or None.

    Returns:
        One judgment per topic, document and source, the latest, in the order of the file.

    Raises:
        InputError: the file is missing or empty, a line is ill-formed, or a source judges a
            document differently at the same time.
    """
    path = Path(path)
    judgments, numbers = [], []
    for number, line in numbered_lines(path):
        judgment = of_line(parse_json(line, path, number, hint=_HINT), path, number)
        if judgment is not None:
            judgments.append(judgment)
            numbers.append(number)
    if not judgments:
        raise InputError(f"there are no judgments in this file. {_HINT}", path=path)
    return current(judgments, path, numbers)


def write_judgments(path: Path | str, judgments: Iterable[Judgment]) -> None:
    """Write judgments, one a line; the file appears whole or not at all."""
    with atomic_write(Path(path), "wb") as file:
        for judgment in judgments:
            file.write(orjson.dumps(judgment, option=orjson.OPT_APPEND_NEWLINE))


def current(
    judgments: Iterable[Judgment], path: Path | None = None, lines: Sequence[int] = ()
) -> list[Judgment]:
    """Return the latest judgment of each topic, document and source; the same twice is one.

    InputError, which names the file and the line, if a source judges a document differently at the
    same time.
    """
    latest: dict[tuple[str, str, Source], Judgment] = {}
    for place, judgment in enumerate(judgments):
        key = judgment.topic, judgment.document, judgment.source
        earlier = latest.setdefault(key, judgment)
        if judgment.time == earlier.time and judgment.grade != earlier.grade:
            raise InputError(
                f"{judgment.source} gives document '{judgment.document}' of topic "
                f"'{judgment.topic}' the grades {earlier.grade} and {judgment.grade} at the same "
                "time. Keep one of the two.",
                path=path,
                line=lines[place] if lines else None,
            )
        if judgment.time > earlier.time:
            latest[key] = judgment
    return [*latest.values()]
