"""BioASQ's files: questions become topics, their documents judgments, and a run answers."""

import gzip
import json

import pytest

from irplatform.collections.topic_formats import read_topics
from irplatform.errors import InputError
from irplatform.evaluation.qrels import read_qrels
from irplatform.plugin import Topic
from irplatform.runs.bioasq import read_questions

QUESTIONS = [
    {
        "body": "Which drugs target\nCDK4?",
        "documents": [
            "http://www.ncbi.nlm.nih.gov/pubmed/11",
            "https://pubmed.ncbi.nlm.nih.gov/12/",
            "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC13",
            "https://www.ncbi.nlm.nih.gov/pmc/articles/15/",
            "https://pmc.ncbi.nlm.nih.gov/articles/16",
            "14",
            "http://www.ncbi.nlm.nih.gov/pubmed/11",
        ],
        "ideal_answer": ["Palbociclib."],
        "concepts": ["http://www.disease-ontology.org/api"],
        "type": "list",
        "id": "55031181e9bde69634000014",
        "snippets": [{"document": "http://www.ncbi.nlm.nih.gov/pubmed/99", "text": "…"}],
    },
    {"body": "Is NF2 a tumour suppressor?", "id": "5503", "type": "yesno"},
    {"body": "What is liposarcoma?", "id": "5504", "documents": []},
]


@pytest.fixture
def file(tmp_path):
    """Writes a file of questions."""

    def file(content=QUESTIONS, name="training13b.json"):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps({"questions": content})
        path.write_text(text, encoding="utf-8")
        return path

    return file


def test_questions_are_topics(file):
    assert read_topics(file(), "bioasq") == [
        Topic(
            "55031181e9bde69634000014",
            "Which drugs target CDK4?",
            {"body": "Which drugs target CDK4?", "type": "list"},
        ),
        Topic(
            "5503",
            "Is NF2 a tumour suppressor?",
            {"body": "Is NF2 a tumour suppressor?", "type": "yesno"},
        ),
        Topic("5504", "What is liposarcoma?", {"body": "What is liposarcoma?"}),
    ]


def test_documents_of_questions_are_judgments_however_their_addresses_are_written(file):
    expected = {
        "55031181e9bde69634000014": dict.fromkeys(["11", "12", "PMC13", "PMC15", "PMC16", "14"], 1)
    }
    assert read_qrels(file()) == expected
    path = file(name="golden.json.gz")
    path.write_bytes(gzip.compress(("\ufeff\n" + path.read_text()).encode()))
    assert read_qrels(path) == expected


def test_feedback_of_synergy_judges_what_is_golden_and_what_is_not(file):
    documents = [{"id": "11", "golden": True}, {"id": "12", "golden": False}, "13"]
    path = file([{"id": "5", "body": "Why?", "documents": documents}])
    assert read_qrels(path) == {"5": {"11": 1, "12": 0, "13": 1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"questions": [', "this is not JSON"),
        ('{"id": "1"}\n{"id": "2"}\n', 'BioASQ\'s files are one JSON object: {"questions": ['),
        ('{"questions": []}', "there are no questions here"),
        ('{"data": [1]}', "there are no questions here"),
        ([*QUESTIONS, QUESTIONS[1]], "question 4 has the id '5503' of question 2."),
        ([{"id": "1"}], "question 1 has no 'body'"),
        (
            [QUESTIONS[0], {"body": "Why?", "id": 7}],
            "'id' of question 2 is 7, which has to be text",
        ),
        ([{"id": "1 2", "body": "Why?"}], "'1 2' of question 1 has white space"),
        ([{"id": "1\0", "body": "Why?"}], r"'1\x00' of question 1 has a control character"),
        (["Why?"], "question 1 is not a JSON object"),
        (
            [{"id": "1", "body": "Why?", "documents": "12"}],
            "of question 1 is not a list",
        ),
        (
            [{"id": "1", "body": "Why?", "documents": ["http://example.org/pubmed/12"]}],
            "question 1 names the document 'http://example.org/pubmed/12', which is not an article",
        ),
        ([{"id": "1", "body": "Why?", "documents": [1.5]}], "question 1 names the document 1.5,"),
        (
            [{"id": "1", "body": "Why?", "documents": [{"id": "12"}]}],
            "question 1 has the document {'id': '12'}: in feedback of Synergy, 'golden' of",
        ),
        (
            [{"id": "1", "body": "Why?", "documents": ["12", {"id": "12", "golden": False}]}],
            "question 1 has '12' both golden and not golden",
        ),
        (
            [{"id": "1", "body": "Why?", "documents": ["http://www.ncbi.nlm.nih.gov/gene/12"]}],
            "names the document 'http://www.ncbi.nlm.nih.gov/gene/12', which is not an article",
        ),
    ],
)
def test_files_that_are_not_right_are_refused(file, content, message):
    with pytest.raises(InputError) as caught:
        read_questions(file(content))
    assert message in str(caught.value)


def test_ids_of_documents_may_be_whole_numbers(file):
    documents = [{"id": 34, "golden": False}, {"id": "35", "golden": True}, 36, 37.0, "038"]
    documents += [{"id": "https://pubmed.ncbi.nlm.nih.gov/39/", "golden": "false"}]
    documents += [{"id": "PMC40", "golden": True}]
    path = file([{"id": "1", "body": "Why?", "documents": documents}])
    golden, others = dict.fromkeys(["35", "36", "37", "38", "PMC40"], 1), {"34": 0, "39": 0}
    assert read_qrels(path) == {"1": {**golden, **others}}


def test_questions_without_documents_are_no_judgments(file):
    with pytest.raises(InputError) as caught:
        read_qrels(file(QUESTIONS[1:]))
    assert "no question has documents" in str(caught.value)


@pytest.mark.parametrize("content", ['{"id": "1"}', "{", '[{"id": "1"}]', "[\n", "{}"])
def test_json_that_is_no_file_of_questions_is_not_read_as_a_table(file, content):
    with pytest.raises(InputError) as caught:
        read_qrels(file(content))
    assert 'or BioASQ\'s, {"questions": […]}' in str(caught.value)


def test_a_topic_of_trec_may_begin_with_a_brace(file):
    assert read_qrels(file("{1} 0 12 1\n[2] 0 13 0\n")) == {"{1}": {"12": 1}, "[2]": {"13": 0}}
