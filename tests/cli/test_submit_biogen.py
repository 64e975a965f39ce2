"""Sentences of BioGen's answers get citations, in the form in which they came."""

import json

import pytest

TEXTS = {
    "11": "Vemurafenib helps patients with melanoma and BRAF V600E.",
    "12": "Vemurafenib in melanoma: resistance of BRAF V600E.",
    "13": "Sleep apnea and weight loss.",
    "14": "Weight loss, exercise and sleep apnea.",
    "15": "Exercise, sleep.",
    "AACR_1": "Vemurafenib, vemurafenib, melanoma.",
}
TASK_A = [
    {
        "meta_data": {"qa_id": "116", "question": "Can melanoma be treated?"},
        "answer": [
            {"text": "Vemurafenib treats melanoma.", "existing_supported_citations": [11]},
            {"text": "Weight loss against sleep apnea.", "existing_supported_citations": None},
        ],
    },
    {"meta_data": {"qa_id": "117", "question": "Why?"}, "answer": []},
]
TASK_B = [
    {
        "metadata": {"topic_id": 181},
        "responses": [{"text": "Vemurafenib treats melanoma."}, {"text": "Zebras."}],
    },
    {"metadata": {"topic_id": "182"}, "responses": [{"text": "Exercise before sleep."}]},
]
OF_2024 = {
    "contact_email": "us@example.org",
    "results": [
        {
            "topic_id": 116,
            "answer": "Vemurafenib treats melanoma [99]. Zebras do not! Is exercise before sleep?",
        }
    ],
}
TOML = """
id = "articles"
[documents]
files = ["docs.jsonl"]
[topics]
file = "topics.jsonl"
format = "jsonl"
"""


@pytest.fixture
def cited(platform, folder, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TEAM", "us")
    lines = [json.dumps({"id": name, "title": text}) + "\n" for name, text in TEXTS.items()]
    (folder / "docs.jsonl").write_text("".join(lines))
    (folder / "topics.jsonl").write_text('{"id": "116", "query": "melanoma"}\n')
    (folder / "articles.toml").write_text(TOML)

    def cited(answers, *options, lines=False):
        text = "".join(f"{json.dumps(a)}\n" for a in answers) if lines else json.dumps(answers)
        (folder / "answers.json").write_text(text)
        command = ("submit", "biogen", "answers.json", "--collection", "articles.toml")
        return platform(*command, "--out", "run.jsonl", *options)

    return cited


def read_answers(folder):
    return [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]


def test_pairs_of_task_a_get_articles_that_they_do_not_cite_yet(cited, folder):
    outcome = cited(TASK_A, "--tag", "us1")
    assert outcome.out == "run.jsonl: 4 citations for 2 sentences of 2 topics\n", outcome
    assert "judgments" not in outcome.err
    first, second = read_answers(folder)
    assert first["metadata"] == {
        "qa_id": "116",
        "question": "Can melanoma be treated?",
        "team_id": "us",
        "run_id": "us1",
    }
    assert first["answer"] == [
        {
            **TASK_A[0]["answer"][0],
            "supported_citations": [12],  # 11 is cited already, AACR_1 is not PubMed's
            "contradicted_citations": [],
        },
        {
            **TASK_A[0]["answer"][1],
            "supported_citations": [13, 14, 15],
            "contradicted_citations": [],
        },
    ]
    assert second["answer"] == []
    assert "meta_data" not in first


@pytest.mark.parametrize("lines", [False, True])
def test_answers_for_task_b_keep_their_sentences(cited, folder, lines):
    outcome = cited(TASK_B, "--citations", "1", "--json", lines=lines)
    assert {**outcome.json, "path": ""} == {"path": "", "topics": 2, "sentences": 3, "citations": 2}
    first, second = read_answers(folder)
    assert first["metadata"] == {"topic_id": "181", "team_id": "us", "run_id": "bm25"}
    assert [response["citations"] for response in first["responses"]] in ([[11], []], [[12], []])
    assert second["responses"] == [{"text": "Exercise before sleep.", "citations": [15]}]


def test_the_articles_of_a_run_are_candidates(cited, folder):
    (folder / "q.run").write_text(
        "181 Q0 13 1 3.0 x\n181 Q0 12 2 2.0 x\n181 Q0 15 3 1.0 x\n182 Q0 14 1 1.0 x\n"
    )
    outcome = cited(TASK_B, "--run", "q.run")
    assert outcome.code == 0, outcome
    first, second = read_answers(folder)
    assert first["metadata"]["run_id"] == "bm25-text"
    assert first["responses"][0]["citations"][0] == 12
    assert sorted(first["responses"][0]["citations"]) == [12, 13, 15]
    assert second["responses"][0]["citations"] == [14]
    (folder / "q.run").write_text("181 Q0 13 1 3.0 x\n")
    refused = cited(TASK_B, "--run", "q.run", "--force")
    assert "q.run: there are no documents for 1 question: 182." in refused.err


def test_citations_of_2024_stand_in_the_text(cited, folder):
    outcome = cited(OF_2024, "--citations", "1", "--tag", "us1")
    assert outcome.code == 0, outcome
    submission = json.loads((folder / "run.jsonl").read_text())
    (result,) = submission.pop("results")
    assert submission == {"team_id": "us", "run_name": "us1", "contact_email": "us@example.org"}
    pmid = result["references"][0]
    assert pmid in ("11", "12")
    assert result == {
        "topic_id": "116",
        "answer": f"Vemurafenib treats melanoma [{pmid}]. Zebras do not! Is exercise before sleep "
        "[15]?",
        "references": [pmid, "15"],
    }


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([{"metadata": {"topic_id": "1"}}], "entry 1 is no answer of BioGen: items with"),
        ([{"responses": []}], "entry 1 has no 'qa_id' or 'topic_id'."),
        ([{"topic_id": "1", "responses": ["a"]}], "entry 1 has a sentence without 'text'."),
        ([], "these are no answers of BioGen"),
    ],
)
def test_other_files_are_refused(cited, folder, answers, said):
    refused = cited(answers)
    assert (refused.code, said in refused.err) == (2, True), refused
    assert not (folder / "run.jsonl").exists()


def test_a_team_is_needed(cited, monkeypatch):
    monkeypatch.delenv("IRPLATFORM_TEAM")
    assert "BioGen asks for your team: `platform config set team VALUE`." in cited(TASK_B).err


def test_the_tasks_own_rules_find_nothing_wrong(cited, platform, folder):
    for answers, task in ((TASK_A, "2025-a"), (TASK_B, "2025-b"), (OF_2024, "2024")):
        cited(answers, "--force")
        report = platform("submit", "check", "run.jsonl", "--task", f"trec-biogen-{task}").out
        faults = [line for line in report.splitlines() if ": error: " in line]
        missing = ("have no answer", "is not one of the task", "answered, but the task has")
        assert all(any(part in fault for part in missing) for fault in faults), report


def test_answers_are_to_the_topics_of_the_task_and_not_of_the_articles(cited, platform, folder):
    ids = [str(number) for number in range(181, 211)]
    entry = {"responses": [{"text": "Vemurafenib treats melanoma."}]}
    assert cited([{"metadata": {"topic_id": name}, **entry} for name in ids]).code == 0
    command = ("submit", "check", "run.jsonl", "--task", "trec-biogen-2025-b")
    checked = platform(*command, "--collection", "articles.toml", "--documents")
    assert checked.code == 0, checked


def test_answers_without_any_citation_are_warned_of(cited, folder):
    (folder / "docs.jsonl").write_text('{"id": "AACR_1", "title": "Zebras."}\n')
    zebras = [{"metadata": {"topic_id": "181"}, "responses": [{"text": "Zebras."}]}]
    outcome = cited(zebras)
    assert "WARNING: no article was found whose id is a PMID" in outcome.err, outcome


def test_the_tag_is_one_that_a_task_can_take(cited):
    refused = cited(TASK_B, "--tag", "my group")
    assert (refused.code, "--tag 'my group' is not a run tag" in refused.err) == (2, True)
