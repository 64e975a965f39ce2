"""Settings that are declared once."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

import irplatform
from irplatform.cli.options import declared_option
from irplatform.errors import InputError
from irplatform.settings import check_values, declared, setting, taken_by

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass(frozen=True)
class CutSettings:
    """The settings of a command that cuts."""

    depth: int = setting(100, "Documents to keep.", group="Cut", takers="cut", least=1, most=500)
    share: float | None = setting(
        None, "A share.", takers="cut", words=("auto",), default_text="auto"
    )
    kind: str = setting("short", "A kind.", takers="cut", choices=("short", "long"))
    whole: bool = setting(True, "All.", takers="cut")
    measures: tuple[str, ...] = setting((), "Measures.", recorded=False)
    paths: Sequence[Path] = setting((), "Files.", takers="cut")

    def __post_init__(self) -> None:
        check_values(self)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"depth": 0}, "depth= is 0; it must be at least 1"),
        ({"depth": 501}, "depth= is 501; it must be at most 500"),
        ({"depth": "ten"}, "depth is 'ten'; it must be a whole number"),
        ({"share": "some"}, "share is 'some'; it must be a number"),
        ({"kind": "wide"}, "kind= is 'wide'; it must be one of short, long"),
    ],
)
def test_a_value_is_checked_as_it_is_declared(values, message):
    with pytest.raises(InputError, match=message):
        CutSettings(**values)


def test_a_word_stands_for_a_number():
    assert CutSettings(share="auto").share == "auto"


def test_takers_have_their_settings_in_order():
    assert [s.name for s in taken_by(CutSettings, "cut")] == [
        *("depth", "share", "kind", "whole", "paths")
    ]
    assert declared(CutSettings)["paths"].several


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["--depth", "7"], 7),
        ([], 100),
        (["--share", "0.5"], 0.5),
        (["--share", "auto"], "auto"),
        (["--no-whole"], False),
        (["--kind", "long"], "long"),
        (["--paths", "a", "--paths", "b"], (Path("a"), Path("b"))),
    ],
)
def test_an_option_comes_from_a_setting(arguments, value):
    name = arguments[0].removeprefix("--").removeprefix("no-") if arguments else "depth"
    calls = []
    command = click.command()(
        declared_option(declared(CutSettings)[name])(lambda **v: calls.append(v))
    )
    assert CliRunner().invoke(command, arguments).exit_code == 0
    assert calls == [{name: value}]


def test_the_keywords_are_those_of_the_declared_settings():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate_keywords.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    remedy = "run `python docs/generate_keywords.py`"
    for room in ("experiment", "analysis"):
        assert generate.keywords(room) == generate.target(room).read_text(encoding="utf-8"), remedy
    assert generate.page() == generate.PAGE.read_text(encoding="utf-8"), remedy


def test_the_docstring_lists_the_settings():
    docstring = irplatform.RunSettings.__doc__
    assert "    Attributes:\n        collection: A name, a path" in docstring
    assert docstring.index("rerank_depth: Top documents") < docstring.index("Raises:")
