"""Seconds of the processor to pool runs into a million lines.

`ours` is `platform qrels pool` of four generated runs, from files to a folder, start included;
`peer` a plain twin with a dictionary of sets, which reads the runs line by line, ranks, pools,
shuffles and writes. Both pool the same documents. The detail has wall clock and peak memory, a
sample of strata, and opening the pool; with `--trectools`, also trectools' topX of the same files.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from _common import measure, parser, report

RUNS, BEYOND = 4, 1_600
"""Number of runs, and documents of a topic that they rank."""
TRECTOOLS = """
import sys
from trectools import TrecPoolMaker
depth, *files = sys.argv[1:]
pool = TrecPoolMaker().make_pool_from_files(files, strategy="topX", topX=int(depth)).pool
print(sum(map(len, pool.values())))
"""
OPEN = """
import sys
from irplatform.judging.pool_folder import read_pool
print(read_pool(sys.argv[1]).placed)
"""


def main() -> None:
    """Measure, and print the line of JSON."""
    command_line = parser(__doc__ or "")
    command_line.add_argument("--topics", type=int, default=1_000)
    command_line.add_argument("--depth", type=int, default=500)
    command_line.add_argument("--trectools", type=Path, help="a Python with trectools")
    command_line.add_argument("--plain", type=Path, nargs="+", help="the twin: OUT and runs")
    arguments = command_line.parse_args()
    if arguments.plain:
        plain_pool(*arguments.plain, depth=arguments.depth)
        return
    with tempfile.TemporaryDirectory() as name:
        compare(
            Path(name), arguments.topics, arguments.depth, arguments.rounds, arguments.trectools
        )


def compare(folder: Path, topics: int, depth: int, rounds: int, trectools: Path | None) -> None:
    """Measure both sides in turns."""
    files = [str(write_run(folder / f"{n}.run", n, topics, depth)) for n in range(RUNS)]
    program = [sys.executable, "-m", "irplatform", "qrels", "pool", *files, "-o"]
    measured = defaultdict(list)
    for turn in range(rounds):
        out, twin = folder / f"pool-{turn}", folder / f"plain-{turn}.tsv"
        sides = {
            "platform": [*program, str(out), "--depth", str(depth)],
            "plain": [
                *(sys.executable, __file__, "--depth", str(depth), "--plain", str(twin), *files),
            ],
            "sample": [
                *(*program, f"{out}-sample", "--method", "stratified"),
                *("--strata", f"{max(1, depth // 10)}:1,{depth}:0.2"),
            ],
            "open": [sys.executable, "-c", OPEN, str(out)],
        }
        if trectools:
            sides["trectools topX"] = [str(trectools), "-c", TRECTOOLS, str(depth), *files]
        for side, words in sides.items():
            figures, _ = measure(words, quiet=True)
            measured[side].append(figures)
            print(side, figures, file=sys.stderr)
        with ProcessPoolExecutor(1) as checker:  # whose memory is not that of the next command
            lines = checker.submit(common_lines, out / "pool.tsv", twin).result()
        if not lines:
            sys.exit("the two pools differ")
    middle = {
        side: {key: round(median(f[key] for f in rounds), 3) for key in rounds[0]}
        for side, rounds in measured.items()
    }
    report(
        "pool_lines",
        middle["platform"]["processor"],
        middle["plain"]["processor"],
        "s",
        higher_is_better=False,
        lines=lines,
        run_lines=RUNS * topics * depth,
        **middle,
    )


def write_run(path: Path, number: int, topics: int, depth: int) -> Path:
    """Write a run whose scores come in steps, so that documents tie."""
    draw = random.Random(number)
    with path.open("w") as file:
        for topic in range(1, topics + 1):
            documents = draw.sample(range(BEYOND), min(depth, BEYOND))
            first = 20_000_000 + 7 * topic
            file.writelines(
                f"{topic} Q0 {first + d} {rank} {(depth - rank) // 3} run{number}\n"
                for rank, d in enumerate(documents, start=1)
            )
    return path


def plain_pool(out: Path, *files: Path, depth: int) -> None:
    """Pool runs as one would write it down."""
    pooled: dict[str, set[str]] = defaultdict(set)
    for path in files:
        results: dict[str, list[tuple[float, str]]] = defaultdict(list)
        with path.open() as lines:
            for line in lines:
                topic, _, document, _, score, _ = line.split()
                results[topic].append((float(score), document))
        for topic, ranking in results.items():
            ranking.sort(reverse=True)
            pooled[topic].update(document for _, document in ranking[:depth])
    with out.open("w") as file:
        file.write("topic\tdocument\tstratum\tplace\n")
        for topic, documents in pooled.items():
            shuffled = sorted(documents)
            random.Random(topic).shuffle(shuffled)
            file.writelines(f"{topic}\t{d}\t1\t{n}\n" for n, d in enumerate(shuffled, start=1))


def common_lines(*paths: Path) -> int:
    """The number of lines, if two pools have the same documents; else 0."""
    pools = [path.read_text().splitlines()[1:] for path in paths]
    one, other = ({tuple(line.split("\t")[:2]) for line in lines} for lines in pools)
    return len(one) if one == other else 0


if __name__ == "__main__":
    main()
