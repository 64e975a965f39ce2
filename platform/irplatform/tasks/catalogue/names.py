"""Shared tasks by their names: ours, those of plugins, and the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.errors import InputError, unknown
from irplatform.files.writing import home
from irplatform.system.console import notice_once
from irplatform.tasks.catalogue.files import read_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.tasks.catalogue.rules import Task

ENDING = ".toml"


def own_folder() -> Path:
    """Return the folder of the user's tasks."""
    return home() / "tasks"


def known_tasks(of_plugins: Mapping[Path, object] = {}) -> dict[str, Task]:
    """Return all tasks by name: ours, then those of plugins, then the user's, who may replace any.

    `of_plugins` has plugins by their files. A notice names each of their tasks that is left out.

    Raises:
        InputError: a file of the user's is wrong.
    """
    tasks: dict[str, Task] = {}
    for path in sorted(Path(__file__).parent.glob(f"*{ENDING}")):
        tasks |= _by_name(path)
    for path, plugin in of_plugins.items():
        plugin_tasks, faults = tasks_of_plugin(path, tasks)
        tasks |= plugin_tasks
        for fault in faults:
            notice_once(f"WARNING: a task of {plugin} is left out: {fault}")
    for path in sorted(own_folder().glob(f"*{ENDING}")):
        for name, task in _by_name(path).items():
            before = tasks[name].path if name in tasks else None
            if before is not None and (plugin := of_plugins.get(before)):
                notice_once(f"task '{name}' of {plugin} is replaced by that of {path}")
            tasks[name] = task
    return tasks


def tasks_of_plugin(path: Path, catalogue: Mapping[str, Task]) -> tuple[dict[str, Task], list[str]]:
    """Return a plugin's tasks, and why others in it are left out; `catalogue` names are taken."""
    faults: list[str] = []
    tasks = {}
    try:
        for task in read_tasks(path, lambda error: faults.append(str(error))):
            if task.name in catalogue:
                place = catalogue[task.name].path
                faults.append(f"{path}: task '{task.name}' is also in {place}; rename one.")
            else:
                tasks[task.name] = task
    except InputError as error:
        faults.append(str(error))
    return tasks, faults


def find_task(name: str, of_plugins: Mapping[Path, object] = {}) -> Task:
    """Return a task by its name, or by the path of a TOML file that declares one.

    Raises:
        InputError: there is no such task, or the file has several.
    """
    if name.endswith(ENDING):
        file_tasks = read_tasks(Path(name))
        if len(file_tasks) > 1:
            names = ", ".join(task.name for task in file_tasks)
            raise InputError(
                f"this file has several tasks: {names}. Put it into {own_folder()}, and give the "
                "name of one.",
                path=name,
            )
        return file_tasks[0]
    tasks = known_tasks(of_plugins)
    if name not in tasks:
        hint = (
            "Another task may have other rules, also that of another year. `platform tasks list` "
            "lists all; `platform tasks new` writes the file of one that is missing."
        )
        raise unknown("task", name, tasks, hint=hint)
    return tasks[name]


def _by_name(path: Path) -> dict[str, Task]:
    return {task.name: task for task in read_tasks(path)}
