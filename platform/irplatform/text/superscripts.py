"""Superscripts of XML as plain text, where nothing is raised."""

from __future__ import annotations

import re

_ORDINALS = {"st", "nd", "rd", "th"}
_POWER = re.compile(r"[-\u2212\u2013+]?\d")
_WORD = re.compile(r"[A-Za-z]\w|\d\w*[A-Za-z]")


def apart(before: str, raised: str) -> str:
    """What parts superscript text from what it stands at.

    BRAF<sup>V600E</sup> has two words, 10<sup>5</sup> is a power; CD4<sup>+</sup>, V600<sup>E</sup>
    and 9<sup>th</sup> are one word each.

    Args:
        before: the text that it stands at; its last character decides.
        raised: the superscript text.
    """
    if not before[-1:].isalnum() or raised in _ORDINALS:
        return ""
    if before[-1].isdigit() and _POWER.match(raised):
        return "^"
    return " " if _WORD.match(raised) else ""
