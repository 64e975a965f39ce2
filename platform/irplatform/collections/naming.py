"""Gives collections names of the user's own, and takes them away again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.collections.aliases import aliases, changing
from irplatform.collections.beir import DEFAULT_SPLIT, BeirFolder, is_beir
from irplatform.collections.resolve import SHORT_NAMES, expand, is_path, resolve_target
from irplatform.collections.toml import FILE_NAME
from irplatform.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Container

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def add_alias(name: str, target: str, *, taken: Container[str] = (), replace: bool = False) -> str:
    """Give a collection a name.

    Raises:
        InputError: the name is taken or not a name, it stands for another collection, or there is
            no collection at the target.
    """
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
    with changing() as names:
        names[name] = stored
    return stored


def remove_alias(name: str) -> None:
    """Forget a name."""
    with changing() as names:
        if name not in names:
            raise unknown("name", name, names, of="a collection")
        del names[name]


def _openable(target: str) -> str:
    """A target, with a split where it is a folder that needs one: `NAME:split` then opens it."""
    if not is_path(target):
        return target
    folder = expand(target)
    if not is_beir(folder) or (folder / FILE_NAME).is_file():
        return target
    splits = BeirFolder.at(folder).splits
    return f"{target}:{next(iter(splits))}" if splits and DEFAULT_SPLIT not in splits else target
