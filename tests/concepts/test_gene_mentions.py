"""Which short names are the gene in an article, and which are a cell line, a unit or another gene.

Every example is one that was read in an abstract.
"""

import pytest

from irplatform.concepts.build import concept_table
from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.table import ConceptTable
from irplatform.knowledge import add

GENES = [
    # symbol, name, aliases, previous symbols
    ("ABCB1", "ATP binding cassette subfamily B member 1", "P-gp", "MDR1"),
    ("TBC1D9", "TBC1 domain family member 9", "MDR1", ""),
    ("FGF3", "fibroblast growth factor 3", "", "INT2"),
    ("INTS2", "integrator complex subunit 2", "INT2", ""),
    ("DCT", "dopachrome tautomerase", "TRP2|TRP-2", ""),
    ("TRP-AGG2-6", "transfer RNA proline", "", "TRP2"),
    ("MSMP", "microseminoprotein prostate associated", "PC3|PC-3", ""),
    ("TPCN1", "two pore segment channel 1", "TPC1", ""),
    ("VCAN", "versican", "PG-M", ""),
    ("CD59", "CD59 molecule", "MIN1", ""),
    ("EHD3", "EH domain containing 3", "PAST3", ""),
    ("ATXN1", "ataxin 1", "", "SCA1"),
    ("F10", "coagulation factor X", "", ""),
    ("SDS", "serine dehydratase", "", ""),
    ("IMPACT", "impact RWD domain protein", "", ""),
    ("BID", "BH3 interacting domain death agonist", "", ""),
    ("PART1", "prostate androgen-regulated transcript 1", "", ""),
    ("CAT", "catalase gene", "", ""),
    ("OAS2", "oligoadenylate synthetase 2", "", ""),
    ("PER1", "period circadian regulator 1", "", ""),
    ("TTF1", "transcription termination factor 1", "", ""),
    ("NKX2-1", "NK2 homeobox 1", "TTF-1|TTF1", ""),
    ("EGFR", "epidermal growth factor receptor", "ERBB1", ""),
    ("ERBB2", "erb-b2 receptor tyrosine kinase 2", "HER2|HER-2", ""),
    ("KRAS", "KRAS proto-oncogene, GTPase", "KRAS2", ""),
    ("BRAF", "B-Raf proto-oncogene", "", ""),
    ("TP53", "tumor protein p53", "p53", ""),
    ("MS4A1", "membrane spanning 4-domains A1", "CD20", ""),
    ("KRT7", "keratin 7", "CK7", ""),
    ("CD274", "CD274 molecule", "PD-L1|PDL1", ""),
    ("PDCD1", "programmed cell death 1", "PD-1|PD1", ""),
    ("MKI67", "marker of proliferation Ki-67", "Ki-67|MIB-1", ""),
    ("BCR", "BCR activator of RhoGEF", "", ""),
    ("ABL1", "ABL proto-oncogene 1", "c-ABL", ""),
    ("MET", "MET proto-oncogene", "c-Met", ""),
    ("MYC", "MYC proto-oncogene", "c-Myc", ""),
    ("ALK", "ALK receptor tyrosine kinase", "", ""),
    ("EML4", "EMAP like 4", "", ""),
]
HEAD = "hgnc_id\tsymbol\tname\tlocus_type\tstatus\talias_symbol\tprev_symbol\n"
OTHERS = """id\tname\tkind\tsynonyms\tparents\txrefs
X:1\tnepidermin\tdrug\thuman epidermal growth factor\t\t
X:2\tRosa\tother\tRose\t\t
X:3\tArt\tother\t\t\t
X:4\tBeds\tother\tBed\t\t
X:5\tPhiladelphia\tother\t\t\t
X:6\tPhiladelphia Chromosome\tdisease\t\t\t
X:7\tCyclin G\tdrug\t\t\t
X:8\tCulture\tother\t\t\t
X:9\tCulture Media\tother\t\t\t
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("genes")
    rows = [
        f"HGNC:{number}\t{symbol}\t{name}\tgene\tApproved\t{aliases}\t{previous}"
        for number, (symbol, name, aliases, previous) in enumerate(GENES, start=1)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRPLATFORM_HOME", str(place / "home"))
        (place / "hgnc.tsv").write_text(HEAD + "\n".join(rows))
        (place / "others.tsv").write_text(OTHERS)
        add("hgnc", [place / "hgnc.tsv"])
        add("others", [place / "others.tsv"])
        yield ConceptTable(concept_table(("hgnc", "others")))


@pytest.fixture(scope="module")
def found(table):
    matcher = NameMatcher(table)
    return lambda text: [table.names[mention.concept] for mention in matcher.mentions(text)]


@pytest.mark.parametrize(
    ("text", "gene"),
    [("MDR1", "ABCB1"), ("mdr-1 expression", "ABCB1"), ("int-2", "FGF3")],
)
def test_a_previous_symbol_goes_before_another_genes_alias(found, table, text, gene):
    assert found(text) == [gene]
    named = NameMatcher(table).named("MDR1")
    assert named is not None
    assert table.names[named] == "ABCB1"


def test_an_alias_that_was_anothers_symbol_counts_where_the_gene_is_named(found):
    assert found("INTS2, that is INT2") == ["INTS2", "FGF3"]
    assert found("integrator complex subunit 2") == ["INTS2"]
