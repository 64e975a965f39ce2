"""Which short names are the gene in an article, and which are a cell line, a unit or another gene.

Every example is one that was read in an abstract.
"""

import pytest

from irplatform.concepts import ConceptOptions
from irplatform.concepts.ambiguity import is_known_alias, is_mostly_something_else
from irplatform.concepts.build import concept_table
from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.pipeline import ConceptPipeline
from irplatform.concepts.table import KINDS, ConceptTable
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
    ("MARCHF3", "membrane associated ring-CH-type finger 3", "", "MARCH3"),
    ("SEPTIN9", "septin 9", "", "SEPT9"),
    ("POU5F1", "POU class 5 homeobox 1", "OCT3|Oct4", ""),
    ("REST", "RE1 silencing transcription factor", "", ""),
]
HGNC = "hgnc_id\tsymbol\tname\tlocus_type\tstatus\talias_symbol\tprev_symbol\n" + "\n".join(
    f"HGNC:{number}\t{symbol}\t{name}\tgene\tApproved\t{aliases}\t{previous}"
    for number, (symbol, name, aliases, previous) in enumerate(GENES, start=1)
)
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
X:10\tfamilial febrile seizures 7\tdisease\tFEB7\t\t
"""


@pytest.fixture(scope="module")
def table(cache_of_module, tmp_path_factory):
    place = tmp_path_factory.mktemp("genes")
    (place / "hgnc.tsv").write_text(HGNC)
    (place / "others.tsv").write_text(OTHERS)
    add("hgnc", [place / "hgnc.tsv"])
    add("others", [place / "others.tsv"])
    return ConceptTable(concept_table(("hgnc", "others")))


@pytest.fixture(scope="module")
def names_in(table):
    matcher = NameMatcher(table)
    return lambda text: [table.names[mention.concept] for mention in matcher.mentions(text)]


@pytest.mark.parametrize(
    ("text", "gene"),
    [("MDR1", "ABCB1"), ("mdr-1 expression", "ABCB1"), ("int-2", "FGF3")],
)
def test_a_previous_symbol_goes_before_another_genes_alias(names_in, table, text, gene):
    assert names_in(text) == [gene]
    concept = NameMatcher(table).concept_of("MDR1")
    assert concept is not None
    assert table.names[concept] == "ABCB1"


def test_an_alias_that_was_anothers_symbol_counts_where_the_gene_is_named(names_in):
    assert names_in("INTS2, that is INT2") == ["INTS2", "FGF3"]
    assert names_in("integrator complex subunit 2") == ["INTS2"]


def test_a_known_alias_goes_before_another_genes_previous_symbol(names_in):
    assert names_in("gp75 and TRP-2") == ["DCT"]


@pytest.mark.parametrize(
    "text",
    [
        "PC-3 and PC3 cells",
        "TPC-1 cells",
        "Ion Torrent PGM",
        "10 ml min-1",
        "the past 3 decades",
        "Sca-1 positive",
        "B16-F10 melanoma",
        "by SDS-PAGE",
        "SDS",
        "MSK-IMPACT",
        "5 mg BID",
        "Part 1 of the study",
        "2 per 1,000",
        "GGT>CAT",
        "OAS 2.4 months",
        "MIB-1 index",
        "from March 3 to June 3 in 2015",
        "between Jan 5, 2009, and Sept 9, 2011",
        "between feb 7, 2013, and Oct 4, 2014",
        "MARCH 3, 2012 to SEPT 9 2014",
        "RECEIVED MARCH 3, REVISED SEPT 9",
        "Sept 9/10",
    ],
)
def test_cell_lines_units_dates_and_abbreviations_are_no_genes(names_in, text):
    assert names_in(text) == []


def test_an_ambiguous_symbol_counts_where_the_gene_is_named_too(names_in):
    assert names_in("serine dehydratase, SDS") == ["SDS", "SDS"]
    assert names_in("serine dehydratase by SDS-PAGE") == ["SDS"]
    assert names_in("coagulation factor X; F10; B16-F10") == ["F10", "F10"]
    assert names_in("versican is PG-M") == ["VCAN", "VCAN"]


def test_a_word_that_labels_a_section_is_no_gene(names_in):
    assert names_in("Sleep\nAIM: to sleep.\nREST: none. BRAF: none; REST: 5.") == ["BRAF"]
    assert names_in("REST: a review\nOf REST, and of REST:CoREST.") == ["REST"] * 3
    article = "A title\nREST: the RE1 silencing transcription factor."
    assert names_in(article) == ["REST", "REST"]


def test_a_date_counts_as_a_gene_where_the_gene_is_named_otherwise(names_in):
    assert names_in("septin 9 (Sept 9) is methylated") == ["SEPTIN9", "SEPTIN9"]
    assert names_in("POU class 5 homeobox 1 is Oct 4") == ["POU5F1", "POU5F1"]
    assert names_in("septin 9 until March 3") == ["SEPTIN9"]


def test_counts_and_units_are_no_genes_though_the_gene_is_named(names_in):
    assert names_in("EH domain containing 3 in the past 3 decades; PAST3") == ["EHD3", "EHD3"]
    assert names_in("CD59 molecule at 10 ml min-1; MIN1") == ["CD59", "CD59"]


def test_a_symbol_that_is_mostly_another_gene_leaves_it_the_name(names_in):
    assert names_in("TTF-1 and TTF1") == ["NKX2-1", "NKX2-1"]


@pytest.mark.parametrize(
    ("text", "gene"),
    [
        ("HER2", "ERBB2"), ("HER-2/neu", "ERBB2"), ("p53", "TP53"), ("K-ras", "KRAS"),
        ("B-raf", "BRAF"), ("B-Raf", "BRAF"), ("CD20+", "MS4A1"), ("CK7", "KRT7"),
        ("PD-L1", "CD274"), ("PDL1", "CD274"), ("PD-1", "PDCD1"), ("Ki-67", "MKI67"),
        ("c-ABL", "ABL1"), ("SEPT9", "SEPTIN9"), ("MARCH3", "MARCHF3"), ("OCT 3/4", "POU5F1"),
        ("Oct 3/4", "POU5F1"), ("Oct-4", "POU5F1"), ("MARCH 3", "MARCHF3"), ("c-MET", "MET"),
        ("OCT 3/4 IN GERM CELL TUMORS OF THE TESTIS", "POU5F1"), ("Oct 3 / 4", "POU5F1"),
        ("anti-Oct 4 antibody", "POU5F1"), ("Oct 4-positive cells", "POU5F1"),
        ("c-myc", "MYC"), ("OAS2", "OAS2"),
    ],
)  # fmt: skip
def test_what_articles_call_a_gene_is_the_gene(names_in, text, gene):
    assert names_in(text) == [gene]


@pytest.mark.parametrize("kind", ["gene", "drug", "other"])
@pytest.mark.parametrize("text", ["PD-L1", "CD274", "p53", "MET", "c-MET", "HER2"])
def test_a_gene_keeps_its_symbol_where_an_earlier_source_has_its_protein(
    names_in, tmp_path, monkeypatch, kind, text
):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    (tmp_path / "hgnc.tsv").write_text(HGNC)
    proteins = [
        f"MESH:D{number}\tProtein, {symbol}\t{kind}\t\t\tHGNC:{number}"
        for number, (symbol, *_) in enumerate(GENES, start=1)
    ]
    (tmp_path / "proteins.tsv").write_text("\n".join([OTHERS.splitlines()[0], *proteins]))
    add("hgnc", [tmp_path / "hgnc.tsv"])
    add("proteins", [tmp_path / "proteins.tsv"])
    one = ConceptTable(concept_table(("proteins", "hgnc")))
    (mention,) = NameMatcher(one).mentions(text)
    (symbol,) = names_in(text)
    assert one.names[mention.concept] == f"Protein, {symbol}"
    assert KINDS[one.kinds[mention.concept]] == "gene"


def test_genes_of_a_fusion_are_found(names_in):
    assert names_in("EML4-ALK and BCR-ABL") == ["EML4", "ALK", "BCR"]


def test_the_receptor_with_a_number_is_another_gene(names_in, table):
    assert names_in("human epidermal growth factor receptor 2") == ["ERBB2"]
    assert names_in("human epidermal growth factor 2") == ["ERBB2"]
    assert names_in("epidermal growth factor receptor") == ["EGFR"]
    text = "The human epidermal growth factor receptor 2 (HER2); HER2 is amplified."
    (mentions,) = ConceptPipeline(table, ConceptOptions(model="none")).mentions([("", text)])
    assert [table.names[mention.concept] for mention in mentions] == ["ERBB2"] * 3


@pytest.mark.parametrize(
    "text",
    ["rates rose", "state of the art", "nodal beds", "Ph chromosome", "Philadelphia", "cycling"],
)
def test_everyday_words_are_no_concepts(names_in, text):
    assert names_in(text) == []


def test_names_with_an_everyday_word_in_them_are(names_in):
    assert names_in("the Philadelphia chromosome in culture media") == [
        "Philadelphia Chromosome",
        "Culture Media",
    ]


def test_the_city_is_not_what_ph_abbreviates(table):
    text = "The Philadelphia (Ph) chromosome. Ph was found."
    (mentions,) = ConceptPipeline(table, ConceptOptions(model="none")).mentions([("", text)])
    assert "Philadelphia" not in {table.names[mention.concept] for mention in mentions}


def test_the_lists_of_gene_names():
    assert is_known_alias("HER-2", "ERBB2")
    assert is_known_alias("hMLH1", "MLH1")
    assert is_known_alias("CK20", "KRT20")
    assert not is_known_alias("CK20", "KRT2")
    assert not is_known_alias("HER2", "EGFR")
    assert is_mostly_something_else("GAA")  # a codon
    assert not is_mostly_something_else("KIT")
