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
from irplatform.analysis.fuse_settings import FuseSettings
from irplatform.analysis.settings import AnalysisSettings
from irplatform.experiment.settings import DeclaredSettings
from irplatform.judging.pool_settings import PoolSettings
from irplatform.settings import declared, taken_by
from irplatform.tuning.settings import TuneSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from irplatform.settings import Setting

PLATFORM = Path(irplatform.__file__).parent
HEAD = '''\
"""The keywords of Python's functions, as an editor completes them.

Made by docs/generate_keywords.py from the settings of `irplatform.{room}`: change those.
"""

from __future__ import annotations

'''
_OF_RUNS = """\
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.experiment.arguments import AnyPath, AnySystem, Names, Paths, Systems
    from irplatform.plugin.retrievers import Retriever
    from irplatform.workers.distribution import Count

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Share: TypeAlias = float | Literal["auto"] | None
"""
_OF_ANALYSIS = """\
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.topics import TopicFilter
    from irplatform.experiment.arguments import AnyCollection, AnyPath, AnyQrels, Names, Paths
"""
_FILES: Mapping[str, tuple[str, Mapping[str, type]]] = {
    "experiment": (
        _OF_RUNS,
        dict.fromkeys(
            ("retriever", "reranker", "explain", "run", "train", "tune"),
            DeclaredSettings,
        ),
    ),
    "analysis": (
        _OF_ANALYSIS,
        {
            **dict.fromkeys(("evaluate", "compare", "report"), AnalysisSettings),
            "fuse": FuseSettings,
            "pool": PoolSettings,
        },
    ),
}
"""Room → imports of its file, and the settings of its functions."""
PAGE = Path(__file__).with_name("settings.md")
HEAD_OF_PAGE = """\
# Settings

<!-- Made by docs/generate_keywords.py from the declared settings; change those, not this file. -->

What a run can be told: as an attribute of `irplatform.RunSettings`, a keyword of `irplatform.run`
and of other functions, and a key of an [experiment file](candidates.md#an-experiment-in-a-file).
[Commands](commands.md) has the options.
"""
_NAMES = {"fuse": "fuse_runs", "pool": "pool_runs", "report": "write_report"}
_PARAMETERS = {"collections", "html", "rerankers"}
"""Settings that are parameters of their own."""


def target(room: str) -> Path:
    """The file of a room."""
    return PLATFORM / room / "keywords.py"


def keywords(room: str) -> str:
    """The whole file: a class for each function, above the largest one that it contains."""
    imports, functions = _FILES[room]
    parts = [(HEAD.format(room=room) + imports).rstrip()]
    classes: dict[str, set[str]] = {}
    for function, settings in functions.items():
        by_name = {s.name: s for s in taken_by(settings, function) if s.name not in _PARAMETERS}
        within = [name for name, keys in classes.items() if keys < by_name.keys()]
        base = max(within, key=lambda name: len(classes[name]), default="")
        above = _class(base) if base else "TypedDict"
        parts.append(
            f"\n\nclass {_class(function)}({above}, total=False):\n"
            f'    """Keywords of `irplatform.{_NAMES.get(function, function)}`."""\n'
        )
        parts += [_key(s) for name, s in by_name.items() if name not in classes.get(base, ())]
        classes[function] = {*by_name}
    return "\n".join(parts) + "\n"


def page() -> str:
    """The page of the settings."""
    runs = [s for s in declared(DeclaredSettings).values() if s.group or s.name == "collection"]
    tuning = declared(TuneSettings).values()
    parts = [HEAD_OF_PAGE, *_table(runs), "\n## Of `irplatform.tune`\n", *_table(tuning)]
    parts += ["\n## Of `irplatform.evaluate`, `compare` and `write_report`\n"]
    parts += _table(declared(AnalysisSettings).values())
    parts += ["\n## Of `irplatform.fuse_runs`\n", *_table(declared(FuseSettings).values())]
    parts += ["\n## Of `irplatform.pool_runs`\n", *_table(declared(PoolSettings).values())]
    return "\n".join(parts) + "\n"


def _table(settings: Iterable[Setting]) -> list[str]:
    rows = [f"| `{s.name}` | {s.in_words} | {_default(s)} | {_cell(s.help)} |" for s in settings]
    return ["| setting | value | default | |", "|---|---|---|---|", *rows]


def _default(setting: Setting) -> str:
    value = setting.default_text or setting.default
    return "" if value in (None, "", (), {}) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _class(function: str) -> str:
    return f"{function.capitalize()}Options"


def _key(setting: Setting) -> str:
    docstring = textwrap.fill(f'"""{setting.help}"""', 96)
    return textwrap.indent(f"{setting.name}: {_type(setting)}\n{docstring}", "    ")


def _type(setting: Setting) -> str:
    if setting.kind == "TopicFilter":
        return "TopicFilter | None"
    if setting.keyword is not None:
        return setting.keyword
    if setting.several and setting.kind == "float":
        return "Sequence[float] | None"
    if setting.several:
        return "Paths" if setting.kind == "Path" else "Names"
    kind = "AnyPath" if setting.kind == "Path" else setting.kind
    if setting.choices:
        kind = f"Literal[{', '.join(map(json.dumps, setting.choices))}]"
    return f"{kind} | None" if setting.default is None else kind


if __name__ == "__main__":
    for room in _FILES:
        target(room).write_text(keywords(room), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
