"""What systems are fitted on."""

from dataclasses import replace

from irplatform.plugin import LabelledTopic, Topic
from irplatform.reranking.training_set import Example, TrainingSet
from irplatform.runs import Ranking


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
        TrainingSet("train", learned, _examples(*queries)).with_validation_apart().validation
    )
    return validation and [each.topic.query for each in validation]


def test_a_topic_that_is_learned_from_validates_nothing(capsys):
    assert _validated_on("lung cancer EGFR", "KRAS colon cancer") == ["KRAS colon cancer"]
    told = "train: 1 validation topic of 2 asks what a training topic asks, and is left out\n"
    assert capsys.readouterr().err == told


def test_where_none_is_left_some_training_topics_validate(capsys):
    assert _validated_on("lung cancer EGFR", "melanoma BRAF") is None
    assert "2 validation topics of 2 ask what a training topic asks" in capsys.readouterr().err


def test_others_validate(capsys):
    assert _validated_on("KRAS colon cancer") == ["KRAS colon cancer"]
    assert capsys.readouterr().err == ""


def test_one_with_another_first_stage_is_another():
    (example,) = _examples("one")
    other = replace(example, first=Ranking.of(["e"], [1.0]))
    assert TrainingSet("a", [example]).digest() == TrainingSet("b", [example]).digest()
    assert TrainingSet("a", [example]).digest() != TrainingSet("a", [other]).digest()
