"""What the page is sent: documents with marks, counts, and nothing of systems and ranks."""

import json

import pytest
from judged_pools import HOSTILE, small_desk, write_small_pool

from irplatform import Ranking, Run, pool_runs
from irplatform.errors import InputError
from irplatform.judging.page.desk import Click, Desk, Move
from irplatform.judging.page.opening import grown
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.store import ConflictError

ANN, BOB = {"assessor": "ann"}, {"assessor": "bob"}
EVE = {"assessor": "eve", "adjudicates": True}


@pytest.fixture
def pool(tmp_path):
    return write_small_pool(tmp_path, {"t1": ["d1", "d2", "no3"], "t2": ["d1"]})


@pytest.fixture
def desk(tmp_path, pool):
    with small_desk(tmp_path, pool, share=1.0) as desk:
        yield desk


def _click(person, document="", grade=None, topic="t1", **more):
    _click.count += 1
    place = {"topic": topic, "document": document, "grade": grade, **more}
    return Click(**person, **place, request=f"click-{_click.count:04}")


_click.count = 0


def _next(desk, person, topic=""):
    return desk.next(Move(**person, topic=topic))["card"]


def _step(desk, person, by, document="", topic="t1"):
    return desk.step(Move(**person, topic=topic, document=document, by=by))["card"]


def test_a_document_has_its_parts_with_the_topics_words_marked(desk):
    card = _next(desk, ANN, "t1")
    assert card["title"] == ["", "Cancers", " of the ", "lung", f" {HOSTILE}"]
    assert card["fields"] == [["mesh", ["", "Lung", "; Humans"]]]
    assert card["judgment"] is None
    assert not {"rank", "score", "stratum", "place", "system", "run"} & {*card}


def test_a_document_that_the_collection_lacks_is_told_and_may_be_judged(desk):
    for document in ("d1", "d2"):
        card = desk.judge(_click(ANN, document, 1))["card"]
    assert (card["id"], card["title"]) == ("no3", ["This document is not in the collection"])
    assert desk.judge(_click(ANN, "no3"))["judgment"]["grade"] is None


def test_a_topic_has_all_its_fields(desk):
    assert _next(desk, ANN, "t2")["topic"]["fields"] == [["disease", "lung cancer"]]


def test_a_judgment_is_answered_with_the_next_document_and_the_counts(desk):
    desk.judge(_click(ANN, "d1", 2, note="  clear "))
    reply = desk.judge(_click(ANN, "d2", 0))
    assert reply["card"]["id"] == "no3"
    assert reply["progress"] == "Judged: 2 of 3 in this topic, 2 of 4 in all"


def test_a_person_steps_through_what_they_judged(desk):
    desk.judge(_click(ANN, "d1", 2, note="  clear "))
    desk.judge(_click(ANN, "d2", 0))
    assert _step(desk, ANN, -1, "no3")["id"] == _step(desk, ANN, -1)["id"] == "d2"
    first = _step(desk, ANN, -1, "d2")
    assert (first["id"], first["judgment"]["note"]) == ("d1", "clear")
    assert _step(desk, ANN, -1, "d1") is None
    assert _step(desk, ANN, 1, "d1")["id"] == "d2"
    assert _step(desk, ANN, 1, "d2")["id"] == "no3"
    assert _step(desk, BOB, -1) is None


def test_steps_go_back_to_the_topic_before(desk):
    desk.judge(_click(ANN, "d2", 0))
    assert _step(desk, ANN, -1, "d1", "t2")["id"] == "d2"
    desk.judge(_click(ANN, "d1", 1, "t2"))
    assert _step(desk, ANN, -1, "d1", "t2")["topic"]["id"] == "t1"
    assert _step(desk, BOB, -1, "d1", "t2") is None


def test_a_grade_is_changed_later_by_who_saw_it(desk):
    number = desk.judge(_click(ANN, "d1", 1))["judgment"]["number"]
    with pytest.raises(ConflictError):
        desk.judge(_click(ANN, "d1", 2))
    assert desk.judge(_click(ANN, "d1", 2, seen=number))["judgment"]["grade"] == 2
    assert _step(desk, ANN, -1)["judgment"]["grade"] == 2
    assert _next(desk, BOB)["judgment"] is None


def test_undo_brings_the_document_back(desk):
    desk.judge(_click(ANN, "d1", 1))
    undone = desk.undo(_click(ANN))
    assert undone["card"]["id"] == "d1"
    assert undone["card"]["judgment"] is None
    assert undone["progress"].startswith("Judged: 0 of 3")
    assert desk.undo(_click(ANN))["card"] is None


@pytest.mark.parametrize(
    ("document", "grade", "topic"), [("d9", 1, "t1"), ("d1", 7, "t1"), ("d1", 1, "t9")]
)
def test_what_is_not_in_the_pool_or_no_grade_is_refused(desk, document, grade, topic):
    with pytest.raises(InputError):
        desk.judge(_click(ANN, document, grade, topic=topic))
    assert desk.store.counts() == {}


def test_differences_are_settled_without_names(desk):
    for person, grade in ((ANN, 1), (BOB, 2)):
        desk.judge(_click(person, "d1", grade, note="why"))
        desk.judge(_click(person, "d2", 0))
    state = desk.start(Move(**EVE))
    card = state["card"]
    assert (card["id"], state["differences"]) == ("d1", 1)
    assert state["progress"] == "1 document left where assessors differ"
    assert [said["grade"] for said in card["said"]] == [1, 2]
    assert "ann" not in json.dumps(card)
    reply = desk.judge(_click(EVE, "d1", 2))
    assert (reply["card"], reply["progress"][:11]) == (None, "0 documents")
    assert _next(desk, EVE) is None
    desk.undo(_click(EVE))
    assert _next(desk, EVE)["id"] == "d1"


def test_a_pool_that_learns_grows_when_all_is_judged(tmp_path, pool):
    grown = write_small_pool(tmp_path / "grown", {"t1": ["d1", "d2", "no3", "d4"], "t2": ["d1"]})
    counts = []

    def grow(_):
        counts.append(len(desk.store.of_topic("t1")))
        return grown if len(counts) == 1 else None

    with small_desk(tmp_path, pool, grow=grow) as desk:
        for topic, document in (("t1", "d1"), ("t1", "d2"), ("t1", "no3"), ("t2", "d1")):
            assert _next(desk, ANN, "t1")
            desk.judge(_click(ANN, document, 1, topic=topic))
        assert _next(desk, ANN, "t2")["id"] == "d4"
        desk.judge(_click(ANN, "d4", 1))
        assert _next(desk, ANN, "t1") is None
        assert counts == [3, 4]


def test_a_pool_by_worth_grows_round_by_round_to_its_budget(tmp_path):
    runs = {
        name: Run(name, {"t1": Ranking.of(documents, [5.0, 4.0, 3.0, 2.0, 1.0])})
        for name, documents in {"one": "abcde", "other": "edcfa"}.items()
    }
    folder = tmp_path / "pool"
    pool = pool_runs(runs, folder, method="worth", budget=5, batch=2).pool
    with small_desk(folder, pool, grow=grown) as desk:
        judged = []
        while card := _next(desk, ANN, "t1"):
            judged.append(card["id"])
            desk.judge(_click(ANN, judged[-1], None if len(judged) == 1 else 1))
        assert len({*judged}) == len(judged) == 5
        assert read_pool(folder).rounds == [2, 2, 1]
        assert desk.start(Move(**ANN))["progress"] == "Judged: 5 of 5 in all"


def test_a_pool_of_other_topics_is_refused(tmp_path):
    pool = write_small_pool(tmp_path, {"t1": ["d1"]})
    with pytest.raises(InputError, match="'t1' is not a topic of the collection"):
        Desk(pool, None, {}, {}, None, None)
