"""Downloads that are asked for: all files of a dataset and of the one that trains for it.

A run fetches small files by itself, after saying so. Gigabytes it refuses, says what they are, and
names `platform collections download`, which calls this.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.irds import with_training
from irplatform.collections.irds_downloads import (
    FAILURES,
    PARTS,
    Download,
    described,
    is_there,
    missing_downloads,
    quieten,
    refuse_large,
    summary,
)
from irplatform.errors import InputError, PlatformError
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from irplatform.data import Collection


_POOLS: Mapping[str, str] = {
    "medline/2017/trec-pm-2017": "trec-pm-pool-2017",
    "medline/2017/trec-pm-2018": "trec-pm-pool-2018",
}
"""Datasets of which a small part is a collection of its own, built by a command."""


def refuse_silent_downloads(collection: Collection, name: str, *, documents: bool = True) -> None:
    """Refuse to begin what would end in a large download that nobody asked for.

    Raises:
        InputError: what is missing, from where, how much, and what to do.
    """
    parts = PARTS if documents else ("queries", "qrels")
    dataset_id = collection.metadata.get("ir_datasets id")
    if dataset_id is None:
        return
    needed = [download for download, _ in missing_downloads(with_training(dataset_id), parts)]
    pool = _POOLS.get(dataset_id)
    hint = (
        f"\nThe quick way is the closed pool, the judged documents alone: `platform collections "
        f"build {pool}`, then --collection {pool}."
        if pool
        else ""
    )
    refuse_large(needed, name, hint)


def fetch(dataset_ids: Iterable[str]) -> int:
    """Download all missing files of datasets; each is kept as soon as it is whole.

    Returns:
        How many files were fetched.

    Raises:
        InputError: a file has to be asked for by hand, or the disk is too small.
        PlatformError: a file could not be had.
    """
    from ir_datasets.util import home_path

    missing = missing_downloads(dataset_ids)
    needed = [download for download, _ in missing]
    by_hand = [download for download in needed if not download.source]
    if by_hand:
        place = f" and put it at {by_hand[0].path}" if by_hand[0].path else ""
        raise InputError(f"a file cannot be downloaded: {by_hand[0].instructions}{place}.")
    home_path().mkdir(parents=True, exist_ok=True)
    free, size = shutil.disk_usage(home_path()).free, sum(d.size or 0 for d in needed)
    if size > free:
        raise InputError(
            f"the files take {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free. Set "
            "IR_DATASETS_HOME to a folder on a larger disk.",
            path=home_path(),
        )
    if needed:
        notice(f"downloading {summary(needed)} to {home_path()}")
    quieten()
    for fetched, (download, file) in enumerate(missing):
        try:
            file.path()
        except FAILURES as error:
            raise PlatformError(
                f"{download.source} could not be downloaded ({type(error).__name__}). "
                f"{fetched} of {len(needed)} files are here; the same command fetches the others."
            ) from error
    return len(missing)


# Single files of ir_datasets' list of downloads, by the library's own downloader.
#
# It keeps them under `$IR_DATASETS_HOME`, compares their MD5 sums and tries mirrors.


def missing_file(context: str, name: str) -> Download | None:
    """What `fetch_file` would download; None if the file is there."""
    download = _download(context, name)
    return None if is_there(download) else described(download)


def fetch_file(context: str, name: str, *, instead: str) -> Path:
    """A file, downloaded if it is not there, after saying so."""
    from ir_datasets.util import home_path

    download = _download(context, name)
    if needed := missing_file(context, name):
        quieten()
        notice(f"ir_datasets downloads {needed} to {home_path()}")
    try:
        return Path(download.path())
    except FAILURES as error:
        place = f"put it at {needed.path} by hand, " if needed and needed.path else ""
        raise PlatformError(
            f"ir_datasets cannot get {needed or name} ({type(error).__name__}). Run this again "
            f"with a network, {place}or {instead}."
        ) from error


def _download(context: str, name: str) -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context(context, home_path() / context)[name]
