"""Documents per second and peak memory of building a forward index, against a plain twin.

The twin does the same in one process and in memory, as one would write it first: tokenize, number
the words in a dictionary, count, save. Both read the same file of generated documents (about 200
words from a Zipf vocabulary, a JSON object a line), each in a process of its own, in turns; at the
smallest size their results are compared. The largest file takes some 1.5 GB of temporary space.

    python benchmarks/forward_index.py [--sizes 10000 100000 1000000] [--repeats 2]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import orjson
import psutil

from _common import private_memory, report
from irplatform.plugin import Document
from irplatform.text import ForwardIndex, build_forward_index, tokenize
from irplatform.text.forward_index import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1_000
VOCABULARY = 500_000


def generate(path: Path, count: int) -> None:
    """Write documents: a title of 12 words, and an abstract of 100 to 280."""
    generator = np.random.default_rng(1)
    vocabulary = [spelled(rank) for rank in range(VOCABULARY)]
    with path.open("wb") as file:
        for start in range(0, count, CHUNK):
            ranks = generator.zipf(1.15, size=CHUNK * 300) % VOCABULARY
            words = [vocabulary[rank] for rank in ranks.tolist()]
            lengths = generator.integers(100, 280, size=CHUNK).tolist()
            for number in range(min(CHUNK, count - start)):
                document_words = words[number * 300 : (number + 1) * 300]
                ends = range(12, 12 + lengths[number], 18)
                sentences = [" ".join(document_words[at : at + 18]).capitalize() for at in ends]
                document = {
                    "id": str(start + number),
                    "title": " ".join(document_words[:12]).title(),
                    "abstract": ". ".join(sentences) + " of IL-6 (P < 0.05, 95% CI 1.2–3.4).",
                }
                file.write(orjson.dumps(document) + b"\n")


def spelled(rank: int) -> str:
    """A pronounceable word for a rank."""
    letters = []
    while True:
        rank, letter = divmod(rank, 90)
        letters.append("bcdfghjklmnprstvwz"[letter % 18] + "aeiou"[letter // 18])
        if rank == 0:
            return "".join(letters)


def documents(path: Path) -> Iterator[Document]:
    """Read them."""
    with path.open("rb") as file:
        for line in file:
            yield Document(**orjson.loads(line))


def plain_twin(path: Path, folder: Path) -> None:
    """The forward index as one would write it first."""
    vocabulary: dict[str, int] = {}
    tokens: list[int] = []
    offsets, title_lengths, ids = [0], [], []
    document_frequency = {field: Counter[int]() for field in FIELDS}
    collection_frequency = {field: Counter[int]() for field in FIELDS}
    distinct: dict[str, list[set[int]]] = {field: [] for field in FIELDS}
    for document in documents(path):
        title = [vocabulary.setdefault(w, len(vocabulary)) for w in tokenize(document.title)]
        abstract = [vocabulary.setdefault(w, len(vocabulary)) for w in tokenize(document.abstract)]
        ids.append(document.id)
        title_lengths.append(len(title))
        tokens += title + abstract
        offsets.append(len(tokens))
        for field, words in zip(FIELDS, (title, abstract, title + abstract), strict=True):
            document_frequency[field].update(set(words))
            collection_frequency[field].update(words)
            distinct[field].append(set(words))
    np.save(folder / "tokens.npy", np.array(tokens, dtype=np.int32))
    np.save(folder / "offsets.npy", np.array(offsets, dtype=np.int64))
    np.save(folder / "title_lengths.npy", np.array(title_lengths, dtype=np.int32))
    (folder / "ids.txt").write_text("\n".join(ids))
    (folder / "words.txt").write_text("\n".join(vocabulary))
    for field in FIELDS:
        frequency = [document_frequency[field][word] for word in range(len(vocabulary))]
        idf = [math.log(1 + (len(ids) - df + 0.5) / (df + 0.5)) for df in frequency]
        np.save(folder / f"{field}.df.npy", np.array(frequency, dtype=np.int32))
        total = [collection_frequency[field][word] for word in range(len(vocabulary))]
        np.save(folder / f"{field}.cf.npy", np.array(total, dtype=np.int64))
        np.save(folder / f"{field}.unique.npy", np.array([len(words) for words in distinct[field]]))
        masses = [sum(idf[word] for word in sorted(words)) for words in distinct[field]]
        np.save(folder / f"{field}.mass.npy", np.array(masses))


def digest_of_twin(folder: Path) -> str:
    arrays = [
        "tokens",
        *(f"{field}.{statistic}" for field in FIELDS for statistic in ("df", "cf", "unique")),
    ]
    return digest(
        (folder / "words.txt").read_text().split("\n"),
        [np.load(folder / f"{name}.npy") for name in arrays],
        [np.load(folder / f"{field}.mass.npy") for field in FIELDS],
    )


def digest_of_ours(folder: Path) -> str:
    index = ForwardIndex.open(folder)
    tokens, _ = index.tokens(np.arange(index.count))

    of_field = (index.document_frequency, index.collection_frequency, index.unique_counts)
    counts = [[count(field) for count in of_field] for field in FIELDS]
    return digest(
        list(index.vocabulary),
        [tokens, *(array for arrays in counts for array in arrays)],
        [index.idf_mass(field) for field in FIELDS],
    )


def digest(words: list[str], counts: list[np.ndarray], masses: list[np.ndarray]) -> str:
    sha = hashlib.sha256("\n".join(words).encode())
    for array in counts:
        sha.update(array.astype(np.int64).tobytes())
    for array in masses:
        sha.update(np.round(array, 6).tobytes())
    return sha.hexdigest()


def measure(side: str, path: Path, *, check: bool) -> dict[str, float | str]:
    """Run one side in a process of its own, watching the memory of it and its workers."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", side, "--read", str(path), "--write", folder]
        if check:
            command.append("--check")
        peak = 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            process = psutil.Process(child.pid)
            while child.poll() is None:
                peak = max(peak, private_memory(process))
                time.sleep(0.05)
            result = json.loads(child.communicate()[0])
    return result | {"peak_mib": peak / 2**20}


def run_one(side: str, path: Path, folder: Path, *, check: bool) -> None:
    build, digest_of = {
        "ours": (lambda: build_forward_index(documents(path), folder), digest_of_ours),
        "twin": (lambda: plain_twin(path, folder), digest_of_twin),
    }[side]
    started = time.perf_counter()
    build()
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "digest": digest_of(folder) if check else ""}))


def compare(size: int, repeats: int, *, twin: bool, check: bool) -> dict[str, float]:
    """Measure both sides in turns; speeds are the best, memory is the worst."""
    sides = ["ours", "twin"] if twin else ["ours"]
    runs: dict[str, list[dict[str, float | str]]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        generate(path, size)
        for repeat in range(repeats):
            for side in sides:
                runs[side].append(measure(side, path, check=check and repeat == 0))
    if len({measured[0]["digest"] for measured in runs.values()}) != 1:
        raise SystemExit("the twin's index differs from ours")
    row = {}
    for side, measured in runs.items():
        row[f"{side}_documents_per_second"] = size / min(float(m["seconds"]) for m in measured)
        row[f"{side}_peak_mib"] = max(float(m["peak_mib"]) for m in measured)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--twin-up-to", type=int, default=100_000, help="the twin's largest size")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one", choices=["ours", "twin"], help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        run_one(arguments.one, arguments.read, arguments.write, check=arguments.check)
        return
    sizes = sorted(arguments.sizes)
    with_twin = [size for size in sizes if size <= arguments.twin_up_to]
    if not with_twin:
        parser.error("no size is small enough for the twin; see --twin-up-to")
    detail = {
        str(size): compare(
            size,
            arguments.repeats if size in with_twin else 1,
            twin=size in with_twin,
            check=size == sizes[0],
        )
        for size in sizes
    }
    compared = detail[str(with_twin[-1])]
    report(
        "forward_index",
        compared["ours_documents_per_second"],
        compared["twin_documents_per_second"],
        "documents/s",
        higher_is_better=True,
        sizes=detail,
    )


if __name__ == "__main__":
    main()
