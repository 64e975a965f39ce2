"""Concepts, their names and ids, and relations between concepts: what knowledge bases consist of.

Ids are compact identifiers (MESH:D008545, DOID:1909, NCBIGENE:673), or names where a source gives
only these (DRUG:vemurafenib, GENE:BRAF). Names are looked up under keys, which ignore case,
hyphens, spaces, accents, British spelling, possessives, plurals (the S stemmer: Harman, JASIS
1991), MeSH's comma inversion ("Carcinoma, Non-Small-Cell Lung") and dosages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from irplatform.text.tokenizer import fold

NameKind = Literal[
    "preferred", "synonym", "abbreviation", "alias", "previous", "narrow", "broad", "related"
]
"""From the exact name to names of something near."""

NAME_RANK: dict[NameKind, int] = {kind: rank for rank, kind in enumerate(get_args(NameKind))}

ConceptKind = Literal["disease", "gene", "drug", "variant", "other"]


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a concept.

    "preferred" and "synonym" name it exactly, "alias" is a gene's other symbol, "previous" a former
    name, an "abbreviation" is often ambiguous, "narrow", "broad" and "related" name something near.
    """

    text: str
    kind: NameKind


@dataclass(frozen=True, slots=True)
class Concept:
    """A disease, gene, drug, variant, or something else that has names.

    Attributes:
        id: a compact identifier, e.g. MESH:D008545.
        name: the preferred name; a gene's is its symbol.
        names: all names, the preferred one first, no text twice.
        xrefs: ids of the same thing in other sources.
        kb: its first knowledge base.
    """

    id: str
    name: str
    kind: ConceptKind
    names: tuple[Name, ...] = ()
    xrefs: tuple[str, ...] = ()
    kb: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two concepts.

    Attributes:
        source_id: the narrower one of an is-a; else drug before gene before disease.
        target_id: the other one. Neither has to be a concept of the knowledge base itself.
        kind: "is-a", "drug-gene", "drug-disease", "gene-disease", and more.
        kb: its knowledge base.
        evidence: kind of interaction, level of evidence, articles ("PMID:23598171").
    """

    source_id: str
    target_id: str
    kind: str
    kb: str = ""
    evidence: str = ""


_POSSESSIVE = re.compile(r"(?<=\w)['’]s?(?!\w)")
_WORD = re.compile(r"[^\W_]+")
_PLURAL = re.compile(
    r"(?<![^\W_])(?:[^\W\d_]{4,}s|[^\W\d_]{3,}mata"
    r"|(?:burs|fistul|larv|papill|petechi|vertebr)ae)(?![^\W_])"
)
"""Of words in -ae only these: Rosaceae is a family, rosacea a disease."""
_BRITISH = {
    "aemi": "emi", "aesthe": "esthe", "aetiolog": "etiolog", "ageing": "aging",
    "aluminium": "aluminum", "amoeb": "ameb", "anaesth": "anesth", "analogue": "analog",
    "artefact": "artifact", "behaviour": "behavior", "caec": "cec", "caesarean": "cesarean",
    "chimaer": "chimer", "coeliac": "celiac", "colour": "color", "counsell": "counsel",
    "faec": "fec", "fibre": "fiber", "foet": "fet", "gynaec": "gynec", "haem": "hem",
    "homoeo": "homeo", "homologue": "homolog", "labour": "labor", "leucaemi": "leukemi",
    "leuco": "leuko", "manoeuv": "maneuv", "modelling": "modeling", "naev": "nev",
    "oedem": "edem", "oesoph": "esoph", "oestr": "estr", "paed": "ped", "paeni": "peni",
    "palaeo": "paleo", "phaeo": "pheo", "pnoe": "pne", "rrhoe": "rrhe", "signalling": "signaling",
    "sulph": "sulf", "tumour": "tumor", "vapour": "vapor",
}  # fmt: skip
_BRITISH_PART = re.compile("|".join(_BRITISH).replace("leuco", "leuco(?!mycin|vorin)"))
"""Leucovorin and leucomycin have one spelling everywhere."""
_BRITISH_END = re.compile(
    r"(?<=[^\W\d_]{3})(?:is(?=(?:ations?|ed|ers?|ing)(?![^\W_]))|ys(?=(?:ed|ers?|ing)(?![^\W_])))"
)
"""Organisation, sterilised, paralysed."""
_BRITISH_RE = re.compile(r"(cent|goit|lit|met|tit)re(?=s?(?![^\W_]))")
_BRITISH_MARKS = ("isation", "ised", "iser", "ising", "tre", "ysed", "yser", "ysing")
"""A text without any of these has no British ending."""
_OF_GREEK = re.compile(r"(?:(?:ect|i|st)as|(?:br|cr|eur|gn|ler|mb|rrh|sten|ych)os|[^e]es|ys)es$")
"""Plurals in -ses whose singular ends in -sis: metastases, diagnoses, prostheses, analyses; but not
kinases or doses."""
_LONG_PLURAL = re.compile(r"(?:(?<!gla)ss|sh|x|[nt]ch|(?:fet|plex|sin|thym|vir)us)es$")
"""Abscesses, complexes, viruses; but not glasses, which is another word than glass."""
_DOSAGE = re.compile(
    r"(?:(?<!\s)\s+)?[(\[]?(?<![\w-])\d+(?:[.,]\d+){0,4}\s*(?:mg|mcg|µg|μg|ug|g|ml|iu|units?|%)"
    r"(?:\s*/\s*(?:\d+(?:\.\d+)?\s*)?\w+)?(?!\w)[)\]]?",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"(?<!\s)\s+(?:(?:oral|extended[- ]release|film[- ]coated)\s+)*"
    r"(?:tablets?|capsules?|injections?|solution|suspension|ointment|cream|gel|syrup)\s*$",
    re.IGNORECASE,
)
_SALT = re.compile(
    r"(?<!\s)\s+(?:acetate|besylate|citrate|fumarate|hcl|(?:di)?hydrochloride|malate|(?:di)?maleate"
    r"|mesylate|monohydrate|(?:di)?phosphate|potassium|(?:di)?sodium|succinate|sul(?:f|ph)ate"
    r"|tartrate|(?:di)?tosylate)$",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?=(?:.*[A-Z]){2})[A-Za-z0-9][A-Za-z0-9/-]{1,7}")


def keys(text: str) -> list[str]:
    """All keys under which a name is looked up, the most literal first; empty for no words."""
    variants = [text]
    if ", " in text:
        variants.append(uninverted(text))
    if _DOSAGE.search(text):
        variants.append(without_dosage(text))
    all_keys = [literal_key(text)]
    all_keys += [stored_key(variant) for variant in variants]
    return [key for key in dict.fromkeys(all_keys) if key]


def stored_keys(text: str) -> list[str]:
    """The keys under which a name is stored: one, or two if it has a comma inversion."""
    all_keys = [stored_key(text)]
    if ", " in text:
        all_keys.append(stored_key(uninverted(text)))
    return [key for key in dict.fromkeys(all_keys) if key]


def literal_key(text: str) -> str:
    """Letters and digits alone, with plurals as they are."""
    return _joined(_plain(text))


def stored_key(text: str) -> str:
    """Letters and digits, with words in the singular; a single word in capitals is a symbol."""
    plain = _plain(text)
    symbol = text.isupper() and len(text.split()) == 1
    return _joined(plain if symbol else _PLURAL.sub(_singular, plain))


def uninverted(text: str) -> str:
    """`Carcinoma, Non-Small-Cell Lung` → `Non-Small-Cell Lung Carcinoma`."""
    return " ".join(reversed(text.split(", ")))


def without_dosage(text: str) -> str:
    """A drug's name without amounts and the form in which it is given."""
    bare = _FORM.sub("", _DOSAGE.sub("", text)).strip(" ,-")
    return bare or text.strip()


def without_salt(text: str) -> str:
    """A drug's name without the salt that it is given as: imatinib mesylate → imatinib."""
    return _SALT.sub("", text)


def is_abbreviation(text: str) -> bool:
    """Return whether a name is one short word with two capitals: NSCLC, GIST, HER2."""
    return _ABBREVIATION.fullmatch(text) is not None


def kind_of_synonym(text: str) -> NameKind:
    """The kind of a synonym, if its source gives none."""
    return "abbreviation" if is_abbreviation(text) else "synonym"


def _plain(text: str) -> str:
    plain = text.lower() if text.isascii() else fold(text)
    if "'" in plain or "’" in plain:
        plain = _POSSESSIVE.sub("", plain)
    plain = _BRITISH_PART.sub(lambda part: _BRITISH[part[0]], plain)
    if any(map(plain.__contains__, _BRITISH_MARKS)):
        plain = _BRITISH_END.sub(lambda part: f"{part[0][0]}z", plain)
        plain = _BRITISH_RE.sub(r"\1er", plain)
    return plain


def _singular(match: re.Match[str]) -> str:
    word = match[0]
    if word.endswith(("ae", "mata")):  # vertebrae, neurofibromata
        return word[:-1] if word.endswith("ae") else word[:-2]
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        if _OF_GREEK.search(word):
            return f"{word[:-2]}is"
        if _LONG_PLURAL.search(word):
            return word[:-2]
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    return word if word.endswith(("us", "ss", "is")) else word[:-1]


def _joined(plain: str) -> str:
    """Join words, with a space between two digits alone: NKX2-1 is not NKX21."""
    words = _WORD.findall(plain)
    if len(words) == 1:
        return str(words[0])
    parts: list[str] = []
    for word in words:
        if parts and word[0].isdigit() and parts[-1][-1].isdigit():
            parts.append(" ")
        parts.append(word)
    return "".join(parts)


NAME_SPACES: dict[ConceptKind, str] = {"drug": "DRUG", "gene": "GENE", "disease": "DISEASE"}
"""Prefixes of ids that are names."""
_NUMBERED = {"CIVIC.MPID", "CIVIC.VID", "DOID", "HGNC", "NCBIGENE", "OMIM", "PMID"}
"""Prefixes before whole numbers."""
_MESH = re.compile(r"[CD]\d{6,9}", re.IGNORECASE)


def name_id(kind: ConceptKind, name: str) -> str:
    """The id of a concept of which a source gives only the name: DRUG:vemurafenib, GENE:BRAF."""
    return f"{NAME_SPACES[kind]}:{name if kind == 'gene' else literal_key(name)}"


def space(concept_id: str) -> str:
    """The prefix of an id."""
    return concept_id.partition(":")[0]


def typed(term: str) -> str:
    """The compact form of an id as people type it; MeSH's may lack the prefix (D008545)."""
    bare = term.strip()
    return f"MESH:{bare.upper()}" if _MESH.fullmatch(bare) else compact(term)


def compact(identifier: str) -> str:
    """An id with its prefix in capitals: `hgnc:1097` and `HGNC:HGNC:1097` → `HGNC:1097`.

    A number that a spreadsheet wrote with a decimal point is whole again: `NCBIGENE:673.0` is 673.
    """
    prefix, _, rest = identifier.strip().partition(":")
    prefix = prefix.upper()
    rest = rest.removeprefix(f"{prefix}:")
    if prefix in _NUMBERED and (number := rest.removesuffix(".0")).isdigit():
        rest = number
    return f"{prefix}:{rest}"
