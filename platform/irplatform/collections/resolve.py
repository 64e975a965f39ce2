"""From a name to a collection: a registered name, a user's own, a path, or an ir_datasets id."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.collections import irds
from irplatform.collections.aliases import aliases
from irplatform.collections.builders import check_built
from irplatform.collections.paths import is_collection, open_path
from irplatform.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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

    Args:
        name: as the user gave it.
        registered: the plugins' collections, by name.
        also: what else could have been meant where this was given.

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
    """The collection at a path, or under an ir_datasets id or one of our short names for those.

    Args:
        target: the path or id.
        names: other names that the user could have meant.

    Raises:
        InputError: there is none.
    """
    if not target.strip():
        raise InputError("no collection is named: give a name, a path or an ir_datasets id.")
    target = SHORT_NAMES.get(target, target)
    path = expand(target)
    if is_path(target):
        _refuse_split(target, names)
        return open_path(path)
    if irds.exists(target):
        return irds.open_dataset(target)
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
    """A path with `~` replaced by the home folder.

    Raises:
        InputError: nobody has that home folder.
    """
    try:
        return Path(target).expanduser()
    except RuntimeError as error:
        raise InputError("there is no such user.", path=target) from error


def is_path(target: str) -> bool:
    """Whether a target is meant as a path: it looks like one, or a collection lies there."""
    looks_so = target.startswith((".", "/", "~")) or target.endswith(".toml") or ":" in target
    return looks_so or is_collection(expand(target))


def _unknown(name: str, names: list[str]) -> InputError:
    hint = "A path to a folder or .toml and any ir_datasets id (with a '/') work too."
    if "/" in name:
        near = difflib.get_close_matches(name, irds.known(), n=1, cutoff=0.5)
        names = near or names
        hint = f"There is no folder {name} either."
    return unknown("collection", name, names, hint=hint)
