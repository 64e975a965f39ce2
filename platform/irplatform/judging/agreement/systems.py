"""What a judge does to a table of systems: their order, each one's error, and mixed judgments.

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
from irplatform.runs.run import Run
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.evaluation.agreement.of_grades import Floats
    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.judging.agreement.grades import Grades

SHARE = 0.1
"""The share of grades that the judge replaces."""
DRAWS = 100
"""Random tenths."""
_AT_ONCE = 20
"""Random tenths that are scored together."""
_DECIMALS = 12


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

    @property
    def error(self) -> float:
        """The second's mean less the first's."""
        return self.second - self.first

    @property
    def is_favoured(self) -> int:
        """1 if the second judge favours it, -1 if it does the opposite, 0 if it may be chance."""
        low, high = self.beyond.low, self.beyond.high
        return 0 if low is None or high is None else int(low > 0) - int(high < 0)


@dataclass(frozen=True)
class SystemAgreement:
    """How far two judges agree on systems.

    Attributes:
        measure: the measure.
        systems: the systems.
        alike: systems that are left out, to the one that has the same values on every topic.
        correlations: "tau-b" and "tau-ap" (of the second's order with the first's as the truth, or
            symmetric) to value.
        symmetric: whether tau-ap is the mean of both ways.
        replaced: tau-b of the table by the first with that where the second replaces a random tenth
            of the grades, for each draw.
        reordered: share of the draws in which some two systems change places.
    """

    measure: str
    systems: Sequence[SystemBias]
    alike: Mapping[str, str]
    correlations: Mapping[str, Value]
    symmetric: bool
    replaced: Sequence[float]
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
    extra: Mapping[str, MeasureFunction] | None = None,
) -> SystemAgreement:
    """Compare what two judges' grades of the same documents say about systems.

    Args:
        runs: name to run.
        first: topic to document to grade; the truth, unless `symmetric`.
        second: by the other judge.
        measure: the right name of a measure of ordinary judgments.
        symmetric: no judge is the truth.
        samples: number of draws of topics.
        seed: seed of all draws.
        extra: measures of plugins.

    Raises:
        InputError: there are too few systems.
    """
    cutoff = cutoff_of(measure)
    cut = {name: run.top(cutoff) if cutoff else run for name, run in runs.items()}
    sources = []
    for label, grades in (("first", first), ("second", second)):
        scored = {n: evaluate(grades, run, [measure], extra=extra) for n, run in cut.items()}
        by_name = {name: each.aggregate[measure] for name, each in scored.items()}
        per_topic = {name: each.per_topic[measure] for name, each in scored.items()}
        sources.append(Source(label, "", measure, by_name, per_topic))
    names, alike = _distinct(sources)
    if len(names) < FEWEST_SYSTEMS:
        raise InputError(
            f"an order needs at least {FEWEST_SYSTEMS} systems with values of their own; there are "
            f"{len(names)}."
        )
    cut = {name: cut[name] for name in names}
    topics = [*first]
    means = [comparable_means(source, names) for source in sources]
    drawn = [drawn_means(source, names, topics, samples, seed) for source in sources]
    taus = Value.of(float(kendall_taus(means[0][None], means[1][None])[0]), kendall_taus(*drawn))
    aps = Value.of(
        float(tau_aps(means[0][None], means[1][None], symmetric=symmetric)[0]),
        tau_aps(*drawn, symmetric=symmetric),
    )
    errors, drawn_errors = means[1] - means[0], drawn[1] - drawn[0]
    beyond = errors - errors.mean()
    drawn_beyond = drawn_errors - drawn_errors.mean(1, keepdims=True)
    mixed = _mixed(cut, first, second, measure, seed, extra)
    replaced = kendall_taus(means[0][None], mixed)
    order = np.sign(means[0][:, None] - means[0])
    moved = (np.sign(mixed[:, :, None] - mixed[:, None, :]) * order < 0).any((1, 2))
    systems = [
        SystemBias(
            name,
            float(means[0][n]),
            float(means[1][n]),
            Value.of(float(beyond[n]), drawn_beyond[:, n]),
            float(np.abs(mixed[:, n] - means[0][n]).max()),
        )
        for n, name in enumerate(names)
    ]
    return SystemAgreement(
        measure,
        systems,
        alike,
        {"tau-b": taus, "tau-ap": aps},
        symmetric,
        replaced[~np.isnan(replaced)].tolist(),
        float(moved.mean()),
    )


def _distinct(sources: Sequence[Source]) -> tuple[list[str], dict[str, str]]:
    """Systems with values of their own; and the others, to the system that has the same ones.

    They are one run under two names, which ties.
    """
    names: list[str] = []
    alike: dict[str, str] = {}
    for name in sources[0].means:
        values = [source.per_topic[name] for source in sources]
        same = (o for o in names if values == [source.per_topic[o] for source in sources])
        if (other := next(same, None)) is None:
            names.append(name)
        else:
            alike[name] = other
    return names, alike


def _mixed(
    runs: Mapping[str, Run],
    first: Grades,
    second: Grades,
    measure: str,
    seed: int,
    extra: Mapping[str, MeasureFunction] | None,
) -> Floats:
    """Means, [draws, systems], where the second judge replaces a random tenth of the grades.

    The topics of several draws are scored at once, as topics of other names.
    """
    pairs = [(topic, document) for topic, own in first.items() for document in own]
    random = np.random.default_rng(seed)
    means = []
    with progress("replacing grades", DRAWS, "draws") as advance:
        for start in range(0, DRAWS, _AT_ONCE):
            draws = range(start, min(DRAWS, start + _AT_ONCE))
            qrels: dict[str, dict[str, int]] = {}
            for draw in draws:
                taken = random.choice(len(pairs), max(1, round(len(pairs) * SHARE)), replace=False)
                mixed = {topic: dict(own) for topic, own in first.items()}
                for place in taken:
                    topic, document = pairs[place]
                    mixed[topic][document] = second[topic][document]
                qrels |= {f"{draw} {topic}": own for topic, own in mixed.items()}
            block = []
            for run in runs.values():
                rankings = {
                    f"{draw} {topic}": run.rankings[topic]
                    for draw in draws
                    for topic in first
                    if topic in run.rankings
                }
                found = evaluate(qrels, Run(run.name, rankings), [measure], extra=extra)
                values = found.per_topic[measure]
                block.append(
                    [np.mean([values[f"{draw} {topic}"] for topic in first]) for draw in draws]
                )
            means.append(np.array(block).T)
            advance(len(draws))
    rounded: Floats = np.round(np.concatenate(means), _DECIMALS)
    return rounded
