"""From a name to a collection: a registered name, a user's own, a path, or an ir_datasets id.

A path is a `.toml`, a folder with one, or a folder in BEIR layout with a split. The user's names
(`platform collections add NAME PATH`) are in a JSON file in the configuration folder.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from irplatform.collections.beir import (
    CORPUS_REFERENCE,
    DEFAULT_SPLIT,
    UNJUDGED,
    BeirFolder,
    NoSplitError,
    is_beir,
    open_beir,
)
from irplatform.collections.irds import dataset_ids, exists, open_dataset
from irplatform.collections.toml import COLLECTION_FILE, is_declaration, open_toml
from irplatform.errors import InputError, nearest, unknown
from irplatform.files.formats import read_own_json
from irplatform.files.writing import settings_folder, write_json
from irplatform.spelling import option
from irplatform.system.packages import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from irplatform.data import Collection

_POOL = "trec-pm-pool-"
"""Begins the names of built collections; for all others the user names the folder."""
BUILDERS: Mapping[str, str] = {
    f"{_POOL}2017": "TREC PM 2017, the judged documents only",
    f"{_POOL}2018": "TREC PM 2018, the judged documents only",
    "pubmed-articles": "the articles of PubMed that judgments name",
    "mesh": "MeSH-term queries for the documents of a collection",
    "new-documents": "halves of a collection that share no document",
}
"""The collections that `platform collections build` makes, and a description of each."""
Registered = Mapping[str, Callable[[], "Collection"]]
"""Collections of plugins: name to the function that opens it."""
NONE: Registered = MappingProxyType({})
SHORT_NAMES: Mapping[str, str] = {
    "trec-pm-2017": "medline/2017/trec-pm-2017",
    "trec-pm-2018": "medline/2017/trec-pm-2018",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


class NotBuiltError(InputError):
    """A collection that can be built is not built yet."""


def resolve(name: str, registered: Registered, also: Iterable[str] = ()) -> Collection:
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
        return resolve_target(f"{user_names[base]}{colon}{split}", (), registered)
    check_built(name)
    return resolve_target(name, [*registered, *user_names, *also], registered)


def documents_of(name: str, registered: Registered = NONE) -> Collection:
    """A collection for its documents alone: the split of a folder need not be named."""
    try:
        return resolve(name, registered)
    except NoSplitError:
        return resolve(f"{name}:{UNJUDGED}", registered)


def resolve_target(
    target: str, names: Iterable[str] = (), registered: Registered = NONE
) -> Collection:
    """The collection at a path, or under an ir_datasets id or one of our short names for those."""
    if not target.strip():
        raise InputError("no collection is named: give a name, a path or an ir_datasets id.")
    if target in SHORT_NAMES:
        require(f"collection '{target}'", "ir_datasets")
        target = SHORT_NAMES[target]
    path = expand(target)
    if is_path(target):
        base, colon, split = target.rpartition(":")
        is_name = colon and not is_collection(path) and (base in names or exists(base))
        if is_name or base in SHORT_NAMES:
            raise InputError(f"the collection '{base}' has no splits. Leave out ':{split}'.")
        folder, _ = split_off(path)
        if not folder.exists() and (near := _misspelt(target)):
            raise InputError(
                f"there is no such folder or file. Did you mean '{near}'?", path=folder
            )
        return open_path(path, registered)
    if exists(target):
        return open_dataset(target)
    if "/" in target and not path.exists():
        require(f"there is no folder {target} here, and an id of ir_datasets", "ir_datasets")
    if path.exists():
        return open_path(path, registered)  # which says why it is not a collection
    if near := _misspelt(target):
        raise InputError(f"unknown collection '{target}'. Did you mean '{near}'?")
    choices = [*names, *SHORT_NAMES]
    hint = "A path to a folder or .toml and any ir_datasets id (with a '/') work too."
    if "/" in target:
        hint = f"There is no folder {target} either."
        choices = difflib.get_close_matches(target, dataset_ids(), n=1, cutoff=0.8) or choices
    if target.startswith("longeval"):
        hint = (
            "Ids of ir-datasets-longeval are not read: name the files in a collection.toml, as "
            "docs/tasks-longeval.md shows."
        )
    raise unknown("collection", target, choices, hint=hint)


def open_path(path: Path, registered: Registered = NONE) -> Collection:
    """The collection at `FOLDER`, `FOLDER:split` or `FILE.toml`."""
    open_partner = partial(open_path, registered=registered)
    if path.suffix == ".toml":
        return open_toml(path, open_partner)
    folder, split = split_off(path)
    if not folder.is_dir():
        is_file = "this is neither a folder nor a .toml file."
        missing = "there is no such folder or file."
        raise InputError(is_file if folder.exists() else missing, path=folder)
    if (folder / COLLECTION_FILE).is_file():
        if split is not None:
            wrong = f"a folder with a {COLLECTION_FILE} has no splits. Leave out ':{split}'."
            raise InputError(wrong, path=folder)
        return open_toml(folder / COLLECTION_FILE, open_partner)
    if is_beir(folder):
        return open_beir(folder, split, partial(documents_of, registered=registered))
    others = (file for file in sorted(folder.glob("*.toml")) if is_declaration(file))
    other = next(others, None)
    hint = f" Did you mean {other}?" if other else ""
    raise InputError(
        f"this folder is not a collection: it has neither a {COLLECTION_FILE} nor a corpus.jsonl "
        f'or {CORPUS_REFERENCE} (with the line collection = "…").{hint}',
        path=folder,
    )


def check_built(name: str) -> None:
    """Refuse the name of a collection that can be built and is not built yet."""
    if name.startswith(_POOL) and name in BUILDERS:
        raise NotBuiltError(
            f"'{name}' ({BUILDERS[name]}) is not built yet. `platform collections build {name}` "
            f"fetches it; with {option('dry_run', True)} it only says what, from where, and "
            "how much."
        )


def is_collection(path: Path) -> bool:
    """Return whether there is a folder with the files of a collection, sound or not."""
    folder, _ = split_off(path)
    return folder.is_dir() and ((folder / COLLECTION_FILE).is_file() or is_beir(folder))


def split_off(path: Path) -> tuple[Path, str | None]:
    """The folder and the split of `FOLDER:split`; a path that exists is taken as it is."""
    name, colon, split = path.name.rpartition(":")
    if not colon or path.exists():
        return path, None
    return path.parent / name, split  # with_name takes neither "" nor ".", the folder itself


def expand(target: str) -> Path:
    """A path with `~` replaced by the home folder."""
    return Path(target).expanduser()


def is_path(target: str) -> bool:
    """Return whether a target looks like a path, or a collection is there."""
    return looks_like_path(target) or is_collection(expand(target))


def looks_like_path(target: str) -> bool:
    """Return whether a target can only be a path, to judge by its letters."""
    return target.startswith((".", "/", "~")) or target.endswith(".toml") or ":" in target


def collections_beside(target: str) -> Iterator[str]:
    """The collections in the folder of a path: folders and .toml files, written as the path is."""
    folder = target[: target.rfind("/") + 1]
    for path in sorted(expand(folder or ".").glob("[!.]*")):
        with suppress(OSError):  # a folder without permission to read
            if is_declaration(path) if path.suffix == ".toml" else is_collection(path):
                yield f"{folder}{path.name}"


def aliases_file() -> Path:
    """The file of the user's names."""
    return settings_folder() / "collections.json"


def aliases() -> dict[str, str]:
    """The user's names, each with an absolute path or an ir_datasets id."""
    path = aliases_file()
    try:
        content = read_own_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise InputError(f"cannot be read: {reason}. Correct or remove it.", path=path) from error
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise InputError("is not an object of names and paths. Correct or remove it.", path=path)
    return content


@contextmanager
def changing() -> Iterator[dict[str, str]]:
    """Yield the user's names for changes; they are written at the end, under a lock."""
    from filelock import FileLock

    path = aliases_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            names = aliases()
            yield names
            write_json(path, dict(sorted(names.items())))
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise InputError("cannot be written to.", path=path) from error


def _misspelt(target: str) -> str:
    """The path of a collection with a name similar to a missing one, or ""."""
    base, colon, split = target.rstrip("/").partition(":")
    beside = {Path(path).name: path for path in collections_beside(base)}
    near = nearest(Path(base).name, beside)
    return f"{beside[near]}{colon}{split}" if near else ""


def add_alias(
    name: str, target: str, *, registered: Registered = NONE, replace: bool = False
) -> str:
    """Give a collection a name.

    Raises:
        InputError: the name is taken or not a name, it stands for another collection, or there is
            no collection at the target.
    """
    if not _NAME.fullmatch(name) or name.endswith(".toml"):
        raise InputError(
            f"'{name}' cannot be a name: use lower-case letters, digits, '-', '_' and '.'."
        )
    if name in registered:
        raise InputError(f"'{name}' is a plugin's collection. Choose another name.")
    resolve_target(_openable(target), (), registered)
    stored = str(expand(target).absolute()) if is_path(target) else target
    current = aliases().get(name) or SHORT_NAMES.get(name) or stored
    if current != stored and not replace:
        raise InputError(
            f"'{name}' stands for {current} already. Choose another name, or replace it with "
            f"{option('force', True)}."
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
    """A target, with a split if the folder needs one; `NAME:split` opens it later."""
    if not is_path(target):
        return target
    folder = expand(target)
    if not is_beir(folder) or (folder / COLLECTION_FILE).is_file():
        return target
    splits = BeirFolder.at(folder).splits
    return f"{target}:{next(iter(splits))}" if splits and DEFAULT_SPLIT not in splits else target
