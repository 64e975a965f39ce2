"""The jar with Lucene's classes: Anserini's, which Pyserini ships.

Without Pyserini, which requires torch and servers, its jar alone is fetched.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING

from irplatform.errors import PlatformError, one_line
from irplatform.files.cache import artifact, is_built
from irplatform.system.console import notice, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PYSERINI = "2.4.0"
_SHA256 = "45979fa5fc8d54a35dce15cfd59d4d3dc4b4b29d8f0442e1e1f3a9ab0a303541"
_MEGABYTES = 113
_POLL = 0.3
"""Seconds between two looks at what pip has fetched."""
_JAR = "anserini-2.3.0-fatjar.jar"
_LABEL = f"pyserini-{_PYSERINI}"
_DEPENDS_ON = {"pyserini": _PYSERINI, "sha256": _SHA256}
_NAME = re.compile(r"anserini-(\d+)\.[\w.-]*fatjar\.jar")
INSTALL = "pip install --no-deps 'pyserini>=1.4,<3'"


def lucene_jar() -> Path:
    """The jar of an installed Pyserini; without one, the cache's, fetched at first use.

    Raises:
        PlatformError: the jar cannot be fetched.
    """
    if (jar := _installed()) is not None:
        return jar
    return artifact("lucene", _LABEL, _DEPENDS_ON, _fetch).path / _JAR


def is_here() -> bool:
    """Tell if `lucene_jar` finds the jar without fetching it."""
    return _installed() is not None or is_built("lucene", _LABEL, _DEPENDS_ON)


def lucene_version() -> str:
    """The major version of Lucene in the jar; fetches nothing."""
    jar = _installed()
    anserini = _NAME.fullmatch(jar.name if jar is not None else _JAR)
    return "9" if anserini and int(anserini[1]) < 2 else "10"


def _installed() -> Path | None:
    spec = importlib.util.find_spec("pyserini")
    folders = spec.submodule_search_locations if spec is not None else None
    jars = (
        jar
        for folder in folders or ()
        for jar in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")
    )
    return next(jars, None)


def _fetch(folder: Path) -> None:
    """Get Pyserini through pip, without its dependencies, and keep its jar."""
    notice(
        f"Lucene comes with Pyserini, which is not installed: pip fetches Pyserini {_PYSERINI} "
        f"({_MEGABYTES} MB) into the cache, once"
    )
    requirements = folder / "requirements.txt"
    requirements.write_text(f"pyserini=={_PYSERINI} --hash=sha256:{_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--ignore-requires-python", "--require-hashes", "--disable-pip-version-check"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(folder), "-r", str(requirements)]
    with progress("fetching Lucene", _MEGABYTES, "MB") as advance:
        returncode, errors = _run_pip(command, folder, advance)
        archive = next(folder.glob("pyserini-*.tar.gz"), None)
        if returncode or archive is None:
            PlatformError.raise_refusal(errors)
            lines = [line for line in errors.splitlines() if "ERROR" in line or "pip" in line]
            reason = one_line(lines[-1]).removeprefix("ERROR: ") if lines else "pip failed"
            raise PlatformError(
                f"Lucene is missing and cannot be fetched ({reason}). Run {INSTALL} where there "
                "is a network."
            )
        with tarfile.open(archive) as packed:
            jar = packed.extractfile(f"pyserini-{_PYSERINI}/pyserini/resources/jars/{_JAR}")
            assert jar is not None  # its digest says so
            with (folder / _JAR).open("wb") as file:
                copyfileobj(jar, file)
    archive.unlink()
    requirements.unlink()


def _run_pip(
    command: Sequence[str], folder: Path, advance: Callable[[int], None]
) -> tuple[int, str]:
    """Run pip, show how much of its archive is here, and return its exit code and stderr."""
    megabytes = 0
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        environment = {**os.environ, "TMPDIR": temporary}  # where pip keeps what it downloads
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        ) as pip:
            try:
                while True:
                    with suppress(subprocess.TimeoutExpired):
                        _, errors = pip.communicate(timeout=_POLL)
                        return pip.returncode, errors
                    with suppress(OSError):  # pip removes files
                        sizes = [a.stat().st_size for a in folder.rglob("pyserini-*.tar.gz")]
                        now = min(_MEGABYTES, max(sizes, default=0) // 10**6)
                        advance(max(0, now - megabytes))
                        megabytes = max(megabytes, now)
            finally:
                pip.kill()
