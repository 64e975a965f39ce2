"""What a chat model is asked about a document, and the grade in its answer."""

import pytest

from irplatform.plugin import Document, Topic
from irplatform_judges.prompts import PROMPT, prompt, stated_grade

GRADES = {0: "not relevant", 1: "possibly relevant", 2: "definitely relevant"}


def test_a_prompt_has_topic_document_and_grades_with_definitions():
    topic = Topic("7", "melanoma {document}", {"disease": "Melanoma", "gene": ("BRAF", "KRAS")})
    text = prompt(PROMPT, topic, Document("d", "A title", "one {grades} two three"), GRADES, 4)
    assert "need:\nmelanoma {document}\ndisease: Melanoma\ngene: BRAF, KRAS\n" in text
    assert "<<<\nA title one {grades}\n>>>" in text
    assert "0: not relevant\n1: possibly relevant\n2: definitely relevant\n" in text


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("2", 2),
        (" 1.\n", 1),
        ("**2**", 2),
        ("[1]", 1),
        ('{"grade": 2}', 2),
        ("Grade: 0", 0),
        ("The grade is **1**.", 1),
        ("Relevance score = 2\nThe document reports a trial.", 2),
        ("1: possibly relevant", 1),
        ("2 - definitely relevant, it has 3 trials", 2),
        ("0\n\nIt is about mice.", 0),
        ("0 (not relevant)", 0),
        ("After reading, I choose grade 1.", 1),
    ],
)
def test_a_stated_grade_is_read(answer, grade):
    assert stated_grade(answer, GRADES) == grade


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "3",
        "-1",
        "1.5",
        "1/2",
        "Grade: 4",
        "0 or 1",
        "1-2",
        "2 of the 3 genes are named",
        "2-fold increase",
        "The score is between 1 and 2; grade 1 or 2",
        "Grade: 1. On reflection, grade: 2.",
        "1: but the grade is 2",
        "Grade 1 and 2",
        "1, 2",
        "2\n1",
        "Definitely relevant.",
        "I cannot judge this document.",
        "90% sure",
        "Grade 2 out of 5",
    ],
)
def test_what_states_no_grade_or_not_one_is_none(answer):
    assert stated_grade(answer, GRADES) is None


def test_definitions_come_in_whole():
    long = f"{'a document that ' * 300}\n- has a trial, and\n- names {{the}} gene"
    text = prompt(PROMPT, Topic("7", "q"), Document("d"), {0: "not relevant", 1: long}, 4)
    assert f"\n0: not relevant\n1: {long}\n" in text
