"""Splits text into sentences, for training word vectors sentence by sentence.

A rule for scientific prose: a sentence ends at a full stop, question or exclamation mark that is
followed by space and by what can begin a sentence, unless the full stop belongs to an abbreviation
("e.g.", "et al.", "Fig. 1"), to an initial ("J. Smith", "E. coli") or to a number.
"""

from __future__ import annotations

import re

_ABBREVIATION = re.compile(
    "al|approx|ca|cf|corp|dept|dr|e[.]g|eds?|eq|eqs|eqn|et|etc|ex|figs?|i[.]e|inc|incl|jr|ltd|max|"
    "min|mrs?|ms|nos?|p[.]o|pp|prof|refs?|resp|sect|spp?|ssp|st|subsp|suppl|tab|var|viz|vols?|vs|"
    "wt",
    re.IGNORECASE,
)
_MAY_END = frozenset({"al", "etc"})
"""Abbreviations that often end a sentence as well: a capitalized word after them begins one."""

_PARAGRAPH = re.compile(r"\n\s*\n")
_BOUNDARY = re.compile(r"""([.!?])["'”’)\]]*\s+(?=(["'“‘(\[]*)(\w))""")
_LAST_WORD = re.compile(r"(?:.*[\s(\[,;/])?([^\s(\[,;/]+)\Z", re.DOTALL)
"""Leaps to the end; a search for the word alone would begin at every letter before it."""


def sentences(text: str) -> list[str]:
    """Split text into sentences.

    Returns:
        The sentences in order, without the space around them; none is empty. Joined by spaces they
        are the text again, but for the space between them.
    """
    return [
        sentence for paragraph in _PARAGRAPH.split(text) for sentence in _of_paragraph(paragraph)
    ]


def _of_paragraph(text: str) -> list[str]:
    parts = []
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if _ends_sentence(text[start : boundary.start()], boundary[1], boundary[3]):
            parts.append(text[start : boundary.end()].strip())
            start = boundary.end()
    parts.append(text[start:].strip())
    return [sentence for sentence in parts if sentence]


def _ends_sentence(before: str, mark: str, first_character: str) -> bool:
    if first_character.islower():
        return False
    if mark != ".":
        return True
    word = _LAST_WORD.match(before)
    if word is None:
        return True
    last = word[1]
    if len(last) == 1 and last.isupper():  # an initial, or a genus
        return False
    if last.lower() in _MAY_END:
        return first_character.isupper()
    return _ABBREVIATION.fullmatch(last) is None
