"""Files of shared tasks.

A file has `[[task]]` entries. `[[rules]]` holds for all of them, `[[task.rules]]` for one. An entry
of rules gives one or more of `RULES` and the sentence that states them. Entries may share the title
and place of their source under `[sources.NAME]`. `read` is the day on which the sources were read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from irplatform.collections.topic_formats import FORMATS
from irplatform.errors import InputError, counted, unknown
from irplatform.files.formats import read_toml
from irplatform.options import first_problem
from irplatform.tasks.catalogue.rules import RANGES, RULES, Day, Rules, Source, Table, Task, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
"""The name of a task."""
_PLACEHOLDERS = {"tag", "team", "snapshot"}
_PATTERNS = ("tag", "documents", "topic_pattern")


class _Cited(Rules):
    source: Text | None = None
    title: Text | None = None
    place: Text | None = None
    sentence: Text | None = None


class _Source(Table):
    title: Text
    place: Text


class _Task(Table):
    name: Name
    title: Text
    read: Day | None = None
    year: Annotated[int, Field(ge=1990)] | None = None
    rules: list[_Cited] = Field(default_factory=list)


class _File(Table):
    sources: dict[str, _Source] = Field(default_factory=dict)
    rules: list[_Cited] = Field(default_factory=list)
    read: Day | None = None
    task: Annotated[list[dict[str, Any]], Field(min_length=1)]


_Kind = TypeVar("_Kind", bound=Table)
_TABLES: Mapping[str, type[Table]] = {"rules": _Cited, "sources": _Source}


def read_tasks(path: Path, refuse: Callable[[InputError], object] | None = None) -> list[Task]:
    """Read the tasks of a TOML file.

    A wrong task is given to `refuse` and left out.

    Raises:
        InputError: the file is missing or not TOML, a key is unknown or has a value of another
            kind, or a rule cannot be understood.
    """
    declared = _validated(_File, read_toml(path), "", path)
    tasks: dict[str, Task] = {}
    for number, entry in enumerate(declared.task, start=1):
        name = entry.get("name", f"number {number}")
        try:
            task = _task(_validated(_Task, entry, f"task '{name}'", path), declared, path)
            if task.name in tasks:
                raise InputError(f"task '{name}' comes twice; rename one.", path=path)
            tasks[task.name] = task
        except InputError as error:
            if refuse is None:
                raise
            refuse(error)
    return [*tasks.values()]


def _task(entry: _Task, declared: _File, path: Path) -> Task:
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for cited in (*declared.rules, *entry.rules):
        rules = {name: getattr(cited, name) for name in RULES}
        rules = {name: value for name, value in rules.items() if value is not None}
        values |= rules
        source = _source(cited, declared, path)
        sources |= dict.fromkeys(rules, source) if source else {}
    for name, value in values.items():
        if problem := rule_problem(name, value):
            raise InputError(f"task '{entry.name}': '{name}' {problem}.", path=path)
    read = entry.read or declared.read
    task = Task(entry.name, entry.title, Rules(**values), sources, path, read, entry.year)
    if task.topic_ids and task.rules.topics not in (None, len(task.topic_ids)):
        raise InputError(
            f"task '{entry.name}': 'topic_ids' are {counted(len(task.topic_ids), 'topic')}, "
            f"'topics' says {task.rules.topics}.",
            path=path,
        )
    return task


def _validated(table: type[_Kind], content: Mapping[str, Any], of: str, path: Path) -> _Kind:
    """Read a table; InputError with the first unknown key, which may stand for a missing one."""
    try:
        return table.model_validate(content)
    except ValidationError as error:
        problems = error.errors()
        problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
        *tables, key = map(str, problem["loc"])
        inner = next((_TABLES[name] for name in tables if name in _TABLES), table)
        place = ": ".join(filter(None, [of, ".".join(tables)]))
        if problem["type"] == "extra_forbidden":
            place, message = of or place, str(unknown("key", key, inner.model_fields))
        elif problem["type"] == "missing":
            message = f"the key '{key}' is missing."
        else:
            location, reason = first_problem(table, error)
            place, message = ": ".join(filter(None, [of, location])), f"{reason}."
        raise InputError(f"{place}: {message}" if place else message, path=path) from error


def _source(cited: _Cited, declared: _File, path: Path) -> Source | None:
    page = None
    if cited.source is not None:
        page = declared.sources.get(cited.source)
        if page is None:
            raise InputError(f"there is no [sources.{cited.source}].", path=path)
    title, place = cited.title or (page and page.title), cited.place or (page and page.place)
    if title and place and cited.sentence:
        return Source(title, place, cited.sentence)
    return None


def rule_problem(name: str, value: Any) -> str:
    """Return what is wrong with the value of a rule, or ""."""
    if name in _PATTERNS:
        try:
            re.compile(value)
        except re.error as error:
            return f"is not a regular expression: {error}"
    if name == "topic_ids":
        return _problem_of_ids(value)
    if name == "topic_format" and value not in FORMATS:
        return f"is '{value}'; formats are {', '.join(FORMATS)}"
    if name == "file" and (wrong := set(re.findall(r"{(.*?)}", value)) - _PLACEHOLDERS):
        return f"has {{{min(wrong)}}}; known are {{tag}}, {{team}} and {{snapshot}}"
    return ""


def _problem_of_ids(value: str | list[str]) -> str:
    if isinstance(value, list):
        twice = next((name for name in value if value.count(name) > 1), "")
        return f"has '{twice}' twice" if twice else ""
    if not all(RANGES.fullmatch(part) for part in value.split(",")):
        return f'is \'{value}\'; write ranges, such as "1-75" or "rag2026-{{0-118}}", or a list'
    return ""
