"""Rows of published results: a run, and the figures that it is expected to give.

A row is an entry `[[result]]` of a TOML file; docs/reproducing.md lists its keys. In paths,
`${VARIABLE}` is a variable of the environment, and `${HERE}` the folder of the file. The entries
`[[difference]]` of these files are read in `differences`.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from irplatform.errors import InputError, unknown, unstopped
from irplatform.files.formats import read_toml
from irplatform.settings import flat
from irplatform.spelling import command, option, option_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irplatform.registry.registration import Plugin


QUICK = "quick"
"""The tag of rows that take about a minute, from nothing, without data."""
ID = r"^[a-z0-9][a-z0-9._-]*$"
"""The pattern of ids."""
_KINDS = ("result", "difference")
"""The tables of a file of results."""
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


class Declared(BaseModel):
    """A table of a file of results; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Entry = TypeVar("Entry", bound=Declared)


class Expected(Declared):
    """An expected figure: its gain where it has one, else its value within a tolerance.

    `gain` is the difference from the first stage with the ends of its 95 % interval, in which the
    gain of a reproduction has to lie. Without a `tolerance`, that of the row holds. `std`, over
    seeds, is not checked.
    """

    value: float
    gain: tuple[float, float, float] | None = None
    tolerance: float | None = Field(None, ge=0)
    std: float | None = Field(None, ge=0)


def _figure(entry: Any) -> Any:
    return {"value": entry} if isinstance(entry, int | float) else entry


Figures = dict[str, Annotated[Expected, BeforeValidator(_figure)]]
"""Measure name to what is expected: a number, or a table with `value` and more."""


class Row(Declared):
    """A run, and the figures that it is expected to give.

    Attributes:
        id: unique among all rows.
        system: the scored system: by default the reranker, else the last retriever.
        knowledge: further knowledge bases, which features read.
        arguments: further arguments of `platform run`, with placeholders.
        tags: to choose rows, and for the tables of the documentation; see `QUICK`.
        minutes: duration from nothing, on two cores without a GPU.
        label: the first column of a table, if rows differ by more than the system.
        title: the system's name in a table.
        interpolation: the measured weight of the first stage in the final run.
        paper: what the paper reports on its own data.
        expected: figures of the final run, or of the first stage.
        alone: figures of the reranker's own scores.
    """

    id: str = Field(pattern=ID)
    collection: str
    retrievers: tuple[str, ...] = ("bm25",)
    reranker: str | None = None
    system: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    seed: int = 42
    expand: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    minutes: float = Field(gt=0)
    tolerance: float = Field(ge=0)
    label: str = ""
    title: str = ""
    interpolation: float | None = None
    paper: str = ""
    expected: Figures
    alone: Figures = Field(default_factory=dict)
    file: Path = Path()

    @property
    def name(self) -> str:
        """The scored system."""
        return self.system or self.reranker or self.retrievers[-1]

    def figures(self) -> list[tuple[str, bool, Expected]]:
        """Return all figures as (measure, of the reranker alone, expected)."""
        final = [(measure, False, expected) for measure, expected in self.expected.items()]
        return final + [(measure, True, expected) for measure, expected in self.alone.items()]

    def command(self, measures: Sequence[str] = ()) -> list[str]:
        """Return the arguments of `platform`, with placeholders and further measures."""
        words = ["run", *option_words("collection", self.collection)]
        words += option_words("first_stages", "+".join(self.retrievers))
        words += option_words("rerankers", self.reranker) if self.reranker else []
        words += option_words("preset", self.preset) if self.preset else []
        words += option_words("settings", {n: _toml(v) for n, v in flat(self.settings).items()})
        words += option_words("expand", ",".join(self.expand)) if self.expand else []
        words += option_words("seed", self.seed)
        options = [option_words("measures", measure) for measure in measures]
        return [*words, *self.arguments, *chain(*options)]

    def unnamed_measures(self) -> list[str]:
        """Return expected measures that the row's arguments do not name."""
        names = set(_measures_in(self.arguments))
        return [m for m in dict.fromkeys(m for m, _, _ in self.figures()) if m not in names]

    def fill(self, text: str) -> str:
        """Fill in the placeholders of a text; those of unset variables stay."""
        return fill(text, self.file)

    def missing(self) -> str:
        """Return what this machine lacks for the row, or ""."""
        for text in (self.collection, *self.retrievers, *self.arguments):
            if not (first := _PLACEHOLDER.search(text)):
                continue
            path = self.fill(text[text.rfind("=", 0, first.start()) + 1 :])  # the path of an option
            if unset := _PLACEHOLDER.search(path):
                return f"{unset[1]} is not set"
            if not _exists(path):
                return f"{path} does not exist"
        return ""


def fill(text: str, file: Path) -> str:
    """Fill in the placeholders of a text of a file; those of unset variables stay."""
    values = {"HERE": str(file.parent.absolute())}
    return _PLACEHOLDER.sub(lambda m: values.get(m[1]) or os.environ.get(m[1]) or m[0], text)


def _exists(path: str) -> bool:
    """Whether a file, a folder or FOLDER:SPLIT exists."""
    folder, colon, _ = path.rpartition(":")
    return Path(path).exists() or (bool(colon) and Path(folder).is_dir())


def _measures_in(arguments: Sequence[str]) -> Iterator[str]:
    """The measures that arguments name, in one word or two."""
    (flag,) = option_words("measures")
    for number, word in enumerate(arguments):
        if word == flag:
            yield from arguments[number + 1 : number + 2]
        elif word.startswith(f"{flag}="):
            yield word.removeprefix(f"{flag}=")


def _toml(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


@dataclass(frozen=True)
class Refused:
    """The results, or the differences, of a plugin's file that cannot be used, and the reason."""

    file: Path
    plugin: Plugin
    reason: str
    entries: str = "results"

    def __str__(self) -> str:
        return f"{self.entries} of {self.plugin} are not used: {self.reason}"


def known_rows(files: Iterable[Path]) -> list[Row]:
    """Return the rows of files; InputError for an error in one, or an id that comes twice."""
    rows: dict[str, Row] = {}
    for file in files:
        rows |= _more_rows(file, rows)
    return list(rows.values())


def shipped_rows(files: Mapping[Path, Plugin]) -> tuple[list[Row], list[Refused]]:
    """Return the rows of plugins' files, and the files with an error or an id of another file."""
    rows: dict[str, Row] = {}
    refusals = []
    for file, plugin in files.items():
        try:
            rows |= _more_rows(file, rows)
        except InputError as error:
            refusals.append(Refused(file, plugin, str(error)))
    return list(rows.values()), refusals


def _more_rows(file: Path, earlier_rows: Mapping[str, Row]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for row in read_rows(file):
        if other := earlier_rows.get(row.id) or rows.get(row.id):
            raise InputError(f"result '{row.id}' is also in {other.file}; rename one.", path=file)
        rows[row.id] = row
    return rows


def read_rows(file: Path) -> list[Row]:
    """Read the rows of a file of results; InputError if it cannot be read, or one is wrong."""
    rows = read_entries(file, "result", Row)
    for row in rows:
        if row.alone and row.reranker is None:
            message = f"result '{row.id}' has no reranker, but figures of one alone."
            raise InputError(message, path=file)
        if not row.expected:
            message = (
                f"result '{row.id}', key 'expected': it has no figure, such as \"AP\" = 0.3011."
            )
            raise InputError(message, path=file)
    return rows


def read_entries(file: Path, kind: str, form: type[Entry]) -> list[Entry]:
    """Read the tables of a kind, "result" or "difference"; InputError if one is wrong."""
    content = read_toml(file)
    lists = all(isinstance(entries, list) for entries in content.values())
    if not content or not lists or content.keys() - {*_KINDS}:
        message = "a file of results has entries [[result]] and [[difference]], and nothing else."
        raise InputError(message, path=file)
    entries = enumerate(content.get(kind, ()), start=1)
    return [_read_entry(entry, number, file, kind, form) for number, entry in entries]


def _read_entry(entry: Any, number: int, file: Path, kind: str, form: type[Entry]) -> Entry:
    if not isinstance(entry, dict):
        raise InputError(f"{kind} number {number} is not a table [[{kind}]].", path=file)
    try:
        return form.model_validate({**entry, "file": file})
    except ValidationError as error:
        name = entry.get("id", f"number {number}")
        problems = error.errors()
        # A misspelt key is often the reason that another one is missing.
        problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            misspelt = unknown("key", key, form.model_fields, of=f"{kind} '{name}'")
            raise InputError(str(misspelt), path=file) from error
        message = f"{kind} '{name}', key '{key}': {unstopped(problem['msg'])}."
        raise InputError(message, path=file) from error


def select(
    rows: Sequence[Row],
    patterns: Sequence[str] = (),
    *,
    quick: bool = False,
    refused: Sequence[Refused] = (),
    further_names: Mapping[str, Sequence[str]] | None = None,
) -> list[Row]:
    """Choose the rows whose id, tag or system matches a shell pattern such as `delta-*`.

    Messages mention refused files, which may have a missing row. `further_names` has those of
    differences by the ids of their rows; a pattern that is of no row chooses by them.
    """
    own_names = {row.id: (row.id, *row.tags, row.name) for row in rows}
    further_names = further_names or {}

    def matching(pattern: str) -> set[str]:
        for names in (own_names, further_names):
            ids = {i for i, of_row in names.items() if any(fnmatchcase(n, pattern) for n in of_row)}
            if ids:
                return ids
        return set()

    candidates = {row.id for row in rows if not quick or QUICK in row.tags}
    selection = set() if patterns else candidates
    for pattern in patterns:
        if not (matched := matching(pattern)):
            choices = {*chain(*own_names.values(), *further_names.values())}
            hint = _sentence([_list(), *refused])
            raise unknown("result, tag, system or difference", pattern, choices, hint=hint)
        if not matched & candidates:
            message = f"no result for '{pattern}' is tagged {QUICK}; leave out "
            raise InputError(f"{message}{option('quick', True)}.")
        selection |= matched & candidates
    if not selection:
        reasons = [f"no result is tagged {QUICK}", _list()] if rows else ["there are no results"]
        raise InputError(_sentence([*reasons, *refused]))
    return [row for row in rows if row.id in selection]


def _list() -> str:
    return f"{command('reproduce', list=True)} lists all"


def _sentence(parts: Sequence[str | Refused]) -> str:
    return "; ".join(str(part).removesuffix(".") for part in parts) + "."
