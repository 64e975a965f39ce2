"""The first stage of a run: one or several retrievers, their fusion, and the candidates.

Each retriever's run is kept in the cache, so that rerankers that are added later start from it.
`find` searches without keeping anything, for trying many options.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from irplatform.console import notice
from irplatform.errors import PluginError
from irplatform.registry.answers import json_mapping
from irplatform.retrieval.among import rank_among
from irplatform.retrieval.dates import DATES_FORMAT, Years, date_limits, search_before
from irplatform.retrieval.fusion import Fusion
from irplatform.runs import Ranking, Run, read_run, write_run
from irplatform.runs.names import FUSED
from irplatform.storage import artifact, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Options, Retriever, Topic
    from irplatform.registry import Registration
    from irplatform.resources import CollectionResources

_FORMAT = 2
"""Raise it when retrievers rank otherwise with the same options."""
_LOOKED_UP = 10_000
"""Documents of a stranger's retriever that are looked up in the index, 40 µs each."""


@dataclass(frozen=True)
class RetrieverChoice:
    """A retriever with its options, as a run uses it."""

    registration: Registration[Retriever]
    options: Options

    @property
    def name(self) -> str:
        """The name on the command line and in the table."""
        return self.registration.name

    def describe(self) -> dict[str, Any]:
        """What its ranking depends on, beside index and topics."""
        depends_on = self.registration.dependencies(self.options)
        retriever = self.registration.made(self.options)
        with self.registration.at_work("remarking on its scores"):
            remark = retriever.remark()
        return {
            "retriever": self.name,
            **self.registration.describe(self.options),
            **({"depends_on": depends_on} if depends_on else {}),
            **({"remark": remark} if remark else {}),
        }

    def check(self, topics: Sequence[Topic]) -> None:
        """Raise an InputError where options do not fit the topics that are to be searched."""
        retriever = self.registration.made(self.options)
        with self.registration.at_work("looking at topics"):
            retriever.check(topics)

    def about(self, topics: Sequence[Topic], resources: CollectionResources) -> dict[str, Any]:
        """What metadata say of a search for some topics; the user is told what matters of it."""
        retriever = self.registration.made(self.options)
        with self.registration.at_work("looking at topics"):
            told = retriever.about(topics, resources)
        return json_mapping(self.registration.who, "about", told)

    def explain(self, topic: Topic, resources: CollectionResources) -> dict[str, Any]:
        """The query that the retriever makes of a topic."""
        retriever = self.registration.made(self.options)
        with self.registration.at_work(f"explaining topic {topic.id}"):
            told = retriever.explain(topic, resources)
        return json_mapping(self.registration.who, "explain", told)


@dataclass(frozen=True)
class FirstStage:
    """What the retrievers found.

    Attributes:
        runs: one per retriever.
        final: what rerankers start from: the only run, or the reciprocal rank fusion of all, with
            every document that any of these found.
        fingerprint: of all that the runs depend on.
        seconds: per stage, what each run took beyond those before it.
        descriptions: what each run is, for its metadata.
        fusion: how the runs were fused, where that was chosen.
        depth: most documents that a run has per topic, whatever the number of retrievers; None
            where all candidates are ranked.
    """

    runs: Sequence[Run]
    final: Run
    fingerprint: str
    seconds: Sequence[Mapping[str, float]] = ()
    descriptions: Sequence[Mapping[str, Any]] = ()
    fusion: Fusion | None = None
    depth: int | None = None

    def cut(self, run: Run) -> Run:
        """A run of what was found, as it is written and scored: no deeper than any other."""
        return run if self.depth is None else run.top(self.depth)

    def fused(self, fusion: Fusion) -> FirstStage:
        """The same retrievers, fused in another way."""
        return replace(
            self,
            final=fusion.fuse(self.runs, FUSED),
            fingerprint=fingerprint({"runs": self.fingerprint, "fusion": fusion.describe()}),
            fusion=fusion,
        )

    def describe(self) -> list[Mapping[str, Any]]:
        """What `final` is made of, for the metadata of runs."""
        fusion = [{"fusion": self.fusion.describe()}] if self.fusion else []
        return [*self.descriptions, *fusion]

    def candidates(self, rerank_depth: int) -> dict[str, tuple[str, ...]]:
        """Per topic, the union of the retrievers' first documents, in the order of `final`."""
        found: dict[str, tuple[str, ...]] = {}
        for topic, ranking in self.final.rankings.items():
            union = {d for run in self.runs for d in run.rankings[topic].doc_ids[:rerank_depth]}
            found[topic] = tuple(d for d in ranking.doc_ids if d in union)
        return found


def retrieve(
    choices: Sequence[RetrieverChoice],
    topics: Sequence[Topic],
    depth: int,
    resources: CollectionResources,
    *,
    label: str,
    among: Mapping[str, Sequence[str]] | None = None,
) -> FirstStage:
    """Run the retrievers on topics, or take their runs from the cache.

    Args:
        choices: the retrievers.
        topics: the topics.
        depth: most documents per topic and retriever.
        resources: the harness's resources.
        label: a readable beginning for the names in the cache.
        among: topic id to the only documents that are ranked, all of them, whatever the depth.
    """
    index = resources.index_artifact().fingerprint
    asked = fingerprint({"topics": [topic.describe() for topic in topics]})
    # Vectors trained on the documents alone follow from the index.
    source = resources.source.describe()
    common = {
        "index": index,
        "topics": asked,
        "depth": depth,
        **({"vectors": source} if any(source.values()) else {}),
        "format": _FORMAT,
    }
    runs, marks, seconds, descriptions = [], [], [], []
    for choice in choices:
        before = dict(resources.seconds)
        depends_on = {**common, **choice.describe()}
        system = choice.registration.system
        if system.on_device and resources.device != "cpu":
            depends_on["device"] = resources.device
        if system.seeded:
            depends_on["seed"] = resources.seed
        if date_limits(topics):
            depends_on["dates"] = DATES_FORMAT
        if among is not None:
            depends_on |= {"depth": None, "among": {t: list(ids) for t, ids in among.items()}}

        def build(folder: Any, choice: RetrieverChoice = choice) -> None:
            notice(f"{label}: searching {len(topics):,} topics with {choice.name}")
            if among is None:
                run = find(choice, topics, depth, resources)
            else:
                run = rank_among(partial(find, choice), topics, among, resources)
            write_run(run, folder / "run.txt")

        with resources.timed("retrieve"):
            built = artifact("run", f"{label}-{choice.name}", depends_on, build)
            found: Mapping[str, Any] = {}
            if (built.path / "run.txt").stat().st_size:
                found = read_run(built.path / "run.txt").rankings
            runs.append(_complete(choice.name, topics, found))
        marks.append(built.fingerprint)
        seconds.append(resources.seconds_since(before))
        descriptions.append({**choice.describe(), **choice.about(topics, resources)})
    return combine(runs, marks, seconds, descriptions, None if among is not None else depth)


def combine(
    runs: Sequence[Run],
    marks: Sequence[str],
    seconds: Sequence[Mapping[str, float]] = (),
    descriptions: Sequence[Mapping[str, Any]] = (),
    depth: int | None = None,
) -> FirstStage:
    """The first stage that some retrievers' runs make together.

    Args:
        runs: one per retriever.
        marks: a fingerprint of all that each run depends on.
        seconds: per run, see `FirstStage`.
        descriptions: per run, see `FirstStage`.
        depth: see `FirstStage`.
    """
    if len(runs) == 1:
        return FirstStage(runs, runs[0], marks[0], seconds, descriptions, depth=depth)
    mark = fingerprint({"fused": marks})
    final = Fusion().fuse(runs, FUSED)
    return FirstStage(runs, final, mark, seconds, descriptions, depth=depth)


def find(
    choice: RetrieverChoice, topics: Sequence[Topic], depth: int, resources: CollectionResources
) -> Run:
    """Search with a retriever, and see that it keeps its contract; nothing is cached.

    Raises:
        PluginError: it returned something else than a run with an entry for every topic, or
            documents that are not in the collection.
    """
    retriever = choice.registration.made(choice.options)
    who = choice.registration.who

    def search(topics: Sequence[Topic], depth: int) -> Mapping[str, Ranking]:
        with choice.registration.at_work("searching"):
            run = retriever.retrieve([*topics], depth, resources)  # theirs, to do with as they like
        if not isinstance(run, Run):
            raise PluginError(f"{who} returned {type(run).__name__}, not a Run.")
        if missing := [t.id for t in topics if t.id not in run.rankings]:
            raise PluginError(
                f"{who} returned no ranking for topic {missing[0]}; an empty one is fine."
            )
        found = {t.id: _checked(who, t.id, run.rankings[t.id]).top(depth) for t in topics}
        if not choice.registration.plugin.ours:
            _refuse_strange_documents(who, found, resources)
        return found

    limits = {} if retriever.limits_dates else date_limits(topics)
    if not limits:
        return Run(choice.name, search(topics, depth))
    years = Years(resources.documents)
    return Run(choice.name, search_before(search, topics, depth, limits, years))


def _checked(who: str, topic: str, ranking: object) -> Ranking:
    """What was found for a topic, as a ranking in order, however it was made."""
    if not isinstance(ranking, Ranking):
        raise PluginError(
            f"{who} returned {type(ranking).__name__} for topic {topic}, not a Ranking; "
            "Ranking.of(doc_ids, scores) makes one."
        )
    if strange := [doc_id for doc_id in ranking.doc_ids if not isinstance(doc_id, str)]:
        raise PluginError(
            f"{who} found document {strange[0]!r} for topic {topic}: ids are text (str), not "
            f"{type(strange[0]).__name__}."
        )
    try:
        return Ranking.of(ranking.doc_ids, ranking.scores)
    except (ValueError, TypeError) as error:
        raise PluginError(f"{who} returned no ranking for topic {topic}: {error}.") from error


def _refuse_strange_documents(
    who: str, found: Mapping[str, Ranking], resources: CollectionResources
) -> None:
    """Look the first documents of every topic up, which takes less than a second in all."""
    contains = resources.index().contains
    most = max(1, _LOOKED_UP // max(1, len(found)))
    for topic, ranking in found.items():
        for doc_id in ranking.doc_ids[:most]:
            if not contains(doc_id):
                raise PluginError(
                    f"{who} found document '{doc_id}' for topic {topic}, which is not in the "
                    "collection."
                )


def _complete(name: str, topics: Sequence[Topic], found: Mapping[str, Any]) -> Run:
    """A run with an entry for every topic: a TREC file does not show the empty ones."""
    empty = Ranking.of((), ())
    return Run(name, {topic.id: found.get(topic.id, empty) for topic in topics})
