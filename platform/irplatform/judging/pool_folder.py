"""The pool: a folder with the documents to judge, and what decided them.

- `pool.tsv` has the columns `topic document stratum place`, separated by tabs, below a header with
  these names. A topic's documents are judged in the order of `place`, from 1. A document without a
  place was pooled and not drawn: a sample of its stratum stands for it. Where documents are drawn,
  those that had been judged before have the stratum 0; other pools leave them out.
- `pool.json` says what decided it: method, settings, seed, runs. `id` is a fingerprint of that.

Methods that learn from judgments add documents in rounds. Their pool grows; its id stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.data import fault
from irplatform.errors import InputError, quoted
from irplatform.files.columns import split, texts_of
from irplatform.files.formats import read_own_json
from irplatform.files.reading import blocks_of_lines, decoded, numbered_lines
from irplatform.files.writing import as_json, atomic_write
from irplatform.runs.packed import refuse_repeated
from irplatform.runs.parts import gathered, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from irplatform.files.columns import Cells, Table

    Integers = npt.NDArray[np.int64]

FACTS, LINES = "pool.json", "pool.tsv"
"""The files of a pool."""
COLUMNS = ("topic", "document", "stratum", "place")
BEFORE = 0
"""The stratum of documents that had been judged before."""
_NAMES = tuple(name.encode() for name in COLUMNS)
_HEADER = b"\t".join(_NAMES) + b"\n"
_FORM = f"Every line needs four columns, separated by tabs: {' '.join(COLUMNS)}."
_NUMBER = re.compile(rb"[0-9]{1,8}")
_KINDS = {"id": str, "method": str, "settings": dict, "seed": int, "runs": list, "rounds": list}
"""What `pool.json` has at least."""


class Item(NamedTuple):
    """A document of a topic; `place` is its place in the order of judging, 0 if it has none."""

    document: str
    stratum: int
    place: int


@dataclass(frozen=True)
class PooledRun:
    """A run that was pooled: its name, its file if it has one, and a digest of its content."""

    name: str
    path: str
    digest: str


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a pool as columns, topic after topic.

    Attributes:
        topics: the topics.
        bounds: where the lines of each begin, and the number of all lines.
        documents: packed ids, as `irplatform.files.columns` has them.
        strata: the stratum of each document.
        places: its place in the order of judging, from 1; 0 if it was not drawn.
    """

    topics: Sequence[str]
    bounds: npt.NDArray[np.intp]
    documents: Cells
    strata: Integers
    places: Integers

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents of a pool, and what decided them.

    Attributes:
        folder: the folder.
        id: a fingerprint of method, settings, seed, runs and earlier judgments.
        method: how documents were chosen.
        settings: the settings of the method.
        seed: of the order and the draws.
        runs: the pooled runs.
        rounds: number of documents that each round brought; one for a pool that does not grow.
        lines: all lines as columns.
        collection: the collection that the runs' metadata name, or "".
        judged: number of documents that had been judged before.
    """

    folder: Path
    id: str
    method: str
    settings: Mapping[str, Any]
    seed: int
    runs: Sequence[PooledRun]
    rounds: Sequence[int]
    lines: Lines
    collection: str = ""
    judged: int = 0
    _rows: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = {topic: row for row, topic in enumerate(self.lines.topics)}
        object.__setattr__(self, "_rows", rows)

    @property
    def topics(self) -> Sequence[str]:
        """The topics, in the order of the file."""
        return self.lines.topics

    @property
    def placed(self) -> int:
        """The number of documents to judge."""
        return int(np.count_nonzero(self.lines.places))

    @property
    def is_sample(self) -> bool:
        """Whether judged documents stand for others of their strata, as infNDCG and infAP need."""
        return bool(self.settings.get("strata"))

    def items(self, topic: str) -> list[Item]:
        """Return a topic's documents to judge, in the order of judging."""
        return sorted(
            (item for item in self.pooled(topic) if item.place), key=lambda item: item.place
        )

    def pooled(self, topic: str) -> list[Item]:
        """Return all documents of a topic, drawn or not, in the order of the file."""
        row = self._rows[topic]
        part = slice(self.lines.bounds[row], self.lines.bounds[row + 1])
        columns = (self.lines.strata[part].tolist(), self.lines.places[part].tolist())
        return [*map(Item, texts_of(self.lines.documents[part]), *columns)]

    @cached_property
    def strata(self) -> Mapping[str, Mapping[str, int]]:
        """Topic to document to stratum, of all pooled documents; a topic is read when asked for."""
        return _Strata(self)


class _Strata(Mapping[str, Mapping[str, int]]):
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __getitem__(self, topic: str) -> Mapping[str, int]:
        return {item.document: item.stratum for item in self._pool.pooled(topic)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool.topics)

    def __len__(self) -> int:
        return len(self._pool.topics)


def is_pool(path: Path | str) -> bool:
    """Tell if a path leads to the folder of a pool."""
    return Path(path, FACTS).is_file() and Path(path, LINES).is_file()


def read_pool(folder: Path | str) -> Pool:
    """Read a pool.

    Raises:
        InputError: the folder is no pool, a file of it cannot be read, or a line is ill-formed.
    """
    folder = Path(folder)
    if not is_pool(folder):
        raise InputError(
            f"this is no pool: a folder with {FACTS} and {LINES}, as `platform qrels pool` writes "
            "it.",
            path=folder,
        )
    facts = read_own_json(folder / FACTS)
    wrong = [n for n, kind in _KINDS.items() if not isinstance(_held(facts, n), kind)]
    if wrong:
        raise InputError(f"'{wrong[0]}' is missing, or not what it should be.", path=folder / FACTS)
    try:
        runs = [PooledRun(run["name"], run["path"], run["digest"]) for run in facts["runs"]]
    except (KeyError, TypeError) as error:
        raise InputError("a run has no name, path or digest.", path=folder / FACTS) from error
    lines = read_lines(folder / LINES)
    # A round is written to the lines first: after a crash in between, the facts lack it.
    rounds = [*facts["rounds"]]
    if missing := int(np.count_nonzero(lines.places)) - sum(rounds):
        rounds.append(missing)
    return Pool(
        folder,
        facts["id"],
        facts["method"],
        facts["settings"],
        facts["seed"],
        runs,
        rounds,
        lines,
        facts.get("collection", ""),
        facts.get("judged", 0),
    )


def _held(facts: object, name: str) -> object:
    return facts.get(name) if isinstance(facts, dict) else None


def write_pool(pool: Pool) -> None:
    """Write the files of a pool to its folder, which exists; each appears whole or not at all."""
    write_lines(pool.folder / LINES, pool.lines)
    topics = int(np.count_nonzero(np.diff(pool.lines.bounds)))
    facts: dict[str, Any] = {
        "id": pool.id,
        "method": pool.method,
        "settings": pool.settings,
        "seed": pool.seed,
        "runs": [vars(run) for run in pool.runs],
        "counts": {"topics": topics, "pooled": len(pool.lines), "placed": pool.placed},
        "rounds": [*pool.rounds],
    }
    facts |= {"collection": pool.collection} if pool.collection else {}
    facts |= {"judged": pool.judged} if pool.judged else {}
    with atomic_write(pool.folder / FACTS, "wb") as file:
        file.write(as_json(facts))


def write_lines(path: Path, lines: Lines) -> None:
    """Write the lines of a pool.

    A topic's documents stand in the order of judging, then those that were not drawn by id: the
    order of a file tells nothing of ranks.

    Raises:
        InputError: an id has white space or a control character in it.
    """
    with atomic_write(path, "wb") as file:
        file.write(_HEADER)
        for row, topic in enumerate(lines.topics):
            part = slice(lines.bounds[row], lines.bounds[row + 1])
            places, documents = lines.places[part], lines.documents[part]
            drawn = np.flatnonzero(places)
            drawn = drawn[np.argsort(places[drawn])]
            rest = np.flatnonzero(places == 0)
            order = np.concatenate([drawn, rest[np.argsort(documents[rest])]])
            ids = texts_of(documents[order])
            _refuse_ids([topic, *ids], path)
            strata = map(str, lines.strata[part][order].tolist())
            shown = [str(place or "") for place in places[order].tolist()]
            rows = map("\t".join, zip(ids, strata, shown, strict=True))
            before = f"{topic}\t"
            file.write("".join(f"{before}{each}\n" for each in rows).encode())


def _refuse_ids(ids: Sequence[str], path: Path) -> None:
    joined = "\n".join(ids)
    if joined.isprintable() or joined.split() == ids:
        return
    wrong = next((each for each in ids if fault(each)), "")
    if wrong:
        raise InputError(f"cannot be written: the id {quoted(wrong)} {fault(wrong)}.", path=path)


def read_lines(path: Path) -> Lines:
    """Read the lines of a pool as columns.

    Raises:
        InputError: there are none, or one is ill-formed.
    """
    with suppress(ValueError):
        part = gathered(parts(_tables(path), _columns))
        topics = [topic.decode() for topic in part.topics]
        documents, strata, places = part.columns
        numbers = np.repeat(np.arange(len(topics)), np.diff(part.bounds))
        refuse_repeated(part.bounds, numbers, documents)
        ordered = places[np.lexsort((places, numbers))]
        steps, begins = np.diff(ordered, prepend=0), part.bounds[:-1]
        steps[begins] = ordered[begins]
        follows = (steps == 1) | ((steps == 0) & (ordered == 0))
        if follows.all():
            return Lines(topics, part.bounds, documents, strata, places)
    raise _first_error(path)


def _tables(path: Path) -> Iterator[Table]:
    """The lines below the header as tables; 0 stands for a place that is empty."""
    header = _HEADER
    for content in blocks_of_lines(path):
        block = content.replace(b"\r\n", b"\n")
        if not block.startswith(header) or b"\t0\n" in block:
            raise ValueError("no header, or a place that is 0")
        block, header = block.removeprefix(header), b""
        table = split(block.replace(b"\t\n", b"\t0\n"), len(COLUMNS)) if block else None
        if table is None and block:
            raise ValueError("a line without four columns")
        if table is not None:
            yield table


def _columns(table: Table) -> tuple[Cells, Integers, Integers]:
    topics, documents = table.column(0), table.column(1)
    strata, places = table.whole_numbers(2), table.whole_numbers(3)
    if not table.is_plain:
        b"\n".join([*topics.tolist(), *documents.tolist()]).decode()
    if strata is None or places is None:
        raise ValueError("a cell that is no number")
    return documents, strata, places


def _first_error(path: Path) -> InputError:
    seen: set[tuple[bytes, bytes]] = set()
    placed: dict[bytes, dict[bytes, int]] = {}
    for number, raw in numbered_lines(path):
        problem = ""
        cells = raw.rstrip(b"\r\n").split(b"\t")
        if number == 1:
            problem = "" if tuple(cells) == _NAMES else f"the header is not '{' '.join(COLUMNS)}'."
        elif len(cells) != len(COLUMNS) or fault(decoded(cells[1], path, number)):
            problem = f"this is no line of a pool. {_FORM}"
        elif not _NUMBER.fullmatch(cells[2]) or not _NUMBER.fullmatch(cells[3] or b"1"):
            problem = f"stratum and place are whole numbers of at most eight digits. {_FORM}"
        elif (cells[0], cells[1]) in seen:
            problem = f"document '{cells[1].decode()}' comes a second time in its topic."
        elif cells[3] and cells[3] in placed.setdefault(cells[0], {b"0": 0}):
            problem = f"the place {cells[3].decode()} is 0 or comes twice; places begin with 1."
        if problem:
            return InputError(problem, path=path, line=number)
        seen.add((cells[0], cells[1]))
        placed.setdefault(cells[0], {b"0": 0})[cells[3]] = number
    if len(seen) < 2:
        return InputError(f"there are no documents in this pool. {_FORM}", path=path)
    return InputError("the places of a topic are not 1, 2, 3, … without a gap.", path=path)
