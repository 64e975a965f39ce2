"""Concepts of UMLS and RxNorm: NLM's Rich Release Format, and scispaCy's JSON lines.

In MRCONSO.RRF and RXNCONSO.RRF a line is one name of a concept, in 18 columns. Names that are not
English, suppressed or obsolete are left out. MRSTY.RRF beside MRCONSO.RRF has the semantic types.
scispaCy (https://github.com/allenai/scispacy) distributes UMLS, MeSH, RxNorm, HPO and GO as JSON
lines with `concept_id`, `canonical_name`, `aliases` and `types`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from irplatform.errors import InputError, counted
from irplatform.files.formats import parse_json
from irplatform.files.reading import decoded, numbered_lines
from irplatform.knowledge.formats.reading import Format, text_of, texts_of
from irplatform.knowledge.formats.terms import cross_reference
from irplatform.knowledge.model import Concept, ConceptKind, Name, kind_of_synonym
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

DISORDERS = frozenset(
    ("T019", "T020", "T037", "T046", "T047", "T048", "T049", "T184", "T190", "T191")
)
SUBSTANCES = frozenset(
    f"T{number}" for number in (*range(103, 132), 167, 192, *range(194, 198), 200)
)
_DRUGS = frozenset(("T121", "T125", "T127", "T195", "T200"))


def kind_of_types(types: Iterable[str]) -> ConceptKind:
    """The kind of a concept with these semantic types, by the first that has one."""
    for semantic_type in types:
        if semantic_type in DISORDERS:
            return "disease"
        if semantic_type == "T028":  # gene or genome
            return "gene"
        if semantic_type in _DRUGS:
            return "drug"
    return "other"


_COLUMNS = 18
_UMLS_NAME = re.compile(r"C\d{7}\|[A-Z]{3}\|[PSps]\|(?:[^|]*\|){14}[^|]*\|?")
_RXNORM_NAME = re.compile(r"\d+\|[A-Z]{3}\|(?:[^|]*\|){15}[^|]*\|?")
_SEMANTIC_TYPE = re.compile(r"C\d{7}\|T\d{3}\|(?:[^|]*\|){3}[^|]*\|?")
_TYPES = ("MRSTY.RRF", "MRSTY.RRF.gz")
_SUPPRESSED = {"O": "obsolete", "E": "suppressed", "Y": "suppressed"}
_OF_RXNORM = ("IN", "PIN", "MIN", "BN", "PSN", "SCD", "SBD", "GPCK", "BPCK")
"""Types of names by which RxNorm itself calls a thing, the simplest first."""
_OWN_CODES = {"MH", "NM", "PT", "PN", "IN", "PIN", "BN"}
"""Types of names whose codes stand for the concept itself, and not for a broader heading."""
_DOSE_FORMS = {"DF", "DFG", "ET"}


class _Row(NamedTuple):
    concept: str
    preference: tuple[bool | int, ...]
    source: str
    type: str
    code: str
    text: str


def _rows(path: Path, left_out: Counter[str]) -> Iterator[_Row]:
    for number, raw in numbered_lines(path):
        cells = decoded(raw, path, number).rstrip("\r\n").removesuffix("|").split("|")
        if len(cells) == _COLUMNS - 1:  # the last one is empty, and its end was cut
            cells.append("")
        if len(cells) != _COLUMNS or not cells[0] or not cells[14].strip():
            wrong = f"this is not {_COLUMNS} columns that end in '|', with an id and a name."
            raise InputError(wrong, path=path, line=number)
        language, term, form, preferred = cells[1], cells[2], cells[4], cells[6]
        source, kind, code, suppressed = cells[11], cells[12], cells[13], cells[16]
        if language != "ENG":
            left_out["in other languages"] += 1
        elif suppressed in _SUPPRESSED:
            left_out[_SUPPRESSED[suppressed]] += 1
        else:
            rank = _OF_RXNORM.index(kind) if kind in _OF_RXNORM else len(_OF_RXNORM)
            preference = (term != "P", form != "PF", preferred != "Y", source != "RXNORM", rank)
            yield _Row(cells[0], preference, source, kind, code, cells[14].strip())


def _concepts(rows: Iterable[_Row]) -> Iterator[tuple[str, list[_Row], tuple[Name, ...]]]:
    for concept_id, group in groupby(rows, key=itemgetter(0)):
        ordered = sorted(group, key=itemgetter(1))
        texts = dict.fromkeys(row.text for row in ordered)
        first, *others = texts
        names = (Name(first, "preferred"), *(Name(text, kind_of_synonym(text)) for text in others))
        yield concept_id, ordered, names


def _umls(path: Path) -> Iterator[Concept]:
    left_out: Counter[str] = Counter()
    kinds = _kinds([path.with_name(name) for name in _TYPES])
    for concept_id, rows, names in _concepts(_rows(path, left_out)):
        codes = (
            cross_reference(row.source, row.code)
            for row in rows
            if row.type in _OWN_CODES and row.code != "NOCODE"
        )
        yield Concept(
            f"UMLS:{concept_id}",
            names[0].text,
            kinds.get(concept_id, "other"),
            names,
            tuple(dict.fromkeys(codes)),
        )
    _notify(path, left_out)
    if not kinds:
        notice(f"{path}: there is no {_TYPES[0]} beside it, so all concepts get the kind 'other'.")


def _kinds(paths: Sequence[Path]) -> dict[str, ConceptKind]:
    """Kinds of concepts by the semantic types of the first file that exists."""
    kinds: dict[str, ConceptKind] = {}
    for path in [path for path in paths if path.exists()][:1]:
        for number, raw in numbered_lines(path):
            concept_id, type_id, *_ = [*decoded(raw, path, number).split("|"), ""]
            kind = kind_of_types([type_id])
            if kind != "other":
                kinds.setdefault(concept_id, kind)
    return kinds


def _rxnorm(path: Path) -> Iterator[Concept]:
    left_out: Counter[str] = Counter()
    for concept_id, rows, names in _concepts(_rows(path, left_out)):
        dose_form = all(row.type in _DOSE_FORMS for row in rows)
        yield Concept(
            f"RXNORM:{concept_id}", names[0].text, "other" if dose_form else "drug", names
        )
    _notify(path, left_out)


def _notify(path: Path, left_out: Counter[str]) -> None:
    if left_out:
        parts = (f"{counted(number, 'name')} {reason}" for reason, number in left_out.items())
        notice(f"{path}: left out: {', '.join(parts)}.")


def _types_alone(path: Path) -> Iterator[Concept]:
    raise InputError("these are the kinds of concepts. Add MRCONSO.RRF beside it.", path=path)


UMLS_RRF = Format(
    "umls-rrf",
    "umls",
    "UMLS's MRCONSO.RRF",
    lambda head: _UMLS_NAME.fullmatch(head.line) is not None,
    _umls,
    beside=_TYPES,
)
RXNORM_RRF = Format(
    "rxnorm-rrf",
    "umls",
    "RxNorm's RXNCONSO.RRF",
    lambda head: _RXNORM_NAME.fullmatch(head.line) is not None,
    _rxnorm,
)
_SPACES = (
    (re.compile(r"C\d{7}"), "UMLS"),
    (re.compile(r"[CD]\d{6,9}"), "MESH"),
    (re.compile(r"\d+"), "RXNORM"),
)


def _read_umls_jsonl(path: Path) -> Iterator[Concept]:
    for line, content in numbered_lines(path):
        record = parse_json(content, path, line)
        place = f"line {line}"
        name = text_of(record, "canonical_name", path, place)
        types = texts_of(record.get("types"))
        concept_id = text_of(record, "concept_id", path, place)
        space = next((name for form, name in _SPACES if form.fullmatch(concept_id)), "CONCEPT")
        yield Concept(
            concept_id if ":" in concept_id else f"{space}:{concept_id}",
            name,
            kind_of_types(types),
            tuple(
                Name(alias, kind_of_synonym(alias))
                for alias in map(str.strip, texts_of(record.get("aliases")))
                if alias and alias != name
            ),
        )


UMLS_JSONL = Format(
    "umls-jsonl",
    "umls",
    "scispaCy's JSON lines of concepts (umls_2022_ab_cat0129.jsonl)",
    lambda head: '"concept_id"' in head.line and '"canonical_name"' in head.line,
    _read_umls_jsonl,
)
UMLS_TYPES = Format(
    "umls-types",
    "umls",
    "UMLS's MRSTY.RRF",
    lambda head: _SEMANTIC_TYPE.fullmatch(head.line) is not None,
    _types_alone,
)
