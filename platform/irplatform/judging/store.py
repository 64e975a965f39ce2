"""The judgments of a pool while they are made: `judgments.sqlite` in the pool's folder.

`history` has a line for every click, and lines are only appended. A line says how a person's
judgment of a document stands from then on; an undone judgment goes back to what it was before. Each
line is flushed to the disk (write-ahead log, `synchronous=FULL`) before `judge` returns.

One process writes, others may read.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, disk_fault
from irplatform.files.locks import lock
from irplatform.files.writing import writable_folder
from irplatform.judging.judgments import ADJUDICATED, PERSON, Judgment, Source, now
from irplatform.judging.pool_folder import read_pool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

FILE = "judgments.sqlite"
TOKEN = "token"
"""The name of the setting that lets others in."""
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS history (
  number INTEGER PRIMARY KEY,
  topic TEXT NOT NULL, document TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
  judged INTEGER NOT NULL, grade INTEGER, note TEXT NOT NULL, time TEXT NOT NULL,
  undoes INTEGER UNIQUE, request TEXT NOT NULL UNIQUE);
CREATE INDEX IF NOT EXISTS by_document ON history (topic, document, name, version, number);
"""
_COLUMNS = "topic, document, name, version, judged, grade, note, time"
_SAME = "topic = ? AND document = ? AND name = ? AND version = ?"
_LATEST = (  # of a maximum, SQLite takes the other columns from its row
    f"(SELECT MAX(number) AS number, {_COLUMNS} FROM history {{}} "
    "GROUP BY topic, document, name, version)"
)
_STANDING = _LATEST.format("")
_OF_SEVERAL = _LATEST.format(
    "WHERE (topic, document) IN (SELECT topic, document FROM history GROUP BY topic, document "
    "HAVING MIN(name) < MAX(name))"
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
        judgment = self.judgment
        return {"number": self.number, "grade": judgment.grade, "note": judgment.note}


class ConflictError(Exception):
    """A judgment was changed elsewhere since it was shown; `line` is how it stands, or None."""

    def __init__(self, line: Line | None) -> None:
        super().__init__("This was judged elsewhere since it was shown. Judge again to change it.")
        self.line = line


class Store:
    """The judgments of a pool; made by `Store.open`, and called from one thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
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
        with lock(writable_folder(folder) / ".judging") as ownership:
            if not ownership:
                raise InputError(
                    "this pool is being judged in another process. Open its page, or end it first.",
                    path=folder,
                )
            with _opened(folder / FILE, "rwc") as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = FULL")
                database.executescript(_TABLES)
                store = cls(database)
                if store.setting("pool", pool) != pool:
                    raise InputError(
                        "these are judgments of another pool: pool.json has another id. Put them "
                        "back where they were made.",
                        path=folder / FILE,
                    )
                yield store
                with suppress(sqlite3.OperationalError):  # somebody reads it
                    database.execute("PRAGMA journal_mode = DELETE")  # one file, read anywhere

    def setting(self, name: str, value: str) -> str:
        """Return a setting that the file has; if it has none, write this one."""
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))
        query = "SELECT value FROM about WHERE name = ?"
        return str(self._database.execute(query, (name,)).fetchone()[0])

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
        if line := self._line("request = ?", request):
            return line
        before = self.standing(topic, document, source)
        if (before.number if before else 0) != seen:
            raise ConflictError(before)
        judgment = Judgment(topic, document, grade, source, now(), note=note)
        return self._append(judgment, True, None, request)

    def undo(self, source: Source, request: str) -> Line | None:
        """Take back a person's last judgment that was not taken back; None if there is none.

        Returns:
            The line by which the judgment stands as before; `judged` is False if there was none.
        """
        if line := self._line("request = ?", request):
            return line
        last = self._line(
            "name = ? AND version = ? AND undoes IS NULL AND NOT EXISTS "
            "(SELECT 1 FROM history AS later WHERE later.undoes = history.number)",
            *(source.name, source.version),
        )
        if last is None:
            return None
        key = (last.judgment.topic, last.judgment.document, source.name, source.version)
        before = self._line(f"{_SAME} AND number < ?", *key, last.number)
        if before is None:
            judgment = Judgment(*key[:2], None, source, now())
        else:
            judgment = replace(before.judgment, time=now())
        return self._append(judgment, before is not None and before.judged, last.number, request)

    def of_topic(self, topic: str) -> list[Line]:
        """Return the judgments of a topic as they stand, in the order in which they were made."""
        return [*_lines(self._database, "topic = ?", topic)]

    def of_document(self, topic: str, document: str) -> list[Line]:
        """Return the judgments of a document as they stand."""
        return [*_lines(self._database, "topic = ? AND document = ?", topic, document)]

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
            f"SELECT topic, COUNT(DISTINCT document) FROM {_STANDING} "
            "WHERE judged AND version = '' GROUP BY topic"
        )
        return dict(self._database.execute(query).fetchall())

    def grades(self) -> set[int]:
        """Return the grades that documents have."""
        query = f"SELECT DISTINCT grade FROM {_STANDING} WHERE grade IS NOT NULL"
        return {grade for (grade,) in self._database.execute(query)}

    def differences(self) -> list[tuple[str, str]]:
        """Return topic and document where people differ and nobody has settled it."""
        query = (
            f"SELECT topic, document FROM {_OF_SEVERAL} WHERE judged GROUP BY topic, document "
            "HAVING MAX(version) = '' AND COUNT(DISTINCT COALESCE(grade, '?')) > 1 "
            "ORDER BY topic, MIN(number)"
        )
        return self._database.execute(query).fetchall()

    def _append(self, judgment: Judgment, judged: bool, undoes: int | None, request: str) -> Line:
        source = judgment.source
        row = (
            *(judgment.topic, judgment.document, source.name, source.version, judged),
            *(judgment.grade, judgment.note, judgment.time, undoes, request),
        )
        with self._database:
            number = self._database.execute(
                f"INSERT INTO history ({_COLUMNS}, undoes, request) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
        assert number is not None
        return Line(number, judged, judgment)

    def _line(self, condition: str, *values: str | int) -> Line | None:
        query = (
            f"SELECT number, {_COLUMNS} FROM history WHERE {condition} ORDER BY number DESC LIMIT 1"
        )
        row = self._database.execute(query, values).fetchone()
        return _line(row) if row else None


def stored_judgments(folder: Path) -> Iterator[Judgment]:
    """Yield the judgments of a pool as they stand, by topic and document, also while they are made.

    Raises:
        InputError: nobody has judged the pool yet, or the file cannot be read.
    """
    with _reading(folder) as database:
        (pool,) = database.execute("SELECT value FROM about WHERE name = 'pool'").fetchone()
        for line in _lines(database, order="topic, document, number"):
            yield replace(line.judgment, pool=pool)


def stored_grades(folder: Path) -> dict[int, str]:
    """Return the grades that people judge a pool by, with definitions; none before they do."""
    if not (folder / FILE).exists():
        return {}
    with _reading(folder) as database:
        row = database.execute("SELECT value FROM about WHERE name = 'grades'").fetchone()
    return {int(grade): text for grade, text in json.loads(row[0] if row else "{}").items()}


def backup(folder: Path) -> bytes:
    """Return a copy of the file with a pool's judgments and their history, also while it grows.

    The copy lacks the token, which would let its readers judge.

    Raises:
        InputError: nobody has judged the pool yet, or the file cannot be read.
    """
    with _reading(folder) as database:
        database.execute("SELECT * FROM about").fetchall()  # says why a file cannot be read
        with closing(sqlite3.connect(":memory:")) as copy:
            database.backup(copy)
            copy.execute("DELETE FROM about WHERE name = ?", [TOKEN])
            copy.commit()
            copy.execute("VACUUM")  # a deleted row stays in the file without it
            return copy.serialize()


def _reading(folder: Path) -> AbstractContextManager[sqlite3.Connection]:
    if not (folder / FILE).exists():
        read_pool(folder)  # which says if it is none
        raise InputError("nobody has judged this pool yet.", path=folder)
    return _opened(folder / FILE, "ro")


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    try:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True)) as database:
            yield database
    except sqlite3.DatabaseError as error:
        if disk_fault(error):
            raise
        raise InputError(f"cannot be read or written: {error}.", path=path) from error


def _lines(
    database: sqlite3.Connection, condition: str = "TRUE", *values: str, order: str = "number"
) -> Iterator[Line]:
    """The lines by which judgments stand."""
    query = f"SELECT * FROM {_STANDING} WHERE judged AND {condition} ORDER BY {order}"
    return (_line(row) for row in database.execute(query, values))


def _line(row: tuple[Any, ...]) -> Line:
    number, topic, document, name, version, judged, grade, note, time = row
    source = Source(PERSON, name, version)
    return Line(number, bool(judged), Judgment(topic, document, grade, source, time, note=note))
