"""A pool, its collection and its grades, opened for assessors."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError, listing, quoted
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import refuse_large_downloads
from irplatform.judging.page.desk import Desk
from irplatform.judging.page.words import Words
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pooling import next_batch
from irplatform.judging.store import Store
from irplatform.lucene.queries import analyzed_pieces
from irplatform.registry.loading import registry
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Document
    from irplatform.judging.pool_folder import Pool


_MOST = 10
"""Grades that have a key of their own."""
_GRADE = re.compile(r"\s*(-?\d{1,6})\s*=\s*(.*\S)\s*", re.DOTALL)
_BETWEEN = re.compile(r",(?=\s*-?\d{1,6}\s*=)")


@contextmanager
def opened_desk(
    folder: Path,
    collection: str | None = None,
    *,
    grades: str | None = None,
    doubled: float | None = None,
) -> Iterator[Desk]:
    """Open a pool for assessors; this process alone writes its judgments.

    Args:
        folder: the pool's folder.
        collection: has the topics and documents; None takes the one that the pool's runs name.
        grades: grades with definitions, as `read_grades` reads them; None takes the collection's.
        doubled: the share of documents that two people judge; None takes the one of last time.

    Raises:
        InputError: the folder is no pool, the collection lacks its topics or defines no grades,
            or another process judges the pool.
    """
    pool = read_pool(folder)
    name, opened = opened_collection(pool, collection)
    with Store.open(folder, pool.id) as store:
        definitions = chosen_grades(grades, store, opened)
        if doubled is not None:
            store.write_setting("doubled", json.dumps(doubled))
        share = float(json.loads(store.setting("doubled", "0")))
        index = resources_for(RunSettings(name), opened).index()

        def read(ids: Sequence[str]) -> dict[str, Document]:
            missing = index.missing(ids)
            doc_ids = [document for document in ids if document not in missing]
            return {document.id: document for document in index.documents(doc_ids, threads=1)}

        words = Words(lambda pieces: analyzed_pieces(index.analyzer, pieces))
        topics = {topic.id: topic for topic in opened.topics}
        yield Desk(pool, store, topics, definitions, read, words, share=share, grow=grown)


def opened_collection(pool: Pool, name: str | None) -> tuple[str, Collection]:
    """Open a collection of a name, or the one that a pool's runs name; InputError for none."""
    if not (name := name or pool.collection):
        raise InputError(
            f"the pool does not say of which collection it is: give {option('collection')}.",
            path=pool.folder,
        )
    opened = registry().documents_of(name)
    refuse_large_downloads(opened, name)
    return name, opened


def grown(pool: Pool) -> Pool | None:
    """Add the next round to a pool that learns; return the pool as it is now, None if it ended."""
    if not pool.settings.get("batch"):
        return None
    return read_pool(pool.folder) if next_batch(pool.folder, pool.folder) else None


def read_grades(text: str) -> dict[int, str]:
    """Read grades with definitions, which may have commas.

    Raises:
        InputError: it is not a list of these, or has one grade, or more than ten.

    >>> read_grades("0=not relevant, 1=relevant, in part")
    {0: 'not relevant', 1: 'relevant, in part'}
    """
    parts = [_GRADE.fullmatch(part) for part in _BETWEEN.split(text)]
    grades = {int(part[1]): part[2] for part in parts if part}
    if not 2 <= len(parts) == len(grades) <= _MOST:
        raise InputError(
            f"{option('grades')} takes 2 to {_MOST} different grades with their definitions, such "
            f"as '0=not relevant,1=relevant', not {quoted(text)}."
        )
    return grades


def defined_grades(
    grades: Mapping[int, str] | str | None, before: Mapping[int, str], collection: Collection
) -> Mapping[int, str]:
    """Return the grades that the user gives, or a pool was judged by before, or the collection's.

    Raises:
        InputError: they are not two at least.
    """
    grades = read_grades(grades) if isinstance(grades, str) else grades
    grades = grades or before or dict(collection.grades)
    if len(grades) < 2:
        raise InputError(
            f"'{collection.id}' does not define its grades: give "
            f"{option('grades', '0=not relevant,1=relevant', quoted=True)}."
        )
    return grades


def chosen_grades(text: str | None, store: Store, collection: Collection) -> Mapping[int, str]:
    """Return the grades to judge by, and record them beside the judgments.

    Raises:
        InputError: nobody has defined any, or one that documents have is not among them.
    """
    stored = json.loads(store.setting("grades", "{}"))
    before = {int(grade): definition for grade, definition in stored.items()}
    grades = defined_grades(text, before, collection)
    if others := sorted(store.grades() - {*grades}):
        raise InputError(
            f"documents of this pool have been given {listing(map(str, others))}, which "
            f"{option('grades')} does not define. Define these, too."
        )
    store.write_setting("grades", json.dumps(grades, ensure_ascii=False))
    return grades
