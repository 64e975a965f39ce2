"""Expands topics with small knowledge bases over a small index."""

import pytest

from irplatform.expansion.plan import QueryPlan
from irplatform.expansion.query import Expander
from irplatform.knowledge import add
from irplatform.plugin import Document

OWN = """\
id\tname\tkind\tsynonyms\tparents\txrefs
MESH:D1\tLung Neoplasms\tdisease\tNeoplasms, Pulmonary\t\t
DOID:1\tlung cancer\tdisease\tpulmonary cancer\t\tMESH:D1
DOID:2\tnon-small cell lung carcinoma\tdisease\t\tDOID:1\t
DOID:3\tlung rarity\tdisease\t\tDOID:1\t
DOID:4\ttraumatic rhinopathy\tdisease\tNEU\t\t
HGNC:1\tERBB2\tgene\therb two protein\t\t
HGNC:2\tTEP1\tgene\t\t\t
MESH:D3\tLapatinib\tdrug\t\t\t
MESH:D4\tRadiotherapy\tother\tRadiation Therapy\t\t
HGNC:5\tCDK4\tgene\t\t\t
CIVIC:1\tERBB2 V600E\tvariant\t\t\t
DRUG:1\ttrastuzumab emtansine\tdrug\tKadcyla|T|Unusedinib\t\t
MESH:D2\tLymphocytes, Tumor-Infiltrating\tother\tTumor Infiltrating Lymphocytes\t\t
"""
HGNC = """\
HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\tPrevious symbols
HGNC:1\tERBB2\therb two protein\tApproved\tHER2, MTC, TEP1, H2\tNEU
HGNC:2\tTEP1\ttelomerase protein\tApproved\t\t
HGNC:3\tKRAS\tKRAS proto-oncogene, GTPase\tApproved\t\t
HGNC:4\tPDGFRA\tplatelet derived growth factor receptor alpha\tApproved\t\t
"""
DOCUMENTS = [
    Document("her2", "HER2 and ERBB2", "HER2, also called NEU, in pulmonary cancer."),
    Document("alias", "HER2 in pulmonary cancer", "NEU and HER2 in patients."),
    Document("nsclc", "NSCLC", "non-small cell lung carcinoma (NSCLC), HER2"),
    Document("mtc", "MTC", "MTC is a tumour of the thyroid."),
    Document("mtc2", "MTC", "MTC once more."),
    Document("tep1", "TEP1", "TEP1 and ERBB2."),
    Document("til", "TILs", "Tumor infiltrating lymphocytes."),
    Document("erbb2", "ERBB2", "ERBB2 V600E."),
    Document("long", "ERBB2", "p.Val600Glu of ERBB2 H2"),
    Document("k-ras", "K-ras in adenomas", "No other name."),
    Document("greek", "PDGFRα", "It is found in sarcomas."),
    Document("kadcyla", "Kadcyla", "It, trastuzumab emtansine, in pulmonary cancer with HER2."),
    Document("tdm1", "Kadcyla and T", "In pulmonary cancer with ERBB2 V600E."),
    Document("lapatinib", "Lapatinib", "Lapatinib and radiotherapy. T, too."),
    Document("disease", "Traumatic rhinopathy", "Traumatic rhinopathy (NEU) with HER2."),
    Document("rhinopathy", "TRP", "Traumatic rhinopathy (TRP)."),
    Document("heading", "No words", "at all", {"mesh": ("Lung Neoplasms", "Humans")}),
]


@pytest.fixture(scope="module")
def knowledge_bases(cache_of_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb")
    (folder / "own.tsv").write_text(OWN)
    (folder / "hgnc.tsv").write_text(HGNC)
    add("own-names", [folder / "own.tsv"])
    add("genes", [folder / "hgnc.tsv"], "hgnc-custom")
    return ("own-names", "genes")


@pytest.fixture(scope="module")
def index(index_of):
    return index_of(DOCUMENTS, fields=("mesh",))


@pytest.fixture
def expander(index, knowledge_bases):
    return lambda **plan: Expander(index, knowledge_bases, QueryPlan.model_validate(plan))
