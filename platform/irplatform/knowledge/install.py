"""Adds, lists and removes knowledge bases under `$IRPLATFORM_HOME/kb`.

Each has a folder with a manifest and the SQLite file that the manifest names. The file's name
carries the fingerprint of all that it was made from, so that replacing the manifest replaces the
knowledge base at once; whoever has the old file open goes on reading it.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import artifacts, storage
from irplatform.console import notice, progress
from irplatform.errors import InputError, did_you_mean, unknown
from irplatform.knowledge.builder import VERSION, Builder
from irplatform.knowledge.store import KnowledgeBase
from irplatform.knowledge.union import Knowledge
from irplatform.text_files import readable_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_NOTHING = "none"
_PRECEDENCE = ("mesh", "doid", "hgnc", "civic", "dgidb", "drugs", "pharmacotherapydb", "hetionet")
"""Their order of precedence where several know one thing."""


@dataclass(frozen=True)
class Manifest:
    """What an installed knowledge base was made from, and what is in it.

    Attributes:
        name: under which it was added.
        fingerprint: of its files' content, their formats, and the version.
        version: of the SQLite file's format and of the importers.
        sources: its files: name, SHA-256, format.
        counts: concepts, names and relations, each by kind.
    """

    name: str
    fingerprint: str
    version: int = 0
    sources: list[dict[str, str]] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return folder() / self.name / f"{self.fingerprint}.sqlite"

    @property
    def is_usable(self) -> bool:
        """Whether the file is there, and of the version that this platform reads."""
        return self.version == VERSION and self.path.exists()

    def total(self, what: str) -> int:
        """How many concepts, names or relations there are."""
        return sum(self.counts.get(what, {}).values())


def folder() -> Path:
    """Where knowledge bases lie."""
    return artifacts.home() / "kb"


def installed() -> dict[str, Manifest]:
    """The knowledge bases that were added, by name.

    Raises:
        InputError: a manifest was changed into something else.
    """
    names = sorted(path.parent.name for path in folder().glob(f"*/{artifacts.MANIFEST}"))
    manifests = ((name, _manifest(name)) for name in names)
    return {name: manifest for name, manifest in manifests if manifest is not None}


def all_installed() -> tuple[str, ...]:
    """The names of all that were added, in order of precedence; the user's own last."""
    names = installed()
    ranked = [name for name in _PRECEDENCE if name in names]
    return (*ranked, *sorted(set(names) - set(ranked)))


def open_knowledge(names: Sequence[str]) -> Knowledge:
    """Read knowledge bases as one.

    Those that were opened last stay open: features and queries ask for them topic by topic.

    Args:
        names: of installed ones; the first takes precedence where they differ.

    Raises:
        InputError: one of them is not installed.
    """
    return _opened(tuple(_usable(name) for name in dict.fromkeys(names)))


def add(name: str, paths: Sequence[Path], format_name: str | None = None) -> Manifest:
    """Add a knowledge base from its files, or replace it.

    Args:
        name: a name of `catalogue.SOURCES`, or one's own.
        paths: its files.
        format_name: the format of all of them; found out by default.

    Returns:
        What was made. When the same files were added before, nothing is done.

    Raises:
        InputError: the name cannot be one, or a file is not in a format that is known. Nothing is
            changed then.
    """
    from irplatform.knowledge import catalogue

    if name == _NOTHING:
        raise InputError(f"'{name}' cannot be a name: --expand {name} means no knowledge base.")
    if not _NAME.fullmatch(name):
        raise InputError(
            f"'{name}' cannot be a name: use lower-case letters, digits, '-', '_' and '.'."
        )
    formats = [catalogue.format_of(path, name, format_name) for path in paths]
    sources = [
        {
            "file": path.name,
            "sha256": storage.file_digest(readable_again(path)),
            "format": file_format.name,
        }
        for path, file_format in zip(paths, formats, strict=True)
    ]
    depends_on = {
        "version": VERSION,
        "sources": [
            [source["sha256"], file_format.mark]
            for source, file_format in zip(sources, formats, strict=True)
        ],
    }
    mark = storage.fingerprint(depends_on)
    with _changing(name) as place:
        before = _manifest(name)
        if before is not None and before.fingerprint == mark and before.is_usable:
            notice(f"{name} is already there, from the same files.")
            return before
        builder = Builder()
        with progress(f"reading concepts and relations of {name}") as advance:
            for path, file_format in zip(paths, formats, strict=True):
                builder.extend(file_format.read(path), advance)
        if not builder:
            raise InputError("there is not one concept or relation in it.", path=paths[0])
        with tempfile.TemporaryDirectory(dir=place, prefix=".partial-") as partial:
            database = Path(partial) / "kb.sqlite"
            counts = builder.write(database)
            if before is not None and before.fingerprint != mark:
                notice(f"{name} was there, from other files: it is replaced.")
            manifest = Manifest(name, mark, VERSION, sources, counts)
            database.replace(manifest.path)
        storage.write_json(place / artifacts.MANIFEST, asdict(manifest))
        for old in place.glob("*.sqlite"):
            if old.stem != mark:
                old.unlink()
    return manifest


def remove(name: str) -> None:
    """Remove a knowledge base.

    Raises:
        InputError: there is none of that name.
    """
    if not _NAME.fullmatch(name) or not (folder() / name / artifacts.MANIFEST).exists():
        raise unknown("knowledge base", name, installed())
    with _changing(name) as place:
        (place / artifacts.MANIFEST).unlink(missing_ok=True)
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


def _manifest(name: str) -> Manifest | None:
    if not _NAME.fullmatch(name):
        return None
    path = folder() / name / artifacts.MANIFEST
    try:
        return Manifest(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (TypeError, ValueError) as error:
        raise InputError(
            f"this manifest was changed. Run `platform kb remove {name}` and add it again.",
            path=path,
        ) from error


def _not_installed(name: str) -> InputError:
    from irplatform.knowledge.catalogue import SOURCES

    manifests = installed()
    guess = "" if name in SOURCES else did_you_mean(name, {*manifests, *SOURCES})
    return InputError(
        f"the knowledge base '{name}' is not installed.{guess and ' ' + guess} Installed: "
        f"{', '.join(manifests) or 'none'}. `platform kb add {name} FILE` adds it; "
        "`platform kb list` says where each is published."
    )


def _usable(name: str) -> tuple[str, Path, str]:
    """Name, file and fingerprint of an installed knowledge base; other ones once it is replaced."""
    manifest = _manifest(name)
    if manifest is None:
        raise _not_installed(name)
    if not manifest.is_usable:
        raise InputError(
            f"the knowledge base '{name}' was added by another version of the platform, or its "
            f"file is gone. Add it again with `platform kb add {name} FILE`."
        )
    return name, manifest.path, manifest.fingerprint


@lru_cache(maxsize=4)
def _opened(usable: tuple[tuple[str, Path, str], ...]) -> Knowledge:
    return Knowledge([KnowledgeBase(name, path, mark) for name, path, mark in usable])
