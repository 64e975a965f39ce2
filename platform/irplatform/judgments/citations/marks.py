"""Reference marks in running text: "[3–7]", "(Smith 2009; Jones 2010)", "shown before.³,⁴".

A paragraph becomes text in which every group of marks, with the brackets around it, is one
character that XML cannot contain, so that it survives splitting into sentences and cannot be taken
for text. A range stands for all references in between, by the order of the reference list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.judgments.citations.xml import MATHML, character, is_element, plain_text
from irplatform.text.superscripts import apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.judgments.citations.references import ReferenceList

MARK = "\x02"
"""Stands for a group of marks."""
_SINGLE = "\x01"
"""Stands for one mark, while groups are sought."""

_LEFT_OUT = frozenset(
    """
    disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group fn graphic media
    supplementary-material inline-graphic inline-supplementary-material tex-math annotation
    annotation-xml object-id
    """.split()  # noqa: SIM905 - a list would take a page
)
"""Elements within a paragraph that are no part of its sentences."""
_BLOCKS = frozenset(
    """
    list def-list disp-quote boxed-text speech verse-group statement array
    """.split()  # noqa: SIM905 - a list would take a page
)
"""Elements within a paragraph that have paragraphs of their own."""

_DASH = r"\-‐‑‒–—−"
"""Hyphens and dashes, for character classes."""
_GROUP = re.compile(rf"{_SINGLE}(?:[\s,;&\[\]{_DASH}]*(?:and\s+)?{_SINGLE})*")
_BRACKETS = re.compile(rf"[\[(]([^\[\]()]*{MARK}[^\[\]()]*)[\])]")
_ASIDE = frozenset(
    """
    a also an and as but by cf chap chapter defined demonstrated described detail details discussed
    discussion e.g eg eq eqs equation equations especially et al etc example examples fig figs
    figure figures for from further herein here i.e ie in information instance introduced more no of
    or other others overview p page pages particularly pl plate plates pls pp previously proposed
    recent recently ref reference references refs reported review reviewed reviews sec section
    sections see shown suggested suppl table tables text-fig the therein vol
    """.split()  # noqa: SIM905 - a list would take a page
)
"""What a bracket may say beside its marks and still be nothing but a reference."""
_LOCATOR = re.compile(rf"[A-Za-z]?\d+[A-Za-z]?(?:[{_DASH}]\d+)?")
_REFERENCE_WORD = re.compile(rf"\b[Rr]ef(?:erence)?s?\.?\s*(?={MARK})")
_NUMBERS = re.compile(rf"[\[(]?\s*\d+(?:\s*[,;{_DASH}]\s*\d+)*\s*[\])]?")
_RANGE = re.compile(rf"(\d+)\s*[{_DASH}]\s*(\d+)")
_ONLY_DASH = re.compile(rf"[\s\]]*[{_DASH}][\s\[]*")
_LONGEST_RANGE = 100
"""References; a longer one is a slip of the typesetter's."""
_DATE_OF_NAMES = re.compile(r"[\s,]*[\[(]?(?:(?:19|20)\d\d[a-z]?|\d+)[\])]?\s*$")


@dataclass(frozen=True)
class MarkedText:
    """A paragraph's text.

    Attributes:
        text: with the character `MARK` for every group of marks; single spaces.
        groups: per group, the positions of its references, in order of the list.
        unknown: how many marks point to no reference.
    """

    text: str
    groups: tuple[tuple[int, ...], ...]
    unknown: int


def marked_text(paragraph: Any, references: ReferenceList) -> MarkedText:
    """The text of a paragraph (an element), with its groups of marks resolved."""
    marks: list[Any] = []
    flat = " ".join("".join(_flatten(paragraph, marks)).split())
    unknown = sum(not _positions(mark, references) for mark in marks)
    groups: list[tuple[int, ...]] = []
    pieces = []
    end = used = 0
    for match in _GROUP.finditer(flat):
        members = marks[used : used + match[0].count(_SINGLE)]
        used += len(members)
        pieces.append(flat[end : match.start()])
        end = match.end()
        if not _in_brackets(flat, match.start()):  # authors' names are part of the sentence
            pieces.extend(f"{name} " for mark in members if (name := _names(mark)))
        pieces.append(MARK)
        groups.append(tuple(sorted(_references(match[0], members, references))))
    text = "".join([*pieces, flat[end:]])
    while (bare := _BRACKETS.sub(_without_brackets, text)) != text:
        text = bare
    text = _REFERENCE_WORD.sub("", text)
    return MarkedText(" ".join(text.split()), tuple(groups), unknown)


def _in_brackets(text: str, position: int) -> bool:
    return any(
        text.rfind(left, 0, position) > text.rfind(right, 0, position)
        for left, right in ("()", "[]")
    )


def _without_brackets(match: re.Match[str]) -> str:
    """The marks alone, where brackets hold nothing but a reference."""
    words = match[1].replace(MARK, " ").replace(",", " ").replace(";", " ").split()
    bare = (word.strip(".:&/-‐‑‒–—−'’").lower() for word in words)
    if all(not word or word in _ASIDE or _LOCATOR.fullmatch(word) for word in bare):
        return MARK * match[1].count(MARK)
    return match[0]


def _references(text: str, marks: list[Any], references: ReferenceList) -> set[int]:
    """The references of a group: those of its marks, and those between the ends of a range."""
    between = text.split(_SINGLE)[1:-1]
    cited: set[int] = set()
    previous: list[int] = []
    for number, mark in enumerate(marks):
        positions = _positions(mark, references)
        if number and previous and positions and _ONLY_DASH.fullmatch(between[number - 1]):
            first, last = previous[-1], positions[0]
            if first < last <= first + _LONGEST_RANGE:
                cited.update(range(first, last))
        cited.update(positions)
        previous = positions
    return cited


def _positions(mark: Any, references: ReferenceList) -> list[int]:
    """The references of one mark; some print "1–3" and point to the first only."""
    positions = references.positions(mark.get("rid") or "")
    label = plain_text(mark)
    if len(positions) == 1 and _NUMBERS.fullmatch(label):
        printed = references.references[positions[0]].number
        ranges: list[tuple[int, int]] = [
            (int(first), int(last)) for first, last in _RANGE.findall(label)
        ]
        ranges += [(int(n), int(n)) for n in re.findall(r"\d+", _RANGE.sub(" ", label))]
        if printed is not None and any(first <= printed <= last for first, last in ranges):
            spans = [s for s in ranges if 0 <= s[1] - s[0] <= _LONGEST_RANGE]
            begin = positions[0] - printed
            return sorted({p for span in spans for p in references.numbered(*span, begin)})
    return positions


def _names(mark: Any) -> str:
    """What a mark says beside a number or year: "Smith et al. (2009)" → "Smith et al."."""
    label = plain_text(mark).strip("[]() ")
    if not any(character.isalpha() for character in label):
        return ""
    names = _DATE_OF_NAMES.sub("", label).strip(" ,;:[(")
    return names if sum(character.isalpha() for character in names) > 2 else ""


def _flatten(element: Any, marks: list[Any]) -> Iterator[str]:
    before = element.text or ""
    yield before
    for child in element:
        if not is_element(child):
            text = character(child)
        elif child.tag == "xref" and child.get("ref-type") in ("bibr", "ref"):
            marks.append(child)
            text = _SINGLE
        elif child.tag == "xref" and child.get("ref-type") in ("fn", "table-fn", "aff", "corresp"):
            text = ""
        elif child.tag.startswith(MATHML):
            text = "".join("".join(child.itertext()).split())
        elif child.tag in _LEFT_OUT or child.tag in _BLOCKS or child.tag == "break":
            text = " "
        else:
            text = "".join(_flatten(child, marks))
            if child.tag == "sup":
                yield apart(before, text)
        yield text
        yield child.tail or ""
        before = child.tail or text or before
