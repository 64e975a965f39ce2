"""Sampled judgments of ir_datasets' TREC PM: used where they lie, and told how to be had."""

import pytest

from irplatform.collections.irds import SAMPLED_QRELS, sampled_place, sampled_qrels
from irplatform.collections.names import resolve
from irplatform.errors import InputError
from irplatform.evaluation.judgments import measures_of


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setattr("ir_datasets.util.home_path", lambda: tmp_path)


@pytest.mark.parametrize("year", [2017, 2018])
def test_where_they_are_missing_the_error_says_what_to_do(year, tmp_path):
    collection = resolve(f"trec-pm-{year}", {})
    assert collection.sampled_qrels is None
    with pytest.raises(InputError, match="needs sampled judgments") as caught:
        measures_of(collection, ["infNDCG"], {})
    assert SAMPLED_QRELS[f"medline/2017/trec-pm-{year}"] in str(caught.value)
    assert str(tmp_path / "medline" / f"trec-pm-{year}" / "sampled-qrels") in str(caught.value)
    assert "infNDCG" not in measures_of(collection, [], {})


def test_where_they_lie_they_are_reported_first():
    path = sampled_place("medline/2017/trec-pm-2017")
    path.parent.mkdir(parents=True)
    path.write_text("1 0 a 1 1\n")
    collection = resolve("trec-pm-2017", {})
    assert collection.sampled_qrels == path
    assert measures_of(collection, [], {})[:2] == ["infNDCG", "infAP"]
    assert "sampled judgments" not in collection.metadata


def test_other_datasets_have_none():
    assert sampled_qrels("vaswani") is None
