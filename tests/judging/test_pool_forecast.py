"""What a pool costs and can decide is said in sentences that name their assumptions."""

import pytest

import irplatform as ir
from irplatform.comparison.power import power_of


def run_of(name, orders):
    """A run with the documents of each topic, best first."""
    return ir.Run(
        name, {str(t): ir.Ranking.of(d, range(len(d), 0, -1)) for t, d in enumerate(orders)}
    )


@pytest.fixture
def runs():
    """Two runs of three topics."""
    return [run_of("a", ["abcd"] * 3), run_of("b", ["abxy"] * 3)]


def test_documents_minutes_and_assumptions_are_said(runs, tmp_path):
    told = str(ir.pool_runs(runs, tmp_path / "p", depth=4, rate=0.1, plan=True))
    assert "18 documents of 3 topics to judge, 6 a topic." in told
    assert "At 0.1 a minute, an assumption (rate=): 3 hours 00 min." in told
    assert "differences vary by 0.100 between topics, an assumption (deviation=)" in told


def test_the_detectable_difference_is_that_of_the_power_of_so_many_topics(runs, tmp_path):
    facts = ir.pool_runs(runs, tmp_path / "p", deviation=0.2, plan=True).facts["power"]
    power = power_of(0.02, 0.2, 3)
    assert facts["detectable"] == power.detectable
    assert facts["topics_for_small"] == power.topics


def test_shares_that_will_be_judged_are_those_of_the_worst_and_best_run(runs, tmp_path):
    facts = ir.pool_runs(runs, tmp_path / "p", depth=4, budget=9, plan=True).facts
    low, high = facts["judged_at"][4]
    assert facts["placed"] == 9
    assert 0.5 <= low <= high < 1
    assert ir.pool_runs(runs, tmp_path / "p", depth=4, plan=True).facts["judged_at"] == {4: (1, 1)}


def test_nothing_is_said_of_ranks_below_the_depth(runs, tmp_path):
    assert "first 20" not in str(ir.pool_runs(runs, tmp_path / "p", depth=2, plan=True))


def test_the_first_round_of_a_method_that_learns_is_told_apart(runs, tmp_path):
    told = str(ir.pool_runs(runs, tmp_path / "p", method="worth", budget=10, batch=3, plan=True))
    assert "10 documents to judge in rounds. The first round has 3" in told.replace("\n", " ")


def test_a_budget_beyond_what_there_is_costs_what_there_is(runs, tmp_path):
    facts = ir.pool_runs(runs, tmp_path / "p", method="worth", budget=900, plan=True).facts
    assert facts["documents"] == 18


def test_one_topic_shows_no_difference(tmp_path):
    told = str(ir.pool_runs(run_of("a", ["ab"]), tmp_path / "p", plan=True))
    assert "1 topic cannot show a difference of runs." in told
