"""First-stage search for many topics: topics a second of copied postings, against bm25s and PISA.

Ours is `LuceneIndex.search` with the engine `impact`: from words to rankings in Python, analysis by
Lucene included. The others search indexes of their own over the same documents, on as many threads:
bm25s with numba, tokenizing included, and PISA through `pyterrier-pisa` (block-max WAND). Lucene
searches the same index as ours, by us and by Anserini, whose results stay in Java. The peer is the
fastest of these. The detail has topics per second of the processor, and the cost of making each
index; that of ours comes on top of Lucene's. `equal_to_lucene` counts topics whose rankings and
scores are Lucene's, to the bit: citing sentences and NFCorpus with BM25 and RM3, and TREC PM 2017
expanded by those of six knowledge bases that are installed. What is not installed is left out.
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
from rich.console import Console
from rich.table import Table

from _common import parser, private_memory, rate, report, require
from first_stage import simple_searcher
from irplatform.collections.beir import open_beir
from irplatform.collections.names import open_path
from irplatform.expansion.plan import QueryPlan
from irplatform.expansion.query import Expander
from irplatform.knowledge import installed
from irplatform.lucene import RM3, LuceneIndex, build_index
from irplatform.lucene.impact import ImpactIndex
from irplatform.lucene.postings import write_postings
from irplatform.system.packages import absent
from irplatform.workers.distribution import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.data import Corpus

KNOWLEDGE = ("mesh", "doid", "hgnc", "civic", "dgidb", "drugs")


def copied_postings(index: LuceneIndex, folder: Path) -> ImpactIndex:
    write_postings(index.reader, folder)
    return ImpactIndex(folder)


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
    """Make an index in a folder; return it, its seconds, and megabytes on disk and in memory."""
    process = psutil.Process()
    before, started = private_memory(process), time.perf_counter()
    made = make()
    seconds = time.perf_counter() - started
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    memory = private_memory(process) - before
    cost = {"seconds": seconds, "disk_mb": size / 1e6, "memory_mb": memory / 1e6}
    return made, {name: round(value, 1) for name, value in cost.items()}


def equal_rankings(
    index: LuceneIndex, queries: Mapping[str, Any], depths: Sequence[int]
) -> dict[str, str]:
    """The number of topics whose ids and scores are the same by both engines, per depth."""
    equal = {}
    for depth in depths:
        for name, feedback in (("plain", None), ("rm3", RM3())):
            expected, found = (
                index.search(queries, depth, feedback=feedback, engine=engine)
                for engine in ("lucene", "impact")
            )
            same = sum(
                found[topic].doc_ids == ranking.doc_ids
                and np.array_equal(found[topic].scores, ranking.scores)
                for topic, ranking in expected.items()
            )
            equal[f"{name} {depth}"] = f"{same} of {len(expected)}"
    return equal


def show(
    depths: Sequence[int],
    wall: Mapping[str, Mapping[int, float]],
    processor: Mapping[str, Mapping[int, float]],
    costs: Mapping[str, Mapping[str, float]],
) -> None:
    """Print a table: topics a second, and the cost of making each index."""
    table = Table("", title="topics a second (of the processor)", title_style="")
    columns = [*map(str, depths), "seconds to make", "MB on disk", "MB in memory"]
    for column in columns:
        table.add_column(column, justify="right")
    for side, speeds in wall.items():
        cells = [f"{speed:,.0f} ({processor[side][depth]:,.0f})" for depth, speed in speeds.items()]
        table.add_row(side, *cells, *(f"{cost:,.1f}" for cost in costs.get(side, {}).values()))
    Console(stderr=True).print(table)


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=300, help="how many citing sentences")
    command_line.add_argument("--depths", type=int, nargs="+", default=[100, 1000])
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    threads = arguments.threads

    collection = open_beir(require(arguments.data / "citations"), "dev")
    queries = {t.id: t.query for t in islice(collection.load_topics(), arguments.topics)}
    built = build_index(collection.corpus, threads=threads)
    index = LuceneIndex.open(built.path)
    sides: dict[str, Callable[[int], Any]] = {
        "lucene": lambda depth: index.search(queries, depth, threads=threads, engine="lucene"),
        "impact": lambda depth: index.search(queries, depth, threads=threads, engine="impact"),
        "anserini": lambda depth: simple_searcher(index, queries, depth, threads)(),
    }
    size = sum(file.stat().st_size for file in built.path.iterdir())
    costs = {"lucene": {"seconds": round(built.seconds, 1), "disk_mb": round(size / 1e6, 1)}}
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch) / name for name in ("impact", "bm25s", "pisa")}
        for folder in folders.values():
            folder.mkdir()
        _, costs["impact"] = measured(
            lambda: copied_postings(index, folders["impact"]), folders["impact"]
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
    equal = {"citing sentences": equal_rankings(index, queries, arguments.depths)}
    nfcorpus = open_beir(require(arguments.data / "nfcorpus"), "dev")
    equal["NFCorpus"] = equal_rankings(
        LuceneIndex.open(build_index(nfcorpus.corpus).path),
        {topic.id: topic.query for topic in nfcorpus.load_topics()},
        arguments.depths,
    )
    if bases := tuple(name for name in KNOWLEDGE if name in installed()):
        pool = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
        of_pool = LuceneIndex.open(build_index(pool.corpus).path)
        expander = Expander(of_pool, bases, QueryPlan())
        expanded = {topic.id: expander.query(topic) for topic in pool.load_topics()}
        equal["TREC PM 2017, expanded"] = equal_rankings(of_pool, expanded, arguments.depths)

    def speeds(seconds: dict[str, dict[int, list[float]]]) -> dict[str, dict[int, float]]:
        return {
            name: {depth: round(rate(len(queries), times), 1) for depth, times in of_side.items()}
            for name, of_side in seconds.items()
        }

    deepest = arguments.depths[-1]
    speed, of_processor = speeds(wall), speeds(processor)
    show(arguments.depths, speed, of_processor, costs)
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
        topics_a_processor_second=of_processor,
        made=costs,
        equal_to_lucene=equal,
    )


if __name__ == "__main__":
    main()
