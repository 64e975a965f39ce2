"""The tables of `platform agree` for a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.comparison.sentences import rounded
from irplatform.errors import counted, enumeration
from irplatform.judging.agreement.grades import FEWEST_TOPICS, MAIN
from irplatform.judging.agreement.systems import DRAWS
from irplatform.reports.columns import Table, as_text
from irplatform.reports.table import figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from irplatform.judging.agreement.grades import Value
    from irplatform.judging.agreement.judge import Difference, JudgeAgreement
    from irplatform.judging.agreement.systems import SystemAgreement

_TRUTH = {True: "of both ways", False: "with those of {} as the truth"}


def render(agreed: JudgeAgreement, first: int = 10, width: int | None = None) -> list[str]:
    """Render the agreement of a judge as paragraphs of text.

    Args:
        agreed: the agreement.
        first: how many documents to adjudicate to list.
        width: columns of the terminal.
    """
    parts = [f"{agreed.judge} against {agreed.against}", *_of_grades(agreed, width)]
    if agreed.of_systems is not None:
        parts += _of_systems(agreed, agreed.of_systems, width)
    return [*parts, *_to_adjudicate(agreed, agreed.differences[:first], width)]


def _of_grades(agreed: JudgeAgreement, width: int | None) -> Iterator[str]:
    of = agreed.of_grades
    rows = [["", *(f"{agreed.judge}: {g}" if not n else str(g) for n, g in enumerate(of.grades))]]
    rows += [
        [f"{agreed.against}: {grade}", *map(str, line)]
        for grade, line in zip(of.grades, of.table, strict=True)
    ]
    yield _table(rows, width)
    values = [["grades", "value", "95 % interval"]]
    values += [[name, *_cells(value, "all have one grade")] for name, value in of.values.items()]
    yield _table(values, width)
    told = f"Intervals are over draws of {of.topics} topics."
    if of.drawn != "topics":
        told = (
            f"Intervals are over draws of documents: {counted(of.topics, 'topic')}, fewer than "
            f"{FEWEST_TOPICS}. They say nothing of other topics."
        )
    yield told + _narrower(agreed)
    if agreed.among_people is not None:
        alpha, documents = agreed.among_people
        yield (
            f"People among themselves: alpha, ordinal, {alpha:.3f}, on "
            f"{counted(documents, 'document')} that two or more of them judged."
        )


def _narrower(agreed: JudgeAgreement) -> str:
    """How many more judgments would narrow the interval of the main statistic."""
    of, width = agreed.of_grades, agreed.of_grades.values[MAIN].width
    if width is None or agreed.width is None or agreed.further is None:
        return ""
    if not agreed.further:
        return f" That of {MAIN} is {width:.3f} wide."
    topics = round(of.topics * agreed.further / of.documents)
    more = counted(rounded(agreed.further), "more document")
    if topics and of.drawn == "topics":
        more += f", in {counted(topics, 'more topic')} like these,"
    return (
        f" That of {MAIN} is {width:.3f} wide; about {more} judged by both would make it "
        f"{agreed.width:.3f}."
    )


def _of_systems(agreed: JudgeAgreement, of: SystemAgreement, width: int | None) -> Iterator[str]:
    rows = [[of.measure, agreed.against, agreed.judge, "error", "beyond the mean error"]]
    firsts = [system.first for system in of.systems]
    seconds = [system.second for system in of.systems]
    for system in of.systems:
        beyond = system.beyond
        interval = "" if beyond.low is None else f" [{beyond.low:+.3f}, {beyond.high:+.3f}]"
        rows.append(
            [
                system.name,
                f"{figure(of.measure, system.first)} ({_rank(system.first, firsts)})",
                f"{figure(of.measure, system.second)} ({_rank(system.second, seconds)})",
                f"{system.error:+.4f}",
                f"{beyond.value or 0.0:+.4f}{interval}",
            ]
        )
    yield _table(rows, width)
    values = [["systems", "value", "95 % interval"]]
    values += [[name, *_cells(value, "systems tie")] for name, value in of.correlations.items()]
    yield _table(values, width)
    alike = "".join(f" {one} has the values of {other}." for one, other in of.alike.items())
    way = _TRUTH[of.symmetric].format(agreed.against)
    yield f"Over {len(of.systems)} systems; tau-ap {way}.{alike}"
    yield " ".join(f"{sentence}." for sentence in _favours(agreed, of))
    yield _replaced(agreed, of)


def _rank(value: float, values: Sequence[float]) -> int:
    return 1 + sum(other > value for other in values)


def _favours(agreed: JudgeAgreement, of: SystemAgreement) -> Iterator[str]:
    """Which systems a judge favours, beyond chance."""
    named = {sign: [s.name for s in of.systems if s.is_favoured == sign] for sign in (1, -1)}
    if not named[1] and not named[-1]:
        yield f"{agreed.judge} is not shown to favour a system"
    if named[1]:
        yield f"{agreed.judge} favours {enumeration(named[1])}, beyond its mean error"
    if named[-1]:
        yield f"{agreed.judge} grades against {enumeration(named[-1])}, beyond its mean error"


def _replaced(agreed: JudgeAgreement, of: SystemAgreement) -> str:
    """What becomes of the table if the judge replaces a random tenth of the grades."""
    most = max(of.systems, key=lambda system: system.most_changed)
    text = (
        f"If {agreed.judge} replaces a random tenth of the grades ({DRAWS} draws), two systems "
        f"change places in {of.reordered:.0%} of the draws, and a mean changes by at most "
        f"{most.most_changed:.4f} ({most.name})"
    )
    lowest = f"; the lowest tau-b with the table as it was is {min(of.replaced):.2f}"
    return f"{text}{lowest if of.replaced else ''}."


def _to_adjudicate(
    agreed: JudgeAgreement, shown: Sequence[Difference], width: int | None
) -> Iterator[str]:
    if not shown:
        return
    head = ["topic", "document", agreed.against, agreed.judge, "weight"]
    rows = [
        [each.topic, each.document, str(each.first), str(each.second), f"{each.weight:.2f}"]
        for each in shown
    ]
    table = _table([head, *rows], width, left=2)
    count = counted(len(agreed.differences), "document")
    yield f"They grade {count} differently. First to adjudicate:\n\n{table}"


def _table(rows: Sequence[Sequence[str]], width: int | None, left: int = 1) -> str:
    return as_text(Table.of(rows[0], rows[1:], left=left), width)


def _cells(value: Value, why: str) -> list[str]:
    if value.value is None:
        return ["-", f"no value: {why}"]
    interval = "" if value.low is None else f"[{value.low:.3f}, {value.high:.3f}]"
    undefined = f", none in {value.undefined:.1%} of draws" if value.undefined else ""
    return [f"{value.value:.3f}", f"{interval}{undefined}"]
