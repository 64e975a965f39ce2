"""Expressions for the eye: an indented tree with weights and sources, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.retrieval.querying.expression import (
    Boolean,
    Boost,
    Constant,
    DisMax,
    Expression,
    Near,
    Phrase,
    Synonyms,
    Words,
)
from irplatform.retrieval.records import CONTENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def as_text(explanation: Mapping[str, Any]) -> str:
    """What `as_json` made as a tree: a line per part, indented by its depth."""
    return "\n".join(_lines(explanation, 0))


def as_json(expression: Expression) -> dict[str, Any]:
    """A part as `{"kind", …, "parts"}`, with `weight` where it is boosted, and its `note`."""
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
                {**as_json(part), **({"occurs": how} if how != "should" else {})}
                for how in ("must", "filter", "should")
                for part in getattr(expression, how)
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


def with_weight(part: Mapping[str, Any], words: str) -> str:
    """A part that was put into words, with how it occurs, its weight and the setting of that."""
    weight = f"{part['weight']:g} × " if "weight" in part else ""
    setting = f"   [{part['setting']}]" if "setting" in part else ""
    occurs = f"{part['occurs']}: " if "occurs" in part else ""
    return f"{occurs}{weight}{words}{setting}"


def named(group: Mapping[str, Any]) -> str:
    """What a group of parts is, and of what: "names of (ERBB2)"."""
    return f"{group['kind']} ({group['note']})" if "note" in group else str(group["kind"])


def quoted(leaf: Mapping[str, Any]) -> str:
    """Words as they are, a phrase in quotation marks."""
    return leaf["text"] if leaf["kind"] == "words" else f'"{leaf["text"]}"'


def _lines(part: Mapping[str, Any], depth: int) -> Iterator[str]:
    yield "  " * depth + with_weight(part, _in_words(part))
    for inner in part.get("parts", ()):
        yield from _lines(inner, depth + 1)


def _in_words(part: Mapping[str, Any]) -> str:
    kind = part["kind"]
    once = ", counted once" if part.get("constant") else ""
    if kind in ("words", "phrase"):
        note = f" ({part['note']})" if "note" in part else ""
        return f"{part['field']}: {quoted(part)}{once}{note}"
    if kind == "near":
        left, right = (" | ".join(part[side]) for side in ("left", "right"))
        return f"{part['field']}: within {part['gaps']} words of each other: {left}  AND  {right}"
    tie = f", tie {part['tie']:g}" if "tie" in part else ""
    return f"{named(part)}{tie}{once}"
