"""Several collections to learn from, as one."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from irplatform.collections.derived import joined
from irplatform.collections.names import open_path
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.plugin import Topic

CORPUS = SimpleNamespace(name="corpus", fingerprint="corpus")


def collection(name, topics, **declared):
    declared = {"load_qrels": lambda: {t: {"d": 1} for t in topics}, **declared}
    return Collection(
        name, name.upper(), CORPUS, lambda: [Topic(t, f"{name} {t}") for t in topics], **declared
    )


def test_topics_and_judgments_are_those_of_all():
    union = joined([collection("a", "12"), collection("b", "34")])
    assert (union.id, union.title, union.corpus) == ("a+b", "A + B", CORPUS)
    assert [(t.id, t.query) for t in union.load_topics()] == [
        ("1", "a 1"),
        ("2", "a 2"),
        ("3", "b 3"),
        ("4", "b 4"),
    ]
    assert list(union.load_qrels()) == list("1234")
    assert [part.id for part in union.parts] == ["a", "b"]


def test_ids_that_clash_are_told_apart_in_topics_and_judgments():
    qrels = {"2": {"x": 2}, "strange": {"y": 1}}
    union = joined([collection("a", "12"), collection("b", "23", load_qrels=lambda: qrels)])
    assert [t.id for t in union.load_topics()] == ["a:1", "a:2", "b:2", "b:3"]
    assert union.load_qrels() == {"a:1": {"d": 1}, "a:2": {"d": 1}, "b:2": {"x": 2}}


def test_a_topic_that_two_have_is_learned_from_once(capsys):
    same = Topic("9", "a 1")
    other_patient = Topic("8", "a 1", {"demographic": "64-year-old male"})
    second = Collection(
        "b", "B", CORPUS, lambda: [same, other_patient], load_qrels=lambda: {"9": {"x": 1}, "8": {}}
    )
    union = joined([collection("a", "12"), second])
    assert [topic.id for topic in union.load_topics()] == ["1", "2", "8"]
    assert union.load_qrels() == {"1": {"d": 1}, "2": {"d": 1}, "8": {}}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("a+b: 1 of 4 topics repeat another's words and fields")


def test_of_a_topic_that_two_have_the_one_that_is_judged_is_kept():
    unjudged = collection("a", "12", load_qrels=lambda: {"2": {"d": 1}})
    judged = Collection(
        "b", "B", CORPUS, lambda: [Topic("9", "a 1")], load_qrels=lambda: {"9": {"x": 1}}
    )
    union = joined([unjudged, judged])
    assert [topic.id for topic in union.load_topics()] == ["9", "2"]
    assert union.load_qrels() == {"9": {"x": 1}, "2": {"d": 1}}


def test_one_collection_stays_as_it_is():
    alone = collection("a", "1")
    assert joined([alone]) is alone
    assert alone.parts == ()


def test_a_collection_that_is_named_twice_is_refused():
    with pytest.raises(InputError, match="'a' is named twice"):
        joined([collection("a", "1"), collection("b", "1"), collection("a", "2")])


def test_validation_topics_are_those_of_all_where_all_have_some():
    a, b, c = (
        collection(name, "12", validation=lambda n=name: collection(f"{n}-dev", "3"))
        for name in "abc"
    )
    assert joined([a, b]).validation().id == "a-dev+b-dev"
    assert [t.id for t in joined([a, b]).validation().load_topics()] == ["a-dev:3", "b-dev:3"]
    assert joined([a, replace(b, validation=None), c]).validation is None


def test_validation_topics_that_parts_share_come_once():
    dev = collection("dev", "3")
    union = joined([collection(name, "12", validation=lambda: dev) for name in "ab"])
    assert union.validation() is dev


def test_there_are_judgments_where_all_have_some():
    assert joined([collection("a", "1"), collection("b", "1", load_qrels=None)]).load_qrels is None


def test_a_toml_file_names_one_or_several(toml_collection, declaration):
    path = toml_collection(declaration + '[train]\ncollection = ["one.toml", "other.toml"]\n')
    for name in ("one", "other"):
        text = declaration.replace('"pm"', f'"{name}"')
        (path.parent / f"{name}.toml").write_text(text)
    training = open_path(path).training()
    assert training.id == "one+other"
    assert [part.id for part in training.parts] == ["one", "other"]
    # Both files name the same topics.
    assert [t.id for t in training.load_topics()] == ["1", "2"]
    assert list(training.load_qrels()) == ["1", "2"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('["other.toml", "other.toml"]', "[train] collection: 'other' is named twice"),
        ('["other.toml", "collection.toml"]', "a collection cannot train for itself"),
        ('["other.toml", "no.toml"]', "no.toml"),
        ("[]", "[train] 'collection' cannot be []: it takes: text, or list of texts."),
        ("3", "[train] 'collection' cannot be 3: it takes: text, or list of texts."),
    ],
)
def test_what_cannot_train_is_refused(toml_collection, declaration, names, message):
    path = toml_collection(declaration + f"[train]\ncollection = {names}\n")
    (path.parent / "other.toml").write_text(declaration.replace('"pm"', '"other"'))
    with pytest.raises(InputError) as error:
        open_path(path).training()
    assert message in str(error.value)
    assert str(error.value).startswith(str(path.parent))
