"""A judge measured against others: a machine against people, or a person against another.

Only documents that both graded count, and of a machine only those of topics that it was not fitted
on: its version names them, or the caller does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted, listing, unknown
from irplatform.evaluation.agreement.of_grades import krippendorff_alpha
from irplatform.judging.agreement.grades import agreement_of_grades
from irplatform.judging.agreement.systems import agreement_of_systems
from irplatform.judging.judgments import ADJUDICATED, MACHINE, PERSON
from irplatform.judging.sources import PEOPLE, Gathered, choose
from irplatform.spelling import option

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

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
        judge: the judge, with its version.
        name: its name, for tables; with its version where the others have the same name.
        against: whose grades it is measured by.
        of_grades: agreement on grades.
        of_systems: agreement on systems; None without runs.
        among_people: ordinal alpha of the people among themselves, and the documents that two or
            more of them judged; None if there are none.
        differences: documents to adjudicate, the first one first.
        notes: what counts and what was left out.
    """

    judge: str
    name: str
    against: str
    of_grades: GradeAgreement
    of_systems: SystemAgreement | None
    among_people: tuple[float, int] | None
    differences: Sequence[Difference]
    notes: Sequence[str]


def judge_agreement(
    gathered: Gathered,
    runs: Mapping[str, Run],
    measure: str,
    *,
    judge: str | None = None,
    against: str | None = None,
    fitted_on: Collection[str] = (),
    width: float | None = None,
    samples: int = 10_000,
    seed: int = 42,
) -> JudgeAgreement:
    """Measure a judge against others; the options are those of `irplatform.agree_judges`.

    Runs are by name, and there may be none. The measure is by its right name.

    Raises:
        InputError: there is no such judge or several, or no document was graded by both.
    """
    source, reference = _judges(gathered, judge, against)
    judgments = [j for j in gathered.judgments if j.source == source]
    others = [j for j in gathered.judgments if j.source != source]
    if source.kind == PERSON:  # a decision between two people was made with both grades in sight
        others = [judgment for judgment in others if judgment.source.version != ADJUDICATED]
    if not others:
        raise InputError(f"{gathered.name}: nobody but {source.short} has judged.")
    truth = choose(Gathered(others, name=gathered.name), reference).grades
    topics = {judgment.topic for judgment in gathered.judgments}
    if strange := {*fitted_on} - topics:
        raise unknown("topic", min(strange), topics)
    left_out = {*source.fitted_on, *fitted_on}
    first: dict[str, dict[str, int]] = {}
    second: dict[str, dict[str, int]] = {}
    for judgment in judgments:
        topic, document = judgment.topic, judgment.document
        grade = truth.get(topic, {}).get(document)
        if judgment.grade is not None and grade is not None and topic not in left_out:
            first.setdefault(topic, {})[document] = grade
            second.setdefault(topic, {})[document] = judgment.grade
    if not first:
        beyond = " beyond the topics that it was fitted on" if left_out else ""
        raise InputError(
            f"{gathered.name}: {source.short} and {reference} graded no document both{beyond}."
        )
    settled = {(j.topic, j.document) for j in gathered.judgments if j.source.version == ADJUDICATED}
    draws = {"samples": samples, "seed": seed}
    symmetric = source.kind == PERSON
    return JudgeAgreement(
        source.short,
        source.short if reference.startswith(source.name) else source.name,
        reference,
        agreement_of_grades(first, second, width=width, **draws),
        agreement_of_systems(runs, first, second, measure, symmetric=symmetric, **draws)
        if runs
        else None,
        _among_people(gathered.judgments),
        _differences(first, second, runs, settled),
        [*_notes(source, judgments, truth, first, left_out)],
    )


def _judges(gathered: Gathered, judge: str | None, against: str | None) -> tuple[Source, str]:
    """The judge, and the sources that it is measured by."""
    sources = sorted({j.source for j in gathered.judgments if j.source.version != ADJUDICATED})
    if not sources:
        raise InputError(f"{gathered.name}: nobody has judged yet.")
    people = [source for source in sources if source.kind == PERSON]
    candidates = [source for source in sources if judge == str(source)]
    candidates = candidates or [s for s in sources if judge in (s.name, s.short)]
    if judge is None:
        machines = [source for source in sources if source.kind == MACHINE]
        candidates = machines or (people[1:] if len(people) == 2 else sources)
    elif not candidates:
        raise unknown("source", judge, [source.short for source in sources])
    if len(candidates) != 1:
        names = listing(source.short for source in candidates)
        raise InputError(f"name one judge, {option('judge', 'NAME')}: there are {names}.")
    (source,) = candidates
    others = [str(person) for person in people if person != source]
    if against is None and source.kind == PERSON and len(others) == 1:
        against = others[0]
    return source, against or PEOPLE


def _notes(
    judge: Source,
    judgments: Sequence[Judgment],
    truth: Grades,
    counting: Grades,
    left_out: Collection[str],
) -> Iterator[str]:
    """Which judgments count: those that the judge was not fitted on, as far as that is said."""
    documents, topics = sum(map(len, counting.values())), counted(len(counting), "topic")
    count = f"{counted(documents, 'document')} of {topics}"
    if left_out:
        number = counted(len(left_out), "topic")
        yield f"held out: {count}, without {number} that {judge.name} was fitted on"
    elif judge.kind == MACHINE:
        yield (
            f"held out: nothing says which judgments {judge.name} was fitted on, so all count: "
            f"{count} ({option('fitted_on', 'TOPIC,…')} names those that it has seen)"
        )
    graded = {(j.topic, j.document) for j in judgments if j.grade is not None}
    if missing := sum((t, d) not in graded for t, grades in truth.items() for d in grades):
        yield f"{judge.name} gave no grade to {counted(missing, 'document')} that others graded"


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


def _differences(
    first: Grades, second: Grades, runs: Mapping[str, Run], settled: Collection[tuple[str, str]]
) -> list[Difference]:
    """Documents that are graded differently and not settled: those that matter most first."""
    differences = []
    for topic, grades in first.items():
        worth: dict[str, float] = {}
        for run in runs.values():
            if topic in run.rankings:
                for rank, document in enumerate(run.rankings[topic].doc_ids[:_DEPTH], start=1):
                    worth[document] = worth.get(document, 0.0) + 1 / log2(1 + rank)
        for document, grade in grades.items():
            other = second[topic][document]
            if other != grade and (topic, document) not in settled:
                weight = abs(other - grade) * (worth.get(document, 0.0) if runs else 1.0)
                differences.append(Difference(topic, document, grade, other, weight))
    return sorted(differences, key=lambda d: (-d.weight, d.topic, d.document))
