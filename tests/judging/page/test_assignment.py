"""Who judges what next: nobody twice, some documents two people, and nothing is forgotten."""

from judged_pools import write_small_pool

from irplatform.judging.judgments import Source
from irplatform.judging.page.assignment import RESERVED, Assignment, is_doubled
from irplatform.judging.store import Store

DOCUMENTS = [f"d{n:02}" for n in range(20)]


class Room:
    """Assessors before one store."""

    def __init__(self, folder, store, share=0.0, documents=None):
        pool = write_small_pool(folder, documents or {"t1": DOCUMENTS, "t2": ["d00", "d01"]})
        self.store, self.now, self.clicks = store, 0.0, 0
        self.assignment = Assignment(pool, store, share, clock=lambda: self.now)

    def next(self, name, topic="t1"):
        return self.assignment.next(name, topic)

    def judge(self, name, topic="t1", document=None, grade=1):
        topic, document = (topic, document) if document else self.next(name, topic)
        self.clicks += 1
        source = Source("person", name)
        line = self.store.judge(topic, document, source, grade, request=f"click-{self.clicks}")
        self.assignment.note(line)
        return document

    def undo(self, name):
        self.clicks += 1
        self.assignment.note(self.store.undo(Source("person", name), f"click-{self.clicks}"))


def _room(tmp_path, share=0.0):
    return Store.open(tmp_path, "p1"), lambda store: Room(tmp_path, store, share)


def test_documents_come_in_the_order_of_the_pool(tmp_path):
    opened, room_of = _room(tmp_path)
    with opened as store:
        room = room_of(store)
        assert [room.judge("ann") for _ in DOCUMENTS] == DOCUMENTS
        assert room.next("ann") == ("t2", "d00")


def test_what_one_sees_another_does_not_get(tmp_path):
    opened, room_of = _room(tmp_path)
    with opened as store:
        room = room_of(store)
        assert [room.next(name)[1] for name in ("ann", "bob", "ann")] == ["d00", "d01", "d00"]
        room.judge("ann", document="d00")
        assert room.next("ann")[1] == "d02"
        room.now += RESERVED + 1
        assert room.next("eve")[1] == "d01"


def test_a_share_of_documents_is_judged_by_two(tmp_path):
    opened, room_of = _room(tmp_path, share=0.3)
    doubled = [d for d in DOCUMENTS if is_doubled(1, "t1", d, 0.3)]
    assert 2 <= len(doubled) <= 10
    with opened as store:
        room = room_of(store)
        assert [room.judge("ann") for _ in DOCUMENTS] == DOCUMENTS
        assert [room.judge("bob") for _ in doubled] == doubled
        assert room.next("bob") == ("t2", "d00")
        assert room.next("eve")[0] == "t2"


def test_a_larger_share_includes_a_smaller_one():
    few, many = ({d for d in DOCUMENTS if is_doubled(7, "t", d, s)} for s in (0.2, 0.6))
    assert few < many
    assert {d for d in DOCUMENTS if is_doubled(8, "t", d, 0.6)} != many
    assert not any(is_doubled(7, "t", d, 0.0) for d in DOCUMENTS)
    assert all(is_doubled(7, "t", d, 1.0) for d in DOCUMENTS)


def test_an_undone_document_comes_again(tmp_path):
    opened, room_of = _room(tmp_path)
    with opened as store:
        room = room_of(store)
        for _ in range(3):
            room.judge("ann")
        room.undo("ann")
        assert room.next("ann") == ("t1", "d02")
        assert room.assignment.progress("t1").endswith("2 of 20 in this topic, 2 of 22 in all")


def test_counts_are_the_same_after_a_restart(tmp_path):
    opened, room_of = _room(tmp_path, share=0.3)
    with opened as store:
        room = room_of(store)
        for name in ("ann", "bob", "ann", "eve", "ann"):
            room.judge(name)
        room.judge("ann", grade=None)
        again = room_of(store)
        assert again.assignment.progress("t1") == room.assignment.progress("t1")
        judged = int(room.assignment.progress("t1").split()[1])
        # A click that comes first after a restart is counted once.
        again.clicks = room.clicks
        again.judge("ann", document="d19")
        assert again.assignment.progress("t1").startswith(f"Judged: {judged + 1} of 20")


def test_a_pool_that_grew_goes_on(tmp_path):
    opened, room_of = _room(tmp_path)
    with opened as store:
        room = room_of(store)
        for topic, count in (("t1", 20), ("t2", 2)):
            for _ in range(count):
                assert not room.assignment.is_done
                room.judge("ann", topic)
        assert room.assignment.is_done
        assert room.next("ann") is None
        grown = write_small_pool(tmp_path, {"t1": [*DOCUMENTS, "d20"], "t2": ["d00", "d01"]})
        room.assignment.renew(grown)
        assert not room.assignment.is_done
        assert room.next("ann") == ("t1", "d20")
