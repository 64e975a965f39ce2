"""The scores of a command's runs, and which topics do not count as all others do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from irplatform.errors import counted, listing
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.evaluation.scoring import Evaluation, evaluate
from irplatform.evaluation.significance import compare
from irplatform.evaluation.topics import without_judgments, without_relevant, without_results
from irplatform.runs.folder import Scores, SystemScores, write_scores
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Collection, Qrels
    from irplatform.evaluation.measures import MeasureFunction
    from irplatform.evaluation.significance import Comparison
    from irplatform.runs import Run

_SHOWN = 10
"""How many topics a notice names."""


class Scoreboard:
    """Scores runs with a collection's judgments, and keeps the scores by name.

    Args:
        collection: what was searched.
        qrels: its judgments, if it has any; without them nothing has a score.
        measures: what to report.
        extra: measures of plugins.
    """

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels | None,
        measures: Sequence[str],
        extra: Mapping[str, MeasureFunction],
    ) -> None:
        self._collection = collection
        self._qrels = qrels
        sampled = collection.sampled_qrels
        self._sampled = read_sampled_qrels(sampled) if sampled is not None else None
        self._measures = measures
        self._extra = extra
        self._evaluations: dict[str, Evaluation] = {}
        self._missing: tuple[str, ...] = ()

    def score(self, run: Run) -> tuple[Evaluation, float]:
        """Score a run, which is not kept yet; and the seconds that it took."""
        if self._qrels is None:
            return Evaluation({}, {}), 0.0
        started = time.monotonic()
        evaluation = evaluate(
            self._qrels, run, self._measures, extra=self._extra, sampled=self._sampled
        )
        return evaluation, time.monotonic() - started

    def keep(self, name: str, evaluation: Evaluation) -> None:
        """Keep scores under a name, to be compared and written."""
        self._evaluations[name] = evaluation

    def compared(
        self, baseline: str, names: Sequence[str]
    ) -> Mapping[str, Mapping[str, Comparison]]:
        """Kept scores against a baseline's; empty where nothing has a score."""
        if not names or self._qrels is None:
            return {}
        return compare(
            self._evaluations[baseline], {name: self._evaluations[name] for name in names}
        )

    def tell_of_topics(self, run: Run, evaluation: Evaluation) -> str:
        """Name the topics of a first stage's run that do not count as all others do.

        Returns:
            What a reader of all runs from now on must know; "" is nothing.
        """
        topic_ids = {topic.id for topic in self._collection.load_topics()}
        missing = evaluation.missing
        warning = ""
        if missing and missing != self._missing:  # told of the runs before
            warning = f"{run.name}: {without_results(evaluation)}"
            if strange := [topic for topic in missing if topic not in topic_ids]:
                warning += (
                    f"; judged, but no topics of '{self._collection.id}': "
                    f"{listing(strange, _SHOWN)}"
                )
            notice(warning)
        if not self._evaluations:
            if self._qrels is None:
                notice(f"{self._collection.id} has no judgments: runs are written and not scored")
            for remark in without_judgments(evaluation):
                notice(f"{run.name}: {remark}")
            if remark := without_relevant(evaluation):
                notice(remark)
        self._missing = missing
        rankings = run.rankings.items()
        if empty := [
            topic for topic, ranking in rankings if not len(ranking) and topic not in missing
        ]:
            topics = counted(len(empty), "topic")
            notice(f"{run.name} finds nothing for {topics}: {listing(empty, _SHOWN)}")
        return warning

    def write(self, measures: Sequence[str], folder: Path) -> None:
        """Write all kept scores, topic by topic."""
        systems = {
            name: SystemScores(evaluation.aggregate, evaluation.per_topic)
            for name, evaluation in self._evaluations.items()
        }
        write_scores(Scores(self._collection.id, measures, systems), folder)
