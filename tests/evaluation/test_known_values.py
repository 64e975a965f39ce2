"""Values of runs that were scored before."""

import orjson
import pytest

from irplatform.errors import InputError
from irplatform.evaluation.known_values import KnownValues, judgments_digest
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import Run
from irplatform.runs.run import Later

pytestmark = pytest.mark.usefixtures("fresh_home")

QRELS = {"1": {"a": 2, "b": 0}, "2": {"c": 1}, "3": {"d": 0}}
RANKINGS = {"2": {"x": 2.0, "c": 1.0}, "1": {"b": 3.0, "a": 1.0}, "4": {}}
LENGTHS = {"2": 2, "1": 2, "4": 0}
RUN = Run("x", RANKINGS)


def _refuse():
    raise AssertionError("its values are known")


UNREAD = Run("x", Later(_refuse))


def _known_values(run="digest", qrels=QRELS):
    return KnownValues(run, judgments_digest(qrels), LENGTHS)


def _scored(measures, run=UNREAD, **options):
    return evaluate(QRELS, run, measures, known=_known_values(), **options)


def test_a_run_whose_values_are_known_is_not_read():
    measures = ["nDCG@10", "AP", "NumRel"]
    plain = evaluate(QRELS, RUN, measures)
    assert _scored(measures, RUN) == plain
    assert _scored(measures) == plain
    assert _scored(["AP", "nDCG@10"]).per_topic["AP"] == plain.per_topic["AP"]
    assert [*_scored(measures).per_topic["AP"]] == [*plain.per_topic["AP"]]


def test_another_measure_costs_itself_alone(monkeypatch):
    _scored(["AP"], RUN)
    with pytest.raises(AssertionError, match="known"):
        _scored(["AP", "RR"])
    computed = []
    from irplatform.evaluation import scoring

    values = scoring._values
    monkeypatch.setattr(
        scoring,
        "_values",
        lambda measures, scored: computed.extend(measures) or values(measures, scored),
    )
    assert _scored(["AP", "RR"], RUN) == evaluate(QRELS, RUN, ["AP", "RR"])
    assert computed[:1] == ["RR"]
    assert _scored(["AP", "RR"]).aggregate["RR"] == evaluate(QRELS, RUN, ["RR"]).aggregate["RR"]


@pytest.mark.parametrize(
    "other", [{"run": "other"}, {"qrels": {**QRELS, "3": {"d": 1}}}, {"qrels": {"1": {"a": 2}}}]
)
def test_other_lines_or_judgments_have_other_values(other):
    _scored(["AP"], RUN)
    assert _known_values().of(["AP"])
    assert not _known_values(**other).of(["AP"])


def test_judgments_of_subtopics_count():
    from irplatform.data import SubtopicGrades

    first, second = SubtopicGrades(), SubtopicGrades()
    first.add("s", "a", 1)
    second.add("t", "a", 1)
    assert judgments_digest({"1": first}) != judgments_digest({"1": second})
    assert judgments_digest({"1": {"a": 1}}) != judgments_digest({"1": {"a": 1}}, "sampled")


def test_measures_of_plugins_are_computed_anew():
    values = iter([0.25, 0.75])

    def mine(qrels, run):
        value = next(values)
        return dict.fromkeys(qrels, value)

    assert _scored(["mine"], RUN, extra={"mine": mine}).aggregate["mine"] == 0.25
    assert _scored(["mine"], RUN, extra={"mine": mine}).aggregate["mine"] == 0.75


@pytest.mark.parametrize("content", [b"", b"{", b"\n", b'0\n{"AP": {}}'])
def test_a_damaged_file_is_no_proof(content, fresh_home):
    _scored(["AP"], RUN)
    (file,) = fresh_home.glob("values/*/values.json")
    file.write_bytes(content)
    assert not _known_values().of(["AP"])
    assert _scored(["AP"], RUN) == evaluate(QRELS, RUN, ["AP"])


def test_a_changed_digit_is_no_proof(fresh_home):
    _scored(["AP"], RUN)
    (file,) = fresh_home.glob("values/*/values.json")
    proof, content = file.read_bytes().split(b"\n")
    values = orjson.loads(content)
    values["AP"]["1"] = 0.9
    file.write_bytes(proof + b"\n" + orjson.dumps(values))
    assert not _known_values().of(["AP"])


def test_a_cache_that_cannot_be_written_to_keeps_nothing(monkeypatch):
    def refuse(*_, **__):
        raise InputError("the cache cannot be written to.")

    monkeypatch.setattr("irplatform.evaluation.known_values.artifact", refuse)
    assert _scored(["AP"], RUN) == evaluate(QRELS, RUN, ["AP"])
    assert _known_values().of(["AP"]) == {}
