"""Pools that learn grow in rounds, by judgments of what has a place."""

import pytest
from pooled_runs import TRUTH, judged, qrels, write_runs

import irplatform as ir
from irplatform.judging.judgments import Judgment, Source
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pooling import grades_of


@pytest.fixture
def files(tmp_path):
    return write_runs(tmp_path)


def test_a_person_goes_before_a_machine():
    judgments = [
        Judgment("1", "d1", 0, Source("person", "ann"), "2026-01-01T00:00:00Z"),
        Judgment("1", "d1", 2, Source("machine", "llm"), "2026-02-01T00:00:00Z"),
    ]
    assert grades_of(judgments) == {"1": {"d1": 0}}
    settled = Source("person", "eve", "adjudicated")
    judgments.insert(0, Judgment("1", "d1", 1, settled, "2025-01-01T00:00:00Z"))
    assert grades_of(judgments) == {"1": {"d1": 1}}


class TestRounds:
    @pytest.mark.parametrize("method", ["move-to-front", "worth"])
    def test_they_come_until_the_budget_is_spent(self, files, tmp_path, method):
        folder = tmp_path / "pool"
        ir.pool_runs(files, folder, method=method, budget=20, batch=6)
        added = []
        while count := ir.next_batch(folder, judged(read_pool(folder))):
            added.append(count)
        pool = read_pool(folder)
        assert added == [6, 6, 2]
        assert pool.rounds == [6, 6, 6, 2]
        places = [item.place for item in pool.items("1")]
        assert places == [*range(1, len(places) + 1)]

    def test_no_document_moves_and_the_id_stays(self, files, tmp_path):
        before = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=20, batch=9).pool
        ir.next_batch(tmp_path / "pool", judged(before))
        after = read_pool(tmp_path / "pool")
        assert after.id == before.id
        for topic in before.topics:
            assert after.items(topic)[: len(before.items(topic))] == before.items(topic)

    def test_none_comes_while_documents_are_not_judged(self, files, tmp_path, capsys):
        pool = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=20).pool
        judgments = judged(pool)
        first = next(iter(judgments[pool.topics[0]]))
        grade = judgments[pool.topics[0]].pop(first)
        assert ir.next_batch(pool.folder, judgments) == 0
        assert "1 document of 2 are not judged yet." in capsys.readouterr().err
        judgments[pool.topics[0]][first] = None
        assert ir.next_batch(pool.folder, judgments) == 2
        assert grade in (0, 1)

    def test_they_do_not_need_the_files_of_the_runs(self, files, tmp_path):
        pool = ir.pool_runs(files, tmp_path / "pool", method="move-to-front", budget=20).pool
        for path in files:
            path.unlink()
        assert ir.next_batch(pool.folder, judged(pool)) == 2

    def test_judgments_decide_the_next_round(self, files, tmp_path):
        pools = []
        for name, grade in (("none", 0), ("all", 1)):
            pool = ir.pool_runs(files, tmp_path / name, method="move-to-front", budget=30).pool
            for _ in range(4):
                pool = read_pool(pool.folder)
                judgments = {t: {i.document: grade for i in pool.items(t)} for t in pool.topics}
                ir.next_batch(pool.folder, judgments)
            pools.append(read_pool(pool.folder))
        none, all_of_them = ({item.document for item in pool.items("1")} for pool in pools)
        assert none != all_of_them

    def test_earlier_judgments_count(self, files, tmp_path):
        judgments = {t: {d: g for d, g in TRUTH[t].items() if d < "d20"} for t in "123"}
        ir.pool_runs(
            files, tmp_path / "pool", method="worth", budget=12, judged=qrels(tmp_path, judgments)
        )
        while ir.next_batch(tmp_path / "pool", judged(read_pool(tmp_path / "pool"))):
            pass
        pool = read_pool(tmp_path / "pool")
        assert all(item.document >= "d20" for t in pool.topics for item in pool.items(t))
        assert pool.judged > 0

    def test_a_fixed_pool_has_none(self, files, tmp_path):
        pool = ir.pool_runs(files, tmp_path / "pool").pool
        assert ir.next_batch(pool.folder, judged(pool)) == 0
