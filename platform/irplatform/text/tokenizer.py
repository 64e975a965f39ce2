"""Words: Delta's tokenizer, the composed form of text, stop words, and lines in capitals.

The tokenizer is that of Mohan, Fiorini, Kim, Lu (WWW 2018, section 4.1): lower case, split at space
and punctuation, numbers in 7 classes. Dotted abbreviations, mixes of letters and digits, and short
names with a number after a hyphen are one word (i.v. → iv; IL-6 → il6). Accents and ligatures are
folded, Greek letters spelled out. Lucene analyzes text in composed form instead (`composed`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

INTEGER = "<int>"
FRACTION = "<fraction>"
REAL = "<real>"
YEAR_19XX = "<19xx>"
YEAR_20XX = "<20xx>"
PERCENTAGE = "<percent>"
DOLLARS = "<dollar>"

NUMBER_CLASSES = (INTEGER, FRACTION, REAL, YEAR_19XX, YEAR_20XX, PERCENTAGE, DOLLARS)
"""The words that stand for numbers."""

_NOT_NAMES = (
    "about|after|age|aged|and|are|arm|as|at|block|by|case|class|cycle|day|days|dose|early|every|"
    "for|from|grade|group|hour|in|is|late|least|level|mean|mid|model|month|no|non|of|on|only|or|"
    "over|part|past|phase|post|pre|score|stage|step|study|sub|table|than|the|time|to|top|type|"
    "under|until|visit|was|week|with|year"
)
"""Short words that a hyphen and a number follow without making an abbreviation."""

_NOT_SYMBOLS = (
    "and|arm|bit|bp|cc|cm|day|db|dl|fr|for|ft|gy|hr|hrs|hz|in|is|kb|kda|kg|km|lb|mer|mg|min|ml|mm|"
    "mo|ms|mv|ng|nm|of|old|or|oz|pm|sec|the|to|ug|um|vs|way|wk|yr|yrs"
)
"""Short words that a number and a hyphen precede without making an abbreviation."""

_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)*|\d+(?:\.\d+)+|(?<![\w.])\.\d+(?:\.\d+)*)"

# L is a letter. The first alternative is the common case and must fail fast; each later one is
# tried only where a word touches a digit, a dot or a hyphen.
_PATTERN = rf"""
    L++(?![\w.\-])                                                       # plain words
  | (?!(?:{_NOT_NAMES})-)L{{1,5}}-(?!(?:19|20)\d\d(?!\d))\d{{1,6}}+      # IL-6, COX-2, MIR-34a
        (?!\.?\d|,\d{{3}}|\s?%)(?:L(?!\w))?
  | L(?:\.L)+(?!\w)                                                      # e.g, i.v
  | \d{{1,2}}-(?!(?:{_NOT_SYMBOLS})(?!\w))L{{2,3}}(?:\dL?)?(?!\w)        # 5-HT, 5-FU
  | \$\s?(?:{_DECIMAL}|\d+)
  | (?:{_DECIMAL}|\d+(?!\w))(?:\s?%)?
  | (?:L|\d)++                                                           # p53, BRCA1, 18F
"""
_ASCII = re.compile(_PATTERN.replace("L", "[a-z]"), re.VERBOSE | re.ASCII)
_UNICODE = re.compile(_PATTERN.replace("L", r"[^\W\d_]"), re.VERBOSE)
_POSSESSIVE = re.compile(r"(?<=\w)'s(?!\w)")

_SYMBOLS = str.maketrans("", "", "™®©\u00ad\u200b\u200c\u200d\ufeff")
"""Invisible signs and marks, which disappear from words."""

_LETTERS = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣", "-")
    | dict.fromkeys("’‘ʼ′", "'")
    | {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_COMBINING = re.compile("[\u0300-\u036f]")
_RAISED_POINT = re.compile(r"(?<=\d)[·∙⋅](?=\d)")
_MICRO = re.compile(r"μ(?=(?:g|l|m|mol|s|v|w|ci)(?!\w))")
_GREEK = re.compile("(?<![α-ω])[α-ω]{1,2}(?![α-ω])")  # longer ones are words of Greek
_GREEK_NAMES = {  # Unicode spells λ "lamda"
    letter: unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")
    for letter in "αβγδεζηθικλμνξοπρςστυφχψω"
}


def tokenize(text: str) -> list[str]:
    """The words of a text: letters and digits in lower case, or one of `NUMBER_CLASSES`."""
    return [word if word.isalpha() else normalize(word) for word in pieces(text)]


def pieces(text: str) -> list[str]:
    """The first half of `tokenize`: lower-case pieces; `normalize` makes one word of each."""
    if text.isascii():
        text = text.lower()
        pattern = _ASCII
    else:
        text = fold(text)
        pattern = _ASCII if text.isascii() else _UNICODE
    if "'s" in text:
        text = _POSSESSIVE.sub("", text)
    return pattern.findall(text)


@lru_cache(maxsize=1 << 16)
def normalize(piece: str) -> str:
    """The word for a piece: without punctuation, or a class of numbers."""
    if piece[0] == "$":
        return DOLLARS
    if piece[-1] == "%":
        return PERCENTAGE
    if piece.isalnum():
        return _class_of_digits(piece)
    if any(character.isalpha() for character in piece):
        return piece.replace("-", "").replace(".", "")
    if "." not in piece:
        return INTEGER
    digits = piece.replace(",", "")
    return FRACTION if digits.count(".") == 1 and 0 < float(digits) < 1 else REAL


def _class_of_digits(piece: str) -> str:
    year = piece[:4] if len(piece) == 4 or piece[4:] == "s" else ""
    if year.isdecimal() and year.startswith(("19", "20")):  # also "1990s"
        return YEAR_19XX if year.startswith("19") else YEAR_20XX
    return INTEGER if piece.isdecimal() else piece


def fold(text: str) -> str:
    """Lower-case text with plain accents, ligatures, typographic hyphens and Greek letters."""
    text = _NOT_ASCII.sub(lambda match: _fold_run(match[0]), text).lower()
    if text.isascii():
        return text
    text = _RAISED_POINT.sub(".", text)
    text = _MICRO.sub("u", text)
    return _GREEK.sub(_spell_out, text)


@lru_cache(maxsize=1 << 12)
def _fold_run(run: str) -> str:
    # Compatibility forms can hide capitals and typographic hyphens, so these two come after.
    plain = unicodedata.normalize("NFKD", run.translate(_SYMBOLS))
    return _COMBINING.sub("", plain).lower().translate(_LETTERS)


def _spell_out(match: re.Match[str]) -> str:
    names = " ".join(_GREEK_NAMES.get(letter, letter) for letter in match[0])
    letter_follows = match.string[match.end() : match.end() + 1].isalpha()
    return f" {names} " if letter_follows else f" {names}"


COMPOSITION = 2
"""Version of the composed form; the first was NFC alone."""
_UNSEEN = re.compile("[\u00ad\u200b\u200c\u200d\ufeff]")
_KEPT = ("<super", "<fraction", "<circle", "<noBreak")
_OF_A_WIDTH = ("<wide", "<narrow", "<small")
_NARROW_SPACE = "\u202f"
"""Lucene takes it for a part of a word, as in "10 mg"."""


def composed(text: str) -> str:
    """A text as Lucene gets it: NFC, with other forms of letters, digits and signs made plain.

    As in NFKC, "ﬁ" is "fi", "Ⅲ" "III", "CO₂" "CO2"; soft hyphens and other invisible characters
    disappear. Superscripts, fractions and circled numbers stay: Lucene splits words there.
    """
    if text.isascii():
        return text
    if not _is_plain(text):
        text = _NOT_ASCII.sub(lambda match: _folded(match[0]), text)
    return unicodedata.normalize("NFC", text)


def is_folded(text: str) -> bool:
    """Whether composing changes a text more than NFC does."""
    if text.isascii() or _is_plain(text):
        return False
    return composed(text) != unicodedata.normalize("NFC", text)


def _is_plain(text: str) -> bool:
    return unicodedata.is_normalized("NFKC", text) and not _UNSEEN.search(text)


@lru_cache(maxsize=1 << 12)
def _folded(run: str) -> str:
    return "".join(map(_folded_character, run))


def _folded_character(character: str) -> str:
    if _UNSEEN.match(character):
        return ""
    if character == _NARROW_SPACE:
        return " "
    form = unicodedata.decomposition(character).partition(">")[0]
    if not form.startswith("<") or form in _KEPT:
        return character
    plain = unicodedata.normalize("NFKC", character)
    words = all(c.isalnum() or unicodedata.combining(c) for c in plain)
    return plain if words or form in _OF_A_WIDTH else character


_ORDINALS = {"st", "nd", "rd", "th"}
_POWER = re.compile(r"[-\u2212\u2013+]?\d")
_WORD = re.compile(r"[A-Za-z]\w|\d\w*[A-Za-z]")


def apart(before: str, raised: str) -> str:
    """The separator between superscript text of XML and the text before it.

    BRAF<sup>V600E</sup> has two words, 10<sup>5</sup> is a power; CD4<sup>+</sup>, V600<sup>E</sup>
    and 9<sup>th</sup> are one word each.
    """
    if not before[-1:].isalnum() or raised in _ORDINALS:
        return ""
    if before[-1].isdigit() and _POWER.match(raised):
        return "^"
    return " " if _WORD.match(raised) else ""


STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves what which who whom
    this that these those am is are was were be been being have has had having do does did
    doing a an the and but if or because as until while of at by for with about against
    between into through during before after above below to from up down in out on off over
    under again further then once here there when where why how all any both each few more
    most other some such no nor not only own same so than too very s t can will just don
    should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn
    needn shan shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a list would take a page
)
"""The English stop words of NLTK, with parts of contractions ("don", "t", "ll"). DeepSenSe (Lo et
al., Datasets) and DRMM (Guo et al., CIKM 2016) drop them."""


def content_words(text: str) -> list[str]:
    """The words of a text except stop words, in order; Greek letters are spelled out."""
    return [word for word in tokenize(text) if word not in STOP_WORDS]


_SHOUTED = 0.7
"""Share of capitals among a line's letters above which they mean nothing."""
_FEWEST_WORDS = 4
"""Words of the shortest line that is judged."""


class Capitals:
    """The lines of a text in capitals throughout, where capitals mean nothing."""

    def __init__(self, text: str) -> None:
        self._loud: list[tuple[int, bool]] = []
        end = 0
        for line in text.split("\n"):
            end += len(line) + 1
            capitals = sum(map(str.isupper, line))
            letters = capitals + sum(map(str.islower, line))
            self._loud.append(
                (end, len(line.split()) >= _FEWEST_WORDS and capitals > _SHOUTED * letters)
            )

    def uninformative(self, place: int) -> bool:
        """Whether the character at a place is in such a line."""
        return next(loud for end, loud in self._loud if place < end)
