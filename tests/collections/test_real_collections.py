"""The real collections have the counts that their makers give."""

import pytest

from irplatform.collections.inspection import check, describe
from irplatform.collections.names import resolve

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("name", "documents", "topics", "judgments"),
    [
        ("med", 1_033, 30, 696),
        ("nfcorpus:dev", 3_633, 324, 11_385),
        ("citations:dev", 40_385, 944, 1_018),
        pytest.param("trec-pm/2017.toml", 60_108, 30, 22_642, marks=pytest.mark.slow),
        pytest.param("trec-pm/2018.toml", 60_108, 50, 22_429, marks=pytest.mark.slow),
    ],
)
def test_counts_are_right_and_nothing_is_missing(test_data, name, documents, topics, judgments):
    collection = resolve(str(test_data / name), {})
    assert {finding.kind for finding in check(collection)} <= {"markup"}
    facts = describe(collection)
    counts = (facts["documents"], facts["topics"], facts["judgments"]["count"])
    assert counts == (documents, topics, judgments)


def test_nfcorpus_trains_on_train(test_data):
    training = resolve(str(test_data / "nfcorpus:dev"), {}).training()
    assert sum(map(len, training.load_qrels().values())) == 110_575
    assert training.validation is None


def test_the_two_years_of_trec_pm_share_documents_and_train_each_other(test_data):
    first, other = (resolve(str(test_data / f"trec-pm/{year}.toml"), {}) for year in (2017, 2018))
    assert first.corpus.fingerprint == other.corpus.fingerprint
    assert first.training().id == other.id
    assert first.load_topics()[0].query == "Liposarcoma CDK4 Amplification"
