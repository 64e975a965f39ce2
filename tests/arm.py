"""Installs the platform on ARM Linux, runs tests there, and compares the demo's runs with x86-64.

    python tests/arm.py             # all, as root on Debian or Ubuntu for x86-64
    python tests/arm.py core demo   # some of its steps: core, demo, tests, all, neural
    python tests/arm.py tests/text  # these tests, in the environment of an earlier `core`

Debian for arm64 is unpacked into `root` in the folder `ARM_FOLDER`, or `.arm` of this clone, and
QEMU translates its programs, at a tenth of the speed or less: the whole takes hours. Wheels in
`root/wheels` are taken before those of the index: where the sources of trec_eval cannot be
fetched, put one of pytrec-eval-terrier there.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = Path(os.environ.get("ARM_FOLDER", ROOT / ".arm")).resolve() / "root"
_PLACES = ("proc", "dev", "sys")
"""What of the system's own is mounted there."""
_BINFMT = Path("/proc/sys/fs/binfmt_misc")
_RULE = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
_TOOLS = {"mmdebstrap": "mmdebstrap", "qemu-aarch64-static": "qemu-user-static"}
_PACKAGES = "bash,coreutils,dash,findutils,g++,git,grep,procps,python3-dev,python3-venv,sed"
"""Python 3.11, for which `constraints.txt` holds, and a compiler for pytrec-eval-terrier."""
_PASSED_ON = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_TORCH = "torch<2.9"
"""The last without CUDA among the wheels for ARM: those of newer ones bring gigabytes."""
TESTS = (
    "test_ids.py", "text", "documents", "queries", "runs", "run_folder", "evaluation", "tasks",
    "comparison", "expansion", "retrieval", "lucene", "files", "workers", "system",
    "test_run_end_to_end.py",
)  # fmt: skip
"""What retrieves, scores, submits, keeps and starts: what a processor or a system could change."""
_QUICK = "not real and not slow and not browser"
_DEMO = ("run", "--collection", "demo", "--reranker")
DEMOS = {
    "demo": (*_DEMO, "uqlm-text,dlh13", "--first-stage", "bm25,bm25+rm3"),
    "neural": (*_DEMO, "delta"),
}
"""Runs that have to be the same, to the byte, and runs of a model that was trained here."""
_TRAIN = (
    *("train", "--collection", "demo-train", "--reranker", "delta", "--members", "1"),
    *("--set", "delta.loop.epochs=1"),
)
TOLERANCE = 1e-5


def main(steps: list[str]) -> None:
    """Take steps, or all; the exit code is 1 if one failed, 2 where they cannot be taken."""
    if platform.machine() != "x86_64" or os.getuid() != 0:
        print("This compares ARM with x86-64: run it as root on an x86-64 processor.")
        sys.exit(2)
    actions = {
        "core": lambda: _install("/core", ".[test]"),
        "demo": lambda: _compare("demo", "/core"),
        "tests": lambda: _test([f"tests/{name}" for name in TESTS]),
        "all": lambda: _install("/all", ".[all]", _TORCH),
        "neural": lambda: _compare("neural", "/all"),
    }
    if mounted := [SYSTEM / place for place in _PLACES if (SYSTEM / place).is_mount()]:
        print(f"{mounted[0]} is mounted. Wait for the other run, or: umount -R {mounted[0]}")
        sys.exit(2)
    _prepare()
    lines = []
    with _emulation():
        for step in steps or actions:
            started = time.monotonic()
            try:
                line = actions[step]() if step in actions else _test([step])
            except subprocess.CalledProcessError as error:
                line = f"FAILED: {error}"
            lines.append(f"{step}: {line}; {time.monotonic() - started:,.0f} s")
            print(lines[-1], flush=True)
    print("", *lines, sep="\n")
    sys.exit(any("FAILED" in line for line in lines))


def _prepare() -> None:
    """Unpack Debian, and copy this clone and what the network needs into it."""
    missing = [package for tool, package in _TOOLS.items() if shutil.which(tool) is None]
    if missing:
        _run("apt-get", "-qq", "update")
        _run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *missing)
    if not (SYSTEM / "usr/bin/python3").exists():
        shutil.rmtree(SYSTEM, ignore_errors=True)
        SYSTEM.parent.mkdir(parents=True, exist_ok=True)
        # Unpacked and not installed: nothing is emulated, which takes a minute instead of an hour.
        hooks = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"
        arguments = ("--architectures=arm64", "--variant=extract", f"--include={_PACKAGES}", hooks)
        _run("mmdebstrap", *arguments, "bookworm", SYSTEM)
    for name in ("resolv.conf", "hosts", "ssl/certs/ca-certificates.crt"):
        (SYSTEM / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path("/etc", name), SYSTEM / "etc" / name)
    (SYSTEM / "wheels").mkdir(exist_ok=True)
    (SYSTEM / "tmp").mkdir(mode=0o777, exist_ok=True)
    clone = SYSTEM / "clone"
    shutil.rmtree(clone, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, files.stdout.decode().split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)


@contextmanager
def _emulation() -> Iterator[None]:
    """Let the kernel start programs for ARM with QEMU, in the unpacked system, for the block."""
    with ExitStack() as stack:
        if not (_BINFMT / "register").exists():
            if subprocess.run(
                ["mount", "-t", "binfmt_misc", "none", _BINFMT], check=False
            ).returncode:
                print("The kernel starts no foreign programs here: it lacks binfmt_misc.")
                sys.exit(2)
            stack.callback(_run, "umount", _BINFMT)
        rule = _BINFMT / "qemu-aarch64"
        if not rule.exists():  # some distributions have it registered
            (_BINFMT / "register").write_bytes(_RULE.read_bytes())
            stack.callback(rule.write_text, "-1")
        for place in _PLACES:
            _run("mount", "--rbind", "--make-rslave", f"/{place}", SYSTEM / place)
            # Lazily: what programs have left running may still use it.
            stack.callback(_run, "umount", "--recursive", "--lazy", SYSTEM / place)
        yield


def _install(venv: str, requirement: str, *others: str) -> str:
    """Make a virtual environment, with the pinned versions, except of others, and Lucene's jar."""
    pinned = (ROOT / "constraints.txt").read_text().splitlines(keepends=True)
    free = tuple(f"{other.partition('<')[0]}==" for other in others)
    lines = [line for line in pinned if not (free and line.startswith(free))]
    (SYSTEM / "tmp/constraints.txt").write_text("".join(lines))
    _arm("", "python3", "-m", "venv", "--clear", venv)
    pip = ("pip", "install", "--no-compile", "--disable-pip-version-check")
    pip = (*pip, "--constraint", "/tmp/constraints.txt")
    _arm(venv, *pip, "--editable", requirement, *others)
    _arm(venv, *pip, "--quiet", "--no-deps", "pyserini")
    _arm(venv, "platform", "doctor")
    installed = (SYSTEM / venv[1:]).glob("lib/*/site-packages/*.dist-info")
    return f"installed: {len([*installed])} packages"


def _test(tests: list[str]) -> str:
    """Run tests of the core, where no extra is installed; it says why it skips some."""
    pytest = ("python", "-m", "pytest", "-v", "-rfEs", "-p", "no:cacheprovider", "-m", _QUICK)
    _arm("/core", *pytest, "-n", "2", "--dist", "loadscope", *tests)
    return "passed"


def _compare(name: str, venv: str) -> str:
    """Run a demo here and there; how much the scores of their runs differ."""
    with TemporaryDirectory() as folder:
        native, foreign = Path(folder) / name, SYSTEM / "tmp" / name
        shutil.rmtree(foreign, ignore_errors=True)
        environment = {**os.environ, "IRPLATFORM_HOME": f"{folder}/home"}
        python, native_options, foreign_options = (sys.executable, "-m", "irplatform"), (), ()
        if name == "neural":  # trainings would drift apart
            model = Path(folder) / "model"
            _run(*python, *_TRAIN, "--out", model, env=environment)
            shutil.copytree(model, SYSTEM / "tmp/model", dirs_exist_ok=True)
            native_options, foreign_options = (
                ("--checkpoint", model),
                ("--checkpoint", "/tmp/model"),
            )
        _run(*python, *DEMOS[name], *native_options, "--run-dir", native, env=environment)
        there_too = ("python", "-m", "irplatform", *DEMOS[name], *foreign_options, "--run-dir")
        _arm(venv, *there_too, f"/tmp/{name}", IRPLATFORM_HOME="/tmp/home")
        runs = sorted(path.relative_to(native) for path in native.rglob("*.run"))
        if not runs or runs != sorted(path.relative_to(foreign) for path in foreign.rglob("*.run")):
            return "FAILED: other runs here and there"
        same = sum((native / run).read_bytes() == (foreign / run).read_bytes() for run in runs)
        far = max(_difference(native / run, foreign / run) for run in runs)
    allowed = TOLERANCE if name == "neural" else 0
    state = "FAILED: " if far > allowed or (name == "demo" and same < len(runs)) else ""
    return (
        f"{state}{same} of {len(runs)} runs are the same bytes; scores differ by at most {far:.3g}"
    )


def _difference(native: Path, foreign: Path) -> float:
    """How far the scores of two runs are apart; infinite where one has other documents."""
    scores, other_scores = (
        {(topic, document): float(score) for topic, _, document, _, score, *_ in rows}
        for rows in (
            [line.split() for line in path.read_text().splitlines()] for path in (native, foreign)
        )
    )
    if scores.keys() != other_scores.keys():
        return float("inf")
    return max((abs(score - other_scores[place]) for place, score in scores.items()), default=0.0)


def _arm(venv: str, *command: str, **variables: str) -> None:
    """Run a program of the unpacked system, in its clone, with a virtual environment."""
    passed_on = {k: v for k, v in os.environ.items() if k.upper().startswith(_PASSED_ON)}
    settings = {
        "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt",
        **passed_on,
        "PIP_FIND_LINKS": "/wheels",
        "PATH": f"{venv}/bin:/usr/bin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        **variables,
    }
    assigned = [f"{name}={value}" for name, value in settings.items()]
    _run(
        "chroot",
        SYSTEM,
        "/usr/bin/env",
        "--ignore-environment",
        "--chdir=/clone",
        *assigned,
        *command,
    )


def _run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, env=env, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
