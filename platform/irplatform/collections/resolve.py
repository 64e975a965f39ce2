"""From a name to a collection: a registered name, a user's own, a path, or an ir_datasets id."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.collections import irds
from irplatform.collections.aliases import aliases
from irplatform.collections.builders import check_built
from irplatform.collections.declaration import is_declaration
from irplatform.collections.paths import is_collection, open_path, split_off
from irplatform.errors import InputError, nearest, unknown
from irplatform.packages import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from irplatform.collections.collection import Collection

SHORT_NAMES: Mapping[str, str] = {
    "trec-pm-2017": "medline/2017/trec-pm-2017",
    "trec-pm-2018": "medline/2017/trec-pm-2018",
}
"""Names of ours for ir_datasets ids."""


def resolve(
    name: str, registered: Mapping[str, Callable[[], Collection]], also: Iterable[str] = ()
) -> Collection:
    """The collection that a name stands for.

    Raises:
        InputError: nothing has that name (with the nearest one), there is no such path, or what is
            there is not a collection.
    """
    if name in registered:
        return registered[name]()
    user_names = aliases()
    base, colon, split = name.partition(":")
    if base in user_names:
        return resolve_target(f"{user_names[base]}{colon}{split}")
    check_built(name)
    return resolve_target(name, [*registered, *user_names, *also])


def resolve_target(target: str, names: Iterable[str] = ()) -> Collection:
    """The collection at a path, or under an ir_datasets id or one of our short names for those."""
    if not target.strip():
        raise InputError("no collection is named: give a name, a path or an ir_datasets id.")
    if target in SHORT_NAMES:
        require(f"collection '{target}'", "ir_datasets")
        target = SHORT_NAMES[target]
    path = expand(target)
    if is_path(target):
        _refuse_split(target, names)
        _refuse_misspelt(target)
        return open_path(path)
    if irds.exists(target):
        return irds.open_dataset(target)
    if "/" in target and not path.exists():
        require(f"there is no folder {target} here, and an id of ir_datasets", "ir_datasets")
    if path.exists():
        return open_path(path)  # which says why it is not a collection
    raise _unknown(target, [*names, *SHORT_NAMES])


def _refuse_split(target: str, names: Iterable[str]) -> None:
    """Say that a collection has no splits where it has one of the names that are no paths."""
    base, colon, split = target.rpartition(":")
    if not colon or is_collection(expand(target)):
        return
    if base in {*names, *SHORT_NAMES} or irds.exists(base):
        raise InputError(f"the collection '{base}' has no splits. Leave out ':{split}'.")


def expand(target: str) -> Path:
    """A path with `~` replaced by the home folder."""
    return Path(target).expanduser()


def is_path(target: str) -> bool:
    """Whether a target is meant as a path: it looks like one, or a collection lies there."""
    return looks_like_path(target) or is_collection(expand(target))


def looks_like_path(target: str) -> bool:
    """Whether a target can only be a path, to judge by its letters."""
    return target.startswith((".", "/", "~")) or target.endswith(".toml") or ":" in target


def collections_beside(target: str) -> Iterator[str]:
    """The collections in the folder of a path: folders and .toml files, written as the path is."""
    folder = target[: target.rfind("/") + 1]
    for path in sorted(expand(folder or ".").glob("[!.]*")):
        with suppress(OSError):  # nobody may look into it
            if is_declaration(path) if path.suffix == ".toml" else is_collection(path):
                yield f"{folder}{path.name}"


def _misspelt(target: str) -> str:
    """The path of a collection that a path which leads nowhere nearly is, or ""."""
    base, colon, split = target.rstrip("/").partition(":")
    beside = {Path(path).name: path for path in collections_beside(base)}
    near = nearest(Path(base).name, beside)
    return f"{beside[near]}{colon}{split}" if near else ""


def _refuse_misspelt(target: str) -> None:
    folder, _ = split_off(expand(target))
    if not folder.exists() and (near := _misspelt(target)):
        raise InputError(f"there is no such folder or file. Did you mean '{near}'?", path=folder)


def _unknown(name: str, names: list[str]) -> InputError:
    hint = "A path to a folder or .toml and any ir_datasets id (with a '/') work too."
    if near := _misspelt(name):
        return InputError(f"unknown collection '{name}'. Did you mean '{near}'?")
    if "/" in name:
        hint = f"There is no folder {name} either."
        names = difflib.get_close_matches(name, irds.known(), n=1, cutoff=0.8) or names
    return unknown("collection", name, names, hint=hint)
