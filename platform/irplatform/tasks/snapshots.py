"""Several runs, several collections: which run is over which collection, and over which snapshot.

A run tells its collection by the metadata beside it, by the name of its folder, or by its topics,
where only one of the collections has them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.runs.content import read_content
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.tasks.check import TaskData

Placed = tuple["Path", str, "TaskData"]
"""A run, the snapshot that it is over, and what it is checked against."""


def data_of(path: Path, collections: Sequence[TaskData]) -> TaskData:
    """Return what a run is checked against, of one or several collections.

    Raises:
        InputError: nothing tells which of several it is.
    """
    if (data := _data_of_run(path, collections)) is not None:
        return data
    names = ", ".join(data.collection for data in collections)
    raise InputError(
        f"nothing tells which of these collections the run is over: {names}. No metadata beside it "
        "name one, and its topics are not those of one alone.",
        path=path,
    )


def _data_of_run(path: Path, collections: Sequence[TaskData]) -> TaskData | None:
    """What a run tells that it is checked against; None if it tells nothing."""
    if len(collections) == 1:
        return collections[0]
    name = _collection(path)
    if matches := [data for data in collections if name and name in (data.collection, data.id)]:
        return matches[0]
    topics = {*read_content(path).counts}
    holding = [data for data in collections if topics and topics <= {*(data.topics or ())}]
    return holding[0] if len(holding) == 1 else None


def place(
    paths: Sequence[Path], snapshots: Sequence[str], collections: Sequence[TaskData]
) -> list[Placed]:
    """Return runs in the order of their snapshots, each with what it is checked against.

    Runs that do not tell their snapshot take the places that are left, in their order.

    Args:
        paths: a run for each snapshot, in any order.
        snapshots: their names.
        collections: what runs are checked against: one for all, or one for each snapshot.

    Raises:
        InputError: the number of runs is wrong, or two of them are over the same snapshot.
    """
    if len(paths) != len(snapshots):
        raise InputError(
            f"the task takes a run for each of {', '.join(snapshots)}; these are "
            f"{counted(len(paths), 'run')}."
        )
    over = _over(paths, snapshots, collections)
    rest = [snapshot for snapshot in snapshots if snapshot not in over.values()]
    silent = [path for path in paths if path not in over]
    over |= dict(zip(silent, rest, strict=True))
    ordered = sorted(paths, key=lambda path: snapshots.index(over[path]))
    order = ", ".join(f"{over[path]} {path}" for path in ordered)
    if silent:
        names = ", ".join(f"{path} ({over[path]})" for path in silent)
        notice(
            f"WARNING: nothing tells over which snapshot these runs are: {names}. Make sure that "
            "their order is right."
        )
    if ordered != [*paths]:
        notice(f"runs are in the places that their collections tell: {order}.")
    of_snapshots = {_of_data(data, snapshots, collections): data for data in collections}
    return [
        (path, over[path], collections[0] if len(collections) == 1 else of_snapshots[over[path]])
        for path in ordered
    ]


def _over(
    paths: Sequence[Path], snapshots: Sequence[str], collections: Sequence[TaskData]
) -> dict[Path, str]:
    """The snapshots of the runs that tell one."""
    over: dict[Path, str] = {}
    for path in paths:
        snapshot = _snapshot(path, snapshots, collections)
        first = next((other for other, name in over.items() if name == snapshot), None)
        if snapshot and first is not None:
            raise InputError(
                f"this run is over {snapshot}, and so is {first}. The task takes one run for each "
                f"of {', '.join(snapshots)}.",
                path=path,
            )
        if snapshot:
            over[path] = snapshot
    return over


def _snapshot(path: Path, snapshots: Sequence[str], collections: Sequence[TaskData]) -> str:
    """The snapshot that a run is over, "" if nothing tells it."""
    folder = path.absolute().parent.name
    names = {"the record beside it": _collection(path), "the name of its folder": folder}
    answers = {place: _of_name(name, snapshots) for place, name in names.items()}
    if len(collections) > 1 and (data := _data_of_run(path, collections)) is not None:
        answers["its collection"] = _of_data(data, snapshots, collections)
    claims = {place: snapshot for place, snapshot in answers.items() if snapshot}
    if len({*claims.values()}) > 1:
        conflict = " and ".join(f"{place} says {snapshot}" for place, snapshot in claims.items())
        raise InputError(f"it is not clear over which snapshot this run is: {conflict}.", path=path)
    return next(iter(claims.values()), "")


def _of_data(data: TaskData, snapshots: Sequence[str], collections: Sequence[TaskData]) -> str:
    """The snapshot of one of several collections: by its name, else by its place."""
    return _of_name(data.id, snapshots) or snapshots[[*collections].index(data)]


def _collection(path: Path) -> str:
    """The name of a run's collection, as its metadata have it; "" if there are none."""
    return str(read_metadata(path).data.test_collection.name or "")


def _of_name(name: str, snapshots: Sequence[str]) -> str:
    return next((snapshot for snapshot in snapshots if _ends_with(name, snapshot)), "")


def _ends_with(name: str, snapshot: str) -> bool:
    """Whether a name ends in the numbers of a snapshot: longeval-2026-1 in that of snapshot-1."""
    numbers, ending = (re.findall(r"\d+", text) for text in (name, snapshot))
    return bool(ending) and numbers[-len(ending) :] == ending
