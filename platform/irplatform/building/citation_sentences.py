"""Citing sentences of a paragraph, without their reference marks.

Marks are as in "[3–7]", "(Smith 2009; Jones 2010)" or "shown before.³,⁴". Every group of marks,
with the brackets around it, becomes one character that XML cannot contain. A range stands for all
references in between: between two marks ("[3]–[7]"), within one ("3–7"), or where its end is not a
mark. The platform's splitter finds the sentences in a copy of the same length, where patterns of
full text are masked: "p. 107", text in brackets, "mRNA", and "vitamin C. The".
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.building.citation_references import (
    LONGEST_RANGE,
    MATHML,
    character,
    is_element,
    plain_text,
)
from irplatform.text.tokenizer import apart
from irplatform.text.vector_training import sentences as split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.building.citation_references import ReferenceList

MARK = "\x02"
"""Stands for a group of marks."""
_SINGLE, _NUMBERED = "\x01", "\x03"
"""Stand for one mark while groups are sought, the second for one that is printed as a number."""
_LEFT_OUT = frozenset(
    """
    disp-formula disp-formula-group fig fig-group table-wrap table-wrap-group fn graphic media
    supplementary-material inline-graphic inline-supplementary-material tex-math annotation
    annotation-xml object-id
    """.split()  # noqa: SIM905 - a list would take a page
)
_BLOCKS = frozenset(
    """
    list def-list disp-quote boxed-text speech verse-group statement array
    """.split()  # noqa: SIM905 - a list would take a page
)
_DASH = r"\-‐‑‒–—―−⁻~～－"
_TO = rf"(?:[{_DASH}]|to\b|through\b)"
_MARK = f"[{_SINGLE}{_NUMBERED}]"
_BETWEEN = rf"[\s\])]*{_TO}[\s\[(]*"
"""Text between the ends of a range; words and round brackets only between numbers."""
_GROUP = re.compile(
    rf"{_MARK}(?:[\s,;&\[\]{_DASH}]*(?:and\s+)?{_MARK}|(?<={_NUMBERED}){_BETWEEN}{_NUMBERED})*"
)
_OPEN_RANGE = re.compile(rf"({_NUMBERED})\s?[{_DASH}]\s?(\d{{1,6}})(?![\w%]|\.\d)")
"""A range of which only the first number is a mark."""
_OPEN_BEGINNING = re.compile(rf"(?<=[\[(,;])(\s*)(\d{{1,6}})\s?[{_DASH}]\s?(?={_NUMBERED})")
"""A range of which only the last number is a mark, at the beginning of brackets."""
_BRACKETS = re.compile(rf"[\[(]([^\[\](){MARK}]*{MARK}[^\[\]()]*)[\])]")
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
"""Words that make brackets with marks a mere reference."""
_LOCATOR = re.compile(rf"[A-Za-z]?\d+[A-Za-z]?(?:[{_DASH}]\d+)?")
_REFERENCE_WORD = re.compile(rf"\b[Rr]ef(?:erence)?s?\.?\s*(?={MARK})")
_NUMBERS = re.compile(rf"\W*\d{{1,6}}(?:[\s\])]*(?:[,;&]|and\b|{_TO})[\s\[(]*\d{{1,6}})*\W*")
_RANGE = re.compile(rf"(\d+){_BETWEEN}(\d+)")
_ONLY_RANGE = re.compile(_BETWEEN)
_MARK_BEGINNING, _END = re.compile(r"^\W*"), re.compile(r"(?<!\W)\W*$")
DEEPEST_BRACKETS = 5
_DATE_OF_NAMES = re.compile(
    r"(?:(?<![\s,])[\s,]+)?[\[(]?(?:(?:19|20)\d\d[a-z]?|(?<!\d)\d+)[\])]?\s*$"
)
# "…shown before.³ Next": the marks belong to the sentence that the full stop ends; those after
# "et al." stand within one, and those in "…before. [3] also show" begin the next.
_AFTER_STOP = re.compile(
    rf"(?<!\bal)(?<!\bsp)(?<!\bspp)(?<![.!?]{{2}})([.!?]+[\"'”’)\]]*)(?!\s+{MARK}+\s+[a-z]+\s)"
    rf"(\s*{MARK}+)(?=\s+[\"“‘(\[]*\w|\s*$)"
)
_MARK_FIRST = re.compile(rf"(?<=[.!?]\s){MARK}(?=\s[a-z]+\s)")
_NO_SPACE = re.compile(rf"({MARK}[.!?]|[.!?][\"'”’)\]]*\s?{MARK}+)(?=[\"“‘(\[]*[A-ZÀ-ÖØ-Þ])")
_WITHIN = re.compile(
    rf"\b(?:[pP]p?|[Pp]ls?|[Tt]ext-[Ff]igs?|[Cc]omm|[Oo]bs|[Cc]hap|[Aa]rt|[Ss]er|[Ss]ec|[Tt]abs?)"
    rf"\.(?=\s*\d)|\bal\.(?=\s*{MARK})"
)
_BRACKETED = re.compile(r"(?<=[^\s.!?]\s)\([^()]*\)|(?<=[^\s.!?])\([^()]*\)|\[[^\[\]]*\]")
_SMALL_FIRST = re.compile(
    r"(?<=[\w)\]”%][\w)\]”%][.?!]\s)(?:[a-z](?=[a-z]{0,2}[A-Z]|\d+\b|-[A-Z])|"
    r"[α-ω](?=[-\d]|\s?[A-Z]))"
)
_STARTER = (
    r"(?:Although|After|As|Because|For|Furthermore|Here|However|If|In|It|Moreover|Note|Our|Since|The|"
    r"Therefore|There|These|They|This|Those|Thus|To|Using|We|When)\s"
)
# "…of vitamin C. The…": a letter before what begins sentences is not an initial or genus; and
# "U.S. Secretary" is one name where no such word follows.
_NO_INITIAL = re.compile(rf"(?<=[a-z,] )[A-Z](?=\.\s{_STARTER})")
_STATES = re.compile(rf"\b(?:U\.S|U\.K|U\.S\.A|E\.U|U\.N)\.(?=\s(?!{_STARTER}))")
_ENDS = str.maketrans(".!?", "···")
_THEREIN = re.compile(
    rf",?\s*(?:see,?\s*)?(?:e\.g\.,?\s*)?{MARK}[\s,]*and (?:the )?references? (?:there|here)in\b,?"
)
# "(see [12], appendix B)", "(e.g. [12] and the text)", "([12], at 2 h)": what joins goes, too.
_JOINED = re.compile(
    rf"((?:[(\[]|\bsee|\bcf\.|\be\.g\.,?)\s*){MARK}+(?:[\s,;:]*(?:and|or)\b[\s,]*|\s*[,;:][\s,;:]*)(?=\w)"
)
_EMPTY = re.compile(r"[(\[][\s,;:.&/–-]*(?:(?:e\.g|i\.e|see|and|cf)[\s,;:.]*)?[)\]]")
_DANGLING = re.compile(
    r"(?:(?<![\s,;])[\s,;]+)?\(?\b"
    r"(?:reviewed (?:in|by)|for (?:a )?reviews?,? see|see also|see|e\.g\.,?|cf\.)"
    rf"(?=[\s,;{MARK}]*(?:[.;)]|$))"
)
_SPACE_BEFORE = re.compile(r"\s+(?=[,.;:!?)\]](?!\d))")
_SPACE_AFTER = re.compile(r"(?<=[(\[])\s+")
_REPEATED = re.compile(r"([,;])(?:\s*[,;])+")
_BEFORE_END = re.compile(r"[,;:]\s*(?=[.!?)\]]|$)")
_TWO_STOPS = re.compile(r"(?<!\.)\.\s?\.(?!\.)")
_BEGINNING = re.compile(r"^[\s,;:.]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence without marks; `cites` are positions of references, `citing`: it has marks."""

    text: str
    cites: tuple[int, ...]
    citing: bool


@dataclass(frozen=True)
class MarkedText:
    """A paragraph's text, with `MARK` for every group of marks.

    `groups` has the positions of each group's references, `unknown` the number of marks that point
    to no reference.
    """

    text: str
    groups: tuple[tuple[int, ...], ...]
    unknown: int


def sentences_of(paragraph: MarkedText) -> Iterator[Sentence]:
    """The sentences of a paragraph, in order."""
    text = _AFTER_STOP.sub(r"\2\1", _NO_SPACE.sub(r"\1 ", paragraph.text))
    groups = iter(paragraph.groups)
    for begin, end in _spans(text):
        sentence = text[begin:end]
        cited = {position for _ in range(sentence.count(MARK)) for position in next(groups)}
        bare = without_marks(sentence) if MARK in sentence else sentence
        if any(character.isalpha() for character in bare):
            yield Sentence(bare, tuple(sorted(cited)), MARK in sentence)


def without_marks(sentence: str) -> str:
    """A sentence as if written without references: without marks and the words around them."""
    text = _DANGLING.sub("", _THEREIN.sub("", sentence))
    text = _JOINED.sub(r"\1", text).replace(MARK, " ")
    for _ in range(DEEPEST_BRACKETS):
        text = _EMPTY.sub(" ", text)
    text = _REPEATED.sub(r"\1", " ".join(text.split()))
    text = _SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", text))
    text = _BEGINNING.sub("", _BEFORE_END.sub("", _REPEATED.sub(r"\1", text)))
    return _TWO_STOPS.sub(".", text)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    masked = _WITHIN.sub(lambda match: match[0].replace(".", "·"), text)
    masked = _STATES.sub(lambda match: match[0].replace(".", "·"), masked)
    masked = _MARK_FIRST.sub("X", masked)
    masked = _BRACKETED.sub(lambda match: match[0].translate(_ENDS), masked)
    masked = _SMALL_FIRST.sub(lambda match: match[0].upper(), masked)
    masked = _NO_INITIAL.sub(lambda match: match[0].lower(), masked)
    end = 0
    for sentence in split_sentences(masked):
        begin = masked.index(sentence, end)
        end = begin + len(sentence)
        yield begin, end


def marked_text(paragraph: Any, references: ReferenceList) -> MarkedText:
    """The text of a paragraph (an element), with its groups of marks resolved."""
    marks: list[_Mark] = []
    flat = " ".join("".join(_flatten(paragraph, marks, references)).split())
    flat = _with_open_ranges(flat, marks, references)
    unknown = sum(not _positions(mark, references) for mark in marks)
    groups: list[tuple[int, ...]] = []
    pieces = []
    end = offset = 0
    for match in _GROUP.finditer(flat):
        members = marks[offset : offset + _count(match[0])]
        offset += len(members)
        pieces.append(flat[end : match.start()])
        end = match.end()
        if not _in_brackets(flat, match.start()):  # authors' names are part of the sentence
            pieces.extend(f"{name} " for mark in members if (name := _names(mark)))
        pieces.append(MARK)
        groups.append(tuple(sorted(_references(match[0], members, references))))
    text = "".join([*pieces, flat[end:]])
    for _ in range(DEEPEST_BRACKETS):
        text = _BRACKETS.sub(_without_brackets, text)
    text = _REFERENCE_WORD.sub("", text)
    return MarkedText(" ".join(text.split()), tuple(groups), unknown)


@dataclass
class _Mark:
    """A reference mark: the ids that it points to, separated by spaces, and its printed text."""

    ids: str
    text: str

    @property
    def label(self) -> str:
        """The text with raised digits as digits."""
        return unicodedata.normalize("NFKC", self.text)


def _with_open_ranges(flat: str, marks: list[_Mark], references: ReferenceList) -> str:
    """The text with open ends of ranges moved into the marks beside them."""

    def given_to(mark: _Mark, label: str) -> bool:
        ranged = _Mark(mark.ids, label)
        if more := len(_positions(ranged, references)) > len(_positions(mark, references)):
            mark.text = label
        return more

    def close(match: re.Match[str]) -> str:
        mark = marks[_count(flat[: match.start()])]
        return match[1] if given_to(mark, f"{mark.text}–{match[2]}") else match[0]

    def begin(match: re.Match[str]) -> str:
        mark = marks[_count(closed[: match.start()])]
        return match[1] if given_to(mark, f"{match[2]}–{mark.text}") else match[0]

    closed = _OPEN_RANGE.sub(close, flat)
    return _OPEN_BEGINNING.sub(begin, closed)


def _count(text: str) -> int:
    return text.count(_SINGLE) + text.count(_NUMBERED)


def _in_brackets(text: str, position: int) -> bool:
    return any(
        text.rfind(opener, 0, position) > text.rfind(closer, 0, position)
        for opener, closer in ("()", "[]")
    )


def _without_brackets(match: re.Match[str]) -> str:
    """The marks alone, if the brackets hold nothing but a reference."""
    words = match[1].replace(MARK, " ").replace(",", " ").replace(";", " ").split()
    bare = (word.strip(".:&/-‐‑‒–—−'’").lower() for word in words)
    if all(not word or word in _ASIDE or _LOCATOR.fullmatch(word) for word in bare):
        return MARK * match[1].count(MARK)
    return match[0]


def _references(text: str, marks: list[_Mark], references: ReferenceList) -> set[int]:
    """The references of a group: those of its marks, and those between the ends of a range."""
    between = re.split(_MARK, text)[1:-1]
    cited: set[int] = set()
    previous: list[int] = []
    for number, mark in enumerate(marks):
        positions = _positions(mark, references)
        if number and previous and positions:
            # The dash or a bracket can be part of a mark: "1–" and "3".
            dash = f"{_END.findall(marks[number - 1].label)[0]}{between[number - 1]}"
            if _ONLY_RANGE.fullmatch(f"{dash}{_MARK_BEGINNING.findall(mark.label)[0]}"):
                cited.update(references.between(previous[-1], positions[0]))
        cited.update(positions)
        previous = positions
    return cited


def _positions(mark: _Mark, references: ReferenceList) -> list[int]:
    """The references of one mark; some print "1–3" and point to the first or to both ends only."""
    label = mark.label
    positions = references.positions(mark.ids, label)
    if not positions or not _NUMBERS.fullmatch(label):
        return positions
    spans = [(int(first), int(last)) for first, last in _RANGE.findall(label)]
    spans += [(int(n), int(n)) for n in re.findall(r"\d+", _RANGE.sub(" ", label))]
    begin = references.beginning(positions, spans)
    spans = [span for span in spans if 0 <= span[1] - span[0] <= LONGEST_RANGE]
    if begin is None:
        return positions
    return sorted({*positions, *(p for span in spans for p in references.numbered(*span, begin))})


def _names(mark: _Mark) -> str:
    """The names in a mark without number or year: "Smith et al. (2009)" → "Smith et al."."""
    label = mark.text.strip("[]() ")
    if not any(character.isalpha() for character in label):
        return ""
    names = _DATE_OF_NAMES.sub("", label).strip(" ,;:[(")
    return names if sum(character.isalpha() for character in names) > 2 else ""


def _flatten(element: Any, marks: list[_Mark], references: ReferenceList) -> Iterator[str]:
    before = element.text or ""
    yield before
    for child in element:
        if not is_element(child):
            text = character(child)
        elif child.tag == "xref" and references.are_meant(child):
            mark = _Mark(child.get("rid") or "", plain_text(child))
            marks.append(mark)
            text = _NUMBERED if _NUMBERS.fullmatch(mark.label) else _SINGLE
        elif child.tag == "xref" and references.are_notes(child):
            text = ""
        elif child.tag.startswith(MATHML):
            text = "".join("".join(child.itertext()).split())
        elif child.tag in _LEFT_OUT or child.tag in _BLOCKS or child.tag == "break":
            text = " "
        else:
            text = "".join(_flatten(child, marks, references))
            if child.tag == "sup":
                yield apart(before, text)
        yield text
        yield child.tail or ""
        before = child.tail or text or before
