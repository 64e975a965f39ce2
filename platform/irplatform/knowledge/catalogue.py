"""The knowledge bases that have importers, where their makers publish them, and their formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError, unknown
from irplatform.knowledge.formats.civic import CIVIC, CIVIC_2016
from irplatform.knowledge.formats.disease_ontology import DOID_GRAPH, DOID_OBO, OBO, OBO_GRAPH
from irplatform.knowledge.formats.drugbank import DRUGBANK
from irplatform.knowledge.formats.drugs import DGIDB
from irplatform.knowledge.formats.gene_info import GENE_INFO
from irplatform.knowledge.formats.generic import GENERIC, UMLS_JSONL
from irplatform.knowledge.formats.hetionet import HETIONET_EDGES, HETIONET_NODES
from irplatform.knowledge.formats.hgnc import HGNC_CUSTOM, HGNC_JSON, HGNC_TABLE
from irplatform.knowledge.formats.mesh import MESH_ASCII, MESH_SUPPLEMENT, MESH_XML
from irplatform.knowledge.formats.owl import DOID_OWL, OWL, other_syntax
from irplatform.knowledge.formats.reading import Format, Head, head_of
from irplatform.knowledge.formats.rrf import RXNORM_RRF, UMLS_RRF, UMLS_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMATS = (
    MESH_XML, MESH_SUPPLEMENT, MESH_ASCII, OBO, OBO_GRAPH, OWL, DOID_OBO, DOID_GRAPH, DOID_OWL,
    HGNC_TABLE, HGNC_JSON, HGNC_CUSTOM, CIVIC, CIVIC_2016, DGIDB, HETIONET_NODES, HETIONET_EDGES,
    DRUGBANK, GENE_INFO, UMLS_JSONL, UMLS_RRF, RXNORM_RRF, UMLS_TYPES, GENERIC,
)  # fmt: skip
"""The platform's own formats. Plugins register more (`register_knowledge`)."""


@dataclass(frozen=True)
class Source:
    """A knowledge base that somebody publishes.

    Attributes:
        title: what it is.
        published: where its maker offers it.
    """

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
"""By the name under which they are added."""


_OWN = (
    "A table of your own begins with a line of columns that are parted by tabs: id, name, kind, "
    "and any of synonyms, parents, xrefs."
)


def format_of(path: Path, kb: str, name: str | None = None, more: Sequence[Format] = ()) -> Format:
    """The format of a file.

    Args:
        path: the file.
        kb: the name under which it is added; one of `SOURCES` takes that source's formats alone.
        name: a format's name, where the user gave one.
        more: formats beside `FORMATS`, which come first.

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
    what = f" of '{kb}'. Known: {expected}." if expected else " that is known."
    if other is not None:
        hint = f"It looks like {other.description}: {_instead(other)}."
    elif syntax := other_syntax(head):
        hint = syntax
    else:
        hint = f"{_OWN}{_parted(head)}" + " Add it with --format table." * bool(expected)
    raise InputError(f"this is not in a format{what} {hint}", path=path, line=1)


def _instead(other: Format) -> str:
    return f"use the name '{other.kb}'" if other.kb else "use a name of your own"


def _parted(head: Head) -> str:
    """A hint, where a table has its columns parted by something else than tabs."""
    for mark, what in ((",", "commas"), (";", "semicolons")):
        if GENERIC.recognizes(Head(head.line.replace('"', "").replace(mark, "\t"))):
            return f" The columns of this one are parted by {what}: part them by tabs."
    return ""
