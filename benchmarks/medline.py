"""MEDLINE's files: documents per second and peak memory, read alone and into a Lucene index.

The files are generated in the official format (`_medline_files.py`) and read by a `PubmedCorpus`
with all cores. The peer is ir_datasets' own reader of MEDLINE, which has one process and takes less
of an article: the title and the abstract's first section up to the first italics, and no headings.
Each measurement has a process of its own whose memory is watched together with its workers'. At a
million articles the files take 1.3 GB of temporary space and the index 4 GB.

    python benchmarks/medline.py [--sizes 100000 1000000] [--peer-up-to 100000]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from _common import private_memory, report
from _medline_files import write_files
from irplatform.documents.pubmed_files import DEFAULT_FIELDS, PubmedCorpus, latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEDLINE_2017 = 26_740_025
"""Records of MEDLINE in TREC Precision Medicine 2017 and 2018."""
COMPARED = 5_000
"""Documents that are compared with the peer's."""


class LocalTar:
    """What ir_datasets reads MEDLINE from: a tar file with the gzipped files in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def stream(self) -> Iterator[Any]:
        """The file, open for reading."""
        with self.path.open("rb") as file:
            yield file


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xml.gz"))


def stream(folder: Path) -> int:
    """Ours, with all cores."""
    return sum(1 for _ in PubmedCorpus("medline", files_in(folder)))


def stream_in_one_process(folder: Path) -> int:
    """Ours, as the peer has to work."""
    return sum(1 for _ in latest(reversed(files_in(folder)), DEFAULT_FIELDS, workers=1))


def index(folder: Path) -> int:
    """Ours, into an index that is thrown away."""
    from irplatform.lucene import LuceneIndex, build_index

    with tempfile.TemporaryDirectory() as home:
        os.environ["IRPLATFORM_HOME"] = home
        built = build_index(PubmedCorpus("medline", files_in(folder)))
        return int(LuceneIndex.open(built.path).stats()["documents"])


def peer(folder: Path) -> int:
    """ir_datasets'."""
    return sum(1 for _ in peers_records(folder))


def peers_records(folder: Path) -> Iterator[Any]:
    from ir_datasets.datasets.medline import MedlineDocs

    yield from MedlineDocs("2017", [LocalTar(folder / "part1.tar.gz")]).docs_iter()


SIDES: dict[str, Callable[[Path], int]] = {
    "stream": stream,
    "stream_in_one_process": stream_in_one_process,
    "index": index,
    "peer": peer,
}


def generate(folder: Path, size: int) -> None:
    """Write the files, and the tar file of the same files that the peer reads."""
    write_files(folder, size)
    with tarfile.open(folder / "part1.tar.gz", "w:gz", compresslevel=1) as archive:
        for path in files_in(folder):
            archive.add(path, path.name)


def compare_documents(folder: Path) -> None:
    """Stop if the peer has text that ours have not."""
    documents = {document.id: document for document in latest(files_in(folder)[:1], DEFAULT_FIELDS)}
    for record in islice(peers_records(folder), COMPARED):
        document = documents[record.doc_id]
        if not (
            document.title.startswith((record.title or "").strip())
            and (record.abstract or "").strip() in document.abstract
        ):
            sys.exit(f"article {record.doc_id} differs: {document} is not {record}")


def measure(side: str, folder: Path) -> dict[str, Any]:
    """Run one side in a process of its own, watching the memory of it and its workers."""
    command = [sys.executable, __file__, "--one", side, "--read", str(folder)]
    memory = []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            memory.append(private_memory(process) / 2**20)
            time.sleep(0.1)
        printed = child.communicate()[0]
    if child.returncode:
        sys.exit(f"{side} failed with exit code {child.returncode}")
    measured = json.loads(printed.splitlines()[-1])
    for unit in ("second", "cpu_second"):
        rate = measured["documents"] / measured[f"{unit}s"]
        measured[f"documents_per_{unit}"] = round(rate, 1)
    measured["peak_mib"] = round(max(memory), 1)
    measured["peak_mib_of_each_quarter"] = [
        round(max(memory[len(memory) * part // 4 :][: len(memory) // 4 + 1]), 1)
        for part in range(4)
    ]
    print(f"{side}: {measured}", file=sys.stderr, flush=True)
    return measured


def run_one(side: str, folder: Path) -> None:
    started = time.perf_counter()
    documents = SIDES[side](folder)
    seconds = time.perf_counter() - started
    processors = sum(os.times()[:4])  # of this process and of its workers, which have ended
    print(json.dumps({"documents": documents, "seconds": seconds, "cpu_seconds": processors}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--peer-up-to", type=int, default=100_000, help="the peer's largest size")
    parser.add_argument("--one", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        run_one(arguments.one, arguments.read)
        return
    sizes = sorted(arguments.sizes)
    if sizes[0] > arguments.peer_up_to:
        parser.error("no size is small enough for the peer; see --peer-up-to")
    detail: dict[int, dict[str, Any]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            generate(folder, size)
            if size == sizes[0]:
                compare_documents(folder)
            sides = [s for s in SIDES if size <= arguments.peer_up_to or s in ("stream", "index")]
            detail[size] = {side: measure(side, folder) for side in sides}
            detail[size]["bytes"] = sum(path.stat().st_size for path in files_in(folder))
            wrong = [side for side in sides if detail[size][side]["documents"] != size]
            if wrong:
                sys.exit(f"of {size} articles, {wrong[0]} read another number")
    compared = detail[max(size for size in sizes if size <= arguments.peer_up_to)]
    largest = detail[sizes[-1]]
    report(
        "medline",
        compared["stream"]["documents_per_second"],
        compared["peer"]["documents_per_second"],
        "documents/s",
        higher_is_better=True,
        cores=os.cpu_count(),
        projected_for_medline_2017={
            f"{side}_{hours}": round(MEDLINE_2017 / largest[side][rate] / 3600, 2)
            for side in ("stream", "index")
            for hours, rate in (
                ("hours", "documents_per_second"),
                ("processor_hours", "documents_per_cpu_second"),
            )
        },
        sizes=detail,
    )


if __name__ == "__main__":
    main()
