"""Datasets of ir_datasets as collections.

The names of splits tell which datasets share documents (and so an index), and which dataset trains
rerankers for another or validates that training.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.identical_ids import ignoring_identical_ids
from irplatform.collections.irds_corpora import (
    MEDLINE,
    load_dataset,
    medline_records,
    open_corpus,
    topic,
)
from irplatform.collections.irds_downloads import (
    PARTS,
    SCORED,
    missing_downloads,
    reading,
    refuse_large,
)
from irplatform.data import Collection, Qrels
from irplatform.errors import InputError
from irplatform.spelling import option, option_words
from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.data import Topic


SAMPLED_QRELS: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": (
        "https://trec.nist.gov/data/precmed/sample-qrels-final-abstracts.txt"
    ),
    "medline/2017/trec-pm-2018": "https://trec.nist.gov/data/precmed/qrels-sample-abstracts-v2.txt",
}
"""Dataset to the address of its sampled judgments, which ir_datasets does not have.

They are not downloaded, but used as soon as they lie in that library's folder.
"""
_TRAINS = ("train", "training")
_EVALUATED = ("test", "dev", "validation", "valid", "val")
_VALIDATES = ("dev", "validation", "valid", "val")
_PARTNERS: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": "medline/2017/trec-pm-2018",
    "medline/2017/trec-pm-2018": "medline/2017/trec-pm-2017",
}
"""Datasets that train for each other although no split is called so."""
_POOLS: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": "trec-pm-pool-2017",
    "medline/2017/trec-pm-2018": "trec-pm-pool-2018",
}
_TOPICS_OF_DOCUMENTS = ("beir/arguana", "beir/quora")
"""Datasets whose topics are documents, which published scores leave out of their own results."""
_MEASURES: Mapping[str, tuple[str, ...]] = {
    "trec-pm": ("nDCG@20", "AP", "P@10", "Rprec", "R@1000", "Judged@20")
}
"""Measures that replace the defaults, by a part of the id."""


def dataset_ids() -> list[str]:
    """The ids of all datasets, without ids from patterns."""
    if absent("ir_datasets"):
        return []
    import ir_datasets

    return list(ir_datasets.registry)


def exists(dataset_id: str) -> bool:
    """Return whether ir_datasets is installed and knows an id."""
    if absent("ir_datasets"):
        return False
    import ir_datasets

    try:
        ir_datasets.registry[dataset_id]
    except KeyError:
        return False
    return True


def open_dataset(dataset_id: str) -> Collection:
    """A dataset as a collection."""
    collection = _collection(dataset_id, evaluated=dataset_id)
    are_documents = any(f"{dataset_id}/".startswith(f"{name}/") for name in _TOPICS_OF_DOCUMENTS)
    return ignoring_identical_ids(collection) if are_documents else collection


def with_training(dataset_id: str) -> list[str]:
    """An id, and that of the dataset which trains for it, if there is one."""
    trains = _training(dataset_id)
    return [dataset_id, trains] if trains else [dataset_id]


def sampled_place(dataset_id: str) -> Path:
    """The place of the sampled judgments of a dataset of `SAMPLED_QRELS`, in its folder."""
    from ir_datasets.util import home_path

    family, *_, name = dataset_id.split("/")
    return Path(home_path()) / family / name / "sampled-qrels"


def sampled_qrels(dataset_id: str) -> Path | None:
    """The file of a dataset's sampled judgments, if it is there."""
    path = sampled_place(dataset_id) if dataset_id in SAMPLED_QRELS else None
    return path if path and path.is_file() else None


def refuse_silent_downloads(
    collection: Collection, name: str, *, documents: bool = True, scored: bool = False
) -> None:
    """Refuse a large download that the user has not asked for."""
    parts = PARTS if documents else ("queries", "qrels")
    dataset_id = collection.metadata.get("ir_datasets id")
    if dataset_id is None:
        return
    needed = [download for download, _ in missing_downloads(with_training(dataset_id), parts)]
    hint = ""
    if pool := _POOLS.get(dataset_id):
        hint = (
            "\nThe quick way is the closed pool, the judged documents alone: `platform collections "
            f"build {pool}`, then {option('collection', pool)}."
        )
    refuse_large(needed, name, hint)
    if scored:
        needed = [download for download, _ in missing_downloads([dataset_id], [SCORED])]
        refuse_large(needed, " ".join([name, *option_words(SCORED, True)]))


def _collection(dataset_id: str, *, evaluated: str) -> Collection:
    import ir_datasets

    dataset = load_dataset(dataset_id)
    if not (dataset.has_docs() and dataset.has_queries()):
        inside = [name for name in dataset_ids() if name.startswith(f"{dataset_id}/")]
        choices = f" Choose a part of it: {', '.join(inside)}." if inside else ""
        raise InputError(f"'{dataset_id}' itself has no documents or no topics.{choices}")
    trains = _training(dataset_id)
    validates = _validation(dataset_id, evaluated)
    open_partner = partial(_collection, evaluated=evaluated)
    return Collection(
        id=dataset_id.replace("/", "-"),
        title=f"{dataset_id} (ir_datasets)",
        corpus=open_corpus(ir_datasets.docs_parent_id(dataset_id)),
        load_topics=partial(_topics, dataset_id),
        load_qrels=partial(_qrels, dataset_id) if dataset.has_qrels() else None,
        measures=next(
            (names for part, names in _MEASURES.items() if part in dataset_id), Collection.measures
        ),
        training=partial(open_partner, trains) if trains else None,
        validation=partial(open_partner, validates) if validates else None,
        sampled_qrels=sampled_qrels(dataset_id),
        load_scored=partial(_scored, dataset_id) if dataset.has_scoreddocs() else None,
        grades=_grades(dataset),
        metadata=_metadata(dataset_id),
    )


def _grades(dataset: Any) -> dict[int, str]:
    """What the grades of a dataset's judgments mean, as far as the library says."""
    try:
        defined = dataset.qrels_defs() if dataset.has_qrels() else {}
    except NotImplementedError:
        return {}
    return {grade: text for grade, text in defined.items() if isinstance(grade, int)}


def _metadata(dataset_id: str) -> dict[str, str]:
    facts = {"ir_datasets id": dataset_id, "splits": ", ".join(_splits(dataset_id))}
    source = SAMPLED_QRELS.get(dataset_id)
    if source and sampled_qrels(dataset_id) is None:
        facts["sampled judgments"] = (
            f"Those of this collection are {source}: save them as {sampled_place(dataset_id)}."
        )
    if dataset_id.startswith(f"{MEDLINE}/"):
        facts["documents"] = f"about {medline_records():,}"
    return facts


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


def _siblings(
    dataset_id: str, splits: tuple[str, ...], replacements: tuple[str, ...]
) -> Iterator[str]:
    """Ids with the split replaced, then the wanted split right under the shared documents."""
    import ir_datasets

    parts = dataset_id.split("/")
    for place in [i for i, part in enumerate(parts) if part in splits]:
        for split in replacements:
            yield "/".join([*parts[:place], split, *parts[place + 1 :]])
    if splits == _EVALUATED or any(part in splits for part in parts):
        parent = ir_datasets.docs_parent_id(dataset_id)
        yield from (f"{parent}/{split}" for split in replacements)


def _first_judged(dataset_ids: Iterator[str]) -> str | None:
    for dataset_id in dataset_ids:
        if exists(dataset_id):
            dataset = load_dataset(dataset_id)
            if dataset.has_queries() and dataset.has_qrels():
                return dataset_id
    return None


def _splits(dataset_id: str) -> Iterator[str]:
    """The ids with judgments that search the same documents."""
    import ir_datasets

    parent = ir_datasets.docs_parent_id(dataset_id)
    for name in dataset_ids():
        if f"{name}/".startswith(f"{parent}/") and load_dataset(name).has_qrels():
            yield name


def _topics(dataset_id: str) -> list[Topic]:
    with reading(dataset_id, "queries"):
        return [topic(query) for query in load_dataset(dataset_id).queries_iter()]


def _qrels(dataset_id: str) -> Qrels:
    """The judgments; where passages were judged, a document has the grade of its best one."""
    from irplatform.data import SubtopicGrades

    qrels: dict[str, dict[str, float]] = {}
    with reading(dataset_id, "qrels"):
        for judgment in load_dataset(dataset_id).qrels_iter():
            kind = SubtopicGrades if hasattr(judgment, "subtopic_id") else dict
            grades = qrels.setdefault(judgment.query_id, kind())
            grade = judgment.relevance
            if isinstance(grades, SubtopicGrades):
                grades.add(judgment.subtopic_id, judgment.doc_id, grade)
            else:
                grades[judgment.doc_id] = max(grade, grades.get(judgment.doc_id, grade))
    return qrels


def _scored(dataset_id: str) -> dict[str, dict[str, float]]:
    """The candidates that a dataset brings, with their scores."""
    scored: dict[str, dict[str, float]] = {}
    with reading(dataset_id, SCORED):
        for candidate in load_dataset(dataset_id).scoreddocs_iter():
            scored.setdefault(candidate.query_id, {})[candidate.doc_id] = candidate.score
    return scored
