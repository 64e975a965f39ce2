"""Seconds of each step that workers share, on a Ray cluster of two machines with their own caches.

The machines are two nodes of Ray on this computer, with 1 worker (one machine), 2 and 4. Each step
starts from a cache with nothing but the index; the machines' caches are empty. The files of a step
must be the same to the byte as in one process without Ray, also when one of two workers is killed.
More workers than cores gain nothing.

    python benchmarks/workers.py [--workers 1 2 4] [--steps scoring training …]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

import irplatform as ir  # first: it tells numpy how to compute
from _common import leave_out, report, require
from _medline_files import write_files
from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import concept_graph
from irplatform.documents.pubmed_files import DEFAULT_FIELDS, PubmedCorpus
from irplatform.registry.loading import registry
from irplatform.system.packages import absent
from irplatform.text import build_forward_index
from irplatform.workers.distribution import use_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(os.environ.get("IRPLATFORM_TEST_DATA", "../shared/data"))
MED, KB = DATA / "med", DATA / "kb"
SMALL = {"vectors.dimensions": 50, "vectors.epochs": 1}
ENCODED = 512
"""Documents to encode: transformers are slow on a CPU."""


class Steps:
    """The steps; each returns the folders or files that it made."""

    def __init__(self, folder: Path, articles: int) -> None:
        from encoding import save_models  # with torch, which workers of some steps do without

        self._files = write_files(folder / "medline", articles, per_file=1_000)
        self._model, _ = save_models(folder / "model", "minilm")
        self._encoded = folder / "encoded"
        shutil.copytree(MED, self._encoded)
        with gzip.open(MED / "corpus.jsonl.gz", "rt") as corpus:
            lines = [line for line, _ in zip(corpus, range(ENCODED), strict=False)]
        (self._encoded / "corpus.jsonl.gz").unlink()
        shutil.rmtree(self._encoded / "qrels")  # most name documents that are left out
        (self._encoded / "qrels").mkdir()
        judged = f"query-id\tcorpus-id\tscore\n1\t{json.loads(lines[0])['_id']}\t1\n"
        (self._encoded / "qrels" / "test.tsv").write_text(judged)
        (self._encoded / "corpus.jsonl").write_text("".join(lines))

    def prepare(self) -> None:
        """Install knowledge bases and build indexes, which no step measures."""
        for name, file in (("doid", "doid.json.gz"), ("hgnc", "hgnc_entries.tsv.gz")):
            command = [sys.executable, "-m", "irplatform", "kb", "add", name, str(KB / file)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for collection in ("demo-train", str(MED), str(self._encoded)):
            ir.index(collection)

    def medline(self, folder: Path) -> list[Path]:
        """Read MEDLINE files."""
        with (folder / "articles").open("w") as file:
            for document in PubmedCorpus("m", self._files, DEFAULT_FIELDS):
                file.write(f"{document}\n")
        return [folder]

    def forward_index(self, folder: Path) -> list[Path]:
        """Tokenize and number their words."""
        build_forward_index(PubmedCorpus("m", self._files, DEFAULT_FIELDS), folder / "index")
        return [folder]

    def concepts(self, _folder: Path) -> list[Path]:
        """Find the concepts of documents."""
        corpus = registry().collection(str(MED)).corpus
        graph = concept_graph(corpus, ConceptOptions(knowledge=("doid", "hgnc")))
        return [*graph.path.glob("documents.*")]

    def scoring(self, folder: Path) -> list[Path]:
        """Rerank by the Word Mover's Distance."""
        options: dict[str, Any] = {"settings": SMALL, "interpolate": 0.5, "rerank_depth": 500}
        ir.run(str(MED), "wmd-text", run_dir=folder, **options)
        return [*folder.glob("*.run")]

    def features(self, folder: Path) -> list[Path]:
        """Learn to rank from features of words and their stems."""
        settings = {"features": ["lexical", "stems"], "tree.trees": 50}
        ir.train(
            str(MED), "ltr", settings=settings, members=2, out=folder / "ltr", rerank_depth=500
        )
        return [*folder.glob("ltr/member-*")]

    def training(self, folder: Path) -> list[Path]:
        """Train the members of a neural reranker."""
        settings = {**SMALL, "loop.epochs": 4}
        ir.train("demo-train", "delta", settings=settings, members=4, out=folder / "delta")
        return [*folder.glob("delta/member-*")]

    def encoding(self, folder: Path) -> list[Path]:
        """Encode documents with a transformer, and search."""
        settings = {"bi-encoder.model": str(self._model)}
        ir.run(str(self._encoded), first_stages="bi-encoder", settings=settings, run_dir=folder)
        return [*folder.glob("*.run")]


NAMES = ("medline", "forward_index", "concepts", "scoring", "features", "training", "encoding")


def digest(paths: list[Path]) -> str:
    """A digest of all files in some folders, with their names."""
    checksum = hashlib.sha256()
    for path in sorted(paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                checksum.update(file.name.encode() + file.read_bytes())
    return checksum.hexdigest()[:16]


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[None]:
    """A Ray cluster of so many workers on two machines, for `use_workers`."""
    from ray.cluster_utils import Cluster

    shares = [workers] if workers < 2 else [workers - workers // 2, workers // 2]
    machines = Cluster()
    for number, share in enumerate(shares):
        variables = {"IRPLATFORM_HOME": str(folder / f"machine-{number}")}
        head = {"include_dashboard": False} if not number else {}
        machines.add_node(num_cpus=share, env_vars=variables, **head)
    os.environ["RAY_ADDRESS"] = machines.address
    try:
        yield
    finally:
        del os.environ["RAY_ADDRESS"]
        machines.shutdown()


class Killer:
    """Kills the first worker that is at work, some seconds after its start."""

    def __init__(self, after: float) -> None:
        self.killed = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._kill, args=(after,))

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _kill(self, after: float) -> None:
        if self._ended.wait(after):
            return
        while not self._ended.wait(0.05):
            for process in psutil.process_iter(["name", "cmdline"]):
                if (process.info["cmdline"] or [""])[0] == "ray::_work":
                    process.kill()
                    self.killed = process.pid
                    return


def main() -> None:
    """Measure, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--articles", type=int, default=12_000, help="of generated MEDLINE")
    parser.add_argument("--steps", nargs="*", choices=NAMES, default=list(NAMES))
    options = parser.parse_args()
    require(MED)
    if absent("ray"):
        leave_out("Ray is not installed.")
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["IRPLATFORM_HOME"] = str(folder / "base")
        steps = Steps(folder, options.articles)
        steps.prepare()

        def measure(name: str, label: str, kill_after: float = 0) -> tuple[float, str]:
            home, output = folder / f"{name}-{label}", folder / f"{name}-{label}-made"
            shutil.copytree(folder / "base", home)
            output.mkdir()
            os.environ["IRPLATFORM_HOME"] = str(home)
            step: Callable[[Path], list[Path]] = getattr(steps, name)
            with use_workers(1 if label == "alone" else "ray"):
                started = time.monotonic()
                with Killer(kill_after) if kill_after else nullcontext() as killer:
                    paths = step(output)
                if killer and not killer.killed:
                    print(f"{name}: no worker was killed", file=sys.stderr)
                seconds = time.monotonic() - started
            mark = digest(paths)
            shutil.rmtree(home)
            print(f"{name:14} {label:10} {seconds:6.1f} s  {mark}", file=sys.stderr, flush=True)
            return seconds, mark

        for name in options.steps:
            seconds, mark = measure(name, "alone")
            row: dict[str, float] = {"alone": seconds}
            for workers in options.workers:
                with cluster(workers, folder / f"{name}-{workers}"):
                    seconds, other_mark = measure(name, f"{workers}")
                assert other_mark == mark, f"{name} with {workers} workers made other bytes"
                row[f"{workers}"] = seconds
            with cluster(2, folder / f"{name}-killed"):
                seconds, other_mark = measure(name, "killed", kill_after=row.get("2", 8) / 3)
            assert other_mark == mark, f"{name} after a kill made other bytes"
            row["2, one killed"] = seconds
            rows[name] = row
    total = {key: sum(row[key] for row in rows.values()) for key in row}
    report(
        "workers",
        total[str(max(options.workers, default=1))],
        total["alone"],
        "seconds of all steps",
        higher_is_better=False,
        steps={step: {key: round(row[key], 2) for key in row} for step, row in rows.items()},
    )


if __name__ == "__main__":
    main()
