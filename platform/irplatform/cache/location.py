"""Where the cache lies."""

from __future__ import annotations

import os
from pathlib import Path

from irplatform.errors import InputError


def home() -> Path:
    """The cache folder: `$IRPLATFORM_HOME`, else the user's cache directory.

    Raises:
        InputError: its name is no text, and Lucene, which is Java, could not open what is in it.
    """
    if configured := os.environ.get("IRPLATFORM_HOME"):
        folder = Path(configured).expanduser().absolute()
    else:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("irplatform", appauthor=False))
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name of the cache folder is not UTF-8: {str(folder)!r}. Set IRPLATFORM_HOME to "
            "another one."
        ) from error
    return folder


def within_home(path: Path) -> Path:
    """A path as seen from the cache, where it lies there; for messages."""
    return path.relative_to(home()) if path.is_relative_to(home()) else path
