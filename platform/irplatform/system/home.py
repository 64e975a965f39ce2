"""Where the cache lies."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The cache folder: `$IRPLATFORM_HOME`, else the user's cache directory."""
    if configured := os.environ.get("IRPLATFORM_HOME"):
        return Path(configured).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("irplatform", appauthor=False))


def within_home(path: Path) -> Path:
    """A path as seen from the cache, where it lies there; for messages."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path
