"""Writes the package of a new plugin: a reranker with an option, and its test."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from string import Template
from typing import TYPE_CHECKING

from irplatform import plugin
from irplatform.errors import InputError
from irplatform.runs.names import FUSED, system_of
from irplatform.system.writing import atomic_folder

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_MODULE = Template('''\
"""$title, a reranker for irplatform: what it computes, after which paper."""

from irplatform.plugin import (
    Documents,
    Field,
    Options,
    RegisterReranker,
    Reranker,
    Topic,
    hookimpl,
)


class ${kind}Options(Options):
    """The options of --set."""

    title: float = Field(2.0, ge=0, description="weight of a word in the title; 1 in the abstract")


class $kind(Reranker):
    """Ranks documents by how many words of the query they have."""

    Options = ${kind}Options
    options: ${kind}Options

    def score(self, topic: Topic, documents: Documents) -> list[float]:
        """One finite number for each document, higher is better, from topic and document alone."""
        asked = set(topic.query.lower().split())
        return [
            self.options.title * len(asked.intersection(document.title.lower().split()))
            + len(asked.intersection(document.abstract.lower().split()))
            for document in documents
        ]


@hookimpl
def register_rerankers(register: RegisterReranker) -> None:
    """Make it known to `platform run --reranker $name`."""
    register("$name", $kind)
''')

_TEST = Template('''\
"""Tests of $name."""

from irplatform.plugin import Document, Documents, Topic

from $module import $kind, ${kind}Options

DOCUMENTS = Documents.of(
    [
        Document("a", title="Crizotinib in lung cancer"),
        Document("b", title="A case report", abstract="Crizotinib was given."),
    ]
)


def test_words_of_the_title_count_more() -> None:
    scores = $kind().score(Topic("t", "crizotinib lung"), DOCUMENTS)
    assert scores == [4.0, 1.0]


def test_the_weight_of_titles_can_be_set() -> None:
    plain = $kind(${kind}Options(title=1.0))
    assert plain.score(Topic("t", "crizotinib lung"), DOCUMENTS) == [2.0, 1.0]
''')

_PROJECT = Template("""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$distribution"
version = "0.1"
description = "$title, a reranker for irplatform."
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
""")


def new_plugin(
    name: str, parent: Path, rerankers: Collection[str] = (), plugins: Collection[str] = ()
) -> Path:
    """Write the package `irplatform-NAME` of a new reranker to a folder, and return its path.

    Raises:
        InputError: the name is wrong or taken, or the folder exists or cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"'{name}' cannot name a plugin: use lower-case letters and digits, separated by "
            "hyphens, such as my-ranker."
        )
    module = f"irplatform_{name.replace('-', '_')}"
    for there_is, what in (
        (name in rerankers, f"reranker '{name}'"),
        (name in plugins, f"plugin '{name}'"),
        (find_spec(module) is not None, f"module '{module}'"),
    ):
        if there_is:
            raise InputError(f"there is already a {what}; choose another name.")
    kind = "".join(part.capitalize() for part in name.split("-"))
    if name == FUSED or system_of(name) != name or keyword.iskeyword(kind) or hasattr(plugin, kind):
        raise InputError(f"'{name}' already has another meaning; choose another name.")
    words = {
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "kind": kind,
        "module": module,
        "distribution": f"irplatform-{name}",
    }
    folder = parent / words["distribution"]
    if folder.exists():
        raise InputError("this exists already; nothing was written.", path=folder)
    with atomic_folder(folder) as draft:
        (draft / "tests").mkdir()
        for file, template in (
            ("pyproject.toml", _PROJECT),
            (f"{module}.py", _MODULE),
            (f"tests/test_{name.replace('-', '_')}.py", _TEST),
        ):
            (draft / file).write_text(template.substitute(words), encoding="utf-8")
    return folder
