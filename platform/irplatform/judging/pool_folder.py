"""The pool: a folder with the documents to judge, and what decided them.

- `pool.tsv` has the columns `topic document stratum place`, separated by tabs, below a header with
  these names. A topic's documents are judged in the order of `place`, from 1. A document without a
  place was pooled and not drawn: a sample of its stratum stands for it. Where documents are drawn,
  those that had been judged before have the stratum 0; other pools leave them out.
- `pool.json` says what decided it: method, settings, seed, runs. `id` is a fingerprint of that.
- `earlier.jsonl`: judgments that there were before, as `judgments.read_judgments` reads them.

Methods that learn from judgments add documents in rounds. Their pool grows; its id stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.data import fault
from irplatform.errors import InputError, quoted
from irplatform.files.columns import split, texts_of
from irplatform.files.formats import read_own_json
from irplatform.files.reading import blocks_of_lines, numbered_lines
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
EARLIER = "earlier.jsonl"
"""The file of a pool with the judgments of pooled documents that there were before."""
COLUMNS = ("topic", "document", "stratum", "place")
BEFORE = 0
"""The stratum of documents that had been judged before."""
_HEADER = "\t".join(COLUMNS).encode() + b"\n"
_FORM = f"Every line has four columns, separated by tabs: {' '.join(COLUMNS)}."
_LINE = re.compile(rb"[^\s]+\t[^\s]+\t[0-9]{1,8}\t([1-9][0-9]{0,7})?\r?\n?")
_KINDS = {"id": str, "method": str, "settings": dict, "seed": int, "runs": list, "rounds": list}
"""What `pool.json` has at least."""


class Item(NamedTuple):
    """A document of a topic; `place` is its place in the order of judging, 0 if it has none."""

    document: str
    stratum: int
    place: int


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

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {topic: row for row, topic in enumerate(self.topics)}

    def of(self, topic: str) -> tuple[Cells, Integers, Integers] | None:
        """Return documents, strata and places of a topic; None if it has no lines."""
        if (row := self._rows.get(topic)) is None:
            return None
        part = slice(self.bounds[row], self.bounds[row + 1])
        return self.documents[part], self.strata[part], self.places[part]


@dataclass(frozen=True, eq=False)
class Pool:
    """The documents of a pool, and what decided them.

    Attributes:
        folder: the folder.
        id: a fingerprint of method, settings, seed, runs and earlier judgments.
        method: how documents were chosen.
        settings: the settings of the method.
        seed: of the order and the draws.
        runs: the pooled runs: name, path if it has one, and digest of the content.
        rounds: number of documents that each round brought; one for a pool that does not grow.
        lines: all lines as columns.
        collection: the collection that the runs' metadata name, or "".
        judged: number of judgments that there were before, of documents that can be pooled.
    """

    folder: Path
    id: str
    method: str
    settings: Mapping[str, Any]
    seed: int
    runs: Sequence[Mapping[str, str]]
    rounds: Sequence[int]
    lines: Lines
    collection: str = ""
    judged: int = 0

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
        drawn = [item for item in self.pooled(topic) if item.place]
        return sorted(drawn, key=lambda item: item.place)

    def pooled(self, topic: str) -> list[Item]:
        """Return all documents of a topic, drawn or not, in the order of the file."""
        if (columns := self.lines.of(topic)) is None:
            return []
        documents, *numbers = columns
        return [*map(Item, texts_of(documents), *(column.tolist() for column in numbers))]

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
    for name, kind in _KINDS.items():
        if not isinstance(facts, dict) or not isinstance(facts.get(name), kind):
            raise InputError(f"'{name}' is missing, or not what it should be.", path=folder / FACTS)
    lines = read_lines(folder / LINES)
    # The facts are written before the lines: after a crash in between, the round is not there.
    rounds = [*facts["rounds"]]
    while rounds and sum(rounds) > int(np.count_nonzero(lines.places)):
        rounds.pop()
    known = {name: facts[name] for name in (*_KINDS, "collection", "judged") if name in facts}
    return Pool(folder, **{**known, "rounds": rounds, "lines": lines})


def write_pool(pool: Pool) -> None:
    """Write the files of a pool to its folder, which exists; each appears whole or not at all."""
    topics = int(np.count_nonzero(np.diff(pool.lines.bounds)))
    facts: dict[str, Any] = {
        "id": pool.id,
        "method": pool.method,
        "settings": pool.settings,
        "seed": pool.seed,
        "runs": [*pool.runs],
        "counts": {"topics": topics, "pooled": len(pool.lines), "placed": pool.placed},
        "rounds": [*pool.rounds],
    }
    facts |= {"collection": pool.collection} if pool.collection else {}
    facts |= {"judged": pool.judged} if pool.judged else {}
    with atomic_write(pool.folder / FACTS, "wb") as file:
        file.write(as_json(facts))
    write_lines(pool.folder / LINES, pool.lines)


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
            if [topic, *ids] != "\n".join([topic, *ids]).split():
                wrong = next(each for each in [topic, *ids] if fault(each))
                problem = f"cannot be written: the id {quoted(wrong)} {fault(wrong)}."
                raise InputError(problem, path=path)
            strata = map(str, lines.strata[part][order].tolist())
            shown = [str(place or "") for place in places[order].tolist()]
            rows = map("\t".join, zip(ids, strata, shown, strict=True))
            between = f"\n{topic}\t"
            file.write(f"{topic}\t{between.join(rows)}\n".encode())


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
    for number, line in numbered_lines(path):
        if number > 1 and not _LINE.fullmatch(line):
            raise InputError(f"this is no line of a pool. {_FORM}", path=path, line=number)
    raise InputError(
        f"this is no pool: it lacks its header or all documents, a topic has a document twice, or "
        f"its places are not 1, 2, 3, …. {_FORM}",
        path=path,
    )


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
