"""Lines per second and peak memory of turning a click log into judgments, against a plain twin.

The twin holds everything in one dictionary and reads line by line, as one would write it first.
Both read the same generated log (Zipf queries, 20 documents a session), each in a process of its
own, in turns; their judgments must be equal, to the byte. The log that only ours reads after that
has 10 million lines, some 500 MB, and is read gzipped as well; memory must not grow with it.

    python benchmarks/click_log.py [--lines 1000000] [--large 10000000] [--rounds 2]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl
import psutil

from _common import report
from irplatform.building.click_judgments import (
    QueryRules,
    Weights,
    levels,
    normalize,
    query_id,
    refusal,
    round_levels,
    weighted_clicks,
)
from irplatform.building.click_log import COLUMNS
from irplatform.building.clicks import SHARES, ClickSettings, from_clicks
from irplatform.building.judgments import SPLITS, split_of

PAGE = 20
DOCUMENTS = 60
"""Documents that belong to a query; a session shows a window of 20 of them."""
QUERIES_PER_LINE = 0.02
VOCABULARY = 20_000
CHUNK = 400_000


def generate(path: Path, lines: int) -> None:
    """Write a log: as many distinct queries as a fiftieth of its lines, the frequent ones often."""
    random = np.random.default_rng(1)
    count = int(lines * QUERIES_PER_LINE)
    lengths = random.integers(1, 10, size=count)
    words = random.integers(0, VOCABULARY, size=(count, 9))
    texts = np.array(
        [" ".join(f"Word{w}" for w in row[:n]) for row, n in zip(words, lengths, strict=True)]
    )
    with path.open("wb") as file:
        file.write("\t".join(COLUMNS).encode() + b"\n")
        for start in range(0, lines, CHUNK):
            sessions = min(CHUNK, lines - start) // PAGE
            query = np.repeat(np.minimum(random.zipf(1.4, sessions) - 1, count - 1), PAGE)
            if start % (2 * CHUNK):  # every second chunk draws evenly, for the long tail
                query = np.repeat(random.integers(0, count, sessions), PAGE)
            rank = np.tile(np.arange(1, PAGE + 1), sessions)
            window = np.repeat(random.integers(0, DOCUMENTS - PAGE, sessions), PAGE)
            document = (query * 7919 + rank + window) % 5_000_000
            clicked = random.random(len(query)) < 0.5 / rank
            available = document % 2
            frame = pl.DataFrame(
                {
                    "query": texts[query],
                    "doc_id": document.astype(str),
                    "rank": rank,
                    "abstract_clicks": clicked.astype(np.int64),
                    "fulltext_clicks": (clicked & (random.random(len(query)) < 0.3)) * available,
                    "has_fulltext": available,
                }
            )
            frame.write_csv(file, separator="\t", include_header=False, quote_style="never")


def platform(log: Path, out: Path) -> None:
    from_clicks(log, out, ClickSettings())


def twin(log: Path, out: Path) -> None:
    """A dictionary of everything, then a loop over it."""
    clicks: dict[str, dict[str, list[int]]] = defaultdict(dict)
    names: dict[str, str] = {}
    rules, weights = QueryRules(), Weights()
    with log.open(encoding="utf-8") as file:
        header = next(file).rstrip("\n").split("\t")
        places = [header.index(name) for name in COLUMNS]
        for line in file:
            cells = line.rstrip("\n").split("\t")
            query, document, _, abstract, fulltext, available = (cells[place] for place in places)
            if query not in names:
                names[query] = "" if refusal(query, rules) else normalize(query)
            if not names[query]:
                continue
            counts = clicks[names[query]].setdefault(document, [0, 0, 0])
            counts[0] += int(abstract)
            counts[1] += int(fulltext)
            counts[2] = max(counts[2], int(available))
    (out / "qrels").mkdir(parents=True)
    files = {split: (out / "qrels" / f"{split}.tsv").open("w") for split in SPLITS}
    for file in files.values():
        file.write("query-id\tcorpus-id\tlevel\n")
    for id_, query in sorted((query_id(query), query) for query in clicks):
        documents = sorted(clicks[query])
        abstract_clicks, fulltext_clicks, has_fulltext = np.array(
            [clicks[query][document] for document in documents]
        ).T
        without = np.where(has_fulltext == 0, abstract_clicks, 0)
        weighted = weighted_clicks(abstract_clicks, fulltext_clicks, without, weights)
        if len(documents) < 21 or np.count_nonzero(weighted) < 3:
            continue
        total = weighted_clicks(
            abstract_clicks.sum(), fulltext_clicks.sum(), without.sum(), weights
        )
        document_levels = round_levels(levels(weighted, total)).tolist()
        file = files[split_of(id_, SHARES, 42)]
        for level, document in sorted(
            zip(document_levels, documents, strict=True), key=lambda pair: (-pair[0], pair[1])
        ):
            file.write(f"{id_}\t{document}\t{str(level).removesuffix('.0')}\n")
    for file in files.values():
        file.close()


def measure(side: str, log: Path, folder: Path) -> dict[str, float]:
    """Seconds and peak megabytes of one side, in a process of its own."""
    out = folder / side
    shutil.rmtree(out, ignore_errors=True)
    started = time.perf_counter()
    command = [sys.executable, __file__, "--side", side, str(log), str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    watched = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, watched.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.02)
    if process.wait():
        raise RuntimeError(f"{side} failed on {log}")
    elapsed = time.perf_counter() - started
    print(f"{side}, {log.name}: {elapsed:.1f} s, {peak / 1e6:.0f} MB", file=sys.stderr)
    return {"seconds": elapsed, "megabytes": peak / 1e6}


def digest(folder: Path) -> str:
    """Of the judgments of all splits."""
    content = b"".join((folder / "qrels" / f"{split}.tsv").read_bytes() for split in SPLITS)
    return hashlib.sha256(content).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000, help="of the log that both read")
    parser.add_argument("--large", type=int, default=10_000_000, help="of the log that ours reads")
    parser.add_argument("--rounds", type=int, default=2, help="measurements of each side")
    parser.add_argument("--side", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        side, log, out = arguments.side
        {"ours": platform, "twin": twin}[side](Path(log), Path(out))
        return
    with tempfile.TemporaryDirectory(prefix="click-log-") as name:
        folder = Path(name)
        small, large, packed = (folder / f for f in ("log.tsv", "large.tsv", "large.tsv.gz"))
        generate(small, arguments.lines)
        sides: dict[str, list[dict[str, float]]] = {"ours": [], "twin": []}
        for _ in range(arguments.rounds):
            for side, measured in sides.items():
                measured.append(measure(side, small, folder))
        if digest(folder / "ours") != digest(folder / "twin"):
            sys.exit("the two sides do not give the same judgments")
        generate(large, arguments.large)
        alone = measure("ours", large, folder)
        plain = digest(folder / "ours")
        with large.open("rb") as unpacked, gzip.open(packed, "wb", compresslevel=1) as file:
            shutil.copyfileobj(unpacked, file, 1 << 20)
        gzipped = measure("ours", packed, folder)
        if digest(folder / "ours") != plain:
            sys.exit("a gzipped log does not give the same judgments")
        counts = json.loads((folder / "ours" / "report.json").read_text())["kept"]
    rates = {
        side: arguments.lines / median(m["seconds"] for m in measured)
        for side, measured in sides.items()
    }
    report(
        "click_log",
        rates["ours"],
        rates["twin"],
        "lines/s",
        higher_is_better=True,
        lines=arguments.lines,
        peak_megabytes={side: round(median(m["megabytes"] for m in sides[side])) for side in sides},
        large={
            "lines": arguments.large,
            "queries_kept": counts["queries"],
            "lines_per_second": round(arguments.large / alone["seconds"]),
            "peak_megabytes": round(alone["megabytes"]),
            "gzipped_lines_per_second": round(arguments.large / gzipped["seconds"]),
            "gzipped_peak_megabytes": round(gzipped["megabytes"]),
        },
    )


if __name__ == "__main__":
    main()
