"""Sampled judgments of datasets of ir_datasets, which has none: where they are, where to put them.

TREC publishes them beside the ordinary judgments that ir_datasets downloads. They are used as soon
as they lie in that library's folder; nothing is downloaded for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
