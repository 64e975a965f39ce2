"""Names that a user gives to collections: `platform collections add NAME PATH`.

They lie in one small JSON file in the user's configuration folder (under `$IRPLATFORM_HOME` where
that is set), written under a lock.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import cache, storage
from irplatform.errors import InputError
from irplatform.json_io import read_own_json

if TYPE_CHECKING:
    from collections.abc import Iterator


def aliases_file() -> Path:
    """Where the names are kept."""
    if os.environ.get("IRPLATFORM_HOME"):
        return cache.home() / "collections.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("irplatform", appauthor=False)) / "collections.json"


def aliases() -> dict[str, str]:
    """All names with what they stand for: an absolute path, or an ir_datasets id.

    Raises:
        InputError: the file was changed into something else.
    """
    path = aliases_file()
    try:
        content = read_own_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise InputError(f"cannot be read: {reason}. Mend or remove it.", path=path) from error
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise InputError("is not an object of names and paths. Mend or remove it.", path=path)
    return content


@contextmanager
def changing() -> Iterator[dict[str, str]]:
    """Lend all names, to be changed; they are written at the end of the block."""
    from filelock import FileLock

    path = aliases_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            names = aliases()
            yield names
            storage.write_json(path, dict(sorted(names.items())))
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError("cannot be written to.", path=path) from error
