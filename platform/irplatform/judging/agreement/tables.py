"""The tables of `platform agree` for a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.comparison.sentences import rounded
from irplatform.errors import counted, enumeration
from irplatform.judging.agreement.grades import FEWEST_TOPICS, MAIN
from irplatform.judging.agreement.systems import DRAWS
from irplatform.reports.columns import Table, as_text
from irplatform.reports.table import figure
from irplatform.system.console import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.judging.agreement.grades import GradeAgreement, Value
    from irplatform.judging.agreement.judge import JudgeAgreement
    from irplatform.judging.agreement.systems import SystemAgreement

_LISTED = 10
"""Documents to adjudicate that are listed."""


def render(agreed: JudgeAgreement, width: int | None = None) -> str:
    """Render the agreement of a judge as text for a terminal of some columns."""
    return "\n\n".join(
        as_text(part, width) if isinstance(part, Table) else wrapped(part, width)
        for part in _parts(agreed, agreed.name, agreed.against)
    )


def _parts(agreed: JudgeAgreement, judge: str, against: str) -> Iterator[str | Table]:
    yield f"{agreed.judge} against {against}"
    yield from _of_grades(agreed.of_grades, judge, against)
    if agreed.among_people is not None:
        alpha, documents = agreed.among_people
        yield (
            f"People among themselves: alpha, ordinal, {alpha:.3f}, on "
            f"{counted(documents, 'document')} that two or more of them judged."
        )
    if agreed.of_systems is not None:
        yield from _of_systems(agreed.of_systems, judge, against)
    if agreed.differences:
        rows = [
            [row.topic, row.document, str(row.first), str(row.second), f"{row.weight:.2f}"]
            for row in agreed.differences[:_LISTED]
        ]
        count = counted(len(agreed.differences), "document")
        title = f"They grade {count} differently, and nobody settled it. First to adjudicate:"
        yield Table.of(["topic", "document", against, judge, "weight"], rows, title, left=2)


def _of_grades(agreement: GradeAgreement, judge: str, against: str) -> Iterator[str | Table]:
    first, *others = map(str, agreement.grades)
    rows = zip(agreement.grades, agreement.table, strict=True)
    yield Table.of(
        ["", f"{judge}: {first}", *others],
        [[f"{against}: {grade}", *map(str, counts)] for grade, counts in rows],
    )
    yield _values("grades", agreement.values, "all have one grade")
    sentences = [f"Intervals are over draws of {agreement.topics} topics"]
    if agreement.topics < FEWEST_TOPICS:
        few = f"{counted(agreement.topics, 'topic')}, fewer than {FEWEST_TOPICS}"
        sentences = [f"Intervals are over draws of documents: {few}"]
        sentences.append("They say nothing of other topics")
    if (further := agreement.further) is not None:
        sentence = f"That of {MAIN} is {agreement.values[MAIN].width:.3f} wide"
        if further:
            sentence += f"; about {counted(rounded(further), 'more document')}"
            topics = round(agreement.topics * further / agreement.documents)
            if topics and agreement.topics >= FEWEST_TOPICS:
                sentence += f", in {counted(topics, 'more topic')} like these,"
            sentence += f" judged by both would make it {agreement.width:.3f}"
        sentences.append(sentence)
    yield ". ".join(sentences) + "."


def _of_systems(agreement: SystemAgreement, judge: str, against: str) -> Iterator[str | Table]:
    rows = []
    for system in agreement.systems:
        beyond = system.beyond
        first = 1 + sum(other.first > system.first for other in agreement.systems)
        second = 1 + sum(other.second > system.second for other in agreement.systems)
        rows.append(
            [
                system.name,
                f"{figure(agreement.measure, system.first)} ({first})",
                f"{figure(agreement.measure, system.second)} ({second})",
                f"{system.second - system.first:+.4f}",
                f"{beyond.value:+.4f} [{beyond.low:+.3f}, {beyond.high:+.3f}]",
            ]
        )
    yield Table.of([agreement.measure, against, judge, "error", "beyond the mean error"], rows)
    yield _values("systems", agreement.correlations, "systems tie")
    way = "of both ways" if agreement.symmetric else f"with those of {against} as the truth"
    alike = "".join(f" {one} has the values of {other}." for one, other in agreement.alike.items())
    yield f"Over {len(agreement.systems)} systems; tau-ap {way}.{alike}"
    yield " ".join(_favours(agreement, judge))
    most = max(agreement.systems, key=lambda system: system.most_changed)
    changes = (
        f"If {judge} replaces a random tenth of the grades ({DRAWS} draws), two systems "
        f"change places in {agreement.reordered:.0%} of the draws, and a mean changes by at most "
        f"{most.most_changed:.4f} ({most.name})"
    )
    if agreement.lowest_tau is not None:
        changes += f"; the lowest tau-b with the table as it was is {agreement.lowest_tau:.2f}"
    yield f"{changes}."


def _favours(agreement: SystemAgreement, judge: str) -> Iterator[str]:
    """Which systems a judge favours, beyond chance."""
    favoured = [system.name for system in agreement.systems if (system.beyond.low or 0) > 0]
    others = [system.name for system in agreement.systems if (system.beyond.high or 0) < 0]
    if not favoured and not others:
        yield f"{judge} is not shown to favour a system."
    for verb, names in (("favours", favoured), ("grades against", others)):
        if names:
            yield f"{judge} {verb} {enumeration(names)}, beyond its mean error."
    if favoured or others:
        yield "Chance in its grades alone brings systems together: bad ones gain, good ones lose."


def _values(title: str, values: Mapping[str, Value], undefined: str) -> Table:
    """A table of statistics; it says why some have no value."""
    rows = []
    for name, value in values.items():
        if value.value is None:
            rows.append([name, "-", f"no value: {undefined}"])
            continue
        interval = f"[{value.low:.3f}, {value.high:.3f}]"
        if value.undefined:
            share = f"{value.undefined:.1%}" if value.undefined >= 0.001 else "under 0.1%"
            interval += f", none in {share} of draws"
        rows.append([name, f"{value.value:.3f}", interval])
    return Table.of([title, "value", "95 % interval"], rows)
