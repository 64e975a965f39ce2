"""Search of learned sparse vectors: topics a second of our index, against BMP, Lucene and Seismic.

The vectors are those that a small SPLADE makes of a collection's documents and topics. The engines
that claim to be exact search the same whole numbers: documents' weights up to 255, topics' up to
32. They are ours, BMP (block-max pruning, alpha and beta 1; a block of empty documents is added,
since the block with the least bound is never scored; its scores are taken modulo 65,536, so long
topics lose their best documents), and Lucene, as Pyserini searches impacts (results stay in Java).
Seismic is approximate; it searches the weights as they are, with several settings, and the fastest
that finds 99 % of the true first ten is named. Every engine is held against an exhaustive product:
the share of the true results that it finds, and for exact ones the topics whose scores are all
right. One thread, results as Python's lists but for Lucene's.

`--generated` searches so many documents whose lengths and words are drawn from the real ones, with
ours alone, and tells the memory that the search takes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import irplatform.system.arithmetic  # noqa: F401 - first: it sets numpy's arithmetic

import numpy as np  # isort: skip
import psutil
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix, load_npz, random, save_npz

from _common import measure, parser, private_memory, rate, report, require
from _models import SPLADE, packaged_model
from irplatform.collection_resources import on_this_machine
from irplatform.collections.beir import open_beir
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.lucene.java import anserini_program, java_class, java_list
from irplatform.postings.sparse_index import SparseIndex
from irplatform.registry.loading import registry
from irplatform.system.packages import absent
from irplatform_encoders.sparse.model import SparseTextEncoder
from irplatform_encoders.sparse.options import SparseEncoderOptions
from irplatform_encoders.sparse.store import SparseVectorStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Search = Callable[[int], Sequence[Sequence[str]]]

DEPTHS = (10, 1000)
ENGINES = ("bmp", "seismic", "lucene")
LARGEST, LARGEST_OF_TOPIC = 255, 32
BMP_BLOCKS = (8, 32)
SEISMIC = [(cut, factor) for cut in (10, 20, 50) for factor in (0.9, 0.8, 0.7, 0.6)]
"""Words of a topic that Seismic looks at, and the factor by which it overrates its threshold."""
ENOUGH = 0.99


@dataclass
class Vectors:
    """Vectors of documents and topics, their names, and the words of columns."""

    names: list[str]
    documents: csr_matrix
    topics: csr_matrix
    words: list[str]

    def with_integers(self) -> Vectors:
        """The same with weights as whole numbers."""
        documents, topics = self.documents.copy(), self.topics.copy()
        documents.data = np.rint(documents.data / documents.data.max() * LARGEST)
        of_topic = np.repeat(topics.max(axis=1).toarray()[:, 0], np.diff(topics.indptr))
        topics.data = np.rint(topics.data / of_topic * LARGEST_OF_TOPIC)
        for vectors in (documents, topics):
            vectors.eliminate_zeros()
        return Vectors(self.names, documents, topics, self.words)

    def weights(self, vectors: csr_matrix) -> Iterator[dict[str, int]]:
        """The words of each vector and their weights."""
        for row in vectors:
            pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True)
            yield {self.words[column]: int(weight) for column, weight in pairs}


def encoded(folder: Path, split: str, topics: int, documents: int | None) -> Vectors:
    """The vectors of a collection's first documents, kept in the cache, and of its last topics.

    Parts of long documents stand for documents.
    """
    name = f"{folder}:{split}"
    collection = registry().documents_of(name)
    resources = on_this_machine(resources_for(RunSettings(name), collection))
    encoder = SparseTextEncoder(SparseEncoderOptions(model=str(packaged_model(SPLADE))), "cpu", 2)
    store = SparseVectorStore(resources, encoder)
    rows = np.arange(store.count)[:documents]
    parts = store.rows(rows)
    owners = np.repeat(resources.forward_index().doc_ids(rows), np.diff(parts.offsets))
    names = [f"{owner}#{number}" for number, owner in enumerate(owners)]
    queries = [topic.query for topic in open_beir(folder, split).load_topics()][-topics:]
    return Vectors(names, parts.vectors, encoder.queries(queries), [*encoder.words])


def random_vectors(count: int, topics: int, seed: int = 1) -> Vectors:
    """Vectors without any model, which show that the program runs."""
    documents, queries = (
        random(rows, 500, share, "csr", np.float32, random_state=seed)
        for rows, share in ((count, 0.1), (topics, 0.03))
    )
    words = [f"w{column}" for column in range(500)]
    return Vectors([f"d{number}" for number in range(count)], documents, queries, words)


def generated(real: Vectors, count: int, seed: int = 1) -> Vectors:
    """Documents that have as many words as a real one, drawn with weights from all real ones."""
    rng = np.random.default_rng(seed)
    lengths = rng.choice(np.diff(real.documents.indptr), count)
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    columns = np.empty(ends[-1], np.int32)
    weights = np.empty(ends[-1], np.float32)
    step = 10_000
    for start in range(0, count, step):
        places = slice(ends[start], ends[min(start + step, count)])
        drawn = rng.integers(0, real.documents.nnz, places.stop - places.start)
        columns[places] = real.documents.indices[drawn]
        weights[places] = real.documents.data[drawn]
    documents = csr_matrix((weights, columns, ends), shape=(count, len(real.words)))
    return Vectors([f"g{number:09}" for number in range(count)], documents, real.topics, real.words)


def with_ours(vectors: Vectors, folder: Path) -> Search:
    SparseIndex.write(folder, vectors.names, vectors.words, vectors.documents.__getitem__, step=1)
    index = SparseIndex(folder)
    return lambda depth: [r.doc_ids for r in index.search(vectors.topics, depth, compiled=True)]


def with_bmp(vectors: Vectors, folder: Path, block: int) -> Search:
    import bmp

    indexer = bmp.Indexer(str(folder / "index"), block, False)
    for name, weights in zip(vectors.names, vectors.weights(vectors.documents), strict=True):
        indexer.add_document(name, weights)
    for number in range(-len(vectors.names) % block + block):
        indexer.add_document(f"empty{number}", {"@empty": 1})
    indexer.finish()
    searcher = bmp.Searcher(str(folder / "index"))
    topics = [*vectors.weights(vectors.topics)]
    return lambda depth: [searcher.search(t, k=depth, alpha=1.0, beta=1.0)[0] for t in topics]


def with_lucene(vectors: Vectors, folder: Path) -> Search:
    (folder / "source").mkdir()
    with (folder / "source" / "vectors.jsonl").open("w") as file:
        for name, weights in zip(vectors.names, vectors.weights(vectors.documents), strict=True):
            file.write(json.dumps({"id": name, "contents": "", "vector": weights}) + "\n")
    options = f"-collection JsonVectorCollection -input {folder / 'source'} -threads 1 -impact"
    options += f" -pretokenized -generator DefaultLuceneDocumentGenerator -index {folder / 'index'}"
    anserini_program("io.anserini.index.IndexCollection").main(options.split())
    shutil.rmtree(folder / "source")
    searcher = anserini_program("io.anserini.search.SimpleImpactSearcher")(str(folder / "index"))
    maps, names = [], []
    for number, weights in enumerate(vectors.weights(vectors.topics)):
        words = java_class("java.util.HashMap")()
        for word, weight in weights.items():
            words.put(word, java_class("java.lang.Integer").valueOf(weight))
        maps.append(words)
        names.append(str(number))
    maps, topics = java_list(maps), java_list(names)

    def search(depth: int) -> Any:
        results = searcher.batch_search(maps, topics, depth, 1)
        return _Hits([results.get(name) for name in names]) if search.wraps_hits else results

    search.wraps_hits = False
    return search


class _Hits(list):
    """Lucene's results as lists of ids."""

    def __init__(self, results: list[Any]) -> None:
        super().__init__([hit.docid for hit in hits or ()] for hits in results)


def with_seismic(vectors: Vectors) -> Callable[[int, float], Search]:
    from seismic import SeismicDataset, SeismicIndex, get_seismic_string

    text = get_seismic_string()
    words = np.array(vectors.words, dtype=text)
    dataset = SeismicDataset()
    for name, row in zip(vectors.names, vectors.documents, strict=True):
        dataset.add_document(name, words[row.indices], row.data)
    index = SeismicIndex.build_from_dataset(dataset, num_threads=1)
    ids = np.array([str(number) for number in range(vectors.topics.shape[0])], dtype=text)
    columns = [words[row.indices] for row in vectors.topics]
    weights = [row.data for row in vectors.topics]

    def of(cut: int, factor: float) -> Search:
        def search(depth: int) -> list[list[str]]:
            results: list[list[str]] = [[] for _ in ids]
            for hits in index.batch_search(
                ids, columns, weights, k=depth, query_cut=cut, heap_factor=factor, num_threads=1
            ):
                for topic, _, name in hits:
                    results[int(topic)].append(name)
            return results

        return search

    return of


def truth(vectors: Vectors) -> Callable[..., np.ndarray]:
    """The scores of documents for a topic, by an exhaustive product: the best, or those of some."""
    places = {name: place for place, name in enumerate(vectors.names)}
    products = (vectors.topics.astype(np.float64) @ vectors.documents.T).toarray()
    best = -np.sort(-products, axis=1)[:, : max(DEPTHS)]

    def scores(topic: int, names: Sequence[str] | None = None) -> np.ndarray:
        of_all = products[topic]
        if names is None:
            return best[topic][best[topic] > 0]
        return of_all[[places[name] for name in names if name in places]]

    return scores


def share_and_right(results: Sequence[Sequence[str]], scores: Any, depth: int) -> tuple[float, int]:
    """The share of true results among those found, ties in any order, and topics all right."""
    shares, right = [], 0
    for topic, names in enumerate(results):
        true = scores(topic)[:depth]
        values = np.sort(scores(topic, names[:depth]))[::-1]
        if len(true):
            shares.append((values >= true[-1] * (1 - 1e-6)).sum() / len(true))
        right += len(values) == len(true) and np.allclose(values, true, rtol=1e-6)
    return float(np.mean(shares)), right


def folder_size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def built(make: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What is made, the seconds that takes, and megabytes of memory."""
    process = psutil.Process()
    memory, began = private_memory(process), time.perf_counter()
    product = make()
    seconds = time.perf_counter() - began
    return product, {"seconds": seconds, "memory": (private_memory(process) - memory) / 1e6}


def build_all(
    vectors: Vectors, engines: Sequence[str], scratch: Path
) -> tuple[dict[str, Search], dict[str, dict[str, Any]]]:
    """The searches of all engines that are installed, and what it costs to build each."""
    integer_vectors = vectors.with_integers()
    makers: dict[str, Callable[[Path], Search]] = {"ours": lambda f: with_ours(integer_vectors, f)}
    if "bmp" in engines and not absent("bmp"):
        for block in BMP_BLOCKS:
            makers[f"bmp {block}"] = lambda f, b=block: with_bmp(integer_vectors, f, b)
    sides: dict[str, Search] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name, make in makers.items():
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        sides[name], rows[name] = built(partial(make, folder))
        rows[name]["disk"] = folder_size(folder)
    if "seismic" in engines and not absent("seismic"):
        make_seismic, cost = built(partial(with_seismic, vectors))
        for cut, factor in SEISMIC:
            sides[f"seismic {cut} {factor}"] = make_seismic(cut, factor)
            rows[f"seismic {cut} {factor}"] = dict(cost)
    if "lucene" in engines:  # the last: Java's memory is not of one index
        (scratch / "lucene").mkdir()
        sides["lucene"], rows["lucene"] = built(
            partial(with_lucene, integer_vectors, scratch / "lucene")
        )
        rows["lucene"]["disk"] = folder_size(scratch / "lucene")
    return sides, rows


def compare(
    vectors: Vectors, engines: Sequence[str], rounds: int, scratch: Path
) -> dict[str, dict[str, Any]]:
    """Build and measure all engines that are installed."""
    sides, rows = build_all(vectors, engines, scratch)
    integer_vectors = vectors.with_integers()
    count = vectors.topics.shape[0]
    exact, approximate = truth(integer_vectors), truth(vectors)
    for depth in DEPTHS:
        for name, search in sides.items():
            if hasattr(search, "wraps_hits"):
                search.wraps_hits = True
            scores = approximate if name.startswith("seismic") else exact
            rows[name][f"share {depth}"], rows[name][f"right {depth}"] = share_and_right(
                search(depth), scores, depth
            )
            if hasattr(search, "wraps_hits"):
                search.wraps_hits = False
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, search in sides.items():
                began = time.process_time()
                search(depth)
                times[name].append(time.process_time() - began)
        for name, seconds_of in times.items():
            rows[name][f"speed {depth}"] = rate(count, seconds_of)
    return rows


def show(title: str, rows: dict[str, dict[str, Any]], topics: int) -> None:
    table = Table("", title=title, title_style="")
    columns = [f"{word} {d}" for d in DEPTHS for word in ("topics/s", "% found", "topics right")]
    for column in (*columns, "s to build", "MB disk", "MB memory"):
        table.add_column(column, justify="right")
    for name, row in rows.items():
        cells = []
        for depth in DEPTHS:
            cells += [f"{row[f'speed {depth}']:,.0f}", f"{100 * row[f'share {depth}']:.2f}"]
            cells.append(f"{row[f'right {depth}']} of {topics}")
        cells += [f"{row['seconds']:.1f}", f"{row.get('disk', 0):.1f}", f"{row['memory']:.1f}"]
        table.add_row(name, *cells)
    Console(stderr=True, width=160).print(table)


def search_generated(vectors: Vectors, rounds: int, folder: Path) -> dict[str, float]:
    """Write an index of many documents, and search it in a process of its own."""
    began = time.perf_counter()
    step = float(vectors.documents.data.max()) / LARGEST
    (folder / "index").mkdir()
    SparseIndex.write(
        folder / "index", vectors.names, vectors.words, vectors.documents.__getitem__, step=step
    )
    seconds = time.perf_counter() - began
    save_npz(folder / "topics.npz", vectors.topics)
    command = [sys.executable, __file__, "--searched", str(folder), "--rounds", str(rounds)]
    _, printed = measure(command)
    disk = folder_size(folder / "index")
    return {"seconds_to_build": seconds, "disk_mb": disk, **json.loads(printed)}


def search_written(folder: Path, rounds: int) -> dict[str, float]:
    """Search an index: topics a second, and memory apart from the pages of mapped files."""
    index, topics = SparseIndex(folder / "index"), load_npz(folder / "topics.npz")
    figures = {}
    for depth in DEPTHS:
        times = []
        for _ in range(rounds + 1):
            start = time.process_time()
            index.search(topics, depth, compiled=True)
            times.append(time.process_time() - start)
        figures[f"topics_a_second_{depth}"] = rate(topics.shape[0], times[1:])
    process = psutil.Process()
    figures["private_mb"] = private_memory(process) / 1e6
    figures["mapped_mb"] = process.memory_info().shared / 1e6
    return figures


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--collection", default="nfcorpus", help="a folder of the data")
    command_line.add_argument("--split", default="dev")
    command_line.add_argument("--topics", type=int, default=300)
    command_line.add_argument("--documents", type=int, help="of the collection; all by default")
    command_line.add_argument("--engines", nargs="*", default=ENGINES, choices=ENGINES)
    command_line.add_argument("--random", type=int, help="so many random vectors, of no model")
    command_line.add_argument("--generated", type=int, help="search so many made-up documents")
    command_line.add_argument("--searched", type=Path, help=argparse.SUPPRESS)
    arguments = command_line.parse_args()
    if arguments.searched:
        print(json.dumps(search_written(arguments.searched, arguments.rounds)))
        return
    if arguments.random:
        vectors = random_vectors(arguments.random, arguments.topics)
    else:
        folder = require(arguments.data / arguments.collection)
        vectors = encoded(folder, arguments.split, arguments.topics, arguments.documents)
    shape = {"collection": arguments.collection, "documents": len(vectors.names)}
    with tempfile.TemporaryDirectory() as place:
        if arguments.generated:
            documents = generated(vectors, arguments.generated)
            figures = search_generated(documents, arguments.rounds, Path(place))
            rounded = {name: round(figure, 1) for name, figure in figures.items()}
            speed = figures["topics_a_second_10"]
            report("sparse_search", speed, None, "topics/s", higher_is_better=True, **rounded)
            return
        rows = compare(vectors, arguments.engines, arguments.rounds, Path(place))
    topics = vectors.topics.shape[0]
    show(f"{arguments.collection}: {len(vectors.names):,} documents", rows, topics)
    speeds = {name: row[f"speed {DEPTHS[0]}"] for name, row in rows.items() if name != "ours"}
    exact = {name: speed for name, speed in speeds.items() if not name.startswith("seismic")}
    good = {name: s for name, s in speeds.items() if rows[name][f"share {DEPTHS[0]}"] >= ENOUGH}
    peer = max(exact, key=exact.__getitem__, default=None)
    report(
        "sparse_search",
        rows["ours"][f"speed {DEPTHS[0]}"],
        exact.get(peer),
        "topics/s",
        higher_is_better=True,
        against=peer,
        fastest_at_99_percent=max(good, key=good.__getitem__, default=None),
        topics=topics,
        **shape,
        engines={n: {k: round(v, 4) for k, v in row.items()} for n, row in rows.items()},
    )


if __name__ == "__main__":
    main()
