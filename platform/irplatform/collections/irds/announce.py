"""Says what ir_datasets downloads before it does, and explains what went wrong.

Small files are fetched after a line that says so; gigabytes have to be asked for.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from irplatform.collections.irds.downloads import (
    FAILURES,
    Download,
    refusing_damage,
    size_text,
    what_would_be_downloaded,
)
from irplatform.console import notice
from irplatform.errors import InputError, PlatformError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = 500_000_000
"""Bytes from which a download has to be asked for; below, it is announced and done."""
_CHATTER = ("download error", "Download failed", "[starting]", "[finished]", "[error]", "Opening ")


def summary(downloads: list[Download]) -> str:
    """Number, size and sources of downloads, in a line."""
    if not downloads:
        return "nothing: all files are there"
    if len(downloads) == 1:
        return f"1 file: {downloads[0]}"
    size = size_text(sum(download.size or 0 for download in downloads) or None)
    return f"{counted(len(downloads), 'file')}, {size} in all: {', '.join(map(str, downloads))}"


def refuse_large(needed: list[Download], name: str, hint: str = "") -> None:
    """Refuse to download more than `LARGE` bytes without having been asked to.

    Raises:
        InputError: what is missing, from where, how much, and how it is asked for.
    """
    from ir_datasets.util import home_path

    total = sum(download.size or 0 for download in needed)
    if total < LARGE:
        return
    raise InputError(
        f"'{name}' needs {counted(len(needed), 'file')} that {'is' if len(needed) == 1 else 'are'} "
        f"not here, {size_text(total)} in all, from {_hosts(needed)}. Nothing has been downloaded. "
        f"`platform collections download {name}` fetches them to {home_path()}.{hint}"
    )


def _hosts(needed: list[Download]) -> str:
    """Where files come from: each host with its number of files and their size."""
    sizes: dict[str, list[int]] = {}
    for download in needed:
        host = urlsplit(download.source).hostname or "by hand"
        sizes.setdefault(host, []).append(download.size or 0)
    return ", ".join(
        f"{host} ({counted(len(of), 'file')}, {size_text(sum(of) or None)})"
        for host, of in sizes.items()
    )


@contextmanager
def reading(dataset_id: str, part: str) -> Iterator[None]:
    """Announce the downloads of a part before it is read, and explain it when they fail.

    Raises:
        InputError: it is so large that it has to be asked for, or a file of it is damaged.
        PlatformError: the part could not be read.
    """
    from ir_datasets.util import home_path

    quieten()
    needed = what_would_be_downloaded(dataset_id, [part])
    refuse_large(needed, dataset_id)
    if needed:
        notice(f"ir_datasets downloads {summary(needed)} to {home_path()}")
    try:
        with refusing_damage(dataset_id, part):
            yield
    except FAILURES as error:
        reason = type(error).__name__
        if not needed:
            raise PlatformError(
                f"ir_datasets cannot read the {part} of '{dataset_id}' ({reason}: {error}). Its "
                f"copy under {home_path()} may be damaged: remove it and run this again."
            ) from error
        places = [f"{d} at {d.path}" if d.path else str(d) for d in needed]
        raise PlatformError(
            f"ir_datasets cannot get the {part} of '{dataset_id}' ({reason}). Run this again with "
            f"a network, or put there by hand: {'; '.join(places)}."
        ) from error


def quieten() -> None:
    """Keep ir_datasets' messages about its retries from the user."""
    logging.getLogger("ir_datasets").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a message of ir_datasets is for the user: terms of use are, its retries are not."""
    return not record.getMessage().startswith(_CHATTER)
