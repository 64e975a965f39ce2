"""The shared tasks that are known: ours, those of plugins, and the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, unknown
from irplatform.system.console import notice
from irplatform.system.writing import home
from irplatform.tasks.model import Task, read_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENDING = ".toml"


def own_folder() -> Path:
    """Return the folder of the user's tasks."""
    return home() / "tasks"


def known_tasks(of_plugins: Iterable[Path] = ()) -> dict[str, Task]:
    """Return all tasks by name: ours, then those of plugins, then the user's, who may replace any.

    A plugin's file that cannot be read is reported and left out.

    Raises:
        InputError: a file of the user's is wrong.
    """
    tasks: dict[str, Task] = {}
    for path in sorted(Path(__file__).parent.glob(f"*{_ENDING}")):
        tasks |= _by_name(path)
    for path in of_plugins:
        try:
            tasks = {**_by_name(path), **tasks}
        except InputError as error:
            notice(f"WARNING: tasks of a plugin are left out: {error}")
    for path in sorted(own_folder().glob(f"*{_ENDING}")):
        tasks |= _by_name(path)
    return tasks


def find_task(name: str, of_plugins: Iterable[Path] = ()) -> Task:
    """Return a task by its name, or by the path of a TOML file that declares one.

    Raises:
        InputError: there is no such task, or the file has several.
    """
    if name.endswith(_ENDING):
        found = read_tasks(Path(name))
        if len(found) > 1:
            names = ", ".join(task.name for task in found)
            raise InputError(
                f"this file has several tasks: {names}. Put it into {own_folder()}, and give the "
                "name of one.",
                path=name,
            )
        return found[0]
    tasks = known_tasks(of_plugins)
    if name not in tasks:
        raise unknown("task", name, tasks, hint="`platform tasks list` lists all.")
    return tasks[name]


def _by_name(path: Path) -> dict[str, Task]:
    return {task.name: task for task in read_tasks(path)}
