"""A collection described by a TOML file, for data in whatever layout it came in.

The file names the documents, the topics and the judgments, relative to itself; the models below are
its keys. A path to any `.toml` is such a collection, so that one folder can hold several.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from irplatform.collections.collection import Collection, Corpus, Qrels
from irplatform.collections.corpus import FieldNames, JsonLinesCorpus
from irplatform.collections.topics import QueryTemplate, read_topics
from irplatform.errors import InputError
from irplatform.option_problems import first_problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pydantic_core import ErrorDetails

FILE_NAME = "collection.toml"

_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
_Text = Annotated[str, StringConstraints(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Documents(_Table):
    files: Annotated[list[_Text], Field(min_length=1)]
    format: Literal["jsonl", "pubmed-xml"] = "jsonl"
    id: _Text = "id"
    title: _Text = "title"
    abstract: _Text = "abstract"
    fields: list[_Text] = []


class _Topics(_Table):
    file: _Text
    format: Literal["beir", "trec", "trec-pm", "tsv"]
    query: _Text | None = None
    expand: list[_Text] = []
    plan: _Text | None = None


class _Qrels(_Table):
    file: _Text | None = None
    sampled: _Text | None = None


class _Train(_Table):
    collection: _Text | Annotated[list[_Text], Field(min_length=1)]


class _Declaration(_Table):
    id: _Name
    title: str = ""
    note: str = ""
    measures: list[_Text] | None = None
    documents: _Documents
    topics: _Topics
    qrels: _Qrels | None = None
    train: _Train | None = None


def open_toml(path: Path) -> Collection:
    """The collection that a TOML file describes.

    Raises:
        InputError: the file is missing or not TOML, a key is missing, unknown or of the wrong
            type, or a file that it names does not exist.
    """
    declared = _read(path)
    topics, qrels, train = declared.topics, declared.qrels, declared.train
    topic_file = _file(path, topics.file, "[topics] file")
    judged, sampled = (
        _file(path, name, f"[qrels] {key}") if name else None
        for key, name in (("file", qrels and qrels.file), ("sampled", qrels and qrels.sampled))
    )
    if qrels is not None and not (judged or sampled):
        raise InputError("[qrels] the key 'file' is missing.", path=path)
    return Collection(
        id=declared.id,
        title=declared.title or declared.id,
        corpus=_corpus(path, declared.documents),
        load_topics=partial(read_topics, topic_file, topics.format, topics.query),
        load_qrels=partial(_read_qrels, judged, sampled) if qrels else None,
        measures=tuple(declared.measures) if declared.measures else Collection.measures,
        training=partial(_training, path, train.collection) if train else None,
        sampled_qrels=sampled,
        note=declared.note,
        expand=tuple(topics.expand),
        plan=_plan(path, topics.plan) if topics.plan else {},
        metadata={
            "declared in": str(path),
            "topics": f"{topic_file} ({topics.format})",
            **({"judgments": str(judged or sampled)} if qrels else {}),
            **({"expanded with": ", ".join(topics.expand)} if topics.expand else {}),
            **({"query plan": topics.plan} if topics.plan else {}),
        },
    )


def is_declaration(path: Path) -> bool:
    """Whether a TOML file describes a collection, soundly or not: it has one of the tables."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return any(isinstance(content.get(table), dict) for table in ("documents", "topics"))


def _read(path: Path) -> _Declaration:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError("there is no such file.", path=path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8 text ({error}).", path=path) from error
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        reason = _LINE.sub("", str(error)).strip()
        raise InputError(
            f"this is not TOML: {reason}.", path=path, line=int(found[1]) if found else None
        ) from error
    try:
        declared = _Declaration.model_validate(content)
    except ValidationError as error:
        raise InputError(_explain(error), path=path) from error
    if declared.topics.query is not None:
        try:
            QueryTemplate(declared.topics.query).check_syntax()
        except InputError as error:
            raise InputError(f"[topics] query: {error}", path=path) from error
    return declared


def _explain(error: ValidationError) -> str:
    """A misspelt key, which others may be missing for; else the first problem."""
    problems = error.errors()
    for problem in problems:
        if problem["type"] == "extra_forbidden" and (told := _misspelt(problem)):
            return told
    problem = problems[0]
    *tables, key = [str(part) for part in problem["loc"] if not isinstance(part, int)]
    place = f"[{'.'.join(tables)}] " if tables else ""
    if problem["type"] == "missing":
        what = "table" if key in ("documents", "topics") and not tables else "key"
        return f"{place}the {what} '{key}' is missing."
    if problem["type"] == "extra_forbidden":
        return f"{place}the key '{key}' is unknown. Known: {', '.join(_keys(tables))}."
    if key == "id" and problem["type"] == "string_pattern_mismatch":
        return (
            f"the id cannot be {problem['input']!r}: it may hold letters, digits, '.', '_' and "
            "'-', and begins with a letter or digit."
        )
    named, wrong = first_problem(_Declaration, error)
    *tables, key = [part for part in named.split(".") if not part.isdigit()]
    place = f"[{'.'.join(tables)}] " if tables else ""
    return f"{place}'{key}' cannot be {problem['input']!r}: {wrong}."


def _misspelt(problem: ErrorDetails) -> str:
    """An unknown key with the right one that is near it, or ""."""
    *tables, key = map(str, problem["loc"])
    near = difflib.get_close_matches(key, _keys(tables), n=1)
    what = "table" if isinstance(problem["input"], dict) else "key"
    place = f"[{'.'.join(tables)}] " if tables else ""
    return f"{place}the {what} '{key}' is unknown. Did you mean '{near[0]}'?" if near else ""


def _keys(tables: Iterable[str]) -> list[str]:
    model: type[BaseModel] = _Declaration
    for table in tables:
        model = _TABLES.get(table, model)
    return list(model.model_fields)


_TABLES: dict[str, type[BaseModel]] = {
    "documents": _Documents,
    "topics": _Topics,
    "qrels": _Qrels,
    "train": _Train,
}


def _corpus(path: Path, documents: _Documents) -> Corpus:
    if documents.format == "pubmed-xml":
        return _pubmed(path, documents)
    files = [_file(path, name, "[documents] files") for name in documents.files]
    titles = (documents.title,) if "title" in documents.model_fields_set else ()
    keys = FieldNames(
        documents.id,
        documents.title,
        documents.abstract,
        fields=tuple(documents.fields),
        declared=(*titles, *documents.fields),
    )
    return JsonLinesCorpus(_place(files), files, keys)


def _pubmed(path: Path, documents: _Documents) -> Corpus:
    from irplatform.collections.pubmed.baseline import DEFAULT_FIELDS, PubmedCorpus, find_files

    given = documents.model_fields_set
    if meaningless := given & {"id", "title", "abstract"}:
        raise InputError(
            f"[documents] '{min(meaningless)}' is a key of JSON lines; with format "
            "'pubmed-xml' remove it.",
            path=path,
        )
    try:
        files = find_files(path.parent, documents.files)
        fields = documents.fields if "fields" in given else DEFAULT_FIELDS
        return PubmedCorpus(_place(files), files, fields)
    except InputError as error:
        raise InputError(f"[documents] {error}", path=path) from error


def _place(files: list[Path]) -> str:
    """A name for documents, after where they lie and not after the file that names them.

    What searches the same documents then finds the same index.
    """
    folder = files[0].resolve().parent
    return "-".join(part for part in (folder.parent.name, folder.name) if part)


def _read_qrels(judged: Path | None, sampled: Path | None) -> Qrels:
    """Ordinary judgments; where there are sampled ones alone, the documents that these judge."""
    from irplatform.evaluation.qrels import read_qrels
    from irplatform.evaluation.sampled_qrels import judged_documents, read_sampled_qrels

    if judged is not None:
        return read_qrels(judged)
    assert sampled is not None  # `open_toml` sees to it
    return judged_documents(read_sampled_qrels(sampled))


def _plan(path: Path, name: str) -> dict[str, object]:
    from irplatform.retrieval.querying import read_plan

    return read_plan(_file(path, name, "[topics] plan"))


def _training(path: Path, named: str | list[str]) -> Collection:
    from irplatform.collections.joined import joined
    from irplatform.collections.paths import open_path

    names = [named] if isinstance(named, str) else named
    if any((path.parent / name).resolve() == path.resolve() for name in names):
        raise InputError("[train] collection: a collection cannot train for itself.", path=path)
    try:
        return joined([open_path(path.parent / name) for name in names])
    except InputError as error:
        raise InputError(f"[train] collection: {error}", path=path) from error


def _file(path: Path, name: str, key: str) -> Path:
    file = path.parent / name
    if not file.is_file():
        raise InputError(f"{key}: there is no file {file}.", path=path)
    return file
