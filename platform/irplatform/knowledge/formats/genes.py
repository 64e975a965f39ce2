"""Human genes: HGNC's custom download and complete set, and NCBI's gene_info.

HUGO Gene Nomenclature Committee (Seal et al., Nucleic Acids Research 2023; genenames.org). A
withdrawn symbol is a previous symbol of the gene that took its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from irplatform.errors import InputError, counted
from irplatform.knowledge.formats.reading import (
    Format,
    Head,
    Unread,
    load,
    parts,
    rows,
    text_of,
    texts_of,
)
from irplatform.knowledge.formats.terms import Withdrawn, cross_reference
from irplatform.knowledge.model import Concept, Name, compact
from irplatform.system.console import notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Where: TypeAlias = Callable[[str], InputError]

_NOT_GENES = ("phenotype only", "fragile site", "region", "virus integration site")
_COMPLETE = (
    "name", "status", "locus_group", "locus_type", "alias_name", "prev_name", "alias_symbol",
    "prev_symbol", "entrez_id", "ensembl_gene_id", "uniprot_ids",
)  # fmt: skip
_CUSTOM = {
    "status": ("statu",), "locus_type": ("locustype",), "locus_group": ("locusgroup",),
    "alias_symbol": ("aliassymbol", "synonym", "aliase"), "prev_symbol": ("previoussymbol",),
    "entrez_id": ("ncbigeneid", "entrezgeneid"), "ensembl_gene_id": ("ensemblgeneid", "ensemblid"),
    "uniprot_ids": ("uniprotid", "uniprotaccession"),
}  # fmt: skip
"""Columns of the custom download for those of the complete set."""
_SPACES = (("entrez_id", "NCBIGENE"), ("ensembl_gene_id", "ENSEMBL"), ("uniprot_ids", "UNIPROT"))
_WITHDRAWN = re.compile(r"(?:symbol|entry) withdrawn(?:,? see (?P<heirs>.+))?", re.IGNORECASE)
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


class _Genes:
    """Makes concepts of HGNC's entries, in any of its forms."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._withdrawn = Withdrawn()
        self._living: dict[str, Concept] = {}
        """By id and by symbol."""

    def take(
        self, gene_id: str, symbol: str, record: dict[str, list[str]], error: Where
    ) -> Iterator[Concept]:
        """The gene of an entry, unless it is withdrawn; `record` has columns of the complete set.

        Raises:
            InputError: the id is not HGNC's, or another symbol had it before.
        """

        def cell(column: str) -> list[str]:
            return [text for text in record.get(column, []) if text]

        if not _ID.fullmatch(gene_id):
            raise error(f"'{gene_id}' is not an HGNC id (HGNC:1097).")
        withdrawal = next(filter(None, map(_WITHDRAWN.match, cell("name"))), None)
        bare = symbol.removesuffix(_MARK_OF_WITHDRAWN)
        is_approved = {status.lower() for status in cell("status")} <= {"approved"}
        locus = [*cell("locus_type"), *cell("locus_group")]
        if withdrawal or bare != symbol or not is_approved or "withdrawn" in locus:
            heirs = (withdrawal and withdrawal["heirs"]) or ""
            replaced_by = _ID.findall(heirs) or re.findall(r"[\w@.-]+", heirs)
            self._withdrawn.add(gene_id, [Name(bare, "previous")], replaced_by)
            return
        if (other := self._living.get(gene_id)) and other.name != symbol:
            raise error(f"'{gene_id}' is the id of {other.name}, too.")
        gene = Concept(
            gene_id,
            symbol,
            "other" if "".join(cell("locus_type")) in _NOT_GENES else "gene",
            (
                Name(symbol, "preferred"),
                *(Name(t, "synonym") for c in ("name", "alias_name", "prev_name") for t in cell(c)),
                *(Name(text, "alias") for text in cell("alias_symbol")),
                *(Name(text, "previous") for text in cell("prev_symbol")),
            ),
            tuple(
                compact(f"{space}:{identifier}")
                for column, space in _SPACES
                for identifier in cell(column)
            ),
        )
        self._living[gene_id] = self._living[symbol] = gene
        yield gene

    def others(self) -> Iterator[Concept]:
        """Symbols of withdrawn entries, as former ones of the genes that took their place."""
        yield from self._withdrawn.given_to(self._living)
        if number := len(self._withdrawn.entries):
            notice(f"{self._path}: left out: {counted(number, 'withdrawn gene')}.")


def _read_custom(path: Path) -> Iterator[Concept]:
    genes = _Genes(path)
    for row in rows(path, ("HGNC ID", "Approved symbol"), spelled=_column):
        with row.unread:
            record = {column: row.pieces(",", *names) for column, names in _CUSTOM.items()}
            names = (row.value("aliasname", "namesynonym"), row.value("previousname"))
            # Cells of names are like `"a, the first", "b"`, or one name without quotes.
            others = [name.strip(' "') for cell in names for name in _BETWEEN_NAMES.split(cell)]
            record |= {"name": [row.value("approvedname")], "alias_name": others}
            gene_id, symbol = row.needed("hgncid"), row.needed("approvedsymbol")
            yield from genes.take(gene_id, symbol, record, row.error)
    yield from genes.others()


def _read_complete_table(path: Path) -> Iterator[Concept]:
    genes = _Genes(path)
    for row in rows(path, ("hgnc_id", "symbol", "name")):
        with row.unread:
            record = {column: row.pieces("|", column) for column in _COMPLETE}
            record["name"] = [row["name"]]
            yield from genes.take(row.needed("hgnc_id"), row.needed("symbol"), record, row.error)
    yield from genes.others()


def _read_complete_json(path: Path) -> Iterator[Concept]:
    response = load(path, dict).get("response")
    entries = response.get("docs") if isinstance(response, dict) else None
    if not isinstance(entries, list):
        raise InputError("there is no list under 'response', 'docs'.", path=path)
    genes, unread = _Genes(path), Unread(path, "gene")
    for number, entry in enumerate(entries, start=1):
        with unread:
            gene_id = text_of(entry, "hgnc_id", path, f"gene {number}")
            symbol = text_of(entry, "symbol", path, f"gene {number}")
            record = {key: texts_of(value) for key, value in entry.items()}
            yield from genes.take(gene_id, symbol, record, InputError)
    yield from genes.others()
    unread.tell()


def _is_complete_json(head: Head) -> bool:
    return head.text.startswith("{") and '"response"' in head.text and '"hgnc_id"' in head.text


HGNC_CUSTOM = Format(
    "hgnc-custom",
    "hgnc",
    "genenames.org's custom download",
    lambda head: {"hgncid", "approvedsymbol"} <= set(map(_column, head.columns)),
    _read_custom,
    revision=3,
)
HGNC_TABLE = Format(
    "hgnc-complete",
    "hgnc",
    "genenames.org's hgnc_complete_set.txt",
    lambda head: head.has_columns("hgnc_id", "symbol", "locus_type"),
    _read_complete_table,
    revision=2,
)
HGNC_JSON = Format(
    "hgnc-json",
    "hgnc",
    "genenames.org's hgnc_complete_set.json",
    _is_complete_json,
    _read_complete_json,
    revision=2,
)


_HUMAN = "9606"
_NO_GENES_OF_NCBI = {"biological-region", "unknown"}
_NO_SYMBOL = "NEWENTRY"


def _read_gene_info(path: Path) -> Iterator[Concept]:
    """Read the human genes of gene_info."""
    others = genes = 0
    needed = ("tax_id", "GeneID", "Symbol", "Synonyms", "dbXrefs", "description")
    for row in rows(path, needed, spelled=_without_mark):
        with row.unread:
            symbol = row.value("Symbol")
            if row["tax_id"] != _HUMAN or not symbol or symbol == _NO_SYMBOL:
                others += 1
                continue
            genes += 1
            full = [row.value("Full_name_from_nomenclature_authority"), row.value("description")]
            former = row.value("Symbol_from_nomenclature_authority")
            names = [
                *(Name(text, "synonym") for text in dict.fromkeys(full) if text),
                *(
                    Name(text, "alias")
                    for text in (former, *parts(row.value("Synonyms"), "|"))
                    if text
                ),
                *(Name(text, "related") for text in parts(row.value("Other_designations"), "|")),
            ]
            references = (
                reference.partition(":") for reference in parts(row.value("dbXrefs"), "|")
            )
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
    if not genes:
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
