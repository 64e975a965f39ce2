"""What rows leave is kept in tables: scores of topics in full, and short runs."""

import numpy as np
import pytest
from commands import call as platform
from hypothesis import given
from hypothesis import strategies as st
from kept_rows import TOPICS, collection, execution, ranked

from irplatform.errors import InputError
from irplatform.evaluation.scoring import evaluate
from irplatform.registry.loading import registry
from irplatform.reproduction import execute, keep
from irplatform.reproduction.keep import keep as kept
from irplatform.reproduction.keep import short_scores
from irplatform.run_folder.metadata_files import lines_digest
from irplatform.run_folder.published import read_published
from irplatform.runs import Ranking, read_run


@pytest.fixture
def small(tmp_path, monkeypatch, fresh_home):
    """The collection of the rows, under the variable that they name."""
    monkeypatch.setenv("KEPT_ROWS", str(tmp_path / "data"))
    return collection(tmp_path / "data" / "small")


def test_a_row_has_the_mean_of_its_seeds_and_the_run_of_the_first(small, tmp_path):
    result = execution("ranker-small", small, tmp_path / "ran", {42: 1, 1042: 2, 2042: 0}, alone=3)
    place = kept(result, tmp_path / "kept")
    table = read_published(place)
    assert (place.name, table.protocol) == ("small-test-judged", "judged")
    assert table.collection == "${KEPT_ROWS}/small"
    row, alone = table.rows["ranker-small"], table.rows["ranker-small-alone"]
    assert (row.seeds, row.longest, row.share, row.first_stage) == (3, 6, 0.25, "bm25")
    qrels = registry().collection(str(small)).qrels
    values = [evaluate(qrels, ranked("x", s), ["AP"]).per_topic["AP"] for s in (1, 2, 0)]
    assert row.per_topic["AP"] == {
        t: pytest.approx(np.mean([v[t] for v in values])) for t in TOPICS
    }
    assert alone.per_topic["AP"] == evaluate(qrels, ranked("x", 3), ["AP"]).per_topic["AP"]
    run = read_run(place / row.file)
    assert run.rankings["t2"].doc_ids == ranked("x", 1).rankings["t2"].doc_ids
    assert lines_digest(place / row.file) == row.sha256
    assert str(tmp_path) not in (place / "published.json").read_text(encoding="utf-8")


def test_equal_rows_give_equal_bytes_and_rows_of_other_ids_stay(small, tmp_path):
    one = execution("one", small, tmp_path / "ran-one", {42: 1})
    other = execution("other", small, tmp_path / "ran-other", {42: 2}, alone=2)
    for folder, rows in (("first", (one, other)), ("second", (other, one, other))):
        for row in rows:
            place = kept(row, tmp_path / folder)
    files = sorted(path.name for path in place.iterdir())
    assert files == ["one.run.gz", "other.run.gz", "published.json"]
    for name in files:
        first = tmp_path / "first" / place.name / name
        assert first.read_bytes() == (place / name).read_bytes()


def test_a_run_is_cut_short_and_scores_are_of_all_of_it(small, tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "_RESULTS", 20)
    place = kept(execution("row", small, tmp_path / "ran", {42: 5}), tmp_path / "kept")
    table = read_published(place)
    assert (table.depth, table.rows["row"].longest) == (3, 6)
    assert {len(r) for r in read_run(place / "row.run.gz").rankings.values()} == {3}
    qrels = registry().collection(str(small)).qrels
    expected = evaluate(qrels, ranked("x", 5), ["AP"]).per_topic["AP"]
    assert table.rows["row"].per_topic["AP"] == expected


def test_other_judgments_have_a_table_of_their_own(small, tmp_path):
    kept(execution("row", small, tmp_path / "ran", {42: 1}), tmp_path / "kept")
    changed = collection(tmp_path / "changed" / "small", relevant=3)
    for _ in range(2):
        again = kept(execution("row", changed, tmp_path / "again", {42: 1}), tmp_path / "kept")
    assert again.name.startswith("small-test-judged-")
    assert len([*(tmp_path / "kept").iterdir()]) == 2
    retrieved = execution("row", small, tmp_path / "third", {42: 1}, protocol="retrieved")
    assert kept(retrieved, tmp_path / "kept").name == "small-test"


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=60, unique=True),
    st.integers(1, 3),
)
def test_short_scores_keep_order_and_ties(values, times):
    scores = np.repeat(np.array(values, dtype=np.float32), times)
    ranking = Ranking.of([f"d{n}" for n in range(len(scores))], scores)
    short = short_scores(ranking)
    assert short.doc_ids == ranking.doc_ids
    assert np.array_equal(np.sign(np.diff(short.scores)), np.sign(np.diff(ranking.scores)))
    assert np.array_equal(short.scores, Ranking.of(short.doc_ids, short.scores).scores)


def test_scores_of_64_bits_stay_apart():
    ranking = Ranking.of(["a", "b"], [1 + 2**-50, 1.0], rounded=False)
    assert short_scores(ranking).scores.tolist() == [1.000000000000001, 1.0]


def test_the_command_keeps_what_it_ran(small, results, tmp_path, capsys, monkeypatch):
    text = results.read_text(encoding="utf-8").partition('[[result]]\nid = "ranker-small"')[0]
    text = text.replace('collection = "demo"', 'collection = "${KEPT_ROWS}/small"')
    text = text.replace("tags", 'reranker = "ranker"\ntags')
    results.write_text(text, encoding="utf-8")

    def call(command, cache, run_dir):
        execution("bm25-small", small, run_dir, {42: 0})
        return {"runs": [{"name": "ranker", "measures": {"AP": 0.5}}]}

    monkeypatch.setattr(execute, "call", call)
    said = platform(
        capsys, monkeypatch, "reproduce", "--file", results, "--keep", tmp_path / "kept"
    )
    assert (said.code, said.err.splitlines()[-1]) == (
        0,
        f"kept for comparisons in {tmp_path / 'kept' / 'small-test-judged'}",
    )
    assert [*read_published(tmp_path / "kept" / "small-test-judged").rows] == ["bm25-small"]


def test_a_row_whose_system_was_not_run_keeps_nothing(small, tmp_path):
    result = execution("row", small, tmp_path / "ran", {42: 1})
    (tmp_path / "ran" / "report.json").write_text('{"candidates": {}, "runs": []}')
    assert kept(result, tmp_path / "kept") is None


def test_a_run_of_somebody_else_is_not_kept(small, tmp_path):
    official = "${KEPT_ROWS}/official.run.gz"
    result = execution("row", small, tmp_path / "ran", {42: 1}, retriever=official)
    assert kept(result, tmp_path / "kept") is None
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_cannot_be_is_refused(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="its folder is a file"):
        kept(execution("row", small, tmp_path / "ran", {42: 1}), tmp_path / "file")
