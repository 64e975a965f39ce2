"""The knowledge bases under `$IRPLATFORM_HOME/kb`: which there are, and opening them.

Each has a folder with a manifest and the SQLite file that the manifest names. The file's name
carries the fingerprint of all that it was made from, so that replacing the manifest replaces the
knowledge base at once; whoever has the old file open goes on reading it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from irplatform import cache
from irplatform.errors import InputError, did_you_mean
from irplatform.json_io import read_own_json
from irplatform.knowledge.builder import VERSION
from irplatform.knowledge.store import KnowledgeBase
from irplatform.knowledge.union import Knowledge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
"""What a knowledge base can be called."""
_PRECEDENCE = (
    "mesh", "doid", "hgnc", "civic", "dgidb", "drugs", "pharmacotherapydb", "hetionet",
    "mesh-xrefs", "umls",
)  # fmt: skip
"""Their order of precedence where several know one thing: those that repeat what others say last.
Fingerprints of concept graphs depend on it."""


@dataclass(frozen=True)
class Manifest:
    """What an installed knowledge base was made from, and what is in it.

    Attributes:
        name: under which it was added.
        fingerprint: of its files' content, their formats, and the version.
        version: of the SQLite file's format and of the importers.
        sources: its files: name, SHA-256, format.
        counts: concepts, names and relations, each by kind.
        bytes: the SQLite file's size.
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
        """Whether the file is there, as large as it was, and of the version that is read here."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return False
        return self.version == VERSION and self.bytes == size

    def total(self, what: str) -> int:
        """How many concepts, names or relations there are."""
        return sum(self.counts.get(what, {}).values())


def folder() -> Path:
    """Where knowledge bases lie."""
    return cache.home() / "kb"


def installed() -> dict[str, Manifest]:
    """The knowledge bases that were added, by name.

    Raises:
        InputError: a manifest was changed into something else.
    """
    names = sorted(path.parent.name for path in folder().glob(f"*/{cache.MANIFEST}"))
    manifests = ((name, manifest_of(name)) for name in names)
    return {name: manifest for name, manifest in manifests if manifest is not None}


def all_installed() -> tuple[str, ...]:
    """The names of all that were added, in order of precedence; the user's own last."""
    names = installed()
    ranked = [name for name in _PRECEDENCE if name in names]
    return (*ranked, *sorted(set(names) - set(ranked)))


def manifest_of(name: str) -> Manifest | None:
    """What is known of an installed knowledge base; None where there is none of that name.

    Raises:
        InputError: the manifest was changed into something else.
    """
    if not NAME.fullmatch(name):
        return None
    path = folder() / name / cache.MANIFEST
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
    """Read knowledge bases as one.

    Those that were opened last stay open: features and queries ask for them topic by topic.

    Args:
        names: of installed ones; the first takes precedence where they differ.

    Raises:
        InputError: one of them is not installed.
    """
    return _opened(tuple(_usable(name) for name in dict.fromkeys(names)))


def not_installed(name: str, hint: str = "") -> InputError:
    """An error for a knowledge base that was not added.

    Args:
        name: as it was given.
        hint: how to add it, as sentences; without one, only what is installed can be meant.
    """
    from irplatform.knowledge.catalogue import SOURCES

    manifests = installed()
    guess = "" if name in SOURCES else did_you_mean(name, {*manifests, *(SOURCES if hint else ())})
    return InputError(
        f"the knowledge base '{name}' is not installed.{guess and ' ' + guess} Installed: "
        f"{', '.join(manifests) or 'none'}.{hint and ' ' + hint}"
    )


def _usable(name: str) -> tuple[str, Path, str]:
    """Name, file and fingerprint of an installed knowledge base; other ones once it is replaced."""
    manifest = manifest_of(name)
    if manifest is None:
        raise not_installed(
            name,
            f"`platform kb add {name} FILE` adds it; `platform kb list` says where each is "
            "published.",
        )
    if not manifest.is_usable:
        raise InputError(
            f"the knowledge base '{name}' was added by another version of the platform, or its "
            f"file is gone or damaged. Add it again with `platform kb add {name} FILE`."
        )
    return name, manifest.path, manifest.fingerprint


@lru_cache(maxsize=4)
def _opened(usable: tuple[tuple[str, Path, str], ...]) -> Knowledge:
    return Knowledge([KnowledgeBase(name, path, mark) for name, path, mark in usable])
