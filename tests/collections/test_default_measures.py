"""Default measures of a collection are looked at too."""

import pytest

from irplatform.collections.inspection import check
from irplatform.data import Collection, Corpus
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", "Did you mean 'nDCG'?"),
        ("P", "needs its parameter 'cutoff'"),
        ("infNDCG", "needs sampled judgments"),
    ],
)
def test_a_measure_that_nobody_computes_is_serious(name, message):
    finding = findings(measures=("AP", name))["wrong measure"]
    assert (finding.serious, finding.examples) == (True, (name,))
    assert message in finding.message


def test_a_measure_that_the_grades_are_too_high_for_is_serious():
    finding = findings(measures=("AP", "ERR@10"), qrels={"1": {"a": 5}})["wrong measure"]
    assert (finding.serious, finding.examples) == (True, ("ERR@10",))
    assert "takes grades up to 4" in finding.message


def test_measures_of_plugins_are_known():
    assert findings({"Mine": lambda qrels, run: {}}, measures=("Mine",)) == {}
