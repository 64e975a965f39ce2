"""Answers to BioASQ's phase A are scored as its own program scores them."""

import json
import math

import pytest
from commands import call

from irplatform.errors import InputError
from irplatform.runs.bioasq import Snippet, read_questions
from irplatform_bioasq.scoring import mean_scores, score_documents, score_snippets

ADDRESS = "http://www.ncbi.nlm.nih.gov/pubmed/"


def read_snippets(path):
    questions = read_questions(path, bodies=False, snippets=True)
    return {question.id: [*question.snippets] for question in questions}


def snippet(document, begin, end, section="abstract"):
    return {
        "document": ADDRESS + document,
        "beginSection": section,
        "endSection": section,
        "offsetInBeginSection": begin,
        "offsetInEndSection": end,
        "text": "…",
    }


GOLDEN = [
    {
        "id": "1",
        "body": "Why?",
        "documents": [ADDRESS + "7", ADDRESS + "8"],
        # 0 to 99 and 50 to 149 are joined: 150 characters, with 20 of the title 170
        "snippets": [snippet("7", 0, 99), snippet("7", 50, 149), snippet("8", 0, 19, "title")],
    },
    {"id": "2", "body": "How?", "documents": [ADDRESS + "9"], "snippets": []},
    {"id": "3", "body": "Who?", "documents": [ADDRESS + "9"], "snippets": [snippet("9", 0, 9)]},
    {"id": "4", "body": "When?", "documents": [], "snippets": []},
]
ANSWERS = [
    {
        "id": "1",
        "body": "Why?",
        "documents": [ADDRESS + "5", ADDRESS + "7"],
        # 100 to 199 shares 50 of its 100 with the golden ones; the title of 8 all of its 20; the
        # abstract of 8 nothing, but counts as relevant, since 8 has a golden snippet; 5 does not.
        "snippets": [
            snippet("7", 100, 199),
            snippet("5", 0, 79),
            snippet("8", 0, 19, "title"),
            snippet("8", 0, 19),
        ],
    },
    {"id": "2", "body": "How?", "documents": [ADDRESS + "9"], "snippets": [snippet("9", 0, 9)]},
    {"id": "3", "body": "Who?", "documents": [], "snippets": []},
]


@pytest.fixture
def files(tmp_path):
    for name, questions in (("golden", GOLDEN), ("answers", ANSWERS)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"questions": questions}))
    return tmp_path


def test_snippets_are_scored_as_by_hand(files):
    golden, answers = (read_snippets(files / f"{name}.json") for name in ("golden", "answers"))
    values = score_snippets(golden, answers)
    assert [*values] == ["1", "3"]  # the others have no golden snippets
    precision, recall = 70 / 220, 70 / 170
    ap = (50 / 100 + 70 / 200 + 70 / 220) / 2
    first, second = values.values()
    assert (first.precision, first.recall) == (pytest.approx(precision), pytest.approx(recall))
    assert first.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert first.ap == pytest.approx(ap)
    assert (second.precision, second.recall, second.f1, second.ap) == (0, 0, 0, 0)
    means = mean_scores(values.values())
    assert means.map == pytest.approx(ap / 2)
    assert means.gmap == pytest.approx(math.sqrt((ap + 1e-5) * 1e-5))


def test_the_command_prints_both_tables_as_json_does(files, capsys, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(files / "home"))
    command = ("bioasq", files / "answers.json", "--golden", files / "golden.json")
    result = call(capsys, monkeypatch, *command, "--json")
    (scores,) = result.json["answers"]
    assert scores["documents"]["questions"] == 3
    assert scores["documents"]["map"] == pytest.approx((1 / 2 / 2 + 1) / 3)
    assert scores["snippets"]["f1"] == pytest.approx(0.1795, abs=5e-5)
    lines = call(capsys, monkeypatch, *command).out.splitlines()
    assert [line.split()[0] for line in lines] == [
        *("documents", str(files / "answers.json")),
        *("snippets", str(files / "answers.json")),
    ]
    assert lines[3].split()[1:] == ["2", "0.1591", "0.2059", "0.1795", "0.2920", "0.0024"]


def test_answers_are_scored_by_their_ids_without_a_question(files, capsys, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(files / "home"))
    bare = [{key: answer[key] for key in ("id", "documents", "snippets")} for answer in ANSWERS]
    (files / "bare.json").write_text(json.dumps({"questions": bare}))
    command = ("bioasq", files / "answers.json", files / "bare.json", "--golden")
    first, second = call(capsys, monkeypatch, *command, files / "golden.json", "--json").json[
        "answers"
    ]
    assert {**first, "path": ""} == {**second, "path": ""}


def test_offsets_may_be_text_and_sections_those_of_former_years(tmp_path):
    """As BioASQ's program reads them: "sections.0" of an answer is a golden abstract."""

    def scored(section, golden="abstract"):
        answer = {**snippet("7", "0", 49.0, section)}
        for name, passage in (("golden", snippet("7", 0, 99, golden)), ("answer", answer)):
            content = {"questions": [{"id": "q", "snippets": [passage]}]}
            (tmp_path / name).write_text(json.dumps(content))
        files = [read_snippets(tmp_path / name) for name in ("golden", "answer")]
        return score_snippets(*files)["q"].precision

    assert [scored("abstract"), scored("sections.0"), scored("sections.1")] == [1.0, 1.0, 0.0]
    assert [scored("sections.1", "sections.1"), scored("abstract", "sections.0")] == [1.0, 0.0]


def test_snippets_that_feedback_calls_wrong_are_not_golden(tmp_path):
    flags = [{**snippet("7", n, n + 9), "golden": n > 0} for n in (0, 50)]
    content = {"questions": [{"id": "q", "snippets": [*flags, snippet("8", 0, 9)]}]}
    (tmp_path / "feedback").write_text(json.dumps(content))
    assert [passage.begin for passage in read_snippets(tmp_path / "feedback")["q"]] == [50, 0]


def test_documents_are_scored_as_by_hand():
    values = score_documents({"1": ["a", "b", "c"], "2": []}, {"1": ["x", "a", "c", "y"]})
    assert [*values] == ["1"]
    assert (values["1"].precision, values["1"].recall) == (0.5, pytest.approx(2 / 3))
    assert values["1"].ap == pytest.approx((1 / 2 + 2 / 3) / 3)


def test_joined_snippets_keep_the_first_ones_place():
    golden = {"q": [Snippet("7", "abstract", 0, 99)]}
    apart = [Snippet("7", "abstract", 200, 299), Snippet("7", "abstract", 0, 49)]
    overlapping = [*apart, Snippet("7", "abstract", 30, 99)]
    values = score_snippets(golden, {"q": overlapping})["q"]
    assert (values.precision, values.recall) == (0.5, 1.0)
    assert values.ap == pytest.approx(0 + 100 / 200)


def test_a_snippet_without_offsets_is_refused(tmp_path):
    question = {"id": "1", "body": "Why?", "snippets": [{"document": ADDRESS + "7"}]}
    (tmp_path / "a.json").write_text(json.dumps({"questions": [question]}))
    with pytest.raises(InputError, match="question 1 has a snippet without beginSection"):
        read_snippets(tmp_path / "a.json")


def test_a_golden_file_without_judgments_is_refused(files, capsys, monkeypatch):
    question = {"id": "1", "body": "Why?", "type": "summary"}
    (files / "testset.json").write_text(json.dumps({"questions": [question]}))
    command = ("bioasq", files / "answers.json", "--golden", files / "testset.json")
    result = call(capsys, monkeypatch, *command)
    assert (result.code, "no question has documents here" in result.err) == (2, True)
