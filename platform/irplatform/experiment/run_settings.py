"""The settings of a run, checked as far as they can be at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.data import Collection
from irplatform.errors import InputError, listing
from irplatform.experiment.arguments import (
    as_names,
    as_path,
    as_paths,
    as_systems,
    collection_name,
    settings_by_name,
)
from irplatform.experiment.settings import DeclaredSettings
from irplatform.files.formats import read_toml
from irplatform.retrieval.first_stage import JUDGED, RETRIEVED, USUAL, FirstStage
from irplatform.runs.names import FUSED, check_tag, system_of
from irplatform.settings import check_values, declared, documented, flat
from irplatform.spelling import option
from irplatform.system.arithmetic import check_device

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_EXPANSION = "none"
"""In place of knowledge bases: queries are not expanded, even where a collection asks for it."""
_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]*")
_DECLARED = declared(DeclaredSettings)


@documented
@dataclass(frozen=True)
class RunSettings(DeclaredSettings):
    """The settings of a run.

    A text stands for a path, one name for a list of names, and "auto" for `interpolate`. Classes
    and objects stand where names do: they get names, by which this session finds them.

    `collection` is a name, a path, an ir_datasets id or a `Collection`; a list of several, or
    several `first_stages`, make a matrix. `rerankers` are names, LABEL=NAME for another name in
    this run, or classes and objects; a mapping gives each a label. `settings` are options of
    retrievers and rerankers: `{"delta.filters": 64}` or `{"delta": {"filters": 64}}`.

    Raises:
        InputError: a value is none of those that its setting takes, or has no effect beside others.

    Examples:
        >>> RunSettings("demo", rerankers="delta", settings={"delta": {"filters": 64}}).settings
        {'delta.filters': 64}
    """

    def __post_init__(self) -> None:
        for name, value in _in_full(self).items():
            object.__setattr__(self, name, value)
        check_values(self)
        _refuse_idle(self)

    @property
    def stages(self) -> tuple[FirstStage, ...]:
        """The first stages; one, unless this is a matrix."""
        return tuple(map(FirstStage.parse, self.first_stages))

    @property
    def first_stage(self) -> FirstStage:
        """The first stage, which is the only one, with the depths."""
        stage = FirstStage.parse(self.first_stages[0])
        return replace(stage, depth=self.depth, rerank_depth=self.rerank_depth)

    @property
    def is_matrix(self) -> bool:
        """Several collections or first stages are ranked, each in a folder of its own."""
        return len(self.first_stages) > 1 or len(self.collections) > 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The rerankers' names in this run."""
        return tuple(label_and_name(text)[0] for text in self.rerankers)


def _in_full(settings: RunSettings) -> dict[str, object]:
    """Return settings as attributes hold them, of what callers from Python write.

    Texts become paths, single names lists, and classes and objects names.

    Raises:
        InputError: a value cannot be understood, or something is named twice.
    """
    full: dict[str, object] = {}
    for setting in _DECLARED.values():
        value = getattr(settings, setting.name)
        if setting.name in ("collection", "collections", "first_stages", "command"):
            continue
        if setting.name == "rerankers":
            full[setting.name] = as_systems(value, setting.name)
        elif setting.several:
            full[setting.name] = (as_paths if setting.kind == "Path" else as_names)(
                value, setting.name
            )
        elif setting.kind == "Path" and value is not None:
            full[setting.name] = as_path(value, setting.name)
    full["settings"] = settings_by_name(settings.settings)
    if (config := full.pop("config", None)) is not None:
        full["settings"] = flat(read_toml(config)) | settings_by_name(settings.settings)  # type: ignore[arg-type]
    full["config"] = None
    full["expand"] = tuple(dict.fromkeys(as_names(settings.expand, "expand")))
    share: object = settings.interpolate
    full["interpolate"] = None if share == "auto" else share
    return full | dict(_what_is_ranked(settings))


def _what_is_ranked(settings: RunSettings) -> Iterator[tuple[str, object]]:
    """Make one collection of a list of one, and names of first stages."""
    collection: Any = settings.collection
    several = isinstance(collection, Iterable) and not isinstance(collection, str)
    names: Any = settings.collections or (collection if several else ())
    if not isinstance(names, str):
        names = [
            collection_name(one) if isinstance(one, Collection | Path) else one for one in names
        ]
    collections = as_names(names, "collections")
    if twice := [name for name in collections if collections.count(name) > 1]:
        raise InputError(f"collection '{twice[0]}' is named twice.")
    single = "" if several else collection_name(collection)
    yield "collection", collections[0] if collections else single
    yield "collections", collections if len(collections) > 1 else ()
    if settings.index is not None and len(collections) > 1:
        raise InputError(f"{option('index')} has the documents of one collection; name one.")
    stages = as_systems(settings.first_stages, "first_stages") or USUAL
    parsed = [FirstStage.parse(text) for text in stages]
    for text, stage in zip(stages, parsed, strict=True):
        if parsed.count(stage) > 1:
            raise InputError(f"first stage '{text}' is named twice.")
    yield "first_stages", tuple(stage.name for stage in parsed)


def _refuse_idle(settings: RunSettings) -> None:
    """Refuse values that no run can have, and settings without effect.

    Raises:
        InputError: there is one.
    """
    if settings.interpolate is not None and not 0 <= settings.interpolate <= 1:
        raise InputError(f"the interpolation weight {settings.interpolate} is not between 0 and 1.")
    check_device(settings.device)
    if settings.tag is not None:
        check_tag(settings.tag)
    if not settings.is_matrix:
        for problem in _without_effect(settings, settings.stages[0]):
            raise InputError(problem)


def _without_effect(settings: RunSettings, stage: FirstStage) -> Iterator[str]:
    """Describe settings that have no effect beside the others."""
    usual = {name: setting.default for name, setting in _DECLARED.items()}
    chosen_depth = settings.rerank_depth != usual["rerank_depth"]
    reranker = option("rerankers", "NAME")
    if stage.source == RETRIEVED:
        yield from _idle_depths(settings)
    if settings.query_plan is not None and settings.expand in ((), (NO_EXPANSION,)):
        yield f"{option('query_plan')} has no effect without {option('expand', 'KB,…')}."
    fuses = len(stage.retrievers) > 1
    if settings.fusion != usual["fusion"] and not fuses:
        yield (
            f"{option('fusion', settings.fusion)} has no effect without a second retriever, as in "
            f"{option('first_stages', 'bm25+rm3')}: there is nothing to fuse."
        )
    learns_fusion = fuses and settings.fusion == usual["fusion"]
    training = {"train_on": settings.train_on, "train_topics": settings.train_topics}
    if not settings.rerankers:
        of_rerankers = {
            "interpolate": settings.interpolate is not None,
            **{name: value and not learns_fusion for name, value in training.items()},
            "rerank_depth": chosen_depth and stage.source != JUDGED,
        }
        for name in (name for name, is_set in of_rerankers.items() if is_set):
            yield f"{option(name)} has no effect without {reranker}."
    if not settings.rerankers and stage.source not in (RETRIEVED, JUDGED):
        of_retrievers = {
            f"the retriever {listing(stage.retrievers)}": stage.retrievers != USUAL,
            option("expand", ",".join(settings.expand)): settings.expand,
            f"the setting of {listing(settings.settings)}": settings.settings,
        }
        for subject in (subject for subject, is_set in of_retrievers.items() if is_set):
            yield (
                f"{subject} has no effect without {reranker}: {stage.source} takes the place of "
                "the retrievers."
            )
    if settings.checkpoint is not None:
        # Beside a checkpoint's reranker there may be others, whose weights are chosen.
        weighs = len(settings.rerankers) > 1 and settings.interpolate is None
        checkpoint = option("checkpoint")
        for name in (name for name, value in training.items() if value):
            if not (weighs or learns_fusion):
                yield f"{option(name)} has no effect with {checkpoint}; give one of the two."
        for name in ("seeds", "preset", "members"):
            if getattr(settings, name) != usual[name]:
                yield f"{option(name)} has no effect with {checkpoint}: nothing is trained then."


def _idle_depths(settings: RunSettings) -> Iterator[str]:
    """Describe depths beyond that of the retrievers."""
    for name in ("rerank_depth", "written_depth"):
        depth = getattr(settings, name)
        if depth != _DECLARED[name].default and depth > settings.depth:
            yield (
                f"{option(name, depth)} has no effect beyond {option('depth', settings.depth)}: no "
                "more documents are found."
            )


def label_and_name(text: str) -> tuple[str, str]:
    """Return a reranker's label and its registered name: "big=delta" has both.

    Raises:
        InputError: the label cannot be the name of a run.
    """
    label, equals, name = text.partition("=")
    if not equals:
        return text, text
    if not _LABEL.fullmatch(label) or label == FUSED or system_of(label) != label:
        raise InputError(
            f"'{label}' cannot be the label of a reranker: take small letters, digits, '.', '_' "
            f"and '-'; '{FUSED}' and names that end in '-alone' or '-seed' and a number are those "
            "of other runs."
        )
    return label, name


def one_reranker(settings: RunSettings, action: str) -> str:
    """Return the name of the only reranker, for an `action`, which takes one: "explain".

    Raises:
        InputError: there is none, or there are several.
    """
    if len(settings.rerankers) != 1:
        reason = f"not {listing(settings.rerankers)}" if settings.rerankers else "none is named"
        one = option("rerankers", "delta")
        raise InputError(f"{action} takes one reranker, as in {one}; {reason}.")
    return settings.rerankers[0]
