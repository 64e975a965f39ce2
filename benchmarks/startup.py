"""Start-up: seconds of commands that need no model, against importing Pyserini's searcher.

Fresh processes, in turns: `platform --help`; `platform plugins list`, which loads every plugin; the
floor, a process that only imports the libraries that both need; and the peer, one that imports
`pyserini.search.lucene`, as a command line does that has it at the top of a module. Without the
packages of Pyserini's encoders there is no peer. Every process tells at its end how many modules it
has loaded, and which of the heavy ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from statistics import median

from _common import alternate, parser, report, runs

HEAVY = {"torch", "jnius", "pandas", "scipy", "spacy", "gensim", "pyserini", "ir_datasets"}

TELL = f"""
import atexit, sys
tell = lambda: print(len(sys.modules), *sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)
atexit.register(tell)
"""
COMMAND = """
from irplatform.cli.main import main
sys.argv = ["platform", {arguments}]
main()
"""
FLOOR = "import click, pluggy; from pydantic import BaseModel"
# Pyserini does not start on every Java runtime by itself, hence ours; it imports a client of OpenAI
# that wants a key.
PYSERINI = """
from irplatform.lucene import java
java.start()
import pyserini.search.lucene
"""
PEER = "pyserini.search.lucene"
SIDES = {
    "platform --help": COMMAND.format(arguments='"--help"'),
    "platform plugins list": COMMAND.format(arguments='"plugins", "list"'),
    "click, pluggy and pydantic": FLOOR,
    PEER: PYSERINI,
}


def run(program: str) -> list[str]:
    """Run a program in a fresh process; returns what it told at its end."""
    environment = {"OPENAI_API_KEY": "unused", **os.environ}
    process = subprocess.run(
        [sys.executable, "-c", TELL + program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"this program failed:\n{program}\n{process.stderr}")
    return process.stderr.splitlines()[-1].split()


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.set_defaults(rounds=5)
    arguments = command_line.parse_args()
    sides = dict(SIDES)
    if not runs(PYSERINI):
        del sides[PEER]
        print("no peer: Pyserini needs the packages of its encoders", file=sys.stderr)
    modules: dict[str, list[str]] = {}

    def measured(name: str) -> None:
        modules[name] = run(sides[name])

    seconds = alternate({name: partial(measured, name) for name in sides}, arguments.rounds)
    medians = {name: round(median(times), 3) for name, times in seconds.items()}
    report(
        "startup",
        max(medians[name] for name in sides if name.startswith("platform")),
        medians.get(PEER),
        "s",
        higher_is_better=False,
        seconds=medians,
        quickest={name: round(min(times), 3) for name, times in seconds.items()},
        modules={name: int(count) for name, (count, *_) in modules.items()},
        heavy_modules={name: heavy for name, (_, *heavy) in modules.items()},
        load=round(os.getloadavg()[0], 1),
    )


if __name__ == "__main__":
    main()
