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
        for part in _parts(agreed, agreed.judge, agreed.against)
    )


def _parts(agreed: JudgeAgreement, judge: str, against: str) -> Iterator[str | Table]:
    yield f"{judge} against {against}"
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
            [of.topic, of.document, str(of.first), str(of.second), f"{of.weight:.2f}"]
            for of in agreed.differences[:_LISTED]
        ]
        count = counted(len(agreed.differences), "document")
        title = f"They grade {count} differently. First to adjudicate:"
        yield Table.of(["topic", "document", against, judge, "weight"], rows, title, left=2)


def _of_grades(of: GradeAgreement, judge: str, against: str) -> Iterator[str | Table]:
    first, *others = map(str, of.grades)
    rows = zip(of.grades, of.table, strict=True)
    yield Table.of(
        ["", f"{judge}: {first}", *others],
        [[f"{against}: {grade}", *map(str, counts)] for grade, counts in rows],
    )
    yield _values("grades", of.values, "all have one grade")
    text = f"Intervals are over draws of {of.topics} topics."
    if of.topics < FEWEST_TOPICS:
        text = (
            f"Intervals are over draws of documents: {counted(of.topics, 'topic')}, fewer than "
            f"{FEWEST_TOPICS}. They say nothing of other topics."
        )
    if of.further is not None:
        text += f" That of {MAIN} is {of.values[MAIN].width:.3f} wide"
        if of.further:
            text += f"; about {_more(of)} judged by both would make it {of.width:.3f}"
        text += "."
    yield text


def _more(of: GradeAgreement) -> str:
    """How many more documents and topics would narrow the interval of the main statistic."""
    more = counted(rounded(of.further or 0), "more document")
    topics = round(of.topics * (of.further or 0) / of.documents)
    if topics and of.topics >= FEWEST_TOPICS:
        more += f", in {counted(topics, 'more topic')} like these,"
    return more


def _of_systems(of: SystemAgreement, judge: str, against: str) -> Iterator[str | Table]:
    rows = []
    for system in of.systems:
        beyond = system.beyond
        first = 1 + sum(other.first > system.first for other in of.systems)
        second = 1 + sum(other.second > system.second for other in of.systems)
        rows.append(
            [
                system.name,
                f"{figure(of.measure, system.first)} ({first})",
                f"{figure(of.measure, system.second)} ({second})",
                f"{system.second - system.first:+.4f}",
                f"{beyond.value:+.4f} [{beyond.low:+.3f}, {beyond.high:+.3f}]",
            ]
        )
    yield Table.of([of.measure, against, judge, "error", "beyond the mean error"], rows)
    yield _values("systems", of.correlations, "systems tie")
    way = "of both ways" if of.symmetric else f"with those of {against} as the truth"
    alike = "".join(f" {one} has the values of {other}." for one, other in of.alike.items())
    yield f"Over {len(of.systems)} systems; tau-ap {way}.{alike}"
    yield " ".join(_favours(of, judge))
    most = max(of.systems, key=lambda system: system.most_changed)
    changes = (
        f"If {judge} replaces a random tenth of the grades ({DRAWS} draws), two systems "
        f"change places in {of.reordered:.0%} of the draws, and a mean changes by at most "
        f"{most.most_changed:.4f} ({most.name})"
    )
    if of.lowest_tau is not None:
        changes += f"; the lowest tau-b with the table as it was is {of.lowest_tau:.2f}"
    yield f"{changes}."


def _favours(of: SystemAgreement, judge: str) -> Iterator[str]:
    """Which systems a judge favours, beyond chance."""
    favoured = [system.name for system in of.systems if (system.beyond.low or 0) > 0]
    others = [system.name for system in of.systems if (system.beyond.high or 0) < 0]
    if not favoured and not others:
        yield f"{judge} is not shown to favour a system."
    for verb, names in (("favours", favoured), ("grades against", others)):
        if names:
            yield f"{judge} {verb} {enumeration(names)}, beyond its mean error."


def _values(title: str, values: Mapping[str, Value], undefined: str) -> Table:
    """A table of statistics; it says why some have no value."""
    rows = []
    for name, value in values.items():
        if value.value is None:
            rows.append([name, "-", f"no value: {undefined}"])
            continue
        interval = f"[{value.low:.3f}, {value.high:.3f}]"
        if value.undefined:
            interval += f", none in {value.undefined:.1%} of draws"
        rows.append([name, f"{value.value:.3f}", interval])
    return Table.of([title, "value", "95 % interval"], rows)
