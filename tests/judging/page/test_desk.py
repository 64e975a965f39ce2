"""What the page is sent: documents with marks, counts, and nothing of systems and ranks."""

import json

import pytest
from judged_pools import HOSTILE, small_desk, write_small_pool

from irplatform import Ranking, Run, pool_runs
from irplatform.errors import InputError
from irplatform.judging.page.desk import Asked, Click, Desk, Undo
from irplatform.judging.page.opening import grown
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.store import ConflictError

ANN, BOB = Asked(assessor="ann"), Asked(assessor="bob")
EVE = Asked(assessor="eve", adjudicates=True)


@pytest.fixture
def pool(tmp_path):
    return write_small_pool(tmp_path, {"t1": ["d1", "d2", "no3"], "t2": ["d1"]})


@pytest.fixture
def desk(tmp_path, pool):
    with small_desk(tmp_path, pool, share=1.0) as desk:
        yield desk


def _click(asked, document, grade, topic="t1", **more):
    _click.count += 1
    given = {"topic": topic, "document": document, "grade": grade, **more}
    return Click(**dict(asked), **given, request=f"click-{_click.count:04}")


_click.count = 0


def test_a_document_has_its_parts_with_the_topics_words_marked(desk):
    card = desk.next(ANN, "t1")["cards"][0]
    assert card["title"] == ["", "Cancers", " of the ", "lung", f" {HOSTILE}"]
    assert card["fields"] == [["mesh", ["", "Lung", "; Humans"]]]
    assert card["judgment"] is None
    assert not {"rank", "score", "stratum", "place", "system", "run"} & {*card}


def test_a_document_that_the_collection_lacks_is_told(desk):
    card = desk.card(ANN, "t1", "no3")["card"]
    assert card["missing"]
    assert desk.judge(_click(ANN, "no3", None))["judgment"]["grade"] is None


def test_a_topic_has_all_its_fields(desk):
    topics = desk.next(ANN, "t2")["topics"]
    assert topics["t2"]["fields"] == [["disease", "lung cancer"]]


def test_judgments_are_counted_and_listed(desk):
    desk.judge(_click(ANN, "d1", 2, note="  clear "))
    counts = desk.judge(_click(ANN, "d2", 0))["progress"]
    assert (counts["judged"], counts["placed"], counts["all_placed"]) == (2, 3, 4)
    mine = desk.mine(ANN, "t1")
    assert [(each["document"], each["grade"], each["note"]) for each in mine] == [
        ("d2", 0, ""),
        ("d1", 2, "clear"),
    ]
    assert desk.mine(BOB, "t1") == []
    start = desk.start()
    assert start["assessors"] == ["ann"]
    assert [topic["judged"] for topic in start["topics"]] == [2, 0]


def test_a_grade_is_changed_later_by_who_saw_it(desk):
    seen = desk.judge(_click(ANN, "d1", 1))["judgment"]["number"]
    with pytest.raises(ConflictError):
        desk.judge(_click(ANN, "d1", 2))
    assert desk.judge(_click(ANN, "d1", 2, seen=seen))["judgment"]["grade"] == 2
    assert desk.card(ANN, "t1", "d1")["card"]["judgment"]["grade"] == 2
    assert desk.card(BOB, "t1", "d1")["card"]["judgment"] is None


def test_undo_brings_the_document_back(desk):
    desk.judge(_click(ANN, "d1", 1))
    undone = desk.undo(Undo(assessor="ann", request="undo-0001"))
    assert undone["card"]["id"] == "d1"
    assert undone["card"]["judgment"] is None
    assert undone["progress"]["judged"] == 0
    assert desk.undo(Undo(assessor="ann", request="undo-0002")) == {"card": None}


@pytest.mark.parametrize(
    ("document", "grade", "topic"), [("d9", 1, "t1"), ("d1", 7, "t1"), ("d1", 1, "t9")]
)
def test_what_is_not_in_the_pool_or_no_grade_is_refused(desk, document, grade, topic):
    with pytest.raises(InputError):
        desk.judge(_click(ANN, document, grade, topic=topic))
    assert desk.start()["assessors"] == []


def test_differences_are_settled_without_names(desk):
    for asked, grade in ((ANN, 1), (BOB, 2)):
        desk.judge(_click(asked, "d1", grade, note="why"))
        desk.judge(_click(asked, "d2", 0))
    shown = desk.next(EVE, "")
    (card,) = shown["cards"]
    assert (card["id"], shown["progress"]) == ("d1", {"differences": 1})
    assert [said["grade"] for said in card["said"]] == [1, 2]
    assert "ann" not in json.dumps(card)
    assert desk.judge(_click(EVE, "d1", 2))["progress"] == {"differences": 0}
    assert desk.next(EVE, "")["cards"] == []
    desk.undo(Undo(**dict(EVE), request="undo-0001"))
    assert [each["id"] for each in desk.next(EVE, "")["cards"]] == ["d1"]


def test_a_pool_that_learns_grows_when_all_is_judged(tmp_path, pool):
    grown = write_small_pool(tmp_path / "grown", {"t1": ["d1", "d2", "no3", "d4"], "t2": ["d1"]})
    asked = []

    def grow(_):
        asked.append(len(desk.store.of_topic("t1")))
        return grown if len(asked) == 1 else None

    with small_desk(tmp_path, pool, grow=grow) as desk:
        for topic, document in (("t1", "d1"), ("t1", "d2"), ("t1", "no3"), ("t2", "d1")):
            assert desk.next(ANN, "t1")["cards"]
            desk.judge(_click(ANN, document, 1, topic=topic))
        assert [card["id"] for card in desk.next(ANN, "t2")["cards"]] == ["d4"]
        desk.judge(_click(ANN, "d4", 1))
        assert desk.next(ANN, "t1")["cards"] == []
        assert asked == [3, 4]


def test_a_pool_by_worth_grows_round_by_round_to_its_budget(tmp_path):
    runs = {
        name: Run(name, {"t1": Ranking.of(documents, [5.0, 4.0, 3.0, 2.0, 1.0])})
        for name, documents in {"one": "abcde", "other": "edcfa"}.items()
    }
    folder = tmp_path / "pool"
    pool = pool_runs(runs, folder, method="worth", budget=5, batch=2).pool
    with small_desk(folder, pool, grow=grown) as desk:
        judged = []
        while cards := desk.next(ANN, "t1")["cards"]:
            judged.append(cards[0]["id"])
            desk.judge(_click(ANN, judged[-1], None if len(judged) == 1 else 1))
        assert len({*judged}) == len(judged) == 5
        assert read_pool(folder).rounds == [2, 2, 1]
        assert desk.start()["topics"][0]["placed"] == 5


def test_a_pool_of_other_topics_is_refused(tmp_path):
    pool = write_small_pool(tmp_path, {"t1": ["d1"]})
    object.__setattr__(pool.lines, "topics", ["t1"])
    with pytest.raises(InputError, match="'t1' is not a topic of the collection"):
        Desk(pool, None, {}, {}, None, None)
