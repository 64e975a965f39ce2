"""The result of a comparison: systems, pairs, topics and groups, as plain data.

Values are means over topics unless they are called `per_topic`. Measures go by their right names
(`nDCG@20`), topics by their ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from irplatform.comparison.power import LEVEL
from irplatform.run_folder.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.bounds import Bounds
    from irplatform.comparison.power import Power
    from irplatform.comparison.ranking import Rank
    from irplatform.comparison.tests import Correction, Difference, Test
    from irplatform.data import FieldValue

Verdict = Literal["better", "worse", "unclear", "same", "none"]
"""The conclusion of a pair's test: a difference at p < 0.05, none shown, or equal values.

"none": a system of the pair has another's ranking, and was not tested.
"""


@dataclass(frozen=True)
class Score:
    """A system by one measure.

    Attributes:
        mean: mean over all judged topics.
        interval: 95 % confidence interval of the mean (Student's); None for one topic.
        per_topic: topic to value.
        rank: its rank among the systems; None if its ranking is another system's.
        judged_at: k of `judged`.
        judged: Judged@k: share of judged documents among the first k; None for measures of sampled
            judgments and counts, as are the values below.
        condensed: mean without the unjudged documents.
        unjudged: mean with unjudged documents not relevant, and relevant, see `comparison.bounds`.
        ties: mean with tied documents in the worst and in the best order.
        alone: mean of a reranker's own scores, not mixed with the first stage's.
        machine: how many of the first k documents of a topic a machine judged and no person, on
            average; None where machines' judgments do not count.
    """

    mean: float
    interval: tuple[float, float] | None
    per_topic: Mapping[str, float] = field(repr=False)
    rank: Rank | None
    judged_at: int | None = None
    judged: float | None = None
    condensed: float | None = None
    unjudged: Bounds | None = None
    ties: Bounds | None = None
    alone: float | None = None
    machine: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return an entry of a system's `measures`."""
        return {
            "mean": self.mean,
            "interval_95": None if self.interval is None else [*self.interval],
            "rank": self.rank and self.rank.rank,
            "rank_interval_95": self.rank and [self.rank.low, self.rank.high],
            **({} if self.alone is None else {"alone": self.alone}),
            "judged_at": self.judged_at,
            "judged": self.judged,
            **({} if self.machine is None else {"machine_judged": self.machine}),
            "condensed": self.condensed,
            "unjudged_bounds": _ends(self.unjudged),
            "tie_bounds": _ends(self.ties),
            "per_topic": dict(self.per_topic),
        }


@dataclass(frozen=True)
class System:
    """A system with its scores by measure, and what it is made of.

    `ranking_of` names the run whose ranking it is, if it has none of its own; else "".
    """

    name: str
    scores: Mapping[str, Score]
    mixture: Mixture = field(default_factory=Mixture)
    ranking_of: str = ""

    def about(self) -> dict[str, object]:
        """Return its columns in frames and CSV."""
        return {"first_stage_share": self.mixture.share, "ranking_of": self.ranking_of or None}


@dataclass(frozen=True)
class Pair:
    """A system against a baseline, by one measure.

    Attributes:
        baseline: the baseline's name.
        system: the system's name.
        measure: the measure.
        test: mean difference (system minus baseline), interval, effect, p-values, wins and losses.
        power: what so many topics can show; None if the differences do not vary.
        unjudged: the mean difference with the judgments of unjudged documents that speak most for
            the baseline, and for the system.
        ties: the mean difference under the tie order that is worst for the system, and best.
        verdict: the conclusion of the test, seen from the system.
        depends_on: "unjudged", "ties": the verdict is another one within these bounds. "unjudged"
            only if the judgments name documents that are not relevant, too. "machines": the verdict
            or the order is another one by people's judgments alone.
        sentence: what the data support and what not, in plain words.
        people: the test by people's judgments alone; None where no machine's count.
    """

    baseline: str
    system: str
    measure: str
    test: Difference
    power: Power | None = None
    unjudged: Bounds | None = None
    ties: Bounds | None = None
    verdict: Verdict = "unclear"
    depends_on: tuple[str, ...] = ()
    sentence: str = ""
    people: Difference | None = None

    @property
    def difference(self) -> float:
        """Mean difference, system minus baseline."""
        return self.test.difference

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval of the mean difference."""
        low, high = self.test.low, self.test.high
        return None if low is None or high is None else (low, high)

    @property
    def effect(self) -> float | None:
        """Difference in standard deviations of the differences (Cohen's d for pairs)."""
        return self.test.effect_size

    @property
    def p(self) -> float | None:
        """P-value of the test, not corrected."""
        return self.test.p_value

    @property
    def adjusted_p(self) -> float | None:
        """P-value after the correction."""
        return self.test.p

    @property
    def wins(self) -> int:
        """Topics where the system is better."""
        return self.test.wins

    @property
    def losses(self) -> int:
        """Topics where the system is worse."""
        return self.test.losses

    @property
    def ties_of_topics(self) -> int:
        """Topics where both are equal."""
        return self.test.ties

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `pairs`."""
        power = self.power
        return {
            "baseline": self.baseline,
            "system": self.system,
            "measure": self.measure,
            **self.test.as_json(),
            "wins": self.wins,
            "ties": self.ties_of_topics,
            "losses": self.losses,
            "power": power
            and {
                "detectable": power.detectable,
                "topics_needed": power.topics,
                "level": power.level,
            },
            "unjudged_bounds": _ends(self.unjudged),
            "tie_bounds": _ends(self.ties),
            "verdict": self.verdict,
            **({"by_people": self.people.as_json()} if self.people else {}),
            "depends_on": [*self.depends_on],
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class ComparedTopic:
    """A topic; without a collection, query and fields are empty."""

    id: str
    query: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Topics that share a value of a field.

    Attributes:
        value: the value, "others" for values of a single topic, or "none".
        topics: ids.
        means: system to measure to mean over these topics.
        tests: measure to differences, in the order of the comparison's pairs; their p-values are
            not corrected, since groups are looked at to explore.
    """

    value: str
    topics: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]
    tests: Mapping[tuple[str, str], Mapping[str, Difference]]

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `groups`."""
        return {
            "value": self.value,
            "topics": [*self.topics],
            "means": {name: dict(by_measure) for name, by_measure in self.means.items()},
            "pairs": [
                {
                    "baseline": baseline,
                    "system": system,
                    "measure": measure,
                    "difference": test.difference,
                    "interval_95": None if test.low is None else [test.low, test.high],
                    "wins": test.wins,
                    "losses": test.losses,
                }
                for (baseline, system), by_measure in self.tests.items()
                for measure, test in by_measure.items()
            ],
        }


@dataclass(frozen=True)
class Matrix:
    """The first stages and rerankers of systems: each is compared with its own first stage.

    Attributes:
        places: system to its first stage and its reranker; "" for the first stage itself.
        ceilings: first stage to measure to the score of a perfect reranking, as far as known.
    """

    places: Mapping[str, tuple[str, str]]
    ceilings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def rows(self) -> list[str]:
        """The first stages."""
        return [*dict.fromkeys(row for row, _ in self.places.values())]

    @property
    def columns(self) -> list[str]:
        """The rerankers."""
        return [*dict.fromkeys(column for _, column in self.places.values() if column)]

    def pairs(self) -> list[tuple[str, str]]:
        """Return each first stage's system with those that rerank it."""
        first = {row: name for name, (row, column) in self.places.items() if not column}
        return [(first[row], name) for name, (row, column) in self.places.items() if column]


@dataclass(frozen=True)
class Comparison:
    """Systems compared over the same judged topics.

    Attributes:
        measures: names in the order asked for; the first is the one of tables and sentences.
        systems: in the order given.
        pairs: each baseline and system by each measure; pair after pair, measure by measure.
        topics: all topics with a value, in the order of the judgments.
        baseline: the system that others are compared with; None for all pairs, or a matrix.
        test: the test of the pairs.
        correction: the correction for their number, measure by measure.
        comparisons: number of different pairs, which the correction counts.
        groups: groups of topics by `group_by`.
        group_by: a field of the topics, or "".
        collection: the collection's title, or what names the judgments.
        note: what readers of the scores must know.
        notes: topics without results, judgments or relevant documents, and measures that look
            deeper than rankings.
        matrix: the first stages and rerankers, each of which is compared with its first stage.
    """

    measures: tuple[str, ...]
    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    topics: tuple[ComparedTopic, ...] = field(repr=False)
    baseline: str | None = None
    test: Test = "t-test"
    correction: Correction = "holm"
    comparisons: int = 0
    groups: tuple[Group, ...] = ()
    group_by: str = ""
    collection: str = ""
    note: str = ""
    notes: tuple[str, ...] = ()
    matrix: Matrix | None = None

    @property
    def has_baselines(self) -> bool:
        """Each system is a baseline or compared with one; not all pairs."""
        return self.baseline is not None or self.matrix is not None

    def system(self, name: str) -> System:
        """Return a system by its name."""
        return next(system for system in self.systems if system.name == name)

    def place(self, system: str) -> dict[str, str | None]:
        """Return a system's first stage and reranker, if it has a place in a matrix."""
        if self.matrix is None:
            return {}
        first_stage, reranker = self.matrix.places[system]
        return {"first_stage": first_stage, "reranker": reranker or None}

    def pairs_by(self, measure: str) -> list[Pair]:
        """Return all pairs by one measure."""
        return [pair for pair in self.pairs if pair.measure == measure]

    def tested(self, measure: str) -> list[Pair]:
        """Return the pairs by one measure that were tested."""
        return [pair for pair in self.pairs_by(measure) if pair.verdict != "none"]

    def shown_pairs(self, measure: str) -> list[Pair]:
        """Return the pairs by one measure to plot: those that were tested, or else all."""
        return self.tested(measure) or self.pairs_by(measure)

    def values_of(self, pair: Pair) -> list[Mapping[str, float]]:
        """Return the values of topics of the baseline, and of the system."""
        names = (pair.baseline, pair.system)
        return [self.system(name).scores[pair.measure].per_topic for name in names]

    def topic_differences(self, pair: Pair) -> dict[str, float]:
        """Return each topic's difference, largest gain of the system first."""
        one, other = self.values_of(pair)
        differences = {
            topic: other.get(topic, 0.0) - one.get(topic, 0.0) for topic in {**one, **other}
        }
        return dict(sorted(differences.items(), key=lambda item: -item[1]))

    def most_different(self, measure: str, count: int = 5) -> list[ComparedTopic]:
        """Return the topics with the widest spread of values over the systems, widest first."""
        values = [system.scores[measure].per_topic for system in self.systems]

        def spread(topic: ComparedTopic) -> float:
            scores = [per_topic.get(topic.id, 0.0) for per_topic in values]
            return max(scores) - min(scores)

        topics = sorted(self.topics, key=spread, reverse=True)
        return [topic for topic in topics[:count] if spread(topic) > 0]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `platform compare`."""
        return {
            "collection": self.collection,
            "note": self.note,
            "notes": [*self.notes],
            "measures": [*self.measures],
            "baseline": self.baseline,
            "test": self.test,
            "correction": self.correction,
            "comparisons": self.comparisons,
            "systems": [
                {
                    "name": system.name,
                    **self.place(system.name),
                    **system.mixture.as_json(),
                    "ranking_of": system.ranking_of or None,
                    "measures": {name: score.as_json() for name, score in system.scores.items()},
                }
                for system in self.systems
            ],
            "pairs": [pair.as_json() for pair in self.pairs],
            "topics": [
                {"id": topic.id, "query": topic.query, "fields": dict(topic.fields)}
                for topic in self.topics
            ],
            "group_by": self.group_by or None,
            "groups": [group.as_json() for group in self.groups],
            **({"ceilings": self.matrix.ceilings} if self.matrix else {}),
        }


def verdict_of(test: Difference) -> Verdict:
    """Return the conclusion of a test, seen from the system."""
    if test.wins == test.losses == 0 and test.difference == 0.0:
        return "same"
    if test.p is None or test.p >= LEVEL or test.difference == 0.0:
        return "unclear"
    return "better" if test.difference > 0 else "worse"


def _ends(bounds: Bounds | None) -> Sequence[float] | None:
    return None if bounds is None else [bounds.low, bounds.high]
