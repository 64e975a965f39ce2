"""A pool and its collection, opened for assessors."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.systems import refuse_large_downloads
from irplatform.judging.page.desk import Desk
from irplatform.judging.page.grades import chosen_grades
from irplatform.judging.page.words import Words
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pooling import grades_of, next_batch
from irplatform.judging.store import Store, stored_judgments
from irplatform.lucene.queries import analyzed_pieces
from irplatform.registry.loading import registry
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Document
    from irplatform.judging.pool_folder import Pool


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
            known = [document for document in ids if document not in missing]
            return {document.id: document for document in index.documents(known, threads=1)}

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
    judged = grades_of(stored_judgments(pool.folder))
    return read_pool(pool.folder) if next_batch(pool.folder, judged) else None
