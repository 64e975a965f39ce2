"""A judge measured against others: a machine against people, or a person against another.

Only documents that both graded count, and of a machine only those that it was not fitted on: its
version names the topics of its thresholds or prompts, or the caller does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted, enumeration, listing, unknown
from irplatform.evaluation.agreement.of_grades import krippendorff_alpha
from irplatform.judging.agreement.grades import MAIN, agreement_of_grades
from irplatform.judging.agreement.systems import agreement_of_systems
from irplatform.judging.judgments import ADJUDICATED, MACHINE, PERSON
from irplatform.judging.sources import PEOPLE, Gathered, choose
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from irplatform.evaluation.kinds import MeasureFunction
    from irplatform.judging.agreement.grades import GradeAgreement, Grades
    from irplatform.judging.agreement.systems import SystemAgreement
    from irplatform.judging.judgments import Judgment, Source
    from irplatform.runs.run import Run

_DEPTH = 100
"""Ranks that make a document worth adjudicating."""


@dataclass(frozen=True)
class Difference:
    """A document that two judges grade differently.

    Attributes:
        weight: the distance of the grades, times the sum over systems of 1 / log2(1 + rank) if
            there are systems.
    """

    topic: str
    document: str
    first: int
    second: int
    weight: float


@dataclass(frozen=True)
class JudgeAgreement:
    """How well a judge agrees with others.

    Attributes:
        judge: the judge.
        against: whose grades it is measured by.
        of_grades: agreement on grades.
        of_systems: agreement on systems; None without runs.
        among_people: ordinal alpha of the people among themselves, and the documents that two or
            more of them judged; None if there are none.
        differences: documents to adjudicate, the first one first.
        width: the width of the interval of linear kappa to reach.
        further: how many documents that takes beyond the present ones; None if unknown.
        notes: what counts and what was left out.
        samples: draws behind the intervals.
        seed: seed of the draws.
    """

    judge: str
    against: str
    of_grades: GradeAgreement
    of_systems: SystemAgreement | None
    among_people: tuple[float, int] | None
    differences: Sequence[Difference]
    width: float | None
    further: int | None
    notes: Sequence[str]
    samples: int
    seed: int


def judge_agreement(
    gathered: Gathered,
    runs: Mapping[str, Run],
    measure: str,
    *,
    judge: str | None = None,
    against: str | None = None,
    grades: Sequence[int] = (),
    fitted_on: Collection[str] = (),
    seen: Collection[tuple[str, str]] = (),
    width: float | None = None,
    samples: int = 10_000,
    seed: int = 42,
    extra: Mapping[str, MeasureFunction] | None = None,
) -> JudgeAgreement:
    """Measure a judge against others.

    Args:
        gathered: judgments with their sources.
        runs: name to run; may be empty.
        measure: of the order of systems.
        judge: a source; by default the only machine, or without machines the second of two people.
        against: sources, as `choose` takes them; by default people, or the first of two people.
        grades: all grades; by default all from the lowest to the highest that occur.
        fitted_on: topics that the judge was fitted on, beyond those that its version names.
        seen: single documents that it was fitted on, with their topics.
        width: the interval to reach; by default half of the present one.
        samples: draws behind the intervals.
        seed: seed of the draws.
        extra: measures of plugins.

    Raises:
        InputError: there is no such judge or several, or no document was graded by both.
    """
    one, others = _judges(gathered, judge, against)
    own = [j for j in gathered.judgments if j.source == one]
    rest = [j for j in gathered.judgments if j.source != one]
    if one.kind == PERSON:  # a decision between two people was made with both grades in sight
        rest = [judgment for judgment in rest if judgment.source.version != ADJUDICATED]
    if not rest:
        raise InputError(f"{gathered.name}: nobody but {one.short} has judged.")
    truth = choose(Gathered(rest, name=gathered.name), others).grades
    left_out = {*one.fitted_on, *fitted_on}
    pairs: dict[str, dict[str, int]] = {}
    given: dict[str, dict[str, int]] = {}
    for judgment in own:
        topic, document = judgment.topic, judgment.document
        grade = truth.get(topic, {}).get(document)
        if judgment.grade is None or grade is None:
            continue
        if topic not in left_out and (topic, document) not in seen:
            pairs.setdefault(topic, {})[document] = grade
            given.setdefault(topic, {})[document] = judgment.grade
    if not pairs:
        raise InputError(
            f"{gathered.name}: {one.short} and {others} graded no document both"
            f"{' beyond those that it was fitted on' if left_out or seen else ''}."
        )
    if not grades:
        ends = [g for by in (pairs, given) for o in by.values() for g in o.values()]
        grades = [*range(min(ends), max(ends) + 1)]
    of_grades = agreement_of_grades(pairs, given, grades, samples=samples, seed=seed)
    of_systems = None
    if runs:
        symmetric = one.kind == PERSON
        of_systems = agreement_of_systems(
            runs,
            pairs,
            given,
            measure,
            symmetric=symmetric,
            samples=samples,
            seed=seed,
            extra=extra,
        )
    now = of_grades.values[MAIN].width
    width = width or (now / 2 if now else None)
    return JudgeAgreement(
        one.short,
        others,
        of_grades,
        of_systems,
        _among_people(gathered.judgments),
        _differences(pairs, given, runs),
        width,
        of_grades.further(MAIN, width) if width else None,
        [*_held_out(one, left_out, {*fitted_on}, seen, pairs), *_ungraded(own, truth, one)],
        samples,
        seed,
    )


def _judges(gathered: Gathered, judge: str | None, against: str | None) -> tuple[Source, str]:
    """The judge, and the sources that it is measured by."""
    known = sorted({j.source for j in gathered.judgments if j.source.version != ADJUDICATED})
    people = [s for s in known if s.kind == PERSON]
    machines = [s for s in known if s.kind == MACHINE]
    if judge is None:
        found = machines
        if not machines and len(people) == 2:
            against, found = against or str(people[0]), people[1:]
    else:
        found = [s for s in known if judge == str(s)]
        found = found or [s for s in known if judge in (s.name, s.short)]
        if not found:
            raise unknown("source", judge, [source.short for source in known])
    if len(found) != 1:
        raise InputError(
            f"name one judge, {option('judge', 'NAME')}: there are "
            f"{listing(source.short for source in found or known)}."
        )
    if against is None and found[0].kind == PERSON and len(people) == 2:
        against = next(str(s) for s in people if s != found[0])
    return found[0], against or PEOPLE


def _held_out(
    judge: Source,
    left_out: Collection[str],
    named: Collection[str],
    seen: Collection[tuple[str, str]],
    pairs: Grades,
) -> list[str]:
    """Which judgments count: those that the judge was not fitted on, as far as that is said."""
    count = (
        f"{counted(sum(map(len, pairs.values())), 'document')} of {counted(len(pairs), 'topic')}"
    )
    if judge.kind == PERSON:
        return []
    if not left_out and not seen:
        return [
            f"held out: nothing says which judgments {judge.short} was fitted on, so all count: "
            f"{count} ({option('fitted_on', 'TOPIC,…')} names those that it has seen)"
        ]
    by = enumeration(
        [*["its version"] * bool(judge.fitted_on), *["the call"] * bool(named or seen)]
    )
    what = [*[counted(len(left_out), "topic")] * bool(left_out)]
    what += [counted(len(seen), "document")] * bool(seen)
    return [f"held out: {count}, without {enumeration(what)} that it was fitted on, as {by} says"]


def _ungraded(own: Sequence[Judgment], truth: Grades, judge: Source) -> list[str]:
    unsure = sum(judgment.grade is None for judgment in own)
    graded = {(j.topic, j.document) for j in own}
    missing = sum((t, d) not in graded for t, grades in truth.items() for d in grades)
    told = []
    if unsure:
        told.append(f"{judge.short} could not tell the grade of {counted(unsure, 'document')}")
    if missing:
        told.append(f"{judge.short} did not judge {counted(missing, 'document')} that others did")
    return told


def _among_people(judgments: Sequence[Judgment]) -> tuple[float, int] | None:
    """Ordinal alpha of people among themselves, and the number of documents behind it."""
    by_document: dict[tuple[str, str], list[int]] = {}
    for judgment in judgments:
        source = judgment.source
        if source.kind == PERSON and source.version != ADJUDICATED and judgment.grade is not None:
            key = judgment.topic, judgment.document
            by_document.setdefault(key, []).append(judgment.grade)
    several = [grades for grades in by_document.values() if len(grades) > 1]
    alpha = krippendorff_alpha(several, "ordinal")
    return None if alpha is None else (alpha, len(several))


def _differences(first: Grades, second: Grades, runs: Mapping[str, Run]) -> list[Difference]:
    """Documents that are graded differently: those that matter most first."""
    found = []
    for topic, grades in first.items():
        worth: dict[str, float] = {}
        for run in runs.values():
            if topic in run.rankings:
                for rank, document in enumerate(run.rankings[topic].doc_ids[:_DEPTH], start=1):
                    worth[document] = worth.get(document, 0.0) + 1 / log2(1 + rank)
        for document, grade in grades.items():
            other = second[topic][document]
            if other != grade:
                weight = abs(other - grade) * (worth.get(document, 0.0) if runs else 1.0)
                found.append(Difference(topic, document, grade, other, weight))
    return sorted(found, key=lambda each: (-each.weight, each.topic, each.document))
