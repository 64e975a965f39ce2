"""Terms of ontologies in any format, and the concepts that are made of them.

A term's kind follows from its prefix (DOID, CHEBI, GO, …) or its namespace. Cross-references that
a source calls anything but exact name something else and are left out. Obsolete terms, like
withdrawn genes, are no concepts: their names and ids are former ones of what took their place.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted, listing
from irplatform.knowledge.formats.reading import Format
from irplatform.knowledge.model import Concept, Name, NameKind, Relation, compact, kind_of_synonym
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Head
    from irplatform.knowledge.model import ConceptKind

_PREFIXES = {
    "UMLS_CUI": "UMLS", "NCI": "NCIT", "MIM": "OMIM", "MSH": "MESH", "ORDO": "ORPHANET",
    "ORPHA": "ORPHANET", "HPO": "HP", "SCTID": "SNOMEDCT", "ENTREZ": "NCBIGENE", "HGNC_ID": "HGNC",
    "UNIPROTKB": "UNIPROT",
}  # fmt: skip
_KINDS: dict[str, ConceptKind] = {
    **dict.fromkeys(("DOID", "MONDO", "ORPHANET", "HP", "MP", "SYMP", "OMIMPS"), "disease"),
    **dict.fromkeys(("disease_ontology", "human_phenotype"), "disease"),
    **dict.fromkeys(("CHEBI", "DRON", "DRUGBANK", "RXNORM", "chebi_ontology"), "drug"),
    **dict.fromkeys(("HGNC", "NCBIGENE", "ENSEMBL", "MGI", "OGG"), "gene"),
    **dict.fromkeys(("GO", "UBERON", "CL", "NCBITAXON", "PATO", "PR", "SO", "BFO", "RO"), "other"),
    **dict.fromkeys(("BTO", "CARO", "CHR", "CLO", "ECO", "ECTO", "ENVO", "FMA", "FOODON"), "other"),
    **dict.fromkeys(
        ("IAO", "MA", "MAXO", "MOD", "MS", "NBO", "OBI", "OBA", "UO", "UPHENO"), "other"
    ),
    **dict.fromkeys(("biological_process", "molecular_function", "cellular_component"), "other"),
}
"""By prefix, in capitals, or by namespace."""
_SCOPES: dict[str, NameKind] = {"NARROW": "narrow", "BROAD": "broad", "RELATED": "related"}
_ACRONYMS = ("omo:0003000", "omo:0003012", "omo_0003000", "omo_0003012", "abbreviation", "acronym")
_EXACT = re.compile(r"(?<!in)(?<!non-)(?<!not )(?:exact|equivalent|same_?as)", re.IGNORECASE)
_NOT_EXACT = re.compile(
    r"broad|narrow|close|related|sibling|sub-?class|super-?class|inexact|non-exact|not exact"
    r"|not equivalent|incorrect|wrong|different|undecided|not yet decided",
    re.IGNORECASE,
)
_CODE = re.compile(r"^\W*(E|NTBT|BTNT|NT|BT|RT|ND|W)\s*(?:\(|$)", re.IGNORECASE | re.MULTILINE)
"""Orphanet's words for a mapping: exact; narrower, broader, related; not decided; wrong."""
_OBSOLETE = re.compile(
    r"^(?:obsolete|deprecated)[\s_:.-]+(?=\S)|(?<=\S)\s*[\[(](?:obsolete|deprecated)[\])]$",
    re.IGNORECASE,
)
"""Before or behind the names of obsolete terms."""
_REPLACED_BY = {
    "IAO_0100001", "0100001", "replaced_by", "replacedBy", "isReplacedBy", "term_replaced_by",
    "use_term",
}  # fmt: skip
_LAST_PART = re.compile(r"[^/#:]*$")
_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9]*)_(\w*\d\w*)")
_PARTS_OF_ADDRESS = re.compile(r"[/#?=]+")
_NO_SPACES = {"concept", "entity", "entry", "id", "ontology", "phenotypicseries", "term"}
"""Parts of addresses that do not name the space of an id."""


@dataclass(slots=True)
class Term:
    """A term of an ontology, with its synonyms in `names`.

    `former` has ids before a merge, `replaced_by` those of what took an obsolete term's place.
    `mappings` has ids in other sources: True for the same thing, False for a near one, else None.
    """

    id: str
    name: str = ""
    namespace: str = ""
    names: list[Name] = field(default_factory=list)
    former: list[str] = field(default_factory=list)
    mappings: dict[str, bool | None] = field(default_factory=dict)
    parents: list[str] = field(default_factory=list)
    obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)

    def say(self, predicate: str, value: str) -> None:
        """Take a property that has one name in all formats, in any spelling of it."""
        name = _LAST_PART.search(predicate)[0]  # type: ignore[index]
        if name.endswith("Match"):
            self.map_to(value, name if _EXACT.search(name) else "related")
        elif name in _REPLACED_BY:
            self.replaced_by.append(term_id(value))
        elif name in {"deprecated", "is_obsolete"}:
            self.obsolete |= is_true(value)
        elif name in {"hasAlternativeId", "alt_id"}:
            self.former.append(term_id(value))
        elif name in {"hasOBONamespace", "namespace"}:
            self.namespace = value
        elif name in {"equivalentClass", "equivalent_to"}:
            self.map_to(value, "equivalent")
        elif name in {"subClassOf", "is_a"}:
            self.parents.append(term_id(value))
            self.obsolete |= value.endswith("#ObsoleteClass")

    def map_to(self, text: str, *strengths: str) -> None:
        """Add a cross-reference (SPACE:id or an address), with the ontology's words for it."""
        target = term_id(text)
        if ":" not in text or target.endswith(":") or target == self.id:
            return
        exact = are_exact(strengths)
        if self.mappings.get(target) is None or exact:
            self.mappings[target] = exact


def is_true(value: str) -> bool:
    """Whether a value of a property is true, as OWL, JSON and spreadsheets write it."""
    return value.strip().lower() in {"true", "1", "yes"}


def are_exact(words: Iterable[str]) -> bool | None:
    """Whether a source's words for a mapping say that it is exact; None if they say nothing."""
    texts = [text if " " in text else _LAST_PART.search(text)[0] for text in words]  # type: ignore[index]
    codes = {code.upper() for text in texts for code in _CODE.findall(text)}
    if "E" in codes or any(map(_EXACT.search, texts)):
        return True
    return False if codes or any(map(_NOT_EXACT.search, texts)) else None


class Withdrawn:
    """Entries of a source that are withdrawn, obsolete or merged, with what took their place."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[list[Name], list[str]]] = {}

    def add(self, entry_id: str, names: Iterable[Name], replaced_by: Iterable[str]) -> None:
        """Add an entry with its names, and the ids of what took its place."""
        self.entries[entry_id] = [*names], [*replaced_by]

    def given_to(self, living: Mapping[str, Concept]) -> Iterator[Concept]:
        """The names and ids of the entries, as former ones of the concepts that replaced them."""
        near = _SCOPES.values()
        for entry_id, (names, _) in self.entries.items():
            former = [n if n.kind in near else Name(n.text, "previous") for n in names if n.text]
            ids = [entry_id]
            for concept_id in ids:  # replaced ones may be replaced again
                ids += [i for i in self.entries.get(concept_id, ((), ()))[1] if i not in ids]
            heirs = [living[concept_id] for concept_id in ids[1:] if concept_id in living]
            xrefs = (entry_id,) if len(heirs) == 1 else ()  # two heirs are not the same thing
            for heir in heirs:
                yield Concept(heir.id, heir.name, heir.kind, tuple(former), xrefs)


def term_id(text: str) -> str:
    """The id of a term as a compact identifier.

    `http://purl.obolibrary.org/obo/DOID_1909` and `DOID:1909` → `DOID:1909`,
    `https://identifiers.org/mesh/D008545` → `MESH:D008545`, `melanoma` → `TERM:melanoma`.
    """
    text = text.strip()
    space, colon, rest = text.partition(":")
    if not colon:
        return f"TERM:{text}"
    if rest.startswith("//"):
        *parts, last = _PARTS_OF_ADDRESS.split(rest[2:].rstrip("/#"))
        if match := _OBO_ID.fullmatch(last):
            space, rest = match.groups()
        elif ":" in last:  # …/HGNC:1097
            space, _, rest = last.partition(":")
        else:
            spaces = (part for part in reversed(parts) if part.lower() not in _NO_SPACES)
            space, rest = next(spaces, "URL").removesuffix(".owl"), last
            space = space.split(".")[-2] if "." in space else space  # omim.org
    return cross_reference(space, rest)


def cross_reference(space: str, identifier: str) -> str:
    """A cross-reference as a compact identifier: SNOMEDCT_US_2023_03_01 is SNOMEDCT."""
    prefix = space.strip().upper()
    if prefix.startswith("SNOMEDCT"):
        prefix = "SNOMEDCT"
    return compact(f"{_PREFIXES.get(prefix, prefix)}:{identifier.strip()}")


def synonym(text: str, scope: str = "EXACT", *types: str) -> Name:
    """A synonym as a name, by its scope (EXACT, NARROW, BROAD, RELATED) and its types."""
    kind = _SCOPES.get(scope.upper())
    if kind is None:
        acronym = any(type_name.lower().endswith(_ACRONYMS) for type_name in types)
        kind = "abbreviation" if acronym else kind_of_synonym(text)
    return Name(text, kind)


def ontology_formats(
    name: str,
    descriptions: tuple[str, str],
    recognizes: Callable[[Head], bool],
    terms: Callable[[Path], Iterable[Term]],
    revision: int = 1,
) -> tuple[Format, Format]:
    """A format of ontologies, and the same for the Disease Ontology without imported terms."""

    def read(
        path: Path, kinds: Mapping[str, ConceptKind] = {}, only: str = ""
    ) -> Iterator[Concept | Relation]:
        return records(terms(path), path, kinds, only)

    any_kb, doid = descriptions
    of_doid = partial(read, only="DOID")
    suffix = name.removeprefix("obo-")
    return (
        Format(name, "", any_kb, recognizes, read, revision, kinds={}),
        Format(f"doid-{suffix}", "doid", doid, recognizes, of_doid, revision, kinds={}),
    )


def one_line(text: str) -> str:
    """A text without line ends and white space around it."""
    return " ".join(text.split())


def records(
    terms: Iterable[Term], path: Path, kinds: Mapping[str, ConceptKind], only: str = ""
) -> Iterator[Concept | Relation]:
    """The concepts and relations of an ontology's terms.

    Raises:
        InputError: no term has a name, or the prefix `only`.
    """
    left_out: Counter[str] = Counter()
    withdrawn = Withdrawn()
    living: dict[str, Concept] = {}
    missing: set[str] = set()
    unknown: Counter[str] = Counter()
    relations: list[Relation] = []
    for term in terms:
        prefix = term.id.partition(":")[0]
        name = _OBSOLETE.sub("", term.name)
        reason = (
            "obsolete" * (term.obsolete or name != term.name)
            or "without a name" * (not name)
            or "of other ontologies" * bool(only and prefix != only)
        )
        if reason:
            left_out[reason] += 1
            missing.add(term.id)
            if reason == "obsolete":
                withdrawn.add(term.id, [Name(name, "previous"), *term.names], term.replaced_by)
            continue
        kind = (
            kinds.get(prefix) or kinds.get("") or _KINDS.get(prefix) or _KINDS.get(term.namespace)
        )
        unknown[prefix] += kind is None
        same = (target for target, exact in term.mappings.items() if exact is not False)
        left_out["mappings"] += sum(exact is False for exact in term.mappings.values())
        concept = living[term.id] = Concept(
            term.id,
            term.name,
            kind or "other",
            (Name(term.name, "preferred"), *term.names),
            (*term.former, *same),
        )
        yield concept
        relations += [Relation(term.id, parent, "is-a") for parent in term.parents]
    yield from withdrawn.given_to(living)
    yield from (relation for relation in relations if relation.target_id not in missing)
    if not living:
        subject = f"no term of {only}" if only else "no term with a name"
        raise InputError(
            f"there is {subject} in it. Add another ontology under a name of your own.", path=path
        )
    weak = left_out.pop("mappings", 0)
    parts = [f"{counted(number, 'term')} {reason}" for reason, number in left_out.items()]
    parts += [f"{counted(weak, 'mapping')} that say broader, narrower or related"] * bool(weak)
    if parts:
        notice(f"{path}: left out: {', '.join(parts)}.")
    if unknown := +unknown:
        counts = listing([f"{prefix} ({number:,})" for prefix, number in unknown.most_common()])
        first = unknown.most_common(1)[0][0]
        notice(
            f"{path}: the kind of these terms is not known, so they are 'other': {counts}. Give it "
            f"with {option('kind')}, such as {option('kind', f'{first}=disease')}."
        )
