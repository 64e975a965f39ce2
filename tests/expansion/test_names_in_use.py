"""Which names of diseases, genes and drugs the documents use for what a topic asks for."""

import pytest

from irplatform.expansion.plan import QueryPlan
from irplatform.expansion.query import Expander
from irplatform.knowledge import add
from irplatform.plugin import Document, Topic

OWN = """\
id\tname\tkind\tsynonyms\tparents\txrefs
DOID:1\tacute lymphoblastic leukemia\tdisease\tALL|lymphoblastic leukemia\t\t
DOID:2\tneuroendocrine tumor\tdisease\tNET\t\t
DOID:3\tmelanoma\tdisease\t\tDOID:2\t
DOID:4\tcarcinoid\tdisease\t\tDOID:2\t
DOID:5\tchronic leukemia\tdisease\tCML\t\t
DRUG:1\timatinib\tdrug\tGleevec\t\t
DRUG:2\timatinib mesylate\tdrug\tGlivec\t\t
DRUG:3\tosimertinib\tdrug\t\t\t
"""
HGNC = """\
HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\tPrevious symbols
HGNC:1\tEREG\tepiregulin growth factor\tApproved\tER\t
HGNC:2\tESR1\testrogen receptor 1\tApproved\tER\t
HGNC:3\tCD274\tCD274 molecule\tApproved\tPD-L1\t
HGNC:4\tNTRK1\tneurotrophic kinase 1\tApproved\t\t
HGNC:5\tNTRK2\tneurotrophic kinase 2\tApproved\t\t
HGNC:6\tMS4A1\tmembrane 4A1\tApproved\tCD20\t
HGNC:7\tBCR\tBCR activator\tApproved\tCML\t
HGNC:8\tDDR1\tdiscoidin receptor\tApproved\tNTRK4\t
HGNC:9\tXYZ\tunused one\tApproved\tQQ\t
"""
DOCUMENTS = [
    Document("all", "ALL", "NRAS in acute lymphoblastic leukemia (ALL)."),
    *(Document(f"a{n}", "All patients", "All of them were treated.") for n in range(9)),
    *(Document(f"m{n}", "Melanoma", "Melanoma in patients.") for n in range(25)),
    Document("net", "Neuroendocrine tumor", "NET of the lung"),
    *(Document(f"c{n}", "Carcinoid", "a neuroendocrine tumor: carcinoid") for n in range(2)),
    *(Document(f"e{n}", "ER", "The estrogen receptor 1, ESR1, called ER.") for n in range(3)),
    Document("ereg", "EREG", "Epiregulin growth factor, EREG."),
    *(Document(f"p{n}", "PD-L1", "PD-L1 staining.") for n in range(12)),
    Document("cd274", "CD274", "CD274, known as PD-L1."),
    Document("n1", "NTRK1", "An NTRK1 fusion."),
    Document("n2", "NTRK2 and DDR1", "NTRK2, DDR1 and NTRK4"),
    Document("cd20", "CD20", "CD20 on B cells, QQ"),
    *(Document(f"b{n}", "BCR", "BCR in chronic leukemia, CML.") for n in range(2)),
    *(Document(f"l{n}", "CML", "CML only") for n in range(30)),
    Document("i", "Imatinib", "Imatinib or Gleevec; osimertinib is AZD9291."),
    Document("im", "Imatinib mesylate", "Glivec"),
]


@pytest.fixture(scope="module")
def knowledge_bases(cache_of_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb")
    (folder / "own.tsv").write_text(OWN)
    (folder / "hgnc.tsv").write_text(HGNC)
    add("names-in-use", [folder / "own.tsv"])
    add("genes-in-use", [folder / "hgnc.tsv"], "hgnc-custom")
    return ("names-in-use", "genes-in-use")


@pytest.fixture
def parts(index_of, knowledge_bases):
    index = index_of(DOCUMENTS)

    def read(**fields):
        topic = Topic("1", " ".join(fields.values()), fields)
        return Expander(index, knowledge_bases, QueryPlan()).parts(topic)

    return read


@pytest.fixture
def gene(parts):
    def names(symbol):
        (part,) = parts(disease="cancer", gene=symbol).genes
        return {name.text: name.relation for name in part.synonyms}

    return names


def texts(names):
    return {name.text for name in names.synonyms}


pytestmark = pytest.mark.java


def test_a_short_name_that_is_mostly_a_word_is_no_name_of_the_disease(parts):
    assert texts(parts(disease="acute lymphoblastic leukemia", gene="NRAS").disease) == {
        "acute lymphoblastic leukemia",
        "lymphoblastic leukemia",
    }


def test_a_short_name_that_texts_use_for_the_disease_is_one(parts):
    assert "NET" in texts(parts(disease="neuroendocrine tumor", gene="BRAF").disease)


def test_a_kind_that_would_take_the_diseases_place_has_to_occur_with_it(parts):
    names = texts(parts(disease="neuroendocrine tumor", gene="BRAF").disease)
    assert "carcinoid" in names
    assert "melanoma" not in names, "found far more often, and never with it"


def test_a_symbol_means_the_gene_that_documents_use_it_for(gene):
    assert gene("ER")["ESR1"] == "synonym"
    assert "EREG" not in gene("ER")


def test_a_symbol_that_no_document_uses_for_the_gene_is_a_word_of_its_own(gene):
    """XYZ occurs nowhere: nothing speaks against it. EREG does occur, and never as QQ's."""
    assert set(gene("QQ")) == {"QQ"}


def test_a_symbol_with_a_number_means_the_only_gene_that_has_it(parts):
    (part,) = parts(disease="cancer", gene="CD20").genes
    assert part.concepts == ("HGNC:6",)


def test_the_commoner_name_of_a_gene_is_a_name_of_it(gene):
    assert gene("CD274")["PD-L1"] == "alias"


def test_a_commoner_name_that_is_a_disease_is_not(gene):
    assert "CML" not in gene("BCR")


def test_a_family_is_searched_by_its_genes(gene):
    assert gene("NTRK") == {"NTRK": "topic", "NTRK1": "narrow", "NTRK2": "narrow"}


@pytest.mark.parametrize("nothing", ["None", "N/A", "unknown"])
def test_a_field_that_says_there_is_nothing_asks_for_nothing(parts, nothing):
    result = parts(disease="melanoma", gene=nothing, treatment=nothing)
    assert (result.genes, result.markers, result.treatments) == ((), (), ())
    assert parts(disease=nothing, gene="ER").disease is None


def test_a_salt_has_the_names_of_its_drug(parts):
    (part,) = parts(disease="cancer", gene="ER", treatment="imatinib mesylate").treatments
    assert texts(part) == {"imatinib mesylate", "Glivec", "imatinib", "Gleevec"}


def test_a_makers_code_in_brackets_is_a_name_of_the_drug(parts):
    (part,) = parts(disease="cancer", gene="ER", treatment="osimertinib (AZD9291)").treatments
    assert texts(part) == {"osimertinib", "AZD9291"}
    (part,) = parts(disease="cancer", gene="ER", treatment="osimertinib (Acme Ltd)").treatments
    assert texts(part) == {"osimertinib"}
