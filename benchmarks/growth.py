"""Seconds and peak memory of each stage from 100,000 to a million documents, and how they grow.

Documents are generated MEDLINE (`_medline_files.py`); topics are eight words of one sentence each.
The stages are the index, the forward index, search with both engines to depth 1,000, features and
reranking of 100 candidates (Delta with random vectors and weights), and `evaluate`. Each runs in a
process of its own. The detail has seconds of the wall clock and of the processor, with the start of
Python and Java, and the private and resident memory of the process and its workers; resident memory
counts pages of mapped files. A slope is the exponent of growth: 1 is linear, 0 constant. The peer
is a bound for the largest private memory of a stage. A million documents take 9 GB of disk.

    python benchmarks/growth.py [--sizes 100000 300000 1000000] [--topics 1000]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from rich.console import Console
from rich.table import Table

from _common import private_memory, report
from _medline_files import Articles, write_files
from irplatform.documents.pubmed_files import PubmedCorpus
from irplatform.plugin import Topic, TrainableReranker
from irplatform.registry.loading import registry
from irplatform.runs import Run, read_run, write_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.lucene.many_topics import Engine

DEPTH = 1_000
RERANKED = 100
BOUND = 2_000
"""MiB that a stage may take at any size."""


class Work:
    """The stages, over the files in a folder."""

    def __init__(self, folder: Path, topics: int) -> None:
        self._folder = folder
        self._count = topics

    def index(self) -> None:
        """Build the Lucene index."""
        self._resources().index_artifact()

    def forward_index(self) -> None:
        """Build the forward index."""
        self._resources().forward_index()

    def copy_postings(self) -> None:
        """Copy the postings of the Lucene index."""
        index = self._resources().index()
        index.search({"a": "a"}, 1, engine="impact")

    def search_lucene(self) -> None:
        """Search with Lucene; write the run that later stages read."""
        self._search("lucene")

    def search_impact(self) -> None:
        """Search in the copied postings."""
        self._search("impact")

    def features(self) -> None:
        """Compute the lexical features of `ltr` for the candidates."""
        from irplatform.features.calculator import Calculator
        from irplatform.features.groups import open_groups

        resources = self._resources()
        (group,) = open_groups(("lexical",), {}, resources)
        candidates = self._candidates()
        pairs = [(topic, candidates[topic.id]) for topic in self._topics()]
        Calculator(resources).compute_all(group, pairs)

    def rerank_lexical(self) -> None:
        """Rerank by query likelihood."""
        self._rerank("uqlm-text")

    def rerank_delta(self) -> None:
        """Rerank by Delta."""
        self._rerank("delta")

    def evaluate(self) -> None:
        """Score a run by judgments of 100 documents per topic."""
        import irplatform as ir

        ir.evaluate(self._folder / "lucene.run", qrels=self._folder / "qrels.txt")

    def _resources(self) -> CollectionResources:
        from delta_rerank import RandomVectors  # with torch, which most stages do without

        corpus = PubmedCorpus("growth", sorted(self._folder.glob("*.xml.gz")))
        return RandomVectors(corpus, "cpu", seed=1, threads=os.cpu_count() or 1)

    def _topics(self) -> list[Topic]:
        draw = random.Random(1)
        sentences = draw.sample(Articles().sentences, self._count)
        return [
            Topic(str(number), " ".join(draw.sample(sentence.rstrip(".").split(), 8)))
            for number, sentence in enumerate(sentences)
        ]

    def _search(self, engine: Engine) -> None:
        queries = {topic.id: topic.query for topic in self._topics()}
        rankings = self._resources().index().search(queries, DEPTH, engine=engine)
        write_run(Run(engine, rankings), self._folder / f"{engine}.run")

    def _candidates(self) -> dict[str, tuple[str, ...]]:
        run = read_run(self._folder / "lucene.run").top(RERANKED)
        return {topic: ranking.doc_ids for topic, ranking in run.rankings.items()}

    def _rerank(self, name: str) -> None:
        from irplatform.reranking.scoring import score_topics

        resources = self._resources()
        registration = registry().reranker(name)
        reranker = resources.reranker(name)
        if isinstance(reranker, TrainableReranker):  # ready with the weights that it begins with
            with tempfile.TemporaryDirectory() as checkpoint:
                reranker.save(Path(checkpoint))
                reranker.load(Path(checkpoint))
        score_topics(registration, [reranker], self._topics(), self._candidates(), resources)


STAGES: dict[str, Callable[[Work], None]] = {
    "index": Work.index,
    "forward index": Work.forward_index,
    "search, Lucene": Work.search_lucene,
    "copy postings": Work.copy_postings,
    "search, impact": Work.search_impact,
    "features": Work.features,
    "rerank, uqlm-text": Work.rerank_lexical,
    "rerank, delta": Work.rerank_delta,
    "evaluate": Work.evaluate,
}


def measure(stage: str, folder: Path, topics: int) -> dict[str, float]:
    """Run a stage in a process of its own, watching the memory of it and its workers."""
    command = [sys.executable, __file__, "--stage", stage, "--folder", str(folder)]
    command += ["--topics", str(topics)]
    # As in a run, torch has one thread: several that wait for each other would count the waiting.
    environment = {**os.environ, "IRPLATFORM_HOME": str(folder / "home"), "OMP_NUM_THREADS": "1"}
    private = resident = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            private = max(private, private_memory(process))
            resident = max(resident, resident_memory(process))
            time.sleep(0.1)
        assert child.stdout is not None
        printed = child.stdout.read()
    if child.returncode:
        sys.exit(f"'{stage}' failed with exit code {child.returncode}")
    seconds = json.loads(printed.splitlines()[-1])
    return {**seconds, "mib": round(private / 2**20), "rss_mib": round(resident / 2**20)}


def resident_memory(process: psutil.Process) -> int:
    """Bytes of a process and its children in memory, mapped files included."""
    try:
        members = (process, *process.children(recursive=True))
        return sum(member.memory_info().rss for member in members)
    except psutil.Error:  # it has just ended
        return 0


def run_stage(stage: str, folder: Path, topics: int) -> None:
    """Run a stage in this process; print its seconds."""
    started = time.perf_counter()
    STAGES[stage](Work(folder, topics))
    processor = sum(os.times()[:4])  # of this process and of its workers, which have ended
    seconds = {"seconds": time.perf_counter() - started, "cpu_seconds": processor}
    print(json.dumps({name: round(value, 1) for name, value in seconds.items()}))


def write_judgments(folder: Path, documents: int, topics: int) -> None:
    """Write random judgments of 100 documents per topic."""
    draw = random.Random(2)
    with (folder / "qrels.txt").open("w") as file:
        for topic in range(topics):
            for document in draw.sample(range(1, documents + 1), 100):
                file.write(f"{topic} 0 {document} {draw.randint(0, 2)}\n")


def slope(values: Sequence[float], sizes: Sequence[int]) -> float:
    """The exponent of growth from the first size to the last, which differ."""
    return round(math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0]), 2)


def show(measured: Mapping[int, Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    """Print a table; return the slopes of processor time and memory of each stage."""
    sizes = [*measured]
    table = Table("stage", title="seconds of the processor, MiB of memory", title_style="")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("slopes", justify="right")
    slopes = {}
    for stage in next(iter(measured.values())):
        of_stage = [measured[size][stage] for size in sizes]
        cells = [f"{figures['cpu_seconds']:,.1f} s  {figures['mib']:,} MiB" for figures in of_stage]
        slopes[stage] = {
            name: slope([figures[name] for figures in of_stage], sizes)
            for name in ("cpu_seconds", "mib")
        }
        table.add_row(stage, *cells, "  ".join(f"{value:.2f}" for value in slopes[stage].values()))
    Console(stderr=True, width=max(80, 24 * len(sizes) + 40)).print(table)
    return slopes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--scratch", type=Path, help="where the temporary folder is made")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if len(set(arguments.sizes)) < 2:
        parser.error("--sizes needs two or more: slopes are from the smallest to the largest")
    if arguments.stage:
        run_stage(arguments.stage, arguments.folder, arguments.topics)
        return
    measured: dict[int, dict[str, dict[str, float]]] = {}
    for size in sorted(arguments.sizes):
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            folder = Path(scratch)
            write_files(folder, size)
            write_judgments(folder, size, arguments.topics)
            measured[size] = {}
            for stage in arguments.stages:
                measured[size][stage] = measure(stage, folder, arguments.topics)
                print(f"{size:,} {stage}: {measured[size][stage]}", file=sys.stderr, flush=True)
    slopes = show(measured)
    largest = max(measured)
    report(
        "growth",
        max(of_stage["mib"] for of_stage in measured[largest].values()),
        BOUND,
        "MiB",
        higher_is_better=False,
        against="the bound",
        topics=arguments.topics,
        slopes=slopes,
        sizes=measured,
    )


if __name__ == "__main__":
    main()
