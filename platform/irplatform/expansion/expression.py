"""Structured queries as plain values: a tree of the dataclasses below, and a description in words.

`lucene_query` compiles an expression. Its text is analyzed as the documents were, without syntax.
`note` names the source of a part, such as "HGNC alias". `as_text` prints the tree with all names
and their sources, `as_outline` a line for each of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.lucene.transfer import CONTENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


_SHOWN = 3
"""Names of a part that are shown; the others are counted."""


@dataclass(frozen=True)
class Words:
    """Any of some words, each counted as often as it occurs."""

    text: str
    field: str = CONTENTS


@dataclass(frozen=True)
class Phrase:
    """Words beside one another, in this order; a single one is an ordinary word."""

    text: str
    field: str = CONTENTS
    note: str = ""


@dataclass(frozen=True)
class DisMax:
    """The best of several parts, plus a share `tie` (0 to 1) of the others: synonyms count once."""

    parts: tuple[Expression, ...]
    tie: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Synonyms:
    """Several names of one thing, scored as if they were one word.

    In a plain disjunction, documents with unusual names would rank first. Here every name gets the
    inverse document frequency of the group. Its weight is how sure it is that it means the same.
    """

    names: tuple[tuple[Phrase, float], ...]
    note: str = ""


@dataclass(frozen=True)
class Boolean:
    """The sum of parts: `must` match, `should` add to the score, `filter` must match, unscored.

    A document must match at least `minimum` of `should`.
    """

    must: tuple[Expression, ...] = ()
    should: tuple[Expression, ...] = ()
    filter: tuple[Expression, ...] = ()
    minimum: int = 0
    note: str = ""


@dataclass(frozen=True)
class Boost:
    """A part with its score multiplied."""

    part: Expression
    weight: float
    note: str = ""


@dataclass(frozen=True)
class Near:
    """Something of one group close to something of another, in either order.

    It is searched in titles and abstracts, and scores between 0 and 1, higher if closer.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    gaps: int


@dataclass(frozen=True)
class Constant:
    """1 for every document that matches a part, however well."""

    part: Expression


Expression: TypeAlias = Words | Phrase | DisMax | Synonyms | Boolean | Boost | Near | Constant


def as_json(expression: Expression) -> dict[str, Any]:
    """A part as `{"kind", …, "parts"}`, with `weight` if it is boosted, and its `note`."""
    tree: dict[str, Any]
    match expression:
        case Boost(part, weight, note):
            tree = {"weight": weight, **({"setting": note} if note else {}), **as_json(part)}
        case Constant(part):
            tree = {**as_json(part), "constant": True}
        case Words(text, field):
            tree = {"kind": "words", "field": field, "text": text}
        case Phrase(text, field, note):
            tree = {"kind": "phrase", "field": field, "text": text}
            tree |= {"note": note} if note else {}
        case Near(left, right, gaps):
            tree = {"kind": "near", "field": CONTENTS, "gaps": gaps}
            tree |= {"left": list(left), "right": list(right)}
        case DisMax(alternatives, tie, note):
            tree = _group("best of", note, map(as_json, alternatives), tie=tie)
        case Synonyms(names, note):
            weighted_names = ({"weight": weight, **as_json(name)} for name, weight in names)
            tree = _group("names of", note, weighted_names)
        case Boolean():
            parts = (
                {**as_json(part), **({"occurs": role} if role != "should" else {})}
                for role in ("must", "filter", "should")
                for part in getattr(expression, role)
            )
            tree = _group("sum", expression.note, parts)
    return tree


def _group(
    kind: str, note: str, parts: Iterable[dict[str, Any]], tie: float = 0.0
) -> dict[str, Any]:
    group: dict[str, Any] = {"kind": kind}
    if note:
        group["note"] = note
    if tie:
        group["tie"] = tie
    return {**group, "parts": list(parts)}


def as_text(explanation: Mapping[str, Any]) -> str:
    """The tree that `as_json` made, a line per part, indented by its depth."""
    return "\n".join(_lines(explanation, 0))


def _lines(part: Mapping[str, Any], depth: int) -> Iterator[str]:
    yield "  " * depth + _with_weight(part, _in_words(part))
    for inner in part.get("parts", ()):
        yield from _lines(inner, depth + 1)


def _in_words(part: Mapping[str, Any]) -> str:
    kind = part["kind"]
    once = ", counted once" if part.get("constant") else ""
    if kind in ("words", "phrase"):
        note = f" ({part['note']})" if "note" in part else ""
        return f"{part['field']}: {_quoted(part)}{once}{note}"
    if kind == "near":
        left, right = (" | ".join(part[side]) for side in ("left", "right"))
        return f"{part['field']}: within {part['gaps']} words of each other: {left}  AND  {right}"
    tie = f", tie {part['tie']:g}" if "tie" in part else ""
    return f"{_label(part)}{tie}{once}"


def as_outline(explanation: Mapping[str, Any]) -> str:
    """A line for each part of the sum that `as_json` made: its weight, its field, its names.

    `1.5 × contents: names of (ERBB2): "ERBB2", "HER2", "NEU", … 4 more   [gene.weight]`
    """
    parts = explanation["parts"] if explanation["kind"] == "sum" else [explanation]
    lines = [_with_weight(part, _outline_in_words(part)) for part in parts]
    if explanation["kind"] == "sum" and "note" in explanation:
        lines.append(f"({explanation['note']})")
    return "\n".join(f"  {line}" for line in lines)


def _outline_in_words(part: Mapping[str, Any]) -> str:
    if part["kind"] == "near":
        sides = (_first(part[side], " | ") for side in ("left", "right"))
        within = f"{part['field']}: within {part['gaps']} words of each other"
        return f"{within}: {'  AND  '.join(sides)}"
    inner = part.get("parts")
    if inner is None:
        return f"{part['field']}: {_quoted(part)}"
    fields = {child.get("field") if "text" in child else None for child in inner}
    if len(fields) > 1 or None in fields:  # groups of groups, or of words near each other
        return f"{_label(part)}: {_first([_called(child) for child in inner], '; ')}"
    return f"{fields.pop()}: {_label(part)}: {_first([_quoted(child) for child in inner], ', ')}"


def _called(part: Mapping[str, Any]) -> str:
    occurs = f"{part['occurs']} " if "occurs" in part else ""
    if "parts" in part and "note" not in part:
        return occurs + _first([_called(child) for child in part["parts"]], " | ")
    if "parts" in part:
        return occurs + _label(part)
    return occurs + (_outline_in_words(part) if part["kind"] == "near" else _quoted(part))


def _first(names: Sequence[str], between: str) -> str:
    """The first few of some names, and how many more there are."""
    count = _SHOWN if len(names) > _SHOWN + 1 else len(names)
    more = [f"… {len(names) - count} more"] if len(names) > count else []
    return between.join([*names[:count], *more])


def _with_weight(part: Mapping[str, Any], words: str) -> str:
    weight = f"{part['weight']:g} × " if "weight" in part else ""
    setting = f"   [{part['setting']}]" if "setting" in part else ""
    occurs = f"{part['occurs']}: " if "occurs" in part else ""
    return f"{occurs}{weight}{words}{setting}"


def _label(group: Mapping[str, Any]) -> str:
    """The kind of a group of parts, and its note: "names of (ERBB2)"."""
    return f"{group['kind']} ({group['note']})" if "note" in group else str(group["kind"])


def _quoted(leaf: Mapping[str, Any]) -> str:
    return leaf["text"] if leaf["kind"] == "words" else f'"{leaf["text"]}"'
