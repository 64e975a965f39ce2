"""Drives commands through each of their file operations, as SQLite is tested.

`python tests/faults/drive.py --faults crash,no-space,io-error SCENARIO…` prints a JSON list. A
command runs undisturbed, which counts its operations below the working folder (`faults.c`). Then,
for each operation and each fault, it runs again from the same state with that fault at that
operation, and once more undisturbed. A run is a fork of one process that has imported everything.
"""

from __future__ import annotations

import argparse
import atexit
import ctypes
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from scenarios import SCENARIOS, Scenario

FAULTS = ("none", "crash", "no-space", "io-error", "SIGTERM", "SIGINT")
"""In the order of `enum fault`."""
ENDED = {"crash": 137, "SIGTERM": 143, "SIGINT": 130}
PATIENCE = 300
"""Seconds after which a command hangs."""
_VARY = {"seconds", "timings", "date", "created"}
"""Fields of JSON that differ from run to run."""
_DATE = re.compile(
    rb"(?m)^(\s*date: |\s*seconds: ).*$|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\+00:00|Z| UTC)?)?"
)
_WORDS = {"no-space": "no space is left", "io-error": "Input/output error"}


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float


class Place:
    """The working folder, which always has the same path, since metadata record it."""

    def __init__(self, root: Path, faults: ctypes.CDLL) -> None:
        self.root, self.streams = root / "work", root / "streams"
        self.streams.mkdir()
        self.faults = faults
        faults.faults_watch(os.fsencode(self.root))

    def reset(self, start: Path | None) -> None:
        """Make the folder as it was before the command."""
        shutil.rmtree(self.root, ignore_errors=True)
        if start is None:
            self.root.mkdir()
        else:
            shutil.copytree(start, self.root, symlinks=True)

    def run(
        self, arguments: tuple[str, ...], fault: str = "none", at: int = 0, log: int = -1
    ) -> Outcome:
        """Run a command in a fork, with a fault at an operation."""
        began = time.monotonic()
        if not (child := os.fork()):
            self.run_in_child(arguments, fault, at, log)
        status = _wait(child, began)
        out, err = ((self.streams / name).read_text(errors="replace") for name in ("out", "err"))
        code = os.waitstatus_to_exitcode(status) if status is not None else 124
        return Outcome(code, out, err, time.monotonic() - began)

    def run_in_child(self, arguments: tuple[str, ...], fault: str, at: int, log: int) -> None:
        code = 99
        try:
            for descriptor, name in ((1, "out"), (2, "err")):
                file = os.open(self.streams / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(file, descriptor)
            os.chdir(self.root)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
            sys.argv = ["platform", *arguments]
            self.faults.faults_arm(FAULTS.index(fault), at, log)
            code = _main()
            self.faults.faults_arm(0, 0, -1)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)

    def visible(self) -> dict[str, str]:
        """Digests of files under final names, by path; for folders of the cache, if finished."""
        files = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            # Lucene writes this file again, with the next number, where that failed.
            name = re.sub(r"/segments_\d+$", "/segments_N", name)
            parts = name.split("/")
            if any(
                p.startswith(".") or p.endswith((".partial", ".lock", ".journal")) for p in parts
            ):
                continue
            if parts[0] == "home" and not self.is_finished(parts):
                continue
            if path.is_symlink():
                files[name] = f"link to {path.readlink()}"
            elif path.is_file():
                files[name] = hashlib.sha256(_constant(path)).hexdigest()
        return files

    def is_finished(self, parts: list[str]) -> bool:
        """Tell if a file belongs to a finished item of the cache, or to none."""
        if not parts[1:] or parts[1] in ("kb", "collections.json"):
            return True
        return len(parts) > 3 and Path(self.root, *parts[:3], "manifest.json").exists()

    def state(self) -> str:
        """What the command finds when it runs again, whatever temporary names are."""
        entries = []
        for path in sorted(self.root.rglob("*")):
            name = re.sub(r"(?<=[.-])[a-z0-9_]{8}(?=/|$)", "*", str(path.relative_to(self.root)))
            entries.append((name, _constant(path) if path.is_file() else b""))
        return hashlib.sha256(repr(sorted(entries)).encode()).hexdigest()

    def debris(self) -> list[str]:
        """Names of files that are not under final names."""
        names = (str(p.relative_to(self.root)) for p in self.root.rglob("*"))
        return sorted(n for n in names if re.search(r"(^|/)\.[^/]*$|\.partial$", n))


def _main() -> int:
    from irplatform.cli.main import main

    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        atexit._run_exitfuncs()
    return 0


def _wait(child: int, began: float) -> int | None:
    """The status of a process, which is killed if it hangs."""
    pause = 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() - began > PATIENCE:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _constant(path: Path) -> bytes:
    """The content of a file without dates and seconds."""
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            return json.dumps(_without(json.loads(content)), sort_keys=True).encode()
        except ValueError:
            return content
    return _DATE.sub(b"", content) if path.suffix in (".yml", ".html", ".md", ".toml") else content


def _without(value: object) -> object:
    if isinstance(value, dict):
        return {k: _without(v) for k, v in value.items() if k not in _VARY}
    return [_without(element) for element in value] if isinstance(value, list) else value


class Drive:
    """A scenario, its undisturbed outcome, and what went wrong with faults."""

    def __init__(self, scenario: Scenario, place: Place, start: Path) -> None:
        self.scenario, self.place, self.start = scenario, place, start
        self.failures: list[dict[str, object]] = []
        self.tries: Counter[str] = Counter()
        self.messages: Counter[str] = Counter()
        self.slowest = dict.fromkeys(FAULTS, 0.0)
        self.kept_debris: Counter[str] = Counter()
        self.known: dict[str, list[str]] = {}
        self.run_undisturbed()

    def run_undisturbed(self) -> None:
        twice = []
        for _ in range(2):
            self.place.reset(self.start)
            self.before = self.place.visible()
            with tempfile.TemporaryFile() as log:
                self.outcome = self.place.run(self.scenario.arguments, log=log.fileno())
                log.seek(0)
                self.operations = [line.split("\t") for line in log.read().decode().splitlines()]
            if self.outcome.code:
                raise SystemExit(f"{self.scenario.name}: {self.outcome}")
            twice.append(self.place.visible())
        self.varying = {n for n in twice[0].keys() | twice[1] if twice[0].get(n) != twice[1].get(n)}
        self.after = self.comparable(twice[1])
        self.refuses = self.place.run(self.scenario.arguments).code  # what is there already
        self.debris = self.place.debris()

    def comparable(self, files: dict[str, str]) -> dict[str, str]:
        return {name: "" if name in self.varying else digest for name, digest in files.items()}

    def at(self, fault: str, number: int) -> None:
        """Try a fault at an operation, and the command again."""
        self.place.reset(self.start)
        outcome = self.place.run(self.scenario.arguments, fault, number)
        self.tries[fault] += 1
        self.slowest[fault] = max(self.slowest[fault], outcome.seconds)
        wrong = [*self.wrong_end(fault, outcome), *self.half_written()]
        if outcome.code == 0:
            wrong += self.other_files("exit 0, but ")
        state = self.place.state()
        if state not in self.known:  # else the command would do the same again
            self.known[state] = self.call_again()
        wrong += self.known[state]
        if wrong:
            operation = self.operations[number - 1][1:]
            self.failures.append(
                {"fault": fault, "at": number, "operation": operation, "wrong": wrong}
            )

    def call_again(self) -> list[str]:
        again = self.place.run(self.scenario.arguments)
        for name in set(self.place.debris()) - set(self.debris):
            self.kept_debris[re.sub(r"[a-z0-9_]{8}$", "*", name)] += 1
        if again.code and not (again.code == self.refuses and not self.other_files("")):
            return [f"again: exit {again.code}: {again.err[-600:]}"]
        return self.other_files("again: ")

    def wrong_end(self, fault: str, outcome: Outcome) -> list[str]:
        lines = [line for line in outcome.err.splitlines() if line.strip()]
        messages = [line for line in lines if line.startswith("platform: ")]
        message = re.sub(r"\S*/work/", "", messages[-1] if messages else "")
        self.messages[
            f"{fault}: exit {outcome.code}: {re.sub(r'[0-9a-f]{16}|[.][a-z0-9_]{8}', '*', message)}"
        ] += 1
        if outcome.code == 124:
            return ["hangs"]
        if "Traceback" in outcome.err:
            return [f"traceback: {lines[-1]}"]
        if fault in ENDED:
            late = outcome.code == 0 and fault != "crash"  # it came when all was done
            right = outcome.code == ENDED[fault] or late
            return [] if right else [f"exit {outcome.code}: {lines[-1:]}"]
        if outcome.code == 0:
            return []
        if outcome.code not in (1, 2) or len(messages) != 1 or lines[-1] != messages[0]:
            return [f"exit {outcome.code}, not one line at the end: {lines[-3:]}"]
        return (
            []
            if _WORDS[fault].lower() in messages[0].lower()
            else [f"says another reason: {messages[0]}"]
        )

    def half_written(self) -> list[str]:
        """Files under final names that are neither as before nor as at the end."""
        now = self.comparable(self.place.visible())
        before = self.comparable(self.before)
        return [
            f"half-written: {name}"
            for name, digest in now.items()
            if digest not in (before.get(name), self.after.get(name))
            and not any(re.fullmatch(passing, name) for passing in self.scenario.passing)
        ]

    def other_files(self, prefix: str) -> list[str]:
        now = self.comparable(self.place.visible())
        names = sorted(n for n in now.keys() | self.after.keys() if now.get(n) != self.after.get(n))
        return [f"{prefix}other content: {', '.join(names[:4])}"] if names else []

    def report(self) -> dict[str, object]:
        """What there is to tell."""
        return {
            "scenario": self.scenario.name,
            "operations": len(self.operations),
            "kinds": Counter(operation[1] for operation in self.operations),
            "seconds": round(self.outcome.seconds, 2),
            "tries": self.tries,
            "states": len(self.known),
            "slowest": {f: round(s, 2) for f, s in self.slowest.items() if s},
            "varying": sorted(self.varying),
            "debris": dict(self.kept_debris.most_common(8)),
            "messages": dict(self.messages.most_common()),
            "failures": self.failures,
        }


def _imported(place: Place, start: Path, arguments: tuple[str, ...]) -> None:
    """Import what a command imports, but for Java's bridge, in this process."""
    place.reset(start)
    names = place.streams / "modules"
    if not (child := os.fork()):
        atexit.register(lambda: names.write_text("\n".join(sys.modules)))
        place.run_in_child(arguments, "none", 0, -1)
    os.waitpid(child, 0)
    for name in names.read_text().split():
        if not name.startswith(("jnius", "__", "_distutils")) and name not in sys.modules:
            try:
                import_module(name)
            except Exception:
                sys.modules.pop(name, None)


def drive(
    scenario: Scenario, root: Path, faults: ctypes.CDLL, options: argparse.Namespace
) -> Drive:
    """Prepare a scenario's folder, and go through its operations."""
    place = Place(root, faults)
    os.environ["IRPLATFORM_HOME"] = str(place.root / "home")
    os.environ["IRPLATFORM_JAVA_CLASSES"] = ""  # else another process would make it meanwhile
    place.reset(None)
    scenario.write(place.root)
    for arguments in scenario.before:
        if (outcome := place.run(arguments)).code:
            raise SystemExit(f"{scenario.name}: {arguments}: {outcome}")
    for pattern in scenario.removed:
        for path in place.root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    start = root / "start"
    shutil.copytree(place.root, start, symlinks=True)
    _imported(place, start, scenario.arguments)
    driven = Drive(scenario, place, start)
    points = [(f, n) for f in options.faults for n in range(1, len(driven.operations) + 1)]
    if options.part:
        points = points[options.part[0] :: options.part[1]]
    if options.sample:
        points = random.Random(options.seed).sample(points, min(options.sample, len(points)))
    for number, (fault, at) in enumerate(points):
        driven.at(fault, at)
        if number % 50 == 49:
            failed = len(driven.failures)
            print(
                f"{scenario.name}: {number + 1} of {len(points)}, {failed} failed", file=sys.stderr
            )
    return driven


def _remember_the_machine() -> None:
    """Find out once what metadata say of the machine: it takes half of a small run."""
    from irplatform.run_folder import environment, metadata_files

    versions, revision = environment.library_versions(), environment.source_revision()
    environment.library_versions = lambda: versions
    metadata_files.source_revision = lambda: revision


def library(folder: Path) -> Path:
    """Compile `faults.c`; the path of the library to preload."""
    target = folder / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", target, source, "-ldl"], check=True
    )
    return target


def main() -> None:
    """Run scenarios, each in this process with the library loaded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenarios", nargs="*", default=list(SCENARIOS))
    parser.add_argument("--faults", type=lambda text: text.split(","), default=FAULTS[1:4])
    parser.add_argument("--sample", type=int, default=0, help="so many points, instead of all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--part", type=lambda text: [*map(int, text.split("/"))], help="K/N: every Nth point"
    )
    options = parser.parse_args()
    shared = Path("/dev/shm")
    # Not a TemporaryDirectory: the forks would remove it when they end.
    folder = tempfile.mkdtemp(dir=shared if shared.is_dir() else None)
    try:
        if "IRPLATFORM_FAULTS" not in os.environ:
            preload = str(library(Path(folder)))
            one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            environment = {**os.environ, **one, "LD_PRELOAD": preload, "IRPLATFORM_FAULTS": preload}
            command = [sys.executable, *sys.argv]
            sys.exit(subprocess.run(command, env=environment, check=False).returncode)
        import irplatform  # noqa: F401 - first, since it tells numpy how to compute
        from irplatform.registry.loading import registry

        registry()
        _remember_the_machine()
        faults = ctypes.CDLL(os.environ["IRPLATFORM_FAULTS"])
        reports = []
        for name in options.scenarios:
            root = Path(folder, name.replace(" ", "-"))
            root.mkdir()
            reports.append(drive(SCENARIOS[name], root, faults, options).report())
            shutil.rmtree(root)
            print(_summary(reports[-1]), file=sys.stderr)
    finally:
        shutil.rmtree(folder)
    print(json.dumps(reports, indent=1))
    sys.exit(any(report["failures"] for report in reports))


def _summary(report: dict[str, object]) -> str:
    tried = sum(report["tries"].values())
    return (
        f"{report['scenario']}: {report['operations']} file operations, {tried} points tried, "
        f"{len(report['failures'])} failed"
    )


if __name__ == "__main__":
    main()
