"""The documents and topics of ir_datasets' datasets.

The record classes (named tuples) of datasets share the names of their entries, so one mapping by
name serves all. A record without a text has its class's default one. The body of a full text, and
a clinical trial's description and criteria, follow the abstract.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.irds_downloads import is_stored, reading
from irplatform.data import Corpus, Document, FieldValue, Topic
from irplatform.documents.pubmed_files import DEFAULT_FIELDS, FORMAT, Member, latest
from irplatform.files.digests import fingerprint
from irplatform.files.reading import read_tar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEDLINE = "medline/2017"
_TEXTS = ("abstract", "text", "summary", "body", "contents", "content", "main_content")
"""Entries that can be a document's abstract, best first."""
_FURTHER = ("detailed_description", "eligibility", "body")
"""Entries that follow an abstract of another name; a body may be in sections."""
_QUERIES = ("text", "title", "query", "description")
"""Entries that can be a query, best first, where a class has no default text."""
_NEEDS = ("disease", "gene", "treatment")
"""Parts of a precision medicine topic that make its query, as in TREC PM's baselines."""
_WORD = re.compile(r"\w+")
_PLAIN_TYPES = {
    "class", "typing", "str", "int", "float", "bool", "list", "tuple",
    "List", "Tuple", "Optional", "Union", "NoneType",
}  # fmt: skip
"""Words of the types whose values can be a field: texts, numbers and lists of them."""
_FORMAT = 1
"""Version of the mapping from records to documents."""
_REPEAT_DOCUMENTS = ("cord19",)
"""Families of datasets with several records for some documents, of which the first counts."""
_PARTS = ("2017/part1", "2017/part2", "2017/part3", "2017/part4", "2017/part5")
_EXTRA = "2017/aacr_asco_extra"


def open_corpus(dataset_id: str) -> Corpus:
    """The documents of a dataset; MEDLINE's from the downloaded files, if they are there."""
    if dataset_id == MEDLINE and _has_medline_files():
        return MedlineCorpus()
    return IrdsCorpus(dataset_id)


def load_dataset(dataset_id: str) -> Any:
    """The dataset as ir_datasets gives it."""
    import ir_datasets

    return ir_datasets.load(dataset_id)


class IrdsCorpus(Corpus):
    """The documents of a dataset."""

    def __init__(self, dataset_id: str) -> None:
        self.dataset_id = dataset_id
        self.name = dataset_id.replace("/", "-")
        self._layout = layout(load_dataset(dataset_id).docs_cls())
        self.fields = self._layout.fields

    @property
    def fingerprint(self) -> str:
        """Of the id: a dataset of ir_datasets does not change under its id."""
        further = {"further": [*self._layout.further]} if self._layout.further else {}
        return fingerprint({"ir_datasets": self.dataset_id, "format": _FORMAT, **further})

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents; they are downloaded first."""
        ids = set[str]()
        with reading(self.dataset_id, "docs"):
            for entry in map(document, load_dataset(self.dataset_id).docs_iter()):
                if not self._repeats:
                    yield entry
                elif entry.id not in ids:
                    ids.add(entry.id)
                    yield entry

    def count(self) -> int | None:
        """The number of documents in ir_datasets' metadata; None where some are repeated."""
        return None if self._repeats else self.size_hint()

    def size_hint(self) -> int | None:
        """The number of records."""
        count: int | None = load_dataset(self.dataset_id).docs_count()
        return count

    @property
    def _repeats(self) -> bool:
        return self.dataset_id.split("/")[0] in _REPEAT_DOCUMENTS


class MedlineCorpus(Corpus):
    """MEDLINE's baseline of 2017 and the conference abstracts that TREC PM added to it.

    ir_datasets keeps titles and first sections of abstracts, up to the first italics, and no MeSH
    headings. The files that it downloads have everything, and are read here.
    """

    name = MEDLINE.replace("/", "-")
    fields = DEFAULT_FIELDS

    @property
    def fingerprint(self) -> str:
        """Of the dataset's id: its files do not change under it."""
        return fingerprint({"ir_datasets": MEDLINE, "pubmed": FORMAT, "fields": [*self.fields]})

    def __iter__(self) -> Iterator[Document]:
        """Stream the conference abstracts, then the articles."""
        from ir_datasets.datasets.medline import AacrAscoDocs

        with reading(MEDLINE, "docs"):
            downloads = _medline_downloads()
            yield from map(document, AacrAscoDocs(downloads[_EXTRA]).docs_iter())
            # The baseline is sorted by number. Versions of an article lie in the same file, where
            # the highest is taken, so the files can be read in their own order.
            members = (
                Member(f"{path}/{name}", content)
                for path in (downloads[part].path() for part in _PARTS)
                for name, content in read_tar(Path(path), lambda name: name.endswith(".gz"))
            )
            yield from latest(members, self.fields)

    def size_hint(self) -> int | None:
        """The number of records; a few articles fewer, since some have several versions."""
        return medline_records()


def medline_records() -> int:
    """The number of MEDLINE's records."""
    return int(load_dataset(MEDLINE).docs_count())


def _has_medline_files() -> bool:
    """Return whether the files are there, or will be: ir_datasets may have made its own copy."""
    downloads = _medline_downloads()
    files = (Path(downloads[part].path(force=False)) for part in (*_PARTS, _EXTRA))
    return not is_stored(load_dataset(MEDLINE)) or all(file.exists() for file in files)


def _medline_downloads() -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context("medline", home_path() / "medline")


@dataclass(frozen=True)
class Layout:
    """The entries of a record class that become each part of a document."""

    title: str
    abstract: str
    further: tuple[str, ...]
    fields: tuple[str, ...]


@cache
def layout(record_class: type) -> Layout:
    """The layout of a record class, a named tuple."""
    types: Mapping[str, object] = record_class.__annotations__
    title = "title" if types.get("title") is str else ""
    abstract = next((name for name in _TEXTS if types.get(name) is str), "")
    further = [n for n in _FURTHER if n in types and n != abstract and types[n] is not bytes]
    texts = (title, abstract, *further) if abstract else (title,)
    rest = (name for name in types if name not in ("doc_id", "query_id", *texts))
    fields = (name for name in rest if set(_WORD.findall(str(types[name]))) <= _PLAIN_TYPES)
    return Layout(title, abstract, tuple(further) if abstract else (), tuple(fields))


def document(record: Any) -> Document:
    """A record as a document."""
    names = layout(record.__class__)
    title = (getattr(record, names.title) or "") if names.title else ""
    if names.further:
        texts = (_running(getattr(record, name)) for name in (names.abstract, *names.further))
        abstract = "\n".join(filter(None, texts))
    elif names.abstract:
        abstract = getattr(record, names.abstract) or ""
    else:  # a record without any text is an empty document
        abstract = getattr(record, "default_text", str)().removeprefix(title).strip()
    texts_of_document = (names.title, names.abstract, *names.further)
    return Document(record.doc_id, title, abstract, _fields(record, texts_of_document))


def topic(record: Any) -> Topic:
    """A record as a topic; entries that are not empty become fields, with single spaces."""
    raw = _fields(record, ())
    flat = {n: " ".join(v.split()) if isinstance(v, str) else v for n, v in raw.items()}
    fields = {name: value for name, value in flat.items() if value}
    if "disease" in fields and "gene" in fields:
        query = " ".join(str(fields[name]) for name in _NEEDS if name in fields)
    elif hasattr(record, "default_text"):
        query = record.default_text()
    else:
        query = next((str(fields[name]) for name in _QUERIES if name in fields), "")
    return Topic(record.query_id, " ".join(query.split()), fields)


def _running(text: Any) -> str:
    """A text, or the headings and texts of its sections, one after the other."""
    if isinstance(text, str):
        return text
    return "\n".join(part for section in text or () for part in section if part)


def _fields(record: Any, without: tuple[str, ...]) -> dict[str, FieldValue]:
    fields: dict[str, FieldValue] = {}
    for name, value in zip(record._fields, record, strict=True):
        if name in ("doc_id", "query_id", *without):
            continue
        entries = value.items() if isinstance(value, dict) else [(name, value)]
        for key, entry in entries:
            if (text := _as_text(entry)) is not None:
                fields[key] = text
    return fields


def _as_text(value: object) -> FieldValue | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(v, str | int | float) for v in value):
        return tuple(str(item) for item in value)
    return None
