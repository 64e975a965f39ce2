"""Claims of papers as differences between two rows, and one rule for their verdicts.

A claim is an entry `[[difference]]` of a file of results; docs/reproducing.md lists its keys. What
a claim says of its paper follows from the expected difference and its interval by `verdict_of`
alone. Whether a reproduction gets that difference, too, is another question: `check` answers it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from irplatform.comparison.tests import paired_test
from irplatform.errors import InputError, unknown, unstopped
from irplatform.registry.loading import registry
from irplatform.reproduction.rows import ID, Declared, Refused, fill, read_entries
from irplatform.run_folder.folder import read_scores
from irplatform.runs.names import alone_name
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irplatform.comparison.tests import Difference
    from irplatform.registry.registration import Plugin
    from irplatform.reproduction.execute import Execution
    from irplatform.reproduction.rows import Row


def _in_order(difference: tuple[float, float, float]) -> tuple[float, float, float]:
    if not difference[1] <= difference[0] <= difference[2]:
        raise ValueError("it is a difference and the ends of its interval, the lower one first")
    return difference


Interval = Annotated[tuple[float, float, float], AfterValidator(_in_order)]
"""A difference with the ends of its 95 % interval over topics (t distribution)."""

Outcome = Literal["passed", "failed", "not_measured"]
"""`failed`: the obtained difference is not in the expected interval. `not_measured`: none is
expected yet."""


def verdict_of(
    expected: Interval | None,
    published: float | None = None,
    variant: str = "",
    margin: float | None = None,
) -> str:
    """Say what a difference means for the claim that it is above 0, and as large as published.

    Args:
        expected: the difference that was measured; None if it was not.
        published: the paper's difference, on its own data.
        variant: how the models that were run differ from the paper's; "" for the paper's own.
        margin: the claim is only that the difference is above -margin: no worse by more than it.

    Examples:
        >>> verdict_of((0.066, 0.027, 0.104), 0.069)
        'reproduced'
        >>> verdict_of((0.040, 0.028, 0.051), 0.159, variant="64 filters")
        'direction only: smaller, of a variant'
        >>> verdict_of((-0.002, -0.015, 0.011), margin=0.02)
        'reproduced'
    """
    if expected is None:
        return "not run"
    _, low, high = expected
    if margin is not None:
        low, high = low + margin, high + margin
    size = ""
    if published is not None and margin is None:
        size = "smaller" if high < published else "larger" if low > published else ""
    if high < 0:
        verdict = "opposite"
    elif low > 0:
        verdict = f"direction only: {size}" if size else "reproduced"
    else:
        verdict = f"not reproduced: {size}" if size else "undecided"
    return f"{verdict}, of a variant" if variant else verdict


class Further(Declared):
    """A further measure of a claim: its published difference, its margin, and the one here."""

    measure: str
    published: float | None = Field(None, ge=0)
    margin: float | None = Field(None, gt=0)
    expected: Interval | None = None


class Claim(Declared):
    """A paper's claim that one system is better than another, as a difference of two rows.

    Attributes:
        better: id of the row of the system that is better by the claim; `worse`: of the other.
        measure: a measure that both rows expect.
        published: the paper's difference, on its own data.
        variant: how the models that were run differ from the paper's; "" for the paper's own.
        alone: of the rerankers' own scores.
        topics: the ids of the topics that the claim is about, or a collection that has them; all
            topics of the rows, if there are none.
        margin: the claim is that `better` is no worse by more than this, not that it is better.
        expected: the difference here; None as long as it is not measured.
        also: the same by further measures, see `several`.
        cases: the differences of several claims by what their rows' ids end in, see `several`.
    """

    id: str = Field(pattern=ID)
    better: str
    worse: str
    measure: str
    claim: str
    source: str
    published: float | None = Field(None, ge=0)
    variant: str = ""
    alone: bool = False
    topics: tuple[str, ...] | str = ()
    margin: float | None = Field(None, gt=0)
    expected: Interval | None = None
    also: tuple[Further, ...] = ()
    cases: dict[str, Interval | None] = Field(default_factory=dict)
    file: Path = Path()

    @field_validator("topics")
    @classmethod
    def _several(cls, topics: tuple[str, ...] | str) -> tuple[str, ...] | str:
        if isinstance(topics, tuple) and (len(topics) == 1 or len(topics) > len(set(topics))):
            raise ValueError("these are ids of two or more topics, once each")
        return topics

    @model_validator(mode="after")
    def _cases_alone(self) -> Claim:
        if self.cases and (self.also or self.expected):
            raise ValueError("'cases' have their own differences: leave out 'expected' and 'also'")
        return self

    @property
    def rows(self) -> tuple[str, str]:
        """The ids of its rows."""
        return self.better, self.worse

    @property
    def verdict(self) -> str:
        """What was measured means for the claim, see `verdict_of`."""
        return verdict_of(self.expected, self.published, self.variant, self.margin)

    def several(self) -> Iterator[Claim]:
        """The claims that it stands for: of cases, or its own and those of further measures.

        `cases` of 0.1 and 0.3 are the rows `better`-0.1 and `better`-0.3, alike those of `worse`;
        a star in `topics` stands for the case.
        """
        plain: dict[str, Any] = {"also": (), "cases": {}}
        for case, expected in self.cases.items():
            ids = {key: f"{getattr(self, key)}-{case}" for key in ("id", "better", "worse")}
            topics = self.topics.replace("*", case) if isinstance(self.topics, str) else self.topics
            yield self.model_copy(update={**plain, **ids, "topics": topics, "expected": expected})
        if not self.cases:
            yield self.model_copy(update=plain)
        for further in self.also:
            measure = further.measure.lower().replace("@", "-")
            figures = {**plain, **dict(further)}
            yield self.model_copy(update={**figures, "id": f"{self.id}-by-{measure}"})

    def __str__(self) -> str:
        alone = " alone" if self.alone else ""
        topics = f", {self.of_topics}" if self.topics else ""
        return f"{self.better} over {self.worse}, {self.measure}{alone}{topics}"

    @property
    def of_topics(self) -> str:
        """Which topics it is about, in words; "" for all."""
        if isinstance(self.topics, str):
            return self.topics.rpartition("}/")[2]
        return f"{len(self.topics)} topics" if self.topics else ""

    def topic_ids(self) -> Sequence[str]:
        """The ids of its topics; none for all. InputError without their collection."""
        if not isinstance(self.topics, str):
            return self.topics
        collection = registry().collection(fill(self.topics, self.file))
        return [topic.id for topic in collection.load_topics()]

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `differences`."""
        entry = self.model_dump(mode="json", exclude={"file", "topics", "also", "cases"})
        return {**entry, "of_topics": self.of_topics, "claim_verdict": self.verdict}

    def check_rows(self, rows: Mapping[str, Row]) -> None:
        """Raise InputError unless both rows are there, with the measure, over the same topics."""
        if self.better == self.worse:
            raise self._error("worse", "it is the same row as 'better'.")
        for key, row_id in zip(("better", "worse"), self.rows, strict=True):
            if not (row := rows.get(row_id)):
                hint = f"It is in no file of the same package, or of those after {option('file')}."
                raise self._error(key, str(unknown("result", row_id, rows, hint=hint)))
            figures = row.alone if self.alone and row.reranker else row.expected
            if self.measure not in figures:
                of = f"what result '{row_id}' expects" + (" alone" if self.alone else "")
                raise self._error("measure", str(unknown("figure", self.measure, figures, of=of)))
        one, other = (rows[row_id] for row_id in self.rows)
        if one.fill(one.collection) != other.fill(other.collection):
            collections = f"{one.collection} and {other.collection}"
            raise self._error("worse", f"the rows have other topics: those of {collections}.")

    def _error(self, key: str, message: str) -> InputError:
        return InputError(f"difference '{self.id}', key '{key}': {message}", path=self.file)


def known_claims(
    files: Iterable[Path], rows: Iterable[Row], earlier_claims: Sequence[Claim] = ()
) -> list[Claim]:
    """Add the claims of files about these rows to earlier ones; InputError for an error in one."""
    by_id = {row.id: row for row in rows}
    claims = {claim.id: claim for claim in earlier_claims}
    for file in files:
        entries = read_entries(file, "difference", Claim)
        for claim in (claim for entry in entries for claim in entry.several()):
            if other := claims.get(claim.id):
                message = f"difference '{claim.id}' is also in {other.file}; rename one."
                raise InputError(message, path=file)
            claim.check_rows(by_id)
            claims[claim.id] = claim
    return [*claims.values()]


def shipped_claims(
    files: Mapping[Path, Plugin], rows: Sequence[Row], refused: Iterable[Refused]
) -> tuple[list[Claim], list[Refused]]:
    """Return the claims of plugins' files, and the files whose claims have an error.

    A claim is about rows of its own distribution. Files whose rows are refused are left out.
    """
    claims: list[Claim] = []
    refusals = []
    left_out = {refusal.file for refusal in refused}
    for file, plugin in files.items():
        plugin_rows = [row for row in rows if files[row.file].distribution == plugin.distribution]
        try:
            claims = known_claims({file} - left_out, plugin_rows, claims)
        except InputError as error:
            refusals.append(Refused(file, plugin, str(error), "differences"))
    return claims, refusals


def names_of_rows(claims: Iterable[Claim]) -> dict[str, list[str]]:
    """Return the ids and sources of claims by the ids of their rows."""
    names: dict[str, list[str]] = {}
    for claim in claims:
        for row_id in claim.rows:
            names.setdefault(row_id, []).extend((claim.id, claim.source))
    return names


def claims_about(rows: Iterable[Row], claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims with both rows among these."""
    ids = {row.id for row in rows}
    return [claim for claim in claims if ids.issuperset(claim.rows)]


@dataclass(frozen=True)
class Checked:
    """A claim with the difference that was obtained; `reason` says why there is none."""

    claim: Claim
    obtained: Difference | None
    reason: str = ""

    @property
    def outcome(self) -> Outcome:
        """Whether the obtained difference lies in the expected interval."""
        if self.obtained is None:
            return "failed"
        if self.claim.expected is None:
            return "not_measured"
        _, low, high = self.claim.expected
        return "passed" if low <= self.obtained.difference <= high else "failed"

    @property
    def words(self) -> str:
        """The outcome, in words."""
        failed = f"FAILED: {self.reason or 'the difference is outside the interval'}"
        return {"passed": "ok", "not_measured": "not measured yet"}.get(self.outcome, failed)

    def as_json(self) -> dict[str, Any]:
        """Return an entry of `differences`: the claim, and what was obtained."""
        test = self.obtained
        return {
            **self.claim.as_json(),
            "obtained": test and [test.difference, test.low, test.high],
            "topics": test and test.n,
            "verdict": self.outcome,
            "reason": self.reason or None,
        }


def check(claims: Iterable[Claim], executions: Sequence[Execution]) -> Iterator[Checked]:
    """Compare the differences of rows that were run with the expected ones."""
    runs = {execution.row.id: execution for execution in executions if execution.folder is not None}
    for claim in claims_about((execution.row for execution in runs.values()), claims):
        try:
            topics = claim.topic_ids()
            better, worse = (_scores(runs[row_id], claim, topics) for row_id in claim.rows)
            spreads = [_spread(runs[row_id], claim) for row_id in claim.rows]
            yield Checked(claim, widened(paired_test(worse, better), spreads))
        except InputError as error:
            yield Checked(claim, None, unstopped(error))


def widened(difference: Difference, spreads: Iterable[Spread]) -> Difference:
    """Return a difference whose interval also knows how much trainings differ.

    The variance of the mean over topics and those of the means over trainings are added, with the
    degrees of freedom of Welch and Satterthwaite. A single training says nothing of others: the
    interval then is that over topics, and it is never narrower.

    Examples:
        >>> from irplatform.comparison.tests import paired_test
        >>> worse, better = {"1": 0.1, "2": 0.3, "3": 0.2}, {"1": 0.3, "2": 0.4, "3": 0.5}
        >>> over_topics = paired_test(worse, better)
        >>> wider = widened(over_topics, [Spread(std=0.2, trainings=3)])
        >>> round(over_topics.low, 3), round(wider.low, 3)
        (-0.048, -0.216)
    """
    from scipy.special import stdtrit

    if difference.deviation is None or difference.high is None:
        return difference
    parts = [(difference.deviation**2 / difference.n, difference.n - 1)]
    parts += [(s.std**2 / s.trainings, s.trainings - 1) for s in spreads if s.trainings > 1]
    variance = sum(part for part, _ in parts)
    if not variance:
        return difference
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    mean = difference.difference
    half = max(float(stdtrit(freedom, 0.975)) * variance**0.5, difference.high - mean)
    return replace(difference, low=mean - half, high=mean + half)


@dataclass(frozen=True)
class Spread:
    """The standard deviation of a system's mean over its trainings."""

    std: float
    trainings: int


def _spread(execution: Execution, claim: Claim) -> Spread:
    """That of a row's run, over all its topics."""
    assert execution.folder is not None
    report = execution.folder / "report.json"
    runs = json.loads(report.read_text(encoding="utf-8"))["runs"] if report.exists() else []
    run: Mapping[str, Any] = next((r for r in runs if r["name"] == execution.row.name), {})
    spread = run.get("spread_alone" if claim.alone else "spread", {}).get(claim.measure)
    return Spread(spread["std"], len(run["seeds"])) if spread else Spread(0.0, 1)


def _scores(execution: Execution, claim: Claim, topics: Sequence[str]) -> Mapping[str, float]:
    """The scores of a row's system on topics, or all, in the mean over its seeds."""
    assert execution.folder is not None
    systems = read_scores(execution.folder).systems
    name = execution.row.name
    if claim.alone and execution.row.reranker:
        name = alone_name(name)
    scores = systems[name].per_topic if name in systems else {}
    if claim.measure not in scores:
        raise InputError(f"{execution.row.id} reports no {claim.measure} of its topics.")
    per_topic = scores[claim.measure]
    if missing := [topic for topic in topics if topic not in per_topic]:
        raise InputError(f"{execution.row.id} has no scores of topic {missing[0]}.")
    return {topic: per_topic[topic] for topic in topics} or per_topic
