"""The judgments of a pool while they are made: `judgments.sqlite` in the pool's folder.

`history` has a line for every click, and lines are only appended. A line says how a person's
judgment of a document stands from then on; an undone judgment goes back to what it was before. Each
line is flushed to the disk (write-ahead log, `synchronous=FULL`) before `judge` returns.

One process writes, others may read.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, disk_fault
from irplatform.files.writing import lock_open, to_disk, writable_file
from irplatform.judging.judgments import ADJUDICATED, PERSON, Judgment, Source, now

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "judgments.sqlite"
_LOCK = ".judging.lock"
_FORMAT = "1"
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS history (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  topic TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
  judged INTEGER NOT NULL, grade INTEGER, note TEXT NOT NULL, time TEXT NOT NULL,
  undoes INTEGER UNIQUE, request TEXT NOT NULL UNIQUE);
CREATE INDEX IF NOT EXISTS by_document ON history (topic, document, name, version, number);
CREATE INDEX IF NOT EXISTS by_name ON history (name, version, number);
CREATE TRIGGER IF NOT EXISTS no_change BEFORE UPDATE ON history
  BEGIN SELECT RAISE(ABORT, 'lines of the history stay as they are'); END;
CREATE TRIGGER IF NOT EXISTS no_removal BEFORE DELETE ON history
  BEGIN SELECT RAISE(ABORT, 'lines of the history stay as they are'); END;
"""
_COLUMNS = "number, topic, document, name, version, judged, grade, note, time"
_KEY = "topic = ? AND document = ? AND name = ? AND version = ?"
_LATEST = (
    f"SELECT {_COLUMNS} FROM history WHERE judged AND number IN "
    "(SELECT MAX(number) FROM history {} GROUP BY topic, document, name, version) "
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the history: how a person's judgment of a document stands from then on.

    Attributes:
        number: of the line, ascending.
        judged: False if the person no longer judges the document; its grade is None then.
        judgment: the judgment, without the pool's id.
    """

    number: int
    judged: bool
    judgment: Judgment

    @property
    def adjudicates(self) -> bool:
        """Whether the line settles a difference between others."""
        return self.judgment.source.version == ADJUDICATED

    def as_json(self) -> dict[str, object]:
        """Return how the judgment stands, for the page."""
        told = {name: getattr(self.judgment, name) for name in ("grade", "note", "time")}
        return {"number": self.number, **told}


class ConflictError(Exception):
    """A judgment was changed elsewhere since it was shown; `line` is how it stands, or None."""

    def __init__(self, line: Line | None) -> None:
        super().__init__("this judgment was changed elsewhere since it was shown.")
        self.line = line


class Store:
    """The judgments of a pool; made by `Store.open`, and called from one thread at a time."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database

    @classmethod
    @contextmanager
    def open(cls, folder: Path, pool: str) -> Iterator[Store]:
        """Open the judgments in a pool's folder, for writing by this process alone.

        Args:
            folder: the pool's folder.
            pool: the pool's id.

        Raises:
            InputError: another process writes them, they belong to another pool, or the file
                cannot be read or written.
        """
        path = folder / FILE
        with _alone(folder), _explained(path), _connected(path) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_TABLES)
            store = cls(path, database)
            if store.setting("format", _FORMAT) != _FORMAT:
                raise InputError("another version of the platform wrote this.", path=path)
            if store.setting("pool", pool) != pool:
                raise InputError(
                    "these are judgments of another pool: pool.json has another id. Put them back "
                    "where they were made.",
                    path=path,
                )
            yield store

    def setting(self, name: str, value: str) -> str:
        """Return a setting that the file has; if it has none, write this one."""
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))
        return str(self._one("SELECT value FROM about WHERE name = ?", name)[0])

    def write_setting(self, name: str, value: str) -> None:
        """Write a setting."""
        with self._database:
            self._database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def judge(
        self,
        topic: str,
        document: str,
        source: Source,
        grade: int | None,
        *,
        note: str = "",
        seen: int = 0,
        request: str,
    ) -> Line:
        """Write a judgment to the disk; the same request twice is one.

        Args:
            topic: the topic's id.
            document: the document's id.
            source: the person.
            grade: None for "cannot tell".
            note: a remark.
            seen: the number of the judgment that the person saw and replaces; 0 for none.
            request: identifies the click.

        Raises:
            ConflictError: the judgment is not the one that was seen.
        """
        with self._transaction():
            if done := self._of_request(request):
                return done
            before = self.standing(topic, document, source)
            if (before.number if before else 0) != seen:
                raise ConflictError(before)
            return self._append((topic, document, source, 1, grade, note), None, request)

    def undo(self, source: Source, request: str) -> Line | None:
        """Take back a person's last judgment that was not taken back; None if there is none.

        Returns:
            The line by which the judgment stands as before; `judged` is False if there was none.
        """
        with self._transaction():
            if done := self._of_request(request):
                return done
            last = self._line(
                "WHERE name = ? AND version = ? AND undoes IS NULL AND NOT EXISTS "
                "(SELECT 1 FROM history AS later WHERE later.undoes = history.number) "
                "ORDER BY number DESC LIMIT 1",
                *(source.name, source.version),
            )
            if last is None:
                return None
            topic, document = last.judgment.topic, last.judgment.document
            key = (topic, document, source.name, source.version)
            before = self._line(
                f"WHERE {_KEY} AND number < ? ORDER BY number DESC LIMIT 1", *key, last.number
            )
            judged = before is not None and before.judged
            grade, note = (before.judgment.grade, before.judgment.note) if before else (None, "")
            state = (topic, document, source, int(judged), grade, note)
            return self._append(state, last.number, request)

    def of_topic(self, topic: str) -> list[Line]:
        """Return the judgments of a topic as they stand, in the order in which they were made."""
        query = _LATEST.format("WHERE topic = ?") + "ORDER BY number"
        return [_line(row) for row in self._database.execute(query, (topic,))]

    def of_document(self, topic: str, document: str) -> list[Line]:
        """Return the judgments of a document as they stand."""
        query = _LATEST.format("WHERE topic = ? AND document = ?") + "ORDER BY number"
        return [_line(row) for row in self._database.execute(query, (topic, document))]

    def standing(self, topic: str, document: str, source: Source) -> Line | None:
        """Return how a person's judgment stands; an adjudication may be another person's."""
        lines = [
            line
            for line in self.of_document(topic, document)
            if line.judgment.source == source
            or (line.adjudicates and source.version == ADJUDICATED)
        ]
        return lines[-1] if lines else None

    def counts(self) -> dict[str, int]:
        """Return the number of documents of each topic that somebody has judged."""
        query = (
            "SELECT topic, COUNT(DISTINCT document) FROM "
            f"({_LATEST.format('')}) WHERE version = '' GROUP BY topic"
        )
        return dict(self._database.execute(query).fetchall())

    def names(self) -> list[str]:
        """Return the names of all who have judged."""
        return [name for (name,) in self._database.execute("SELECT DISTINCT name FROM history")]

    def grades(self) -> set[int]:
        """Return the grades that documents have."""
        query = f"SELECT DISTINCT grade FROM ({_LATEST.format('')}) WHERE grade IS NOT NULL"
        return {grade for (grade,) in self._database.execute(query)}

    def differences(self) -> list[tuple[str, str]]:
        """Return topic and document where people differ and nobody has settled it."""
        query = (
            "SELECT topic, document FROM (SELECT topic, document FROM history "
            "GROUP BY topic, document HAVING COUNT(DISTINCT name) > 1) "
            "JOIN history AS line USING (topic, document) WHERE judged AND number = "
            "(SELECT MAX(number) FROM history AS later WHERE later.topic = line.topic AND "
            "later.document = line.document AND later.name = line.name AND "
            "later.version = line.version) GROUP BY topic, document HAVING MAX(version) = '' AND "
            "COUNT(DISTINCT COALESCE(grade, '?')) > 1 ORDER BY topic, MIN(number)"
        )
        return self._database.execute(query).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _explained(self.path), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def _append(
        self,
        state: tuple[str, str, Source, int, int | None, str],
        undoes: int | None,
        request: str,
    ) -> Line:
        topic, document, source, *rest = state
        self._database.execute(
            "INSERT INTO history (topic, document, name, version, judged, grade, note, time, "
            "undoes, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (topic, document, source.name, source.version, *rest, now(), undoes, request),
        )
        made = self._of_request(request)
        assert made is not None
        return made

    def _of_request(self, request: str) -> Line | None:
        return self._line("WHERE request = ?", request)

    def _line(self, where: str, *values: str | int) -> Line | None:
        row = self._one(f"SELECT {_COLUMNS} FROM history {where}", *values)
        return _line(row) if row else None

    def _one(self, query: str, *values: str | int) -> tuple[object, ...]:
        return self._database.execute(query, values).fetchone() or ()


def stored_judgments(folder: Path) -> Iterator[Judgment]:
    """Yield the judgments of a pool as they stand, by topic and document, also while they are made.

    Raises:
        InputError: nobody has judged the pool yet, or the file cannot be read.
    """
    with _reading(folder) as database:
        (pool,) = database.execute("SELECT value FROM about WHERE name = 'pool'").fetchone()
        query = _LATEST.format("") + "ORDER BY topic, document, number"
        for row in database.execute(query):
            yield replace(_line(row).judgment, pool=pool)


def stored_grades(folder: Path) -> dict[int, str]:
    """Return the grades that people judge a pool by, with definitions; none before they do."""
    if not (folder / FILE).exists():
        return {}
    with _reading(folder) as database:
        row = database.execute("SELECT value FROM about WHERE name = 'grades'").fetchone()
    return {int(grade): told for grade, told in json.loads(row[0] if row else "{}").items()}


def back_up(folder: Path, path: Path) -> None:
    """Write a copy of a pool's judgments, history included, also while they are made."""
    place = writable_file(path).parent
    with _reading(folder) as database, TemporaryDirectory(dir=place, prefix=".backup.") as scratch:
        whole = Path(scratch, path.name)
        with _connected(whole) as copy:
            database.backup(copy)
        to_disk(whole)
        whole.replace(path)


@contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / FILE
    if not path.exists():
        raise InputError("nobody has judged this pool yet.", path=folder)
    with _explained(path), _connected(f"{path.absolute().as_uri()}?mode=ro") as database:
        yield database


def _connected(name: Path | str) -> AbstractContextManager[sqlite3.Connection]:
    is_uri = str(name).startswith("file:")
    return closing(sqlite3.connect(name, uri=is_uri, check_same_thread=False))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from writing; the system drops the lock with the process."""
    path = folder / _LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}.", path=path) from error
    try:
        try:
            lock_open(handle)
        except BlockingIOError as error:
            raise InputError(
                "this pool is being judged in another process. Open its page, or end it first.",
                path=folder,
            ) from error
        except OSError:
            pass  # this file system locks no files
        yield
    finally:
        os.close(handle)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if disk_fault(error):
            raise
        raise InputError(f"cannot be read or written: {error}.", path=path) from error


def _line(row: Sequence[Any]) -> Line:
    number, topic, document, name, version, judged, grade, note, time = row
    source = Source(PERSON, name, version)
    judgment = Judgment(topic, document, grade, source, time, note=note)
    return Line(number, bool(judged), judgment)
