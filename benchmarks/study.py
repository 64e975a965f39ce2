"""A small study from documents to tests, the first time and again: by commands, and with PyTerrier.

NFCorpus: an index and a first answer, BM25, query likelihood, RM3, a reranker that is trained and
applied, and a table with paired tests. Ours is a command for each part, start of Python and Java
included. The peer is the same study as PyTerrier (PISA, pyterrier-caching) and ranx document it, a
script of one process (`_study_pyterrier.py`) that `--peer-python` runs. Then both again with all
that they have kept. The total is of the parts that both have, in seconds of the processor: without
RM3, which PISA lacks, without ranx, whose table the peer has already, and without what a machine
does once, Java's class archive.

Scores differ, since Lucene and PISA take words, stop words and stems differently. Both rerankers
are LambdaMART by LightGBM with the same trees for the first hundred documents of BM25. Ours learns
from judged candidates and up to 40 others of a topic, and from scores of BM25, query likelihood and
RM3 and features of the document; the peer's from all candidates, from scores of BM25, query
likelihood, DPH and PL2, and from two lengths.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from _common import Figures, measure, parser, report, require
from irplatform.lucene.java.class_archive import VARIABLE as CLASSES

if TYPE_CHECKING:
    from collections.abc import Sequence

PEER = Path(__file__).with_name("_study_pyterrier.py")
PACKAGES = ("pyterrier", "pyterrier_pisa", "pyterrier_caching", "ranx", "lightgbm", "sklearn")
QUERY = "breast cancer and statins"
RERANK_DEPTH = 100
LEARNING = (
    *("--reranker", "ltr", "--members", "1", "--rerank-depth", str(RERANK_DEPTH)),
    *("--set", "ltr.learner=trees", "--set", 'ltr.features=["first-stage", "document"]'),
    *("--set", 'ltr.settings.first-stage.retrievers=["bm25", "qld", "rm3"]'),
)
CLASS_ARCHIVE = "class archive"

Turn = dict[str, Figures]
"""Figures of each part of the study."""
Scores = dict[str, dict[str, float]]


def commands(collection: str, folder: Path) -> dict[str, list[str]]:
    """The commands of the study, by part; their runs go to a folder."""
    run = ["run", "--collection", collection]
    retrieved = {
        name: [*run, "--first-stage", name, "--run-dir", str(folder / name)]
        for name in ("bm25", "qld", "rm3")
    }
    reranking = [*run, *LEARNING]
    runs = [folder / name / f"{name}.run" for name in (*retrieved, "ltr")]
    return {
        "index": ["search", "--collection", collection, "--query", QUERY],
        **retrieved,
        # A quick look at one topic trains; all topics take the same model.
        "training": [*reranking, "--topics", "first:1", "--run-dir", str(folder / "look")],
        "reranking": [*reranking, "--run-dir", str(folder / "ltr")],
        "evaluation": ["compare", *map(str, runs), "--measure", "nDCG@20,AP", "--json"],
    }


def run_commands(words: dict[str, list[str]], environment: dict[str, str]) -> tuple[Turn, Scores]:
    """Run the commands one after the other."""
    turn: Turn = {}
    output = "{}"
    for part, command in words.items():
        program = [sys.executable, "-m", "irplatform", *command, "--quiet"]
        turn[part], output = measure(program, environment)
        print(f"ours, {part}: {turn[part]}", file=sys.stderr)
    systems = json.loads(output)["systems"] if "evaluation" in words else []
    return turn, {
        system["name"]: {name: value["mean"] for name, value in system["measures"].items()}
        for system in systems
    }


def peers(python: str, data: Path, folder: Path) -> tuple[Turn, Scores]:
    """Run the peer's script. Its start is what its parts do not take."""
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"}
    environment["NUMBA_CACHE_DIR"] = str(folder / "numba")  # so that the first time compiles ranx
    folder.mkdir(exist_ok=True)
    command = [python, str(PEER), str(data), str(folder), QUERY, str(RERANK_DEPTH)]
    total, _ = measure(command, environment, quiet=True)  # PISA and numba say much
    result = json.loads((folder / "result.json").read_text())
    turn: Turn = result["seconds"]
    start = {
        kind: total[kind] - sum(figures[kind] for figures in turn.values())
        for kind in ("wall", "processor")
    }
    turn = {"start": {**start, "MB": total["MB"]}, **turn}
    print(
        *(f"peer, {part}: {figures}" for part, figures in turn.items()), sep="\n", file=sys.stderr
    )
    return turn, result["scores"]


def missing(python: str) -> str | None:
    """Why there is no peer, or None."""
    program = (
        "import sys; from importlib.util import find_spec\n"
        f"print(*(name for name in {PACKAGES} if find_spec(name) is None), sep=', ')"
    )
    try:
        process = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, check=False
        )
    except OSError as error:
        return str(error)
    lacks = (process.stdout or process.stderr).strip()
    return f"{python} lacks {lacks}: give another with --peer-python" if lacks else None


def middle(turns: Sequence[Turn]) -> Turn:
    """The medians of several turns."""
    return {
        part: {kind: round(median(turn[part][kind] for turn in turns), 2) for kind in figures}
        for part, figures in turns[0].items()
    }


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=2)
    parts = [CLASS_ARCHIVE, *commands("", Path())]
    command_line.add_argument("--parts", nargs="+", choices=parts, default=parts)
    command_line.add_argument("--peer-python", default=sys.executable, metavar="PATH")
    arguments = command_line.parse_args()
    data = require(arguments.data / "nfcorpus")
    if (without_peer := missing(arguments.peer_python)) is not None:
        print(f"no peer: {without_peer}", file=sys.stderr)
    turns: dict[str, list[Turn]] = {}
    scores: dict[str, Scores] = {}
    archive: list[Figures] = []
    loads = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(prefix="irplatform-study-") as name:
            folder = Path(name)
            environment = {CLASSES: "", **os.environ, "IRPLATFORM_HOME": str(folder / "home")}
            if CLASS_ARCHIVE in arguments.parts:
                classes = environment[CLASSES] = str(folder / "classes.jsa")
                maker = [sys.executable, "-m", "irplatform.lucene.rehearsal", classes]
                archive.append(measure(maker, environment)[0])
            everything = commands(f"{data}:dev", folder / "runs")
            words = {part: words for part, words in everything.items() if part in arguments.parts}
            for time in ("first", "again"):
                loads.append(round(os.getloadavg()[0], 1))
                turn, scores["ours"] = run_commands(words, environment)
                turns.setdefault(f"ours, {time}", []).append(turn)
                if without_peer is None:
                    turn, scores["peer"] = peers(arguments.peer_python, data, folder / "peer")
                    turns.setdefault(f"peer, {time}", []).append(turn)
    medians = {side: middle(side_turns) for side, side_turns in turns.items()}
    totals = {
        side: {
            kind: round(
                sum(
                    figures[kind]
                    for part, figures in side_parts.items()
                    if part not in {"rm3", "ranx"}
                ),
                2,
            )
            for kind in ("wall", "processor")
        }
        for side, side_parts in medians.items()
    }
    seconds = {
        side: sum(totals[f"{side}, {time}"]["processor"] for time in ("first", "again"))
        for side in scores
    }
    report(
        "study",
        seconds["ours"],
        seconds.get("peer"),
        "s",
        higher_is_better=False,
        totals=totals,
        parts=medians,
        once_a_machine=middle([{CLASS_ARCHIVE: figures} for figures in archive]) if archive else {},
        scores=scores,
        without_peer=without_peer,
        load=loads,
    )


if __name__ == "__main__":
    main()
