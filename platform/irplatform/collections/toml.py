"""A collection described by a TOML file, for data in whatever layout it came in.

The file (`declaration`) names the documents, the topics and the judgments, relative to itself. A
path to any `.toml` is such a collection, so that one folder can hold several.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from irplatform.collections.collection import Collection, Corpus, Qrels
from irplatform.collections.corpus import JSONL_ENDINGS, FieldNames, JsonLinesCorpus
from irplatform.collections.declaration import read_declaration
from irplatform.collections.folder_name import folder_name
from irplatform.collections.patterns import find_files
from irplatform.collections.topics import read_topics
from irplatform.errors import InputError
from irplatform.toml_io import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from irplatform.collections.declaration import Documents

FILE_NAME = "collection.toml"


def open_toml(path: Path) -> Collection:
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
    if qrels is not None and not (judged or sampled):
        raise InputError("[qrels] the key 'file' is missing.", path=path)
    return Collection(
        id=declared.id,
        title=declared.title or declared.id,
        corpus=_corpus(path, declared.documents),
        load_topics=partial(read_topics, topic_file, topics.format, topics.query, topics.id),
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


def declared_files(path: Path) -> list[Path]:
    """A collection's TOML file, and the files that texts in it name."""
    return [path, *(file for file in _named(read_toml(path), path.parent) if file.is_file())]


def _named(value: object, folder: Path) -> Iterator[Path]:
    if isinstance(value, str):
        yield folder / value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _named(part, folder)


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
    from irplatform.collections.pubmed.baseline import DEFAULT_FIELDS, XML_ENDINGS, PubmedCorpus

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
    """A name for documents, after where they lie and not after the file that names them.

    What searches the same documents then finds the same index.
    """
    folder = files[0].resolve().parent
    return "-".join(part for part in map(folder_name, (folder.parent, folder)) if part)


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


def _training(path: Path, declared: str | list[str]) -> Collection:
    from irplatform.collections.joined import joined
    from irplatform.collections.paths import open_path  # which opens TOML files, too

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
