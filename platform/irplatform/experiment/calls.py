"""The settings, inputs and methods of runs, for metadata: enough to make them again elsewhere.

A call is the name of a function of `irplatform` and the settings that differ from the defaults,
as JSON; paths are absolute. Inputs are files and folders, each with its SHA-256.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.names import aliases, expand, is_collection, is_path, split_off
from irplatform.collections.toml import COLLECTION_FILE, declared_files
from irplatform.errors import InputError
from irplatform.experiment.experiment_file import settings_of
from irplatform.experiment.run_settings import RunSettings
from irplatform.experiment.topics import topic_fingerprints
from irplatform.files.digests import digests, folder_digests
from irplatform.files.reading import is_ordinary
from irplatform.run_folder.metadata_model import Method, Step, Training
from irplatform.settings import declared, flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from irplatform.data import Collection, Qrels
    from irplatform.experiment.plan import RunPlan
    from irplatform.reranking.results import RerankedRun
    from irplatform.retrieval.candidates import Candidates

_DECLARED = declared(RunSettings)
_COLLECTIONS = tuple(n for n, s in _DECLARED.items() if s.names in ("collection", "pretraining"))
_NO_INPUTS = ("collections", "first_stages", "topics", "index")
"""Further settings that are no inputs: an index counts by the fingerprint of its documents."""


def call_of(settings: RunSettings) -> dict[str, Any]:
    """Return the call that makes a run: its function, and settings that differ from the defaults.

    >>> call_of(RunSettings("demo", rerankers=["delta"]))
    {'function': 'run', 'settings': {'collection': 'demo', 'rerankers': ['delta']}}
    """
    usual = RunSettings("")
    settings_json = {
        name: plain_value(name, getattr(settings, name))
        for name, setting in _DECLARED.items()
        if setting.recorded and getattr(settings, name) != getattr(usual, name)
    }
    if "first_stages" in settings_json:
        settings_json["first_stages"] = [
            replace(stage, source=str(plain_value("candidates", stage.source))).name
            for stage in settings.stages
        ]
    return {"function": "run", "settings": settings_json}


def expression(call: Mapping[str, Any]) -> str:
    """Return a call in Python.

    >>> expression({"function": "run", "settings": {"collection": "demo", "depth": 100}})
    "irplatform.run(collection='demo', depth=100)"
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in call["settings"].items())
    if "settings" in call["settings"]:  # `run` has a parameter of that name
        arguments = f"irplatform.RunSettings({arguments})"
    return f"irplatform.{call['function']}({arguments})"


def command_text(settings: RunSettings) -> str:
    """Return how a run was asked for: a command line, or an expression in Python."""
    return shlex.join(settings.command) if settings.command else expression(call_of(settings))


def settings_from(call: Mapping[str, Any]) -> RunSettings:
    """Return the settings that a call records.

    Raises:
        InputError: the call has no settings of a run, or one that this version does not know.
    """
    recorded = call.get("settings")
    if call.get("function") != "run" or not isinstance(recorded, Mapping):
        raise InputError("this metadata does not record the settings of `platform run`.")
    return settings_of(None, recorded)


def inputs_of(plan: RunPlan) -> list[dict[str, str]]:
    """Return the files and folders that a run reads: role, path and SHA-256 of each.

    Documents, topics and judgments of collections count by their content, see `Recorder.data`; here
    are the files that declare them, those that settings name, and those that systems read.
    """
    settings = plan.settings
    roles: dict[Path, str] = {}
    for role in _COLLECTIONS:
        for name in _as_list(getattr(settings, role)):
            if is_path(source := aliases().get(str(name), str(name))):
                for path in _declared(expand(source)):
                    roles.setdefault(path.absolute(), _kind(path))
    others = {
        name: getattr(settings, name)
        for name, setting in _DECLARED.items()
        if setting.recorded and name not in (*_COLLECTIONS, *_NO_INPUTS)
    }
    others["candidates"] = settings.first_stage.source
    for role, value in {**others, **flat(dict(settings.settings))}.items():
        for item in _as_list(value):
            if (file := _existing(item)) is not None:
                roles.setdefault(file, role.replace("_", " "))
    systems = [(choice.name, choice.reads) for choice in plan.retrievers]
    systems += [(choice.name, choice.reads) for choice in plan.rerankers]
    for name, reads in systems:
        for path in reads.files:
            roles.setdefault(path.absolute(), f"file of {name}")
    plugins = [c.registration.plugin for c in plan.retrievers]
    plugins += [c.registration.plugin for c in plan.rerankers]
    for plugin in plugins:
        if plugin.file is not None:
            roles.setdefault(plugin.file, "plugin")
    digest_of = {path: content_digest(path) for path in roles}
    return [
        {"role": role, "path": str(path), "sha256": digest_of[path]}
        for path, role in roles.items()
        if digest_of[path]
    ]


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's names and files; "" for a pipe or nothing."""
    if path.is_dir():
        entries = sorted(folder_digests(path).items())
        lines = "".join(f"{digest}  {name}\n" for name, digest in entries)
        return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()
    return digests([path])[0] if path.exists() and is_ordinary(path, path.stat()) else ""


def neural_systems(plan: RunPlan) -> list[str]:
    """Return the names of the systems that need torch: networks, and encoders of texts."""
    systems = [(c.name, c.traits) for c in plan.retrievers]
    systems += [(c.name, c.traits) for c in plan.rerankers]
    return [name for name, traits in systems if "torch" in traits.packages]


def _declared(path: Path) -> Iterator[Path]:
    """The files of a collection that decide its topics and judgments, but not its documents."""
    folder, split = split_off(path)
    if path.suffix == ".toml":
        yield from declared_files(path)
    elif (folder / COLLECTION_FILE).is_file():
        yield from declared_files(folder / COLLECTION_FILE)
    elif folder.is_dir():
        patterns = ("queries.jsonl*", f"qrels/{split or '*'}.*", "corpus.toml")
        yield from (file for pattern in patterns for file in sorted(folder.glob(pattern)))


def _kind(path: Path) -> str:
    """What a file of a collection holds, in words."""
    if path.suffix == ".toml":
        return "collection file"
    if path.name.startswith("queries."):
        return "topics file"
    return "judgments file" if path.parent.name == "qrels" else "file of the collection"


def _as_list(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    return [*value] if isinstance(value, tuple | list) else [value]


def plain_value(name: str, value: object) -> Any:
    """A setting as JSON, with absolute paths."""
    if isinstance(value, tuple | list):
        return [plain_value(name, item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain_value(name, item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value.expanduser().absolute())
    if isinstance(value, str) and name in _COLLECTIONS:
        place = aliases().get(value, value)
        return str(expand(place).absolute()) if is_path(place) else place
    if isinstance(value, str) and (path := _existing(value)) is not None:
        return str(path)
    return value if isinstance(value, str | int | float | None) else repr(value)


def _existing(value: object) -> Path | None:
    """The file or folder that a text names: it has a slash or an ending, and is there."""
    if isinstance(value, str) and ("/" in value or Path(value).suffix):
        path = Path(value).expanduser()
        return path.absolute() if path.exists() or is_collection(path) else None
    return value.absolute() if isinstance(value, Path) and value.exists() else None


def describe_data(collection: Collection, qrels: Qrels | None) -> dict[str, Any]:
    """Return the name of a collection and fingerprints of its parts, for metadata."""
    documents = {"name": collection.id, "documents": collection.corpus.fingerprint}
    return documents | topic_fingerprints(collection, qrels)


def method_of_retrieval(facts: Iterable[Mapping[str, Any]]) -> Method:
    """The method of a first stage's run, of the facts about its retrievers and their fusion."""
    return Method(retrieval=_steps(facts))


def method_of_reranking(candidates: Candidates, reranked: RerankedRun) -> Method:
    """The method of a reranker's final run."""
    resources, choice = reranked.resources, reranked.systems[0].choice
    label = {"label": choice.name} if choice.name != choice.registration.name else {}
    step = {**label, **choice.describe(), "reranks": candidates.first.name}
    method = Method(
        retrieval=_steps([*candidates.describe(), step]),
        seed=resources.seed,
        device=resources.device,
        model_threads=resources.model_threads,
        training=[Training.model_validate({**s.description}) for s in reranked.systems],
        weights=[system.fingerprint for system in reranked.systems],
        first_stage=candidates.fingerprint,
        warnings=[*reranked.warnings],
        interpolation=reranked.weight,
    )
    several = len(reranked.weights) > 1
    return method.having(shares=[*reranked.weights]) if several else method


def _steps(facts: Iterable[Mapping[str, Any]]) -> list[Step]:
    return [Step.model_validate({**of_system}) for of_system in facts]
