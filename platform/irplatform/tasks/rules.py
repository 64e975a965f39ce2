"""The rules of shared tasks, as TOML files declare them, each with its source.

A file has `[[task]]` entries. `[[rules]]` holds for all of them, `[[task.rules]]` for one. An entry
of rules gives one or more of `RULES` and the sentence that states them. Entries may share the title
and place of their source under `[sources.NAME]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from irplatform.collections.topic_formats import FORMATS
from irplatform.errors import InputError, counted, unknown
from irplatform.files.formats import read_toml
from irplatform.files.writing import home
from irplatform.options import first_problem
from irplatform.system.console import notice_once

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Text = Annotated[str, StringConstraints(min_length=1)]
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
_Number = Annotated[int, Field(ge=1)]
Form = Literal["trec", "bioasq", "biogen-2024", "biogen-a", "biogen-b"]
FORMS: Mapping[str, str] = {
    "trec": "TREC: topic Q0 docid rank score tag",
    "bioasq": 'BioASQ: {"questions": [{"id", "documents", "snippets"}, …]}',
    "biogen-2024": 'BioGen: {"team_id", "run_name", "results": [{"topic_id", "answer", …}]}',
    "biogen-a": 'BioGen: a line {"metadata", "answer": […]} for each question',
    "biogen-b": 'BioGen: a line {"metadata", "responses": […]} for each topic',
}
"""Forms of submissions."""
_IDS = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
_ENDING = ".toml"
_PLACEHOLDERS = {"tag", "team", "snapshot"}


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Rules(_Table):
    """Rules of a task; None where the task has no such rule.

    A description says the rule with its value.

    Attributes:
        form: the form of the submitted file.
        topics: the number of topics.
        topic_ids: ranges of whole numbers, such as "1-75".
        topic_format: the format of the file of topics, as collections name it.
        query: the template of a query.
        depth: the most results per topic.
        tag: a regular expression for the whole run tag.
        documents: a regular expression for a whole document id.
        falling: scores may not rise from line to line.
        runs: the most runs of a group.
        measures: names of measures, the most important first.
        snippets: the most snippets per question.
        citations: the most citations per sentence.
        sentences: the most sentences per answer.
        words: the most words per answer.
        snapshots: names of the collection's snapshots; a submission has a run for each.
        metadata: `ir-metadata.yml` is a part of the submission.
        file: the submitted file's name, with `{tag}`, `{team}`, `{snapshot}`.
    """

    form: Form | None = None
    topics: _Number | None = None
    topic_ids: _Text | None = None
    topic_format: _Text | None = None
    query: _Text | None = None
    depth: _Number | None = Field(None, description="at most {:,} results per topic")
    tag: _Text | None = None
    documents: _Text | None = None
    falling: bool | None = Field(None, description="scores may not rise from line to line")
    runs: _Number | None = Field(None, description="at most {:,} of a group")
    measures: Annotated[list[_Text], Field(min_length=1)] | None = None
    snippets: _Number | None = Field(None, description="at most {:,} per question")
    citations: _Number | None = Field(None, description="at most {:,} per sentence")
    sentences: _Number | None = Field(None, description="at most {:,} in an answer")
    words: _Number | None = Field(None, description="at most {:,} in an answer")
    snapshots: Annotated[list[_Text], Field(min_length=1)] | None = None
    metadata: bool | None = Field(None, description="ir-metadata.yml is a part of the submission")
    file: _Text | None = None


RULES = tuple(Rules.model_fields)
NO_RULES = Rules()


class _Cited(Rules):
    source: _Text | None = None
    title: _Text | None = None
    place: _Text | None = None
    sentence: _Text | None = None


class _Source(_Table):
    title: _Text
    place: _Text


class _Task(_Table):
    name: _Name
    title: _Text
    rules: list[_Cited] = []


class _File(_Table):
    sources: dict[str, _Source] = {}
    rules: list[_Cited] = []
    task: Annotated[list[dict[str, Any]], Field(min_length=1)]


Table = TypeVar("Table", bound=_Table)
_TABLES: Mapping[str, type[_Table]] = {"rules": _Cited, "sources": _Source}


@dataclass(frozen=True)
class Source:
    """The source of a rule.

    Attributes:
        title: the title of the page, paper or program.
        place: its address.
        sentence: the sentence that states the rule.
    """

    title: str
    place: str
    sentence: str


@dataclass(frozen=True)
class Task:
    """A shared task.

    Attributes:
        name: the name that users give (`task`).
        title: the full name, with the year.
        rules: the rules.
        sources: name of a rule → its source; rules of users may have none.
        path: the file that declares the task.
    """

    name: str
    title: str
    rules: Rules = field(default_factory=Rules)
    sources: Mapping[str, Source] = field(default_factory=dict)
    path: Path | None = None

    @property
    def form(self) -> Form:
        """The form of a submission: TREC's unless another is given."""
        return self.rules.form or "trec"

    @property
    def topic_ids(self) -> tuple[str, ...]:
        """The ids of its topics; empty if the rules do not name them."""
        ids: list[str] = []
        for part in filter(None, (self.rules.topic_ids or "").split(",")):
            first, _, last = part.partition("-")
            ids += map(str, range(int(first), int(last or first) + 1))
        return tuple(ids)


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


def own_folder() -> Path:
    """Return the folder of the user's tasks."""
    return home() / "tasks"


def known_tasks(of_plugins: Mapping[Path, object] = {}) -> dict[str, Task]:
    """Return all tasks by name: ours, then those of plugins, then the user's, who may replace any.

    `of_plugins` has plugins by their files. A notice names each of their tasks that is left out.

    Raises:
        InputError: a file of the user's is wrong.
    """
    tasks: dict[str, Task] = {}
    for path in sorted(Path(__file__).parent.glob(f"*{_ENDING}")):
        tasks |= _by_name(path)
    for path, plugin in of_plugins.items():
        found, faults = tasks_of_plugin(path, tasks)
        tasks |= found
        for fault in faults:
            notice_once(f"WARNING: a task of {plugin} is left out: {fault}")
    for path in sorted(own_folder().glob(f"*{_ENDING}")):
        for name, task in _by_name(path).items():
            before = tasks[name].path if name in tasks else None
            if before is not None and (plugin := of_plugins.get(before)):
                notice_once(f"task '{name}' of {plugin} is replaced by that of {path}")
            tasks[name] = task
    return tasks


def tasks_of_plugin(path: Path, known: Mapping[str, Task]) -> tuple[dict[str, Task], list[str]]:
    """Return a plugin's tasks, and why others of its file are left out; `known` names are taken."""
    faults: list[str] = []
    tasks = {}
    try:
        for task in read_tasks(path, lambda error: faults.append(str(error))):
            if task.name in known:
                where = known[task.name].path
                faults.append(f"{path}: task '{task.name}' is also in {where}; rename one.")
            else:
                tasks[task.name] = task
    except InputError as error:
        faults.append(str(error))
    return tasks, faults


def find_task(name: str, of_plugins: Mapping[Path, object] = {}) -> Task:
    """Return a task by its name, or by the path of a TOML file that declares one.

    Raises:
        InputError: there is no such task, or the file has several.
    """
    if name.endswith(_ENDING):
        found = read_tasks(Path(name))
        if len(found) > 1:
            names = ", ".join(task.name for task in found)
            raise InputError(
                f"this file has several tasks: {names}. Put it into {own_folder()}, and give the "
                "name of one.",
                path=name,
            )
        return found[0]
    tasks = known_tasks(of_plugins)
    if name not in tasks:
        raise unknown("task", name, tasks, hint="`platform tasks list` lists all.")
    return tasks[name]


def _task(entry: _Task, declared: _File, path: Path) -> Task:
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for cited in (*declared.rules, *entry.rules):
        given = {name: getattr(cited, name) for name in RULES}
        given = {name: value for name, value in given.items() if value is not None}
        values |= given
        source = _source(cited, declared, path)
        sources |= dict.fromkeys(given, source) if source else {}
    for name, value in values.items():
        if problem := _problem(name, value):
            raise InputError(f"task '{entry.name}': '{name}' {problem}.", path=path)
    task = Task(entry.name, entry.title, Rules(**values), sources, path)
    if task.topic_ids and task.rules.topics not in (None, len(task.topic_ids)):
        raise InputError(
            f"task '{entry.name}': 'topic_ids' are {counted(len(task.topic_ids), 'topic')}, "
            f"'topics' says {task.rules.topics}.",
            path=path,
        )
    return task


def _by_name(path: Path) -> dict[str, Task]:
    return {task.name: task for task in read_tasks(path)}


def _validated(table: type[Table], content: Mapping[str, Any], of: str, path: Path) -> Table:
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
            place, told = of or place, str(unknown("key", key, inner.model_fields))
        elif problem["type"] == "missing":
            told = f"the key '{key}' is missing."
        else:
            where, reason = first_problem(table, error)
            place, told = ": ".join(filter(None, [of, where])), f"{reason}."
        raise InputError(f"{place}: {told}" if place else told, path=path) from error


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


def _problem(name: str, value: Any) -> str:
    if name in ("tag", "documents"):
        try:
            re.compile(value)
        except re.error as error:
            return f"is not a regular expression: {error}"
    if name == "topic_ids" and not _IDS.fullmatch(value):
        return f"is '{value}'; write whole numbers, such as \"1-75\""
    if name == "topic_format" and value not in FORMATS:
        return f"is '{value}'; formats are {', '.join(FORMATS)}"
    if name == "file" and (wrong := set(re.findall(r"{(.*?)}", value)) - _PLACEHOLDERS):
        return f"has {{{min(wrong)}}}; known are {{tag}}, {{team}} and {{snapshot}}"
    return ""
