"""Do sources of judgments agree on which systems are better? Rank correlations between sources.

Each source (a collection with a measure) orders the systems by their mean scores; Kendall's tau-b
between two orders says how far they agree: 1 for the same, -1 for the reverse, with ties counted in
the denominator. Voorhees (IPM 2000) compared judgments so.

The interval says how sure the *topics* make a correlation. Topics are drawn again with replacement
(Efron's bootstrap), for each collection on its own, all systems on the same draw; the interval goes
from the 2.5th to the 97.5th percentile of the correlations of the draws. It takes the systems as
they are: to draw again from a handful of systems would only double some and lose others, and
doubled systems are ties of our own making. The p-value is that of `kendall.permutation_p`.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.evaluation.scoring import PerTopic


# Kendall's tau-b of many pairs of score lists at once, and its permutation test.
#
# The p-value is the share of all orders of one list whose correlation is as strong. The normal
# approximation, which is usual where scores tie, is far off for a handful of systems.

_MOST_ENUMERATED = 8
"""Systems of which all orders are tried: 40,320 for eight."""
_PERMUTATIONS = 10_000
"""Orders that are drawn where there are too many to try all."""
_ROUNDING = 1e-12
"""Correlations closer than this are the same."""


def kendall_taus(first: _Floats, second: _Floats) -> _Floats:
    """Kendall's tau-b of many pairs of score lists at once.

    Args:
        first: a row per pair, a column per system; one row goes for all.
        second: the same shape.

    Returns:
        One number per row; not a number where all scores of a row are equal.
    """
    left, right = np.triu_indices(first.shape[1], k=1)
    first_signs = np.sign(first[:, left] - first[:, right])
    second_signs = np.sign(second[:, left] - second[:, right])
    untied = np.count_nonzero(first_signs, axis=1) * np.count_nonzero(second_signs, axis=1)
    with np.errstate(invalid="ignore"):
        taus: _Floats = np.sum(first_signs * second_signs, axis=1) / np.sqrt(untied)
    return taus


def permutation_p(first: _Floats, second: _Floats, *, seed: int = 42) -> float:
    """How often independent orders correlate as strongly, in either direction.

    Exact for up to eight systems, and for more where none tie; otherwise from 10,000 orders.
    """
    systems = len(first)
    if systems <= _MOST_ENUMERATED:
        orders = np.array(list(permutations(range(systems))))
        return float(np.mean(_as_strong(first, second, orders)))
    if len(np.unique(first)) == len(np.unique(second)) == systems:
        from scipy.stats import kendalltau

        return float(kendalltau(first, second, method="exact").pvalue)
    unpermuted = np.tile(np.arange(systems), (_PERMUTATIONS, 1))
    orders = np.random.default_rng(seed).permuted(unpermuted, axis=1)
    extreme = int(np.count_nonzero(_as_strong(first, second, orders)))
    return (extreme + 1) / (_PERMUTATIONS + 1)  # the observed order is one of the draws


def _as_strong(
    first: _Floats, second: _Floats, orders: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which orders of the second scores (rows) correlate as strongly as the scores do."""
    (observed,) = np.abs(kendall_taus(first[None], second[None]))
    strong: npt.NDArray[np.bool_] = (
        np.abs(kendall_taus(first[None], second[orders])) >= observed - _ROUNDING
    )
    return strong


FEWEST_SYSTEMS = 3
"""Two systems have one order or the other, which is no correlation."""
_BLOCK = 1 << 22
"""Numbers of topics that are drawn at once."""
_DECIMALS = 12
"""Of means: equal systems must tie, however the sums behind them were rounded."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """A collection's scores by one measure.

    Attributes:
        name: what it is called in the table.
        collection: the collection's id; sources of one collection share their draws of topics.
        measure: the measure's name.
        means: system to its score.
        per_topic: system to topic id to value; a topic without a value is left out of its mean.
    """

    name: str
    collection: str
    measure: str
    means: Mapping[str, float]
    per_topic: Mapping[str, PerTopic] = field(repr=False)


@dataclass(frozen=True)
class Correlation:
    """How far two sources agree.

    Attributes:
        first: name of a source.
        second: name of the other.
        tau: Kendall's tau-b; None where a source gives all systems the same score.
        low: lower end of the 95 % interval over topics.
        high: upper end.
        p_value: two-sided, of independent orders.
    """

    first: str
    second: str
    tau: float | None
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True)
class Agreement:
    """Several sources side by side.

    Attributes:
        sources: the sources.
        systems: the systems that all of them have.
        correlations: one per pair of sources.
        samples: draws of topics behind the intervals.
        seed: of the draws.
    """

    sources: Sequence[Source]
    systems: Sequence[str]
    correlations: Sequence[Correlation]
    samples: int
    seed: int


def common_systems(sources: Sequence[Source]) -> list[str]:
    """The systems that all sources have scores of, in the order of the first.

    Raises:
        InputError: there are fewer than two sources, or than three such systems.
    """
    if len(sources) < 2:
        raise InputError("at least two sources are needed: give --runs-dir twice or more.")
    systems = [name for name in sources[0].means if all(name in s.means for s in sources)]
    if len(systems) < FEWEST_SYSTEMS:
        per_source = "; ".join(f"{source.name}: {', '.join(source.means)}" for source in sources)
        raise InputError(
            f"a correlation needs at least {FEWEST_SYSTEMS} systems that all sources have; of "
            f"these there are {len(systems)}. They have {per_source}."
        )
    return systems


def indistinct(sources: Sequence[Source]) -> list[str]:
    """Return notices of systems that a source gives the same value on every topic.

    They tie there by being the same run: a fusion that leaves one retriever, or a reranker whose
    final run is the first stage's.
    """
    pairs = list(combinations(common_systems(sources), 2))
    return [
        f"{source.name}: '{one}' and '{other}' have the same value on every topic; they are two "
        "systems all the same, which tie"
        for source in sources
        for one, other in pairs
        if source.per_topic[one] == source.per_topic[other]
    ]


def agreement(sources: Sequence[Source], *, samples: int = 10_000, seed: int = 42) -> Agreement:
    """Correlate every source with every other, in the order of the sources.

    Args:
        sources: at least two, with at least three systems in common.
        samples: draws of topics.
        seed: of the draws.
    """
    systems = common_systems(sources)
    drawn_means = [
        _drawn_means(source, systems, _topics(source.collection, sources), samples, seed)
        for source in sources
    ]
    means = [comparable_means(source, systems) for source in sources]
    correlations = []
    for one, other in combinations(range(len(sources)), 2):
        names = sources[one].name, sources[other].name
        (tau,) = kendall_taus(means[one][None], means[other][None])
        taus = kendall_taus(drawn_means[one], drawn_means[other])
        taus = taus[~np.isnan(taus)]
        if np.isnan(tau) or not len(taus):
            correlations.append(Correlation(*names, None, None, None, None))
            continue
        low, high = np.percentile(taus, [2.5, 97.5]).tolist()
        p_value = permutation_p(means[one], means[other], seed=seed)
        correlations.append(Correlation(*names, float(tau), low, high, p_value))
    return Agreement(sources, systems, correlations, samples, seed)


def comparable_means(source: Source, systems: Sequence[str]) -> _Floats:
    """A source's scores of systems, such that equal ones are equal to the last bit."""
    means: _Floats = np.round([source.means[name] for name in systems], _DECIMALS)
    return means


def _topics(collection: str, sources: Sequence[Source]) -> list[str]:
    """All topics of a collection: its sources share their draws, whatever a measure leaves out."""
    per_source = [source.per_topic for source in sources if source.collection == collection]
    return sorted(
        {topic for systems in per_source for scores in systems.values() for topic in scores}
    )


def _drawn_means(
    source: Source, systems: Sequence[str], topics: Sequence[str], samples: int, seed: int
) -> _Floats:
    """Means of the systems (columns) over draws of the topics (rows)."""
    values = np.array(
        [[source.per_topic[name].get(topic, np.nan) for name in systems] for topic in topics]
    )
    present = ~np.isnan(values)
    values = np.where(present, values, 0.0)
    means = [
        (counts @ values) / np.maximum(counts @ present, 1)
        for counts in _draws(len(topics), samples, [seed, zlib.crc32(source.collection.encode())])
    ]
    rounded: _Floats = np.round(np.concatenate(means), _DECIMALS)
    return rounded


def _draws(topics: int, samples: int, seed: Sequence[int]) -> Iterator[_Floats]:
    """How often each topic (columns) comes in each draw (rows), block by block."""
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // topics)
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        shares = np.full(topics, 1 / topics)
        yield random.multinomial(topics, shares, size=size).astype(np.float64)
