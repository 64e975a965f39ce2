"""Pools of runs: reproducible, without what is judged, in rounds where a method learns."""

import json

import numpy as np
import pytest

import irplatform as ir
from irplatform.errors import InputError
from irplatform.evaluation.measures.inf_ndcg import inferred_ndcg
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.judging.judgments import Judgment, Source, read_judgments, write_judgments
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pool_inputs import grades_of
from irplatform.judging.pooling import state, unjudged
from irplatform.run_folder.metadata_files import metadata_path

TRUTH = {t: {f"d{n:02}": int(n % 4 == 0) for n in range(60)} for t in "123"}


@pytest.fixture
def files(tmp_path):
    """Three run files of three topics."""
    random = np.random.default_rng(1)
    paths = []
    for name in ("a", "b", "c"):
        rankings = {
            t: ir.Ranking.of([f"d{n:02}" for n in random.permutation(60)[:40]], range(40, 0, -1))
            for t in "123"
        }
        paths.append(tmp_path / f"{name}.run")
        ir.write_run(ir.Run(name, rankings), paths[-1])
    return paths


def judged(pool):
    """The grades of all documents that have a place."""
    return {t: {i.document: TRUTH[t][i.document] for i in pool.items(t)} for t in pool.topics}


def test_a_pool_is_what_the_first_ranks_of_the_runs_have(files, tmp_path):
    pool = ir.pool_runs(files, tmp_path / "pool", depth=4).pool
    for topic in "123":
        first = {d for path in files for d in ir.read_run(path).rankings[topic].doc_ids[:4]}
        assert {item.document for item in read_pool(pool.folder).items(topic)} == first


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"budget": 20},
        {"method": "stratified"},
        {"method": "rrf", "budget": 20},
        {"method": "move-to-front", "budget": 20},
        {"method": "worth", "budget": 20},
    ],
)
def test_the_same_runs_and_seed_give_the_same_bytes(files, tmp_path, options):
    for name in ("one", "two"):
        ir.pool_runs(files, tmp_path / name, **options)
    for name in ("pool.tsv", "pool.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_another_seed_gives_another_order_and_id(files, tmp_path):
    one, two = (ir.pool_runs(files, tmp_path / str(seed), seed=seed).pool for seed in (1, 2))
    assert one.id != two.id
    assert one.items("1") != two.items("1")
    assert {i.document for i in one.items("1")} == {i.document for i in two.items("1")}


def test_the_order_of_judging_tells_nothing_of_ranks(files, tmp_path):
    run = ir.read_run(files[0])
    best = run.rankings["1"].doc_ids[0]
    places = []
    for seed in range(30):
        pool = ir.pool_runs(run, tmp_path / str(seed), depth=20, seed=seed).pool
        places += [item.place for item in pool.items("1") if item.document == best]
    assert min(places) < 7
    assert max(places) > 14


def test_what_decides_a_pool_is_written_with_it(files, tmp_path):
    ir.pool_runs(files, tmp_path / "pool", depth=3, seed=9)
    facts = json.loads((tmp_path / "pool" / "pool.json").read_text())
    assert facts["settings"] == {"depth": 3}
    assert facts["seed"] == 9
    assert [(run["name"], run["path"]) for run in facts["runs"]] == [
        (path.stem, str(path)) for path in files
    ]


def test_runs_in_memory_and_mappings_of_names_are_pooled(tmp_path):
    made = ir.pool_runs({"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {"1": {"c": 1.0}}}, tmp_path / "p")
    assert [run["name"] for run in made.pool.runs] == ["x", "y"]
    assert {item.document for item in made.pool.items("1")} == {"a", "b", "c"}


def test_the_collection_is_the_one_that_the_runs_name(files, tmp_path):
    for path in files:
        call = {"function": "run", "settings": {"collection": "demo"}}
        metadata_path(path).write_text(json.dumps({"implementation": {"call": call}}))
    assert ir.pool_runs(files, tmp_path / "pool").pool.collection == "demo"
    assert read_pool(tmp_path / "pool").collection == "demo"
    call = {"function": "run", "settings": {"collection": "other"}}
    metadata_path(files[0]).write_text(json.dumps({"implementation": {"call": call}}))
    with pytest.raises(InputError, match="of several collections: other, demo"):
        ir.pool_runs(files, tmp_path / "mixed")


def test_a_run_that_lacks_topics_of_others_is_told(tmp_path, capsys):
    ir.pool_runs({"x": {"1": {"a": 1.0}, "2": {"a": 1.0}}, "y": {"2": {"b": 1.0}}}, tmp_path / "p")
    assert "y has no results for 1 of 2 topics." in capsys.readouterr().err


def test_an_existing_folder_is_not_overwritten(files, tmp_path):
    ir.pool_runs(files, tmp_path / "pool")
    with pytest.raises(InputError, match="exists already"):
        ir.pool_runs(files, tmp_path / "pool")


def test_a_plan_writes_nothing(files, tmp_path):
    made = ir.pool_runs(files, tmp_path / "pool", plan=True)
    assert made.facts["documents"] > 0
    assert not (tmp_path / "pool").exists()


def test_a_file_that_comes_twice_is_refused(files, tmp_path):
    with pytest.raises(InputError, match="more than once"):
        ir.pool_runs([files[0], files[0]], tmp_path / "pool")


class TestEarlierJudgments:
    def test_their_documents_are_left_out_and_they_are_kept(self, files, tmp_path):
        first = ir.pool_runs(files, tmp_path / "first", depth=4).pool
        pool = ir.pool_runs(files, tmp_path / "pool", depth=8, judged=judged(first)).pool
        for topic in "123":
            old, new = ({i.document for i in p.items(topic)} for p in (first, pool))
            assert not old & new
        kept = read_judgments(tmp_path / "pool" / "earlier.jsonl")
        assert {(j.topic, j.document) for j in kept} == {
            (t, i.document) for t in "123" for i in first.items(t)
        }

    def test_a_file_of_qrels_and_one_of_judgments_are_read(self, files, tmp_path):
        document = ir.read_run(files[0]).rankings["1"].doc_ids[0]
        (tmp_path / "qrels.txt").write_text(f"1 0 {document} 1\n")
        source = Source("machine", "llm")
        write_judgments(tmp_path / "j.jsonl", [Judgment("1", document, None, source)])
        for name in ("qrels.txt", "j.jsonl"):
            pool = ir.pool_runs(files, tmp_path / f"of-{name}", judged=tmp_path / name).pool
            assert document not in {item.document for item in pool.items("1")}
            assert pool.judged == 1

    def test_a_person_goes_before_a_machine(self, tmp_path, files):
        document = ir.read_run(files[0]).rankings["1"].doc_ids[0]
        judgments = [
            Judgment("1", document, 0, Source("person", "ann"), "2026-01-01T00:00:00Z"),
            Judgment("1", document, 2, Source("machine", "llm"), "2026-02-01T00:00:00Z"),
        ]
        assert grades_of(judgments) == {"1": {document: 0}}
        settled = Source("person", "eve", "adjudicated")
        judgments.insert(0, Judgment("1", document, 1, settled, "2025-01-01T00:00:00Z"))
        assert grades_of(judgments) == {"1": {document: 1}}

    def test_levels_are_refused(self, files, tmp_path):
        with pytest.raises(InputError, match=r"0\.5 of document 'd1' of topic '1'"):
            ir.pool_runs(files, tmp_path / "pool", judged={"1": {"d1": 0.5}})

    def test_nothing_is_left_to_judge(self, files, tmp_path):
        with pytest.raises(InputError, match="nothing to judge"):
            ir.pool_runs(files, tmp_path / "pool", judged=TRUTH)

    def test_their_differences_tell_the_power_instead_of_an_assumption(self, files, tmp_path):
        one = ir.pool_runs(files, tmp_path / "p", plan=True)
        two = ir.pool_runs(
            files,
            tmp_path / "p",
            plan=True,
            depth=30,
            judged={t: dict([*TRUTH[t].items()][:20]) for t in "123"},
        )
        assert one.facts["power"]["assumed"]
        assert not two.facts["power"]["assumed"]
        assert "as judged so far" in str(two)


def written_sample(folder, files, **options):
    """A stratified pool, judged, as the five columns of sampled judgments."""
    pool = ir.pool_runs(files, folder, method="stratified", **options).pool
    rows = [
        f"{t} 0 {i.document} {i.stratum} {TRUTH[t][i.document] if i.place else -1}\n"
        for t in pool.topics
        for i in pool.pooled(t)
    ]
    path = folder.with_suffix(".txt")
    path.write_text("".join(rows))
    return path


class TestSamples:
    def test_a_judged_sample_is_scored_without_a_further_step(self, files, tmp_path):
        path = written_sample(tmp_path / "pool", files, strata=["5:1", "40:0.5"])
        sampled = read_sampled_qrels(path)
        value = ir.evaluate(files[0], qrels=path, measures="infNDCG")["a"].aggregate["infNDCG"]
        rankings = ir.read_run(files[0]).rankings
        per_topic = [inferred_ndcg(sampled[t], rankings[t].doc_ids) for t in "123"]
        assert value == pytest.approx(np.mean(per_topic))

    def test_the_mean_over_many_samples_is_the_value_of_all_judgments(self, files, tmp_path):
        def value(share, seed):
            folder = tmp_path / f"{share}-{seed}"
            path = written_sample(folder, files, strata=["5:1", f"40:{share}"], seed=seed)
            return ir.evaluate(files[0], qrels=path, measures="infNDCG")["a"].aggregate["infNDCG"]

        drawn = [value(0.4, seed) for seed in range(30)]
        assert np.mean(drawn) == pytest.approx(value(1, 0), abs=0.02)
        assert np.std(drawn) > 0


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

    def test_none_comes_while_documents_are_not_judged(self, files, tmp_path):
        pool = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=20).pool
        known = judged(pool)
        first = next(iter(known[pool.topics[0]]))
        grade = known[pool.topics[0]].pop(first)
        assert ir.next_batch(pool.folder, known) == 0
        assert unjudged(pool, known) == 1
        assert "1 document of 2 are not judged" in " ".join(state(pool, known))
        known[pool.topics[0]][first] = None
        assert ir.next_batch(pool.folder, known) == 2
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
                known = {t: {i.document: grade for i in pool.items(t)} for t in pool.topics}
                ir.next_batch(pool.folder, known)
            pools.append(read_pool(pool.folder))
        none, all_of_them = ({*pool.strata["1"]} for pool in pools)
        assert none != all_of_them

    def test_earlier_judgments_count(self, files, tmp_path):
        known = {t: {d: g for d, g in TRUTH[t].items() if d < "d20"} for t in "123"}
        made = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=12, judged=known)
        while ir.next_batch(tmp_path / "pool", judged(read_pool(tmp_path / "pool"))):
            pass
        pool = read_pool(tmp_path / "pool")
        assert all(item.document >= "d20" for t in pool.topics for item in pool.items(t))
        assert made.facts["judged_before"] > 0

    def test_two_processes_do_not_add_the_same_round(self, files, tmp_path):
        import fcntl
        import os

        pool = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=20).pool
        handle = os.open(pool.folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process"):
            ir.next_batch(pool.folder, judged(pool))
        os.close(handle)
        assert ir.next_batch(pool.folder, judged(pool)) == 2

    def test_a_fixed_pool_has_none(self, files, tmp_path):
        pool = ir.pool_runs(files, tmp_path / "pool").pool
        assert ir.next_batch(pool.folder, judged(pool)) == 0
        assert state(pool, {}) == ["A pool by depth has no rounds."]


class TestSettings:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "worth"}, "give budget=N"),
            ({"batch": 3}, "which have rounds"),
            ({"strata": ["5:1"]}, "strata= is for method='stratified'"),
            ({"method": "stratified", "depth": 5}, "depth= has no effect"),
            ({"method": "stratified", "strata": ["5"]}, "'5'; a stratum is RANK:SHARE"),
            ({"method": "stratified", "strata": ["5:1", "5:0.1"]}, "ranks must rise"),
            ({"method": "stratified", "strata": ["5:1.5"]}, "a share is above 0"),
            ({"method": "best"}, "must be one of"),
            ({"depth": 0}, "at least 1"),
            ({"rate": 0.0}, "above 0"),
            ({"deviation": float("nan")}, "above 0"),
            ({"deep": 5}, "did you mean"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, files, tmp_path, options, message):
        with pytest.raises(InputError, match=f"(?i){message}"):
            ir.pool_runs(files, tmp_path / "pool", **options)


class TestRanks:
    def test_ranks_that_contradict_scores_are_told_and_do_not_count(self, tmp_path, capsys):
        path = tmp_path / "odd.run"
        path.write_text("1 Q0 low 1 1.0 x\n1 Q0 high 2 2.0 x\n")
        pool = ir.pool_runs(path, tmp_path / "pool", depth=1).pool
        assert [item.document for item in pool.items("1")] == ["high"]
        assert "ranks contradict its scores in 1 topic" in capsys.readouterr().err

    def test_a_rank_column_that_agrees_is_not_spoken_of(self, files, tmp_path, capsys):
        ir.pool_runs(files, tmp_path / "pool")
        assert capsys.readouterr().err == ""

    def test_topics_are_texts_whatever_they_look_like(self, tmp_path):
        (tmp_path / "a.run").write_text("007 Q0 a 1 2 x\n7 Q0 b 1 2 x\nx-1 Q0 c 1 2 x\n")
        for method in ("depth", "rrf", "rbp"):
            pool = ir.pool_runs(tmp_path / "a.run", tmp_path / method, method=method).pool
            assert pool.topics == ["007", "7", "x-1"]
