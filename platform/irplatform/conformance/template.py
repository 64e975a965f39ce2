"""Writes the package of a new plugin of any kind, and its tests."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from importlib.util import find_spec
from string import Template
from typing import TYPE_CHECKING

from irplatform import plugin
from irplatform.conformance.templates import TEMPLATES
from irplatform.errors import InputError
from irplatform.runs.names import FUSED, system_of
from irplatform.system.writing import atomic_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$distribution"
version = "0.1"
description = "$Title, $what for irplatform."
requires-python = ">=3.11"
dependencies = ["irplatform"]

[project.entry-points.irplatform]
$name = "$module"

[tool.setuptools]
py-modules = ["$module"]

[tool.ruff]
line-length = 100

[tool.mypy]
strict = true
plugins = ["pydantic.mypy"]
"""


@dataclass(frozen=True)
class Written:
    """A new package: its folder, what it is, and a command that uses it."""

    folder: Path
    title: str
    command: str


def new_plugin(
    name: str, parent: Path, kind: str = "reranker", taken: Mapping[str, Collection[str]] = {}
) -> Written:
    """Write the package `irplatform-NAME` of a new plugin to a folder.

    `kind` is a key of `TEMPLATES`; `taken` has the names of each kind that exist.

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
        if found := {name, module, title}.intersection(names):
            raise InputError(
                f"there is already a {taken_kind} '{found.pop()}'; choose another name."
            )
    given_away = keyword.iskeyword(title) or hasattr(plugin, title)
    if name == FUSED or system_of(name) != name or given_away:
        raise InputError(f"'{name}' already has another meaning; choose another name.")
    what, command, code, test = TEMPLATES[kind]
    words = {
        "name": name,
        "Title": name.replace("-", " ").capitalize(),
        "Class": title,
        "function": name.replace("-", "_"),
        "module": module,
        "distribution": f"irplatform-{name}",
        "what": what,
    }
    folder = parent / words["distribution"]
    if folder.exists():
        raise InputError("this exists already; nothing was written.", path=folder)
    with atomic_folder(folder) as draft:
        (draft / "tests").mkdir()
        for file, text in (
            ("pyproject.toml", _PROJECT),
            (f"{module}.py", code),
            (f"tests/test_{words['function']}.py", test),
        ):
            (draft / file).write_text(Template(text).substitute(words), encoding="utf-8")
    return Written(folder, what, Template(command).substitute(words))
