"""A pool is opened with its collection; one that learns grows when all of it is judged."""

import pytest

import irplatform as ir
from irplatform.judging.page.desk import Click, Move
from irplatform.judging.page.opening import opened_desk
from irplatform.judging.pool_folder import read_pool

pytestmark = pytest.mark.java


def test_a_pool_that_learns_is_judged_to_the_end_of_its_budget(tmp_path):
    demo = ir.collection("demo")
    first, second = ({topic.id: [*demo.qrels[topic.id]][:4]} for topic in demo.topics[:2])
    run = {t: {d: 9 - n for n, d in enumerate(ids)} for t, ids in (first | second).items()}
    ir.pool_runs({"one": run}, tmp_path / "pool", method="move-to-front", budget=6, batch=2)
    judged = []
    with opened_desk(tmp_path / "pool", "demo", grades="0=no,1=yes") as desk:
        while card := desk.next(Move(assessor="ann"))["card"]:
            place = {"topic": card["topic"]["id"], "document": card["id"]}
            judged.append((*place.values(),))
            request = f"click-{len(judged):04}"
            desk.judge(Click(assessor="ann", **place, grade=1, request=request))
    pool = read_pool(tmp_path / "pool")
    placed = [(topic, item.document) for topic in pool.topics for item in pool.items(topic)]
    assert pool.rounds == [2, 2, 2]
    assert sorted(judged) == sorted(placed)
