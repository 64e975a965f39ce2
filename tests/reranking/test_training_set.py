"""What systems are fitted on."""

from dataclasses import replace

from memory import Resources, ranked_examples

from irplatform.plugin import LabelledTopic, Topic
from irplatform.reranking.training_set import Example, TrainingSet, examples
from irplatform.retrieval.candidates import Candidates
from irplatform.runs import Ranking, Run
from irplatform.system.console import notice


def _examples(*queries):
    return [
        Example(
            LabelledTopic(Topic(str(number), query), ("d",), {"d": 1}), Ranking.of(["d"], [1.0])
        )
        for number, query in enumerate(queries)
    ]


def _validated_on(*queries):
    learned = _examples("EGFR lung cancer", "BRAF melanoma")
    validation = (
        TrainingSet("train", learned, _examples(*queries)).with_validation_apart(notice).validation
    )
    return validation and [example.topic.query for example in validation]


def test_a_topic_that_is_learned_from_validates_nothing(capsys):
    assert _validated_on("lung cancer EGFR", "KRAS colon cancer") == ["KRAS colon cancer"]
    message = "train: 1 validation topic of 2 asks what a training topic asks, and is left out\n"
    assert capsys.readouterr().err == message


def test_where_none_is_left_some_training_topics_validate(capsys):
    assert _validated_on("lung cancer EGFR", "melanoma BRAF") is None
    assert "2 validation topics of 2 ask what a training topic asks" in capsys.readouterr().err


def test_others_validate(capsys):
    assert _validated_on("KRAS colon cancer") == ["KRAS colon cancer"]
    assert capsys.readouterr().err == ""


def test_one_with_another_first_stage_is_another():
    (example,) = _examples("one")
    other = replace(example, first=Ranking.of(["e"], [1.0]))
    assert TrainingSet("a", [example]).fingerprint == TrainingSet("b", [example]).fingerprint
    assert TrainingSet("a", [example]).fingerprint != TrainingSet("a", [other]).fingerprint


def test_fields_judgments_and_first_stage_scores_are_part_of_a_training_sets_digest():
    plain = TrainingSet("x", ranked_examples(range(5)))
    example = plain.training[0]
    aged = replace(example.labelled.topic, fields={"demographic": "64-year-old male"})
    labelled_topic = replace(example.labelled, topic=aged)
    judged = replace(example.labelled, judgments={"t0z": 1})
    scored = Ranking(example.first.doc_ids, example.first.scores * 2)
    for changed in (
        replace(example, labelled=labelled_topic),
        replace(example, labelled=judged),
        replace(example, first=scored),
    ):
        assert TrainingSet("x", [changed, *plain.training[1:]]).fingerprint != plain.fingerprint
    assert TrainingSet("x", plain.training[:3], plain.training[3:]).fingerprint != plain.fingerprint


def _examples_of(monkeypatch, rankings, qrels, *missing, depth=None):
    """The examples that topics make whose candidates are the first documents."""
    monkeypatch.setattr("irplatform.reranking.training_set._missing", lambda *_: {*missing})
    topics = [example.topic for example in rankings]
    first = {example.topic.id: example.first for example in rankings}
    candidates = Candidates(
        topics,
        [],
        Run("bm25", first),
        "",
        {topic: ranking.doc_ids[:depth] for topic, ranking in first.items()},
        qrels=qrels,
    )
    return examples(candidates, Resources())


def test_only_judged_topics_are_examples(monkeypatch):
    qrels = {"t1": {"t1z": 1}, "elsewhere": {}}
    (example,) = _examples_of(monkeypatch, ranked_examples(range(3)), qrels, depth=2)
    assert example.topic.id == "t1"
    assert example.labelled.candidates == ("t1z", "t1e")


def test_judgments_of_documents_that_are_missing_are_no_part_of_an_example(monkeypatch):
    source_examples, grades = ranked_examples(range(1)), {"t0z": 1, "gone": 2}
    assert (
        _examples_of(monkeypatch, source_examples, {"t0": grades})[0].labelled.judgments == grades
    )
    (example,) = _examples_of(monkeypatch, source_examples, {"t0": grades}, "gone", "t9")
    assert example.labelled.judgments == {"t0z": 1}


def test_documents_that_were_pooled_and_not_judged_are_unjudged_candidates(monkeypatch):
    (example,) = _examples_of(monkeypatch, ranked_examples(range(1)), {"t0": {"t0z": 1, "t0e": -1}})
    assert example.labelled.judgments == {"t0z": 1}
    assert "t0e" in example.labelled.candidates
