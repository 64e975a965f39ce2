"""Collections that a TOML file describes, for data in any layout.

The file names the documents, the topics and the judgments, relative to itself; docs/collections.md
describes its keys. Any `.toml` is such a collection, so one folder can hold several.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from irplatform.collections.beir import as_text
from irplatform.collections.identical_ids import ignoring_identical_ids
from irplatform.collections.topic_formats import FORMATS, QueryTemplate, read_topics
from irplatform.data import Collection, Corpus, Qrels
from irplatform.documents.jsonlines import JSONL_ENDINGS, FieldNames, JsonLinesCorpus, find_files
from irplatform.errors import InputError, unknown
from irplatform.files.formats import read_toml
from irplatform.options import first_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    _TopicFormat = str
else:
    _TopicFormat = Literal[tuple(FORMATS)]

_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
_Text = Annotated[str, StringConstraints(min_length=1)]
COLLECTION_FILE = "collection.toml"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Documents(_Table):
    """The documents' files, and the keys of a line for each part of a document."""

    files: Annotated[list[_Text], Field(min_length=1)]
    format: Literal["jsonl", "pubmed-xml"] = "jsonl"
    id: _Text = "id"
    title: _Text = "title"
    abstract: _Text = "abstract"
    fields: list[_Text] = []


class Topics(_Table):
    """The topics' file, and how it makes queries."""

    file: _Text
    format: _TopicFormat
    id: _Text | None = None
    query: _Text | None = None
    expand: list[_Text] = []
    ignore_identical_ids: bool = False
    plan: _Text | None = None


def _of_grades(definitions: dict[str, str]) -> dict[str, str]:
    if not all(re.fullmatch("-?[0-9]{1,6}", grade) for grade in definitions):
        raise ValueError("its keys are whole numbers")
    return definitions


class QrelsTable(_Table):
    """The files of judgments, ordinary or sampled."""

    file: _Text | None = None
    sampled: _Text | None = None
    grades: Annotated[dict[str, _Text], AfterValidator(_of_grades)] = {}


class Train(_Table):
    """The collections that train the rerankers."""

    collection: _Text | Annotated[list[_Text], Field(min_length=1)]


class Declaration(_Table):
    """A collection; paths are relative to its file."""

    id: _Name
    title: str = ""
    note: str = ""
    citation: str = ""
    measures: list[_Text] | None = None
    documents: Documents
    topics: Topics
    qrels: QrelsTable | None = None
    train: Train | None = None


TABLES: dict[str, type[BaseModel]] = {
    "documents": Documents,
    "topics": Topics,
    "qrels": QrelsTable,
    "train": Train,
}


def open_toml(path: Path, open_path: Callable[[Path], Collection]) -> Collection:
    """The collection that a TOML file describes.

    Raises:
        InputError: the file is missing or not TOML, a key is missing, unknown or of the wrong
            type, or a file that it names does not exist.
    """
    declared = read_declaration(path)
    topics, qrels, train = declared.topics, declared.qrels, declared.train
    topic_file = _file(path, topics.file, "[topics] file")
    judged, sampled = (
        _file(path, name, f"[qrels] {key}") if name else None
        for key, name in (("file", qrels and qrels.file), ("sampled", qrels and qrels.sampled))
    )
    if qrels is not None and not (judged or sampled or qrels.grades):
        raise InputError("[qrels] the key 'file' is missing.", path=path)
    collection = Collection(
        id=declared.id,
        title=declared.title or declared.id,
        corpus=_corpus(path, declared.documents),
        load_topics=partial(read_topics, topic_file, topics.format, topics.query, topics.id),
        load_qrels=partial(_read_qrels, judged, sampled) if judged or sampled else None,
        measures=tuple(declared.measures) if declared.measures else Collection.measures,
        training=partial(_training, path, train.collection, open_path) if train else None,
        sampled_qrels=sampled,
        note=declared.note,
        expand=tuple(topics.expand),
        plan=_plan(path, topics.plan) if topics.plan else {},
        grades={int(grade): text for grade, text in qrels.grades.items()} if qrels else {},
        metadata={
            "declared in": str(path),
            "topics": f"{topic_file} ({topics.format})",
            **({"judgments": str(judged or sampled)} if judged or sampled else {}),
            **({"citation": declared.citation} if declared.citation else {}),
            **({"expanded with": ", ".join(topics.expand)} if topics.expand else {}),
            **({"query plan": topics.plan} if topics.plan else {}),
        },
    )
    return ignoring_identical_ids(collection) if topics.ignore_identical_ids else collection


def read_declaration(path: Path) -> Declaration:
    """Read and check a file's description of a collection."""
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
    """Return whether a TOML file has a table of a collection."""
    try:
        content = read_toml(path)
    except InputError:
        return False
    return any(isinstance(content.get(table), dict) for table in ("documents", "topics"))


def declared_files(path: Path) -> list[Path]:
    """A collection's TOML file, and the files that texts in it name."""
    return [path, *(file for file in _paths(read_toml(path), path.parent) if file.is_file())]


def _paths(value: object, folder: Path) -> Iterator[Path]:
    if isinstance(value, str):
        yield folder / value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _paths(part, folder)


def _corpus(path: Path, documents: Documents) -> Corpus:
    if documents.format == "pubmed-xml":
        return _pubmed(path, documents)
    try:
        files = find_files(path.parent, documents.files, JSONL_ENDINGS)
    except InputError as error:
        raise InputError(f"[documents] files: {error}", path=path) from error
    titles = (documents.title,) if "title" in documents.model_fields_set else ()
    keys = FieldNames(
        documents.id,
        documents.title,
        documents.abstract,
        fields=tuple(documents.fields),
        declared=(*titles, *documents.fields),
    )
    return JsonLinesCorpus(_place(files), files, keys)


def _pubmed(path: Path, documents: Documents) -> Corpus:
    from irplatform.documents.pubmed_files import DEFAULT_FIELDS, XML_ENDINGS, PubmedCorpus

    keys = documents.model_fields_set
    if meaningless := keys & {"id", "title", "abstract"}:
        raise InputError(
            f"[documents] '{min(meaningless)}' is a key of JSON lines; with format "
            "'pubmed-xml' remove it.",
            path=path,
        )
    try:
        files = find_files(path.parent, documents.files, XML_ENDINGS)
        fields = documents.fields if "fields" in keys else DEFAULT_FIELDS
        return PubmedCorpus(_place(files), files, fields)
    except InputError as error:
        raise InputError(f"[documents] {error}", path=path) from error


def _place(files: list[Path]) -> str:
    """A name for documents after their folder, so that collections over them share an index."""
    folder = files[0].resolve().parent
    return "-".join(part for part in map(as_text, (folder.parent.name, folder.name)) if part)


def _read_qrels(judged: Path | None, sampled: Path | None) -> Qrels:
    """Ordinary judgments; if there are only sampled ones, the documents that these judge."""
    from irplatform.evaluation.qrels import read_qrels
    from irplatform.evaluation.sampled import judged_documents, read_sampled_qrels

    if judged is not None:
        return read_qrels(judged)
    assert sampled is not None  # `open_toml` sees to it
    return judged_documents(read_sampled_qrels(sampled))


def _plan(path: Path, name: str) -> dict[str, object]:
    from irplatform.expansion.plan import read_plan

    return read_plan(_file(path, name, "[topics] plan"))


def _training(
    path: Path, declared: str | list[str], open_path: Callable[[Path], Collection]
) -> Collection:
    from irplatform.collections.derived import joined

    names = [declared] if isinstance(declared, str) else declared
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


def _explain(error: ValidationError) -> str:
    """The message for the first unknown key, the likely cause of missing ones, or problem."""
    problems = error.errors()
    extra = (p for p in problems if p["type"] == "extra_forbidden")
    problem = next(extra, problems[0])
    *tables, key = [str(part) for part in problem["loc"] if not isinstance(part, int)]
    if problem["type"] == "extra_forbidden":
        kind = "table" if isinstance(problem["input"], dict) else "key"
        model = TABLES[tables[0]] if tables else Declaration
        return f"{_place_of(tables)}{unknown(kind, key, model.model_fields)}"
    if problem["type"] == "missing":
        kind = "table" if not tables and key in TABLES else "key"
        return f"{_place_of(tables)}the {kind} '{key}' is missing."
    if key == "id" and problem["type"] == "string_pattern_mismatch":
        return (
            f"the id cannot be {problem['input']!r}: it may hold letters, digits, '.', '_' and "
            "'-', and begins with a letter or digit."
        )
    location, reason = first_problem(Declaration, error)
    *tables, key = [part for part in location.split(".") if not part.isdigit()]
    return f"{_place_of(tables)}'{key}' cannot be {problem['input']!r}: {reason}."


def _place_of(tables: list[str]) -> str:
    return f"[{'.'.join(tables)}] " if tables else ""
