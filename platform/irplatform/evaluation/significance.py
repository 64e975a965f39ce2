"""Are runs better than a baseline? Paired tests by each measure, with Holm's correction.

Holm (1979) keeps the chance of any false alarm among several comparisons at the level of one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from irplatform.evaluation.inferred import is_inferred
from irplatform.evaluation.paired_tests import Comparison, paired_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.paired_tests import Method
    from irplatform.evaluation.scoring import Evaluation, PerTopic

TEST, CORRECTION = "paired t-test, two-sided", "Holm"
"""How `compare` tests by default, in ir_metadata's words."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm's step-down method); their order stays."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return adjusted


def compare(
    baseline: Evaluation,
    others: Mapping[str, Evaluation],
    *,
    method: Method = "t-test",
    seed: int = 0,
) -> dict[str, dict[str, Comparison]]:
    """Compare several runs with a baseline, by every measure of the baseline.

    A topic that a run finds nothing for counts as 0 here for measures of sampled judgments too,
    although their means leave it out: a run gains nothing from staying silent.

    Runs with the same values on every topic by every measure are one run to the correction, and
    those with the baseline's values are not tested: a reranker that leaves the first stage no share
    in its final run, or all of it, has tried nothing more than its own scores.

    Args:
        baseline: what the first stage scored.
        others: run name to what it scored on the same judgments.
        method: see `paired_test`.
        seed: see `paired_test`.

    Returns:
        Run name to measure name to comparison; `adjusted_p` is corrected, measure by measure, for
        the number of different runs.

    Raises:
        InputError: a run is scored on other topics than the baseline.
    """
    # For each run the first one with the same values, which may be itself.
    same_as = {
        name: next(n for n, other in others.items() if other.per_topic == evaluation.per_topic)
        for name, evaluation in others.items()
    }
    tested_runs = {
        name: others[name]
        for name in dict.fromkeys(same_as.values())
        if others[name].per_topic != baseline.per_topic
    }
    compared: dict[str, dict[str, Comparison]] = {name: {} for name in others}
    for measure in baseline.per_topic:
        values = _all_topics(measure, baseline)
        comparisons = {
            name: paired_test(values, _all_topics(measure, other), method=method, seed=seed)
            for name, other in tested_runs.items()
        }
        tested = {name: c.p_value for name, c in comparisons.items() if c.p_value is not None}
        adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
        untested = Comparison(0.0, None, None, None, None, len(values))
        for name, alike in same_as.items():
            comparison = comparisons.get(alike, untested)
            compared[name][measure] = replace(comparison, adjusted_p=adjusted.get(alike))
    return compared


def comparisons_json(
    baseline: str, comparisons: Mapping[str, Mapping[str, Comparison]]
) -> dict[str, Any]:
    """The `comparisons` of `platform run --json` and `platform evaluate --json`."""
    return {
        "baseline": baseline,
        "test": TEST,
        "correction": CORRECTION,
        "systems": {
            name: {measure: comparison.as_json() for measure, comparison in by_measure.items()}
            for name, by_measure in comparisons.items()
        },
    }


def _all_topics(measure: str, evaluation: Evaluation) -> PerTopic:
    """Values of all topics that count: 0 for those that a run has no sampled results for."""
    values = evaluation.per_topic[measure]
    if not is_inferred(measure) or not evaluation.sampled:
        return values
    return {topic: values.get(topic, 0.0) for topic in evaluation.sampled}
