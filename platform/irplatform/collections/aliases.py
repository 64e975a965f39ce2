"""Names that a user gives to collections: `platform collections add NAME PATH`.

They lie in one small JSON file in the user's configuration folder (under `$IRPLATFORM_HOME` where
that is set), written under a lock.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform import artifacts, storage
from irplatform.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def aliases_file() -> Path:
    """Where the names are kept."""
    if os.environ.get("IRPLATFORM_HOME"):
        return artifacts.home() / "collections.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("irplatform", appauthor=False)) / "collections.json"


def aliases() -> dict[str, str]:
    """All names with what they stand for: an absolute path, or an ir_datasets id.

    Raises:
        InputError: the file was changed into something else.
    """
    path = aliases_file()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error}). Mend or remove it.", path=path) from error
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise InputError("is not an object of names and paths. Mend or remove it.", path=path)
    return content


def add_alias(name: str, target: str, *, taken: Container[str] = (), replace: bool = False) -> str:
    """Give a collection a name.

    Args:
        name: lower-case letters, digits, '-', '_' and '.'.
        target: a path that `open_path` takes, or an ir_datasets id.
        taken: names that plugins registered.
        replace: whether the name may stand for another collection now.

    Returns:
        What was stored: paths are made absolute.

    Raises:
        InputError: the name is taken or not a name, it stands for another collection, or there is
            no collection at the target.
    """
    from irplatform.collections.resolve import SHORT_NAMES, expand, is_path, resolve_target

    if not _NAME.fullmatch(name) or name.endswith(".toml"):
        raise InputError(
            f"'{name}' cannot be a name: use lower-case letters, digits, '-', '_' and '.'."
        )
    if name in taken:
        raise InputError(f"'{name}' is a plugin's collection. Choose another name.")
    resolve_target(_openable(target))
    stored = str(expand(target).absolute()) if is_path(target) else target
    current = aliases().get(name) or SHORT_NAMES.get(name) or stored
    if current != stored and not replace:
        raise InputError(
            f"'{name}' stands for {current} already. Choose another name, or replace it with "
            "--force."
        )
    with _changing() as names:
        names[name] = stored
    return stored


def remove_alias(name: str) -> None:
    """Forget a name.

    Raises:
        InputError: there is no such name.
    """
    with _changing() as names:
        if name not in names:
            raise unknown("name", name, names, of="a collection")
        del names[name]


def _openable(target: str) -> str:
    """A target, with a split where it is a folder that needs one: `NAME:split` then opens it."""
    from irplatform.collections.beir import DEFAULT_SPLIT, BeirFolder, is_beir
    from irplatform.collections.resolve import expand, is_path
    from irplatform.collections.toml import FILE_NAME

    if not is_path(target):
        return target
    folder = expand(target)
    if not is_beir(folder) or (folder / FILE_NAME).is_file():
        return target
    splits = BeirFolder.at(folder).splits
    return f"{target}:{next(iter(splits))}" if splits and DEFAULT_SPLIT not in splits else target


@contextmanager
def _changing() -> Iterator[dict[str, str]]:
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
