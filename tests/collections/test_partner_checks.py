"""Measures, sampled judgments and training partners of a collection are looked at too."""

import pytest

from irplatform.collections.derived import joined
from irplatform.collections.inspection import check
from irplatform.data import Collection, Corpus
from irplatform.errors import InputError
from irplatform.plugin import Document, Topic


class Listed(Corpus):
    name = "listed"
    fields = ()

    def __init__(self, fingerprint="0"):
        self._fingerprint = fingerprint

    @property
    def fingerprint(self):
        return self._fingerprint

    def __iter__(self):
        return iter([Document("a", "title", "text"), Document("b", "title", "other text")])


def collection(name="c", qrels=None, corpus="0", **declared):
    return Collection(
        id=name,
        title=name,
        corpus=Listed(corpus),
        load_topics=lambda: [Topic("1", "query")],
        load_qrels=lambda: {"1": {"a": 1, "b": 0}} if qrels is None else qrels,
        **declared,
    )


def findings(extra=None, **declared):
    return {finding.kind: finding for finding in check(collection(**declared), extra)}


def test_nothing_is_wrong_with_a_sound_partner():
    assert findings(training=lambda: collection("t")) == {}
    both = joined([collection("t"), collection("u")])
    assert findings(training=lambda: both) == {}


def test_every_one_of_several_partners_is_looked_at():
    both = joined([collection("t"), collection("u", corpus="1")])
    found = findings(training=lambda: both)["training partner"]
    assert "'u' has other documents" in found.message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", "Did you mean 'nDCG'?"),
        ("P", "needs its parameter 'cutoff'"),
        ("infNDCG", "needs sampled judgments"),
    ],
)
def test_a_measure_that_nobody_computes_is_serious(name, message):
    found = findings(measures=("AP", name))["wrong measure"]
    assert (found.serious, found.examples) == (True, (name,))
    assert message in found.message


def test_a_measure_that_the_grades_are_too_high_for_is_serious():
    found = findings(measures=("AP", "ERR@10"), qrels={"1": {"a": 5}})["wrong measure"]
    assert (found.serious, found.examples) == (True, ("ERR@10",))
    assert "takes grades up to 4" in found.message


def test_measures_of_plugins_are_known():
    assert findings({"Mine": lambda qrels, run: {}}, measures=("Mine",)) == {}


def test_sampled_judgments_are_read(tmp_path):
    path = tmp_path / "sampled.txt"
    path.write_text("1 0 a 1 1\n1 0 b 1 -1\n")
    assert findings(sampled_qrels=path, measures=("infNDCG", "infAP")) == {}
    path.write_text("1 0 a 1\n")
    found = findings(sampled_qrels=path)["broken sampled judgments"]
    assert found.serious
    assert f"{path}:1: 4 columns" in found.message


def test_sampled_judgments_of_other_topics_are_counted(tmp_path):
    path = tmp_path / "sampled.txt"
    path.write_text("1 0 a 1 1\n7 0 b 1 -1\n")
    found = findings(sampled_qrels=path)["sampled judgments without topic"]
    assert (found.serious, found.count, found.examples) == (False, 1, ("7",))
    path.write_text("7 0 b 1 1\n")
    assert findings(sampled_qrels=path)["sampled judgments without topic"].serious


@pytest.mark.parametrize(
    ("partner", "serious", "message"),
    [
        (collection("c"), True, "is the collection itself"),
        (collection("t", qrels={"1": {"a": 0}}), True, "has no topic with a relevant document"),
        (collection("t", qrels={"2": {"a": 1}}), True, "has no topic with a relevant document"),
        (collection("t", corpus="1"), False, "has other documents"),
    ],
)
def test_a_partner_that_cannot_train_is_found(partner, serious, message):
    found = findings(training=lambda: partner)["training partner"]
    assert found.serious is serious
    assert message in found.message


def test_the_partner_that_validates_is_looked_at_too():
    training = collection("t", validation=lambda: collection("v", qrels={"1": {"a": 0}}))
    assert findings(training=lambda: training)["validation partner"].serious


def test_a_partner_that_cannot_be_opened_is_found():
    def broken():
        raise InputError("there is no such folder", path="gone")

    found = findings(training=broken)["broken training partner"]
    assert found.serious
    assert "gone" in found.message
