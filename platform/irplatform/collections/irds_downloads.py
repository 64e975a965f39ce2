"""Downloads of ir_datasets: what is missing, announced before it is fetched, and explained errors.

The library keeps its downloads inside the readers of a dataset's parts, which are searched for
missing files. Small files are fetched after a notice. The user must ask for gigabytes: `platform
collections download`. The library compares MD5 sums and keeps files under `$IR_DATASETS_HOME`.
"""

from __future__ import annotations

import logging
import os
import pickle
import shutil
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from lz4.block import LZ4BlockError

from irplatform.errors import InputError, PlatformError, counted, in_a_line
from irplatform.system.console import notice, progress, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PARTS = ("docs", "queries", "qrels")
SCORED = "scoreddocs"
"""The part of candidates, which few experiments need."""
FAILURES = (OSError, RuntimeError, EOFError)
"""Errors of a download: no network (requests' errors are OSErrors), a wrong checksum or no mirror
left, and a password prompt that cannot be answered."""
_DAMAGE = (ValueError, zlib.error, zipfile.BadZipFile, pickle.UnpicklingError, LZ4BlockError)
"""Errors of damaged files, which the library lets through: of zip, pickle, JSON."""
LARGE = 500_000_000
"""Bytes of a download that the user must ask for; a smaller one is announced and done."""
_NO_BAR = "IR_DATASETS_DL_DISABLE_PBAR"
_CHATTER = ("download error", "Download failed", "[starting]", "[finished]", "[error]", "Opening ")


@dataclass(frozen=True)
class Download:
    """A missing file: its URL, or "" and instructions, its bytes, and where the user can put it."""

    source: str
    size: int | None
    path: Path | None
    instructions: str = ""

    def __str__(self) -> str:
        return f"{self.source or self.instructions} ({size_text(self.size)})"


def what_would_be_downloaded(dataset_id: str, parts: Iterable[str] = PARTS) -> list[Download]:
    """The files that reading parts of a dataset would download."""
    return [download for download, _ in missing_downloads([dataset_id], parts)]


def missing_downloads(
    dataset_ids: Iterable[str], parts: Iterable[str] = PARTS
) -> list[tuple[Download, Any]]:
    """The same for several datasets, each file once, with ir_datasets' own object."""
    missing: dict[str, tuple[Download, Any]] = {}
    for dataset_id in dataset_ids:
        for file in _missing(_readers(dataset_id, parts)):
            download = described(file)
            missing.setdefault(download.source or download.instructions, (download, file))
    return list(missing.values())


def fetch(dataset_ids: Iterable[str], parts: Iterable[str] = PARTS) -> int:
    """Download all missing files of datasets, keeping each that is whole; return their number.

    Raises:
        InputError: a file cannot be downloaded, or the disk is too small.
        PlatformError: a download failed.
    """
    from ir_datasets.util import home_path

    missing = missing_downloads(dataset_ids, parts)
    needed = [download for download, _ in missing]
    if by_hand := next((download for download in needed if not download.source), None):
        place = f" and put it at {by_hand.path}" if by_hand.path else ""
        raise InputError(f"a file cannot be downloaded: {by_hand.instructions}{place}.")
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
            with steps("file", len(missing), fetched), show_progress(file):
                file.path()
        except FAILURES as error:
            PlatformError.raise_refusal(error)
            raise PlatformError(
                f"{download.source} could not be downloaded ({type(error).__name__}). "
                f"{fetched} of {len(needed)} files are here; the same command fetches the others."
            ) from error
    return len(missing)


def missing_file(context: str, name: str) -> Download | None:
    """The download that `fetch_file` would make; None if the file is there."""
    download = _listed_download(context, name)
    return None if is_there(download) else described(download)


def fetch_file(context: str, name: str, *, instead: str) -> Path:
    """A single file of ir_datasets' list, downloaded with a notice if it is not there."""
    from ir_datasets.util import home_path

    download = _listed_download(context, name)
    if needed := missing_file(context, name):
        quieten()
        notice(f"ir_datasets downloads {needed} to {home_path()}")
    try:
        with show_progress(download):
            return Path(download.path())
    except FAILURES as error:
        PlatformError.raise_refusal(error)
        place = f"put it at {needed.path} by hand, " if needed and needed.path else ""
        raise PlatformError(
            f"ir_datasets cannot get {needed or name} ({type(error).__name__}). Run this again "
            f"with a network, {place}or {instead}."
        ) from error


@contextmanager
def reading(dataset_id: str, part: str) -> Iterator[None]:
    """Announce the downloads of a part before it is read, and explain errors."""
    from ir_datasets.util import home_path

    quieten()
    missing = missing_downloads([dataset_id], [part])
    needed = [download for download, _ in missing]
    refuse_large(needed, dataset_id)
    if needed:
        notice(f"ir_datasets downloads {summary(needed)} to {home_path()}")
    try:
        with ExitStack() as stack:
            for _, file in missing:
                stack.enter_context(show_progress(file))
            yield
    except (*FAILURES, *_DAMAGE) as error:
        PlatformError.raise_refusal(error)
        if not needed or not isinstance(error, FAILURES):
            raise InputError(
                f"ir_datasets cannot read the {part} of '{dataset_id}' ({in_a_line(error)}). A "
                "file in this folder is damaged: remove the folder and run this again.",
                path=home_path() / dataset_id.partition("/")[0],
            ) from error
        places = [f"{d} at {d.path}" if d.path else str(d) for d in needed]
        raise PlatformError(
            f"ir_datasets cannot get the {part} of '{dataset_id}' ({type(error).__name__}). Run "
            f"this again with a network, or put there by hand: {'; '.join(places)}."
        ) from error


@contextmanager
def show_progress(file: Any) -> Iterator[None]:
    """Show how much of a file of ir_datasets is here while it is downloaded, as our own progress.

    The library's bar for each download is switched off meanwhile.
    """
    from ir_datasets.util import LocalDownload

    mirrors, before = file.mirrors, os.environ.get(_NO_BAR)
    os.environ[_NO_BAR] = "true"
    file.mirrors = [
        mirror if isinstance(mirror, LocalDownload) else _CountingSource(mirror, file._size_hint)
        for mirror in mirrors
    ]
    try:
        yield
    finally:
        file.mirrors = mirrors
        if before is None:
            os.environ.pop(_NO_BAR, None)
        else:
            os.environ[_NO_BAR] = before


class _CountingSource:
    """A source of a download that counts what is read of it."""

    def __init__(self, mirror: Any, size: int | None) -> None:
        self._mirror, self._size = mirror, size

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mirror, name)

    @contextmanager
    def stream(self) -> Iterator[Any]:
        total = None if self._size is None else max(1, self._size >> 10)
        name = str(getattr(self._mirror, "url", "")).rpartition("/")[2] or "a file"
        with self._mirror.stream() as stream, progress(f"fetching {name}", total, "kB") as advance:
            yield _Counted(stream, advance)


class _Counted:
    """A stream of bytes that tells how many kilobytes were read."""

    def __init__(self, stream: Any, advance: Callable[[int], None]) -> None:
        self._stream, self._advance = stream, advance
        self._bytes = 0

    def readinto(self, buffer: Any) -> int:
        count = int(self._stream.readinto(buffer))
        before, self._bytes = self._bytes >> 10, self._bytes + count
        self._advance((self._bytes >> 10) - before)
        return count


def refuse_large(needed: list[Download], name: str, hint: str = "") -> None:
    """Refuse to download more than `LARGE` bytes unless the user asks for it."""
    from ir_datasets.util import home_path

    total = sum(download.size or 0 for download in needed)
    if total < LARGE:
        return
    raise InputError(
        f"'{name}' needs {counted(len(needed), 'file')} that are not here, {size_text(total)} in "
        f"all. Nothing has been downloaded. `platform collections download {name}` fetches them "
        f"to {home_path()}.{hint}"
    )


def summary(downloads: list[Download]) -> str:
    """Number, size and sources of downloads, in a line."""
    if not downloads:
        return "nothing: all files are there"
    if len(downloads) == 1:
        return f"1 file: {downloads[0]}"
    size = size_text(sum(download.size or 0 for download in downloads) or None)
    return f"{counted(len(downloads), 'file')}, {size} in all: {', '.join(map(str, downloads))}"


def _readers(dataset_id: str, parts: Iterable[str]) -> list[Any]:
    import ir_datasets

    dataset = ir_datasets.load(dataset_id)
    try:
        return [
            getattr(dataset, f"{part}_handler")()
            for part in parts
            if dataset.has(part) and not (part == "docs" and is_stored(dataset))
        ]
    except FAILURES as error:
        PlatformError.raise_refusal(error)
        raise PlatformError(
            f"ir_datasets cannot open '{dataset_id}' without a network ({type(error).__name__})."
        ) from error


def is_stored(dataset: Any) -> bool:
    """Return whether the documents have been unpacked into the library's store."""
    from ir_datasets.formats import DocstoreBackedDocs

    handler = dataset.docs_handler()
    if isinstance(handler, DocstoreBackedDocs) or not hasattr(handler, "docs_store"):
        return False  # to ask such a store would be to fetch it
    store = handler.docs_store()
    return bool(hasattr(store, "built") and store.built())


def _missing(handlers: list[Any]) -> Iterator[Any]:
    import ir_datasets.util as irds

    ids: set[int] = set()
    waiting = handlers[::-1]
    while waiting:
        part = waiting.pop()
        if id(part) in ids:
            continue
        ids.add(id(part))
        if isinstance(part, irds.Download):
            if not is_there(part):
                yield part
        elif isinstance(part, list | tuple):
            waiting.extend(reversed(part))
        elif isinstance(part, dict):
            waiting.extend(reversed(part.values()))
        elif isinstance(part, FunctionType):
            waiting.extend(cell.cell_contents for cell in part.__closure__ or ())
        elif _is_reader(part) and not _is_unpacked(part):
            waiting.extend(reversed(vars(part).values()))


def is_there(download: Any) -> bool:
    """Return whether the file of a download is in the library's folder."""
    from ir_datasets.util import LocalDownload

    paths = [download._cache_path] if download._cache_path else []
    paths += [mirror._path for mirror in download.mirrors if isinstance(mirror, LocalDownload)]
    return any(Path(path).exists() for path in paths)


def _is_reader(part: Any) -> bool:
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, BaseScoredDocs

    # A reader can refer to other datasets, in the closure of a function: they are not part of it.
    if isinstance(part, Dataset) or not hasattr(part, "__dict__"):
        return False
    library = type(part).__module__.startswith("ir_datasets")  # or an extension of it
    return library or isinstance(part, BaseDocs | BaseQueries | BaseQrels | BaseScoredDocs)


def _is_unpacked(part: Any) -> bool:
    import ir_datasets.util as irds

    if isinstance(part, irds.Cache):
        return bool(part._path.exists())
    return isinstance(part, irds.TarExtractAll) and Path(part._extract_path).exists()


def described(download: Any) -> Download:
    """A download, by ir_datasets' own object."""
    from ir_datasets.util import LocalDownload

    source = instructions = ""
    path: Any = download._cache_path
    for mirror in download.mirrors:
        if isinstance(mirror, LocalDownload):
            instructions, path = mirror._message or "", path or mirror._path
        elif not source:
            source = str(getattr(mirror, "url", "") or getattr(mirror, "uri", ""))
    return Download(
        source,
        download._size_hint,
        Path(path) if path else None,
        "" if source else " ".join(instructions.split()),
    )


def size_text(size: int | None) -> str:
    """A number of bytes for people."""
    if size is None:
        return "size unknown"
    for unit, worth in (("GB", 1e9), ("MB", 1e6)):
        if size >= worth / 10:
            return f"{size / worth:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


def quieten() -> None:
    """Hide ir_datasets' messages about retries from the user; terms of use are shown."""
    logging.getLogger("ir_datasets").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_CHATTER)


def _listed_download(context: str, name: str) -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context(context, home_path() / context)[name]
