"""A simulated log is a log: of the right documents, repeatable, and readable by `from-clicks`."""

import gzip
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from commands import call

from irplatform.building.click_log import read_log
from irplatform.building.click_simulation import (
    Behaviour,
    SessionSettings,
    has_fulltext,
    sessions,
    simulate_clicks,
    write_log,
)
from irplatform.errors import InputError
from irplatform.plugin import Topic

RANKING = tuple(f"d{i}" for i in range(40))
TOPIC = Topic("t1", "Lung\tcancer ")
GRADES = {"d3": 2, "d9": 1, "d39": 2}


def draw(settings, topic=TOPIC, ranking=RANKING):
    return pl.concat(sessions(topic, [ranking], GRADES, 2, settings))


def test_a_session_shows_a_page_of_different_documents_of_the_ranking():
    lines = draw(SessionSettings(sessions=30, page=10, depth=40))
    assert lines["query"].unique().to_list() == ["Lung cancer"]
    assert lines["rank"].to_list() == list(range(1, 11)) * 30
    for start in range(0, 300, 10):
        assert lines["doc_id"][start : start + 10].n_unique() == 10
    assert set(lines["doc_id"]) <= set(RANKING)


def test_without_shuffling_every_session_is_shown_the_first_page():
    lines = draw(SessionSettings(sessions=5, page=10, shuffle=0.0))
    assert lines["doc_id"].to_list() == list(RANKING[:10]) * 5


def test_shuffling_follows_the_plackett_luce_model():
    count = 20_000
    lines = draw(SessionSettings(sessions=count, page=40, shuffle=0.5), ranking=RANKING[:4])
    first = lines.filter(pl.col("rank") == 1)["doc_id"].value_counts().rows()
    weights = np.arange(1.0, 5) ** -2
    for doc_id, number in first:
        chance = weights[int(doc_id[1:])] / weights.sum()
        assert number == pytest.approx(count * chance, abs=4.5 * (count * chance) ** 0.5)


def test_shuffling_shows_more_than_the_first_page():
    few = draw(SessionSettings(sessions=50, page=10, shuffle=0.1))["doc_id"].n_unique()
    more = draw(SessionSettings(sessions=50, page=10, shuffle=1.0))["doc_id"].n_unique()
    assert 10 < few < more


def draw_of_two(settings):
    """Sessions over two rankings without a document in common, and "both" at ranks 1 and 3."""
    rankings = ["both", "a2", "a3", "a4"], ["b1", "b2", "both", "b4"]
    return pl.concat(sessions(TOPIC, rankings, {}, 2, settings))


@pytest.mark.parametrize("shuffle", [0.0, 0.5, 100.0])
def test_no_retriever_is_favoured_where_several_find_the_documents(shuffle):
    count = 10_000
    lines = draw_of_two(SessionSettings(sessions=count, page=3, shuffle=shuffle))
    counts = dict(lines["doc_id"].value_counts().rows())
    assert sum(counts.values()) == 3 * count
    for one, other in (("a2", "b2"), ("a4", "b4"), ("both", "b1")):
        assert counts.get(one, 0) == pytest.approx(counts.get(other, 0), abs=5 * count**0.5)
    if shuffle == 0:
        assert {"both": count, "b1": count}.items() <= counts.items()  # both at the first rank
        assert counts.keys() == {"both", "b1", "a2", "b2"}
    elif shuffle == 100:  # all seven alike
        for number in counts.values():
            assert number == pytest.approx(3 * count / 7, rel=0.05)


def test_a_second_retriever_that_finds_the_same_changes_nothing():
    settings = SessionSettings(sessions=40)
    same = pl.concat(sessions(TOPIC, [RANKING, RANKING], GRADES, 2, settings))
    assert same.equals(draw(settings))


def test_without_decay_a_click_does_not_depend_on_the_rank():
    sure = Behaviour(decay=0.0, noise=0.3)
    lines = draw(SessionSettings(sessions=20_000, page=5, behaviour=sure), ranking=RANKING[4:9])
    per_rank = lines.group_by("rank").agg(pl.col("abstract_clicks").mean()).sort("rank")
    assert per_rank["abstract_clicks"].to_list() == pytest.approx([0.3] * 5, abs=0.02)
    falling = replace(sure, decay=1.0)
    lines = draw(SessionSettings(sessions=20_000, page=5, behaviour=falling), ranking=RANKING[4:9])
    per_rank = lines.group_by("rank").agg(pl.col("abstract_clicks").mean()).sort("rank")
    assert per_rank["abstract_clicks"].to_list() == pytest.approx(
        [0.3 / rank for rank in range(1, 6)], abs=0.02
    )


def test_full_texts_are_read_only_after_a_click_and_where_there_is_one():
    lines = draw(SessionSettings(sessions=500, behaviour=Behaviour(noise=0.5, fulltext=1.0)))
    read = lines.filter(pl.col("fulltext_clicks") > 0)
    assert read.height
    assert (read["abstract_clicks"] == 1).all()
    assert (read["has_fulltext"] == 1).all()
    assert (
        lines.group_by("doc_id").agg(pl.col("has_fulltext").n_unique())["has_fulltext"].max() == 1
    )


def test_the_share_of_full_texts_is_that_asked_for():
    ids = [str(i) for i in range(10_000)]
    assert has_fulltext(ids, SessionSettings(fulltext_share=0.3)).mean() == pytest.approx(
        0.3, abs=0.02
    )
    assert has_fulltext(ids, SessionSettings(fulltext_share=0.0)).sum() == 0
    assert has_fulltext(ids, SessionSettings(fulltext_share=1.0)).all()


@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz"])
def test_the_same_seed_writes_the_same_bytes_and_another_one_others(tmp_path, name):
    topics = [TOPIC, Topic("t2", "asthma"), Topic("t3", "nothing found")]
    rankings = {"t1": [RANKING], "t2": [RANKING[:25]], "t3": [()]}
    contents = {}
    for run, seed in (("a", 1), ("b", 1), ("c", 2)):
        path = tmp_path / run / name
        count = write_log(path, topics, rankings, {"t1": GRADES}, SessionSettings(seed=seed))
        contents[run] = path.read_bytes()
        assert pl.concat(read_log(path)).height == count == 2 * 50 * 20
    assert contents["a"] == contents["b"] != contents["c"]


def test_a_topics_lines_do_not_depend_on_the_other_topics(tmp_path):
    for name, topics in (("one", [TOPIC]), ("two", [Topic("t0", "first"), TOPIC])):
        write_log(
            tmp_path / name,
            topics,
            {"t0": [RANKING], "t1": [RANKING]},
            {"t1": GRADES},
            SessionSettings(sessions=5),
        )
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("one", "two"))
    assert two[-100:] == one[1:]


def test_many_sessions_are_drawn_in_pieces_of_whole_ones():
    frames = list(sessions(TOPIC, [RANKING], GRADES, 2, SessionSettings(sessions=12_000, page=20)))
    assert len(frames) > 1
    assert sum(frame.height for frame in frames) == 12_000 * 20
    assert all(frame.height % 20 == 0 for frame in frames)


def test_nothing_is_written_where_nobody_would_click_or_nothing_is_shown(tmp_path):
    for ranking, qrels in ((RANKING, {"t1": {"d1": 0}}), ((), {"t1": GRADES})):
        with pytest.raises(InputError):
            write_log(tmp_path / "log", [TOPIC], {"t1": [ranking]}, qrels, SessionSettings())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong",
    [{"sessions": 0}, {"page": 0}, {"depth": 0}, {"shuffle": -1.0}, {"fulltext_share": 2.0}],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError):
        SessionSettings(**wrong)


def test_a_log_that_is_there_is_kept_and_another_ending_refused(tmp_path):
    (tmp_path / "log.tsv").write_text("precious")
    for name, said in (("log.tsv", "exists already"), ("log.txt", "ends in .tsv or .tsv.gz")):
        with pytest.raises(InputError, match=said):
            simulate_clicks("demo", tmp_path / name, SessionSettings())
    assert (tmp_path / "log.tsv").read_text() == "precious"


@pytest.mark.parametrize(
    ("options", "model"),
    [(("--stop", 1), "position"), (("--decay", 1, "--model", "cascade"), "cascade")],
)
def test_an_option_of_the_other_model_is_refused(tmp_path, capsys, monkeypatch, options, model):
    log = tmp_path / "log.tsv"
    outcome = call(
        capsys,
        monkeypatch,
        "qrels",
        "simulate-clicks",
        "--collection",
        "demo",
        "--out",
        log,
        *options,
    )
    assert outcome.code == 2
    assert outcome.err == f"platform: {options[0]} has no effect with --model {model}.\n"
    assert not log.exists()


@pytest.mark.java
def test_a_log_shows_documents_of_several_retrievers(tmp_path, fresh_home):
    pairs = {}
    for retriever in ("bm25", "rm3", "bm25+rm3"):
        log = tmp_path / f"{retriever}.tsv"
        simulate_clicks("demo", log, SessionSettings(depth=15, page=30), retriever=retriever)
        lines = pl.read_csv(log, separator="\t", schema_overrides={"doc_id": pl.String})
        pairs[retriever] = set(lines.select("query", "doc_id").iter_rows())
    assert pairs["bm25"] != pairs["rm3"]
    assert pairs["bm25+rm3"] == pairs["bm25"] | pairs["rm3"]
    for wrong in ("bm25+rm", "bm25+", "bm25+bm25"):
        with pytest.raises(InputError):
            simulate_clicks("demo", tmp_path / "no.tsv", SessionSettings(), retriever=wrong)


@pytest.mark.java
def test_the_demo_can_be_clicked_on(tmp_path, capsys, monkeypatch):
    log = tmp_path / "log.tsv.gz"
    outcome = call(
        capsys, monkeypatch, "qrels", "simulate-clicks", "--collection", "demo", "--out", log,
        "--model", "cascade", "--stop", 0.5, "--sessions", 20, "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    with gzip.open(log, "rt") as file:
        assert sum(1 for _ in file) == outcome.json["lines"] + 1
    outcome = call(
        capsys, monkeypatch, "qrels", "from-clicks", log, "--out", tmp_path / "clicks",
        "--collection", "demo", "--min-documents", 1, "--min-clicked", 1, "--max-words", 50,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "clicks/corpus.toml").read_text() == 'collection = "demo"\n'
    outcome = call(capsys, monkeypatch, "collections", "show", f"{tmp_path}/clicks:train", "--json")
    assert outcome.code == 0, outcome.err
