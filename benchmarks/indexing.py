"""Indexing: documents per second, against Anserini's `IndexCollection` on prepared files.

Ours is `build_index` from the collection's own compressed files: decompression, parsing and
conversion are on the clock, and so are its checks. The peer reads uncompressed files in Anserini's
own format that were written before. Both make the same index with the same number of threads and
the same buffer, in the same JVM.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from _common import alternate, parser, rate, report, require
from irplatform.collections.names import open_path
from irplatform.lucene import build_index
from irplatform.lucene.java import anserini_program, java_class
from irplatform.lucene.transfer import to_record
from irplatform.workers.distribution import available_cores

if TYPE_CHECKING:
    from irplatform.data import Corpus


def write_files(corpus: Corpus, folder: Path, files: int) -> int:
    """Write a corpus as Anserini's JSON lines, dealt out to some files; returns its size."""
    count = 0
    with ExitStack() as stack:
        shards = [
            stack.enter_context((folder / f"{number}.jsonl").open("w", encoding="utf-8"))
            for number in range(files)
        ]
        for count, document in enumerate(corpus, start=1):
            shards[count % files].write(to_record(document) + "\n")
    return count


def index_collection(corpus: Corpus, source: Path, target: Path, threads: int) -> None:
    """Anserini's program, in this JVM."""
    command = f"-collection JsonCollection -input {source} -index {target} -threads {threads}"
    command += " -storeRaw -storePositions -memoryBuffer 256 -quiet"
    command += " -fields year" if "year" in corpus.fields else ""
    arguments = java_class("io.anserini.index.IndexCollection$Args")()
    java_class("org.kohsuke.args4j.CmdLineParser")(arguments).parseArgument(*command.split())
    anserini_program("io.anserini.index.IndexCollection")(arguments).run()


def documents_in(index: Path) -> int:
    reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(index))
    try:
        return int(reader.numDocs())
    finally:
        reader.close()


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--threads", type=int, default=min(2, available_cores()))
    arguments = command_line.parse_args()
    corpus = open_path(require(arguments.data / "trec-pm" / "2017.toml")).corpus

    with tempfile.TemporaryDirectory() as scratch:
        source, target, home = (Path(scratch) / name for name in ("source", "target", "home"))
        source.mkdir()
        count = write_files(corpus, source, 2 * arguments.threads)
        os.environ["IRPLATFORM_HOME"] = str(home)

        def platform() -> None:
            shutil.rmtree(home, ignore_errors=True)
            build_index(corpus, threads=arguments.threads)

        def anserini() -> None:
            shutil.rmtree(target, ignore_errors=True)
            index_collection(corpus, source, target, arguments.threads)

        seconds = alternate(
            {"build_index": platform, "IndexCollection": anserini}, arguments.rounds
        )
        counts = documents_in(next(home.glob("index/*/manifest.json")).parent), documents_in(target)
        if counts != (count, count):
            raise SystemExit(f"of {count} documents, the sides indexed {counts}")
    report(
        "indexing",
        rate(count, seconds["build_index"]),
        rate(count, seconds["IndexCollection"]),
        "documents/s",
        higher_is_better=True,
        documents=count,
        threads=arguments.threads,
        seconds=seconds,
    )


if __name__ == "__main__":
    main()
