"""Explanations of scores as text, and the neighbours of documents and concepts.

An explanation is any nested mapping. Numbers and words are lines, `name value`; a list of mappings
is a table under its name; a mapping is a part with its name as heading; a list of numbers or words
stands on one line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


_INDENT = _GAP = "  "

_NARROWEST = 8
"""Least width of a column whose words are cut."""

_NAMES = 12
"""Names of a concept that are shown."""


def lines_of(value: Mapping[str, Any], room: int | None = None) -> Iterator[str]:
    """Yield an explanation as lines: short values first, then parts and tables in their order.

    Args:
        value: the explanation.
        room: characters of a line that tables have to fit into.
    """
    short = {name: part for name, part in value.items() if not _is_long(part)}
    width = max((len(_title(name)) for name in short), default=0)
    for name, part in short.items():
        yield f"{_title(name):<{width}}  {_value_text(part)}".rstrip()
    for name, part in value.items():
        if not _is_long(part):
            continue
        yield ""
        yield _title(name)
        inside = room and room - len(_INDENT)
        inner = lines_of(part, inside) if isinstance(part, Mapping) else _table(part, inside)
        for line in inner:
            yield f"{_INDENT}{line}".rstrip()


def explanation_text(value: Mapping[str, Any], rows: int = 10, room: int = 72) -> str:
    """Return an explanation as a text, its tables cut to their first rows.

    Args:
        value: the explanation.
        rows: of each table.
        room: characters of a line.
    """

    def cut(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {name: cut(inner) for name, inner in part.items()}
        if not (_is_list(part) and _is_long(part)) or len(part) <= rows:
            return part
        return part[:rows]

    return "\n".join(lines_of(cut(value), room))


def _is_long(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return _is_list(value) and any(isinstance(entry, Mapping) for entry in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _table(rows: Sequence[Any], room: int | None) -> Iterator[str]:
    """Mappings as rows under their names, with numbers to the right.

    Without enough room, columns move together, and then the longest words are cut.
    """
    mappings = [row if isinstance(row, Mapping) else {"": row} for row in rows]
    names = list(dict.fromkeys(name for row in mappings for name in row))
    columns, numeric = [], []
    for name in names:
        values = [row.get(name) for row in mappings]
        columns.append([_title(name), *map(_value_text, values)])
        numeric.append(all(value is None or _is_number(value) for value in values))
    widths = [max(map(len, cells)) for cells in columns]
    gap = _GAP
    if room and sum(widths) + len(gap) * (len(widths) - 1) > room:
        gap = " "
        excess = sum(widths) + len(gap) * (len(widths) - 1) - room
        words = [column for column, of_numbers in enumerate(numeric) if not of_numbers]
        if words and excess > 0:
            longest = max(words, key=lambda column: widths[column])
            widths[longest] = max(_NARROWEST, widths[longest] - excess)
    for row in zip(*columns, strict=True):
        cut = [c if len(c) <= w else f"{c[: w - 1]}…" for c, w in zip(row, widths, strict=True)]
        yield gap.join(
            cell.rjust(width) if of_numbers else cell.ljust(width)
            for cell, width, of_numbers in zip(cut, widths, numeric, strict=True)
        )


def _title(name: object) -> str:
    return str(name).replace("_", " ")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _value_text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return (
            ", ".join(f"{_title(name)} {_value_text(part)}" for name, part in value.items()) or "-"
        )
    if _is_list(value):
        return ", ".join(map(_value_text, value)) or "-"
    return " ".join(str(value).split())


def _number(value: float) -> str:
    """Four decimals, or as many digits as a small number needs."""
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    return f"{value:,.4f}" if abs(value) < 1000 else f"{value:,.1f}"


def document_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a document's concepts and the relations between them."""
    yield f"document {facts['id']}: {counted(len(facts['concepts']), 'concept')}"
    for concept in facts["concepts"]:
        yield f"  {concept['count']:>3} × {concept['name']}  ({concept['kind']}, {concept['id']})"
    if facts["relations"]:
        yield f"{counted(len(facts['relations']), 'relation')} between them"
        for edge in facts["relations"]:
            yield f"  {edge['from']} → {edge['to']}  ({edge['relation']}, {edge['kb']})"


def concept_lines(facts: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a concept's names, neighbours and documents; then other concepts of that name."""
    documents = counted(facts["documents"], "document")
    yield f"{facts['id']}  {facts['name']}  ({facts['kind']}), in {documents}"
    names: dict[str, str] = {}
    for name in facts["names"]:
        names.setdefault(name.casefold(), name)  # those that differ in case alone are one
    first_names = list(names.values())[:_NAMES]
    yield f"  names  {'; '.join(first_names)}{' …' if len(names) > _NAMES else ''}"
    for edge in facts["edges"]:
        arrow = "→" if edge["forward"] else "←"
        yield f"  {arrow} {edge['relation']} ({edge['kb']}, {edge['count']:,})"
        for node in edge["neighbours"]:
            details = f"{node['kind']}, {node['id']}, {counted(node['documents'], 'document')}"
            yield f"    {node['name']}  ({details})"
    if facts["mentioned_in"]:
        mentions = ", ".join(
            f"{mention['id']} ({mention['count']})" for mention in facts["mentioned_in"]
        )
        yield f"  mentioned most in  {mentions}"
    if others:
        namesakes = ", ".join(f"{namesake['name']} ({namesake['id']})" for namesake in others)
        yield f"  named beside it  {namesakes}"
