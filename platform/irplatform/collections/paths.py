"""A collection at a path: a `.toml`, a folder with one, or a folder in BEIR layout with a split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.collections import corpus_reference
from irplatform.collections.beir import is_beir, open_beir
from irplatform.collections.declaration import is_declaration
from irplatform.collections.toml import FILE_NAME, open_toml
from irplatform.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.collections.collection import Collection


def open_path(path: Path) -> Collection:
    """The collection at `FOLDER`, `FOLDER:split` or `FILE.toml`.

    Raises:
        InputError: there is nothing there, or nothing that is a collection.
    """
    if path.suffix == ".toml":
        return open_toml(path)
    folder, split = split_off(path)
    if not folder.is_dir():
        if folder.exists():
            raise InputError("this is neither a folder nor a .toml file.", path=folder)
        raise InputError("there is no such folder or file.", path=folder)
    if (folder / FILE_NAME).is_file():
        if split is not None:
            raise InputError(
                f"a folder with a {FILE_NAME} has no splits. Leave out ':{split}'.", path=folder
            )
        return open_toml(folder / FILE_NAME)
    if is_beir(folder):
        return open_beir(folder, split)
    others = (file for file in sorted(folder.glob("*.toml")) if is_declaration(file))
    other = next(others, None)
    if other is None and ((folder / "queries.jsonl").is_file() or (folder / "qrels").is_dir()):
        raise InputError(
            "this folder has topics or judgments, but no documents: neither a corpus.jsonl nor a "
            f'{corpus_reference.FILE_NAME} with the line collection = "…" that names the '
            "collection they are of.",
            path=folder,
        )
    hint = f" Did you mean {other}?" if other else ""
    raise InputError(
        f"this folder is not a collection: it has neither a {FILE_NAME} nor a corpus.jsonl.{hint}",
        path=folder,
    )


def is_collection(path: Path) -> bool:
    """Whether there is a folder with the files of a collection, sound or not."""
    folder, _ = split_off(path)
    return folder.is_dir() and ((folder / FILE_NAME).is_file() or is_beir(folder))


def split_off(path: Path) -> tuple[Path, str | None]:
    """The folder and the split of `FOLDER:split`; a path that exists is taken as it is."""
    name, colon, split = path.name.rpartition(":")
    if not colon or path.exists():
        return path, None
    return path.parent / name, split  # with_name takes neither "" nor ".", the folder itself
