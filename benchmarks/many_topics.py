"""First-stage search for many topics: topics a second of copied postings, against bm25s and PISA.

Ours is `LuceneIndex.search` with the engine `impact`: from words to rankings in Python, analysis by
Lucene included. The peers search indexes of their own over the same documents, on as many threads:
bm25s with numba, tokenizing included, and PISA through `pyterrier-pisa` (block-max WAND). The peer
is the faster one. The detail has Lucene on the same index, how many of its rankings and scores are
the same, topics per second of the processor, and the cost of making each index; that of ours comes
on top of Lucene's. A peer that is not installed is left out.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from _common import parser, private_memory, rate, report, require
from irplatform.collections.beir import open_beir
from irplatform.lucene import LuceneIndex, build_index
from irplatform.lucene.impact import ImpactIndex
from irplatform.lucene.postings import write_postings
from irplatform.system.packages import absent
from irplatform.system.workers import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from irplatform.data import Corpus


def copied_postings(index: LuceneIndex, folder: Path) -> ImpactIndex:
    write_postings(index.reader, folder)
    return ImpactIndex.open(folder)


def with_bm25s(
    corpus: Corpus, queries: Mapping[str, str], threads: int, folder: Path
) -> Callable[[int], object]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("porter")
    tokens = partial(bm25s.tokenize, stopwords="en", stemmer=stemmer, show_progress=False)
    searcher = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    searcher.index(tokens([document.text for document in corpus]), show_progress=False)
    searcher.save(folder, show_progress=False)

    def search(depth: int) -> object:
        asked = tokens([*queries.values()])
        return searcher.retrieve(asked, k=depth, n_threads=threads, show_progress=False)

    return search


def with_pisa(
    corpus: Corpus, queries: Mapping[str, str], threads: int, folder: Path
) -> Callable[[int], object]:
    import pandas as pd
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder), text_field="text", threads=threads)
    index.index({"docno": document.id, "text": document.text} for document in corpus)
    frame = pd.DataFrame({"qid": [*queries], "query": [*queries.values()]})

    def search(depth: int) -> object:
        found = index.bm25(k1=0.9, b=0.4, num_results=depth, threads=threads)
        return found.transform(frame)

    return search


def measured(make: Callable[[], Any], folder: Path) -> tuple[Any, dict[str, float]]:
    """Make something in a folder: it, with its seconds, and megabytes on disk and in memory."""
    process = psutil.Process()
    before, started = private_memory(process), time.perf_counter()
    made = make()
    seconds = time.perf_counter() - started
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    memory = private_memory(process) - before
    cost = {"seconds": seconds, "disk_mb": size / 1e6, "memory_mb": memory / 1e6}
    return made, {name: round(value, 1) for name, value in cost.items()}


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=300, help="how many citing sentences")
    command_line.add_argument("--depths", type=int, nargs="+", default=[100, 1000])
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    threads = arguments.threads

    collection = open_beir(require(arguments.data / "citations"), "dev")
    queries = {t.id: t.query for t in islice(collection.load_topics(), arguments.topics)}
    index = LuceneIndex.open(build_index(collection.corpus, threads=threads).path)
    sides: dict[str, Callable[[int], Any]] = {
        "lucene": lambda depth: index.search(queries, depth, threads=threads, engine="lucene")
    }
    costs: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch) / name for name in ("impact", "bm25s", "pisa")}
        for folder in folders.values():
            folder.mkdir()
        _, costs["impact"] = measured(
            lambda: copied_postings(index, folders["impact"]), folders["impact"]
        )
        sides["impact"] = lambda depth: index.search(
            queries, depth, threads=threads, engine="impact"
        )
        for name, make, modules in (
            ("bm25s", with_bm25s, ("bm25s", "Stemmer", "numba")),
            ("pisa", with_pisa, ("pyterrier_pisa",)),
        ):
            if not absent(*modules):
                sides[name], costs[name] = measured(
                    partial(make, collection.corpus, queries, threads, folders[name]),
                    folders[name],
                )
        wall: dict[str, dict[int, list[float]]] = {name: {} for name in sides}
        processor: dict[str, dict[int, list[float]]] = {name: {} for name in sides}
        for depth in arguments.depths:
            for turn in range(arguments.rounds + 1):
                for name, search in sides.items():
                    started, used = time.perf_counter(), time.process_time()
                    search(depth)
                    if turn:
                        wall[name].setdefault(depth, []).append(time.perf_counter() - started)
                        processor[name].setdefault(depth, []).append(time.process_time() - used)
    equal = {}
    for depth in arguments.depths:
        expected, found = sides["lucene"](depth), sides["impact"](depth)
        equal[depth] = {
            "rankings": sum(found[t].doc_ids == expected[t].doc_ids for t in queries),
            "scores": sum(np.array_equal(found[t].scores, expected[t].scores) for t in queries),
        }

    def speeds(seconds: dict[str, dict[int, list[float]]]) -> dict[str, dict[int, float]]:
        return {
            name: {depth: round(rate(len(queries), times), 1) for depth, times in of_side.items()}
            for name, of_side in seconds.items()
        }

    deepest = arguments.depths[-1]
    speed = speeds(wall)
    peers = [name for name in sides if name != "impact"]
    peer = max(peers, key=lambda name: speed[name][deepest])
    report(
        "many_topics",
        speed["impact"][deepest],
        speed[peer][deepest],
        "topics/s",
        higher_is_better=True,
        against=peer,
        topics=len(queries),
        documents=index.count,
        threads=threads,
        topics_a_second=speed,
        topics_a_processor_second=speeds(processor),
        made=costs,
        equal_to_lucene=equal,
    )


if __name__ == "__main__":
    main()
