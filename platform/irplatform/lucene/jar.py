"""The jar with Lucene's and Anserini's classes: that of Pyserini, installed or fetched.

Every Pyserini requires torch, transformers and servers of its own, none of which lexical search
uses. The platform therefore takes its jar alone.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from shutil import copyfileobj

from irplatform.errors import PlatformError, one_line
from irplatform.system.cache import artifact, is_built
from irplatform.system.console import notice, progress

_PYSERINI = "2.4.0"
_SHA256 = "45979fa5fc8d54a35dce15cfd59d4d3dc4b4b29d8f0442e1e1f3a9ab0a303541"
_MEGABYTES = 113
_JAR = "anserini-2.3.0-fatjar.jar"
"""In this Pyserini."""
_LABEL = f"pyserini-{_PYSERINI}"
_DEPENDS_ON = {"pyserini": _PYSERINI, "sha256": _SHA256}
_NAME = re.compile(r"anserini-(\d+)\.[\w.-]*fatjar\.jar")
_LUCENE_9 = "9"
INSTALL = "pip install --no-deps 'pyserini>=1.4,<3'"


def lucene_jar() -> Path:
    """The jar of an installed Pyserini; without one, the cache's, fetched at first use.

    Raises:
        PlatformError: there is none, and it cannot be fetched.
    """
    if (jar := _installed()) is not None:
        return jar
    return artifact("lucene", _LABEL, _DEPENDS_ON, _fetch).path / _JAR


def is_here() -> bool:
    """Whether `lucene_jar` would fetch nothing."""
    return _installed() is not None or is_built("lucene", _LABEL, _DEPENDS_ON)


def lucene_version() -> str:
    """The major version of Lucene that `lucene_jar` has; nothing is fetched to tell."""
    jar = _installed()
    anserini = _NAME.fullmatch(jar.name if jar is not None else _JAR)
    return _LUCENE_9 if anserini and int(anserini[1]) < 2 else "10"


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
    wanted = folder / "requirements.txt"
    wanted.write_text(f"pyserini=={_PYSERINI} --hash=sha256:{_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--ignore-requires-python", "--require-hashes", "--disable-pip-version-check"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(folder), "-r", str(wanted)]
    with progress("fetching Lucene"):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        archive = next(folder.glob("pyserini-*.tar.gz"), None)
        if ran.returncode or archive is None:
            lines = [line for line in ran.stderr.splitlines() if "ERROR" in line or "pip" in line]
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
    wanted.unlink()
