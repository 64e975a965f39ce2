"""Pools of runs: reproducible, without what is judged, and what they cost and can decide."""

import json

import numpy as np
import pytest
from pooled_runs import TRUTH, judged, qrels, write_runs

import irplatform as ir
from irplatform.comparison.power import power_of
from irplatform.errors import InputError
from irplatform.evaluation.measures.inf_ndcg import inferred_ndcg
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.judging.judgments import Judgment, Source, read_judgments, write_judgments
from irplatform.judging.pool_folder import read_pool
from irplatform.run_folder.metadata_files import metadata_path


@pytest.fixture
def files(tmp_path):
    return write_runs(tmp_path)


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
    result = ir.pool_runs(
        {"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {"1": {"c": 1.0}}}, tmp_path / "p"
    )
    assert [run["name"] for run in result.pool.runs] == ["x", "y"]
    assert {item.document for item in result.pool.items("1")} == {"a", "b", "c"}


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


def test_an_existing_folder_is_not_overwritten(files, tmp_path):
    ir.pool_runs(files, tmp_path / "pool")
    with pytest.raises(InputError, match="exists already"):
        ir.pool_runs(files, tmp_path / "pool")


def test_a_file_that_comes_twice_is_refused(files, tmp_path):
    with pytest.raises(InputError, match="more than once"):
        ir.pool_runs([files[0], files[0]], tmp_path / "pool")


class TestEarlierJudgments:
    def test_their_documents_are_left_out_and_they_are_kept(self, files, tmp_path):
        first = ir.pool_runs(files, tmp_path / "first", depth=4).pool
        pool = ir.pool_runs(
            files, tmp_path / "pool", depth=8, judged=qrels(tmp_path, judged(first))
        ).pool
        for topic in "123":
            old, new = ({i.document for i in p.items(topic)} for p in (first, pool))
            assert not old & new
        earlier = read_judgments(tmp_path / "pool" / "earlier.jsonl")
        assert {(j.topic, j.document) for j in earlier} == {
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

    def test_judgments_of_other_documents_are_told(self, files, tmp_path, capsys):
        ir.pool_runs(files, tmp_path / "pool", judged={"X1": {"elsewhere": 1}})
        assert "judged=: no run ranks any of these documents" in capsys.readouterr().err

    def test_nothing_is_left_to_judge(self, files, tmp_path):
        with pytest.raises(InputError, match="nothing to judge"):
            ir.pool_runs(files, tmp_path / "pool", judged=qrels(tmp_path, TRUTH))


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


class TestForecast:
    def test_documents_hours_and_assumptions_are_said(self, files, tmp_path):
        text = str(ir.pool_runs(files, tmp_path / "pool", depth=4, budget=30))
        assert text.startswith("30 documents to judge: 0.2 hours at 2 a minute")
        assert "if differences vary by 0.17 between topics (assumed)." in text

    def test_the_detectable_difference_is_that_of_the_power_of_so_many_topics(
        self, files, tmp_path
    ):
        facts = ir.pool_runs(files, tmp_path / "pool").facts
        assert facts["detectable"] == power_of(0.02, 0.17, 3).detectable

    def test_all_rounds_are_counted_to_the_end_of_what_there_is(self, files, tmp_path):
        result = ir.pool_runs(files, tmp_path / "pool", method="worth", budget=900)
        facts = result.facts
        best = ir.pool_runs(files, tmp_path / "depth", depth=20).pool
        assert (facts["documents"], facts["placed"]) == (best.placed, 90)
        assert f"{best.placed} documents to judge, 90 of them now" in str(result)

    def test_one_topic_shows_no_difference(self, tmp_path):
        text = str(ir.pool_runs({"a": {"1": {"x": 1.0}}}, tmp_path / "pool"))
        assert "1 topic cannot show a difference of runs." in text

    def test_two_topics_show_none_either_as_it_would_be_above_1(self, tmp_path):
        topics = {topic: {"x": 1.0} for topic in "12"}
        text = str(ir.pool_runs({"a": topics}, tmp_path / "pool"))
        assert "2 topics cannot show a difference of runs." in text


class TestSettings:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "worth"}, "give budget=N"),
            ({"batch": 3}, "batch= has no effect with method='depth'"),
            ({"strata": ["5:1"]}, "strata= has no effect with method='depth'"),
            ({"method": "stratified", "depth": 5}, "depth= has no effect"),
            ({"method": "stratified", "strata": ["5"]}, "a stratum is RANK:SHARE"),
            ({"method": "stratified", "strata": ["5:1", "5:0.1"]}, "ranks rise from 1"),
            ({"method": "stratified", "strata": ["5:1.5"]}, "a share is above 0"),
            ({"method": "best"}, "must be one of"),
            ({"depth": 0}, "at least 1"),
            ({"deep": 5}, "did you mean"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, files, tmp_path, options, message):
        with pytest.raises(InputError, match=f"(?i){message}"):
            ir.pool_runs(files, tmp_path / "pool", **options)


class TestRanks:
    def test_one_run_has_nothing_to_be_told_apart_from(self, files, tmp_path):
        with pytest.raises(InputError, match="method='worth' tells runs apart: name at least two"):
            ir.pool_runs(files[0], tmp_path / "pool", method="worth", budget=9)

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
        for method in ("depth", "stratified"):
            pool = ir.pool_runs(tmp_path / "a.run", tmp_path / method, method=method).pool
            assert pool.topics == ["007", "7", "x-1"]
