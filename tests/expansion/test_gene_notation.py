"""Ways of writing a gene field, brought to one."""

import pytest

from irplatform.expansion.gene_notation import parse_markers, written_out


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("EGFR-mutated", "EGFR mutated"),
        ("BRAF V600E-mutant", "BRAF V600E mutant"),
        ("ALK+", "ALK positive"),
        ("PD-L1-positive", "PD-L1 positive"),
        ("BRAF-V600E", "BRAF V600E"),
        ("BRAF-p.V600E", "BRAF p.V600E"),
        ("BRAFV600E", "BRAF V600E"),
        ("KRASG12C", "KRAS G12C"),
        ("JAK2V617F", "JAK2 V617F"),
        ("METex14 skipping", "MET exon 14 skipping"),
        ("MET ex 14", "MET exon 14"),
        ("EGFRvIII", "EGFR vIII"),
        ("cMET", "MET"),
        ("c-KIT", "KIT"),
        ("N-myc", "MYCN"),
        ("c-Myc", "MYC"),
        ("K-ras", "KRAS"),
        ("Her2", "HER2"),
        ("Bcl-2", "BCL-2"),
        ("FLT3-ITD", "FLT3 internal tandem duplication"),
        ("FGFR1/2/3", "FGFR1 FGFR2 FGFR3"),
        ("CDKN2A/B", "CDKN2A CDKN2B"),
        ("NTRK1-3", "NTRK1 NTRK2 NTRK3"),
        ("BRAF V600E/K", "BRAF V600E V600K"),
    ],
)
def test_what_runs_together_is_parted(part, expected):
    assert written_out(part) == expected


@pytest.mark.parametrize(
    "part",
    [
        "TMEM16A",
        "TMEM106A",
        "CCDC102A",
        "PLA2G12A",
        "FAM13A",
        "PD-L1",
        "HLA-B27",
        "NF-kappaB",
        "TGF-beta",
        "EML4-ALK",
        "IL-6",
        "CD19",
    ],
)
def test_symbols_stay_as_they_are(part):
    assert written_out(part) == part


@pytest.mark.parametrize("text", ["None", "N/A", "n/a.", "unknown", "Not specified", "-", " ? "])
def test_a_field_that_says_there_is_nothing_has_no_parts(text):
    assert parse_markers(text) == ()


def test_alleles_are_variants_of_their_genes():
    (marker,) = parse_markers("HLA-B*15:02")
    assert (marker.genes, marker.variants) == (("HLA-B",), ("HLA-B*15:02",))
    (marker,) = parse_markers("TP53 R175*")
    assert (marker.genes, marker.variants) == (("TP53",), ("R175*",))


def test_two_proteins_beside_a_slash_are_two_genes():
    (marker,) = parse_markers("PD-1/PD-L1")
    assert marker.genes == ("PD-1", "PD-L1")


def test_a_letter_with_a_number_is_a_gene_only_where_it_numbers_no_word():
    (marker,) = parse_markers("cyclin D1")
    assert (marker.genes, marker.words) == ((), "cyclin D1")
    (marker,) = parse_markers("H3 K27M")
    assert marker.genes == ("H3",)


@pytest.mark.parametrize(
    ("text", "alteration"),
    [
        ("MGMT promoter methylation", "promoter methylation"),
        ("MYCN-amplified", "amplification"),
        ("HER2-low", "low"),
        ("CFTR deltaF508", ""),  # a variant
        ("wild type KRAS", "wild type"),
        ("KRAS-mutant", ""),
        ("BRAF V600E mutation", ""),
        ("high serum LDH levels", ""),
    ],
)
def test_what_stands_behind_a_gene_says_how_it_is_altered(text, alteration):
    (marker,) = parse_markers(text)
    assert marker.alteration == alteration
