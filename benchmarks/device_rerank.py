"""Rerankers on a GPU and on the CPU: milliseconds to score 500 documents of 300 words.

The documents are judged ones of TREC Precision Medicine 2017, lengthened to 300 words. Weights are
untrained, and vectors of 100,000 words random; trained ones cost the same time. Each reranker has
the same weights on both devices, and its scores must agree. The peer is Delta written directly in
torch, which is given word rows and lexical features on the same device.

`--prepare FOLDER` writes a forward index and weights, twelve megabytes, for `--run FOLDER` on a
machine without the collection or Java.

    python benchmarks/device_rerank.py --prepare slice
    python benchmarks/device_rerank.py --run slice --device cuda
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from _common import parser, report, require
from delta_rerank import candidates, direct_form, direct_input
from drmm_rerank import WORDS, LongDocuments
from irplatform.collections.names import open_path
from irplatform.files.digests import fingerprint
from irplatform.plugin import Documents, Topic
from irplatform.registry.loading import registry
from irplatform.text import ForwardIndex, WordVectors
from irplatform.training.weights import WeightFile
from irplatform_delta import closest_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from irplatform.plugin import Document
    from irplatform.plugin.rerankers import TrainableReranker
    from irplatform.text import VectorOptions

    Pools = Sequence[tuple[Topic, Documents]]

DIMENSIONS = 300
VOCABULARY = 100_000
LEAST_FREQUENCY = 5
TOLERANCE = 1e-4
RERANKERS: dict[str, dict[str, Any]] = {
    "delta": {"document_words": WORDS},
    "drmm": {"document_words": WORDS, "stemmer": "none"},
    "sevmos-c3": {"document_words": WORDS},
    "deepsense": {"numbers": [], "categories": []},
    "graphene-nograph": {"document_words": WORDS, "expansion": False},
    "dual-encoder": {"words": "fixed"},
}
"""Rerankers, with settings that need neither Java nor knowledge bases."""


@dataclass
class Slice:
    """Resources over a forward index in a folder, with random word vectors."""

    folder: Path
    device: str
    threads: int
    scratch: Path
    seed: int = 1
    system_seed: int = 1
    _index: ForwardIndex | None = None
    _vectors: list[WordVectors] = field(default_factory=list)

    @property
    def model_threads(self) -> int:
        """The number of threads that is measured."""
        return self.threads

    def forward_index(self) -> ForwardIndex:
        """The index that `--prepare` made."""
        if self._index is None:
            self._index = ForwardIndex.open(self.folder / "index")
        return self._index

    def vectors(self, options: VectorOptions | None = None) -> WordVectors:  # noqa: ARG002
        """Vectors of frequent words, and of as many others as make up a large vocabulary."""
        if not self._vectors:
            index = self.forward_index()
            frequent = np.flatnonzero(index.collection_frequency("text") >= LEAST_FREQUENCY)
            words = [index.vocabulary[word] for word in frequent]
            words += [f"other{number}" for number in range(VOCABULARY - len(words))]
            drawn = np.random.default_rng(1).normal(0, 0.15, size=(len(words), DIMENSIONS))
            self._vectors.append(WordVectors.with_unk(words, drawn.astype(np.float32), seed=1))
        return self._vectors[0]

    def documents(self, doc_ids: Sequence[str]) -> Documents:
        """Documents whose text cannot be read."""
        return Documents(doc_ids, _not_read)

    def artifact(
        self,
        kind: str,
        depends_on: Mapping[str, object],
        build: Callable[[Path], None],
        **_: bool,
    ) -> Path:
        """A folder that is built once for each device."""
        path = self.scratch / f"{kind}-{fingerprint(depends_on)}"
        if not path.exists():
            path.mkdir(parents=True)
            build(path)
        return path

    @contextmanager
    def progress(self, label: str, total: int, unit: str = "") -> Iterator[Callable[[int], None]]:
        """Show nothing."""
        del label, total, unit
        yield lambda _: None

    def notice(self, message: str) -> None:
        """Show a line."""
        print(message, file=sys.stderr)


def reranker(name: str, resources: Slice) -> TrainableReranker:
    """A reranker of the table, with untrained weights."""
    instance: TrainableReranker = registry().reranker(name).create(RERANKERS[name])  # type: ignore[assignment]
    instance.prepare(resources)  # type: ignore[arg-type]
    return instance


def prepare(folder: Path, data: Path, topics: int, documents: int) -> None:
    """Write the forward index of candidates, the topics, and the weights of all rerankers."""
    collection = open_path(require(data / "trec-pm" / "2017.toml"))
    pools = candidates(collection, topics, documents)
    ids = tuple(sorted({doc_id for _, read in pools for doc_id in read.ids}))
    (folder / "index").mkdir(parents=True)
    corpus = collection.corpus
    LongDocuments(corpus, "cpu", 1, threads=2, ids=ids, folder=folder / "index").forward_index()
    rows = [{"id": topic.id, "query": topic.query, "ids": list(read.ids)} for topic, read in pools]
    (folder / "topics.json").write_text(json.dumps(rows), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        resources = Slice(folder, "cpu", 1, Path(scratch))
        for name in RERANKERS:
            (folder / name).mkdir()
            reranker(name, resources).save(folder / name)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB", file=sys.stderr)


def read_topics(folder: Path) -> Pools:
    """The topics and their candidates."""
    rows = json.loads((folder / "topics.json").read_text(encoding="utf-8"))
    return [(Topic(t["id"], t["query"]), Documents(t["ids"], _not_read)) for t in rows]


def _not_read(doc_ids: Sequence[str]) -> Sequence[Document]:
    raise RuntimeError(f"no reranker here reads the text of {len(doc_ids)} documents")


def milliseconds(score: Callable[[], object], rounds: int) -> float:
    """The median of some rounds, after two to warm up."""
    times = []
    for number in range(rounds + 2):
        started = time.perf_counter()
        score()
        if number > 1:
            times.append((time.perf_counter() - started) * 1000)
    return median(times)


def direct(folder: Path, resources: Slice, pools: Pools, rounds: int) -> float:
    """Milliseconds per topic of Delta written directly in torch."""
    delta: Any = reranker("delta", resources)
    (file,) = (folder / "delta").glob("*.safetensors")
    peer = direct_form(WeightFile(file).load(), resources.vectors(), delta.options).to(
        resources.device
    )
    index, times = resources.forward_index(), []
    for topic, documents in pools:
        parts = index, resources.vectors(), delta.options, topic, documents.ids
        inputs = [tensor.to(resources.device) for tensor in direct_input(*parts)]
        with torch.inference_mode():
            times.append(milliseconds(lambda tensors=inputs: peer(*tensors).tolist(), rounds))
    return median(times)


def measure(
    folder: Path, resources: Slice, pools: Pools, rounds: int, compiled: bool
) -> dict[str, dict[str, Any]]:
    """For each reranker the milliseconds per topic, alone and all topics at once, and scores."""
    table = {}
    for name in RERANKERS:
        instance: Any = reranker(name, resources)
        instance.load(folder / name)
        if compiled and name == "delta":
            instance.network.tabulated = torch.compile(instance.network.tabulated, dynamic=True)
            closest_words.relate = torch.compile(closest_words.relate, dynamic=True)
        scores = np.concatenate(instance.score_batch(pools))
        alone = [milliseconds(partial(instance.score_batch, [pair]), rounds) for pair in pools]
        together = milliseconds(partial(instance.score_batch, pools), rounds)
        table[name] = {"alone": median(alone), "batch": together / len(pools), "scores": scores}
        print(
            f"{resources.device:5} {name:18} {median(alone):8.2f} ms a topic, "
            f"{together / len(pools):8.2f} ms in a batch of {len(pools)}",
            file=sys.stderr,
        )
    return table


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=5)
    command_line.add_argument("--topics", type=int, default=10)
    command_line.add_argument("--documents", type=int, default=500, help="documents of a topic")
    command_line.add_argument("--threads", type=int, default=2, help="torch's threads on the CPU")
    command_line.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    command_line.add_argument("--compile", action="store_true", help="compile Delta on the GPU")
    command_line.add_argument("--prepare", type=Path, metavar="FOLDER")
    command_line.add_argument("--run", type=Path, metavar="FOLDER")
    arguments = command_line.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # or a GPU rounds to three digits
    torch.set_num_threads(arguments.threads)

    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.prepare or arguments.run or Path(scratch) / "slice"
        if arguments.run is None:
            prepare(folder, arguments.data, arguments.topics, arguments.documents)
        if arguments.prepare is not None:
            return
        pools = read_topics(folder)
        tables, peer = {}, 0.0
        for device in dict.fromkeys(["cpu", arguments.device]):
            resources = Slice(folder, device, arguments.threads, Path(scratch) / device)
            compiled = arguments.compile and device != "cpu"
            tables[device] = measure(folder, resources, pools, arguments.rounds, compiled)
            peer = direct(folder, resources, pools, arguments.rounds)
    device_table = tables[arguments.device]
    differences = {
        name: float(abs(device_table[name]["scores"] - row["scores"]).max())
        for name, row in tables["cpu"].items()
    }
    if max(differences.values()) > TOLERANCE:
        sys.exit(f"the devices disagree: {differences}")
    report(
        "device_rerank",
        device_table["delta"]["alone"],
        peer,
        f"ms per {arguments.documents} documents, delta on {arguments.device}",
        higher_is_better=False,
        threads=arguments.threads,
        milliseconds={
            device: {n: {k: round(row[k], 3) for k in ("alone", "batch")} for n, row in t.items()}
            for device, t in tables.items()
        },
        seconds_of_all={
            device: round(sum(row["batch"] for row in table.values()) * len(pools) / 1000, 3)
            for device, table in tables.items()
        },
        differences=differences,
    )


if __name__ == "__main__":
    main()
