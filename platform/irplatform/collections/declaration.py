"""What a TOML file may say of a collection: its keys as models, and what is wrong with others.

docs/collections.md describes the keys.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from irplatform.collections.topics import QueryTemplate
from irplatform.errors import InputError
from irplatform.option_problems import first_problem
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails

_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
_Text = Annotated[str, StringConstraints(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Documents(_Table):
    """Where the documents are, and which keys of a line are which part of a document."""

    files: Annotated[list[_Text], Field(min_length=1)]
    format: Literal["jsonl", "pubmed-xml"] = "jsonl"
    id: _Text = "id"
    title: _Text = "title"
    abstract: _Text = "abstract"
    fields: list[_Text] = []


class Topics(_Table):
    """Where the topics are, and what is searched for them."""

    file: _Text
    format: Literal["beir", "bioasq", "biogen", "json", "jsonl", "trec", "trec-pm", "tsv"]
    id: _Text | None = None
    query: _Text | None = None
    expand: list[_Text] = []
    plan: _Text | None = None


class Qrels(_Table):
    """Where the judgments are, ordinary or sampled."""

    file: _Text | None = None
    sampled: _Text | None = None


class Train(_Table):
    """Which collections train the rerankers."""

    collection: _Text | Annotated[list[_Text], Field(min_length=1)]


class Declaration(_Table):
    """A collection; paths are relative to its file."""

    id: _Name
    title: str = ""
    note: str = ""
    measures: list[_Text] | None = None
    documents: Documents
    topics: Topics
    qrels: Qrels | None = None
    train: Train | None = None


TABLES: dict[str, type[BaseModel]] = {
    "documents": Documents,
    "topics": Topics,
    "qrels": Qrels,
    "train": Train,
}
"""Name of each table to its keys."""


def read_declaration(path: Path) -> Declaration:
    """What a file says of its collection.

    Raises:
        InputError: the file is missing or not TOML, or a key is missing, unknown or of the wrong
            type.
    """
    content = read_toml(path)
    try:
        declared = Declaration.model_validate(content)
    except ValidationError as error:
        raise InputError(_explain(error), path=path) from error
    if declared.topics.id is not None and declared.topics.format not in ("biogen", "json", "jsonl"):
        raise InputError("[topics] 'id' names a key of format 'json'. Remove it.", path=path)
    if declared.topics.query is not None:
        try:
            QueryTemplate(declared.topics.query).check_syntax()
        except InputError as error:
            raise InputError(f"[topics] query: {error}", path=path) from error
    return declared


def is_declaration(path: Path) -> bool:
    """Whether a TOML file describes a collection, soundly or not: it has one of the tables."""
    try:
        content = read_toml(path)
    except InputError:
        return False
    return any(isinstance(content.get(table), dict) for table in ("documents", "topics"))


def _explain(error: ValidationError) -> str:
    """A misspelt key, which others may be missing for; else the first problem."""
    problems = error.errors()
    for problem in problems:
        if problem["type"] == "extra_forbidden" and (hint := _misspelt(problem)):
            return hint
    problem = problems[0]
    *tables, key = [str(part) for part in problem["loc"] if not isinstance(part, int)]
    place = _place(tables)
    if problem["type"] == "missing":
        what = "table" if not tables and key in TABLES else "key"
        return f"{place}the {what} '{key}' is missing."
    if problem["type"] == "extra_forbidden":
        return f"{place}the key '{key}' is unknown. Known: {', '.join(_keys(tables))}."
    if key == "id" and problem["type"] == "string_pattern_mismatch":
        return (
            f"the id cannot be {problem['input']!r}: it may hold letters, digits, '.', '_' and "
            "'-', and begins with a letter or digit."
        )
    location, reason = first_problem(Declaration, error)
    *tables, key = [part for part in location.split(".") if not part.isdigit()]
    place = _place(tables)
    return f"{place}'{key}' cannot be {problem['input']!r}: {reason}."


def _misspelt(problem: ErrorDetails) -> str:
    """An unknown key with the right one that is near it, or ""."""
    *tables, key = map(str, problem["loc"])
    near = difflib.get_close_matches(key, _keys(tables), n=1)
    what = "table" if isinstance(problem["input"], dict) else "key"
    place = _place(tables)
    return f"{place}the {what} '{key}' is unknown. Did you mean '{near[0]}'?" if near else ""


def _place(tables: Iterable[str]) -> str:
    """How a message begins that is about a key of a table."""
    name = ".".join(tables)
    return f"[{name}] " if name else ""


def _keys(tables: Iterable[str]) -> list[str]:
    model: type[BaseModel] = Declaration
    for table in tables:
        model = TABLES.get(table, model)
    return list(model.model_fields)
