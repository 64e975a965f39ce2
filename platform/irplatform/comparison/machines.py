"""What in a comparison hangs on judgments of machines.

Where a machine judged what no person did, each pair is tested again by people's judgments alone. If
the verdict is another one then, or the order of the two, it hangs on the machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.comparison.bounds import judged_at, mean
from irplatform.comparison.results import verdict_of
from irplatform.comparison.tests import differences
from irplatform.evaluation.scoring import evaluations_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.results import Comparison, Pair
    from irplatform.comparison.tests import Correction, Difference, Test
    from irplatform.evaluation.judgments import Judgments
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.runs.run import Run

_FEW = 3
"""Of more systems, the fewest and the most are named."""


class ByPeople:
    """Tests of pairs by people's judgments alone; none where no machine's count."""

    def __init__(
        self,
        judgments: Judgments,
        runs: Mapping[str, Run],
        pairs: Sequence[tuple[str, str]],
        extra: Mapping[str, MeasureFunction] | None,
        *,
        test: Test,
        correction: Correction,
        seed: int,
    ) -> None:
        """Score the runs by people's judgments, and test the pairs."""
        self._tests: Mapping[tuple[str, str], Mapping[str, Difference]] = {}
        if (people := judgments.people) is not None:
            scored = evaluations_of(people, runs, [*judgments.measures], extra, "scoring by people")
            self._tests = differences(scored, pairs, test=test, correction=correction, seed=seed)

    def with_people(self, pair: Pair) -> Pair:
        """Add what people's judgments say, and whether the pair hangs on machines'."""
        test = self._tests.get((pair.baseline, pair.system), {}).get(pair.measure)
        if test is None:
            return pair
        other_order = pair.difference * test.difference < 0
        hangs = other_order or verdict_of(test) != pair.verdict
        depends_on = (*pair.depends_on, "machines") if hangs else pair.depends_on
        return replace(pair, people=test, depends_on=depends_on)


def machine_judged(
    run: Run, machine: Mapping[str, frozenset[str]], topics: Sequence[str], measure: str
) -> float:
    """Return how many of the first k documents of a topic a machine judged, on average.

    Args:
        run: the run.
        machine: topic to the documents whose grade is a machine's.
        topics: those that count.
        measure: its cutoff is k; 100 for a measure without.
    """
    depth, none = judged_at(measure), frozenset[str]()
    return mean(
        len(machine.get(topic, none).intersection(run.rankings[topic].doc_ids[:depth]))
        if topic in run.rankings
        else 0
        for topic in topics
    )


def machine_judged_told(counts: Mapping[str, float], measure: str) -> str:
    """Return a sentence about the machine judgments among the first documents of systems."""
    ordered = sorted(counts.items(), key=lambda item: item[1])
    shown = ordered if len(ordered) <= _FEW else [ordered[0], ordered[-1]]
    between = ", " if len(ordered) <= _FEW else " to "
    listed = between.join(f"{count:.1f} ({name})" for name, count in shown)
    return (
        f"Of the first {judged_at(measure)} documents of a topic, machines alone judged on "
        f"average: {listed}."
    )


def told_of_machines(comparison: Comparison, measure: str) -> list[str]:
    """Return that sentence about a comparison, if machines' judgments count there."""
    counts = {s.name: n for s in comparison.systems if (n := s.scores[measure].machine) is not None}
    return [machine_judged_told(counts, measure)] if counts else []
