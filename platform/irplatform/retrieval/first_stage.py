"""The first stage of a run: one or several retrievers, their fusion, and the candidates.

Each retriever's run is kept in the cache, so that rerankers that are added later start from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.console import notice
from irplatform.errors import PluginError
from irplatform.runs import Run, read_run, write_run
from irplatform.runs.fuse import reciprocal_rank_fusion
from irplatform.storage import artifact, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Options, Retriever, Topic
    from irplatform.registry import Registration
    from irplatform.resources import CollectionResources

FUSED = "fused"


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
        return {
            "retriever": self.name,
            "distribution": self.registration.plugin.distribution,
            "version": self.registration.plugin.version,
            "options": self.options.model_dump(mode="json"),
        }


@dataclass(frozen=True)
class FirstStage:
    """What the retrievers found.

    Attributes:
        runs: one per retriever.
        final: what rerankers start from: the only run, or the reciprocal rank fusion of all.
        fingerprint: of all that the runs depend on.
        seconds: per stage, what each run took beyond those before it.
    """

    runs: Sequence[Run]
    final: Run
    fingerprint: str
    seconds: Sequence[Mapping[str, float]] = ()

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
) -> FirstStage:
    """Run the retrievers on topics, or take their runs from the cache.

    Args:
        choices: the retrievers.
        topics: the topics.
        depth: most documents per topic and retriever.
        resources: what the harness lends.
        label: a readable beginning for the names in the cache.
    """
    index = resources.index_artifact().fingerprint
    asked = fingerprint({"topics": [[t.id, t.query, dict(t.fields)] for t in topics]})
    runs, marks, seconds = [], [], []
    for choice in choices:
        before = dict(resources.seconds)
        depends_on = {"index": index, "topics": asked, "depth": depth, **choice.describe()}

        def build(folder: Any, choice: RetrieverChoice = choice) -> None:
            notice(f"{label}: searching {len(topics):,} topics with {choice.name}")
            write_run(_checked(choice, topics, depth, resources), folder / "run.txt")

        with resources.timed("retrieve"):
            built = artifact("run", f"{label}-{choice.name}", depends_on, build)
            found: Mapping[str, Any] = {}
            if (built.path / "run.txt").stat().st_size:
                found = read_run(built.path / "run.txt").rankings
            runs.append(_complete(choice.name, topics, found))
        marks.append(built.fingerprint)
        seconds.append(resources.seconds_since(before))
    if len(runs) == 1:
        return FirstStage(runs, runs[0], marks[0], seconds)
    final = reciprocal_rank_fusion(runs, name=FUSED)
    return FirstStage(runs, final, fingerprint({"fused": marks}), seconds)


def _checked(
    choice: RetrieverChoice, topics: Sequence[Topic], depth: int, resources: CollectionResources
) -> Run:
    retriever = choice.registration.system(choice.options)
    run = retriever.retrieve(topics, depth, resources)
    who = f"retriever '{choice.name}' of {choice.registration.plugin}"
    if not isinstance(run, Run):
        raise PluginError(f"{who} returned {type(run).__name__}, not a Run.")
    if missing := [t.id for t in topics if t.id not in run.rankings]:
        raise PluginError(
            f"{who} returned no ranking for topic {missing[0]}; an empty one is fine."
        )
    return Run(choice.name, {t.id: run.rankings[t.id].top(depth) for t in topics})


def _complete(name: str, topics: Sequence[Topic], found: Mapping[str, Any]) -> Run:
    """A run with an entry for every topic: a TREC file does not show the empty ones."""
    from irplatform.runs import Ranking

    empty = Ranking.of((), ())
    return Run(name, {topic.id: found.get(topic.id, empty) for topic in topics})
