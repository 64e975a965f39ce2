"""`platform submit bioasq` writes a run as the answers that BioASQ takes."""

import json
import random

import pytest

QUESTIONS = [
    {"id": "b1", "body": "Which drugs target CDK4?", "type": "list"},
    {"id": "b2", "body": "Is NF2 a tumour suppressor?", "type": "yesno"},
]
TOML = """
id = "batch"
[documents]
files = ["docs.jsonl"]
[topics]
file = "testset.json"
format = "bioasq"
"""


@pytest.fixture
def submit(platform, folder):
    (folder / "docs.jsonl").write_text('{"id": "1", "title": "CDK4"}\n')
    (folder / "testset.json").write_text(json.dumps({"questions": QUESTIONS}))
    (folder / "batch.toml").write_text(TOML)

    def submit(run, *arguments, collection="batch.toml", out="a.json"):
        (folder / "my.run").write_text(run)
        command = ("submit", "bioasq", "my.run", "--collection", collection, "--out", out)
        return platform(*command, *arguments)

    return submit


def test_ten_documents_of_each_question_are_written_in_the_order_of_the_questions(submit, folder):
    ranked = "".join(f"b2 Q0 {100 + n} {n} {20 - n} x\n" for n in range(1, 13))
    outcome = submit(ranked + "b1 Q0 7 1 1.0 x\n")
    assert (outcome.code, outcome.out) == (0, "a.json: 11 documents for 2 questions\n")
    first, second = json.loads((folder / "a.json").read_text())["questions"]
    assert first == {
        **QUESTIONS[0],
        "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/7"],
        "snippets": [],
    }
    assert second["id"] == "b2"
    assert [address.rpartition("/")[2] for address in second["documents"]] == [
        str(100 + n) for n in range(1, 11)
    ]


def test_what_was_submitted_can_be_scored_as_if_it_were_judged(submit, platform, folder):
    submit("b1 Q0 7 1 1.0 x\nb2 Q0 8 1 2.0 x\nb2 Q0 9 2 1.0 x\n")
    (folder / "other.run").write_text("b1 Q0 6 1 2.0 y\nb1 Q0 7 2 1.0 y\n")
    outcome = platform(
        "evaluate", "other.run", "--qrels", "a.json", "--measure", "BioASQ-AP", "--json"
    )
    assert outcome.json["runs"][0]["measures"] == {"BioASQ-AP": 0.25}


def test_a_question_without_documents_is_named(submit, folder):
    outcome = submit("b2 Q0 8 1 1.0 x\n", "--json")
    assert outcome.code == 0
    assert "my.run has no documents for 1 question: b1." in outcome.err
    assert outcome.json["unanswered"] == ["b1"]
    assert json.loads((folder / "a.json").read_text())["questions"][0]["documents"] == []


@pytest.mark.parametrize(
    ("run", "collection", "message"),
    [
        ("b1 Q0 d1 1 1.0 x\n", "batch.toml", "document 'd1' of question 'b1' is not a PMID"),
        ("b1 Q0 07 1 1.0 x\n", "batch.toml", "document '07' of question 'b1' is not a PMID"),
        ("b9 Q0 7 1 1.0 x\n", "batch.toml", "topics that 'batch.toml' does not have: b9"),
        ("q1 Q0 7 1 1.0 x\n", "small", "the topics of 'small' are not questions of BioASQ"),
    ],
)
def test_what_bioasq_would_not_take_is_refused_and_nothing_written(
    submit, folder, run, collection, message
):
    outcome = submit(run, collection=collection)
    assert outcome.code == 2
    assert message in outcome.err
    assert not (folder / "a.json").exists()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("./my.run", "--out my.run is the input itself"),
        ("./testset.json", "testset.json: this file already exists, with other content."),
        ("batch.toml", "batch.toml: this file already exists, with other content."),
    ],
)
def test_no_input_is_overwritten(submit, folder, out, message):
    outcome = submit("b1 Q0 7 1 1.0 x\n", out=out)
    assert outcome.code == 2
    assert message in outcome.err
    assert (folder / "my.run").read_text() == "b1 Q0 7 1 1.0 x\n"
    assert (folder / "batch.toml").read_text() == TOML
    assert json.loads((folder / "testset.json").read_text()) == {"questions": QUESTIONS}


def test_answers_that_are_taken_for_a_run_are_one_problem(submit, platform):
    submit("b1 Q0 7 1 1.0 x\n")
    outcome = platform("submit", "check", "a.json")
    assert (outcome.code, outcome.out.count(": error: ")) == (1, 1)
    assert "a.json: error: this is JSON, not a run." in outcome.out
    outcome = platform("evaluate", "a.json", "--qrels", "a.json", "--measure", "BioASQ-AP")
    assert outcome.code == 2
    assert "name the run behind them" in outcome.err


WORDS = [
    "CDK4",
    "NF2",
    "ﬁbrosis",
    "CO₂",
    "naïve",
    "µg",
    "a\u0301",
    "tumour\u00adous",
    "p53",
    "… and",
]


def _abstract(draw):
    sentences = (" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) for _ in range(9))
    return draw.choice(["  ", "\n", " "]).join(f"We saw {sentence}." for sentence in sentences)


def test_snippets_stand_where_they_say(platform, folder):
    draw = random.Random(7)
    documents = {
        str(n): {
            "id": str(n),
            "title": f"Title {n}: {draw.choice(WORDS)}",
            "abstract": _abstract(draw),
        }
        for n in range(1, 41)
    }
    (folder / "docs.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in documents.values()))
    questions = [
        {"id": f"b{n}", "body": f"Does {draw.choice(WORDS)} matter?", "type": "yesno"}
        for n in range(20)
    ]
    (folder / "testset.json").write_text(json.dumps({"questions": questions}))
    (folder / "batch.toml").write_text(TOML)
    lines = [
        f"{q['id']} Q0 {doc_id} {rank} {-rank} x\n"
        for q in questions
        for rank, doc_id in enumerate(draw.sample([*documents], 12), start=1)
    ]
    (folder / "my.run").write_text("".join(lines))
    command = ("submit", "bioasq", "my.run", "--collection", "batch.toml", "--out", "a.json")
    outcome = platform(*command, "--snippets", "bm25-text")
    assert outcome.out == "a.json: 200 documents and 200 snippets for 20 questions\n", outcome
    for answer in json.loads((folder / "a.json").read_text())["questions"]:
        assert len(answer["snippets"]) == 10
        for snippet in answer["snippets"]:
            assert snippet["document"] in answer["documents"]
            assert snippet["beginSection"] == snippet["endSection"]
            document = documents[snippet["document"].rpartition("/")[2]]
            begin, end = snippet["offsetInBeginSection"], snippet["offsetInEndSection"]
            assert document[snippet["beginSection"]][begin:end] == snippet["text"] != ""
    question = next(q for q in questions if "NF2" in q["body"])
    (answer,) = (
        a
        for a in json.loads((folder / "a.json").read_text())["questions"]
        if a["id"] == question["id"]
    )
    assert "NF2" in answer["snippets"][0]["text"]


def test_a_reranker_of_snippets_takes_settings(submit):
    run = "b1 Q0 1 1 1.0 x\n"
    outcome = submit(run, "--snippets", "bm25-text", "--set", "bm25-text.k1=2.0", "--json")
    assert (outcome.code, outcome.json["snippets"]) == (0, 1)
    refused = submit(run, "--set", "bm25-text.k1=2.0")
    assert "--checkpoint and --set are for --snippets, which is not given." in refused.err
    refused = submit(run, "--snippets", "delta", out="b.json")
    assert (refused.code, "checkpoint" in refused.err) == (2, True)
    refused = submit("b1 Q0 9 1 1.0 x\n", "--snippets", "bm25-text", out="b.json")
    assert "does not have 1 document of the run: 9." in refused.err
