"""What a judge does to a table of systems: their order, their errors, and mixed judgments.

Both judges' grades are of the same documents, so that nothing but the judge differs; documents that
not both graded count as not judged. Topics are drawn with replacement, the same for both judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.evaluation.agreement.of_systems import (
    FEWEST_SYSTEMS,
    Source,
    comparable_means,
    drawn_means,
)
from irplatform.evaluation.agreement.rank_correlation import kendall_taus, tau_aps
from irplatform.evaluation.measure_names import cutoff_of
from irplatform.evaluation.scoring import evaluate
from irplatform.judging.agreement.grades import Value
from irplatform.registry.loading import registry
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irplatform.judging.agreement.grades import Grades
    from irplatform.runs.run import Run

SHARE = 0.1
"""The share of grades that the judge replaces."""
DRAWS = 100
"""Random tenths."""


@dataclass(frozen=True)
class SystemBias:
    """A system's means by two judges.

    Attributes:
        name: its name.
        first: mean by the first judge, the people.
        second: mean by the second.
        beyond: the second's error on this system, less its mean error on all of them.
        most_changed: the largest change of the mean by the first, if the second replaces a tenth.
    """

    name: str
    first: float
    second: float
    beyond: Value
    most_changed: float


@dataclass(frozen=True)
class SystemAgreement:
    """How far two judges agree on systems.

    Attributes:
        measure: the measure.
        systems: the systems.
        alike: systems that are left out, to the one that has the same values on every topic.
        correlations: "tau-b" and "tau-ap" (of the second's order with the first's as the truth, or
            the mean of both ways) to value.
        symmetric: whether tau-ap is the mean of both ways.
        lowest_tau: the lowest tau-b of the table by the first with that where the second replaces a
            random tenth of the grades; None if there is none.
        reordered: share of the random tenths with which some two systems change places.
    """

    measure: str
    systems: Sequence[SystemBias]
    alike: Mapping[str, str]
    correlations: Mapping[str, Value]
    symmetric: bool
    lowest_tau: float | None
    reordered: float


def agreement_of_systems(
    runs: Mapping[str, Run],
    first: Grades,
    second: Grades,
    measure: str,
    *,
    symmetric: bool,
    samples: int,
    seed: int,
) -> SystemAgreement:
    """Compare what two judges' grades of the same documents say about systems by a measure.

    The first judge is the truth, unless the comparison is `symmetric`: then neither is.

    Raises:
        InputError: there are too few systems.
    """
    cutoff, extra = cutoff_of(measure), registry().measures
    runs = {name: run.top(cutoff) if cutoff else run for name, run in runs.items()}

    def scored(grades: Grades, names: Iterable[str]) -> Source:
        by_name = {name: evaluate(grades, runs[name], [measure], extra=extra) for name in names}
        means = {name: scores.aggregate[measure] for name, scores in by_name.items()}
        per_topic = {name: scores.per_topic[measure] for name, scores in by_name.items()}
        return Source("", "", measure, means, per_topic)

    sources = [scored(grades, runs) for grades in (first, second)]
    values = {name: [source.per_topic[name] for source in sources] for name in runs}
    same_as = {name: next(o for o in runs if values[o] == values[name]) for name in runs}
    names = [name for name, other in same_as.items() if name == other]
    if len(names) < FEWEST_SYSTEMS:
        raise InputError(
            f"an order needs at least {FEWEST_SYSTEMS} systems with values of their own; there are "
            f"{len(names)}."
        )
    topics = [*first]
    first_means, second_means = (  # a row for all topics, and one for each draw
        np.vstack(
            [comparable_means(source, names), drawn_means(source, names, topics, samples, seed)]
        )
        for source in sources
    )
    errors = second_means - first_means
    beyond = errors - errors.mean(1, keepdims=True)
    aps = tau_aps(first_means, second_means)
    if symmetric:
        aps = (aps + tau_aps(second_means, first_means)) / 2
    with progress("replacing grades", DRAWS, "draws") as advance:
        rows = []
        for grades in _mixed(first, second, seed):
            rows.append(comparable_means(scored(grades, names), names))
            advance(1)
    mixed = np.array(rows)
    taus = kendall_taus(first_means[:1], mixed)
    order = first_means[0][:, None] - first_means[0]
    turned = (mixed[:, :, None] - mixed[:, None, :]) * order < 0
    changes = np.abs(mixed - first_means[0]).max(0).tolist()
    figures = (first_means[0].tolist(), second_means[0].tolist(), map(Value.of, beyond.T), changes)
    return SystemAgreement(
        measure,
        [SystemBias(*row) for row in zip(names, *figures, strict=True)],
        {name: other for name, other in same_as.items() if name != other},
        {"tau-b": Value.of(kendall_taus(first_means, second_means)), "tau-ap": Value.of(aps)},
        symmetric,
        None if np.isnan(taus).all() else float(np.nanmin(taus)),
        float(turned.any((1, 2)).mean()),
    )


def _mixed(first: Grades, second: Grades, seed: int) -> Iterator[Grades]:
    """The first judge's grades, of which the second replaces a random tenth."""
    pairs = [(topic, document) for topic, grades in first.items() for document in grades]
    random = np.random.default_rng(seed)
    number = max(1, round(len(pairs) * SHARE))
    for _ in range(DRAWS):
        mixed = {topic: dict(grades) for topic, grades in first.items()}
        for place in random.choice(len(pairs), number, replace=False):
            topic, document = pairs[place]
            mixed[topic][document] = second[topic][document]
        yield mixed
