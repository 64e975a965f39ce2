"""First-stage search for many topics: topics a second of copied postings, against bm25s and others.

Ours is `LuceneIndex.search` with the engine `impact`: from words to rankings in Python, analysis
included. bm25s with numba, tokenizing included, searches an index of its own over the same
documents, on as many threads. `--all` adds PISA through `pyterrier-pisa` (block-max WAND), and
Lucene on the same index as ours, searched by us and by Anserini, whose results stay in Java.

Topics are citing sentences and NFCorpus's short queries, and with `--generated N` citing sentences
over so many articles of sentences that are drawn from real ones. Sides take turns. Each turn asks
other topics, and nothing is kept from turn to turn, so no cache helps. Figures are topics a second
of the processor, medians; the detail has the wall clock, and the cost of making each index; that of
ours comes on top of Lucene's. `equal_to_lucene` counts topics whose rankings and scores are
Lucene's, to the bit: with BM25 and RM3, and TREC PM 2017 expanded by those of six knowledge bases
that are installed. What is not installed is left out.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from _common import parser, private_memory, rate, report, require
from _generated import GeneratedCorpus
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

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.data import Corpus
    from irplatform.lucene.many_topics import Engine

    Search = Callable[[Mapping[str, str], int, int], object]

_REST = 0.3
"""Seconds before a side's turn: threads of the one before may wait for work in a busy loop."""
KNOWLEDGE = ("mesh", "doid", "hgnc", "civic", "dgidb", "drugs")


def copied_postings(index: LuceneIndex, folder: Path) -> ImpactIndex:
    write_postings(index.reader, folder)
    return ImpactIndex(folder)


def with_bm25s(corpus: Corpus, folder: Path) -> Search:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("porter")
    tokens = partial(bm25s.tokenize, stopwords="en", stemmer=stemmer, show_progress=False)
    searcher = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    searcher.index(tokens([document.text for document in corpus]), show_progress=False)
    searcher.save(folder, show_progress=False)

    def search(queries: Mapping[str, str], depth: int, threads: int) -> object:
        query_tokens = tokens([*queries.values()])
        depth = min(depth, searcher.scores["num_docs"])
        return searcher.retrieve(query_tokens, k=depth, n_threads=threads, show_progress=False)

    return search


def with_pisa(corpus: Corpus, folder: Path) -> Search:
    import pandas as pd
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder), text_field="text")
    index.index({"docno": document.id, "text": document.text} for document in corpus)

    def search(queries: Mapping[str, str], depth: int, threads: int) -> object:
        retriever = index.bm25(k1=0.9, b=0.4, num_results=depth, threads=threads)
        return retriever.transform(pd.DataFrame({"qid": [*queries], "query": [*queries.values()]}))

    return search


def measured(make: Callable[[], Any], folder: Path) -> tuple[Any, dict[str, float]]:
    """Make an index in a folder; return it, its seconds, and megabytes on disk and in memory."""
    process = psutil.Process()
    before, started = private_memory(process), time.perf_counter()
    index = make()
    seconds = time.perf_counter() - started
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    memory = private_memory(process) - before
    cost = {"seconds": seconds, "disk_mb": size / 1e6, "memory_mb": memory / 1e6}
    return index, {name: round(value, 1) for name, value in cost.items()}


def equal_rankings(
    index: LuceneIndex, queries: Mapping[str, Any], depths: Sequence[int]
) -> dict[str, str]:
    """The number of topics whose ids and scores are the same by both engines, per depth."""
    equal = {}
    for depth in depths:
        for name, feedback in (("plain", None), ("rm3", RM3())):
            expected, rankings = (
                index.search(queries, depth, feedback=feedback, engine=engine)
                for engine in ("lucene", "impact")
            )
            same = sum(
                rankings[topic].doc_ids == ranking.doc_ids
                and np.array_equal(rankings[topic].scores, ranking.scores)
                for topic, ranking in expected.items()
            )
            equal[f"{name} {depth}"] = f"{same} of {len(expected)}"
    return equal


def sides_of(
    index: LuceneIndex, corpus: Corpus, scratch: Path, *, others: bool
) -> tuple[dict[str, Search], dict[str, dict[str, float]]]:
    """What searches, by name, ours first; and the cost of making each index."""
    costs = {}
    for name in ("impact", "bm25s", "pisa"):
        (scratch / name).mkdir()
    _, costs["impact"] = measured(
        lambda: copied_postings(index, scratch / "impact"), scratch / "impact"
    )
    engines: tuple[Engine, ...] = ("impact", "lucene") if others else ("impact",)
    sides: dict[str, Search] = {
        engine: lambda queries, depth, threads, engine=engine: index.search(
            queries, depth, threads=threads, engine=engine
        )
        for engine in engines
    }
    peers = [("bm25s", with_bm25s, ("bm25s", "Stemmer", "numba"))]
    if others:
        sides["anserini"] = lambda queries, depth, threads: simple_searcher(
            index, queries, depth, threads
        )()
        peers.append(("pisa", with_pisa, ("pyterrier_pisa",)))
    for name, make, modules in peers:
        if not absent(*modules):
            sides[name], costs[name] = measured(
                partial(make, corpus, scratch / name), scratch / name
            )
    return sides, costs


def in_turns(
    sides: Mapping[str, Search], blocks: Iterator[dict[str, str]], depth: int, threads: int,
    rounds: int,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Topics a second of each side, of the processor and of the wall clock."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for turn in range(rounds + 1):  # the first one warms up
        queries = next(blocks)
        for name, search in sides.items():
            time.sleep(_REST)
            started, processor = time.perf_counter(), time.process_time()
            search(queries, depth, threads)
            processor, wall = time.process_time() - processor, time.perf_counter() - started
            if turn:
                seconds[name].append((processor, wall))
    return {
        name: {
            clock: round(rate(len(queries), [pair[place] for pair in pairs]), 1)
            for place, clock in enumerate(("processor", "wall"))
        }
        for name, pairs in seconds.items()
    }


def show(title: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Print a table: topics a second of the processor."""
    table = Table("depth", "threads", *names, "ratio", title=title, title_style="")
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        cells = [f"{row[name]['processor']:,.0f}" for name in names]
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        table.add_row(str(row["depth"]), str(row["threads"]), *cells, ratio)
    Console(stderr=True).print(table)


def measure_case(
    title: str, corpus: Corpus, topics: Sequence[tuple[str, str]], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Search one collection at all depths, with all numbers of threads."""
    built = build_index(corpus)
    index = LuceneIndex.open(built.path)
    size = min(arguments.topics, len(topics))
    blocks = cycle(
        dict(topics[start : start + size]) for start in range(0, len(topics) - size + 1, size)
    )
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        sides, costs = sides_of(index, corpus, Path(scratch), others=arguments.all)
        for threads in arguments.threads:
            for depth in arguments.depths:
                speeds = in_turns(sides, blocks, depth, threads, arguments.rounds)
                peers = [speed["processor"] for name, speed in speeds.items() if name != "impact"]
                ratio = round(speeds["impact"]["processor"] / max(peers), 3) if peers else None
                rows.append({"depth": depth, "threads": threads, **speeds, "ratio": ratio})
    disk = sum(file.stat().st_size for file in built.path.iterdir())
    costs["lucene"] = {"seconds": round(built.seconds, 1), "disk_mb": round(disk / 1e6, 1)}
    show(f"{title}: {index.count:,} documents, {size} topics a turn", rows, [*sides])
    checked = dict(topics[: min(size, arguments.checked)])
    return {
        "documents": index.count,
        "topics": size,
        "speeds": rows,
        "made": costs,
        "equal_to_lucene": equal_rankings(index, checked, arguments.depths),
    }


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=300, help="topics of a turn")
    command_line.add_argument("--depths", type=int, nargs="+", default=[10, 100, 1000])
    command_line.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    command_line.add_argument("--generated", type=int, default=0, help="generated articles")
    command_line.add_argument("--checked", type=int, default=300, help="topics compared to Lucene")
    command_line.add_argument("--all", action="store_true", help="Lucene, Anserini and PISA, too")
    command_line.add_argument(
        "--cases", nargs="*", choices=("sentences", "short"), default=["sentences", "short"]
    )
    arguments = command_line.parse_args()
    if not arguments.cases and not arguments.generated:
        command_line.error("--cases names none, and --generated is 0")
    cases = {}
    citations = open_beir(require(arguments.data / "citations"), "dev")
    sentences = topics_of(arguments.data / "citations")
    if "sentences" in arguments.cases:
        cases["citing sentences"] = measure_case(
            "citing sentences", citations.corpus, sentences, arguments
        )
    if "short" in arguments.cases:
        folder = require(arguments.data / "nfcorpus")
        corpus = open_beir(folder, "dev").corpus
        cases["NFCorpus"] = measure_case("NFCorpus", corpus, topics_of(folder), arguments)
    if arguments.generated:
        generated = GeneratedCorpus(citations.corpus, arguments.generated)
        cases["generated articles"] = measure_case(
            "citing sentences over generated articles", generated, sentences, arguments
        )
    if bases := tuple(name for name in KNOWLEDGE if name in installed()):
        pool = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
        of_pool = LuceneIndex.open(build_index(pool.corpus).path)
        expander = Expander(of_pool, bases, QueryPlan())
        expanded = {topic.id: expander.query(topic) for topic in pool.load_topics()}
        equal = equal_rankings(of_pool, expanded, arguments.depths)
        cases["TREC PM 2017, expanded"] = {"equal_to_lucene": equal}
    rows = [row for case in cases.values() for row in case.get("speeds", ())]
    worst = min(rows, key=lambda row: row["ratio"] or 0)
    peer = worst.get("bm25s")
    report(
        "many_topics",
        worst["impact"]["processor"],
        peer and peer["processor"],
        "topics/s of the processor",
        higher_is_better=True,
        against="bm25s, where the ratio is smallest",
        depth=worst["depth"],
        threads=worst["threads"],
        cases=cases,
    )


def topics_of(folder: Path) -> list[tuple[str, str]]:
    """All queries of a collection, of both splits."""
    splits = [open_beir(folder, split).load_topics() for split in ("dev", "train")]
    return [*{topic.id: topic.query for topics in splits for topic in topics}.items()]


if __name__ == "__main__":
    main()
