"""A whole experiment in a TOML file: `platform run experiment.toml`.

    collections = ["demo"]
    first-stages = ["bm25", "bm25+rm3"]
    measures = ["nDCG@20", "AP"]
    seeds = 3

    [rerankers]
    lexical = {}
    delta = { filters = 64 }
    small = { reranker = "delta", filters = 8 }

    [settings.rm3]
    fb_terms = 20

Keys are the options of `platform run`, with "-" or "_". Paths are relative to the file. An entry of
`rerankers` is a reranker or a label, with options; `settings` has those of other systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.names import aliases, is_collection, looks_like_path, split_off
from irplatform.collections.toml import is_declaration
from irplatform.errors import InputError, unknown
from irplatform.files.formats import read_toml
from irplatform.options import flat
from irplatform.retrieval.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = ("collections", "first_stages", "topics", "measures", "expand", "train_on")
_PATHS = ("query_plan", "checkpoint", "vectors", "run_dir", "index", "html")
_NUMBERS = (
    *("depth", "rerank_depth", "train_topics", "pretrain_queries"),
    *("seed", "seeds", "members", "threads"),
)
_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(_PATHS, (str, "a path")),
    **dict.fromkeys((*_NUMBERS, "model_threads"), (int, "a whole number")),
    **dict.fromkeys(
        ("force", "resume", "compare", "ignore_identical_ids"), (bool, "true or false")
    ),
    "interpolate": ((int, float), "a number or auto"),
    "workers": ((int, str), "a number or ray"),
}
"""Keys with one value that is not text → its type, in words, too."""
_TEXTS = ("pretrain", "fusion", "device", "preset", "tag")
KEYS = (*_NAMES, *_KINDS, *_TEXTS, "rerankers", "settings", "vectors_text")
SHOWN = ("compare", "html")
"""Keys about what is shown of the runs, for the command line alone."""
SINGULAR = {
    "collection": "collections",
    "first_stage": "first_stages",
    "measure": "measures",
    "reranker": "rerankers",
    "topic": "topics",
}
"""Names of options of the command line → keys."""


def read_file(path: Path) -> dict[str, Any]:
    """Return the settings in a file by the names of `RunSettings`, and those of `SHOWN`."""
    content = read_toml(path)
    if is_declaration(path):
        raise InputError(
            f"this describes a collection, not an experiment: --collection {path}.", path=path
        )
    return _Reader(path).read(content)


@dataclass(frozen=True)
class _Reader:
    """Checks the keys of a file; errors name them."""

    path: Path

    def read(self, content: Mapping[str, object]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        written: dict[str, str] = {}
        for key, value in content.items():
            name = key.replace("-", "_")
            name = SINGULAR.get(name, name)
            if name not in KEYS:
                error = unknown("key", key, [k.replace("_", "-") for k in KEYS], of="an experiment")
                raise InputError(error.message, path=self.path)
            if name in written:
                raise InputError(f"'{written[name]}' and '{key}' say the same.", path=self.path)
            written[name] = key
            given[name] = self._value(key, name, value)
        if "rerankers" in given:
            given["rerankers"], options = given["rerankers"]
            twice = [name for name in options if name in given.get("settings", {})]
            if twice:
                raise InputError(
                    f"'{twice[0]}' is set in [rerankers] and in [settings].", path=self.path
                )
            given["settings"] = {**given.get("settings", {}), **options}
        return given

    def _value(self, key: str, name: str, value: object) -> Any:
        match name:
            case "rerankers":
                return self._rerankers(key, value)
            case "settings":
                return flat(self._table(key, value))
            case "vectors_text":
                return [self._at(each) for each in self._list(key, value)]
            case "interpolate" if value == "auto":
                return value
        if name in _NAMES:
            return [self._named(name, each) for each in self._list(key, value)]
        kind, words = _KINDS.get(name, (str, "text"))
        checked = self._kind(key, value, kind, words)
        return self._at(checked) if name in _PATHS else checked

    def _rerankers(self, key: str, value: object) -> tuple[list[str], dict[str, object]]:
        """Names, "LABEL=NAME" for labels, and the options under them."""
        if not isinstance(value, dict):
            return self._list(key, value), {}
        names: list[str] = []
        options: dict[str, object] = {}
        for label, entry in value.items():
            table = {**self._table(f"{key}.{label}", entry)}
            name = self._kind(
                f"{key}.{label}.reranker", table.pop("reranker", label), str, "a name"
            )
            names.append(label if name == label else f"{label}={name}")
            options |= flat({label: table})
        return names, options

    def _named(self, name: str, text: str) -> str:
        """A name; a path is taken from the file's folder."""
        if name in ("collections", "train_on") and text.partition(":")[0] not in aliases():
            place = self._at(text)
            there = "/" in text and split_off(place)[0].exists()
            return str(place) if looks_like_path(text) or there or is_collection(place) else text
        if name == "first_stages":
            parts = text.split("+")
            for end in range(len(parts), 0, -1):
                file = self.path.parent / "+".join(parts[:end])
                if ("/" in text or "." in text) and file.is_file():
                    return Stage.parse("+".join([str(file), *parts[end:]])).name
        return text

    def _at(self, text: str) -> Path:
        return self.path.parent / Path(text).expanduser()

    def _list(self, key: str, value: object) -> list[str]:
        values = value if isinstance(value, list) else [value]
        return [self._kind(key, each, str, "a name or a list of names") for each in values]

    def _table(self, key: str, value: object) -> Mapping[str, object]:
        table: Mapping[str, object] = self._kind(key, value, dict, "a table of options")
        return table

    def _kind(self, key: str, value: object, kind: type | tuple[type, ...], words: str) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"'{key}' is {value!r}; it must be {words}.", path=self.path)
        return value
