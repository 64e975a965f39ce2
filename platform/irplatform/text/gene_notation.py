"""Gene fields are written in many ways; `written_out` brings them to one that can be parsed.

"EGFR-mutated", "ALK+", "BRAFV600E", "NTRK1-3", "CDKN2A/B" and "METex14" run together what other
topics write apart: a gene, its variant, its state, further genes. All of it goes by how symbols and
protein changes are written (HGNC, HGVS); no list of genes is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

ACID = "[ACDEFGHIKLMNPQRSTVWY]"
"""One-letter codes of amino acids."""

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
"""What is written behind a gene with a hyphen and says in which state it is."""

_STATE = "|".join(sorted(_STATES, key=len, reverse=True))
_CHANGE = rf"(?:p\.)?{ACID}\d{{2,4}}(?:{ACID}|[X*]|fs)"
_LOSS = rf"(?:p\.)?{ACID}\d{{2,4}}(?:del|ins|dup)"
_NO_CODON = "".join(rf"(?<!\b{ACID}\d{{{digits}}})" for digits in (2, 3, 4))
_GLUED = rf"{ACID}\d{{3,4}}(?:{ACID}|[X*])|[EGQ]\d{{2}}{ACID}"
"""A change of its own: TMEM16A and FAM13A are genes, KRASG12C and JAK2V617F are not."""
_NUMBERED = "(?:CCDC|CTAGE|GAGE|KIAA|PLA2G|SNOR|TMEM|VSIG)"
"""Genes that begin so have high numbers: TMEM132D, and not a gene TME with the change M132D."""

_HYPHENATED = "(?:IG[HKL]|KRTAP|NKX|TR[ABDG][DJV])"
"""Symbols that begin so have a hyphen of their own: NKX2-5, a gene, and NTRK1-3, three of them."""

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


def written_out(part: str) -> str:
    """A part of a gene field, with all that it runs together apart.

    >>> written_out("BRAFV600E-mutant")
    'BRAF V600E mutant'
    """
    for pattern, replacement in _RULES:
        part = pattern.sub(replacement, part)
    return part
