"""Retrievers with their options, and the runs that they make.

A retriever's run is kept in the cache (`cached_runs`), so that rerankers that are added later start
from it. `checked_run` searches without keeping anything, for trying many options.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import on_this_machine
from irplatform.errors import PluginError, counted, unstopped
from irplatform.files.cache import artifact, is_built, kept_json
from irplatform.files.costs import Work
from irplatform.files.digests import fingerprint
from irplatform.files.writing import atomic_write, write_json
from irplatform.lucene.dates import DATES_FORMAT, date_limits, search_before
from irplatform.plugin.retrievers import Retriever
from irplatform.registry.dependencies import ChosenSystem
from irplatform.registry.plugin_answers import json_mapping
from irplatform.retrieval.lookup import Lookup
from irplatform.runs import Ranking, Run, read_run, write_run
from irplatform.runs.run import Later, rank_given
from irplatform.system.console import notice, section, sections
from irplatform.text.tokenizer import COMPOSITION, is_folded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Topic


def checked_run(
    choice: ChosenRetriever,
    topics: Sequence[Topic],
    depth: int,
    resources: CollectionResources,
    warn: Callable[[str], object] | None = None,
    retriever: Retriever | None = None,
) -> Run:
    """Search with a retriever, and check its answer; nothing is cached.

    `retriever` is one that `choice` made before, with what it has loaded; by default a new one.

    Date limits that the retriever ignores are applied to its results. Documents that a topic leaves
    out, or that the collection lacks, are left out; `warn` is given a line about the latter, by
    default to show it.

    Raises:
        PluginError: it returned something else than a run with an entry for every topic, or found
            only documents that the collection lacks.
    """
    searcher = choice.make() if retriever is None else retriever
    label = choice.registration.full_title
    lookup = (
        None if choice.registration.plugin.is_builtin else Lookup(label, choice.name, resources)
    )

    def search(topics: Sequence[Topic], depth: int) -> Mapping[str, Ranking]:
        deeper = depth + max((len(topic.left_out) for topic in topics), default=0)
        with choice.registration.plugin_call("searching"):
            copies = [*map(copy, topics)]  # to do with as they like
            run = searcher.retrieve(copies, deeper, on_this_machine(resources))
        if not isinstance(run, Run):
            raise PluginError(f"{label} returned {type(run).__name__}, not a Run.")
        if missing := [t.id for t in topics if t.id not in run.rankings]:
            raise PluginError(
                f"{label} returned no ranking for topic {missing[0]}; an empty one is fine."
            )
        checked = {t.id: _checked(label, t.id, run.rankings[t.id]) for t in topics}
        rankings = {t.id: checked[t.id].without(t.left_out).top(depth) for t in topics}
        return rankings if lookup is None else lookup.found_in(rankings)

    limits = {} if choice.traits.limits_dates else date_limits(topics)
    rankings = (
        search_before(search, topics, depth, limits, resources.documents)
        if limits
        else search(topics, depth)
    )
    if lookup is not None and lookup.missing:
        line = f"WARNING: {lookup}; they are left out, and the others move up"
        (warn or resources.notice)(line)
    return Run(choice.name, rankings)


def _checked(label: str, topic: str, ranking: object) -> Ranking:
    if not isinstance(ranking, Ranking):
        raise PluginError(
            f"{label} returned {type(ranking).__name__} for topic {topic}, not a Ranking; "
            "Ranking.of(doc_ids, scores) makes one."
        )
    if strange := [doc_id for doc_id in ranking.doc_ids if not isinstance(doc_id, str)]:
        raise PluginError(f"{label} found document {strange[0]!r} for topic {topic}: ids are text.")
    try:
        return Ranking.of(ranking.doc_ids, ranking.scores)
    except (ValueError, TypeError) as error:
        raise PluginError(
            f"{label} returned no ranking for topic {topic}: {unstopped(error)}."
        ) from error


_FORMAT = 3
"""Raise it when retrievers rank otherwise with the same options."""
_RUN = "run.txt"
_USED, _TOLD = "used.json", "told.json"
"""Fingerprints of what a search used, and a line about it, for when its run is in the cache."""


@dataclass(frozen=True)
class ChosenRetriever(ChosenSystem[Retriever]):
    """A retriever with its options, as a run uses it."""

    def make(self) -> Retriever:
        """Make the retriever."""
        return self.registration.make(self.options)

    def describe(self) -> dict[str, Any]:
        """All that its ranking depends on, beside index and topics."""
        depends_on = self.describe_reads()
        return {
            "retriever": self.name,
            **self.registration.describe(self.options),
            **({"depends_on": depends_on} if depends_on else {}),
        }

    def check_topics(self, topics: Sequence[Topic]) -> None:
        """Raise an InputError if options do not fit the topics to search."""
        retriever = self.make()
        with self.registration.plugin_call("looking at topics"):
            retriever.check_topics(topics)

    def describe_run(
        self, topics: Sequence[Topic], resources: CollectionResources
    ) -> dict[str, Any]:
        """Facts about a search for some topics, for metadata."""
        retriever = self.make()
        with self.registration.plugin_call("looking at topics"):
            facts = retriever.describe_run(topics, resources)
        return json_mapping(self.registration.full_title, "describe_run", facts)

    def explain(
        self, topic: Topic, resources: CollectionResources, retriever: Retriever
    ) -> dict[str, Any]:
        """The query that a retriever that was made before makes of a topic."""
        with self.registration.plugin_call(f"explaining topic {topic.id}"):
            explanation = retriever.explain(topic, resources)
        return json_mapping(self.registration.full_title, "explain", explanation)

    def export(self, path: Path, resources: CollectionResources) -> dict[str, Any]:
        """Write what the retriever searches to a file for other programs; return facts about it."""
        retriever = self.make()
        with (
            self.registration.plugin_call(f"exporting to {path.name}"),
            atomic_write(path, "wb") as file,
        ):
            facts = retriever.export(path.name, file, on_this_machine(resources))
        return json_mapping(self.registration.full_title, "export", facts)


@dataclass(frozen=True)
class RetrievedRun:
    """The run of one retriever.

    `description` and `artifacts`, the fingerprints of what it was made with, are for metadata;
    `seconds` are per phase, beyond the retrievers before it.
    """

    run: Run
    fingerprint: str
    description: Mapping[str, Any] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


def cached_runs(
    choices: Sequence[ChosenRetriever],
    topics: Sequence[Topic],
    depth: int,
    resources: CollectionResources,
    *,
    label: str,
    pools: Mapping[str, Sequence[str]] | None = None,
) -> list[RetrievedRun]:
    """Run the retrievers on topics, or take their runs from the cache.

    Each finds at most `depth` documents per topic, or ranks all documents of `pools`, by topic id.
    `label` is a readable beginning for the names in the cache.
    """
    common = _dependencies(topics, depth, pools, resources)
    with sections(len(choices)):
        return [
            _cached_run(choice, topics, depth, resources, label, pools, common)
            for choice in choices
        ]


def ranked_run(
    search: Callable[[Sequence[Topic], int], Run],
    topics: Sequence[Topic],
    depth: int,
    pools: Mapping[str, Sequence[str]] | None,
    resources: CollectionResources,
) -> Run:
    """At most `depth` documents per topic, or all documents of `pools`, by topic id."""
    if pools is None:
        return search(topics, depth)
    return rank_given(search, topics, pools, resources.index().count)


def is_kept(
    choice: ChosenRetriever,
    topics: Sequence[Topic],
    depth: int,
    resources: CollectionResources,
    *,
    label: str,
) -> bool:
    """Return whether `cached_runs` would find the run of a retriever in the cache."""
    common, computing = (
        _dependencies(topics, depth, None, resources),
        computing_facts(choice, resources),
    )
    depends_on = {**common, **choice.describe(), **computing}
    return is_built("run", f"{label}-{choice.name}", depends_on)


@section()
def _cached_run(
    choice: ChosenRetriever,
    topics: Sequence[Topic],
    depth: int,
    resources: CollectionResources,
    label: str,
    pools: Mapping[str, Sequence[str]] | None,
    common: Mapping[str, Any],
) -> RetrievedRun:
    before = dict(resources.stopwatch.seconds)
    computing = computing_facts(choice, resources)

    def build(folder: Path) -> None:
        notice(f"{label}: searching {counted(len(topics), 'topic')} with {choice.name}")
        warnings: list[str] = []
        with resources.record() as log:
            search = partial(checked_run, choice, resources=resources, warn=warnings.append)
            run = ranked_run(search, topics, depth, pools, resources)
        write_run(run, folder / _RUN)
        write_json(folder / _USED, log.artifacts)
        if warnings:
            write_json(folder / _TOLD, warnings)

    with resources.stopwatch.timed("retrieve"):
        depends_on = {**common, **choice.describe(), **computing}
        work = Work("search", choice.name, len(topics), choice.variant)
        cached = artifact("run", f"{label}-{choice.name}", depends_on, build, work=work)

    def rankings() -> dict[str, Ranking]:
        path, results = cached.path / _RUN, {}
        if path.stat().st_size:
            results = {**read_run(path).rankings}
        # A TREC file does not show empty rankings.
        empty = Ranking.of((), ())
        return {t.id: results.get(t.id, empty) for t in topics}

    run = Run(choice.name, Later(rankings))
    remark = choice.traits.remark
    description = {
        **choice.describe(),
        **({"remark": remark} if remark else {}),
        **choice.describe_run(topics, resources),
        **computing,
    }
    artifacts = {"index": common["index"], **kept_json(cached.path / _USED)}
    if (cached.path / _TOLD).exists():
        resources.notice(kept_json(cached.path / _TOLD)[-1])
    seconds = resources.stopwatch.since(before)
    return RetrievedRun(run, cached.fingerprint, description, artifacts, seconds)


def _dependencies(
    topics: Sequence[Topic],
    depth: int,
    pools: Mapping[str, Sequence[str]] | None,
    resources: CollectionResources,
) -> dict[str, Any]:
    texts = (
        text
        for topic in topics
        for text in (topic.query, *(v for name in topic.fields for v in topic.values(name)))
    )
    # Vectors trained on the documents alone follow from the index.
    vectors = resources.source.describe()
    return {
        "index": resources.index_artifact().fingerprint,
        "topics": fingerprint({"topics": [topic.describe() for topic in topics]}),
        "depth": depth if pools is None else None,
        **({"vectors": vectors} if any(vectors.values()) else {}),
        "format": _FORMAT,
        **({"dates": DATES_FORMAT} if date_limits(topics) else {}),
        **({"composition": COMPOSITION} if any(map(is_folded, texts)) else {}),
        **({"among": {t: list(ids) for t, ids in pools.items()}} if pools is not None else {}),
    }


def computing_facts(choice: ChosenRetriever, resources: CollectionResources) -> dict[str, Any]:
    """Seed, device and threads of models, if the retriever's rankings depend on them."""
    traits = choice.traits
    computing = {"device": resources.device, "model_threads": resources.model_threads}
    return {
        **({"seed": resources.seed} if traits.seeded else {}),
        **(computing if traits.on_device else {}),
    }
