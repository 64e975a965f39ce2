"""Agreement of sources of judgments on which systems are better: rank correlations.

Each source (a collection with a measure) orders the systems by their mean scores. Kendall's tau-b
compares two orders: 1 for the same, -1 for the reverse, with ties counted in the denominator
(Voorhees, IPM 2000, compared judgments so).

The interval shows how much a correlation depends on the *topics* (Efron's bootstrap): topics are
drawn with replacement, for each collection on its own and the same for all systems, and the
interval spans the 2.5th to the 97.5th percentile of the correlations. Systems are not drawn: with a
handful of them that would only add ties. The p-value is the share of all orders of one list with as
strong a correlation; the usual normal approximation is far off for few systems.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError, counted, unknown
from irplatform.evaluation.agreement.rank_correlation import kendall_taus, permutation_p
from irplatform.evaluation.measure_names import parse_measures
from irplatform.run_folder.folder import FILE_NAME, read_scores
from irplatform.runs.names import alone_name
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.evaluation.kinds import PerTopic


_Floats = npt.NDArray[np.float64]

FEWEST_SYSTEMS = 3
"""Two systems give a correlation of 1 or -1, which says nothing."""

_BLOCK = 1 << 22
"""Numbers of topics drawn at once."""

_DECIMALS = 12
"""Means are rounded, so that equal systems tie."""


@dataclass(frozen=True)
class Source:
    """A collection's scores by one measure.

    Attributes:
        name: its name in the table.
        collection: the collection's id; sources of one collection share their draws of topics.
        measure: the measure's name.
        means: system to score.
        per_topic: system to topic id to value; a missing topic is left out of the mean.
    """

    name: str
    collection: str
    measure: str
    means: Mapping[str, float]
    per_topic: Mapping[str, PerTopic] = field(repr=False)


@dataclass(frozen=True)
class Correlation:
    """The correlation of two sources, by name.

    Attributes:
        tau: Kendall's tau-b; None if a source gives all systems the same score.
        low: lower end of the 95 % interval over topics.
        high: upper end.
        p_value: two-sided.
    """

    first: str
    second: str
    tau: float | None
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True)
class Agreement:
    """Several sources, the systems that all of them have, and a correlation per pair.

    Attributes:
        samples: draws of topics behind the intervals.
        seed: seed of the draws.
    """

    sources: Sequence[Source]
    systems: Sequence[str]
    correlations: Sequence[Correlation]
    samples: int
    seed: int


def read_sources(
    folders: Sequence[Path | str], measures: Sequence[str] = (), *, own_scores: bool = False
) -> list[Source]:
    """Read what `platform run` left in folders, one source per folder.

    Args:
        folders: the folders.
        measures: one for all folders, or one each; empty takes the first of each table.
        own_scores: take rerankers' own scores, not mixed with the first stage's.

    Returns:
        The sources, named by collection, with measure or folder if needed to tell them apart.

    Raises:
        InputError: a folder has no scores, or not by that measure for every system.
    """
    if len(measures) not in (0, 1, len(folders)):
        raise InputError(
            f"{counted(len(measures), 'measure')} for {counted(len(folders), 'source')}: "
            "give one for all, or one each."
        )
    names: list[str | None] = [*measures] if measures else [None]
    if len(names) == 1:
        names *= len(folders)
    sources = [
        _read(Path(folder), measure, own_scores)
        for folder, measure in zip(folders, names, strict=True)
    ]
    return _named_apart(sources, folders)


def _read(folder: Path, measure: str | None, own_scores: bool) -> Source:
    scores = read_scores(folder)
    if not scores.measures or not any(system.per_topic for system in scores.systems.values()):
        raise InputError(
            f"'{scores.collection}' has no judgments: its runs have no scores.",
            path=folder / FILE_NAME,
        )
    measure_name = scores.measures[0] if measure is None else _right_name(measure, scores.measures)
    if measure_name not in scores.measures:
        raise unknown("measure", measure_name, scores.measures, of=str(folder))
    for name, system in scores.systems.items():
        if measure_name not in system.means or measure_name not in system.per_topic:
            raise InputError(
                f"the system '{name}' has no scores by {measure_name}. Run `platform run` again.",
                path=folder / FILE_NAME,
            )
    if not any(system.per_topic.get(measure_name) for system in scores.systems.values()):
        raise InputError(
            f"no run has a value of {measure_name} for any topic of '{scores.collection}'.",
            path=folder / FILE_NAME,
        )
    alone_names = {alone_name(name) for name in scores.systems}
    systems = {name: scores.systems[name] for name in scores.systems if name not in alone_names}
    if own_scores:
        systems = {n: scores.systems.get(alone_name(n), system) for n, system in systems.items()}
    return Source(
        scores.collection,
        scores.collection,
        measure_name,
        {name: system.means[measure_name] for name, system in systems.items()},
        {name: system.per_topic[measure_name] for name, system in systems.items()},
    )


def _right_name(measure: str, measures: Sequence[str]) -> str:
    """Return the name that runs are scored under, such as AP for MAP."""
    if measure in measures:
        return measure
    try:
        (name,) = parse_measures([measure], sampled=True)
    except InputError:
        return measure
    return name


def _named_apart(sources: list[Source], folders: Sequence[Path | str]) -> list[Source]:
    ways = (
        [source.collection for source in sources],
        [f"{source.collection} {source.measure}" for source in sources],
        [str(folder) for folder in folders],
    )
    names = next((names for names in ways if len(set(names)) == len(names)), None)
    if names is None:
        raise InputError("a folder is given twice with the same measure.")
    return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]


def common_systems(sources: Sequence[Source]) -> list[str]:
    """Return the systems that all sources have, in the order of the first.

    Raises:
        InputError: there are fewer than two sources or three common systems.
    """
    if len(sources) < 2:
        raise InputError(
            f"at least two sources are needed: give {option('folders')} at least twice."
        )
    systems = [name for name in sources[0].means if all(name in s.means for s in sources)]
    if len(systems) < FEWEST_SYSTEMS:
        per_source = "; ".join(f"{source.name}: {', '.join(source.means)}" for source in sources)
        raise InputError(
            f"a correlation needs at least {FEWEST_SYSTEMS} systems that all sources have; of "
            f"these there are {len(systems)}. They have {per_source}."
        )
    return systems


def indistinct(sources: Sequence[Source]) -> list[str]:
    """Return notices of systems with the same value on every topic of a source.

    Such systems tie because they are the same run: a fusion that keeps one retriever only, or a
    reranker whose final run is that of the first stage.
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
    """Correlate every source with every other.

    Args:
        sources: at least two, with at least three systems in common.
        samples: number of draws of the topics.
        seed: seed of the draws.
    """
    systems = common_systems(sources)
    drawn = [
        drawn_means(source, systems, _topics(source.collection, sources), samples, seed)
        for source in sources
    ]
    means = [comparable_means(source, systems) for source in sources]
    correlations = []
    for one, other in combinations(range(len(sources)), 2):
        names = sources[one].name, sources[other].name
        (tau,) = kendall_taus(means[one][None], means[other][None])
        taus = kendall_taus(drawn[one], drawn[other])
        taus = taus[~np.isnan(taus)]
        if np.isnan(tau) or not len(taus):
            correlations.append(Correlation(*names, None, None, None, None))
            continue
        low, high = np.percentile(taus, [2.5, 97.5]).tolist()
        p_value = permutation_p(means[one], means[other], seed=seed)
        correlations.append(Correlation(*names, float(tau), low, high, p_value))
    return Agreement(sources, systems, correlations, samples, seed)


def comparable_means(source: Source, systems: Sequence[str]) -> _Floats:
    """Return a source's scores of systems, rounded so that equal ones tie."""
    means: _Floats = np.round([source.means[name] for name in systems], _DECIMALS)
    return means


def _topics(collection: str, sources: Sequence[Source]) -> list[str]:
    """All topics of a collection, which its sources share."""
    per_source = [source.per_topic for source in sources if source.collection == collection]
    return sorted(
        {topic for systems in per_source for scores in systems.values() for topic in scores}
    )


def drawn_means(
    source: Source, systems: Sequence[str], topics: Sequence[str], samples: int, seed: int
) -> _Floats:
    """Return means of the systems (columns) over draws of the topics (rows).

    Sources of one collection have the same draws of the same topics.
    """
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
    """Yield counts of each topic (columns) in each draw (rows), block by block."""
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // topics)
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        shares = np.full(topics, 1 / topics)
        yield random.multinomial(topics, shares, size=size).astype(np.float64)
