"""An expanded query at a glance: a line for each of its parts, with the first few of its names.

Expanded queries have hundreds of names; `explain.as_text` shows them all, with their sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.retrieval.querying.explain import named, quoted, with_weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 3
"""Names of a part that are shown; the others are counted."""


def as_outline(explanation: Mapping[str, Any]) -> str:
    """What `as_json` made, a line for each part of the sum: its weight, where it looks, for what.

    `1.5 × contents: names of (ERBB2): "ERBB2", "HER2", "NEU", … 4 more   [gene.weight]`
    """
    parts = explanation["parts"] if explanation["kind"] == "sum" else [explanation]
    return "\n".join(f"  {with_weight(part, _in_words(part))}" for part in parts)


def _in_words(part: Mapping[str, Any]) -> str:
    if part["kind"] == "near":
        sides = (_first(part[side], " | ") for side in ("left", "right"))
        within = f"{part['field']}: within {part['gaps']} words of each other"
        return f"{within}: {'  AND  '.join(sides)}"
    inner = part.get("parts")
    if inner is None:
        return f"{part['field']}: {quoted(part)}"
    fields = {each.get("field") if "text" in each else None for each in inner}
    if len(fields) > 1 or None in fields:  # groups of groups, or of words near each other
        return f"{named(part)}: {_first([_called(each) for each in inner], '; ')}"
    return f"{fields.pop()}: {named(part)}: {_first([quoted(each) for each in inner], ', ')}"


def _called(part: Mapping[str, Any]) -> str:
    occurs = f"{part['occurs']} " if "occurs" in part else ""
    if "parts" in part and "note" not in part:
        return occurs + _first([_called(each) for each in part["parts"]], " | ")
    if "parts" in part:
        return occurs + named(part)
    return occurs + (_in_words(part) if part["kind"] == "near" else quoted(part))


def _first(names: Sequence[str], between: str) -> str:
    """The first few of them, and how many more there are; of one more it is shown instead."""
    shown = _SHOWN if len(names) > _SHOWN + 1 else len(names)
    more = [f"… {len(names) - shown} more"] if len(names) > shown else []
    return between.join([*names[:shown], *more])
