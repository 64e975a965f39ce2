"""How many judgments name documents that a collection has: a log may be about another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.batched import batched
from irplatform.collections.beir_files import qrels_path
from irplatform.judgments.splits import SPLITS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_AT_ONCE = 100_000


def known_judgments(folder: Path, doc_ids: Iterable[str]) -> tuple[int, int]:
    """Count the judgments of all splits, and those whose documents a collection has.

    Memory holds the distinct judged documents, as one column.

    Args:
        folder: in BEIR layout.
        doc_ids: of the collection's documents, each once.

    Returns:
        Judgments of documents that it has, and all judgments.
    """
    import polars as pl

    files = [path for split in SPLITS if (path := qrels_path(folder, split)).exists()]
    counts = (
        pl.concat(
            pl.scan_csv(path, separator="\t", quote_char=None, infer_schema=False) for path in files
        )
        .group_by("corpus-id")
        .len()
        .collect()
    )
    known = 0
    for batch in batched(doc_ids, _AT_ONCE):
        documents = pl.DataFrame({"corpus-id": batch})
        known += int(counts.join(documents, on="corpus-id", how="semi")["len"].sum())
    return known, int(counts["len"].sum())
