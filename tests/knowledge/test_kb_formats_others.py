"""PharmacotherapyDB, Hetionet, drug names, MeSH's cross-references, one's own table."""

import json

import pytest

from irplatform.errors import InputError
from irplatform.knowledge.model import Name

INDICATIONS = (
    "doid_id\tdrugbank_id\tdisease\tdrug\tcategory\tn_curators\tn_resources\n"
    "DOID:10652\tDB00843\tAlzheimer's disease\tDonepezil\tDM\t2\t1\n"
    "DOID:10652\tDB00163\tAlzheimer's disease\tVitamin E\tNOT\t3\t1\n"
)
NODES = (
    "id\tname\tkind\n"
    "Gene::673\tBRAF\tGene\n"
    "Disease::DOID:1909\tmelanoma\tDisease\n"
    "Compound::DB08881\tVemurafenib\tCompound\n"
    "Side Effect::C0000727\tAcute abdomen\tSide Effect\n"
)
EDGES = (
    "source\tmetaedge\ttarget\n"
    "Disease::DOID:1909\tDaG\tGene::673\n"
    "Compound::DB08881\tCtD\tDisease::DOID:1909\n"
    "Compound::DB08881\tCcSE\tSide Effect::C0000727\n"
    "Pharmacologic Class::N0000175605\tPCiC\tCompound::DB08881\n"
    "Gene::673\tGr>G\tGene::5604\n"
    "Compound::DB08881\tCbG\tGene::673\n"
    "Compound::DB08881\tCdG\tGene::5604\n"
)
DISEASE_GENES = (
    "doid_id\tdoid_name\tentrez_gene_id\tgene_symbol\tsources\tlicense\n"
    "DOID:1909\tmelanoma\t673\tBRAF\tDISEASES|DisGeNET\t\n"
)
DRUG_GENES = (
    "drugbank_id\tentrez_gene_id\tsources\tpubmed_ids\tactions\taffinity_nM\tlicense\turls\n"
    "DB08881\t673\tDrugBank (target)\t1|2\tinhibitor\t\tCC\t\n"
)
DRUGS = {
    "drug_variant_to_canonical": {
        "gefitinib": ["gefitinib"],
        "iressa 250 mg": ["gefitinib"],
        "nothing known": ["nothing known"],
    },
    "drug_canonical_to_data": {
        "gefitinib": {"name": "Gefitinib", "drugbank_id": "DB00317", "mesh_id": "D000092004"},
        "nothing known": {"name": "Nothing known"},
    },
}
MAPPINGS = (
    "MESH\tD000077484\tVemurafenib\tCHEBI\tCHEBI:63637\tvemurafenib\n"
    "MESH\tD018719\tReceptor, ErbB-2\tHGNC\t3430\tERBB2\n"
)
OWN = "id\tname\tkind\tsynonyms\tparents\nmy:1\tthing\tdisease\tit|THNG\tmy:2|my:3\n"


def test_indications_leave_out_what_curators_rejected(read):
    format_name, concepts, relations = read("pharmacotherapydb", "indications.tsv.gz", INDICATIONS)
    assert format_name == "indications"
    assert set(concepts) == {"DOID:10652", "DRUGBANK:DB00843", "DRUGBANK:DB00163"}
    assert relations == {("DRUGBANK:DB00843", "drug-disease", "DOID:10652"): "disease-modifying"}


def test_the_nodes_of_hetionet(read):
    format_name, concepts, _ = read("hetionet", "nodes.tsv", NODES)
    assert format_name == "hetionet-nodes"
    assert {c.id: c.kind for c in concepts.values()} == {
        "NCBIGENE:673": "gene",
        "DOID:1909": "disease",
        "DRUGBANK:DB08881": "drug",
        "UMLS:C0000727": "other",
    }


def test_the_edges_of_hetionet_go_from_drugs_to_genes_to_diseases(read):
    format_name, _, relations = read("hetionet", "edges.sif.gz", EDGES)
    assert format_name == "hetionet-edges"
    assert relations == {
        ("NCBIGENE:673", "gene-disease", "DOID:1909"): "associates",
        ("DRUGBANK:DB08881", "drug-disease", "DOID:1909"): "treats",
        ("DRUGBANK:DB08881", "drug-side-effect", "UMLS:C0000727"): "causes",
        ("DRUGBANK:DB08881", "is-a", "NDFRT:N0000175605"): "",
        ("NCBIGENE:673", "gene-gene", "NCBIGENE:5604"): "regulates",
        ("DRUGBANK:DB08881", "drug-gene", "NCBIGENE:673"): "binds",
        ("DRUGBANK:DB08881", "drug-gene-expression", "NCBIGENE:5604"): "downregulates",
    }


def test_the_tables_behind_the_edges_of_hetionet(read):
    format_name, concepts, relations = read("hetionet", "DaG.tsv", DISEASE_GENES)
    assert format_name == "hetionet-disease-gene"
    assert concepts["NCBIGENE:673"].name == "BRAF"
    assert relations == {
        ("NCBIGENE:673", "gene-disease", "DOID:1909"): "associates: DISEASES, DisGeNET"
    }
    format_name, _, relations = read("hetionet", "CbG.tsv", DRUG_GENES)
    assert format_name == "hetionet-drug-gene"
    assert relations == {
        ("DRUGBANK:DB08881", "drug-gene", "NCBIGENE:673"): "inhibitor: DrugBank (target)"
    }


def test_drug_names_have_no_dosage_and_no_class_as_cross_reference(read):
    format_name, concepts, _ = read("drugs", "drugs.json.gz", json.dumps(DRUGS))
    assert format_name == "drug-names"
    gefitinib = concepts["DRUGBANK:DB00317"]
    assert [name.text for name in gefitinib.names] == ["gefitinib", "iressa"]
    assert gefitinib.xrefs == ()
    assert concepts["DRUG:nothingknown"].kind == "drug"


def test_cross_references_of_mesh(read):
    format_name, concepts, _ = read("mesh-xrefs", "mappings.tsv.gz", MAPPINGS)
    assert format_name == "mesh-mappings"
    assert concepts["MESH:D000077484"].xrefs == ("CHEBI:63637",)
    assert concepts["MESH:D018719"].xrefs == ("HGNC:3430",)


def test_a_table_of_ones_own(read):
    format_name, concepts, relations = read("mine", "mine.tsv", OWN)
    assert format_name == "table"
    assert concepts["MY:1"].names == (Name("it", "synonym"), Name("THNG", "abbreviation"))
    assert set(relations) == {("MY:1", "is-a", "MY:2"), ("MY:1", "is-a", "MY:3")}


def test_the_case_of_columns_and_kinds_makes_no_difference(read, capsys):
    text = OWN.replace("id\tname", "ID\tName").replace("parents", "Parents")
    assert read("mine", "mine.tsv", text.replace("disease", "Disease")) == read("mine", "m", OWN)
    assert "ignored columns" not in capsys.readouterr().err


def test_quotes_of_spreadsheets_are_no_part_of_a_text(read):
    row = 'Q:1\t"naive ""x"""\tdisease\t"a ""b"" c|d"\t\n'
    _, concepts, _ = read("mine", "mine.tsv", OWN.splitlines()[0] + "\n" + row)
    assert concepts["Q:1"].name == 'naive "x"'
    assert [name.text for name in concepts["Q:1"].names] == ['a "b" c', "d"]


def test_columns_that_are_not_read_are_told(read, capsys):
    read("mine", "mine.tsv", OWN.replace("synonyms", "synonym"))
    assert "mine.tsv: ignored columns: synonym." in capsys.readouterr().err
    read("mine", "mine.tsv", OWN)
    assert "ignored columns" not in capsys.readouterr().err


def test_parents_that_are_not_in_the_table_are_told(read, capsys):
    _, _, relations = read("mine", "f", OWN + "my:3\tthird\tdisease\t\t\n")
    assert capsys.readouterr().err.partition("f: ")[2] == (
        "1 of 2 parents are not in this table (MY:2). Each counts only if another knowledge "
        "base has it.\n"
    )
    assert len(relations) == 2
    read("mine", "f", OWN + "my:3\tthird\tdisease\t\t\nmy:2\tsecond\tdisease\t\t\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("kb", "text", "message"),
    [
        ("pharmacotherapydb", INDICATIONS.replace("NOT", "NO"), "f:3: the category 'NO'"),
        ("drugs", '{"drug_variant_to_canonical": 1}', "f: there is no object under"),
        ("mesh-xrefs", MAPPINGS + "MESH\tD1\t\tX\tY\tZ\n", "f:3: this line is not"),
        ("mine", OWN + OWN.splitlines()[1], "f:3: line 2 has the id 'MY:1' too"),
        ("mine", OWN.replace("my:1", "1"), "f:2: the id '1' has no prefix"),
        ("mine", OWN.replace("disease", "illness"), "f:2: the kind 'illness' is none of"),
        ("mine", OWN.replace("THNG", "--"), "f:2: the name '--' has no letter or digit"),
        ("mine", OWN.replace("thing", "---"), "f:2: the name '---' has no letter or digit"),
        ("mine", OWN.replace("my:3", "3"), "f:2: the id '3' has no prefix"),
        ("mine", OWN.replace("my:3", "my:"), "has nothing on one side of the colon"),
        ("mine", OWN.replace("my:1", ":1"), "has nothing on one side of the colon"),
        (
            "mine",
            OWN.replace("parents", "synonyms"),
            "f:1: the header has the column 'synonyms'",
        ),
        ("mesh", OWN, "f:1: this is not in a format of 'mesh'. Known: "),
        ("mesh", OWN, "entry terms, tree numbers, taxon, without a header"),
        ("mesh", OWN, "It looks like a table with the columns id, name, kind"),
        ("mesh", OWN, "xrefs: use a name of your own."),
        ("mine", OWN.replace("\t", ","), "separated by tabs: id, name, kind"),
        ("mine", OWN.replace("\t", ","), "f:1: this is not in a format that is known. A table of"),
    ],
)
def test_errors_name_the_line(read, kb, text, message):
    with pytest.raises(InputError) as caught:
        read(kb, "f", text)
    assert message in str(caught.value)


DRUGBANK = (
    "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
    'DB00317,APRD01 | DB1,Gefitinib,184475-35-2,S65743JHBS,"Iressa | ZD1839 | 4,6-quinazoline",X\n'
    '"DB00002",,"Cetuximab, a",,,,\n'
)


def test_the_open_vocabulary_of_drugbank(read, capsys):
    format_name, concepts, _ = read("drugbank", "drugbank vocabulary.csv", DRUGBANK)
    assert format_name == "drugbank"
    drug = concepts["DRUGBANK:DB00317"]
    assert (drug.name, drug.kind) == ("Gefitinib", "drug")
    assert [name.text for name in drug.names] == ["Iressa", "ZD1839", "4,6-quinazoline"]
    assert drug.xrefs == (
        "DRUGBANK:APRD01",
        "DRUGBANK:DB1",
        "CAS:184475-35-2",
        "UNII:S65743JHBS",
    )
    assert concepts["DRUGBANK:DB00002"].name == "Cetuximab, a"
    assert "ignored columns: Standard InChI Key." in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffCommon name,DrugBank ID,Synonyms\r\nGefitinib,DB1,Iressa | ZD1839\r\n",
        '"Synonyms", "Common name", "DrugBank ID"\n"Iressa | ZD1839", "Gefitinib", "DB1"',
        "DrugBank ID\tCommon name\tSynonyms\nDB1\tGefitinib\tIressa | ZD1839\n",
    ],
)
def test_the_columns_of_drugbank_come_in_any_order_and_with_tabs(read, text):
    _, concepts, _ = read("drugbank", "vocabulary.txt", text)
    drug = concepts["DRUGBANK:DB1"]
    assert (drug.name, [name.text for name in drug.names]) == ("Gefitinib", ["Iressa", "ZD1839"])


@pytest.mark.parametrize(
    ("kb", "text", "warning"),
    [
        ("drugbank", DRUGBANK + "DB3\n", "d.csv:4: 1 column where the header has 7"),
        ("hetionet", EDGES.replace("CtD", "CxD"), "d.csv:3: 'CxD' is not a kind of edge"),
        ("hetionet", EDGES.replace("Gene::5604", "5604"), "d.csv:6: '5604' is not a node"),
    ],
)
def test_an_odd_line_is_left_out_and_named(read, capsys, kb, text, warning):
    assert any(read(kb, "d.csv", text)[1:])
    assert warning in capsys.readouterr().err


def test_what_no_reader_takes_is_answered_by_the_columns_of_a_table(read):
    for kb in ("umls", "mine"):
        with pytest.raises(InputError, match="id, name, kind, and any of synonyms, parents, xrefs"):
            read(kb, "sct2.txt", "id\tactive\tconceptId\tterm\n1\t1\t2\tfever\n")
