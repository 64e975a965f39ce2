"""Writes `keywords.py`, the keywords of Python's functions, and `settings.md`, from the settings.

    python docs/generate_keywords.py

Type checkers and editors read the file. A test compares it with `keywords()`, so that it cannot
fall behind.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import irplatform
from irplatform.experiment.declared import DeclaredSettings
from irplatform.settings import declared, taken_by
from irplatform.tuning.settings import TuneSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.settings import Setting

TARGET = Path(irplatform.__file__).parent / "experiment" / "keywords.py"
HEAD = '''\
"""The keywords of Python's functions, as an editor completes them.

Made by docs/generate_keywords.py from `irplatform.experiment.declared`; change that, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.experiment.arguments import AnyPath, AnySystem, Names, Paths, Systems
    from irplatform.plugin.retrievers import Retriever
    from irplatform.workers.distribution import Count

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Share: TypeAlias = float | Literal["auto"] | None
'''
PAGE = Path(__file__).with_name("settings.md")
HEAD_OF_PAGE = """\
# Settings

<!-- Made by docs/generate_keywords.py from the declared settings; change those, not this file. -->

What a run can be told: as an attribute of `irplatform.RunSettings`, a keyword of `irplatform.run`
and of other functions, and a key of an [experiment file](candidates.md#an-experiment-in-a-file).
[Commands](commands.md) has the options.
"""
_FUNCTIONS = ("retriever", "reranker", "explain", "run", "train", "tune")
_PARAMETERS = {"collections", "rerankers"}
"""Settings that are parameters of their own."""


def keywords() -> str:
    """The whole file: a class for each function, above the largest one that it contains."""
    parts = [HEAD.rstrip()]
    made: dict[str, set[str]] = {}
    for function in _FUNCTIONS:
        taken = {
            s.name: s for s in taken_by(DeclaredSettings, function) if s.name not in _PARAMETERS
        }
        within = [name for name, keys in made.items() if keys < taken.keys()]
        base = max(within, key=lambda name: len(made[name]), default="")
        above = _class(base) if base else "TypedDict"
        parts.append(
            f"\n\nclass {_class(function)}({above}, total=False):\n"
            f'    """Keywords of `irplatform.{function}`."""\n'
        )
        parts += [_key(s) for name, s in taken.items() if name not in made.get(base, ())]
        made[function] = {*taken}
    return "\n".join(parts) + "\n"


def page() -> str:
    """The page of the settings."""
    runs = [s for s in declared(DeclaredSettings).values() if s.group or s.name == "collection"]
    tuning = declared(TuneSettings).values()
    parts = [HEAD_OF_PAGE, *_table(runs), "\n## Of `irplatform.tune`\n", *_table(tuning)]
    return "\n".join(parts) + "\n"


def _table(settings: Iterable[Setting]) -> list[str]:
    rows = [f"| `{s.name}` | {s.in_words} | {_default(s)} | {_cell(s.help)} |" for s in settings]
    return ["| setting | value | default | |", "|---|---|---|---|", *rows]


def _default(setting: Setting) -> str:
    value = setting.shown or setting.default
    return "" if value in (None, "", (), {}) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _class(function: str) -> str:
    return f"{function.capitalize()}Options"


def _key(setting: Setting) -> str:
    told = textwrap.fill(f'"""{setting.help}"""', 96)
    return textwrap.indent(f"{setting.name}: {_type(setting)}\n{told}", "    ")


def _type(setting: Setting) -> str:
    if setting.keyword is not None:
        return setting.keyword
    if setting.several:
        return "Paths" if setting.kind == "Path" else "Names"
    kind = "AnyPath" if setting.kind == "Path" else setting.kind
    if setting.choices:
        kind = f"Literal[{', '.join(map(json.dumps, setting.choices))}]"
    return f"{kind} | None" if setting.default is None else kind


if __name__ == "__main__":
    TARGET.write_text(keywords(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
