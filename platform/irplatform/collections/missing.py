"""`missing.tsv`: judged documents that a collection lacks, why, and how much they matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform import storage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.collections import Qrels

FILE_NAME = "missing.tsv"


def write_missing(folder: Path, judged: Mapping[str, Qrels], missing: Mapping[str, str]) -> None:
    """Write the judged documents that there are not, with how many topics judge them.

    No file is written where nothing is missing.

    Args:
        folder: where to.
        judged: the judgments, each by the ending of its columns' names: judged2017, relevant2017.
        missing: document id to the reason.
    """
    if not missing:
        return
    columns = [f"{what}{ending}" for ending in judged for what in ("judged", "relevant")]
    with storage.atomic_write(folder / FILE_NAME) as file:
        file.write("\t".join(["doc_id", "reason", *columns]) + "\n")
        for document_id, reason in missing.items():
            counts = []
            for qrels in judged.values():
                grades = [g[document_id] for g in qrels.values() if document_id in g]
                counts += [str(len(grades)), str(sum(grade > 0 for grade in grades))]
            file.write("\t".join([document_id, reason, *counts]) + "\n")
