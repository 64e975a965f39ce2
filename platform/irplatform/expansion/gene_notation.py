"""The gene field of precision medicine topics: genes, variants, kinds of alteration.

"KRAS (G13D), BRAF (V600E)" names two genes with a variant each, "EML4-ALK Fusion transcript" a
fusion of two, and "high tumor mutational burden" none. Rules decide, by how genes (HGNC) and
variants (HGVS) are written, without a list of genes. `written_out` first separates what some topics
join: "EGFR-mutated", "BRAFV600E", "NTRK1-3".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress, pairwise
from operator import not_

ACID = "[ACDEFGHIKLMNPQRSTVWY]"
"""One-letter codes of amino acids."""
_ACIDS = {
    "A": "Ala", "C": "Cys", "D": "Asp", "E": "Glu", "F": "Phe", "G": "Gly", "H": "His",
    "I": "Ile", "K": "Lys", "L": "Leu", "M": "Met", "N": "Asn", "P": "Pro", "Q": "Gln",
    "R": "Arg", "S": "Ser", "T": "Thr", "V": "Val", "W": "Trp", "Y": "Tyr", "X": "Ter", "*": "Ter",
}  # fmt: skip
_LETTERS = {name: letter for letter, name in _ACIDS.items() if letter != "X"}
_THREE = "(?:" + "|".join(sorted(set(_ACIDS.values()))) + ")"
_STATES = frozenset(
    {
        "activated", "addicted", "altered", "amplification", "amplified", "associated",
        "deficient", "deleted", "deletion", "dependent", "driven", "expressing", "expression",
        "fused", "fusion", "high", "inactivated", "loss", "low", "methylated", "methylation",
        "mutant", "mutated", "mutation", "negative", "null", "overexpressed", "overexpressing",
        "overexpression", "positive", "rearranged", "rearrangement", "translocated",
        "translocation", "unmethylated", "wild-type", "wildtype",
    }
)  # fmt: skip
"""States of a gene that follow it with a hyphen."""
_STATE = "|".join(sorted(_STATES, key=len, reverse=True))
_CHANGE = rf"(?:p\.)?{ACID}\d{{2,4}}(?:{ACID}|[X*]|fs)"
_LOSS = rf"(?:p\.)?{ACID}\d{{2,4}}(?:del|ins|dup)"
_NO_CODON = "".join(rf"(?<!\b{ACID}\d{{{digits}}})" for digits in (2, 3, 4))
_GLUED = rf"{ACID}\d{{3,4}}(?:{ACID}|[X*])|[EGQ]\d{{2}}{ACID}"
"""A change behind a gene: TMEM16A and FAM13A are genes, KRASG12C and JAK2V617F are not."""
_NUMBERED = "(?:CCDC|CTAGE|GAGE|KIAA|PLA2G|SNOR|TMEM|VSIG)"
"""Beginnings of genes with high numbers: TMEM132D, not a gene TME with the change M132D."""
_HYPHENATED = "(?:IG[HKL]|KRTAP|NKX|TR[ABDG][DJV])"
"""Beginnings of symbols that contain a hyphen: NKX2-5 is a gene, NTRK1-3 three of them."""
_VARIANT = re.compile(
    rf"(?:p\.)?\(?(?:{ACID}\d{{1,4}}(?:dup|del|ins|fs)[*\w]*"  # T574insTQLPYD, S1982fs
    rf"|{ACID}\d{{1,4}}(?:{ACID}|[X*])(?:fs[*\w]*)?"  # V600E, Q61*, K1245Vfs
    rf"|{_THREE}\d{{1,4}}(?:{_THREE}|\*)(?:fs[*\w]*)?"  # Val600Glu, Gln61*, Arg97Profs*23
    rf"|{_THREE}\d{{1,4}}(?:[_–-]{_THREE}\d{{1,4}})?(?:dup|del|ins|fs)[*\w]*"  # Glu746_Ala750del
    rf"|{ACID}\d{{1,4}}[_–-]{ACID}\d{{1,4}}\s?(?:dup|del|ins)\w*"  # A502_Y503dup, E746-A750del
    rf"|(?:dup|del)\s?{ACID}\d{{2,4}}[_–-]{ACID}\d{{2,4}}"  # delE746-A750
    r"|[cg]\.[\d_+-]++\w*+(?:>\w+)?"  # c.1799T>A
    r"|\d{2,5}(?:[ACGT]>[ACGT]|(?:[_-]\d{2,5})?(?:dup|del|ins)[ACGT]*)"  # 1799T>A, 185delAG
    r"|exons?\s?\d{1,2}(?:\s?(?:deletion|insertion|skipping|mutation)s?)?)\)?",  # Exon 19 deletion
    re.IGNORECASE,
)
_CODON = re.compile(rf"{ACID}\d{{2,4}}(?:[_–-]{ACID}\d{{2,4}})?")
"""Q171, E746-A750: places without a new acid. A gene has to precede them: P53 is written alike."""
_RANGE = re.compile(
    rf"(dup|del|)\s?((?:{ACID}|{_THREE})\d+)[_–-]((?:{ACID}|{_THREE})\d+)(.*)", re.IGNORECASE
)
_GREEK = "[αβγδε]"
_SYMBOL = re.compile(
    r"(?!(?:AND|NOT|OR)\Z)(?=(?:.*[A-Z]){2}|[A-Z]\d)[A-Z][A-Za-z0-9]*(?:[-/][A-Z0-9]+)*"
    r"|m(?!RNA)[A-Z]{3,}\d*|p\d{2,3}"
    rf"|[A-Z][A-Z0-9-]{{2,}}(?:{_GREEK}|-(?:alpha|beta|gamma|delta|epsilon))\d?"
)
"""Two capitals, or a capital and a digit: BRAF, PD-L1; and mTOR, p53, PDGFRα."""
_VIRAL = re.compile(r"v-(?=[A-Z]{2})")
"""Prefix of a virus's gene, after which the cell's was named: v-RAF."""
_NO_CHANGE = re.compile(rf"{ACID}\d{ACID}|F11R|S100[GP]", re.IGNORECASE)
"""Genes that look like changes: F2R, in a place where hardly any change is known; S100P."""
_SEPARATOR = re.compile(r"[,;()]")
_PARTNER = rf"[A-Z][A-Z0-9]{{2,}}{_GREEK}?"
_FUSION = re.compile(rf"(?!HLA-){_PARTNER}(?:[-/:]{{1,2}}(?!(?:AS|IT|OT)\d){_PARTNER})+")
"""EML4-ALK; not HLA-DRB1, and not HNF1A-AS1, a gene of RNA on the other strand."""
_ALLELE = re.compile(r"\b(HLA-[A-Z0-9]+|[A-Z][A-Z0-9]+)\*(?:\d+[A-Z]?)(?::\d+)*(?!\w)")
"""HLA-B*15:02, CYP2C19*2: a gene's allele."""
_SIDES = re.compile(r"/(?=[A-Z])")
_AROUND = "().,;:-[]{}\"'“”‘’"
"""Signs around a word."""
_NOTHING = re.compile(
    r"none(\s+(identified|known|specified|found))?|n/?a|n\.\s?a|nil|unknown|unspecified"
    r"|not\s+(applicable|available|known|specified)|[-\u2013\u2014?.]+",
    re.IGNORECASE,
)
_SUBSTITUTION = re.compile(rf"({ACID})(\d+)({ACID}|[X*])", re.IGNORECASE)
_LONG_ACID = re.compile(_THREE, re.IGNORECASE)
_ONE_LOST = re.compile(rf"({ACID})(\d{{2,4}})del")
_LONG = re.compile(rf"{_THREE}\d+.+", re.IGNORECASE)
ALTERATIONS = frozenset(
    {
        "activating", "activation", "aberration", "alteration", "amplification", "amplified",
        "copy", "deficiency", "deficient", "deleted", "deletion", "duplication", "expression",
        "function", "fusion", "gain", "gene", "inactivating", "inactivation", "insertion", "loss",
        "mutant", "mutated", "mutation", "number", "of", "overexpression", "rearranged",
        "rearrangement", "splice", "transcript", "translocation", "truncated", "truncating",
        "truncation", "type", "variant", "wild", "wild-type", "wildtype",
    }
)  # fmt: skip
"""Words for the alteration of a gene."""
_NOUNS = {
    "altered": "alteration", "amplified": "amplification", "deficient": "deficiency",
    "deleted": "deletion", "expressing": "expression", "fused": "fusion",
    "inactivated": "inactivation", "methylated": "methylation", "overexpressed": "overexpression",
    "overexpressing": "overexpression", "rearranged": "rearrangement",
    "translocated": "translocation", "truncated": "truncation",
}  # fmt: skip
"""The words of articles for an alteration."""
_MUTATION = frozenset({"mutant", "mutated", "mutation", "mutations", "gene", "variant", "variants"})
"""Words that add nothing to a gene whose alterations are searched in any case."""
_CHANGES = _MUTATION - {"gene"} | {"alteration", "alterations", "aberration", "aberrations"}
_ABSENCE = frozenset({"absence", "absent", "lacking", "no", "not", "without"})
_UNALTERED = frozenset({"negative", "wild-type", "wildtype"})
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "by", "for", "in", "level", "levels", "or", "status", "the", "with", "&"}
)


@dataclass(frozen=True)
class Marker:
    """An item of a gene field.

    Attributes:
        genes: symbols; two in a fusion, none for "high tumor mutational burden".
        variants: protein or DNA changes, as written, without brackets and "p.".
        alteration: how the gene is altered, "loss of function", "promoter methylation".
        words: the other words.
        unaltered: True if the genes are not altered: "no BRAF mutation", "KRAS-WT".
    """

    text: str
    genes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    alteration: str = ""
    words: str = ""
    unaltered: bool = False


def parse_markers(text: str) -> tuple[Marker, ...]:
    """The parts of a gene field, separated by commas or semicolons, in their order.

    A variant or an alteration without a gene is a part of the gene before it.
    """
    parts = map(str.strip, _parts(text))
    return tuple(_marker(part) for part in parts if part and not is_placeholder(part))


def _parts(text: str) -> list[str]:
    """Split a text at separators outside brackets."""
    parts = []
    within, end = False, len(text)
    for match in reversed([*_SEPARATOR.finditer(text)]):
        if match[0] in "()":
            within = match[0] == ")"
        elif not within:
            parts.append(text[match.end() : end])
            end = match.start()
    return [text[:end], *reversed(parts)]


def is_placeholder(text: str) -> bool:
    """Whether a field holds a placeholder: "None", "N/A", "not specified"."""
    return _NOTHING.fullmatch(text.strip().rstrip(".")) is not None


def _marker(part: str) -> Marker:
    spaced = written_out(part)
    alleles = list(_ALLELE.finditer(spaced))
    genes = [allele[1] for allele in alleles]
    changes, other_words = _variants(_ALLELE.sub(" ", spaced))
    variants = [*(allele[0] for allele in alleles), *changes]
    words, behind = _words(other_words, genes, variants)
    altering = [
        bool(genes and place >= behind and word.lower() not in _SMALL_WORDS)
        or bool((genes or variants) and word.lower() in ALTERATIONS)
        for place, word in enumerate(words)
    ]
    alteration = [_NOUNS.get(word.lower(), word) for word in compress(words, altering)]
    lower_words = {word.lower() for word in words}
    unmutated = bool(genes and not variants and lower_words & _ABSENCE and lower_words & _CHANGES)
    if unmutated:
        alteration.append("wild-type")  # what articles call it
    return Marker(
        part,
        tuple(dict.fromkeys(genes)),
        tuple(dict.fromkeys(variants)),
        " ".join(word for word in alteration if word.lower() not in _MUTATION).removesuffix(" of"),
        " ".join(compress(words, map(not_, altering))),
        not _UNALTERED.isdisjoint(word.lower() for word in alteration),
    )


def _variants(text: str) -> tuple[list[str], list[str]]:
    """The variants in a text, and its other words."""
    variants: list[str] = []
    other_words: list[str] = []
    position = 0
    for match in _VARIANT.finditer(text):
        if _inside_word(text, match):
            continue
        if not other_words and not text[: match.start()].strip() and _NO_CHANGE.fullmatch(match[0]):
            continue
        other_words += text[position : match.start()].split()
        variants.append(match[0].removeprefix("p.").strip("()").removeprefix("p."))
        position = match.end()
    return variants, other_words + text[position:].split()


def _words(raw_words: list[str], genes: list[str], variants: list[str]) -> tuple[list[str], int]:
    """Add the genes and variants among some words to the known ones; return the other words.

    The number after them is how many of these come before the first gene.
    """
    words: list[str] = []
    behind = 0
    for before, raw in pairwise(("", *raw_words)):
        word = _VIRAL.sub("", raw.strip(_AROUND))
        gene_count = len(genes)
        if len(sides := _SIDES.split(word)) > 1 and all(map(_SYMBOL.fullmatch, sides)):
            genes += sides
        elif genes and _CODON.fullmatch(word):
            variants.append(word)
        elif _FUSION.fullmatch(word):
            genes += re.split(r"[-/:]+", word)
        elif _SYMBOL.fullmatch(word) and not _numbers(before, word):
            genes.append(word)
        elif any(map(str.isalnum, word)):
            words.append(word)
        if genes and not gene_count:
            behind = len(words)
    return words, behind


def _numbers(before: str, word: str) -> bool:
    """Whether a word numbers the one before it: the D1 of "cyclin D1"."""
    is_noun = before.isalpha() and before.islower() and before not in ALTERATIONS | _SMALL_WORDS
    return is_noun and re.fullmatch(r"[A-Z]\d{1,2}", word) is not None


def _inside_word(text: str, match: re.Match[str]) -> bool:
    """Whether a match is only a piece of a longer word: the A1B of "GA1B"."""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return bool(re.fullmatch(r"[\w-]", before) or re.fullmatch(r"[\w-]", after))


def spellings(variant: str) -> tuple[str, ...]:
    """Other ways to write a variant: V600E, p.V600E, Val600Glu, p.Val600Glu; itself first."""
    forms = [variant]
    if _LONG.fullmatch(variant):
        forms.append(_LONG_ACID.sub(lambda acid: _LETTERS[acid[0].title()], variant))
    if short := _SUBSTITUTION.fullmatch(forms[-1]):
        before, place, after = short[1].upper(), short[2], short[3].upper()
        ends = ("*", "X") if after in "X*" else (after,)
        forms += [f"{before}{place}{end}" for end in ends]
        forms.append(f"{_ACIDS[before]}{place}{_ACIDS[after]}")
    if lost := _ONE_LOST.fullmatch(forms[-1]):
        acid, place = lost.groups()
        forms.append(f"{_ACIDS[acid]}{place}del")
        deltas = [f"{delta}{acid}{place}" for delta in ("Δ", "delta", "del")]
        return tuple(dict.fromkeys([*forms, *(f"p.{form}" for form in forms), *deltas]))
    if between := _RANGE.fullmatch(variant):
        kind, first, last, behind = between.groups()
        forms += [f"{first}{sep}{last}{kind}{behind}" for sep in "_-"]
    if between or len(forms) > 1:
        forms += [f"p.{form}" for form in forms]
    return tuple(dict.fromkeys(forms))


def codon(variant: str) -> str | None:
    """The place that a substitution changes: V600 of V600E; None for other variants."""
    matches = (_SUBSTITUTION.fullmatch(form) for form in spellings(variant))
    return next((f"{match[1].upper()}{match[2]}" for match in matches if match), None)


def written_out(part: str) -> str:
    """A part of a gene field, with joined words separated.

    >>> written_out("BRAFV600E-mutant")
    'BRAF V600E mutant'
    """
    for pattern, replacement in _RULES:
        part = pattern.sub(replacement, part)
    return part


_Replacement = str | Callable[[re.Match[str]], str]


def _each_end(match: re.Match[str]) -> str:
    """G12C/D → G12C G12D."""
    return " ".join(f"{match[1]}{end}" for end in match[2].split("/"))


def _range(match: re.Match[str]) -> str:
    """NTRK1-3 → NTRK1 NTRK2 NTRK3."""
    first, last = int(match[2]), int(match[3])
    if first >= last:
        return match[0]
    return " ".join(f"{match[1]}{number}" for number in range(first, last + 1))


_RULES: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"\b(HER-?2|ERBB2)/neu\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\b[A-Z][a-z]{1,4}-?\d{1,2}[A-Z]?\b"), lambda m: m[0].upper()),  # Her2, Bcl-2
    (re.compile(r"(?<![\w-])[KNHBkn]-?ra[sf]\b"), lambda m: m[0].replace("-", "").upper()),
    (re.compile(r"(?<![\w-])([NL])-?[mM]yc\b"), r"MYC\1"),
    (re.compile(r"(?<![\w-])[cC]-?Myc\b|(?<![\w-])c-?myc\b"), "MYC"),
    (re.compile(r"(?<=\w)\("), " ("),  # AKT1(E17K)
    (re.compile(r"(?:(?<=[A-Z0-9])-)?\b(?:WT|wt)\b(?![-/]?\d)-?"), " wild-type "),  # KRAS-WT
    (re.compile(r"(?<=[A-Z0-9])[- ]ITD\b"), " internal tandem duplication"),
    (re.compile(r"(?<=[A-Z0-9])\+(?=$|[\s,;)])"), " positive"),  # ALK+
    (re.compile(r"(?<=[A-Z0-9])[-−](?=$|[,;)]|\s+(?![A-Z]))"), " negative"),  # ER-
    (re.compile(rf"(?<=[A-Z0-9*])-(?=(?:{_STATE})\b)"), " "),  # EGFR-mutated, V600E-mutant
    (re.compile(rf"(?<=[A-Z0-9])-(?={_CHANGE}\b)"), " "),  # BRAF-V600E
    (re.compile(rf"(?<=[A-Z0-9]){_NO_CODON}-(?={_LOSS}\b)"), " "),  # not E746-A750del
    (re.compile(rf"\b(?!{_NUMBERED})([A-Z][A-Z0-9]{{2,}}?)({_GLUED})\b"), r"\1 \2"),  # BRAFV600E
    (re.compile(rf"(?<!\w)(?:[Δ∆]|[Dd]elta-?|del)({ACID}\d{{2,4}})(?![\w–_-])"), r"\1del"),  # ΔF508
    (re.compile(r"\b([A-Z]{2,}\d?)-?(?:ex|exon)\.?\s?(\d{1,2})\b"), r"\1 exon \2"),  # METex14
    (re.compile(r"\bex\.?\s?(?=\d{1,2}\b)"), "exon "),
    (re.compile(r"\b([A-Z]{2,}\d?)(v(?:I{1,3}|IV|\d))\b"), r"\1 \2"),  # EGFRvIII
    (re.compile(r"(?<![\w-])c-?(?=[A-Z]{2,}\d?\b)"), ""),  # c-MET, cKIT: of the cell
    (re.compile(rf"\b({ACID}\d{{1,4}})({ACID}(?:/{ACID})+)\b"), _each_end),
    (re.compile(r"\b([A-Z]{2,})(\d{1,2}(?:/\d{1,2})+)\b"), _each_end),  # FGFR1/2/3
    (re.compile(r"\b([A-Z]{2,}\d+)([A-Z](?:/[A-Z])+)\b"), _each_end),  # CDKN2A/B
    (re.compile(rf"\b(?!{_HYPHENATED})([A-Z]{{3,}})(\d)[-–](\d)\b"), _range),
)
