"""GRAPHENE as the collection grows: processor time, memory and disk of graph, training and stores.

The articles are those of TREC Precision Medicine's pool, in their order and, once the pool is
exhausted, again under new ids. Every step has a process of its own, with one thread:

    graph     the concept graph, from text to sparse rows
    prepare   the forward index, MeSH-term queries, and what concepts read of their neighbours
    epoch     one of pre-training, validation included, on 2,000 MeSH-term queries: encoder, graph
              and title decoder; the quickest of some. Candidates are drawn at random
    store     encodings and sides of all documents

Word vectors are random, and as many at each size: their memory is that of a vocabulary. `peak_mib`
is what a process had resident, pages of mapped files included, which the kernel may drop at any
time; `private_mib` is what it needs. A line is put through each quantity by least squares over the
sizes and followed to a million articles; a size `--beyond` them is measured and not fitted, which
tells what the line is worth.

Ours is the memory of training at a million articles. The peer is training as Kipf and Welling's
code for graph convolutions does it: all documents are nodes of one step, and their encoder's states
are held for the gradient. That is measured for a few thousand articles, with the same network and
without titles, and followed to a million in the same way.

    python benchmarks/graphene_scale.py [--sizes 15000 30000 60000] [--beyond 120000]
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from _common import parser, private_memory, report, require
from irplatform.collection_resources import CollectionResources
from irplatform.collections.derived import mesh_queries
from irplatform.collections.names import open_path
from irplatform.data import Corpus
from irplatform.knowledge import add
from irplatform.plugin import Document, LabelledTopic, TrainingData
from irplatform.registry.loading import registry
from irplatform.text import WordVectors

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.collections.derived import Split
    from irplatform.text import VectorOptions
    from irplatform_graphene.model import Model

MILLION = 1_000_000
SEED = 1
DIMENSIONS = 300
"""Of the word vectors."""
QUERIES = 2_500
"""Of these, 2,000 are learned from, and half of 250 are validated on."""
CANDIDATES = 50
SHARED = {"kb", "concept-table"}
"""What the sizes have in common in the cache."""
KNOWLEDGE = {
    "mesh": "mesh_descriptors.tsv.gz",
    "doid": "doid.json.gz",
    "hgnc": "hgnc_entries.tsv.gz",
    "civic": "civic_biomarkers_2016.tsv.gz",
    "dgidb": "dgidb_*.tsv",
    "pharmacotherapydb": "pharmacotherapydb_*.tsv.gz",
    "hetionet": "hetionet-*.tsv.gz edges-*.sif.gz DaG-*.tsv.gz CbG-*.tsv.gz",
    "drugs": "drug_ner_dictionary.json.gz",
}
"""Patterns of the files of each knowledge base."""


class Articles(Corpus):
    """So many articles: a corpus's, again and again, each time with other ids."""

    fields = ("mesh",)

    def __init__(self, pool: Corpus, size: int) -> None:
        self.pool, self.size = pool, size
        self.name = f"articles-{size}"

    @property
    def fingerprint(self) -> str:
        """Of the corpus, and how many are taken."""
        return f"{self.pool.fingerprint}-{self.size}"

    def __iter__(self) -> Iterator[Document]:
        return islice(self._endless(), self.size)

    def _endless(self) -> Iterator[Document]:
        for turn in count():
            for document in self.pool:
                yield Document(
                    f"{document.id}-{turn}", document.title, document.abstract, document.fields
                )

    def count(self) -> int:
        """How many documents there are."""
        return self.size


@dataclass
class RandomVectors(CollectionResources):
    """A collection's resources, with random vectors of its first words instead of trained ones."""

    words: int = 0

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:  # noqa: ARG002
        """Always as many: made-up words follow the collection's own."""
        words = list(islice(self.forward_index().vocabulary, self.words))
        names = words + [f"made-up-{number}" for number in range(self.words - len(words))]
        random = np.random.default_rng(SEED)
        drawn = random.standard_normal((self.words, DIMENSIONS), dtype=np.float32)
        return WordVectors.with_unk(names, 0.15 * drawn, seed=SEED)


Cost = dict[str, float]


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._started = self._now()

    def cost(self) -> Cost:
        """Of the processor, for this process and its children, and of the wall."""
        elapsed = self._now() - self._started
        return {"processor_seconds": float(elapsed[0]), "wall_seconds": float(elapsed[1])}

    def _now(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([sum(os.times()[:4]), time.perf_counter()])


def size_on_disk(*folders: Path) -> int:
    return sum(f.stat().st_size for folder in folders for f in folder.rglob("*") if f.is_file())


def in_cache(kind: str) -> Path:
    return Path(os.environ["IRPLATFORM_HOME"]) / kind


def share(data: Path) -> Cost:
    """Add the knowledge bases, and bring their concepts together."""
    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.build import concept_table

    clock = Clock()
    formats = [load() for load in registry().knowledge.values()]
    for name, patterns in KNOWLEDGE.items():
        files = [f for pattern in patterns.split() for f in sorted((data / "kb").glob(pattern))]
        if files:
            add(name, files, more_formats=formats)
        else:
            print(f"knowledge base {name} is missing in {data / 'kb'}", file=sys.stderr)
    concept_table(ConceptOptions().bases())
    return clock.cost()


def graph(resources: RandomVectors, _: int) -> Cost:
    """Build the concept graph."""
    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.build import build_facts

    clock = Clock()
    facts = build_facts(resources.corpus, ConceptOptions(), resources.threads)
    return {**clock.cost(), "links": facts["links"], "bytes": size_on_disk(in_cache("concepts"))}


def prepare(resources: RandomVectors, _: int) -> Cost:
    """Build what else training reads."""
    clock = Clock()
    mesh_queries(resources.corpus, QUERIES, SEED).load_topics()
    model_of(resources)
    folders = [in_cache(kind) for kind in ("forward-index", "graphene-concepts")]
    words = len(resources.forward_index().vocabulary)
    return {**clock.cost(), "words": words, "bytes": size_on_disk(*folders)}


def epoch(resources: RandomVectors, rounds: int) -> Cost:
    """Pre-train for some epochs, and return the cost of the quickest."""
    from irplatform.training.loop import run_loop
    from irplatform_graphene.task import GrapheneTask

    model = model_of(resources)
    training, validation = (labelled(resources, split) for split in ("train", "dev"))
    with tempfile.TemporaryDirectory() as workspace:
        data = TrainingData(training, validation, Path(workspace))
        task = GrapheneTask(model, data, SEED, encoder=True)
        loop = model.options.loop.model_copy(update={"epochs": rounds, "patience": rounds})
        clocks, costs = [Clock()], []

        def note(_epoch: int, _loss: float, _measure: float) -> None:
            costs.append(clocks[-1].cost())
            clocks.append(Clock())

        run_loop(task, loop, seed=SEED, workspace=data.workspace, report=note)
    return min(costs, key=lambda cost: cost["processor_seconds"])


def labelled(resources: RandomVectors, split: Split) -> list[LabelledTopic]:
    """MeSH-term queries; the id of each is that of its article, which is put among others."""
    queries = mesh_queries(resources.corpus, QUERIES, SEED, split)
    index = resources.forward_index()
    random = np.random.default_rng(SEED)
    labelled_topics = []
    for topic in queries.load_topics():
        others = index.doc_ids(random.integers(index.count, size=CANDIDATES - 1))
        candidates = tuple(dict.fromkeys([topic.id, *others]))
        labelled_topics.append(LabelledTopic(topic, candidates, {topic.id: 1}))
    return labelled_topics


def store(resources: RandomVectors, _: int) -> Cost:
    """Make what is served from, with the weights that training starts from."""
    model = model_of(resources)
    clock = Clock()
    model.sides(np.arange(1))
    folders = [in_cache(f"graphene-{kind}") for kind in ("encodings", "documents")]
    return {**clock.cost(), "bytes": size_on_disk(*folders)}


def plain(resources: RandomVectors, documents: int) -> Cost:
    """The peer: a step over all documents at once."""
    from irplatform_graphene.task import BatchDocuments

    model, rows = model_of(resources), np.arange(documents)
    clock = Clock()
    encoded = model.network.encode(model.reader.texts(rows))
    vectors = BatchDocuments(model, rows, encoded).plain_vectors()
    vectors.sum().backward()  # type: ignore[no-untyped-call]
    return clock.cost()


def model_of(resources: RandomVectors) -> Model:
    """The model with the options of pre-training."""
    from irplatform_graphene.model import Model
    from irplatform_graphene.options import GrapheneOptions, for_pretraining

    return Model(resources, for_pretraining(GrapheneOptions()))


STEPS: dict[str, Callable[[RandomVectors, int], Cost]] = {
    step.__name__: step for step in (graph, prepare, epoch, store)
}


def run_one(step: str, data: Path, size: int, number: int, words: int) -> None:
    """Do one step in this process, and print what it cost."""
    if step == "share":
        cost = share(data)
    else:
        pool = open_path(require(data / "trec-pm" / "2017.toml")).corpus
        resources = RandomVectors(Articles(pool, size), "cpu", SEED, 1, words=words)
        cost = {**STEPS, "plain": plain}[step](resources, number)
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps({**cost, "peak_mib": peak}))


def measure(step: str, arguments: argparse.Namespace, size: int, number: int) -> Cost:
    """Do one step in a process of its own, watching its memory.

    This process stays small: what it had resident counts for those that it starts.
    """
    command = [sys.executable, __file__, "--data", str(arguments.data), "--sizes", str(size)]
    command += ["--one", step, "--number", str(number), "--words", str(arguments.words)]
    private = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            private = max(private, private_memory(process))
            time.sleep(0.2)
        printed = child.communicate()[0]
    if child.returncode:
        sys.exit(f"{step} failed with exit code {child.returncode}")
    cost: Cost = json.loads(printed.splitlines()[-1])
    cost = {name: round(value, 2) for name, value in cost.items()}
    cost["private_mib"] = round(private / 2**20, 2)
    print(f"{size:,} articles, {step}: {cost}", file=sys.stderr, flush=True)
    return cost


def line(sizes: Sequence[int], values: Sequence[float]) -> Cost:
    """The straight line through values, and how far it is from them."""
    slope, intercept = np.polyfit(sizes, values, 1).tolist()
    residuals = [abs(intercept + slope * s - v) / v for s, v in zip(sizes, values, strict=True)]
    return {
        "intercept": round(intercept, 3),
        "per_1000": round(1000 * slope, 4),
        "largest_residual": round(max(residuals), 4),
        "at_a_million": round(intercept + slope * MILLION, 2),
    }


def lines(rows: Mapping[int, Mapping[str, Cost]]) -> dict[str, dict[str, Cost]]:
    """The line of each quantity of each step, over the sizes."""
    sizes = list(rows)
    return {
        step: {
            name: line(sizes, [rows[size][step][name] for size in sizes])
            for name in cost
            if name != "wall_seconds"
        }
        for step, cost in rows[sizes[0]].items()
    }


def main() -> None:
    """Measure each size, put lines through what was measured, and print the line of JSON."""
    command_line = parser(__doc__ or "")
    command_line.add_argument("--sizes", type=int, nargs="+", default=[15_000, 30_000, 60_000])
    command_line.add_argument(
        "--plain", type=int, nargs="+", default=[500, 1_000, 2_000], help="articles of the peer"
    )
    command_line.add_argument("--words", type=int, default=100_000, help="that have a vector")
    command_line.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    command_line.add_argument(
        "--beyond", type=int, help="one more size, which the lines do not see"
    )
    command_line.add_argument("--one", help="of the steps, in this process")
    command_line.add_argument(
        "--number", type=int, default=0, help="epochs, or the peer's articles"
    )
    arguments = command_line.parse_args()
    if arguments.one:
        parameters = arguments.sizes[0], arguments.number, arguments.words
        run_one(arguments.one, arguments.data, *parameters)
        return
    sizes, beyond = sorted(set(arguments.sizes)), arguments.beyond
    plain_sizes: list[int] = arguments.plain
    require(arguments.data / "trec-pm" / "2017.toml")
    if len(sizes) < 2 or sizes[0] < max(plain_sizes):
        command_line.error(f"a line needs two sizes, of {max(plain_sizes):,} articles or more")
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as home:
        os.environ["IRPLATFORM_HOME"] = home
        measure("share", arguments, 0, 0)
        rows: dict[int, dict[str, Cost]] = {}
        for size in sizes + ([beyond] if beyond else []):
            rows[size] = {
                step: measure(step, arguments, size, arguments.rounds) for step in arguments.steps
            }
            if size == sizes[0]:
                peers = {n: {"plain": measure("plain", arguments, size, n)} for n in plain_sizes}
            for folder in Path(home).iterdir():
                if folder.is_dir() and folder.name not in SHARED:
                    shutil.rmtree(folder)
    fitted, peer = lines({size: rows[size] for size in sizes}), lines(peers)
    report(
        "graphene_scale",
        fitted["epoch"]["peak_mib"]["at_a_million"] / 1024,
        peer["plain"]["peak_mib"]["at_a_million"] / 1024,
        "GiB of memory to train on a million articles",
        higher_is_better=False,
        lines={**fitted, **peer},
        beyond=compared(fitted, beyond, rows[beyond]) if beyond else None,
        sizes=rows,
        plain=peers,
    )


def compared(
    fitted: Mapping[str, Mapping[str, Cost]], size: int, row: Mapping[str, Cost]
) -> dict[str, Any]:
    """What the lines say of a size that they have not seen, beside what was measured."""
    return {
        "size": size,
        **{
            step: {
                name: [round(fit["intercept"] + fit["per_1000"] * size / 1000, 2), row[step][name]]
                for name, fit in quantities.items()
            }
            for step, quantities in fitted.items()
        },
    }


if __name__ == "__main__":
    main()
