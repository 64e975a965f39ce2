"""The settings of a run as a program gives them, or a file: `platform run experiment.toml`.

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

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.names import aliases, is_collection, looks_like_path, split_off
from irplatform.collections.toml import is_declaration
from irplatform.data import Collection
from irplatform.errors import InputError, quoted, unknown
from irplatform.experiment.arguments import AnyPath, Collections, as_path
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.settings import ShownSettings
from irplatform.files.formats import read_toml
from irplatform.registry.live_code import new_call
from irplatform.retrieval.first_stage import FirstStage
from irplatform.settings import declared, flat
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.settings import Setting

_DECLARED: Mapping[str, Setting] = {
    name: setting
    for name, setting in {**declared(RunSettings), **declared(ShownSettings)}.items()
    if name not in ("collection", "command", "config", "experiment")
}
_KINDS: Mapping[str, Any] = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "Path": str,
    "str": str,
}
"""Types in the file."""
SINGULAR = {
    "collection": "collections",
    "first_stage": "first_stages",
    "measure": "measures",
    "reranker": "rerankers",
    "topic": "topics",
}
"""Names of one → keys."""


def settings_of(
    value: RunSettings | Collections | None,
    options: Mapping[str, Any] | None = None,
    *,
    rerankers: object = None,
) -> RunSettings:
    """Return settings, with options by their names changed, or those of a collection.

    `rerankers` may also be among the options.

    Raises:
        InputError: it is neither, or there is no such option.
    """
    new_call()
    options = dict(options or {})
    if rerankers is not None:
        options["rerankers"] = rerankers
    if options.get("config") is not None:
        options.setdefault("settings", {})  # a file of settings takes the place of earlier ones
    names = [field.name for field in fields(RunSettings)]
    for name in options:
        if name not in names:
            raise unknown("setting", name, names, of="a run")
    if isinstance(value, RunSettings):
        if "collection" in options:
            options = {"collections": (), **options}
        return replace(value, **options) if options else value
    collection = options.get("collection") if value is None else value
    if value is None and collection is None and "collections" in options:
        return RunSettings(**options)
    several = isinstance(collection, tuple | list) and collection
    if not (several or isinstance(collection, Path | str | Collection)):
        reason = "it is missing" if collection is None else f"not {quoted(collection)}"
        raise InputError(
            "a run needs RunSettings or a collection, as in run('demo', rerankers='delta'); "
            f"{reason}."
        )
    if isinstance(collection, Path | str):
        path = Path(collection).expanduser()
        if path.suffix == ".toml" and path.is_file() and not is_declaration(path):
            return RunSettings(**{**read_experiment(path), **options, "experiment": path})
    return RunSettings(**{**options, "collection": collection})


def read_experiment(path: AnyPath) -> dict[str, Any]:
    """Return the settings in a TOML file, for `RunSettings`; see docs/candidates.md.

    Raises:
        InputError: the file cannot be read, or a key is unknown or has a wrong value.

    Examples:
        >>> RunSettings(**read_experiment("experiment.toml"))  # doctest: +SKIP
    """
    path = as_path(path, "path")
    display_settings = declared(ShownSettings)
    content = {key: value for key, value in read_file(path).items() if key not in display_settings}
    try:
        RunSettings(**content)
    except InputError as error:
        raise InputError(error.message, path=error.path or path) from error
    return content


def read_file(path: Path) -> dict[str, Any]:
    """Return the settings in a file by the names of `RunSettings` and `ShownSettings`."""
    content = read_toml(path)
    if is_declaration(path):
        meant = option("collection", path)
        raise InputError(f"this describes a collection, not an experiment: {meant}.", path=path)
    return _Reader(path).read(content)


@dataclass(frozen=True)
class _Reader:
    """Checks the keys of a file; errors name them."""

    path: Path

    def read(self, content: Mapping[str, object]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        key_of: dict[str, str] = {}
        for key, value in content.items():
            name = key.replace("-", "_")
            name = SINGULAR.get(name, name)
            if name not in _DECLARED:
                keys = [k.replace("_", "-") for k in _DECLARED]
                error = unknown("key", key, keys, of="an experiment")
                raise InputError(error.message, path=self.path)
            if name in key_of:
                raise InputError(f"'{key_of[name]}' and '{key}' say the same.", path=self.path)
            key_of[name] = key
            values[name] = self._value(key, name, value)
        if "rerankers" in values:
            values["rerankers"], options = values["rerankers"]
            twice = [name for name in options if name in values.get("settings", {})]
            if twice:
                raise InputError(
                    f"'{twice[0]}' is set in [rerankers] and in [settings].", path=self.path
                )
            values["settings"] = {**values.get("settings", {}), **options}
        return values

    def _value(self, key: str, name: str, value: object) -> Any:
        if name == "rerankers":
            return self._rerankers(key, value)
        setting = _DECLARED[name]
        if setting.kind == "Mapping":
            return flat(self._table(key, value))
        if setting.several:
            texts = self._list(key, value)
            return [
                self._at(t) if setting.kind == "Path" else self._resolve(name, t) for t in texts
            ]
        if value in setting.words:
            return value
        checked = self._kind(key, value, _KINDS[setting.kind], setting.in_words)
        return self._at(checked) if setting.kind == "Path" else checked

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

    def _resolve(self, name: str, text: str) -> str:
        """A name; a path is taken from the file's folder."""
        if name in ("collections", "train_on") and text.partition(":")[0] not in aliases():
            place = self._at(text)
            exists = "/" in text and split_off(place)[0].exists()
            return str(place) if looks_like_path(text) or exists or is_collection(place) else text
        if name == "first_stages":
            parts = text.split("+")
            for end in range(len(parts), 0, -1):
                file = self.path.parent / "+".join(parts[:end])
                if ("/" in text or "." in text) and file.is_file():
                    return FirstStage.parse("+".join([str(file), *parts[end:]])).name
        return text

    def _at(self, text: str) -> Path:
        return self.path.parent / Path(text).expanduser()

    def _list(self, key: str, value: object) -> list[str]:
        values = value if isinstance(value, list) else [value]
        return [self._kind(key, item, str, "a name or a list of names") for item in values]

    def _table(self, key: str, value: object) -> Mapping[str, object]:
        table: Mapping[str, object] = self._kind(key, value, dict, "a table of options")
        return table

    def _kind(self, key: str, value: object, kind: type | tuple[type, ...], words: str) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"'{key}' is {value!r}; it must be {words}.", path=self.path)
        return value
