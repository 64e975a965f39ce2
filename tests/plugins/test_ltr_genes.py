"""The genes that documents speak of, told by how their symbols are written."""

import math
from types import SimpleNamespace

import pytest

from irplatform.knowledge import Knowledge, add
from irplatform.plugin import Document, Documents, Topic
from irplatform_ltr.groups import concepts as genes
from irplatform_ltr.groups.concepts import Genes

pytestmark = pytest.mark.java

HGNC = """\
HGNC ID\tApproved symbol\tApproved name\tStatus\tAlias symbols\tPrevious symbols
HGNC:1\tERBB2\therb two protein\tApproved\tHER2, NEU\t
HGNC:2\tMET\tmet proto-oncogene\tApproved\t\t
HGNC:3\tEML4\tEML four\tApproved\t\t
HGNC:4\tALK\tALK kinase\tApproved\tCD246\t
HGNC:5\tABL1\tABL kinase\tApproved\t\t
HGNC:6\tBCR\tBCR activator\tApproved\tABL1, CML22\t
HGNC:7\tSNCA\tsynuclein alpha\tApproved\tPD1\t
HGNC:8\tPDCD1\tprogrammed cell death 1\tApproved\tPD1, CD279\t
HGNC:9\tEGR1\tearly growth response 1\tApproved\t225\t
"""
DOCUMENTS = [
    Document("own", "HER2 in cancer", "ERBB2, HER2-positive; NEU. MET twice, MET."),
    Document("word", "We met patients", "They met again; erbb2 in lower case."),
    Document("fusion", "EML4-ALK", "CD246 and ERBB2"),
    Document("none", "Cancer", ""),
    Document("symbol", "ABL1", "CML22 and BCR."),
    Document("late", "Cancer", f"{'MET ' * 12} BCR"),
    Document("shared", "PD1", "PD1 and CD279 in 225 patients"),
]
TOPIC = Topic("1", "cancer ERBB2", {"disease": "cancer", "gene": "ERBB2 amplification"})


@pytest.fixture
def features(index_of, fresh_home, tmp_path):
    (tmp_path / "hgnc.tsv").write_text(HGNC)
    add("genes", [tmp_path / "hgnc.tsv"], "hgnc-custom")
    index = index_of(DOCUMENTS)

    def of(topic):
        group = Genes()
        group.prepare(SimpleNamespace(index=lambda: index))
        values = group.compute(topic, Documents.of(DOCUMENTS))
        rows = [dict(zip(group.names(), row, strict=True)) for row in values.tolist()]
        return dict(zip([d.id for d in DOCUMENTS], rows, strict=True))

    return of


def test_symbols_count_as_they_are_written(features):
    rows = features(TOPIC)
    row = rows["own"]
    assert (row["title_own"], row["title_others"], row["title_own_alone"]) == (1, 0, 1)
    assert row["abstract_own"] == pytest.approx(1.0986, abs=1e-4)  # ERBB2, HER2; NEU has no digit
    assert row["abstract_others"] == pytest.approx(1.0986, abs=1e-4)  # MET, MET
    assert row["different_others"] == 1
    assert row["focus"] == pytest.approx(3 / 5)
    assert row["before_first"] == 0
    assert rows["word"] == rows["none"] == {**dict.fromkeys(row, 0.0), "before_first": 10.0}


def test_a_fusion_names_both_of_its_genes(features):
    fusion = features(TOPIC)["fusion"]
    assert (fusion["title_own"], fusion["title_others"], fusion["title_own_alone"]) == (0, 2, 0)
    assert fusion["different_others"] == 1
    assert fusion["before_first"] == 3
    row = features(Topic("2", "", {"disease": "cancer", "gene": "EML4-ALK fusion"}))["fusion"]
    assert (row["title_own"], row["title_others"]) == (2, 0)


def test_a_symbol_is_its_own_gene_even_where_another_one_has_it_as_an_alias(features):
    row = features(Topic("4", "", {"disease": "cancer", "gene": "BCR"}))["symbol"]
    assert (row["title_own"], row["title_others"], row["before_first"]) == (0, 1, 1)
    assert row["abstract_own"] == pytest.approx(1.0986, abs=1e-4)  # CML22, BCR
    assert row["focus"] == pytest.approx(2 / 3)


def test_an_alias_of_several_genes_is_the_topics_where_one_of_them_is(features):
    for gene, in_abstract in (("PDCD1", 2), ("SNCA", 1)):
        row = features(Topic("6", "", {"disease": "cancer", "gene": gene}))["shared"]
        assert (row["title_own"], row["title_others"], row["before_first"]) == (1, 0, 0)
        assert row["abstract_own"] == pytest.approx(math.log1p(in_abstract))
    others = features(TOPIC)["shared"]
    assert (others["title_own"], others["title_others"]) == (0, 1)
    assert (others["abstract_own"], others["different_others"]) == (0, 2)


def test_numbers_are_no_genes(features):
    row = features(Topic("7", "", {"disease": "cancer", "gene": "EGR1"}))["shared"]
    assert row["abstract_own"] == row["focus"] == 0
    assert row["abstract_others"] == pytest.approx(math.log1p(2))  # PD1 and CD279, not 225


def test_mentions_of_others_before_the_first_are_counted_up_to_ten(features):
    row = features(Topic("5", "", {"disease": "cancer", "gene": "BCR"}))["late"]
    assert row["before_first"] == 10
    assert row["abstract_own"] > 0


def test_a_topic_without_genes_has_others_only(features):
    rows = features(Topic("3", "", {"disease": "cancer", "gene": "high mutational burden"}))
    assert rows["own"]["title_own"] == rows["own"]["focus"] == 0
    assert rows["own"]["title_others"] == 1


def test_topics_without_such_fields_are_left_out(features):
    assert "no field" in Genes().lacks([Topic("t", "melanoma")])
    assert Genes().lacks([TOPIC]) == ""


def test_genes_are_read_once_until_they_are_replaced(features, tmp_path, monkeypatch):
    genes._symbols.cache_clear()
    read = []
    concepts = Knowledge.concepts
    monkeypatch.setattr(
        Knowledge, "concepts", lambda self, kind=None: read.append(kind) or concepts(self, kind)
    )
    before = features(TOPIC)["own"]
    assert features(TOPIC)["own"] == before
    assert read == ["gene"]
    (tmp_path / "hgnc.tsv").write_text(HGNC.replace("\tHER2, NEU", "\tNEU"))
    add("genes", [tmp_path / "hgnc.tsv"], "hgnc-custom")
    assert features(TOPIC)["own"]["title_own"] < before["title_own"]
    assert read == ["gene", "gene"]
