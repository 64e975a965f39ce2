"""Rules of ranks: from 1, in the order of the lines, dense."""

import pytest

from irplatform.tasks.catalogue.rules import Rules
from irplatform.tasks.check_runs import validate_run

ALL = ["from 1", "in order", "dense"]


def faults(tmp_path, ranks, rules):
    path = tmp_path / "a.run"
    lines = (f"q Q0 d{place} {rank} {9 - place} us\n" for place, rank in enumerate(ranks))
    path.write_text("".join(lines))
    problems = validate_run(path, Rules(ranks=rules)).problems
    return [(p.line, p.message) for p in problems if p.level == "error"]


@pytest.mark.parametrize(
    ("ranks", "broken"),
    [
        ([1, 2, 3], []),
        ([0, 1, 2], ["from 1"]),
        ([2, 3, 4], ["from 1"]),
        ([1, 3, 2], ["in order"]),
        ([1, 3, 5], ["dense"]),
        ([1, 1, 2], ["dense"]),
        ([5, 3], ["from 1", "in order", "dense"]),
    ],
)
def test_each_rule_refuses_what_breaks_it_and_no_other(tmp_path, ranks, broken):
    for rule in ALL:
        assert bool(faults(tmp_path, ranks, [rule])) == (rule in broken), rule
    assert len(faults(tmp_path, ranks, ALL)) == len(broken)
    assert faults(tmp_path, ranks, None) == []


def test_the_line_and_the_rank_are_named(tmp_path):
    assert faults(tmp_path, [2, 3], ["from 1"]) == [
        (1, "topic 'q': rank 2 is the lowest; the task wants ranks from 1.")
    ]
    assert faults(tmp_path, [1, 2, 4], ["dense"]) == [
        (3, "topic 'q': rank 4 does not follow the one before it by 1.")
    ]


def test_ranks_are_what_the_organizers_validator_of_rag_wants(tmp_path):
    def dense(ranks):
        return all(rank == place for place, rank in enumerate(ranks, start=1))

    for ranks in ([1], [1, 2], [2, 1], [1, 2, 3, 5], [0, 1], [1, 2, 2], [3, 2, 1], [1, 3, 2]):
        assert (not faults(tmp_path, ranks, ALL)) == dense(ranks), ranks


def test_a_pattern_of_topics_holds_where_they_are_not_known(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("rag2026-7 Q0 d 1 2 us\n7 Q0 d 1 2 us\n")
    (problem,) = validate_run(path, Rules(topic_pattern="rag2026-[0-9]+")).problems
    assert problem.message == "ids of topics that are not of the form rag2026-[0-9]+: '7'."
