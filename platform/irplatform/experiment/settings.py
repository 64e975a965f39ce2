"""The settings of a run, checked as far as they can be at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.collections.toml import is_declaration
from irplatform.data import Collection
from irplatform.errors import InputError, check_least, listing, quoted, unknown
from irplatform.experiment.arguments import (
    AnyPath,
    Collections,
    as_names,
    as_path,
    as_paths,
    as_systems,
    check_number,
    collection_name,
    settings_by_name,
)
from irplatform.experiment.experiment_file import SHOWN, read_file
from irplatform.files.formats import read_toml
from irplatform.options import flat
from irplatform.registry.live_code import new_call
from irplatform.reranking.systems import MEMBERS
from irplatform.retrieval.candidate_sources import JUDGED, RETRIEVED
from irplatform.retrieval.fusion import AUTO
from irplatform.retrieval.stages import USUAL, Stage
from irplatform.runs.names import FUSED, check_tag, system_of
from irplatform.system.arithmetic import check_device
from irplatform.workers.distribution import RAY, Count

if TYPE_CHECKING:
    from collections.abc import Iterator


NO_EXPANSION = "none"
"""In place of knowledge bases: queries are not expanded, even where a collection asks for it."""
MESH_QUERIES = 10_000
"""MeSH-term queries that are drawn for pre-training, by default."""
_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]*")
_RERANK_DEPTH = 500
"""The default; a smaller depth of the retrievers takes precedence."""


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run.

    A text stands for a path, one name for a list of names, and "auto" for `interpolate`. Classes
    and objects stand where names do: they get names, by which this session finds them.

    Attributes:
        collection: a name, a path or an ir_datasets id, or a `Collection`. A list of several makes
            a matrix, see `collections`.
        rerankers: names, or LABEL=NAME for another name in this run; by default none, and the
            first stage is all. A class or an object of a `Reranker` is named after its class; a
            mapping gives each a label.
        first_stages: what is reranked: a retriever, several joined by "+", "judged" (exactly the
            judged documents), "scoreddocs" (what an ir_datasets collection brings), or a run file.
            Several make a matrix: each is reranked by all rerankers. By default "bm25". One alone
            is kept as `retrievers` and `candidates`. A class or an object of a `Retriever` is
            named after its class.
        depth: documents that each retriever finds per topic.
        rerank_depth: first documents of each retriever that are reranked; all where it finds
            fewer.
        topics: ids of the topics to rank, or "first:10"; by default all. Such a run is marked as a
            part of the whole.
        index: the folder of an existing Anserini index with stored documents, to search in place of
            the collection's documents.
        ignore_identical_ids: leave the document with a topic's own id out of its results.
        collections: names, paths or ids, in place of `collection`; several make a matrix.
        measures: names; by default the collection's.
        settings: options of retrievers and rerankers, see `choose_systems`.
        expand: knowledge bases to expand queries with, or "none"; by default queries are
            expanded only for rerankers that are made for it.
        query_plan: a TOML file that says how expanded queries are made and weighed.
        train_on: collections to train on together, in place of the collection's own partner;
            for `train`, beside the collection.
        train_topics: how many of the training topics to learn from, drawn by the seed from those
            with a relevant document; None takes all.
        checkpoint: a trained reranker to use in place of training.
        pretrain: what rerankers learn from first: "mesh", a collection over the same documents,
            or "none"; None pre-trains those that declare their own.
        pretrain_queries: how many MeSH-term queries to draw for it.
        fusion: "auto" learns the weights of several retrievers on the training topics; "plain"
            weighs all alike.
        interpolate: the first stage's share in the final scores; None chooses it.
        vectors: a file of published word vectors.
        vectors_text: text files to train word vectors on, beside the documents.
        device: "auto", "cpu", "cuda" or "mps".
        preset: the name of settings that rerankers bring, see `choose_systems`.
        seed: of everything random.
        seeds: how often rerankers that learn are trained and scored, with `seed` and others.
        members: how many models of a reranker that learns are trained and averaged.
        threads: for indexing, searching, reading and tokenizing; None takes all cores.
        model_threads: of torch on the CPU; a checkpoint depends on it, since sums round otherwise.
        workers: how many processes score topics, train members and read documents, or "ray" for
            those of a Ray cluster; None takes processes where they surely pay.
        run_dir: where runs are written; None is `runs/<collection>`.
        tag: the last column of run files; None is the run's name.
        resume: go on from what an interrupted run left.
        force: replace runs of the same names that were made with other settings or code.
        command: how the run was asked for, for its metadata.
        experiment: the TOML file that says most of it, which errors of its settings name.
        retrievers: names; several are fused. `first_stages` says the same, and replaces it in the
            next release.
        candidates: "retrieved", "judged", "scoreddocs" or a run file; as `retrievers`.
    """

    collection: str = ""
    rerankers: Sequence[str] = ()
    first_stages: Sequence[str] = ()
    depth: int = 1000
    rerank_depth: int = _RERANK_DEPTH
    topics: Sequence[str] = ()
    index: Path | None = None
    ignore_identical_ids: bool = False
    collections: Sequence[str] = ()
    measures: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    expand: Sequence[str] = ()
    query_plan: Path | None = None
    train_on: Sequence[str] = ()
    train_topics: int | None = None
    checkpoint: Path | None = None
    pretrain: str | None = None
    pretrain_queries: int = MESH_QUERIES
    fusion: str = AUTO
    interpolate: float | None = None
    vectors: Path | None = None
    vectors_text: Sequence[Path] = ()
    device: str = "auto"
    preset: str | None = None
    seed: int = 42
    seeds: int = 1
    members: int = MEMBERS
    threads: int | None = None
    model_threads: int = 1
    workers: Count = None
    run_dir: Path | None = None
    tag: str | None = None
    resume: bool = True
    force: bool = False
    command: Sequence[str] = ()
    experiment: Path | None = None
    retrievers: Sequence[str] = USUAL
    candidates: str = RETRIEVED

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The first stages; one, unless this is a matrix."""
        if self.first_stages:
            return tuple(map(Stage.parse, self.first_stages))
        return (Stage(tuple(self.retrievers), self.candidates),)

    @property
    def is_matrix(self) -> bool:
        """Several collections or first stages are ranked, each in a folder of its own."""
        return len(self.first_stages) > 1 or len(self.collections) > 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The rerankers' names in this run."""
        return tuple(label_and_name(text)[0] for text in self.rerankers)

    def __post_init__(self) -> None:
        self._take_shorter_forms()
        for name in ("depth", "rerank_depth", "seeds", "members", "train_topics"):
            if (number := getattr(self, name)) is not None:
                check_number(name, number)
                check_least(name, number, 1)
        if self.interpolate is not None and not 0 <= self.interpolate <= 1:
            raise InputError(f"the interpolation weight {self.interpolate} is not between 0 and 1.")
        if not self.retrievers:
            raise InputError("at least one retriever is needed.")
        if self.workers not in (None, RAY):
            check_number("workers", self.workers)
            check_least("workers", int(self.workers), 1)
        check_device(self.device)
        if self.tag is not None:
            check_tag(self.tag)
        for problem in () if self.is_matrix else self._without_effect():
            raise InputError(problem)

    def _take_shorter_forms(self) -> None:
        """Make paths of texts and lists of single names, as callers from Python write them."""
        interpolate: object = self.interpolate
        taken: dict[str, object] = {
            "candidates": str(self.candidates),
            "settings": settings_by_name(self.settings),
            "vectors_text": as_paths(self.vectors_text, "vectors_text"),
            "interpolate": None if interpolate == "auto" else interpolate,
        }
        for name in ("rerankers", "retrievers"):
            taken[name] = as_systems(getattr(self, name), name)
        for name in ("measures", "train_on", "topics"):
            taken[name] = as_names(getattr(self, name), name)
        taken |= self._what_is_ranked()
        taken["expand"] = tuple(dict.fromkeys(as_names(self.expand, "expand")))
        for name in ("query_plan", "checkpoint", "vectors", "run_dir", "index"):
            if (given := getattr(self, name)) is not None:
                taken[name] = as_path(given, name)
        for name, value in taken.items():
            object.__setattr__(self, name, value)
        if self.interpolate is not None:
            check_number("interpolate", self.interpolate, whole=False)

    def _what_is_ranked(self) -> Iterator[tuple[str, object]]:
        """Make one collection, or one first stage, of a list of one."""
        given: Any = self.collection
        several = isinstance(given, Iterable) and not isinstance(given, str)
        each: Any = self.collections or (given if several else ())
        if not isinstance(each, str):
            each = [
                collection_name(one) if isinstance(one, Collection | Path) else one for one in each
            ]
        collections = as_names(each, "collections")
        if twice := [name for name in collections if collections.count(name) > 1]:
            raise InputError(f"collection '{twice[0]}' is named twice.")
        yield (
            "collection",
            collections[0] if collections else "" if several else collection_name(given),
        )
        yield "collections", collections if len(collections) > 1 else ()
        if self.index is not None and len(collections) > 1:
            raise InputError("--index has the documents of one collection; name one.")
        stages = as_systems(self.first_stages, "first_stages")
        if not stages:
            return
        if as_systems(self.retrievers, "retrievers") != USUAL or str(self.candidates) != RETRIEVED:
            raise InputError(
                "--first-stage takes the place of --retriever and --candidates: "
                "`--first-stage bm25+rm3` fuses two retrievers, `--first-stage judged` reranks the "
                "judged documents."
            )
        parsed = [Stage.parse(text) for text in stages]
        if twice := [
            text for text, each in zip(stages, parsed, strict=True) if parsed.count(each) > 1
        ]:
            raise InputError(f"first stage '{twice[0]}' is named twice.")
        yield "first_stages", stages if len(stages) > 1 else ()
        if len(stages) == 1:
            yield "retrievers", parsed[0].retrievers
            yield "candidates", parsed[0].candidates

    def _without_effect(self) -> Iterator[str]:
        """Describe options that have no effect beside the others."""
        chosen_depth = self.rerank_depth != _RERANK_DEPTH
        if self.candidates == RETRIEVED and self.rerank_depth > self.depth and chosen_depth:
            yield (
                f"--rerank-depth {self.rerank_depth} has no effect beyond --depth {self.depth}: "
                "no more documents are found."
            )
        if self.query_plan is not None and self.expand in ((), (NO_EXPANSION,)):
            yield "--query-plan has no effect without --expand KB,…."
        if self.fusion != AUTO and len(self.retrievers) < 2:
            yield (
                f"--fusion {self.fusion} has no effect without a second retriever, as in "
                "--first-stage bm25+rm3: there is nothing to fuse."
            )
        learns_fusion = len(self.retrievers) > 1 and self.fusion == AUTO
        training = {"train-on": self.train_on, "train-topics": self.train_topics}
        if not self.rerankers:
            of_rerankers = {
                "interpolate": self.interpolate is not None,
                **{option: given and not learns_fusion for option, given in training.items()},
                "rerank-depth": chosen_depth and self.candidates != JUDGED,
            }
            for option in (name for name, is_set in of_rerankers.items() if is_set):
                yield f"--{option} has no effect without --reranker NAME."
        if not self.rerankers and self.candidates not in (RETRIEVED, JUDGED):
            of_retrievers = {
                f"the retriever {listing(self.retrievers)}": tuple(self.retrievers) != USUAL,
                f"--expand {','.join(self.expand)}": self.expand,
                f"the setting of {listing(self.settings)}": self.settings,
            }
            for option in (name for name, is_set in of_retrievers.items() if is_set):
                yield (
                    f"{option} has no effect without --reranker NAME: {self.candidates} takes the "
                    "place of the retrievers."
                )
        if self.checkpoint is not None:
            # Beside a checkpoint's reranker there may be others, whose weights are chosen.
            weighs = len(self.rerankers) > 1 and self.interpolate is None
            for option in (name for name, given in training.items() if given):
                if not (weighs or learns_fusion):
                    yield f"--{option} has no effect with --checkpoint; give one of the two."
            for name, default in (("seeds", 1), ("preset", None), ("members", MEMBERS)):
                if getattr(self, name) != default:
                    yield f"--{name} has no effect with --checkpoint: nothing is trained then."


def settings_of(
    given: RunSettings | Collections | None,
    options: Mapping[str, Any] | None = None,
    *,
    rerankers: object = None,
) -> RunSettings:
    """Return settings, with options by their names changed, or those of a collection.

    `config` names a TOML file of settings, beneath those given. `rerankers` may also be among the
    options.

    Raises:
        InputError: it is neither, or there is no such option.
    """
    new_call()
    options = dict(options or {})
    if rerankers is not None:
        options["rerankers"] = rerankers
    if (config := options.pop("config", None)) is not None:
        of_file = flat(read_toml(as_path(config, "config")))
        options["settings"] = of_file | settings_by_name(options.get("settings"))
    known = [each.name for each in fields(RunSettings)]
    for name in options:
        if name not in known:
            raise unknown("setting", name, known, of="a run")
    if isinstance(given, RunSettings):
        return replace(given, **{**_replaced(options), **options}) if options else given
    collection = options.get("collection") if given is None else given
    if given is None and collection is None and "collections" in options:
        return RunSettings(**options)
    several = isinstance(collection, tuple | list) and collection
    if not (several or isinstance(collection, Path | str | Collection)):
        what = "it is missing" if collection is None else f"not {quoted(collection)}"
        raise InputError(
            "a run needs RunSettings or a collection, as in run('demo', rerankers='delta'); "
            f"{what}."
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
    content = {key: value for key, value in read_file(path).items() if key not in SHOWN}
    try:
        RunSettings(**content)
    except InputError as error:
        raise InputError(error.message, path=error.path or path) from error
    return content


def _replaced(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that others take the place of, as they are by default."""
    usual: dict[str, Any] = {}
    if "collection" in options:
        usual["collections"] = ()
    if "first_stages" in options:
        usual |= {"retrievers": USUAL, "candidates": RETRIEVED}
    elif {"retrievers", "candidates"} & options.keys():
        usual["first_stages"] = ()
    return usual


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


def one_reranker(settings: RunSettings, what: str) -> str:
    """Return the name of the only reranker, for `what`, which takes one: "explain".

    Raises:
        InputError: there is none, or there are several.
    """
    if len(settings.rerankers) != 1:
        named = f"not {listing(settings.rerankers)}" if settings.rerankers else "none is named"
        raise InputError(f"{what} takes one reranker, as in rerankers='delta'; {named}.")
    return settings.rerankers[0]
