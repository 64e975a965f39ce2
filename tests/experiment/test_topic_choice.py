"""Some topics of a collection, for a quick look."""

import json

import pytest
from commands import call

from irplatform import compare, read_run
from irplatform.data import Collection, Topic
from irplatform.errors import InputError
from irplatform.experiment.topics import chosen_topics, only_topics, topics_folder

TOPICS = [Topic(name, "words") for name in ("41", "42", "first:1", "7")]
QRELS = {"41": {"a": 1}, "7": {"b": 2}, "gone": {"c": 1}}


def collection():
    return Collection("c", "C", None, lambda: TOPICS, load_qrels=lambda: QRELS)


@pytest.mark.parametrize(
    ("choice", "ids"),
    [
        (("7", "41"), ["41", "7"]),  # in the collection's order
        (("first:2",), ["41", "42"]),
        (("first:99",), ["41", "42", "first:1", "7"]),
        (("first:1",), ["first:1"]),  # a topic of that name
        (("first:2", "7"), ["41", "42", "7"]),
    ],
)
def test_topics_are_chosen_with_their_judgments(choice, ids):
    subset = only_topics(collection(), choice)
    assert [topic.id for topic in subset.topics] == ids
    assert subset.load_qrels() == {t: g for t, g in QRELS.items() if t in ids}
    assert subset.topics_left_out == {topic.id for topic in TOPICS} - {*ids}
    said = {"asked": [*choice], "ranked": len(ids), "of": 4}
    assert chosen_topics(subset, choice).content() == said


def test_without_a_choice_the_collection_stays():
    original = collection()
    assert only_topics(original, ()) is original
    assert chosen_topics(original, ()).content() == {}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("43", "'43' is not a topic of 'c'"),
        ("first:0", "first:10, not 'first:0'"),
        ("first:-1", "first:10, not 'first:-1'"),
        ("first:", "first:10, not 'first:'"),
    ],
)
def test_wrong_topics_are_refused(choice, message):
    with pytest.raises(InputError, match=message):
        only_topics(collection(), [choice])


def test_folders_of_choices_differ_and_are_short():
    many = [[str(n) for n in range(start, start + 50)] for start in (0, 1)]
    names = [topics_folder(choice) for choice in (["first:10"], ["41", "42"], ["a/b"], *many)]
    assert names[:3] == ["topics-first-10", "topics-41-42", "topics-a-b"]
    assert len({*names}) == 5
    assert max(map(len, names)) <= 40


@pytest.mark.java
def test_a_quick_look_is_marked_everywhere_and_keeps_apart(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("run", "--collection", "demo")
    assert call(capsys, monkeypatch, *command).code == 0
    before = {p: p.read_bytes() for p in tmp_path.glob("runs/demo/*")}
    result = call(capsys, monkeypatch, *command, "--topics", "42,41")
    assert "A quick look: 2 of 20 topics (--topics 42,41)." in result.out
    folder = tmp_path / "runs" / "demo" / "topics-42-41"
    choice = {"asked": ["42", "41"], "ranked": 2, "of": 20}
    assert json.loads((folder / "report.json").read_text())["topics chosen"] == choice
    metadata = json.loads((folder / "bm25.run.meta.json").read_text())
    assert metadata["data"]["topics chosen"] == choice
    assert metadata["implementation"]["call"]["settings"]["topics"] == ["42", "41"]
    lines = (tmp_path / "runs" / "demo" / "bm25.run").read_text().splitlines(keepends=True)
    of_two = [line for line in lines if line.split()[0] in ("41", "42")]
    assert (folder / "bm25.run").read_text() == "".join(of_two)
    assert {path: path.read_bytes() for path in before} == before
    arguments = ("--collection", "demo", str(folder / "bm25.run"))
    evaluated = call(capsys, monkeypatch, "evaluate", *arguments)
    assert "A quick look: 2 of 20 topics, those of bm25." in evaluated.err
    said = call(capsys, monkeypatch, "compare", *arguments, "runs/demo/bm25.run", "--json")
    content = json.loads(said.out)
    assert [topic["id"] for topic in content["topics"]] == ["41", "42"]
    assert content["notes"][0].startswith("A quick look: 2 of 20 topics, those of ")
    in_memory = [read_run(folder / "bm25.run").renamed("two"), read_run("runs/demo/bm25.run")]
    compared = compare(in_memory, collection="demo")
    assert [topic.id for topic in compared.topics] == ["41", "42"]
    assert "A quick look: 2 of 20 topics, those of two." in compared.notes[0]
    means = [system["measures"]["nDCG@20"]["mean"] for system in content["systems"]]
    scores = json.loads((folder / "scores.json").read_text())
    assert means == [scores["systems"]["bm25"]["means"]["nDCG@20"]] * 2
    refused = call(capsys, monkeypatch, *command, "--topics", "41", "--run-dir", "runs/demo")
    assert refused.code == 2
    assert "only topics not set -> [" in refused.err
