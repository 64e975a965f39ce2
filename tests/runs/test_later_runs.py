"""Runs that are read or made at first use."""

from irplatform.runs import Ranking, Run
from irplatform.runs.run import Later


def _later():
    calls = []

    def make():
        calls.append(True)
        return {"1": Ranking.of(["a", "b"], [1.0, 2.0]), "2": Ranking.of([], [])}

    return Run("x", Later(make)), calls


def test_a_run_is_made_once_and_when_it_is_used():
    run, calls = _later()
    changed = run.renamed("y").top(1)
    assert not calls
    assert changed.rankings["1"].doc_ids == ("b",)
    assert (changed.name, [*run.rankings], len(run.rankings)) == ("y", ["1", "2"], 2)
    assert calls == [True]


def test_it_equals_one_that_was_made_at_once():
    run, _ = _later()
    at_once = Run("x", {**run.rankings})
    assert run.lengths == at_once.lengths == [2]
    assert run.rankings == at_once.rankings
