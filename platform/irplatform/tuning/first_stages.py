"""What retrievers find for the topics that a system is tuned on, trial after trial.

All topics are searched without filling the cache with runs. The last runs are kept in memory, since
a reranker's options leave them as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from irplatform.pipeline import FOLDS
from irplatform.reranking.splits import fold_topics
from irplatform.retrieval.checked_search import find
from irplatform.retrieval.first_stage import Retrieval, combine
from irplatform.retrieval.fusion import AUTO, choose_fusion
from irplatform.runs import Run
from irplatform.storage import fingerprint
from irplatform.training.topic_marks import families

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.plugin import Topic
    from irplatform.resources import CollectionResources
    from irplatform.retrieval.first_stage import FirstStage, RetrieverChoice
    from irplatform.runs import Ranking

_RUNS_KEPT = 4


class FirstStages:
    """First stages over some judged topics, each searched once.

    Args:
        depth: documents that each retriever finds.
        fusion: "auto", or "plain" where all retrievers count the same.
    """

    def __init__(
        self,
        topics: Sequence[Topic],
        qrels: Mapping[str, Mapping[str, float]],
        depth: int,
        fusion: str,
        resources: CollectionResources,
    ) -> None:
        self._topics = topics
        self._qrels = qrels
        self._depth = depth
        self._fusion = fusion
        self._resources = resources
        self._runs: dict[str, Run] = {}
        self._last_fused: tuple[str, FirstStage] | None = None

    def of(self, choices: Sequence[RetrieverChoice]) -> FirstStage:
        """What retrievers find, fused where they are several."""
        retrievals = []
        for choice in choices:
            mark = fingerprint(choice.describe())
            run = self._runs.pop(mark, None)
            if run is None:
                run = find(choice, self._topics, self._depth, self._resources)
            self._runs[mark] = run  # to the end: used last
            retrievals.append(Retrieval(run, mark))
        for old_mark in list(self._runs)[: -max(_RUNS_KEPT, len(choices))]:
            del self._runs[old_mark]
        first = combine(retrievals, self._depth)
        if len(retrievals) == 1 or self._fusion != AUTO:
            return first
        # While only a reranker's options vary, the first stage stays as it is.
        if self._last_fused is None or self._last_fused[0] != first.fingerprint:
            self._last_fused = first.fingerprint, self._fused(first)
        return self._last_fused[1]

    def _fused(self, first: FirstStage) -> FirstStage:
        """The runs, fused for every topic as those of other folds have it."""
        topic_families = families(self._topics)
        fusions: list[dict[str, Any]] = []
        rankings: dict[str, Ranking] = {}
        for split in fold_topics(self._topics, FOLDS, self._resources.seed, topic_families):
            fusion = choose_fusion(_parts(first.runs, split.training), self._qrels)
            fused = fusion.fuse(_parts(first.runs, split.validation), first.final.name)
            fusions.append(fusion.describe())
            rankings.update(fused.rankings)
        return replace(
            first,
            final=Run(first.final.name, {t.id: rankings[t.id] for t in self._topics}),
            fingerprint=fingerprint({"runs": first.fingerprint, "fusions": fusions}),
        )


def _parts(runs: Sequence[Run], topics: Sequence[Topic]) -> list[Run]:
    """The runs, of some topics only."""
    return [Run(run.name, {topic.id: run.rankings[topic.id] for topic in topics}) for run in runs]
