"""HGNC, CIViC and DGIdb."""

import json

import pytest

from irplatform.errors import InputError
from irplatform.knowledge import add, open_knowledge
from irplatform.knowledge.model import Name

CUSTOM_COLUMNS = (
    "HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\t"
    "NCBI Gene ID(supplied by NCBI)\tPrevious symbols\tEnsembl gene ID\tLocus type\n"
)
CUSTOM = CUSTOM_COLUMNS + (
    "HGNC:3236\tEGFR\tepidermal growth factor receptor\tApproved\tERBB1, ERRP\t1956\tERBB\t"
    "ENSG00000146648\tgene with protein product\n"
    "HGNC:6\tEGFX\tsymbol withdrawn, see [HGNC:3236](/x)\tSymbol Withdrawn\t\t\t\t\tunknown\n"
    "HGNC:7\tGONE\tentry withdrawn\tEntry Withdrawn\t\t\t\t\tunknown\n"
    "HGNC:8\tFRA1A\tfragile site\tApproved\t\t\t\t\tfragile site\n"
)
COMPLETE = (
    "hgnc_id\tsymbol\tname\tlocus_group\tlocus_type\tstatus\talias_symbol\talias_name\tprev_symbol\t"
    "prev_name\tentrez_id\tensembl_gene_id\tuniprot_ids\n"
    "HGNC:3236\tEGFR\tepidermal growth factor receptor\tprotein-coding gene\t"
    'gene with protein product\tApproved\t"ERBB1|ERRP"\terythroblastic leukemia viral\tERBB\t'
    '"epidermal growth factor receptor (avian)"\t1956\tENSG00000146648\tP00533\n'
)

CIVIC_2016 = (
    "genesymbol\tentrezgene\tvariant_name\tevidence_type\tevidence_direction\t"
    "evidence_level\tclinical_significance\tpubmed_id\tdisease_ontology_id\tdisease_name\tdrug_names\tapi_url\n"
    "ALK\t238\tF1245C\tPredictive\tSupports\tC: Case study\tResistance\t23598171\t769\t"
    "Neuroblastoma\tCrizotinib,Palbociclib (PD0332991)\thttps://civic/api/variants/549\n"
    "TP53\t7157\tMUTATION\tPrognostic\tDoes Not Support\tB: Clinical\tPoor Outcome\t1\tNA\t"
    "Odd Disease\tNA\thttps://civic/api/variants/2\n"
)
CIVIC_NIGHTLY = (
    "molecular_profile\tmolecular_profile_id\tdisease\tdoid\tphenotypes\ttherapies\t"
    "therapy_interaction_type\tevidence_type\tevidence_direction\tevidence_level\t"
    "significance\tevidence_statement\tcitation_id\tsource_type\tevidence_id\n"
    "BRAF V600E\t12\tMelanoma\t1909\t\tDabrafenib,Trametinib\tCombination\tPredictive\tSupports\t"
    "A\tSensitivity/Response\tIt works.\t23020132\tPubMed\t1409\n"
    "EGFR T790M AND EGFR L858R\t34\tMelanoma\t1909\t\t\t\tPredictive\tSupports\tB\tResistance\t.\t"
    "7\tASCO\t2\n"
)

DGIDB = (
    "gene_claim_name\tgene_concept_id\tgene_name\tinteraction_source_db_name\t"
    "interaction_source_db_version\tinteraction_type\tinteraction_score\tdrug_claim_name\t"
    "drug_concept_id\tdrug_name\tapproved\timmunotherapy\tanti_neoplastic\n"
    "BRAF\thgnc:1097\tBRAF\tCGI\t1\tinhibitor\t2.5\tVEMURAFENIB\trxcui:1147220\tVEMURAFENIB\tTRUE\t"
    "FALSE\tTRUE\n"
    "odd\tNULL\tNULL\tTTD\t1\tNULL\t1\tx\tNULL\tNULL\tFALSE\tFALSE\tFALSE\n"
)
DGIDB_2021 = (
    "gene_name\tgene_claim_name\tentrez_id\tinteraction_claim_source\tinteraction_types\t"
    "drug_claim_name\tdrug_claim_primary_name\tdrug_name\tdrug_concept_id\t"
    "interaction_group_score\tPMIDs\n"
    "BRAF\tBRAF\t673\tCGI\tinhibitor\tzelboraf\tvemurafenib\tVEMURAFENIB\tchembl:CHEMBL1229517\t1\t"
    "21639808,22356324\n"
)
COMMONS = (
    "primary_gene_name\tentrez_gene_id\tdrug_trade_name\tdrug_development_name\tprimary_drug_name\t"
    "drug_class\tinteraction_type\tcancer_type\n"
    "BRAF \t673\tVemurafenib\tna\tZelboraf\tRAF Inhibitor\tInhibition\tMelanoma\n"
)
CLEARITY = (
    "gene_name\tentrez_gene_id\treported_drug_response\tdrug_name\tdrug_trade_name\tdrug_class\r\n"
    "AKT1\t207\tSensitivity\t ARQ092\t\tAKT Inhibitors\r\n"
    "BRCA\t\tSensitivity\tOlaparib\t\tPARP Inhibitors\r\n"
)
TRIALS = (
    "Molecular Target\tEntrez Gene Name\tEnterez Gene Id\tDrug name\tOther drug name\t"
    "Interaction type\tClinical Trial ID(s)\n"
    "AKT1-3\tAKT1\t207\tMK2206\tAkt Inhibitor MK2206, MK-2206\tinhibitor\tNCT01245205\n"
)


HGNC_HEADERS = [
    "HGNC ID\tApproved Symbol\tApproved Name\tStatus\tPrevious Symbols\tSynonyms\tName Synonyms\t"
    "Entrez Gene ID",
    "HGNC ID\tApproved symbol\tApproved name\tStatus\tPrevious symbol\tAlias symbol\tAlias name\t"
    "NCBI gene ID",
    "HGNC ID\tApproved symbol\tApproved name\tStatus\tPrevious symbols\tAlias symbols\t"
    "Alias names\tNCBI Gene ID(supplied by NCBI)",
]


@pytest.mark.parametrize("header", HGNC_HEADERS)
def test_columns_of_hgnc_have_many_names(read, header, capsys):
    line = 'HGNC:3430\tERBB2\treceptor 2\tApproved\tNGL\tNEU, HER2\t"a, the first", "b"\t2064.0\n'
    gene = read("hgnc", "genes.txt", f"{header}\tChromosome\n{line[:-1]}\t17\n")[1]["HGNC:3430"]
    assert [(name.text, name.kind) for name in gene.names] == [
        ("ERBB2", "preferred"),
        ("receptor 2", "synonym"),
        ("a, the first", "synonym"),
        ("b", "synonym"),
        ("NEU", "alias"),
        ("HER2", "alias"),
        ("NGL", "previous"),
    ]
    assert gene.xrefs == ("NCBIGENE:2064",)
    assert "genes.txt: ignored columns: Chromosome." in capsys.readouterr().err


def test_biomart_has_a_line_for_each_alias(fresh_home, write):
    header = "HGNC ID\tApproved symbol\tApproved name\tAlias symbol\tPrevious name\n"
    lines = [
        "HGNC:1097\tBRAF\tB-Raf\tBRAF1\t",
        "HGNC:1097\tBRAF\tB-Raf\tB-RAF-1\tv-raf, murine",
        "HGNC:7\tGONE\tentry withdrawn\t\t",
    ]
    add("hgnc", [write("mart.txt", header + "\n".join(lines))])
    gene = open_knowledge(["hgnc"]).concept("HGNC:1097")
    assert {"BRAF1", "B-RAF-1", "v-raf, murine"} < {name.text for name in gene.names}
    assert open_knowledge(["hgnc"]).concept("HGNC:7") is None


GENE_INFO = (
    "#tax_id\tGeneID\tSymbol\tLocusTag\tSynonyms\tdbXrefs\tdescription\ttype_of_gene\t"
    "Full_name_from_nomenclature_authority\tOther_designations\n"
    "9606\t673\tBRAF\t-\tB-raf|BRAF1\tMIM:164757|HGNC:HGNC:1097|AllianceGenome:HGNC:1097\t"
    "B-Raf\tprotein-coding\tB-Raf proto-oncogene\tkinase B-raf\n"
    "10090\t109880\tBraf\t-\t-\t-\tBraf\tprotein-coding\t-\t-\n"
    "9606\t9\tLOC9\t-\t-\t-\ta region\tbiological-region\t-\t-\n"
)


@pytest.mark.parametrize("name", ["gene_info", "Homo_sapiens.gene_info.gz"])
def test_gene_info_of_ncbi(read, capsys, name):
    format_name, concepts, _ = read("ncbigene", name, GENE_INFO)
    assert format_name == "gene-info"
    assert {concept.name: concept.kind for concept in concepts.values()} == {
        "BRAF": "gene",
        "LOC9": "other",
    }
    gene = concepts["NCBIGENE:673"]
    assert gene.xrefs == ("OMIM:164757", "HGNC:1097")
    assert [(name.text, name.kind) for name in gene.names[1:]] == [
        ("B-Raf proto-oncogene", "synonym"),
        ("B-Raf", "synonym"),
        ("B-raf", "alias"),
        ("BRAF1", "alias"),
        ("kinase B-raf", "related"),
    ]
    assert "left out: 1 line of other species" in capsys.readouterr().err


def test_gene_info_may_have_lost_the_mark_of_its_header(read):
    text = GENE_INFO.removeprefix("#").replace("\n", "\r\n\r\n")
    assert "NCBIGENE:673" in read("ncbigene", "genes.tsv", f"\ufeff{text}")[1]


def test_of_hgnc_id_and_symbol_are_enough(read):
    text = "Alias symbol\tApproved symbol\tHGNC ID\nBRAF1\tBRAF\tHGNC:1097\n\tA1BG\tHGNC:5"
    _, concepts, _ = read("hgnc", "genes.tsv", text)
    assert [name.text for name in concepts["HGNC:1097"].names] == ["BRAF", "BRAF1"]
    assert [name.text for name in concepts["HGNC:5"].names] == ["A1BG"]


def test_symbols_may_be_marked_as_withdrawn(fresh_home, write):
    lines = [
        "HGNC ID\tApproved symbol\tApproved name",
        "HGNC:3236\tEGFR\tepidermal growth factor receptor",
        "HGNC:6\tEGFX~withdrawn\tsymbol withdrawn, see HGNC:3236",
        "HGNC:7\tGONE~withdrawn\t",
    ]
    add("hgnc", [write("old.txt", "\n".join(lines))])
    genes = open_knowledge(["hgnc"]).find("EGFX")
    assert [concept.id for concept in genes] == ["HGNC:3236"]
    assert not open_knowledge(["hgnc"]).find("GONE~withdrawn")


def test_gene_info_of_another_species_is_named(read):
    text = GENE_INFO.replace("\n9606\t", "\n10116\t")
    with pytest.raises(InputError, match="there is no human gene"):
        read("ncbigene", "gene_info", text)


@pytest.mark.parametrize(
    ("profile", "genes"),
    [
        ("BCR::ABL1 Fusion", {"BCR", "ABL1"}),
        ("v::ALK Fusion", {"ALK"}),
        ("EML4::ALK e20-e20", {"EML4", "ALK"}),
        ("NOT EGFR Amplification", set()),
        ("BRAF V600E AND NOT KRAS Mutation", set()),
        ("BCR::ABL1 Fusion AND ABL1 T315I", set()),
        ("NOTCH1 Mutation", {"NOTCH1"}),
    ],
)
def test_a_fusion_has_its_genes_and_a_negation_none(read, profile, genes):
    concepts = read("civic", "nightly.tsv", CIVIC_NIGHTLY.replace("BRAF V600E", profile, 1))[1]
    assert {concept.name for concept in concepts.values() if concept.kind == "gene"} == genes
    assert concepts["CIVIC.MPID:12"].name == profile


def test_numbers_that_a_spreadsheet_made_fractions_of_are_whole(read):
    text = CIVIC_2016.replace("\t238\t", "\t238.0\t").replace("\t769\t", "\t769.0\t")
    assert {"NCBIGENE:238", "DOID:769"} < set(read("civic", "civic.tsv", text)[1])
    complete = COMPLETE.replace("\t1956\t", "\t1956.0\t")
    assert "NCBIGENE:1956" in read("hgnc", "genes.txt", complete)[1]["HGNC:3236"].xrefs
    assert "NCBIGENE:673" in read("dgidb", "c.tsv", COMMONS.replace("\t673", "\t673.0"))[1]


def test_the_custom_download_of_hgnc(read):
    format_name, concepts, _ = read("hgnc", "genes.tsv.gz", CUSTOM)
    assert format_name == "hgnc-custom"
    assert set(concepts) == {"HGNC:3236", "HGNC:8"}
    egfr = concepts["HGNC:3236"]
    assert (egfr.name, egfr.kind) == ("EGFR", "gene")
    assert egfr.xrefs == ("NCBIGENE:1956", "ENSEMBL:ENSG00000146648")
    assert {name.text: name.kind for name in egfr.names} == {
        "EGFR": "preferred",
        "epidermal growth factor receptor": "synonym",
        "ERBB1": "alias",
        "ERRP": "alias",
        "ERBB": "previous",
    }
    assert concepts["HGNC:8"].kind == "other"


def test_a_withdrawn_symbol_is_a_previous_one_of_the_gene_that_replaced_it(fresh_home, write):
    from irplatform.knowledge import add, open_knowledge

    add("hgnc", [write("genes.tsv", CUSTOM)])
    (gene,) = open_knowledge(["hgnc"]).find("EGFX")
    assert gene.id == "HGNC:3236"
    assert Name("EGFX", "previous") in gene.names
    assert open_knowledge(["hgnc"]).find("GONE") == []


_TWICE = [{"hgnc_id": "HGNC:1097", "symbol": symbol} for symbol in ("BRAF", "KRAS")]


@pytest.mark.parametrize(
    ("name", "text", "warning"),
    [
        ("a.tsv", CUSTOM + "HGNC:8\tKRAS\ta name\tApproved\t\t\t\t\tunknown\n", ":6: 'HGNC:8' is"),
        (
            "b.txt",
            COMPLETE + COMPLETE.splitlines()[1].replace("EGFR", "KRAS") + "\n",
            ":3: 'HGNC:3",
        ),
        ("c.json", json.dumps({"response": {"docs": _TWICE}}), "'HGNC:1097' is the id of BRAF"),
    ],
)
def test_an_id_is_that_of_its_first_gene(read, capsys, name, text, warning):
    assert "KRAS" not in {gene.name for gene in read("hgnc", name, text)[1].values()}
    assert warning in capsys.readouterr().err
    read("hgnc", "same.tsv", CUSTOM + "".join(CUSTOM.splitlines(keepends=True)[1:2]))


def test_the_complete_set_of_hgnc_in_both_forms(read):
    format_name, concepts, _ = read("hgnc", "hgnc_complete_set.txt", COMPLETE)
    assert format_name == "hgnc-complete"
    header, line = (row.split("\t") for row in COMPLETE.splitlines())
    gene = dict(zip(header, line, strict=True))
    document = {key: value.strip('"').split("|") for key, value in gene.items()}
    document |= {"hgnc_id": gene["hgnc_id"], "symbol": gene["symbol"], "uuid": 3}
    text = json.dumps({"response": {"docs": [document]}})
    format_name, from_json, _ = read("hgnc", "hgnc_complete_set.json", text)
    assert format_name == "hgnc-json"
    assert from_json == concepts
    egfr = concepts["HGNC:3236"]
    assert egfr.xrefs == ("NCBIGENE:1956", "ENSEMBL:ENSG00000146648", "UNIPROT:P00533")
    assert Name("erythroblastic leukemia viral", "synonym") in egfr.names


def test_civic_of_2016(read):
    format_name, concepts, relations = read("civic", "civic.tsv", CIVIC_2016)
    assert format_name == "civic-2016"
    assert {c.id: (c.kind, c.name) for c in concepts.values()} == {
        "NCBIGENE:238": ("gene", "ALK"),
        "CIVIC.VID:549": ("variant", "ALK F1245C"),
        "DOID:769": ("disease", "Neuroblastoma"),
        "DRUG:crizotinib": ("drug", "Crizotinib"),
        "DRUG:palbociclib": ("drug", "Palbociclib"),
        "NCBIGENE:7157": ("gene", "TP53"),
        "CIVIC.VID:2": ("variant", "TP53 MUTATION"),
        "DISEASE:odddisease": ("disease", "Odd Disease"),
    }
    assert Name("PD0332991", "synonym") in concepts["DRUG:palbociclib"].names
    evidence = relations["DRUG:crizotinib", "drug-gene", "NCBIGENE:238"]
    assert evidence == "level C, Predictive, Resistance, PMID:23598171"
    doubt = relations["NCBIGENE:7157", "gene-disease", "DISEASE:odddisease"]
    assert "not supported" in doubt
    assert ("NCBIGENE:238", "gene-variant", "CIVIC.VID:549") in relations


def test_civic_of_tonight(read):
    format_name, concepts, relations = read("civic", "nightly.tsv", CIVIC_NIGHTLY)
    assert format_name == "civic-evidence"
    assert {c.id for c in concepts.values()} == {
        "GENE:BRAF",
        "CIVIC.MPID:12",
        "CIVIC.MPID:34",
        "DOID:1909",
        "DRUG:dabrafenib",
        "DRUG:trametinib",
    }
    evidence = relations["DRUG:dabrafenib", "drug-disease", "DOID:1909"]
    assert evidence == "level A, Predictive, Sensitivity/Response, PMID:23020132"
    assert "PMID" not in relations["CIVIC.MPID:34", "variant-disease", "DOID:1909"]


def test_dgidb_of_today_and_of_2021(read):
    format_name, concepts, relations = read("dgidb", "interactions.tsv", DGIDB)
    assert format_name == "dgidb-interactions"
    assert set(concepts) == {"HGNC:1097", "RXCUI:1147220"}
    assert relations == {("RXCUI:1147220", "drug-gene", "HGNC:1097"): "inhibitor, CGI"}
    _, concepts, relations = read("dgidb", "interactions21.tsv", DGIDB_2021)
    evidence = relations["CHEMBL:CHEMBL1229517", "drug-gene", "NCBIGENE:673"]
    assert evidence == "inhibitor, CGI, PMID:21639808, PMID:22356324"
    assert Name("zelboraf", "synonym") in concepts["CHEMBL:CHEMBL1229517"].names


def test_the_sources_of_dgidb(read):
    format_name, concepts, relations = read("dgidb", "commons.tsv", COMMONS)
    assert format_name == "dgidb-cancercommons"
    assert [n.text for n in concepts["DRUG:zelboraf"].names] == ["Vemurafenib"]
    assert list(relations) == [("DRUG:zelboraf", "drug-gene", "NCBIGENE:673")]
    format_name, _, relations = read("dgidb", "clearity.tsv", CLEARITY)
    assert format_name == "dgidb-clearity"
    assert list(relations) == [("DRUG:arq092", "drug-gene", "NCBIGENE:207")]
    format_name, concepts, relations = read("dgidb", "trials.tsv", TRIALS)
    assert format_name == "dgidb-clearity-trials"
    assert [n.text for n in concepts["DRUG:mk2206"].names] == ["MK-2206"]
    assert "NCT01245205" in relations["DRUG:mk2206", "drug-gene", "NCBIGENE:207"]


@pytest.mark.parametrize(
    ("kb", "text", "message"),
    [
        (
            "hgnc",
            CUSTOM.replace("Approved symbol", "approvedsymbols", 1).replace("HGNC ID", "HGNC", 1),
            "file.tsv:1: this is not in a format",
        ),
        (
            "dgidb",
            COMMONS.replace("\t673", "\t"),
            "file.tsv:2: the column 'entrez_gene_id' is empty",
        ),
    ],
)
def test_errors_name_the_line(read, kb, text, message):
    with pytest.raises(InputError) as caught:
        read(kb, "file.tsv", text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kb", "text", "warning"),
    [
        ("hgnc", CUSTOM + "HGNC:9\tcut", "file.tsv:6: 2 columns where the header has 9"),
        ("hgnc", CUSTOM.replace("HGNC:8", "8"), "file.tsv:5: '8' is not an HGNC id"),
        ("civic", CIVIC_2016.encode() + b"\xff\n", "file.tsv:4: byte 1 of this line is not UTF-8"),
    ],
)
def test_an_odd_line_is_left_out_and_named(read, capsys, kb, text, warning):
    assert read(kb, "file.tsv", text)[1]
    assert warning in capsys.readouterr().err
