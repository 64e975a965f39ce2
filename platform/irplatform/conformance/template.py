"""Writes the package of a new plugin of any kind, and its tests."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from irplatform import plugin
from irplatform.errors import InputError
from irplatform.files.writing import atomic_folder
from irplatform.runs.names import FUSED, system_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_FILES = Path(__file__).with_name("templates")
_CONTRACT = ">=0.2,<0.3"
"""The versions of irplatform that a new plugin asks for."""
_PART = re.compile(r"^=== (.+)\n", re.MULTILINE)
"""The line before each file of a template; `$words` are replaced."""


@dataclass(frozen=True)
class NewPlugin:
    """A new package: its folder, what it is, and a command that uses it."""

    folder: Path
    title: str
    command: str


def new_plugin(
    name: str, parent: Path, kind: str = "reranker", taken: Mapping[str, Collection[str]] = {}
) -> NewPlugin:
    """Write the package `irplatform-NAME` of a new plugin to a folder.

    `kind` names a file of `templates`; `taken` has the names of each kind that exist.

    Raises:
        InputError: the name is wrong or taken, or the folder exists or cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"'{name}' cannot name a plugin: use lower-case letters and digits, separated by "
            "hyphens, such as my-ranker."
        )
    module = f"irplatform_{name.replace('-', '_')}"
    title = "".join(part.capitalize() for part in name.split("-"))
    for taken_kind, names in {**taken, "module": [module] if find_spec(module) else []}.items():
        if matches := {name, module, title}.intersection(names):
            raise InputError(
                f"there is already a {taken_kind} '{matches.pop()}'; choose another name."
            )
    given_away = keyword.iskeyword(title) or hasattr(plugin, title)
    if name == FUSED or system_of(name) != name or given_away:
        raise InputError(f"'{name}' already has another meaning; choose another name.")
    head, *parts = _PART.split((_FILES / f"{kind}.txt").read_text(encoding="utf-8"))
    description, command = head.splitlines()
    packaged = f'packages = ["{module}"]\n\n[tool.setuptools.package-data]\n{module} = ["*.toml"]'
    extra = "[neural]" if kind == "neural" else ""
    words = {
        "name": name,
        "Title": name.replace("-", " ").capitalize(),
        "Class": title,
        "function": name.replace("-", "_"),
        "module": module,
        "distribution": f"irplatform-{name}",
        "what": description,
        "What": description.capitalize(),
        "irplatform": f"irplatform{extra}{_CONTRACT}",
        "contents": packaged if "$module/__init__.py" in parts else f'py-modules = ["{module}"]',
    }
    words["command"] = Template(command).substitute(words)
    folder = parent / words["distribution"]
    if folder.exists():
        raise InputError("this exists already; nothing was written.", path=folder)
    parts += _PART.split((_FILES / "package.txt").read_text(encoding="utf-8"))[1:]
    with atomic_folder(folder) as draft:
        for file, text in zip(parts[::2], parts[1::2], strict=True):
            path = draft / Template(file).substitute(words)
            path.parent.mkdir(exist_ok=True)
            path.write_text(Template(text).substitute(words), encoding="utf-8")
    return NewPlugin(folder, description, words["command"])
