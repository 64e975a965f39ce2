"""`platform qrels pool` writes a pool, says what it costs, and adds rounds to it."""

import pytest

from irplatform.judging.pool_folder import read_pool


@pytest.fixture
def pool(folder, platform):
    """Call the command in a folder with a run."""
    lines = [f"{t} Q0 d{n} {n} {9 - n} a\n" for t in (1, 2) for n in range(1, 9)]
    (folder / "a.run").write_text("".join(lines))
    return lambda *words: platform("qrels", "pool", *words)


def test_it_says_what_judging_costs_and_writes_the_pool(pool):
    outcome = pool("a.run", "-o", "pool", "--depth", "3")
    assert outcome.out.startswith("6 documents to judge: 0.1 hours")
    assert outcome.out.endswith("pool\n")
    assert read_pool("pool").placed == 6


def test_json_is_one_object(pool):
    facts = pool("a.run", "-o", "pool", "--depth", "3", "--json").json
    assert facts["documents"] == 6
    assert facts["id"] == read_pool("pool").id


def test_judgments_bring_the_next_round(pool, folder):
    pool("a.run", "-o", "pool", "--method", "move-to-front", "--budget", "6", "--batch", "2")
    rows = [f"{t} 0 {i.document} 1\n" for t in "12" for i in read_pool("pool").items(t)]
    (folder / "qrels.txt").write_text("".join(rows))
    assert pool("-o", "pool", "--judged", "qrels.txt").out.startswith("2 documents added.")
    again = pool("-o", "pool", "--judged", "qrels.txt")
    assert again.out.startswith("0 documents added.")
    assert "2 documents of 4 are not judged yet." in again.err


@pytest.mark.parametrize(
    "words", [("-o", "pool"), ("-o", "pool", "--judged", "a.run", "--depth", "4")]
)
def test_without_runs_judgments_alone_are_taken(pool, words):
    refused = pool(*words)
    assert refused.code == 2
    assert "name the runs to pool" in refused.err
