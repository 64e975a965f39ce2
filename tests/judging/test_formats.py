"""Judgments of other programs become judgments with a source."""

import json

import pytest
from sourced_judgments import ANN, LLM, judged, write

from irplatform.errors import InputError
from irplatform.judging.formats import names_sources, read_any, write_doccano
from irplatform.judging.judgments import Source


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def grades(judgments):
    return {(j.topic, j.document): j.grade for j in judgments}


def example(document, *labels, **more):
    return {"id": 7, "text": "…", "topic": "1", "document": document, "label": [*labels], **more}


def test_lines_with_sources_keep_them(tmp_path):
    path = write(
        tmp_path / "j.jsonl", judgments := judged(ANN, "1", {"a": 2}) + judged(LLM, "1", {"a": 0})
    )
    assert names_sources(path)
    assert read_any(path) == judgments


def test_qrels_of_trec_need_a_source(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 2\n1 0 b 0\n")
    assert not names_sources(path)
    with pytest.raises(InputError, match="nothing says whose judgments these are: add by="):
        read_any(path)
    assert read_any(path, Source.parse("person:nist"))[0].source == Source("person", "nist")


@pytest.mark.parametrize("name", ["absent.txt", ""])
def test_what_is_not_there_is_told_before_its_source_is_asked_for(tmp_path, name):
    with pytest.raises(InputError, match="this is no file of judgments and no pool"):
        read_any(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [
        "1 0 a 2\n1 0 b 0\n",
        "1 Q0 a True\n1 Q0 b False\n",
        "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n",
        '{"1": {"a": 2, "b": 0}}\n',
        "1 0 a 1 2\n1 0 b 1 0\n1 0 c 2 -1\n",
    ],
)
def test_qrels_of_every_form_are_read(tmp_path, content):
    path = tmp_path / "qrels"
    path.write_text(content)
    topic_grades = grades(read_any(path, LLM))
    assert topic_grades == {("1", "a"): 1 if "True" in content else 2, ("1", "b"): 0}


@pytest.mark.parametrize("content", ["1 0 a 0.9\n", "query-id\tcorpus-id\tlevel\n1\ta\t0.9\n"])
def test_decimals_are_refused(tmp_path, content):
    """AutoJudge cuts them off: 0.9 would be a 0."""
    path = tmp_path / "qrels.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=r"the grade '?0\.9.* whole number"):
        read_any(path, LLM)


def test_labels_of_doccano_are_grades(tmp_path):
    path = lines(
        tmp_path / "admin.jsonl",
        example("a", "2: highly relevant", Comments=["sure"]),
        example("b", "Cannot tell"),
        example("c"),
        example("d", "-1"),
    )
    with pytest.raises(InputError, match="nothing says whose judgments these are"):
        read_any(path)
    judgments = read_any(path, ANN)
    assert grades(judgments) == {("1", "a"): 2, ("1", "b"): None, ("1", "d"): -1}
    assert {j.source for j in judgments} == {ANN}
    assert judgments[0].note == "sure"


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (example("a", "1", "2"), r"\(label: "),
        (example("a", "relevant"), "the label 'relevant' is no grade"),
        (example("a", "0.5"), "the label '0.5' is no grade"),
        ({"text": "…", "label": ["1"]}, r"\(topic: "),
    ],
)
def test_an_example_without_one_grade_is_refused(tmp_path, record, problem):
    path = lines(tmp_path / "ann.jsonl", example("z", "1"), record)
    with pytest.raises(InputError, match=problem) as caught:
        read_any(path, ANN)
    assert caught.value.line == 2


def test_examples_for_doccano_come_back_with_their_labels(tmp_path):
    path = tmp_path / "ann.jsonl"
    write_doccano(path, {"41": {"demo0001": 2, "demo0007": None}}, "demo")
    first, second = map(json.loads, path.read_text().splitlines())
    assert (second["document"], second["label"]) == ("demo0007", [])
    assert first["label"] == ["2"]
    assert first["text"]
    assert first["query"]
    assert grades(read_any(path, ANN)) == {("41", "demo0001"): 2}
