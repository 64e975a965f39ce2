"""The judge `llm` and a server with wrong, late, cut and odd answers: what is kept, what is not."""

import pytest
from chat_stand_in import LATE, ChatStandIn
from shipped_judges import shipped_judges
from small import SmallResources

from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Document, Documents, Judge, Topic
from irplatform.registry.dependencies import ChosenSystem

TOPIC = Topic("7", "lung cancer", {"gene": "ALK"})
GRADES = {0: "not relevant", 1: "possibly relevant", 2: "definitely relevant"}


@pytest.fixture
def server():
    with ChatStandIn() as stand_in:
        yield stand_in


@pytest.fixture
def judge(server, tmp_path):
    """Make the judge; a folder of answers is shared by all that a test makes."""

    def make(**options):
        registration = shipped_judges()["llm"]
        settings = {"url": server.url, "model": "m", "parallel": 1, **options}
        choice = ChosenSystem(registration, registration.options(settings))
        choice.reads  # noqa: B018 - which checks the options
        assessor = registration.make(choice.options)
        assessor.resources = SmallResources(folder=tmp_path / "cache")
        assessor.prepare(assessor.resources)
        return assessor

    return make


def documents(*relevance):
    texts = [f"relevance {value}" for value in relevance]
    return Documents.of([Document(f"d{i}", f"title {i}", text) for i, text in enumerate(texts)])


def cut(text):
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "length"}]}


def test_documents_get_the_grades_that_the_model_states(judge, server):
    assessor = judge()
    assert assessor.judge(TOPIC, documents(2, 0, 1), GRADES) == [2, 0, 1]
    assert len(server.asked) == 3
    assert server.asked[0]["temperature"] == 0
    assert "gene: ALK" in server.asked[0]["messages"][0]["content"]
    assert assessor.spent() == Judge.Tokens(3000, 150)


def test_several_documents_are_asked_about_at_the_same_time(judge, server):
    server.together = 3
    assert judge(parallel=3).judge(TOPIC, documents(2, 0, 1), GRADES) == [2, 0, 1]


def test_wrong_and_odd_answers_stay_unjudged_and_are_not_asked_again(judge, server):
    server.orders += ["3", "0 or 1", "I cannot judge this.", "", "", "[2] > [1]"]
    assessor = judge()
    expected = [None, None, None, 1, 2, None]
    assert assessor.judge(TOPIC, documents(0, 0, 0, 1, 2, 0), GRADES) == expected
    assert assessor.resources.told == ["llm: an answer that is no grade, the first one: 3"]
    assert judge().judge(TOPIC, documents(0, 0, 0, 1, 2, 0), GRADES) == expected
    assert len(server.asked) == 6


def test_cut_and_empty_answers_stay_unjudged_and_are_asked_again(judge, server):
    server.orders += [cut("The document"), cut("1"), cut("<think>grade: 2"), ""]
    assert judge().judge(TOPIC, documents(0, 1, 2, 1), GRADES) == [None, None, None, 1]
    assert judge().judge(TOPIC, documents(0, 1, 2, 1), GRADES) == [0, 1, 2, 1]
    assert len(server.asked) == 4 + 3


def test_a_late_answer_is_asked_for_again(judge, server, monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    server.orders += ["", LATE, ""]
    assert judge(timeout=0.3).judge(TOPIC, documents(1, 2), GRADES) == [1, 2]
    assert (len(server.asked), len(waits)) == (3, 1)


def test_a_document_without_an_answer_stays_unjudged_and_the_others_are_kept(
    judge, server, monkeypatch
):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.orders += ["", *[503] * 8, ""]
    assessor = judge()
    assert assessor.judge(TOPIC, documents(1, 2, 0), GRADES) == [1, None, 0]
    assert "no answer about some documents" in assessor.resources.told[0]
    assert judge().judge(TOPIC, documents(1, 2, 0), GRADES) == [1, 2, 0]
    assert len(server.asked) == 10 + 1


def test_a_server_that_never_answers_ends_in_an_error(judge, server, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.orders += [503] * 16
    with pytest.raises(PlatformError, match="failed 8 times"):
        judge().judge(TOPIC, documents(1, 2), GRADES)


def test_what_was_answered_before_an_error_is_not_asked_again(judge, server):
    server.orders += ["", "", 401]
    with pytest.raises(InputError, match=r"llm\.key_variable"):
        judge().judge(TOPIC, documents(1, 2, 0), GRADES)
    assert judge().judge(TOPIC, documents(1, 2, 0), GRADES) == [1, 2, 0]
    assert len(server.asked) == 3 + 1


def test_kept_answers_cost_nothing(judge, server):
    assessor = judge()
    before = assessor.tokens(TOPIC, documents(1, 2), GRADES)
    assert before.read > 250
    assert before.written == 8
    assessor.judge(TOPIC, documents(1), GRADES)
    assert assessor.tokens(TOPIC, documents(1, 2), GRADES).written == 4
    again = judge()
    assert again.judge(TOPIC, documents(1), GRADES) == [1]
    assert again.spent() == Judge.Tokens()


def test_the_version_changes_with_all_that_decides(judge, tmp_path):
    (tmp_path / "own.txt").write_text("{topic} {document} {grades}")
    versions = [
        judge().version(GRADES),
        judge(model="m 2").version(GRADES),
        judge(words=9).version(GRADES),
        judge(parameters={"seed": 1}).version(GRADES),
        judge(prompt=str(tmp_path / "own.txt")).version(GRADES),
        judge().version({0: "not relevant", 1: "relevant"}),
    ]
    assert len({*versions}) == len(versions)
    assert versions[0] == judge(parallel=9, timeout=1).version(GRADES)
    assert versions[0].startswith("model:m prompt:")
    assert versions[1].startswith("model:m_2 prompt:")


def test_a_judge_without_a_model_or_with_a_prompt_without_grades_is_refused(judge, tmp_path):
    with pytest.raises(InputError, match="'llm' needs a model"):
        judge(model="")
    (tmp_path / "own.txt").write_text("{topic} {document}")
    with pytest.raises(InputError, match=r"needs \{grades\} in it"):
        judge(prompt=str(tmp_path / "own.txt"))
