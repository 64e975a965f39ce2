"""Human genes: HGNC's custom download and complete set, and NCBI's gene_info.

HUGO Gene Nomenclature Committee (Seal et al., Nucleic Acids Research 2023; genenames.org). A
withdrawn symbol is a previous symbol of the gene that took its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError, counted
from irplatform.knowledge.formats.reading import Format, Head, load, parts, rows, text_of, texts_of
from irplatform.knowledge.formats.terms import cross_reference
from irplatform.knowledge.model import Concept, Name, compact
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_NOT_GENES = ("phenotype only", "fragile site", "region", "virus integration site")
_COMPLETE = (
    "locus_type", "alias_name", "prev_name", "alias_symbol", "prev_symbol", "entrez_id",
    "ensembl_gene_id", "uniprot_ids",
)  # fmt: skip
_SEE = re.compile(r"symbol withdrawn, see .*?(HGNC:\d+)")
_WITHDRAWN = re.compile(r"(?:symbol|entry) withdrawn")
_MARK_OF_WITHDRAWN = "~withdrawn"
"""Behind symbols, in the downloads of some years."""
_ID = re.compile(r"HGNC:\d+")
_SUPPLIED = re.compile(r"\(supplied by .*|\W")
_BETWEEN_NAMES = re.compile(r'"\s*,\s*"')


def _column(title: str) -> str:
    """A column of genenames.org's downloads of any year, or of its BioMart.

    `NCBI Gene ID(supplied by NCBI)` → `ncbigeneid`, `Alias symbols` → `aliassymbol`.
    """
    return _SUPPLIED.sub("", title.lower()).removesuffix("s")


def _read_custom(path: Path) -> Iterator[Concept]:
    replaced: dict[str, list[str]] = {}
    genes: list[Concept] = []
    symbols: dict[str, str] = {}
    for row in rows(path, ("HGNC ID", "Approved symbol"), spelled=_column):
        gene_id, symbol = row.needed("hgncid"), row.needed("approvedsymbol")
        if not _ID.fullmatch(gene_id):
            raise row.error(f"'{gene_id}' is not an HGNC id (HGNC:1097).")
        name, status = row.value("approvedname"), row.value("statu")
        is_marked = symbol.endswith(_MARK_OF_WITHDRAWN)
        if is_marked or _WITHDRAWN.match(name) or status not in {"", "Approved"}:
            if see := _SEE.match(name):
                before = symbol.removesuffix(_MARK_OF_WITHDRAWN)
                replaced.setdefault(see[1], []).append(before)
            continue
        if problem := _twice(symbols, gene_id, symbol):
            raise row.error(problem)
        names = (row.value("aliasname", "namesynonym"), row.value("previousname"))
        gene = _gene(
            gene_id,
            symbol,
            row.value("locustype"),
            # Cells of names are like `"a, the first", "b"`, or one name without quotes.
            synonyms=[
                name,
                *(each.strip(' "') for cell in names for each in _BETWEEN_NAMES.split(cell)),
            ],
            aliases=row.pieces(",", "aliassymbol", "synonym", "aliase"),
            previous=row.pieces(",", "previoussymbol"),
            ids=(
                row.pieces(",", "ncbigeneid", "entrezgeneid"),
                row.pieces(",", "ensemblgeneid", "ensemblid"),
                row.pieces(",", "uniprotid", "uniprotaccession"),
            ),
        )
        genes.append(gene)
    for gene in genes:
        yield gene
        if former := replaced.get(gene.id):
            names_then = tuple(Name(symbol, "previous") for symbol in former)
            yield Concept(gene.id, gene.name, gene.kind, names_then)


def _twice(symbols: dict[str, str], gene_id: str, symbol: str) -> str:
    """Add a gene; return an error if its id had another symbol before, or ""."""
    other = symbols.setdefault(gene_id, symbol)
    return "" if other == symbol else f"'{gene_id}' is the id of {other}, too."


def _read_complete_table(path: Path) -> Iterator[Concept]:
    symbols: dict[str, str] = {}
    for row in rows(path, ("hgnc_id", "symbol", "name")):
        gene_id, symbol = row.needed("hgnc_id"), row.needed("symbol")
        if problem := _twice(symbols, gene_id, symbol):
            raise row.error(problem)
        record = {column: row.pieces("|", column) for column in _COMPLETE}
        yield _complete_gene(gene_id, symbol, {**record, "name": [row["name"]]})


def _read_complete_json(path: Path) -> Iterator[Concept]:
    response = load(path, dict).get("response")
    genes = response.get("docs") if isinstance(response, dict) else None
    if not isinstance(genes, list):
        raise InputError("there is no list under 'response', 'docs'.", path=path)
    symbols: dict[str, str] = {}
    for number, gene in enumerate(genes, start=1):
        gene_id = text_of(gene, "hgnc_id", path, f"gene {number}")
        symbol = text_of(gene, "symbol", path, f"gene {number}")
        if problem := _twice(symbols, gene_id, symbol):
            raise InputError(f"gene {number}: {problem}", path=path)
        yield _complete_gene(gene_id, symbol, {key: texts_of(v) for key, v in gene.items()})


def _complete_gene(gene_id: str, symbol: str, record: dict[str, list[str]]) -> Concept:
    def cell(column: str) -> list[str]:
        return record.get(column, [])

    return _gene(
        gene_id,
        symbol,
        "".join(cell("locus_type")),
        synonyms=[*cell("name"), *cell("alias_name"), *cell("prev_name")],
        aliases=cell("alias_symbol"),
        previous=cell("prev_symbol"),
        ids=(cell("entrez_id"), cell("ensembl_gene_id"), cell("uniprot_ids")),
    )


def _gene(
    gene_id: str,
    symbol: str,
    locus: str,
    *,
    synonyms: Sequence[str],
    aliases: Sequence[str],
    previous: Sequence[str],
    ids: tuple[Sequence[str], Sequence[str], Sequence[str]],
) -> Concept:
    """A gene; `ids` are those of NCBI, Ensembl and UniProt."""
    entrez, ensembl, uniprot = ids
    return Concept(
        gene_id,
        symbol,
        "other" if locus in _NOT_GENES else "gene",
        (
            Name(symbol, "preferred"),
            *(Name(text, "synonym") for text in synonyms if text),
            *(Name(text, "alias") for text in aliases),
            *(Name(text, "previous") for text in previous),
        ),
        (
            *(compact(f"NCBIGENE:{identifier}") for identifier in entrez),
            *(f"ENSEMBL:{identifier}" for identifier in ensembl),
            *(f"UNIPROT:{identifier}" for identifier in uniprot),
        ),
    )


def _is_complete_json(head: Head) -> bool:
    return head.text.startswith("{") and '"response"' in head.text and '"hgnc_id"' in head.text


HGNC_CUSTOM = Format(
    "hgnc-custom",
    "hgnc",
    "genenames.org's custom download",
    lambda head: {"hgncid", "approvedsymbol"} <= set(map(_column, head.columns)),
    _read_custom,
    revision=2,
)
HGNC_TABLE = Format(
    "hgnc-complete",
    "hgnc",
    "genenames.org's hgnc_complete_set.txt",
    lambda head: head.has_columns("hgnc_id", "symbol", "locus_type"),
    _read_complete_table,
)
HGNC_JSON = Format(
    "hgnc-json",
    "hgnc",
    "genenames.org's hgnc_complete_set.json",
    _is_complete_json,
    _read_complete_json,
)


_HUMAN = "9606"
_NO_GENES_OF_NCBI = {"biological-region", "unknown"}
_NO_SYMBOL = "NEWENTRY"


def _read_gene_info(path: Path) -> Iterator[Concept]:
    """Read the human genes of gene_info."""
    others = taken = 0
    needed = ("tax_id", "GeneID", "Symbol", "Synonyms", "dbXrefs", "description")
    for row in rows(path, needed, spelled=_without_mark):
        symbol = row.value("Symbol")
        if row["tax_id"] != _HUMAN or not symbol or symbol == _NO_SYMBOL:
            others += 1
            continue
        taken += 1
        full = [row.value("Full_name_from_nomenclature_authority"), row.value("description")]
        former = row.value("Symbol_from_nomenclature_authority")
        names = [
            *(Name(text, "synonym") for text in dict.fromkeys(full) if text),
            *(Name(text, "alias") for text in (former, *parts(row.value("Synonyms"), "|")) if text),
            *(Name(text, "related") for text in parts(row.value("Other_designations"), "|")),
        ]
        references = (each.partition(":") for each in parts(row.value("dbXrefs"), "|"))
        yield Concept(
            cross_reference("NCBIGENE", row.needed("GeneID")),
            symbol,
            "other" if row.value("type_of_gene") in _NO_GENES_OF_NCBI else "gene",
            (Name(symbol, "preferred"), *(name for name in names if name.text != symbol)),
            tuple(
                cross_reference(space, rest)
                for space, _, rest in references
                if space != "AllianceGenome"  # HGNC's id once more
            ),
        )
    if not taken:
        raise InputError(f"there is no human gene (#tax_id {_HUMAN}) in it.", path=path)
    if others:
        notice(f"{path}: left out: {counted(others, 'line')} of other species or without a symbol.")


def _without_mark(title: str) -> str:
    """The name of a column; the first is `#tax_id` in NCBI's files."""
    return title.removeprefix("#")


GENE_INFO = Format(
    "gene-info",
    "",
    "NCBI's gene_info",
    lambda head: {"tax_id", "GeneID", "Symbol"} <= set(map(_without_mark, head.columns)),
    _read_gene_info,
)
