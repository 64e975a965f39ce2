"""Unfinished work from which the same command goes on: journals, and files that wait for others.

A journal has a line for each finished piece of long work: a checksum and a JSON object. A kill may
leave half a line, and a disk may change one. The first line that does not hold ends the journal:
what it and later lines had is computed again. Files that wait for the rest of their folder are in a
journal of their own, with their digests.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from irplatform.files.digests import file_digest
from irplatform.files.writing import atomic_write, within_home
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

SUFFIX = ".journal"
WAITING = f"waiting{SUFFIX}"
"""The journal of the files of a folder that wait for others."""
Entry = TypeVar("Entry")


def read_journal(path: Path | None, parse: Callable[[Any], Entry]) -> list[Entry]:
    """Return the entries of a journal, oldest first; it is cut off after the last sound line.

    A line for which `parse` raises KeyError, TypeError or ValueError is not sound. A notice tells
    of a line that was changed, but not of half a line at the end.
    """
    if path is None or not path.exists():
        return []
    entries, sound, is_whole = _sound_lines(path, parse)
    if not is_whole:
        notice(
            f"{within_home(path)}: line {len(entries) + 1} is damaged; what it and later lines "
            "had is computed again"
        )
    if sound < path.stat().st_size:
        os.truncate(path, sound)
    return entries


def _sound_lines(path: Path, parse: Callable[[Any], Entry]) -> tuple[list[Entry], int, bool]:
    """The entries of sound lines, their bytes, and whether all lines with an end are sound."""
    entries: list[Entry] = []
    sound = 0
    for line in path.read_bytes().split(b"\n")[:-1]:
        mark, _, content = line.partition(b" ")
        try:
            if mark != _checksum(content):
                return entries, sound, False
            entries.append(parse(orjson.loads(content)))
        except (ValueError, KeyError, TypeError):
            return entries, sound, False
        sound += len(line) + 1
    return entries, sound, True


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).hexdigest().encode()


def append_journal(path: Path | None, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append entries to a journal in an existing folder; without a path, nothing is kept."""
    if path is None:
        return
    with path.open("ab") as file:
        for entry in entries:
            content = orjson.dumps(entry)
            file.write(b"%b %b\n" % (_checksum(content), content))


def keep(path: Path, content: bytes) -> None:
    """Write a file that waits for others of its folder; `is_kept` knows it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _note(path, hashlib.sha256(content).hexdigest())
    with atomic_write(path, "wb") as file:
        file.write(content)


def keep_made(file: Path, path: Path) -> None:
    """Give a file its name, under which it waits for others of its folder."""
    _note(path, file_digest(file))
    file.replace(path)


def _note(path: Path, digest: str) -> None:
    append_journal(path.with_name(WAITING), [{"file": path.name, "digest": digest}])


def is_kept(path: Path) -> bool:
    """Return whether a file is there, and is what `keep` wrote; a notice tells if it is not."""
    if not path.is_file():
        return False
    sound = file_digest(path) in _digests(path.with_name(WAITING)).get(path.name, ())
    if not sound:
        notice(f"{within_home(path)} is damaged, and is made again")
    return sound


def _digests(journal: Path) -> dict[str, set[str]]:
    """File to its digests: after a kill, the last may be of a file that did not get its name."""
    noted: dict[str, set[str]] = {}
    for name, digest in read_journal(journal, lambda entry: (entry["file"], entry["digest"])):
        noted.setdefault(name, set()).add(digest)
    return noted


def damage_of_unfinished(path: Path) -> str | None:
    """Say what is wrong with a journal, or with those of a folder; None if nothing is."""
    journals = [path] if path.is_file() else sorted(path.rglob(f"*{SUFFIX}"))
    for journal in journals:
        entries, _, is_whole = _sound_lines(journal, lambda entry: entry)
        name = "" if journal == path else f", {journal.relative_to(path)}"
        if not is_whole:
            return f"has a damaged line, {len(entries) + 1}{name}"
        files = {entry["file"] for entry in entries} if journal.name == WAITING else ()
        for file in sorted(map(journal.with_name, files)):
            digests = {e["digest"] for e in entries if e["file"] == file.name}
            if file.is_file() and file_digest(file) not in digests:
                return f"has a damaged file, {file.relative_to(path)}"
    return None
