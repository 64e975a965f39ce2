"""Run files: seconds of `evaluate`, `submit check` and `fuse` for two million lines, by command.

The peer is the command of ir-measures, which reads the same run and judgments and must print the
same means. Each command is a process of its own, start included, measured in turns: wall clock,
processor, peak memory. `--large` adds a run of 1 GB.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from _common import Figures, measure, parser, report

MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000")
JUDGED = 100
"""Documents per topic; half of them are retrieved, at any rank."""
LARGE = 29_500
"""Topics of a run of 1 GB."""


def generate(folder: Path, topics: int, documents: int, *, runs: int) -> tuple[list[Path], Path]:
    """Write runs without ties, as systems with 32-bit scores write them, and judgments."""
    paths = [folder / f"{topics}-{number}.run" for number in range(runs)]
    qrels = folder / f"{topics}.qrels"
    random = np.random.default_rng(1)
    files = [path.open("w") for path in paths]
    with qrels.open("w") as judgments:
        for topic in range(1, topics + 1):
            pool = random.choice(30_000_000, 2 * documents, replace=False) + 10_000_000
            judged_ids = pool[:JUDGED].tolist()
            grades = random.choice(3, len(judged_ids), p=[0.7, 0.2, 0.1]).tolist()
            judged = zip(judged_ids, grades, strict=True)
            judgments.write("".join(f"{topic} 0 {doc_id} {grade}\n" for doc_id, grade in judged))
            for file in files:
                ids = random.permutation(pool)[:documents].tolist()
                scores = np.sort(random.gamma(2, 4, documents).astype(np.float32))[::-1].astype(str)
                lines = enumerate(zip(ids, scores.tolist(), strict=True), start=1)
                file.write(
                    "".join(f"{topic} Q0 {doc} {rank} {score} x\n" for rank, (doc, score) in lines)
                )
    for file in files:
        file.close()
    return paths, qrels


def means(output: str) -> list[str]:
    """The five means in the output of either side."""
    words = [word for word in output.split() if "." in word]
    numbers = [word for word in words if word.replace(".", "", 1).isdigit()]
    return numbers[-len(MEASURES) :]


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=2000)
    command_line.add_argument("--documents", type=int, default=1000)
    command_line.add_argument("--large", action="store_true", help="also a run of 1 GB")
    arguments = command_line.parse_args()
    with tempfile.TemporaryDirectory(prefix="irplatform-files-") as name:
        folder = Path(name)
        (run, other), qrels = generate(folder, arguments.topics, arguments.documents, runs=2)
        fused = ["fuse", str(run), str(other), "--out", str(folder / "fused.run"), "--force"]
        sides = {
            "peer": ["ir_measures", str(qrels), str(run), *MEASURES],
            "evaluate": ["irplatform", "evaluate", str(run), "--qrels", str(qrels)],
            "check": ["irplatform", "submit", "check", str(run)],
            "fuse": ["irplatform", *fused],
        }
        sides["evaluate"] += ["--measure", ",".join(MEASURES)]
        figures: dict[str, list[Figures]] = {side: [] for side in sides}
        outputs = {}
        for turn in range(arguments.rounds + 1):
            for side, command in sides.items():
                cost, outputs[side] = measure([sys.executable, "-m", *command])
                print(f"{side}: {cost}", file=sys.stderr)
                if turn:  # the first one warms up
                    figures[side].append(cost)
        if means(outputs["peer"]) != means(outputs["evaluate"]):
            sys.exit(f"the sides disagree: {outputs['peer']} and {outputs['evaluate']}")
        detail: dict[str, object] = {
            side: {kind: round(median(f[kind] for f in costs), 2) for kind in costs[0]}
            for side, costs in figures.items()
        }
        if arguments.large:
            (large,), judgments = generate(folder, LARGE, 1000, runs=1)
            for side, words in {
                "evaluate": ["evaluate", str(large), "--qrels", str(judgments)],
                "check": ["submit", "check", str(large)],
            }.items():
                detail[f"{side} of {large.stat().st_size / 1e9:.2f} GB"] = measure(
                    [sys.executable, "-m", "irplatform", *words]
                )[0]
    processor = {side: median(f["processor"] for f in costs) for side, costs in figures.items()}
    report(
        "run_files",
        processor["evaluate"],
        processor["peer"],
        "s",
        higher_is_better=False,
        ratios={side: round(processor["peer"] / seconds, 2) for side, seconds in processor.items()},
        lines=arguments.topics * arguments.documents,
        commands=detail,
    )


if __name__ == "__main__":
    main()
