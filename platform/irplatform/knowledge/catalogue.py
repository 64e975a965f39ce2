"""The knowledge bases that can be added: where they are published, and their formats.

A user's table has the columns id, name, kind and, optionally, synonyms, parents and xrefs, whose
values are separated by `|`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from irplatform.errors import InputError, listing, unknown
from irplatform.knowledge.formats.genes import GENE_INFO, HGNC_CUSTOM, HGNC_JSON, HGNC_TABLE
from irplatform.knowledge.formats.mesh import MESH_ASCII, MESH_SUPPLEMENT, MESH_XML
from irplatform.knowledge.formats.ontologies import (
    DOID_GRAPH,
    DOID_OBO,
    DOID_OWL,
    OBO,
    OBO_GRAPH,
    OWL,
)
from irplatform.knowledge.formats.reading import Format, Head, Row, head_of, lines_of_cells, rows
from irplatform.knowledge.formats.relations import (
    CIVIC,
    CIVIC_2016,
    DGIDB,
    DRUGBANK,
    HETIONET_EDGES,
    HETIONET_NODES,
)
from irplatform.knowledge.formats.tables import TABLES
from irplatform.knowledge.formats.umls import RXNORM_RRF, UMLS_JSONL, UMLS_RRF, UMLS_TYPES
from irplatform.knowledge.model import (
    Concept,
    ConceptKind,
    Name,
    Relation,
    compact,
    kind_of_synonym,
    stored_keys,
)
from irplatform.spelling import option
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_KINDS = get_args(ConceptKind)
_NEEDED = ("id", "name", "kind")
_COLUMNS = (*_NEEDED, "synonyms", "parents", "xrefs")


def _read_table(path: Path) -> Iterator[Concept | Relation]:
    lines: dict[str, int] = {}
    parents: dict[str, None] = {}
    line, columns = next(lines_of_cells(path), (1, []))
    header = [column.lower() for column in columns]
    if twice := next((column for column in _COLUMNS if header.count(column) > 1), None):
        raise InputError(f"the header has the column '{twice}' twice.", path=path, line=line)
    for row in rows(path, _NEEDED, spelled=str.lower):
        concept_id, kind = _identifier(row, row.needed("id")), row.needed("kind").lower()
        if kind not in _KINDS:
            raise row.error(f"the kind '{kind}' is none of {', '.join(_KINDS)}.")
        if (first := lines.setdefault(concept_id, row.line)) != row.line:
            raise row.error(f"line {first} has the id '{concept_id}' too. Keep one of the two.")
        yield Concept(
            concept_id,
            _name(row, row.needed("name")),
            cast("ConceptKind", kind),
            tuple(
                Name(_name(row, text), kind_of_synonym(text))
                for text in row.pieces("|", "synonyms")
            ),
            tuple(_identifier(row, xref) for xref in row.pieces("|", "xrefs")),
        )
        for text in row.pieces("|", "parents"):
            parent = _identifier(row, text)
            parents[parent] = None
            yield Relation(concept_id, parent, "is-a")
    if unknown_parents := [parent for parent in parents if parent not in lines]:
        notice(
            f"{path}: {len(unknown_parents):,} of {len(parents):,} parents are not in this table "
            f"({listing(unknown_parents)}). Each counts only if another knowledge base has it."
        )


def _is_table(head: Head) -> bool:
    columns = {column.lower() for column in head.columns}
    return columns.issuperset(_NEEDED) and "::" not in head.text  # as nodes of Hetionet have it


def _name(row: Row, text: str) -> str:
    if not stored_keys(text):
        raise row.error(
            f"the name '{text}' has no letter or digit and would never be found. Write another; "
            "leave the cell of synonyms empty if there are none."
        )
    return text


def _identifier(row: Row, text: str) -> str:
    prefix, colon, rest = text.partition(":")
    if not colon:
        raise row.error(f"the id '{text}' has no prefix. Write it as PREFIX:{text}.")
    if not prefix.strip() or not rest.strip():
        raise row.error(f"the id '{text}' has nothing on one side of the colon.")
    return compact(text)


GENERIC = Format(
    "table",
    "",
    "a table with the columns id, name, kind, synonyms, parents, xrefs",
    _is_table,
    _read_table,
    revision=2,
)


FORMATS = (
    MESH_XML, MESH_SUPPLEMENT, MESH_ASCII, OBO, OBO_GRAPH, OWL, DOID_OBO, DOID_GRAPH, DOID_OWL,
    HGNC_TABLE, HGNC_JSON, HGNC_CUSTOM, CIVIC, CIVIC_2016, DGIDB, HETIONET_NODES, HETIONET_EDGES,
    DRUGBANK, GENE_INFO, UMLS_JSONL, UMLS_RRF, RXNORM_RRF, UMLS_TYPES, GENERIC,
    *TABLES,
)  # fmt: skip
"""The platform's own formats. Plugins register more (`register_knowledge`)."""


@dataclass(frozen=True)
class Source:
    """A published knowledge base: its title, and the address where its maker offers it."""

    title: str
    published: str


SOURCES = {
    "mesh": Source(
        "Medical Subject Headings", "https://nlmpubs.nlm.nih.gov/projects/mesh/MESH_FILES/xmlmesh/"
    ),
    "doid": Source(
        "Human Disease Ontology",
        "https://github.com/DiseaseOntology/HumanDiseaseOntology/tree/main/src/ontology",
    ),
    "hgnc": Source("human gene names", "https://www.genenames.org/download/archive/"),
    "civic": Source("clinical evidence on cancer variants", "https://civicdb.org/releases/main"),
    "dgidb": Source("drug–gene interactions", "https://dgidb.org/downloads"),
    "pharmacotherapydb": Source(
        "indications of drugs", "https://github.com/dhimmel/indications/tree/gh-pages/catalog"
    ),
    "hetionet": Source(
        "network of genes, diseases, drugs",
        "https://github.com/hetio/hetionet/tree/main/hetnet/tsv",
    ),
    "drugs": Source(
        "names of drugs", "https://github.com/fastdatascience/drug_named_entity_recognition"
    ),
    "umls": Source(
        "concepts of UMLS and RxNorm",
        "https://www.nlm.nih.gov/research/umls; as JSON lines https://github.com/allenai/scispacy",
    ),
    "mesh-xrefs": Source(
        "MeSH's cross-references", "https://github.com/gyorilab/gilda/tree/master/gilda/resources"
    ),
}
_OWN = (
    "A table of your own begins with a line of columns, separated by tabs: id, name, kind, and "
    "any of synonyms, parents, xrefs."
)


def format_of(path: Path, kb: str, name: str | None = None, more: Sequence[Format] = ()) -> Format:
    """The format of a file: the one named, or the first of `FORMATS` and `more` that fits.

    A name `kb` of `SOURCES` takes that source's formats alone.

    Raises:
        InputError: there is no such format, or the file is in none that fits.
    """
    formats = (*FORMATS, *more)
    if name is not None:
        by_name = {candidate.name: candidate for candidate in reversed(formats)}
        if name not in by_name:
            raise unknown("format", name, by_name, of="a knowledge base")
        head_of(path)
        return by_name[name]
    head = head_of(path)
    if not head.text:
        raise InputError("this file is empty.", path=path)
    fitting = [candidate for candidate in formats if kb not in SOURCES or candidate.kb == kb]
    for candidate in fitting:
        if candidate.recognizes(head):
            return candidate
    expected = "; ".join(candidate.description for candidate in fitting if kb in SOURCES)
    other = next((candidate for candidate in formats if candidate.recognizes(head)), None)
    scope = f" of '{kb}'. Known: {expected}." if expected else " that is known."
    if other is not None:
        name_for_it = f"the name '{other.kb}'" if other.kb else "a name of your own"
        hint = f"It looks like {other.description}: use {name_for_it}."
    else:
        hint = _OWN + f" Add it with {option('format', 'table')}." * bool(expected)
    raise InputError(f"this is not in a format{scope} {hint}", path=path, line=1)
