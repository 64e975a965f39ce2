"""The rows of a table of results: which run, and what it is expected to give.

A row is an entry `[[result]]` of a TOML file; docs/reproducing.md lists its keys. Paths hold
`${VARIABLE}` for what differs between machines, and `${HERE}` for the folder of the file.
"""

from __future__ import annotations

import json
import os
import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from irplatform.errors import InputError, unknown, unstopped
from irplatform.registry.settings import flat
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUICK = "quick"
"""The tag of rows that take a minute or so, from nothing, without data."""
_HERE = "HERE"
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Expected(_Declared):
    """A figure that a run is expected to give.

    Attributes:
        value: the measured figure.
        tolerance: how far another machine's may be from it; None takes the row's.
        mark: ▲ or ▼ where the difference from the first stage was significant, as in the table
            of a run; for the documentation, not checked.
        std: standard deviation over seeds, where the value is a mean; shown, not checked.
    """

    value: float
    tolerance: float | None = Field(None, ge=0)
    mark: str = Field("", pattern="^(▲▲?|▼▼?)?$")
    std: float | None = Field(None, ge=0)


def _figure(entry: Any) -> Any:
    return {"value": entry} if isinstance(entry, int | float) else entry


Figures = dict[str, Annotated[Expected, BeforeValidator(_figure)]]
"""Measure name to what is expected; a number, or a table with `value`, `tolerance`, `mark`."""


class Row(_Declared):
    """A run, and what it is expected to give.

    Attributes:
        id: unique among all rows.
        collection: as `platform run --collection` takes it, with placeholders.
        retrievers: the first stage.
        reranker: what reranks; none for a row about the first stage.
        system: whose scores are looked at: by default the reranker, else the last retriever.
        preset: as `--preset` takes it.
        settings: as `--set` takes them.
        seed: of everything random.
        expand: knowledge bases, as `--expand` takes them.
        knowledge: further ones, which features read.
        arguments: further arguments of `platform run`, with placeholders.
        tags: for `--only` and for the tables of the documentation; `quick` for `--quick`.
        minutes: how long it took from nothing, on two cores without a GPU.
        tolerance: how far figures may be from the expected ones.
        label: the first column of a table, where rows differ by more than the system.
        title: the system's name in a table; by default the system's.
        interpolation: the first stage's share in the final run, as it was measured.
        paper: what the paper reports on its own data.
        expected: figures of the final run, or of the first stage.
        alone: figures of the reranker's own scores.
        file: where the row was read.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
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
        """The system whose scores are looked at."""
        return self.system or self.reranker or self.retrievers[-1]

    def figures(self) -> list[tuple[str, bool, Expected]]:
        """All figures: measure, whether of the reranker's own scores, what is expected."""
        final = [(measure, False, expected) for measure, expected in self.expected.items()]
        return final + [(measure, True, expected) for measure, expected in self.alone.items()]

    def command(self, measures: Sequence[str] = ()) -> list[str]:
        """The arguments of `platform` that make the run, with placeholders.

        Args:
            measures: what the run reports beside what the row's own arguments name.
        """
        options = [("--collection", self.collection)]
        options += [("--retriever", retriever) for retriever in self.retrievers]
        options += [("--reranker", self.reranker)] if self.reranker else []
        options += [("--preset", self.preset)] if self.preset else []
        options += [("--set", f"{k}={_toml(value)}") for k, value in flat(self.settings).items()]
        options += [("--expand", ",".join(self.expand))] if self.expand else []
        options += [("--seed", str(self.seed))]
        asked = [("--measure", measure) for measure in measures]
        return ["run", *chain(*options), *self.arguments, *chain(*asked)]

    def unnamed_measures(self) -> list[str]:
        """Measures that are expected, and that the row's own arguments do not name.

        The run is asked for them: a collection reports but its defaults, and not even these where
        any measure is named.
        """
        named = set(_measures_in(self.arguments))
        return [m for m in dict.fromkeys(m for m, _, _ in self.figures()) if m not in named]

    def fill(self, text: str) -> str:
        """A text with its placeholders filled in; those of unset variables stay."""
        here = {_HERE: str(self.file.parent.absolute())}
        return _PLACEHOLDER.sub(lambda m: here.get(m[1]) or os.environ.get(m[1]) or m[0], text)

    def missing(self) -> str:
        """What this machine lacks for the row, in a few words; "" where nothing is known to be."""
        for text in (self.collection, *self.arguments):
            if not (first := _PLACEHOLDER.search(text)):
                continue
            path = self.fill(text[text.rfind("=", 0, first.start()) + 1 :])  # of --option=PATH
            if unset := _PLACEHOLDER.search(path):
                return f"{unset[1]} is not set"
            if not _there(path):
                return f"{path} is not there"
        return ""


def _there(path: str) -> bool:
    """Whether a file or folder is there; a folder may be followed by the name of a split."""
    folder, colon, _ = path.rpartition(":")
    return Path(path).exists() or (bool(colon) and Path(folder).is_dir())


def _measures_in(arguments: Sequence[str]) -> Iterator[str]:
    """What `--measure NAME` and `--measure=NAME` name."""
    for number, word in enumerate(arguments):
        if word == "--measure":
            yield from arguments[number + 1 : number + 2]
        elif word.startswith("--measure="):
            yield word.removeprefix("--measure=")


def _toml(value: object) -> str:
    """A value as `--set` takes it."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def read_rows(file: Path) -> list[Row]:
    """Read a file of results.

    Raises:
        InputError: it cannot be read, or a row is not right.
    """
    content = read_toml(file)
    entries = content.get("result")
    if content.keys() != {"result"} or not isinstance(entries, list):
        raise InputError("a file of results has entries [[result]] and nothing else.", path=file)
    return [_read_row(entry, number, file) for number, entry in enumerate(entries, start=1)]


def _read_row(entry: Any, number: int, file: Path) -> Row:
    if not isinstance(entry, dict):
        raise InputError(f"result number {number} is not a table [[result]].", path=file)
    try:
        row = Row.model_validate({**entry, "file": file})
    except ValidationError as error:
        name = entry.get("id", f"number {number}")
        problems = error.errors()
        # A misspelt key is why another one is missing.
        problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            misspelt = unknown("key", key, Row.model_fields, of=f"result '{name}'")
            raise InputError(str(misspelt), path=file) from error
        message = f"result '{name}', key '{key}': {unstopped(problem['msg'])}."
        raise InputError(message, path=file) from error
    if row.alone and row.reranker is None:
        raise InputError(f"result '{row.id}' has no reranker, but figures of one alone.", path=file)
    if not row.expected:
        message = f"result '{row.id}', key 'expected': it has no figure, such as \"AP\" = 0.3011."
        raise InputError(message, path=file)
    return row
