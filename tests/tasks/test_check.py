"""Submissions are checked by the rules of their tasks."""

import json

import pytest

from irplatform.tasks.check import check_submission
from irplatform.tasks.submissions import check_runs, task_of

QRELS = "1 0 NCT1 1\n1 0 NCT2 0\n1 0 NCT3 0\n1 0 NCT4 0\n"


def lines(topics, documents=3, tag="mine", prefix="NCT"):
    return [
        f"{topic} Q0 {prefix}{rank:04} {rank} {1000 - rank} {tag}"
        for topic in topics
        for rank in range(1, documents + 1)
    ]


@pytest.fixture
def check(tmp_path):
    def check(content, task="trec-ct-2021", **options):
        path = tmp_path / "a.run"
        path.write_text(content if isinstance(content, str) else "\n".join(content) + "\n")
        return check_runs(path, task=task, **options)[str(path)]

    return check


def errors(report):
    return [(p.line, p.message) for p in report.problems if p.level == "error"]


def test_a_run_by_the_rules_has_no_errors(check):
    report = check(lines(range(1, 76)))
    assert errors(report) == []
    assert (report.topics, report.results, report.tag, report.tied) == (75, (3, 3), "mine", ())


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda run: run[:-3], None, "1 of 75 topics have no results: '75'"),
        (lambda run: [*run, "76 Q0 NCT1 1 1 mine"], None, "topics that the task does not have"),
        (
            lambda run: [row.replace("NCT0002", "PMC2") for row in run],
            2,
            "ids of documents that are not of the form NCT[0-9]+: 'PMC2'",
        ),
        (
            lambda run: [row.replace("mine", "my-run") for row in run],
            1,
            "the run tag 'my-run' does not match [A-Za-z0-9_]{1,12}.",
        ),
        (
            lambda run: [*lines([1], 1001), *run[3:]],
            None,
            "1 of 75 topics have more than the 1,000 results that are accepted: '1' 1,001.",
        ),
    ],
)
def test_each_rule_is_checked(check, change, line, message):
    ((found_line, text),) = errors(check(change(lines(range(1, 76)))))
    assert found_line == line
    assert message in text


def test_where_topics_are_only_counted_their_number_is_checked(check):
    ((_, message),) = errors(check(lines(range(49)), task="trec-ct-2022"))
    assert message.startswith("49 topics, but the task has 50. topics=FILE or collection= tells")
    ((_, message),) = errors(check(lines(range(51)), task="trec-ct-2022"))
    assert "which are too many" in message
    assert errors(check(lines(range(50)), task="trec-ct-2022")) == []


def test_topics_come_from_a_file_in_the_tasks_format(check, tmp_path):
    numbers = "".join(f'<topic number="{n}">a patient</topic>' for n in (3, 5))
    (tmp_path / "topics.xml").write_text(f"<topics>{numbers}</topics>")
    ((_, message),) = errors(check(lines([3]), "trec-ct-2022", topics=tmp_path / "topics.xml"))
    assert message == "1 of 2 topics have no results: '5'."


def test_scores_may_not_rise_where_the_task_says_so(check):
    run = "".join(
        f"{topic} Q0 msmarco_v2.1_doc_01_2#{n}_3 {n} {score} mine\n"
        for topic in task_of("trec-rag-2025-retrieval").topic_ids
        for n, score in ((1, 1.0), (2, 2.0 if topic == "7" else 0.5))
    )
    ((line, message),) = errors(check(run, "trec-rag-2025-retrieval"))
    assert (line, "topic '7': the score is higher than that of the line before" in message) == (
        6,
        True,
    )
    broken = run.replace("1 1.0", "1 one", 1)  # read line by line
    assert [line for line, _ in errors(check(broken, "trec-rag-2025-retrieval"))] == [1, 6]


def test_ties_name_the_measures_that_they_can_move(check, tmp_path):
    run = lines(range(1, 76), 20)
    run[9] = run[9].replace(" 990 ", " 989 ")  # ranks 10 and 11 of topic 1
    run[30] = run[30].replace(" 989 ", " 988 ")  # ranks 11 and 12 of topic 2
    (tie,) = check(run).tied
    assert tie == "nDCG@10 in 1 of 75 topics, the highest at ranks 10 to 11 of topic '1'"
    (tmp_path / "qrels").write_text("1 0 NCT0011 1\n1 0 NCT0001 1\n1 0 NCT0010 0\n")
    (tie,) = check(run, qrels=tmp_path / "qrels").tied
    # Ideal: 1 + 1/log2(3); the second relevant document is at rank 10 or 11.
    low, high = 1 / 1.63093, (1 + 1 / 3.45943) / 1.63093
    assert tie.startswith(f"nDCG@10 between {low:.4f} and {high:.4f} (now {high:.4f}) in 1 of")


def test_more_runs_than_a_group_may_send_are_warned_of(tmp_path):
    for number in range(4):
        run = lines(range(1, 31), tag=f"run{number}", prefix="abcd")
        (tmp_path / f"{number}.run").write_text("\n".join(run) + "\n")
    checks = check_runs(sorted(tmp_path.glob("*.run")), task="trec-covid-round1")
    (warning,) = [p for p in checks[str(tmp_path / "3.run")].problems if "group" in p.message]
    assert warning.message == ("trec-covid-round1 takes at most 3 runs of a group; these are 4.")


def answers(path, name):
    return [(p.line, p.message) for p in check_submission(path, task_of(name)).problems]


QUESTION = {
    "id": "q1",
    "body": "Why?",
    "type": "summary",
    "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/11"],
    "snippets": [
        {
            "document": "http://www.ncbi.nlm.nih.gov/pubmed/11",
            "text": "Because.",
            "beginSection": "abstract",
            "endSection": "abstract",
            "offsetInBeginSection": 4,
            "offsetInEndSection": 12,
        }
    ],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        ({"documents": QUESTION["documents"] * 2}, "has 'http://www.ncbi.nlm.nih.gov/pubmed/11' 2"),
        ({"documents": [11]}, "write 'http://www.ncbi.nlm.nih.gov/pubmed/11' for 11"),
        ({"documents": ["PMC5"]}, "'PMC5' is not the PMID of an article"),
        ({"documents": []}, "question 'q1' has no documents"),
        ({"documents": "11"}, "'documents' of question 'q1' is not a list"),
        (
            {"documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{n}" for n in range(1, 12)]},
            "documents of question 'q1': 11, but at most 10 are accepted",
        ),
        ({"snippets": QUESTION["snippets"] * 11}, "snippets of question 'q1': 11, but at most 10"),
        ({"snippets": ["Because."]}, "snippet 1 of question 'q1' is not a JSON object"),
        (
            {"snippets": [{**QUESTION["snippets"][0], "offsetInEndSection": 3}]},
            "the offsets 4 and 3 are no span of a text",
        ),
        (
            {"snippets": [{**QUESTION["snippets"][0], "offsetInEndSection": 13}]},
            "the offsets span 9 characters, its text 8",
        ),
        (
            {"snippets": [{**QUESTION["snippets"][0], "beginSection": "body"}]},
            "'beginSection' is 'body', neither title nor abstract",
        ),
    ],
)
def test_answers_to_bioasq(tmp_path, change, message):
    path = tmp_path / "a.json"
    content = {"questions": [{**QUESTION, **change}]}
    path.write_text(json.dumps(content, indent=1))
    problems = answers(path, "bioasq-13b-a")
    if not message:
        assert problems == []
        return
    ((line, text),) = problems
    assert message in text
    assert line >= 3  # of the question, or of the value in it


GROUNDED = {
    "metadata": {"team_id": "us", "run_id": "us-1", "qa_id": "116", "question": "Why?"},
    "answer": [
        {
            "text": "Because.",
            "existing_supported_citations": ["1"],
            "supported_citations": ["2", 3],
            "contradicted_citations": [],
        }
    ],
}


def grounded(**change):
    sentence = {**GROUNDED["answer"][0], **change}
    return {**GROUNDED, "answer": [sentence]}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (grounded(), ""),
        (grounded(supported_citations=["1"]), "has 1 among both the supporting and the existing"),
        (grounded(supported_citations=[2, 3, 4, 5]), "4, but at most 3 are accepted"),
        (grounded(contradicted_citations=["PMC1"]), "'PMC1' is not the PMID of an article"),
        (grounded(contradicted_citations=["7", 7]), "has '7' 2 times"),
        (grounded(contradicted_citations=None), "has no list 'contradicted_citations'"),
        ({**GROUNDED, "metadata": {**GROUNDED["metadata"], "run_id": "x"}}, "a second 'metadata.r"),
    ],
)
def test_answers_to_biogen_2025_a(tmp_path, second, message):
    entries = []
    for number in range(116, 156):
        entry = second if number == 117 else GROUNDED
        entries.append({**entry, "metadata": {**entry["metadata"], "qa_id": str(number)}})
    path = tmp_path / "us-1"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    problems = answers(path, "trec-biogen-2025-a")
    if not message:
        assert problems == []
        return
    ((line, text),) = problems
    assert (line, message in text) == (2, True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries[:39]))
    assert (None, "1 of 40 questions have no answer: 155.") in answers(path, "trec-biogen-2025-a")


def test_answers_to_biogen_2025_b_have_250_words_and_three_citations(tmp_path):
    def entry(number, words=1, citations=("1",)):
        said = {"text": "word " * words, "citations": list(citations)}
        return {
            "metadata": {"team_id": "us", "run_id": "us-1", "topic_id": number},
            "responses": [said],
        }

    entries = [entry(number) for number in range(181, 211)]
    entries[1] = entry(182, words=251)
    entries[2] = entry(183, citations=("1", "2", "3", "4"))
    path = tmp_path / "us-1"
    path.write_text(json.dumps(entries, indent=1))  # a list, which NIST's checker takes, too
    (words_line, words), (cited_line, cited) = answers(path, "trec-biogen-2025-b")
    assert words == "the answer of topic '182' has 251 words; at most 250 are accepted."
    assert cited == "'citations' of sentence 1 of topic '183': 4, but at most 3 are accepted."
    rows = path.read_text().splitlines()
    assert rows[words_line - 1].strip() == "{" and 1 < words_line < cited_line


def test_answers_to_biogen_2024_cite_their_references(tmp_path):
    def entry(number, answer, references):
        return {"topic_id": str(number), "answer": answer, "references": references}

    results = [entry(number, "Yes [1].", ["1"]) for number in range(116, 181)]
    results[0] = entry(116, "Yes [1,2,3,4]. No. [5]", ["1", "2", "3", "4", "6"])
    head = {"team_id": "us", "run_name": "us1", "contact_email": "us@example.org"}
    path = tmp_path / "us1.json"
    path.write_text(json.dumps({**head, "results": results}))
    messages = [message for _, message in answers(path, "trec-biogen-2024")]
    assert messages == [
        "topic '116': of [1,2,3,4] only the first 3 count.",
        "topic '116': [5] stands outside of a sentence and does not count.",
        "topic '116' cites 5, not among its references.",
        "topic '116' has references that its answer cites nowhere: 6.",
    ]


def test_what_is_no_json_is_said_with_its_line(tmp_path):
    path = tmp_path / "us-1"
    path.write_text('{"metadata": {}}\n{"metadata": \n')
    (problem,) = check_runs(path, task="trec-biogen-2025-a")[str(path)].problems
    assert (problem.level, problem.line) == ("error", 2)
