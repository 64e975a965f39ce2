"""What ir_datasets would download for a dataset, before it does, and what to do when it cannot.

The library keeps its downloads inside the readers of a dataset's parts. They are found by looking
through those readers; a file that lies there already, or whose content does, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from irplatform.console import notice
from irplatform.errors import PlatformError

_PARTS = ("docs", "queries", "qrels")
_FAILURES = (OSError, RuntimeError, EOFError)
"""What a download raises: no network (requests' errors are OSErrors), a wrong checksum or no
mirror left, and a password asked for where nobody can answer."""


@dataclass(frozen=True)
class Download:
    """A file that is needed and not there.

    Attributes:
        source: its URL, or "" where it has to be asked for.
        size: its size in bytes, where that is known.
        path: where it can be put by hand, if it has a place of its own.
        instructions: how to get it, where nothing can be downloaded.
    """

    source: str
    size: int | None
    path: Path | None
    instructions: str = ""

    def __str__(self) -> str:
        return f"{self.source or self.instructions} ({_megabytes(self.size)})"


def what_would_be_downloaded(dataset_id: str, parts: Iterable[str] = _PARTS) -> list[Download]:
    """The files that reading parts of a dataset would download.

    Args:
        dataset_id: an id of ir_datasets.
        parts: of "docs", "queries", "qrels".
    """
    import ir_datasets

    dataset = ir_datasets.load(dataset_id)
    handlers = [
        getattr(dataset, f"{part}_handler")()
        for part in parts
        if dataset.has(part) and not (part == "docs" and _stored(dataset))
    ]
    found = {download.source or download.instructions: download for download in _missing(handlers)}
    return list(found.values())


def summary(downloads: list[Download]) -> str:
    """Number, size and sources of downloads, in a line."""
    if not downloads:
        return "nothing: all files are there"
    known = sum(download.size or 0 for download in downloads)
    files = "1 file" if len(downloads) == 1 else f"{len(downloads)} files"
    return f"{files}, {_megabytes(known or None)}: {', '.join(map(str, downloads))}"


@contextmanager
def reading(dataset_id: str, part: str) -> Iterator[None]:
    """Announce the downloads of a part before it is read, and explain it when they fail.

    Raises:
        PlatformError: the part could not be read.
    """
    from ir_datasets.util import home_path

    needed = what_would_be_downloaded(dataset_id, [part])
    if needed:
        notice(f"ir_datasets downloads {summary(needed)} to {home_path()}")
    try:
        yield
    except _FAILURES as error:
        if not needed:
            raise PlatformError(
                f"ir_datasets cannot read the {part} of '{dataset_id}' ({_reason(error)}). Is the "
                f"copy in {home_path()} whole?"
            ) from error
        places = "; ".join(f"{d.source or d.instructions} as {d.path}" for d in needed if d.path)
        by_hand = f", or put the files there by hand: {places}" if places else ""
        raise PlatformError(
            f"ir_datasets cannot get the {part} of '{dataset_id}' ({_reason(error)}): "
            f"{summary(needed)}. Run this again with a network{by_hand}."
        ) from error


def _stored(dataset: Any) -> bool:
    """Whether the documents have been unpacked into the library's own store."""
    from ir_datasets.formats import DocstoreBackedDocs

    handler = dataset.docs_handler()
    if isinstance(handler, DocstoreBackedDocs) or not hasattr(handler, "docs_store"):
        return False  # to ask such a store would be to fetch it
    store = handler.docs_store()
    return bool(hasattr(store, "built") and store.built())


def _missing(handlers: list[Any]) -> Iterator[Download]:
    import ir_datasets.util as irds

    seen: set[int] = set()
    waiting = handlers[::-1]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, irds.Download):
            if not _is_there(part):
                yield _describe(part)
        elif isinstance(part, list | tuple):
            waiting.extend(reversed(part))
        elif isinstance(part, dict):
            waiting.extend(reversed(part.values()))
        elif isinstance(part, FunctionType):
            waiting.extend(cell.cell_contents for cell in part.__closure__ or ())
        elif type(part).__module__.startswith("ir_datasets.") and hasattr(part, "__dict__"):
            if not _is_unpacked(part):
                waiting.extend(reversed(vars(part).values()))


def _is_there(download: Any) -> bool:
    from ir_datasets.util import LocalDownload

    paths = [download._cache_path] if download._cache_path else []
    paths += [mirror._path for mirror in download.mirrors if isinstance(mirror, LocalDownload)]
    return any(Path(path).exists() for path in paths)


def _is_unpacked(part: Any) -> bool:
    import ir_datasets.util as irds

    if isinstance(part, irds.Cache):
        return bool(part._path.exists())
    return isinstance(part, irds.TarExtractAll) and Path(part._extract_path).exists()


def _describe(download: Any) -> Download:
    from ir_datasets.util import LocalDownload

    source, instructions, path = "", "", download._cache_path
    for mirror in download.mirrors:
        if isinstance(mirror, LocalDownload):
            instructions, path = mirror._message or "", path or mirror._path
        elif not source:
            source = getattr(mirror, "url", None) or getattr(mirror, "uri", "")
    return Download(
        source,
        download._size_hint,
        Path(path) if path else None,
        "" if source else " ".join(instructions.split()),
    )


def _megabytes(size: int | None) -> str:
    return "size unknown" if size is None else f"{size / 1e6:,.1f} MB"


def _reason(error: BaseException) -> str:
    return type(error).__name__
