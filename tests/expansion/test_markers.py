"""Gene fields of precision medicine topics, taken apart."""

import pytest

from irplatform.expansion.gene_notation import codon, parse_markers, spellings


def genes(text):
    return [gene for marker in parse_markers(text) for gene in marker.genes]


def variants(text):
    return [variant for marker in parse_markers(text) for variant in marker.variants]


@pytest.mark.parametrize(
    ("text", "found_genes", "found_variants"),
    [
        ("BRAF", ["BRAF"], []),
        ("KRAS (G13D), BRAF (V600E)", ["KRAS", "BRAF"], ["G13D", "V600E"]),
        ("NF2 (K322), AKT1(E17K)", ["NF2", "AKT1"], ["K322", "E17K"]),
        ("FGFR1 Amplification, PTEN (Q171)", ["FGFR1", "PTEN"], ["Q171"]),
        ("EML4-ALK Fusion transcript", ["EML4", "ALK"], []),
        ("BCR::ABL1", ["BCR", "ABL1"], []),
        ("HLA-B27", ["HLA-B27"], []),
        ("HLA-DRB1, HLA-DQA1", ["HLA-DRB1", "HLA-DQA1"], []),
        ("HNF1A-AS1 expression", ["HNF1A-AS1"], []),
        ("NKX2-5", ["NKX2-5"], []),
        ("NTRK1-3 fusion", ["NTRK1", "NTRK2", "NTRK3"], []),
        ("KIT Exon 9 (A502_Y503dup)", ["KIT"], ["Exon 9", "A502_Y503dup"]),
        ("EGFR E746-A750del", ["EGFR"], ["E746-A750del"]),
        ("EGFR del E746-A750", ["EGFR"], ["del E746-A750"]),
        ("EGFR (L747–P753insS)", ["EGFR"], ["L747–P753insS"]),
        ("EGFR-V769dup", ["EGFR"], ["V769dup"]),
        ("BRCA1 185delAG", ["BRCA1"], ["185delAG"]),
        ("BRAF 1799T>A", ["BRAF"], ["1799T>A"]),
        ("TP53 p.R175*", ["TP53"], ["R175*"]),
        ("H3F3A K27M", ["H3F3A"], ["K27M"]),
        ("BRAF p.Val600Glu", ["BRAF"], ["Val600Glu"]),
        ("tumor cells negative for PD-L1 expression", ["PD-L1"], []),
        ("high tumor mutational burden", [], []),
        ("E2F1", ["E2F1"], []),
        ("BRCA2 (S1982fs)", ["BRCA2"], ["S1982fs"]),
        ("FLT3 (D835del)", ["FLT3"], ["D835del"]),
        ("CFTR (ΔF508)", ["CFTR"], ["F508del"]),
        ("CFTR deltaF508", ["CFTR"], ["F508del"]),
        ("EGFR (delE746-A750)", ["EGFR"], ["delE746-A750"]),
        ("APOE (p.Leu167del)", ["APOE"], ["Leu167del"]),
        ("EGFR p.(Glu746_Ala750del)", ["EGFR"], ["Glu746_Ala750del"]),
        ("TP53 p.Arg97Profs*23, p.Arg213*", ["TP53"], ["Arg97Profs*23", "Arg213*"]),
        ("KRAS (G12C/D/V)", ["KRAS"], ["G12C", "G12D", "G12V"]),
        ("FGFR1/2/3 amplification", ["FGFR1", "FGFR2", "FGFR3"], []),
        ("HER-2/neu", ["HER-2"], []),
        ("mTOR inhibition", ["mTOR"], []),
        ("mRNA expression", [], []),
        ("c-MET amplification", ["MET"], []),
        ("c-KIT mutation", ["KIT"], []),
        ("p53 mutation", ["p53"], []),
        ("BRAF p.(V600E)", ["BRAF"], ["V600E"]),
        ("F2R expression", ["F2R"], []),
        ("S100P", ["S100P"], []),
        ("EGFR S100P", ["EGFR"], ["S100P"]),
        ("PTEN L8R", ["PTEN"], ["L8R"]),
        ("HER2/neu overexpression", ["HER2"], []),
        ("PDGFRα, TGFβ1, IL-1β", ["PDGFRα", "TGFβ1", "IL-1β"], []),
        ("PDGFR-alpha (D842V)", ["PDGFR-alpha"], ["D842V"]),
        ("PML-RARα", ["PML", "RARα"], []),
        ("KRAS-WT", ["KRAS"], []),
        ("WT1 expression", ["WT1"], []),
        ("Philadelphia chromosome (BCR/ABL1; T315I)", ["BCR", "ABL1"], ["T315I"]),
        ('"Hedgehog" AND NOT (KRAS OR NRAS', ["KRAS", "NRAS"], []),
        ("n.a.", [], []),
        ("", [], []),
    ],
)
def test_genes_and_variants_are_told_apart(text, found_genes, found_variants):
    assert genes(text) == found_genes
    assert variants(text) == found_variants


def test_how_a_gene_is_altered_is_kept_apart_from_which_gene_it_is():
    (marker,) = parse_markers("PTEN loss of function")
    assert marker.genes == ("PTEN",)
    assert marker.alteration == "loss of function"
    assert marker.words == ""


@pytest.mark.parametrize(
    ("text", "alterations", "unaltered"),
    [
        ("KRAS-WT", ["wild-type"], [True]),
        ("WT KRAS", ["wild-type"], [True]),
        ("KRAS wild-type", ["wild-type"], [True]),
        ("HER2+, ER-, PR-", ["positive", "negative", "negative"], [False, True, True]),
        ("no BRAF mutation", ["wild-type"], [True]),
        ("FLT3-ITD, no mutation in IDH1", ["internal tandem duplication", "wild-type"], [0, 1]),
        ("BRAF mutation", [""], [False]),
        ("BRAF mutation, not V600E", ["", ""], [False, False]),
        ("no BRAF amplification", ["amplification"], [False]),
    ],
)  # fmt: skip
def test_a_gene_may_be_wanted_without_alteration(text, alterations, unaltered):
    markers = parse_markers(text)
    assert [marker.alteration for marker in markers] == alterations
    assert [marker.unaltered for marker in markers] == unaltered


def test_words_without_a_gene_are_all_kept():
    (marker,) = parse_markers("no tumor infiltrating lymphocytes")
    assert marker.words == "no tumor infiltrating lymphocytes"
    assert marker.alteration == ""


def test_marks_around_words_are_not_of_them():
    (marker,) = parse_markers('KRAS / "IL-6" [“BRAF”] amplification *')
    assert marker.genes == ("KRAS", "IL-6", "BRAF")
    assert (marker.alteration, marker.words) == ("amplification", "")


def test_commas_in_brackets_do_not_part():
    assert [m.text for m in parse_markers("KIT (L576P, K642E), NRAS")] == [
        "KIT (L576P, K642E)",
        "NRAS",
    ]


def test_a_variant_has_several_spellings():
    assert spellings("V600E") == ("V600E", "Val600Glu", "p.V600E", "p.Val600Glu")
    assert set(spellings("Val600Glu")) == set(spellings("V600E"))
    assert {"Q61*", "Q61X", "Gln61Ter"} <= set(spellings("Q61*"))
    assert set(spellings("Q61*")) < set(spellings("Gln61*"))
    forms = {"F508del", "Phe508del", "p.F508del", "p.Phe508del", "ΔF508", "deltaF508", "delF508"}
    assert forms == set(spellings("F508del")) == set(spellings("Phe508del"))
    assert "E746_A750delinsA" in spellings("Glu746_Ala750delinsAla")
    for spelling in ("E746-A750del", "E746–A750del", "delE746-A750", "del E746_A750"):
        assert {"E746_A750del", "E746-A750del", "p.E746_A750del"} <= set(spellings(spelling))
    assert spellings("c.68_69delAG") == ("c.68_69delAG",)
    assert spellings("Exon 9") == ("Exon 9",)


def test_the_place_of_a_substitution():
    assert codon("V600E") == codon("Val600Glu") == "V600"
    assert codon("A502_Y503dup") is None
