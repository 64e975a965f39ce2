"""Adds knowledge bases to those that are installed, replaces and removes them, under a lock."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import cache, storage
from irplatform.console import notice, parts, progress
from irplatform.errors import ChangedFileError, InputError
from irplatform.knowledge.builder import VERSION, Builder
from irplatform.knowledge.installation import NAME, Manifest, folder, manifest_of, not_installed
from irplatform.knowledge.store import KnowledgeBase
from irplatform.text_files import readable_again, reading_told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.knowledge.formats.format import Format
    from irplatform.knowledge.model import ConceptKind

_NOTHING = "none"
_EMPTY = "there is not one concept or relation in it."


def add(
    name: str,
    paths: Sequence[Path],
    format_name: str | None = None,
    kinds: Mapping[str, ConceptKind] | None = None,
    more_formats: Sequence[Format] = (),
) -> Manifest:
    """Add a knowledge base from its files, or replace it.

    Args:
        name: a name of `catalogue.SOURCES`, or one's own.
        paths: its files.
        format_name: the format of all of them; found out by default.
        kinds: of an ontology's terms by prefix (CHEBI), "" for all others; known by default.
        more_formats: formats beside the platform's own, as plugins register them.

    Returns:
        What was made. When the same files were added before, nothing is done.

    Raises:
        InputError: the name cannot be one, or a file is not in a format that is known. Nothing is
            changed then.
    """
    from irplatform.knowledge import catalogue

    if name == _NOTHING:
        raise InputError(f"'{name}' cannot be a name: --expand {name} means no knowledge base.")
    if not NAME.fullmatch(name):
        raise InputError(
            f"'{name}' cannot be a name: use lower-case letters, digits, '-', '_' and '.'."
        )
    formats = [
        catalogue.format_of(path, name, format_name, more_formats).with_kinds(kinds or {})
        for path in paths
    ]
    named = [*zip(paths, formats, strict=True)]
    beside = {
        path.with_name(other): file_format
        for path, file_format in named
        for other in file_format.beside
        if path.with_name(other).exists()
    }
    alone = [(path, file_format) for path, file_format in named if path not in beside]
    read = [*alone, *beside.items()]
    sources = [
        {
            "file": path.name,
            "sha256": storage.file_digest(readable_again(path)),
            "format": file_format.name,
        }
        for path, file_format in read
    ]
    depends_on = {
        "version": VERSION,
        "sources": [
            [source["sha256"], file_format.mark]
            for source, (_, file_format) in zip(sources, read, strict=True)
        ],
    }
    mark = storage.fingerprint(depends_on)
    with _changing(name) as place:
        before = manifest_of(name)
        if before is not None and before.fingerprint == mark and _is_sound(before):
            notice(f"{name} is already there, from the same files.")
            return before
        with parts(2) as finished:
            builder = _read(name, alone, [path for path, _ in read])
            finished(1)
            for (path, _), source in zip(read, sources, strict=True):
                if storage.file_digest(readable_again(path)) != source["sha256"]:
                    raise ChangedFileError(
                        "this file was changed while it was read. Add it again.", path=path
                    )
            if not builder:
                raise InputError(_EMPTY, path=", ".join(map(str, paths)))
            with tempfile.TemporaryDirectory(dir=place, prefix=".partial-") as partial:
                database = Path(partial) / "kb.sqlite"
                counts = builder.write(database)
                if before is not None and before.fingerprint != mark:
                    notice(f"{name} was there, from other files: it is replaced.")
                storage.to_disk(database)  # before a manifest says that it is there
                manifest = Manifest(name, mark, VERSION, sources, counts, database.stat().st_size)
                database.replace(manifest.path)
        storage.write_json(place / cache.MANIFEST, asdict(manifest))
        for old in place.glob("*.sqlite"):
            if old.stem != mark:
                old.unlink()
    return manifest


def _read(name: str, sources: Sequence[tuple[Path, Format]], files: Sequence[Path]) -> Builder:
    """All that sources have, with a display of how much of the files is read."""
    builder = Builder()
    kilobytes = sum(readable_again(path).stat().st_size for path in files) >> 10
    with progress(f"reading {name}", kilobytes, "kB", part=1) as advance:
        left, bytes_read = kilobytes, 0

        def tell(size: int) -> None:
            nonlocal left, bytes_read
            bytes_read += size
            more = min(left, bytes_read >> 10)  # some formats are read twice
            left, bytes_read = left - more, bytes_read & 1023
            advance(more)

        with reading_told(tell):
            records = {path: builder.extend(f.read(path)) for path, f in sources}
        builder.settle()
    if builder:
        for path in (path for path, count in records.items() if not count):
            notice(f"WARNING: {path}: {_EMPTY}")
    return builder


def _is_sound(manifest: Manifest) -> bool:
    if not manifest.is_usable:
        return False
    try:
        return KnowledgeBase(manifest.name, manifest.path, manifest.fingerprint).is_sound()
    except InputError:
        return False


def remove(name: str) -> None:
    """Remove a knowledge base.

    Raises:
        InputError: there is none of that name.
    """
    if not NAME.fullmatch(name) or not (folder() / name / cache.MANIFEST).exists():
        raise not_installed(name)
    with _changing(name) as place:
        (place / cache.MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _changing(name: str) -> Iterator[Path]:
    """Keep other processes from changing a knowledge base; yields its folder."""
    from filelock import FileLock

    place = folder() / name
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with FileLock(folder() / f".{name}.lock"):
            place.mkdir(exist_ok=True)  # who had the lock before may have removed it
            for debris in place.glob(".partial-*"):  # of a process that was killed
                shutil.rmtree(debris, ignore_errors=True)
            try:
                yield place
            finally:
                with suppress(OSError):
                    place.rmdir()  # empty: nothing came of it
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError(
            f"the cache cannot be written to: {error.strerror}. Set IRPLATFORM_HOME to a folder "
            "that can.",
            path=place,
        ) from error
