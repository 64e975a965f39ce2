"""Files of documents that patterns name, in an order that does not depend on the file system."""

from __future__ import annotations

from glob import glob
from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


def find_files(folder: Path, patterns: Iterable[str], endings: Sequence[str]) -> list[Path]:
    """Files that patterns name, relative to a folder; a folder stands for the files in it.

    Hidden files are passed over, unless a pattern begins with a dot as they do.

    Returns:
        Each file once, in the order of the patterns; those of one pattern by their names.

    Raises:
        InputError: a pattern names no file.
    """
    files: dict[Path, None] = {}
    for pattern in patterns:
        place = folder / pattern
        if place.is_file():
            paths = [place]
        elif place.is_dir():
            paths = [path for ending in endings for path in place.glob(f"[!.]*{ending}")]
        else:
            # No pattern is wrong here; Path.glob fails for one such as "**.xml.gz".
            names = glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207
            paths = [path for name in names if (path := folder / name).is_file()]
        if not paths:
            several = place.is_dir() or any(mark in pattern for mark in "*?[")
            raise InputError(f"there {'are no files' if several else 'is no file'} {place}.")
        files.update(dict.fromkeys(sorted(paths)))
    return list(files)
