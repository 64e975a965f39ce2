"""A dataset of ir_datasets as a collection, read when it is looked at.

What the library does not say is added here: which documents several datasets share (one index), and
which dataset trains rerankers for another and validates that training, by the names of its splits.
Nothing is downloaded before its source and size have been announced.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.collections import irds_records as records
from irplatform.collections import medline
from irplatform.collections.irds_downloads import reading, refusing_damage
from irplatform.data import Collection, Corpus, Qrels
from irplatform.errors import InputError
from irplatform.system.digests import fingerprint
from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from irplatform.data import Document, Topic


# Sampled judgments of datasets of ir_datasets, which has none: where they are, where to put them.
#
# TREC publishes them beside the ordinary judgments that ir_datasets downloads. They are used as
# soon as they lie in that library's folder; nothing is downloaded for them.

SOURCES: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": (
        "https://trec.nist.gov/data/precmed/sample-qrels-final-abstracts.txt"
    ),
    "medline/2017/trec-pm-2018": "https://trec.nist.gov/data/precmed/qrels-sample-abstracts-v2.txt",
}
"""Dataset to the address of its sampled judgments."""


def place(dataset_id: str) -> Path:
    """Where the sampled judgments of a dataset of `SOURCES` are looked for: by its other files."""
    from ir_datasets.util import home_path

    family, *_, name = dataset_id.split("/")
    folder: Path = home_path() / family / name
    return folder / "sampled-qrels"


def sampled_qrels(dataset_id: str) -> Path | None:
    """The file of a dataset's sampled judgments, if it is there."""
    if dataset_id not in SOURCES:
        return None
    path = place(dataset_id)
    return path if path.is_file() else None


def hint(dataset_id: str) -> dict[str, str]:
    """For a dataset's metadata: how its sampled judgments are had, where they are not there."""
    source = SOURCES.get(dataset_id)
    if source is None or sampled_qrels(dataset_id) is not None:
        return {}
    text = f"Those of this collection are {source}: save them as {place(dataset_id)}."
    return {"sampled judgments": text}


_FORMAT = 1
"""Version of the mapping from records to documents."""
_TRAINS = ("train", "training")
_EVALUATED = ("test", "dev", "validation", "valid", "val")
_VALIDATES = ("dev", "validation", "valid", "val")
_PARTNERS: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": "medline/2017/trec-pm-2018",
    "medline/2017/trec-pm-2018": "medline/2017/trec-pm-2017",
}
"""Datasets that train for each other although no split is called so."""
_MEASURES: Mapping[str, tuple[str, ...]] = {
    "trec-pm": ("nDCG@20", "AP", "P@10", "Rprec", "R@1000", "Judged@20"),
}
"""Measures that replace the defaults, by a part of the id."""

_REPEAT_DOCUMENTS = ("cord19",)
"""Families of datasets with several records of some documents, of which the first one counts.

CORD-19's metadata.csv has a row for each source of a paper, and so the same cord_uid on several."""


def known() -> list[str]:
    """The ids of all datasets, without those that ir_datasets makes from a pattern."""
    if absent("ir_datasets"):
        return []
    import ir_datasets

    return list(ir_datasets.registry)


def exists(dataset_id: str) -> bool:
    """Whether ir_datasets is installed and knows an id."""
    if absent("ir_datasets"):
        return False
    import ir_datasets

    try:
        ir_datasets.registry[dataset_id]
    except KeyError:
        return False
    return True


def with_training(dataset_id: str) -> list[str]:
    """An id, and that of the dataset which trains for it, if there is one."""
    trains = _training(dataset_id)
    return [dataset_id, trains] if trains else [dataset_id]


def open_dataset(dataset_id: str) -> Collection:
    """A dataset as a collection.

    Raises:
        InputError: it has no documents or no topics.
    """
    return _collection(dataset_id, evaluated=dataset_id)


class IrdsCorpus(Corpus):
    """The documents of a dataset."""

    def __init__(self, dataset_id: str) -> None:
        self.dataset_id = dataset_id
        self.name = dataset_id.replace("/", "-")
        self._layout = records.layout(_load(dataset_id).docs_cls())
        self.fields = self._layout.fields

    @property
    def fingerprint(self) -> str:
        """Of the id: a dataset of ir_datasets does not change under its id."""
        further = {"further": [*self._layout.further]} if self._layout.further else {}
        return fingerprint({"ir_datasets": self.dataset_id, "format": _FORMAT, **further})

    def __iter__(self) -> Iterator[Document]:
        """Stream the documents, downloading them at first.

        Raises:
            PlatformError: they could not be had, and what to do.
        """
        with reading(self.dataset_id, "docs"):
            documents = map(records.document, _load(self.dataset_id).docs_iter())
            yield from _first_records(documents) if self._repeats else documents

    def count(self) -> int | None:
        """The number of documents that ir_datasets' metadata has; None where they repeat some."""
        return None if self._repeats else self.size_hint()

    def size_hint(self) -> int | None:
        """The number of records."""
        with refusing_damage(self.dataset_id, "docs"):
            count: int | None = _load(self.dataset_id).docs_count()
        return count

    @property
    def _repeats(self) -> bool:
        return self.dataset_id.split("/")[0] in _REPEAT_DOCUMENTS


def _first_records(documents: Iterator[Document]) -> Iterator[Document]:
    seen = set[str]()
    for document in documents:
        if document.id not in seen:
            seen.add(document.id)
            yield document


def _collection(dataset_id: str, *, evaluated: str) -> Collection:
    import ir_datasets

    dataset = _load(dataset_id)
    if not (dataset.has_docs() and dataset.has_queries()):
        inside = [name for name in known() if name.startswith(f"{dataset_id}/")]
        choices = f" Choose a part of it: {', '.join(inside)}." if inside else ""
        raise InputError(f"'{dataset_id}' has no documents or no topics of its own.{choices}")
    trains = _training(dataset_id)
    validates = _validation(dataset_id, evaluated)
    open_dataset = partial(_collection, evaluated=evaluated)
    return Collection(
        id=dataset_id.replace("/", "-"),
        title=f"{dataset_id} (ir_datasets)",
        corpus=_corpus(ir_datasets.docs_parent_id(dataset_id)),
        load_topics=partial(_topics, dataset_id),
        load_qrels=partial(_qrels, dataset_id) if dataset.has_qrels() else None,
        measures=next(
            (names for part, names in _MEASURES.items() if part in dataset_id), Collection.measures
        ),
        training=partial(open_dataset, trains) if trains else None,
        validation=partial(open_dataset, validates) if validates else None,
        sampled_qrels=sampled_qrels(dataset_id),
        metadata={
            "ir_datasets id": dataset_id,
            "splits": ", ".join(_splits(dataset_id)),
            **hint(dataset_id),
            **medline.hint(dataset_id),
        },
    )


def _corpus(dataset_id: str) -> Corpus:
    if dataset_id == medline.DATASET and medline.has_files():
        return medline.MedlineCorpus()
    return IrdsCorpus(dataset_id)


def _training(dataset_id: str) -> str | None:
    """The dataset that trains for this one: its partner, or the split `train` beside it."""
    if partner := _PARTNERS.get(dataset_id):
        return partner
    if set(_TRAINS) & set(dataset_id.split("/")):
        return None
    return _first_judged(_siblings(dataset_id, _EVALUATED, _TRAINS))


def _validation(dataset_id: str, evaluated: str) -> str | None:
    """The dataset that validates training on this one, if this is a training split."""
    candidate = _first_judged(_siblings(dataset_id, _TRAINS, _VALIDATES))
    if candidate is None or f"{evaluated}/".startswith(f"{candidate}/"):
        return None
    return candidate


def _siblings(dataset_id: str, splits: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[str]:
    """Ids with the split replaced, then the wanted split right under the shared documents."""
    import ir_datasets

    parts = dataset_id.split("/")
    for place in [i for i, part in enumerate(parts) if part in splits]:
        for split in wanted:
            yield "/".join([*parts[:place], split, *parts[place + 1 :]])
    if splits == _EVALUATED or any(part in splits for part in parts):
        parent = ir_datasets.docs_parent_id(dataset_id)
        yield from (f"{parent}/{split}" for split in wanted)


def _first_judged(dataset_ids: Iterator[str]) -> str | None:
    for dataset_id in dataset_ids:
        if exists(dataset_id):
            dataset = _load(dataset_id)
            if dataset.has_queries() and dataset.has_qrels():
                return dataset_id
    return None


def _splits(dataset_id: str) -> Iterator[str]:
    """The ids with judgments that search the same documents."""
    import ir_datasets

    parent = ir_datasets.docs_parent_id(dataset_id)
    for name in known():
        if f"{name}/".startswith(f"{parent}/") and _load(name).has_qrels():
            yield name


def _topics(dataset_id: str) -> list[Topic]:
    with reading(dataset_id, "queries"):
        return [records.topic(query) for query in _load(dataset_id).queries_iter()]


def _qrels(dataset_id: str) -> Qrels:
    """The judgments; a document has the grade of its best passage where passages were judged.

    The library's own dictionary would have that of the last one.
    """
    from irplatform.evaluation.qrels import SubtopicGrades

    qrels: dict[str, dict[str, float]] = {}
    with reading(dataset_id, "qrels"):
        for judgment in _load(dataset_id).qrels_iter():
            kind = SubtopicGrades if hasattr(judgment, "subtopic_id") else dict
            grades = qrels.setdefault(judgment.query_id, kind())
            grade = judgment.relevance
            if isinstance(grades, SubtopicGrades):
                grades.add(judgment.subtopic_id, judgment.doc_id, grade)
            else:
                grades[judgment.doc_id] = max(grade, grades.get(judgment.doc_id, grade))
    return qrels


def _load(dataset_id: str) -> Any:
    import ir_datasets

    return ir_datasets.load(dataset_id)
