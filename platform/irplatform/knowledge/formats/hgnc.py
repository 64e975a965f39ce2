"""Human gene names: the custom download and the complete set of genenames.org.

HUGO Gene Nomenclature Committee (Seal et al., Nucleic Acids Research 2023). A withdrawn symbol is a
previous symbol of the gene that took its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.knowledge.formats import reading as jsons
from irplatform.knowledge.formats.reading import Format, Head, rows
from irplatform.knowledge.model import Concept, Name, compact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from irplatform.knowledge.formats.reading import Row

_NOT_GENES = ("phenotype only", "fragile site", "region", "virus integration site")
"""Kinds of loci that are no genes."""
_COMPLETE = (
    "locus_type", "alias_name", "prev_name", "alias_symbol", "prev_symbol", "entrez_id",
    "ensembl_gene_id", "uniprot_ids",
)  # fmt: skip
"""Columns of the complete set that are read, beside id, symbol and name."""
_SEE = re.compile(r"symbol withdrawn, see .*?(HGNC:\d+)")
_WITHDRAWN = re.compile(r"(?:symbol|entry) withdrawn")
_MARK_OF_WITHDRAWN = "~withdrawn"
"""Behind symbols, in the downloads of some years."""
_ID = re.compile(r"HGNC:\d+")


_SUPPLIED = re.compile(r"\(supplied by .*|\W")
_BETWEEN_NAMES = re.compile(r'"\s*,\s*"')


def _column(title: str) -> str:
    """A column of genenames.org's downloads, whichever year's, or its BioMart's.

    `NCBI Gene ID(supplied by NCBI)` → `ncbigeneid`, `Alias symbols` → `aliassymbol`.
    """
    return _SUPPLIED.sub("", title.lower()).removesuffix("s")


def _custom(path: Path) -> Iterator[Concept]:
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
        genes.append(_custom_gene(gene_id, symbol, row))
    for gene in genes:
        names = [Name(symbol, "previous") for symbol in replaced.get(gene.id, ())]
        yield gene
        if names:
            yield Concept(gene.id, gene.name, gene.kind, tuple(names))


def _custom_gene(gene_id: str, symbol: str, row: Row) -> Concept:
    return _gene(
        gene_id,
        symbol,
        row.value("locustype"),
        synonyms=[
            row.value("approvedname"),
            *_whole_names(row, "aliasname", "namesynonym"),
            *_whole_names(row, "previousname"),
        ],
        aliases=row.pieces(",", "aliassymbol", "synonym", "aliase"),
        previous=row.pieces(",", "previoussymbol"),
        ids=(
            row.pieces(",", "ncbigeneid", "entrezgeneid"),
            row.pieces(",", "ensemblgeneid", "ensemblid"),
            row.pieces(",", "uniprotid", "uniprotaccession"),
        ),
    )


def _whole_names(row: Row, *columns: str) -> list[str]:
    """Names in cells like `"a, the first", "b"`, or a single one without quotes."""
    return [name.strip(' "') for name in _BETWEEN_NAMES.split(row.value(*columns))]


def _twice(symbols: dict[str, str], gene_id: str, symbol: str) -> str:
    """Add a gene; return what is wrong where its id had another symbol before, or ""."""
    other = symbols.setdefault(gene_id, symbol)
    return "" if other == symbol else f"'{gene_id}' is the id of {other}, too."


def _complete_table(path: Path) -> Iterator[Concept]:
    symbols: dict[str, str] = {}
    for row in rows(path, ("hgnc_id", "symbol", "name")):
        gene_id, symbol = row.needed("hgnc_id"), row.needed("symbol")
        if problem := _twice(symbols, gene_id, symbol):
            raise row.error(problem)
        record = {column: row.pieces("|", column) for column in _COMPLETE}
        yield _complete_gene(gene_id, symbol, {**record, "name": [row["name"]]})


def _complete_json(path: Path) -> Iterator[Concept]:
    response = jsons.load(path, dict).get("response")
    genes = response.get("docs") if isinstance(response, dict) else None
    if not isinstance(genes, list):
        raise InputError("there is no list under 'response', 'docs'.", path=path)
    symbols: dict[str, str] = {}
    for number, gene in enumerate(genes, start=1):
        gene_id = jsons.text(gene, "hgnc_id", path, f"gene {number}")
        symbol = jsons.text(gene, "symbol", path, f"gene {number}")
        if problem := _twice(symbols, gene_id, symbol):
            raise InputError(f"gene {number}: {problem}", path=path)
        yield _complete_gene(gene_id, symbol, {key: jsons.texts(v) for key, v in gene.items()})


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
    """Make a gene; `ids` are those of NCBI, Ensembl and UniProt."""
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


def _is_json(head: Head) -> bool:
    return head.text.startswith("{") and '"response"' in head.text and '"hgnc_id"' in head.text


HGNC_CUSTOM = Format(
    "hgnc-custom",
    "hgnc",
    "genenames.org's custom download",
    lambda head: {"hgncid", "approvedsymbol"} <= set(map(_column, head.columns)),
    _custom,
    revision=2,
)
HGNC_TABLE = Format(
    "hgnc-complete",
    "hgnc",
    "genenames.org's hgnc_complete_set.txt",
    lambda head: head.has_columns("hgnc_id", "symbol", "locus_type"),
    _complete_table,
)
HGNC_JSON = Format(
    "hgnc-json", "hgnc", "genenames.org's hgnc_complete_set.json", _is_json, _complete_json
)
