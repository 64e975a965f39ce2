"""The knowledge bases under `$IRPLATFORM_HOME/kb`: listed, opened, added, replaced and removed.

Each has a folder with a manifest and the SQLite file that the manifest names. The file's name is
the fingerprint of its sources, so a new manifest replaces the knowledge base at once. Changes are
made under a lock.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import ChangedFileError, InputError, did_you_mean
from irplatform.files.cache import MANIFEST, fetch_file
from irplatform.files.digests import file_digest, fingerprint
from irplatform.files.formats import read_own_json
from irplatform.files.reading import readable_again, reporting_reads
from irplatform.files.writing import home, to_disk, write_json
from irplatform.knowledge.store import VERSION, Builder, KnowledgeBase
from irplatform.knowledge.union import Knowledge
from irplatform.system.console import notice, progress, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.knowledge.formats.reading import Format
    from irplatform.knowledge.model import ConceptKind


NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_EMPTY = "there is no concept or relation in it."
_PRECEDENCE = (
    "mesh", "doid", "hgnc", "civic", "dgidb", "drugs", "pharmacotherapydb", "hetionet",
    "mesh-xrefs", "umls",
)  # fmt: skip
"""Their order of precedence, where several have one concept; those that repeat others come last.
Fingerprints of concept graphs depend on it."""
_lent: dict[str, Manifest] | None = None
"""In a worker for another machine: the knowledge bases of that."""


@dataclass(frozen=True)
class Manifest:
    """The sources and the content of an installed knowledge base.

    The fingerprint is of its files' content, their formats, and the version; `counts` has concepts,
    names and relations by kind, `bytes` the size of the SQLite file.
    """

    name: str
    fingerprint: str
    version: int
    sources: list[dict[str, str]]
    counts: dict[str, dict[str, int]]
    bytes: int

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return folder() / self.name / f"{self.fingerprint}.sqlite"

    @property
    def is_usable(self) -> bool:
        """Return whether the file exists with its size and the current version."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return False
        return self.version == VERSION and self.bytes == size

    def is_sound(self) -> bool:
        """Return whether the file can be read."""
        return self.is_usable and KnowledgeBase(self.name, self.path, self.fingerprint).is_sound()

    def total(self, kind: str) -> int:
        """The number of "concepts", "names" or "relations"."""
        return sum(self.counts.get(kind, {}).values())


def lend(manifests: Mapping[str, Manifest]) -> None:
    """Use these knowledge bases in this process, those of the machine that it works for."""
    global _lent  # noqa: PLW0603 - for all threads
    _lent = dict(manifests)


def folder() -> Path:
    """The folder of all knowledge bases."""
    return home() / "kb"


def installed() -> dict[str, Manifest]:
    """The knowledge bases that were added, by name."""
    if _lent is not None:
        return dict(_lent)
    names = sorted(path.parent.name for path in folder().glob(f"*/{MANIFEST}"))
    manifests = ((name, manifest_of(name)) for name in names)
    return {name: manifest for name, manifest in manifests if manifest is not None}


def all_installed() -> tuple[str, ...]:
    """The names of all that were added, in order of precedence, with the user's own last."""
    names = installed()
    ranked = [name for name in _PRECEDENCE if name in names]
    return (*ranked, *sorted(set(names) - set(ranked)))


def manifest_of(name: str) -> Manifest | None:
    """The manifest of an installed knowledge base; None for another name."""
    if _lent is not None or not NAME.fullmatch(name):
        return (_lent or {}).get(name)
    path = folder() / name / MANIFEST
    try:
        return Manifest(**read_own_json(path))
    except FileNotFoundError:
        return None
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            "this manifest was changed, or another version wrote it. Run `platform kb remove "
            f"{name}` and add it again.",
            path=path,
        ) from error


def open_knowledge(names: Sequence[str]) -> Knowledge:
    """Open installed knowledge bases as one; the first takes precedence where they differ."""
    return _opened(tuple(_usable(name) for name in dict.fromkeys(names)))


def not_installed(name: str, hint: str = "") -> InputError:
    """The error for a knowledge base that was not added."""
    from irplatform.knowledge.catalogue import SOURCES

    manifests = installed()
    guess = "" if name in SOURCES else did_you_mean(name, {*manifests, *(SOURCES if hint else ())})
    return InputError(
        f"the knowledge base '{name}' is not installed.{guess and ' ' + guess} Installed: "
        f"{', '.join(manifests) or 'none'}.{hint and ' ' + hint}"
    )


def _usable(name: str) -> tuple[str, Path, str]:
    """Name, file and fingerprint of an installed knowledge base."""
    manifest = manifest_of(name)
    if manifest is None:
        hint = f"`platform kb add {name} FILE` adds it; `platform kb list` shows where to get it."
        raise not_installed(name, hint)
    fetch_file(manifest.path)
    if not manifest.is_usable:
        raise InputError(
            f"the knowledge base '{name}' was added by another version of the platform, or its "
            f"file is gone or damaged. Add it again with `platform kb add {name} FILE`."
        )
    return name, manifest.path, manifest.fingerprint


@lru_cache(maxsize=4)
def _opened(usable: tuple[tuple[str, Path, str], ...]) -> Knowledge:
    return Knowledge([KnowledgeBase(name, path, mark) for name, path, mark in usable])


def add(
    name: str,
    paths: Sequence[Path],
    format_name: str | None = None,
    kinds: Mapping[str, ConceptKind] | None = None,
    more_formats: Sequence[Format] = (),
) -> Manifest:
    """Add a knowledge base from its files, or replace it, unless the same files were added before.

    The format is recognized by default, also among `more_formats` of plugins. `kinds` has those of
    an ontology's terms by prefix (CHEBI), "" for all others.

    Raises:
        InputError: the name is not allowed, or the format of a file is unknown.
    """
    from irplatform.knowledge import catalogue

    if name == "none" or not NAME.fullmatch(name):
        raise InputError(
            f"'{name}' cannot be a name: use lower-case letters, digits, '-', '_' and '.', and "
            "not 'none'."
        )
    files = [
        (path, catalogue.format_of(path, name, format_name, more_formats).with_kinds(kinds or {}))
        for path in paths
    ]
    beside = {
        path.with_name(other): file_format
        for path, file_format in files
        for other in file_format.beside
        if path.with_name(other).exists()
    }
    alone = [(path, file_format) for path, file_format in files if path not in beside]
    read = [*alone, *beside.items()]
    digests = [file_digest(readable_again(path)) for path, _ in read]
    sources = [
        {"file": path.name, "sha256": digest, "format": file_format.name}
        for digest, (path, file_format) in zip(digests, read, strict=True)
    ]
    marks = [[digest, f.mark] for digest, (_, f) in zip(digests, read, strict=True)]
    mark = fingerprint({"version": VERSION, "sources": marks})
    with _changing(name) as place:
        before = manifest_of(name)
        if before is not None and before.fingerprint == mark and before.is_sound():
            notice(f"{name} is already there, made from the same files.")
            _remove_older(place, mark)
            return before
        with sections(2) as finished:
            builder = _read(name, alone, [path for path, _ in read])
            finished(1)
            for (path, _), digest in zip(read, digests, strict=True):
                if file_digest(readable_again(path)) != digest:
                    changed = "this file changed while it was read. Add it again."
                    raise ChangedFileError(changed, path=path)
            if not builder:
                raise InputError(_EMPTY, path=", ".join(map(str, paths)))
            with tempfile.TemporaryDirectory(dir=place, prefix=".partial-") as partial:
                database = Path(partial) / "kb.sqlite"
                counts = builder.write(database)
                if before is not None and before.fingerprint != mark:
                    notice(f"{name} was made from other files and is replaced.")
                to_disk(database)  # before a manifest names it
                manifest = Manifest(name, mark, VERSION, sources, counts, database.stat().st_size)
                database.replace(manifest.path)
        write_json(place / MANIFEST, asdict(manifest))
        _remove_older(place, mark)
    return manifest


def _remove_older(place: Path, mark: str) -> None:
    for old in place.glob("*.sqlite"):
        if old.stem != mark:
            old.unlink()


def _read(name: str, sources: Sequence[tuple[Path, Format]], files: Sequence[Path]) -> Builder:
    builder = Builder()
    kilobytes = sum(readable_again(path).stat().st_size for path in files) >> 10
    with progress(f"reading {name}", kilobytes, "kB", part=1) as advance:
        rest, bytes_read = kilobytes, 0

        def count(size: int) -> None:
            nonlocal rest, bytes_read
            bytes_read += size
            more = min(rest, bytes_read >> 10)  # some formats are read twice
            rest, bytes_read = rest - more, bytes_read & 1023
            advance(more)

        with reporting_reads(count):
            records = {path: builder.extend(f.read(path)) for path, f in sources}
        builder.settle()
    if builder:
        for path in (path for path, count in records.items() if not count):
            notice(f"WARNING: {path}: {_EMPTY}")
    return builder


def remove(name: str) -> None:
    """Remove a knowledge base."""
    if not NAME.fullmatch(name) or not (folder() / name / MANIFEST).exists():
        raise not_installed(name)
    with _changing(name) as place:
        (place / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _changing(name: str) -> Iterator[Path]:
    """Lock a knowledge base and yield its folder."""
    from filelock import FileLock

    place = folder() / name
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with FileLock(folder() / f".{name}.lock"):
            place.mkdir(exist_ok=True)  # the last holder of the lock may have removed it
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
