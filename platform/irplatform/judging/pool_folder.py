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
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
    from collections.abc import Iterator, Mapping, Sequence

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
_LINE = re.compile(rb"[^\s]+\t[^\s]+\t[0-9]{1,8}\t[0-9]{0,8}\r?\n?")
_KINDS = {"id": str, "method": str, "settings": dict, "seed": int, "runs": list, "rounds": list}
"""What `pool.json` has at least."""


class Item(NamedTuple):
    """A document of a topic; `place` is its place in the order of judging, 0 if it has none."""

    document: str
    stratum: int
    place: int


class Lines(NamedTuple):
    """The lines of a topic as columns.

    Attributes:
        documents: packed ids, as `irplatform.files.columns` has them.
        strata: the stratum of each document.
        places: its place in the order of judging, from 1; 0 if it was not drawn.
    """

    documents: Cells
    strata: Integers
    places: Integers


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
        lines: the lines of each topic, in the order of the file.
        collection: the collection that the runs' metadata name, or "".
        judged: number of judgments that there were before, of documents that can be pooled.
    """

    folder: Path
    id: str
    method: str
    settings: Mapping[str, Any]
    seed: int
    runs: Sequence[Mapping[str, str]]
    rounds: Sequence[int] = ()
    lines: Mapping[str, Lines] = field(default_factory=dict)
    collection: str = ""
    judged: int = 0

    @property
    def topics(self) -> Sequence[str]:
        """The topics, in the order of the file."""
        return [*self.lines]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of documents to judge of each topic that has some."""
        counts = {topic: int(np.count_nonzero(lines.places)) for topic, lines in self.lines.items()}
        return {topic: count for topic, count in counts.items() if count}

    @property
    def placed(self) -> int:
        """The number of documents to judge."""
        return sum(self.counts.values())

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
        if (lines := self.lines.get(topic)) is None:
            return []
        ids = texts_of(lines.documents)
        return [*map(Item, ids, lines.strata.tolist(), lines.places.tolist())]


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
    values = {name: facts[name] for name in (*_KINDS, "collection", "judged") if name in facts}
    pool = Pool(folder, **values, lines=_read_lines(folder / LINES))
    rounds = (
        pool.rounds
    )  # written before the lines: after a crash in between, the last is not there
    while sum(rounds) > pool.placed:
        rounds = rounds[:-1]
    return replace(pool, rounds=rounds)


def write_pool(pool: Pool) -> None:
    """Write the files of a pool to its folder, which exists; each appears whole or not at all.

    A topic's documents stand in the order of judging, then those that were not drawn: the order of
    a file tells nothing of ranks.

    Raises:
        InputError: an id has white space in it.
    """
    pooled = sum(len(lines.places) for lines in pool.lines.values())
    facts = {
        "id": pool.id,
        "method": pool.method,
        "settings": pool.settings,
        "seed": pool.seed,
        "runs": pool.runs,
        "counts": {"topics": len(pool.lines), "pooled": pooled, "placed": pool.placed},
        "rounds": pool.rounds,
        **({"collection": pool.collection} if pool.collection else {}),
        **({"judged": pool.judged} if pool.judged else {}),
    }
    with atomic_write(pool.folder / FACTS, "wb") as file:
        file.write(as_json(facts))
    with atomic_write(pool.folder / LINES, "wb") as file:
        file.write(_HEADER)
        for topic, (documents, strata, places) in pool.lines.items():
            order = np.argsort(np.where(places > 0, places, len(places) + 1), kind="stable")
            ids = texts_of(documents[order])
            if [topic, *ids] != "\n".join([topic, *ids]).split():
                wrong = next(filter(fault, [topic, *ids]))
                problem = f"cannot be written: the id {quoted(wrong)} {fault(wrong)}."
                raise InputError(problem, path=pool.folder / LINES)
            cells = [str(place or "") for place in places[order].tolist()]
            rows = map("\t".join, zip(ids, map(str, strata[order].tolist()), cells, strict=True))
            between = f"\n{topic}\t"
            file.write(f"{topic}\t{between.join(rows)}\n".encode())


def _read_lines(path: Path) -> dict[str, Lines]:
    with suppress(ValueError):
        part = gathered(parts(_tables(path), _columns))
        numbers = np.repeat(np.arange(len(part.topics)), np.diff(part.bounds))
        refuse_repeated(part.bounds, numbers, part.columns[0])
        columns = zip(*(np.split(c, part.bounds[1:-1]) for c in part.columns), strict=True)
        pairs = zip(part.topics, columns, strict=True)
        return {topic.decode(): Lines(*column) for topic, column in pairs}
    form = f"Every line has four columns, separated by tabs: {' '.join(COLUMNS)}."
    for number, line in numbered_lines(path):
        if number > 1 and not _LINE.fullmatch(line):
            raise InputError(f"this is no line of a pool. {form}", path=path, line=number)
    raise InputError(
        "this is no pool: it lacks its header or all documents, or a topic has a document twice. "
        f"{form}",
        path=path,
    )


def _tables(path: Path) -> Iterator[Table]:
    """The lines below the header as tables; 0 stands for a place that is empty."""
    header = _HEADER
    for content in blocks_of_lines(path):
        block = content.replace(b"\r\n", b"\n")
        if not block.startswith(header):
            raise ValueError("no header")
        block, header = block.removeprefix(header), b""
        table = split(block.replace(b"\t\n", b"\t0\n"), len(COLUMNS)) if block else None
        if table is not None:
            yield table
        elif block:
            raise ValueError("a line without four columns")


def _columns(table: Table) -> Lines:
    strata, places = table.whole_numbers(2), table.whole_numbers(3)
    if strata is None or places is None:
        raise ValueError("a cell that is no number")
    documents = table.column(1)
    if not table.is_plain:
        texts_of(np.concatenate([table.column(0), documents]))  # which refuses what is not UTF-8
    return Lines(documents, strata, places)
