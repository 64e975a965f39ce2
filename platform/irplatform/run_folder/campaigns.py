"""What evaluation campaigns ask for: `ir-metadata.yml`, with facts that the user gives once.

`platform config` writes the facts to `config.toml` in the user's configuration folder. Environment
variables take precedence.
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, unknown
from irplatform.files.formats import read_toml, toml_value
from irplatform.files.reading import open_bytes
from irplatform.files.writing import atomic_folder, atomic_write, settings_folder
from irplatform.run_folder.ir_metadata import (
    FILE_NAME,
    FILE_NAMES,
    ir_metadata,
    lacking,
    of_others,
    read_head,
    read_yaml,
    write_ir_metadata,
)
from irplatform.run_folder.metadata_files import metadata_file, metadata_path, read_metadata
from irplatform.run_folder.metadata_model import NOTHING
from irplatform.runs.names import run_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

FACTS = {
    "name": "Your name",
    "team": "Your team or institution, as campaigns list it",
    "repository": "Address of the code of your experiments",
    "method": "Name of your method; without one, the names of the systems",
    "description": "A sentence on your method; without one, a list of its steps",
    "goal": "A sentence on the goal of your research",
}
"""Names in the file → what they mean."""
VARIABLES = {
    "name": "IRPLATFORM_ACTOR",
    "team": "IRPLATFORM_TEAM",
    "repository": "IRPLATFORM_REPOSITORY",
}
"""Environment variables that take precedence."""
_SECTIONS = {"schema version", "tag", "platform", "implementation", "method"}
"""Sections that the platform's own metadata have."""
_USER = re.compile(r"(?<=//)[^/@]*@")


def config_file() -> Path:
    """Return the path of the user's file."""
    return settings_folder() / "config.toml"


def kept_facts() -> dict[str, str]:
    """Return the facts that the user has given once.

    Raises:
        InputError: the file is damaged or has unknown names.
    """
    path = config_file()
    if not path.exists():
        return {}
    content = read_toml(path)
    for name, value in content.items():
        if name not in FACTS:
            raise InputError(f"'{name}' is unknown: {', '.join(FACTS)} have a meaning.", path=path)
        if not isinstance(value, str):
            raise InputError(f"'{name}' is not text.", path=path)
    return content


def known_facts() -> dict[str, str]:
    """Return all facts: kept ones, those of the environment, and the address of a clone's origin.

    The clone is that of the current folder; user names and passwords are left out of its address.
    """
    of_environment = {name: os.environ[v] for name, v in VARIABLES.items() if os.environ.get(v)}
    facts = {**kept_facts(), **of_environment}
    if "repository" not in facts and (origin := _origin()):
        facts["repository"] = origin
    return facts


def keep_fact(name: str, value: str) -> None:
    """Keep a fact; "" forgets it.

    Raises:
        InputError: there is no such fact, or the file cannot be written.
    """
    if name not in FACTS:
        raise unknown("name", name, FACTS, of="a fact about you")
    facts = {**kept_facts(), name: " ".join(value.split())}
    lines = [f"{key} = {toml_value(facts[key])}\n" for key in FACTS if facts.get(key)]
    with atomic_write(config_file()) as file:
        file.writelines(lines)


def _origin() -> str:
    try:
        address = subprocess.run(
            ["git", "--no-optional-locks", "remote", "get-url", "origin"],
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
    return _USER.sub("", address) if "://" in address or ":" in address else ""


def describe_folder(folder: Path, names: Sequence[str]) -> None:
    """Write `ir-metadata.yml` of a command's runs: of the last one, with the digests of all.

    Args:
        folder: of the runs.
        names: the runs, in the order in which they were written.
    """
    described = [read_metadata(folder / run_file(name)) for name in names]
    runs = [
        {"name": name, "file": about.run.file, "sha256": about.run.sha256}
        for name, about in zip(names, described, strict=True)
        if about.run  # another command may have replaced it meanwhile
    ]
    if described and described[-1].run:
        write_ir_metadata(ir_metadata(described[-1], known_facts(), runs), folder / FILE_NAME)


def prepare_upload(run: Path, folder: Path) -> dict[str, Any]:
    """Copy a run to a new folder as `run.txt`, with its `ir-metadata.yml`, as TIRA takes it.

    Comments at the head of the run are left out.

    Returns:
        The `path` of the folder and the `files` in it.

    Raises:
        InputError: the run has no metadata, a fact that campaigns require is not known, or the
            folder exists.
    """
    content = describe_run_file(run, known_facts())
    if missing := lacking(content):
        commands = " and ".join(f"`platform config set {name} VALUE`" for name in missing)
        raise InputError(f"campaigns also ask for your {' and '.join(missing)}: {commands}.")
    with atomic_folder(folder) as target:
        _copy(run, target / "run.txt")
        write_ir_metadata(content, target / FILE_NAME)
    return {"path": str(folder), "files": ["run.txt", FILE_NAME]}


def write_upload(run: Path, folder: Path, facts: Mapping[str, str]) -> list[str]:
    """Write a run and its `ir-metadata.yml` to a folder that may exist.

    Returns:
        The facts that campaigns require and that are not known.
    """
    content = describe_run_file(run, facts)
    folder.mkdir(parents=True, exist_ok=True)
    _copy(run, folder / "run.txt")
    write_ir_metadata(content, folder / FILE_NAME)
    return lacking(content)


def describe_run_file(
    run: Path, facts: Mapping[str, str], folders: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a run's `ir-metadata.yml`: of what lies beside it, stands in its head, or is there.

    Args:
        run: the run.
        facts: of the user.
        folders: names of folders, beside which the file may lie, too.

    Raises:
        InputError: there are no metadata, or they cannot be read.
    """
    metadata = read_metadata(run) if metadata_file(run) else NOTHING
    recorded = metadata.content()
    if recorded.keys() >= _SECTIONS:
        return ir_metadata(metadata, facts)
    places = [run.parent, *([run.parent.parent] if run.absolute().parent.name in folders else [])]
    files = (place / name for place in places for name in FILE_NAMES)
    file = next((path for path in files if path.is_file()), None)
    content = recorded or read_head(run) or (read_yaml(file) if file else {})
    if not content:
        raise InputError(
            f"there is no {metadata_path(run).name} or {FILE_NAME} beside this run, nor "
            "ir_metadata in it. Write the file: https://www.ir-metadata.org has its form.",
            path=run,
        )
    return of_others(content, facts)


def _copy(run: Path, path: Path) -> None:
    with open_bytes(run) as file, atomic_write(path, "wb") as copy:
        copy.writelines(line for line in file if not line.startswith(b"#"))
