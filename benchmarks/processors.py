"""Processors: runs of the demo that are the same, to the byte, on emulated processors and on this.

QEMU's user mode (version 8 or newer; 7 computes AVX2 wrongly) emulates every instruction. The
index and the first stage are made here once: Lucene's arithmetic is Java's, which is the same
everywhere. Word vectors and models are trained on every processor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import leave_out, parser, report

RERANKERS = ("delta", "sevmos-c1", "drmm", "deepmatch", "dual-encoder", "deepsense")
SHORT = {
    "vectors.epochs": 1,
    "delta.loop.epochs": 3,
    "sevmos-c1.loop.epochs": 2,
    "drmm.loop.epochs": 3,
    "deepmatch.loop.epochs": 2,
    "deepsense.loop.epochs": 1,
}
"""Emulation is some twenty times as slow: a few epochs show whether digits differ."""
MADE_HERE = ("index", "forward-index", "check", "krovetz-stems", "run")
"""Kinds of artifacts that emulated processors find in their cache: made with Java, or no sums."""
ARITHMETICS = ("portable", "native")


def emulated_python(folder: Path, emulator: str, processor: str) -> Path:
    """A Python like this one, on another processor; the processes that it starts are there, too."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    real = Path(sys.executable).resolve()
    python.write_text(
        f'#!/bin/sh\nexec "{emulator}" -cpu {processor} -0 "{python}" "{real}" "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    if sys.prefix != sys.base_prefix:
        shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder)
        (folder / "lib").symlink_to(Path(sys.prefix) / "lib")
    return python


def run(python: Path, home: Path, folder: Path, arithmetic: str) -> dict[str, bytes]:
    """The runs of all rerankers by file name."""
    command = [python, "-m", "irplatform", "run", "--collection", "demo", "--members", "1"]
    for reranker in RERANKERS:
        command += ["--reranker", reranker]
    for option, value in SHORT.items():
        command += ["--set", f"{option}={value}"]
    environment = {**os.environ, "IRPLATFORM_ARITHMETIC": arithmetic, "IRPLATFORM_HOME": str(home)}
    subprocess.run(
        [*map(str, command), "--run-dir", str(folder)],
        env=environment,
        check=True,
        stdout=sys.stderr,
    )
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.run"))}


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--emulator", default="qemu-x86_64", help="QEMU's user mode")
    command_line.add_argument("--processors", nargs="+", default=["Haswell", "EPYC-Rome"])
    arguments = command_line.parse_args()
    emulator = shutil.which(arguments.emulator)
    if emulator is None:
        leave_out(f"{arguments.emulator} is missing: install QEMU's user mode, or set --emulator.")
    same: dict[str, dict[str, list[str]]] = {}
    count = 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for arithmetic in ARITHMETICS:
            home = root / arithmetic
            reference = run(Path(sys.executable), home, root / f"{arithmetic}-here", arithmetic)
            for processor in arguments.processors:
                folder = root / f"{arithmetic}-{processor}"
                for kind in MADE_HERE:
                    shutil.copytree(home / kind, folder / "home" / kind)
                python = emulated_python(folder / "python", emulator, processor)
                runs = run(python, folder / "home", folder / "runs", arithmetic)
                same.setdefault(arithmetic, {})[processor] = [
                    n for n in reference if runs[n] == reference[n]
                ]
            count = len(reference) * len(arguments.processors)
    equal = {
        arithmetic: sum(map(len, by_processor.values()))
        for arithmetic, by_processor in same.items()
    }
    report(
        "processors",
        equal["portable"],
        equal["native"],
        f"equal runs of {count}",
        higher_is_better=True,
        same=same,
    )


if __name__ == "__main__":
    main()
