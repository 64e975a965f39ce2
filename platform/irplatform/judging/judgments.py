"""Judgments with their source: who judged a document for a topic, when, and from which pool.

A file of them has a JSON object a line:

    {"topic": "1", "document": "d7", "grade": 2,
     "source": {"kind": "person", "name": "ann", "version": ""},
     "time": "2026-11-30T09:41:07Z", "pool": "4f2a…", "note": ""}

A grade of null means that the source could not tell. There is one current judgment of a document
by a source: a later one replaces it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import orjson

from irplatform.errors import InputError, listing, quoted
from irplatform.files.formats import parse_json
from irplatform.files.reading import numbered_lines
from irplatform.files.writing import atomic_write
from irplatform.runs.fields import identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Refusal: TypeAlias = Callable[[str], InputError]

Kind: TypeAlias = Literal["person", "machine"]
PERSON: Kind = "person"
MACHINE: Kind = "machine"

ADJUDICATED = "adjudicated"
"""The version of a person whose grade settles a difference between others."""

_FITTED = "fitted-on:"
"""Begins a word of a machine's version that lists topics, separated by commas."""
_MODEL = "model:"
"""Begins a word of a machine's version that names its model."""
_FORM = (
    'A line is {"topic": …, "document": …, "grade": …, "source": {"kind": "person" or "machine", '
    '"name": …, "version": …}, "time": …, "pool": …, "note": …}'
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_TEXTS = ("time", "pool", "note")
_NEEDED = frozenset({"topic", "document", "grade", "source"})
_KEYS = _NEEDED.union(_TEXTS)
_OF_SOURCE = ("kind", "name", "version")
_MOST = 10**6
"""Grades have at most six digits: trec_eval allocates memory for every grade up to the highest."""


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

    kind: Kind
    name: str
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
        topics = [
            word.removeprefix(_FITTED) for word in self.version.split() if word.startswith(_FITTED)
        ]
        return frozenset(topic for listed in topics for topic in listed.split(",") if topic)

    @property
    def model(self) -> str:
        """The model that its version names; "" for none.

        >>> Source("machine", "llm", "model:gpt-x prompt:12ab").model
        'gpt-x'
        """
        named = [word for word in self.version.split() if word.startswith(_MODEL)]
        return named[0].removeprefix(_MODEL) if named else ""

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

    topic: str
    document: str
    grade: int | None
    source: Source
    time: str = ""
    pool: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[str, str, Source]:
        """What has one current judgment: topic, document, source."""
        return self.topic, self.document, self.source

    def as_json(self) -> dict[str, Any]:
        """Return the object of a file's line."""
        source = {
            "kind": self.source.kind,
            "name": self.source.name,
            "version": self.source.version,
        }
        return {
            "topic": self.topic,
            "document": self.document,
            "grade": self.grade,
            "source": source,
            "time": self.time,
            "pool": self.pool,
            "note": self.note,
        }


def now() -> str:
    """Return the time of a judgment that is made now."""
    return _in_utc(datetime.now(UTC))


def read_judgments(path: Path | str) -> list[Judgment]:
    """Read the current judgments of a file, perhaps gzipped.

    Returns:
        One judgment per topic, document and source, the latest, in the order of the file.

    Raises:
        InputError: the file is missing or empty, a line is ill-formed, or a source judges a
            document differently at the same time.
    """
    path = Path(path)
    judgments, numbers = [], []
    for number, line in numbered_lines(path):
        record = parse_json(line, path, number, hint=f"{_FORM}.")
        judgments.append(judgment_of(record, path, number))
        numbers.append(number)
    if not judgments:
        raise InputError(f"there are no judgments in this file. {_FORM}.", path=path)
    return current(judgments, path, numbers)


def write_judgments(path: Path | str, judgments: Iterable[Judgment]) -> None:
    """Write judgments, one a line; the file appears whole or not at all."""
    with atomic_write(Path(path), "wb") as file:
        for judgment in judgments:
            file.write(orjson.dumps(judgment.as_json(), option=orjson.OPT_APPEND_NEWLINE))


def current(
    judgments: Iterable[Judgment],
    path: Path | None = None,
    lines: Sequence[int | None] | None = None,
) -> list[Judgment]:
    """Return the latest judgment of each topic, document and source; the same twice is one.

    Args:
        judgments: in any order.
        path: their file, for errors.
        lines: the line of each, for errors.

    Raises:
        InputError: a source judges a document differently at the same time.
    """
    latest: dict[tuple[str, str, Source], tuple[int, Judgment]] = {}
    for place, judgment in enumerate(judgments):
        first, earlier = latest.setdefault(judgment.key, (place, judgment))
        if judgment.time == earlier.time and judgment.grade != earlier.grade:
            at = lines[first] if lines else None
            where = f"in line {at}" if at else "before"
            raise InputError(
                f"{judgment.source} judges document '{judgment.document}' of topic "
                f"'{judgment.topic}' as {_told(judgment)} here but as {_told(earlier)} {where}, at "
                "the same time. Keep one of the two.",
                path=path,
                line=lines[place] if lines else None,
            )
        if judgment.time > earlier.time:
            latest[judgment.key] = place, judgment
    return [judgment for _, judgment in latest.values()]


def judgment_of(record: Any, path: Path | None = None, line: int | None = None) -> Judgment:
    """Return the judgment of a JSON object.

    Raises:
        InputError: a key is missing or unknown, or a value is none of those that it takes.
    """

    def bad(problem: str) -> InputError:
        return InputError(f"{problem}. {_FORM}.", path=path, line=line)

    if not isinstance(record, dict):
        raise bad("this is not a JSON object")
    if not record.keys() >= _NEEDED:
        raise bad(f"missing: {listing(sorted(_NEEDED - record.keys()))}")
    if not record.keys() <= _KEYS:
        raise bad(f"unknown: {listing(name for name in record if name not in _KEYS)}")
    where = path or Path()
    time, pool, note = texts = [record.get(name) or "" for name in _TEXTS]
    if wrong := [n for n, text in zip(_TEXTS, texts, strict=True) if not isinstance(text, str)]:
        raise bad(f"{listing(wrong)} is not text")
    if time and (time := _in_form(time)) is None:
        raise bad(f"the time {quoted(record['time'])} is not one like 2026-11-30T09:41:07Z")
    return Judgment(
        identifier(record["topic"], "under 'topic'", where, line),
        identifier(record["document"], "under 'document'", where, line),
        _grade(record["grade"], bad),
        _source(record["source"], bad),
        time,
        pool,
        note,
    )


def _source(value: Any, bad: Refusal) -> Source:
    if not isinstance(value, dict) or not value.keys() <= {*_OF_SOURCE}:
        keys = listing(_OF_SOURCE)
        raise bad(f"the source {quoted(value)} is not an object with the keys {keys}")
    kind, name, version = value.get("kind"), value.get("name"), value.get("version") or ""
    if kind not in (PERSON, MACHINE):
        raise bad(f"the kind of source {quoted(kind)} is neither 'person' nor 'machine'")
    if not isinstance(name, str) or not name.strip() or not isinstance(version, str):
        raise bad("the name of a source is text, and so is its version")
    return _one_source(kind, name, version)


_one_source = lru_cache(maxsize=1 << 10)(Source)
"""All judgments of a source share one."""


def _grade(value: Any, bad: Refusal) -> int | None:
    if value is None:
        return None
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or abs(value) >= _MOST:
        raise bad(
            f"the grade {quoted(value)} is not a whole number of at most six digits, nor null "
            "for a source that cannot tell"
        )
    return value


@lru_cache(maxsize=1 << 16)
def _in_form(text: str) -> str | None:
    """A time in UTC, in seconds, so that times are ordered as texts are; None for no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _in_utc(time) if time.tzinfo is not None and _TIME.match(text) else None


def _in_utc(time: datetime) -> str:
    return time.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _told(judgment: Judgment) -> str:
    return "cannot tell" if judgment.grade is None else str(judgment.grade)
