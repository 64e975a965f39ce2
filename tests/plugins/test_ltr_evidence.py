"""Articles that knowledge bases cite as evidence on a topic's genes, variants and disease."""

from types import SimpleNamespace

import numpy as np
import pytest

from irplatform.knowledge import add
from irplatform.plugin import Document, Documents, Topic
from irplatform_ltr.groups.concepts import Evidence

pytestmark = pytest.mark.java

CIVIC = """\
gene\tentrez_id\tvariant\tvariant_id\tdisease\tdoid\tdrugs\tevidence_type\tevidence_level\tevidence_direction\tpubmed_id
BRAF\t673\tV600E\t12\tMelanoma\t1909\tVemurafenib\tPredictive\tA\tSupports\t11
BRAF\t673\tV600E\t12\tMelanoma\t1909\tDabrafenib\tPredictive\tB\tSupports\t11
BRAF\t673\tK601E\t15\tMelanoma\t1909\tTrametinib\tPredictive\tB\tSupports\t12
BRAF\t673\tV600E\t12\tColorectal Cancer\t9256\t\tPrognostic\tB\tSupports\t13
BRAF\t673\tV600E\t12\tSkin Melanoma\t8923\t\tPrognostic\tB\tSupports\t14
NRAS\t4893\tQ61L\t94\tMelanoma\t1909\t\tPredictive\tB\tSupports\t15
"""
IDS = ["11", "12", "13", "14", "15", "16", "NCT11"]


@pytest.fixture
def features(index_of, fresh_home, tmp_path):
    (tmp_path / "civic.tsv").write_text(CIVIC)
    add("civic", [tmp_path / "civic.tsv"])
    (tmp_path / "kinds.tsv").write_text(
        "id\tname\tkind\tsynonyms\tparents\txrefs\n"
        "DOID:1909\tmelanoma\tdisease\t\t\t\n"
        "DOID:8923\tskin melanoma\tdisease\t\tDOID:1909\t\n"
        "DOID:9256\tcolorectal cancer\tdisease\t\t\t\n"
        "K:1\tmalignant mole\tdisease\t\t\tDOID:1909\n"
    )
    add("kinds", [tmp_path / "kinds.tsv"])
    documents = [Document(doc_id, "BRAF V600E in melanoma and colorectal cancer") for doc_id in IDS]
    index = index_of(documents)
    group = Evidence()
    group.prepare(SimpleNamespace(index=lambda: index))

    def of(disease, gene):
        topic = Topic("t", "query", {"disease": disease, "gene": gene})
        values = np.expm1(group.compute(topic, Documents.of(documents)))
        return {
            name: {i: round(float(v), 5) for i, v in zip(IDS, column, strict=True) if v}
            for name, column in zip(group.names(), values.T, strict=True)
        }

    return of


def test_statements_count_by_what_they_share_with_the_topic(features):
    rows = features("melanoma", "BRAF (V600E)")
    assert rows["gene"] == {"11": 2, "12": 1, "13": 1, "14": 1}
    assert rows["gene_and_disease"] == {"11": 2, "12": 1, "14": 1}  # skin melanoma is a melanoma
    assert rows["variant"] == {"11": 2, "13": 1, "14": 1}
    assert rows["variant_and_disease"] == {"11": 2, "14": 1}
    assert rows["disease"] == {"11": 2, "12": 1, "14": 1, "15": 1}


def test_a_kind_of_the_disease_is_not_the_disease(features):
    rows = features("skin melanoma", "BRAF")
    assert rows["gene_and_disease"] == {"14": 1}
    assert not rows["variant"]


def test_a_disease_is_found_by_the_ids_of_other_knowledge_bases(features):
    rows = features("malignant mole", "BRAF (V600E)")
    assert rows["gene_and_disease"] == {"11": 2, "12": 1}
    assert rows["variant_and_disease"] == {"11": 2}
    assert rows["disease"] == {"11": 2, "12": 1, "15": 1}


def test_what_nobody_says_anything_of_is_nothing(features):
    rows = features("glioma", "EGFR")
    assert not any(rows.values())


def test_topics_without_such_fields_are_left_out(features):
    assert "no field" in Evidence().lacks([Topic("t", "melanoma")])
