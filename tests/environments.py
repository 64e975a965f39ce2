"""Runs the quick tests on several Pythons, with the oldest and with the newest packages.

    python tests/environments.py                 # all, where the interpreter is here
    python tests/environments.py 3.13-newest     # one

Each environment is made anew in `.environments/`, from the versions in `constraints/`, whose first
lines say how they were chosen. Tests of extras that an environment does not have are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = {
    "3.11-oldest": ("1.4.0", "all"),
    "3.11-newest": ("1.6.0", ""),
    "3.12-newest": ("2.4.0", "all"),
    "3.13-newest": ("2.4.0", "neural"),
}
"""Python and packages → the Pyserini whose jar is used, and the extras beside `test`."""
_QUICK = "not real and not slow and not browser"
_TESTS = "-m pytest -n 2 --dist loadscope --no-loadscope-reorder"


def _interpreter(version: str) -> str | None:
    """Python of a version, on the path or of pyenv; None where it is not here."""
    installed = Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python")
    return next(map(str, sorted(installed)), None) or shutil.which(f"python{version}")


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


def _test(name: str) -> str:
    """Make an environment and run the tests there; a line that says how it went."""
    pyserini, extras = ENVIRONMENTS[name]
    if (python := _interpreter(name.partition("-")[0])) is None:
        return "this Python is not here: not tested"
    folder = ROOT / ".environments" / name
    shutil.rmtree(folder, ignore_errors=True)
    interpreter = folder / "bin" / "python"
    pip = (interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    started = time.monotonic()
    _run(python, "-m", "venv", folder)
    names = ",".join(filter(None, [extras, "test"]))
    _run(*pip, "--constraint", f"constraints/{name}.txt", "--editable", f".[{names}]")
    _run(*pip, "--no-deps", f"pyserini=={pyserini}")
    seconds = time.monotonic() - started
    packages = len(list(folder.glob("lib/python*/site-packages/*.dist-info")))
    megabytes = (
        sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()) // 10**6
    )
    tests = subprocess.run(
        [interpreter, *_TESTS.split(), "-m", _QUICK],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{interpreter.parent}{os.pathsep}{os.environ['PATH']}"},
        check=False,
    )
    state = "passed" if tests.returncode == 0 else "FAILED"
    return f"{state}; installed in {seconds:.0f} s: {packages} packages, {megabytes:,} MB"


def main(names: list[str]) -> None:
    """Test some environments, or all, and say how each went."""
    lines = {name: _test(name) for name in names or ENVIRONMENTS}
    for name, line in lines.items():
        print(f"{name:12} {line}")
    sys.exit(any("FAILED" in line for line in lines.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
