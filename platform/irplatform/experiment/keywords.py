"""The options of Python's functions, as keywords that an editor completes.

They are the settings of `RunSettings` and the options of the command line, by the same names.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, cast

from irplatform.errors import InputError
from irplatform.spelling import for_command

if TYPE_CHECKING:
    from irplatform.experiment.arguments import AnyPath, AnySystem, Names, Paths, Systems
    from irplatform.plugin.retrievers import Retriever
    from irplatform.workers.distribution import Count

_COMMAND = re.compile(r"(`platform [^`]*`)")
_OPTION = re.compile(r"(?<![\w`-])--([a-z]+(?:-[a-z]+)*)(?: (?=[A-Z]{2}))?")
_CALLED = {
    "collection": "collection",
    "first-stage": "first_stages",
    "measure": "measures",
    "name": "names",
    "reranker": "rerankers",
    "retriever": "retrievers",
    "set": "settings",
}
"""Options of the command line that are called otherwise as keywords."""
_SWITCHES = ("all_pairs", "force", "ignore_identical_ids", "on_these_topics")
Function = TypeVar("Function", bound=Callable[..., Any])

Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
Share: TypeAlias = float | Literal["auto"] | None


class SystemOptions(TypedDict, total=False):
    """Options of retrievers and rerankers."""

    settings: Mapping[str, object] | None
    """Option to value: `{"delta.filters": 64}` or `{"delta": {"filters": 64}}`."""
    config: AnyPath | None
    """A TOML file of such settings; `settings` take precedence."""


class RetrievingOptions(TypedDict, total=False):
    """The first stage."""

    first_stages: Systems[Retriever] | AnyPath | Sequence[AnyPath | AnySystem[Retriever]]
    """What is reranked: a retriever, several joined by "+", "judged", "scoreddocs" or a run file;
    several make a matrix. Classes and objects of retrievers, too."""
    retrievers: Systems[Retriever]
    """Retrievers, several of which are fused; `first_stages` says the same."""
    index: AnyPath | None
    """An existing Anserini index with stored documents, in place of the collection's own."""
    ignore_identical_ids: bool
    """Leave the document with a topic's own id out of its results, as BEIR does."""
    depth: int
    """Documents that each retriever finds per topic."""
    expand: Names
    """Knowledge bases to expand queries with, such as `["mesh", "hgnc"]`, or "none"."""
    query_plan: AnyPath | None
    """A TOML file with the weights of expanded queries."""
    fusion: Literal["auto", "plain"]
    """How several retrievers are weighed: learned on the training topics, or all alike."""


class RerankingOptions(TypedDict, total=False):
    """The documents that are reranked, and the first stage's share."""

    preset: str | None
    """Named settings of rerankers, such as "paper"."""
    rerank_depth: int
    """First documents of each retriever that are reranked."""
    candidates: AnyPath
    """"retrieved", "judged" or a run file; `first_stages` says the same."""
    interpolate: Share
    """The first stage's share in the final scores, 0 to 1; "auto" chooses it."""


class LearningOptions(TypedDict, total=False):
    """Training."""

    train_on: Names
    """Collections to train on; by default the collection's training partner."""
    train_topics: int | None
    """How many of the training topics to learn from, drawn at random; None takes all."""
    checkpoint: AnyPath | None
    """A folder that `train` wrote, to use in place of training."""
    pretrain: str | None
    """What rerankers learn from first: "mesh", a collection, or "none"."""
    pretrain_queries: int
    """MeSH-term queries to draw for it."""


class ModelOptions(TypedDict, total=False):
    """Models, and the word vectors that they read."""

    members: int
    """Models per reranker, with different seeds, whose scores are averaged."""
    seed: int
    """Of everything random."""
    vectors: AnyPath | None
    """A file of published word vectors."""
    vectors_text: Paths
    """Text files to train word vectors on, beside the documents."""


class OutputOptions(TypedDict, total=False):
    """Scores and files."""

    seeds: int
    """How often rerankers that learn are trained and scored, with `seed` and others."""
    measures: Names
    """Measures, such as `["nDCG@20", "AP"]`; by default the collection's."""
    topics: Names
    """Ids of the topics to rank, or "first:10"; by default all."""
    run_dir: AnyPath | None
    """Where runs are written; by default `runs/COLLECTION`."""
    tag: str | None
    """The last column of run files; by default the system's name."""
    resume: bool
    """Go on from what an interrupted run left."""
    force: bool
    """Replace runs of the same names that were made with other settings or code."""


class MachineOptions(TypedDict, total=False):
    """Where to compute, and with how many threads."""

    device: Device
    """Where models compute; "auto" takes a GPU if there is one."""
    threads: int | None
    """For indexing, searching, reading and tokenizing; None takes all cores."""
    model_threads: int
    """Of torch on the CPU; another number trains other weights."""


class WorkerOptions(TypedDict, total=False):
    """Processes and machines that share the work."""

    workers: Count
    """Processes that score topics, train members and read documents, or "ray" for a cluster's."""


class RankingOptions(
    SystemOptions,
    RetrievingOptions,
    RerankingOptions,
    LearningOptions,
    ModelOptions,
    MachineOptions,
    WorkerOptions,
    total=False,
):
    """All options that decide a ranking."""


class RunOptions(RankingOptions, OutputOptions, total=False):
    """All options of a run."""


class RerankerOptions(
    SystemOptions,
    RetrievingOptions,
    LearningOptions,
    ModelOptions,
    MachineOptions,
    total=False,
):
    """Options of a reranker that is made ready, and of its training."""

    preset: str | None
    """Named settings, such as "paper"."""
    rerank_depth: int
    """First documents of each retriever that it learns from."""


class RetrieverOptions(SystemOptions, MachineOptions, total=False):
    """Options of a retriever."""

    expand: Names
    """Knowledge bases to expand queries with, such as `["mesh", "hgnc"]`, or "none"."""
    query_plan: AnyPath | None
    """A TOML file with the weights of expanded queries."""
    vectors: AnyPath | None
    """A file of published word vectors."""
    vectors_text: Paths
    """Text files to train word vectors on, beside the documents."""
    seed: int
    """Of everything random."""


class TuneOptions(
    SystemOptions, RetrievingOptions, ModelOptions, MachineOptions, WorkerOptions, total=False
):
    """Options of a search for options."""

    measures: Names
    """The measure to improve; by default nDCG@20, or nDCG-exp@20 for clicks."""
    rerank_depth: int
    """First documents of each retriever that are reranked."""
    interpolate: Share
    """The first stage's share in the final scores, 0 to 1; "auto" chooses it."""
    resume: bool
    """Reuse the trials of an earlier search."""


def keywords(options: type[Any]) -> Callable[[Function], Function]:
    """Give a function with `**options` the signature that `help` and notebooks show.

    Type checkers read the keywords from `Unpack`; at run time they are in the signature, and errors
    of a program name them in place of the command line's options.
    """

    def with_signature(function: Function) -> Function:
        @functools.wraps(function)
        def called(*arguments: Any, **given: Any) -> Any:
            try:
                return function(*arguments, **given)
            except InputError as error:
                if not for_command():
                    error.args = (as_keywords(str(error)),)
                raise

        called.__signature__ = _signature(function, options)  # type: ignore[attr-defined]
        return cast("Function", called)

    return with_signature


def as_keywords(message: str) -> str:
    """Return an error's text with keywords in place of options, but for those of whole commands.

    >>> as_keywords("Name another --run-dir, or replace it with --force.")
    'Name another run_dir=, or replace it with force=True.'
    """
    parts = _COMMAND.split(message)  # every second one is a command
    parts[::2] = [_OPTION.sub(_keyword, text) for text in parts[::2]]
    return "".join(parts)


def _keyword(option: re.Match[str]) -> str:
    name = _CALLED.get(option[1], option[1].replace("-", "_"))
    return f"{name}=True" if name in _SWITCHES else f"{name}="


def _signature(function: Callable[..., Any], options: type[Any]) -> inspect.Signature:
    from irplatform.experiment.settings import RunSettings

    usual = {each.name: each.default for each in fields(RunSettings)}
    signature = inspect.signature(function)
    *named, _ = signature.parameters.values()
    taken = {parameter.name for parameter in named}
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if usual.get(name, MISSING) is MISSING else usual[name],
            annotation=getattr(kind, "__forward_arg__", kind),
        )
        for name, kind in options.__annotations__.items()
        if name not in taken
    ]
    return signature.replace(parameters=[*named, *more])
