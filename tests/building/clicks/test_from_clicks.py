"""`platform qrels from-clicks` makes a collection of a log, or leaves nothing behind."""

import json
import os
import random
import re

import pytest
from commands import call

from irplatform.building.click_judgments import JudgingRules, QueryRules, mark, query_id
from irplatform.building.click_log import COLUMNS
from irplatform.building.clicks import SHARES, ClickSettings, from_clicks
from irplatform.building.judgments import SPLITS, Shares, split_of
from irplatform.collections.names import open_path
from irplatform.errors import InputError

LOOSE = JudgingRules(min_documents=1, min_clicked=1)
ALL_TEST = Shares(0, 0, 100)


def write_log(path, lines):
    """A log of (query, doc_id, abstract clicks, fulltext clicks, has_fulltext)."""
    rows = ["\t".join(COLUMNS)]
    rows += [f"{q}\t{d}\t1\t{ab}\t{ft}\t{has}" for q, d, ab, ft, has in lines]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def lines_of(query, documents=21, clicked=3):
    """Lines of a query that was shown some documents, the first ones clicked once."""
    return [(query, f"d{i}", int(i < clicked), 0, 1) for i in range(documents)]


def many(count):
    """A log of queries that pass the filters."""
    return [line for i in range(count) for line in lines_of(f"word{i} common")]


def judged(folder, split="test"):
    return open_qrels(folder / "qrels" / f"{split}.tsv")


def open_qrels(path):
    from irplatform.evaluation.qrels import read_qrels

    return read_qrels(path)


def test_queries_and_judgments_are_written_as_beir_writes_them(tmp_path):
    log = write_log(tmp_path / "log.tsv", lines_of('say "études"', documents=2, clicked=1))
    from_clicks(log, tmp_path / "out", ClickSettings(judging=LOOSE, shares=ALL_TEST))
    line = json.loads((tmp_path / "out/queries.jsonl").read_text(encoding="utf-8"))
    assert list(line) == ["_id", "text"]
    (id_,) = judged(tmp_path / "out")
    assert line["_id"] == id_
    assert (tmp_path / "out/qrels/test.tsv").read_text() == (
        f"query-id\tcorpus-id\tlevel\n{id_}\td0\t100\n{id_}\td1\t0\n"
    )
    assert [p.name for p in (tmp_path / "out/qrels").iterdir() if "test" not in p.name] == []


def test_a_log_whose_name_is_not_utf8_is_named_in_the_report(tmp_path):
    name = os.fsdecode(b"Z\xfcrich.tsv")
    log = write_log(tmp_path / name, lines_of("some words", documents=2, clicked=1))
    from_clicks(log, tmp_path / "out", ClickSettings(judging=LOOSE, shares=ALL_TEST))
    report = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    assert name in report.values()


@pytest.fixture
def corpus(tmp_path):
    """A collection of 40 documents whose titles have the words `common word0`."""
    folder = tmp_path / "searched"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "Word1 COMMON"}\n')
    (folder / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"_id": f"d{i}", "title": "A common Word0", "text": "x"}) + "\n"
            for i in range(40)
        )
    )
    return folder


def test_the_papers_example_is_judged_as_it_is_printed(tmp_path):
    clicks = [6, 3, 3, 3, 3, *[2] * 12, *[4] * 6, 0, 0]
    assert sum(clicks) == 66
    # With mu = 1 and a full text everywhere a document weighs as many as its abstract's clicks.
    query = "Chronic headache and depression review"
    log = write_log(tmp_path / "log.tsv", [(query, f"d{i}", n, 0, 1) for i, n in enumerate(clicks)])
    from irplatform.building.click_judgments import Weights

    rules = JudgingRules(weights=Weights(mu=1.0))
    from_clicks(log, tmp_path / "out", ClickSettings(judging=rules, shares=ALL_TEST))
    (grades,) = judged(tmp_path / "out").values()
    assert grades["d0"] == 10
    assert grades["d1"] == 5.5
    assert grades["d24"] == 0, "shown, and not clicked"
    assert len(grades) == len(clicks)


def test_a_full_text_that_is_read_counts_more_and_none_is_not_held_against_a_document(tmp_path):
    lines = [("q", "read", 1, 1, 1), ("q", "seen", 1, 0, 1), ("q", "without", 1, 0, 0)]
    log = write_log(tmp_path / "log.tsv", lines)
    from_clicks(log, tmp_path / "out", ClickSettings(judging=LOOSE, shares=ALL_TEST))
    (grades,) = judged(tmp_path / "out").values()
    total = 1 + 0.33 + 0.33 + 1 / 15
    expected = {"read": 1.0, "without": 0.33 + 1 / 15, "seen": 0.33}
    assert grades == {d: round(1 + 99 * weight / total, 6) for d, weight in expected.items()}
    assert list(grades) == ["read", "without", "seen"]


def test_lines_of_the_same_pair_are_added_up_whatever_the_case_of_the_query(tmp_path):
    lines = [
        *[("Lung Cancer", "d1", 1, 0, 0), ("lung  cancer", "d1", 2, 0, 1)],
        ("lung cancer", "d2", 3, 0, 1),
    ]
    log = write_log(tmp_path / "log.tsv", lines)
    from_clicks(log, tmp_path / "out", ClickSettings(judging=LOOSE, shares=ALL_TEST))
    assert judged(tmp_path / "out") == {query_id("lung cancer"): {"d1": 50.5, "d2": 50.5}}


def test_the_report_says_what_each_filter_removed(tmp_path):
    lines = [
        *lines_of("kept"),
        *lines_of("too few documents", documents=20),
        *lines_of("too few clicked", clicked=2),
        *lines_of("asthma AND copd", documents=4),
        *lines_of("smith j[au]", documents=5),
        *lines_of("a b c d e f g h", documents=6),
        *lines_of("held out", documents=7),
    ]
    rules = QueryRules(held_out=frozenset({mark("held out")}))
    report = from_clicks(
        write_log(tmp_path / "log.tsv", lines), tmp_path / "out", ClickSettings(queries=rules)
    )
    record = report.record
    assert record["removed"] == {
        "no words": {"queries": 0, "lines": 0},
        "too many words": {"queries": 1, "lines": 6},
        "boolean operators": {"queries": 1, "lines": 4},
        "field tags": {"queries": 1, "lines": 5},
        "held out": {"queries": 1, "lines": 7},
        "too few documents": {"queries": 1, "lines": 20},
        "too few clicked": {"queries": 1, "lines": 21},
    }
    assert record["read"] == {"queries": 7, "lines": len(lines)}
    assert record["kept"] == {"queries": 1, "lines": 21}
    assert json.loads((tmp_path / "out/report.json").read_text()) == record


def test_queries_are_split_60_20_20_and_stay_where_they_are_when_the_log_grows(tmp_path):
    for name, count in (("small", 500), ("large", 1_000)):
        from_clicks(
            write_log(tmp_path / f"{name}.tsv", many(count)), tmp_path / name, ClickSettings()
        )
    sizes = {split: len(judged(tmp_path / "large", split)) for split in SPLITS}
    assert sum(sizes.values()) == 1_000
    assert sizes["train"] == pytest.approx(600, abs=4 * (1_000 * 0.6 * 0.4) ** 0.5)
    assert sizes["dev"] == pytest.approx(200, abs=4 * (1_000 * 0.2 * 0.8) ** 0.5)
    for split in SPLITS:
        assert set(judged(tmp_path / "small", split)) <= set(judged(tmp_path / "large", split))


def test_another_seed_splits_otherwise():
    ids = [query_id(str(i)) for i in range(1_000)]
    same = sum(split_of(id_, SHARES, 1) == split_of(id_, SHARES, 2) for id_ in ids)
    assert same == pytest.approx(1_000 * (0.36 + 0.04 + 0.04), abs=65)


def test_the_order_of_the_lines_does_not_matter(tmp_path):
    lines = many(50)
    first = write_log(tmp_path / "first.tsv", lines)
    random.Random(3).shuffle(lines)
    second = write_log(tmp_path / "second.tsv", lines)
    for log in (first, second):
        from_clicks(log, tmp_path / log.stem, ClickSettings())
    for name in ("queries.jsonl", "qrels/train.tsv", "qrels/dev.tsv", "qrels/test.tsv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_the_folder_is_a_collection_over_the_documents_of_another(tmp_path, corpus):
    log = write_log(tmp_path / "log.tsv", many(60))
    from_clicks(log, tmp_path / "clicks", ClickSettings(), str(corpus))
    collection = open_path(tmp_path / "clicks:test")
    assert collection.id == "clicks-test"
    assert collection.corpus.fingerprint == open_path(corpus).corpus.fingerprint
    assert collection.measures == ("nDCG-exp@20", "AP", "P@5")
    training = collection.training()
    assert training.id == "clicks-train"
    assert training.validation().id == "clicks-dev"
    assert {topic.id for topic in collection.load_topics()} == set(collection.load_qrels())
    assert open_path(tmp_path / "clicks:test-one-new-word").training().id == "clicks-train"


def test_the_subsets_are_splits_of_their_own(tmp_path, corpus):
    queries = [*(f"common word{i % 3}" for i in range(3)), *(f"common new{i}" for i in range(60))]
    lines = [line for query in queries for line in lines_of(query, documents=30)]
    report = from_clicks(
        write_log(tmp_path / "log.tsv", lines),
        tmp_path / "clicks",
        ClickSettings(seed=next(s for s in range(99) if _tests("common word0", s))),
        str(corpus),
    )
    test = judged(tmp_path / "clicks")
    subset = judged(tmp_path / "clicks", "test-neg20")
    assert list(subset) == [query_id("common word0")]
    assert subset[query_id("common word0")] == test[query_id("common word0")]
    # "common" is in training queries, every other word is in one query only
    assert judged(tmp_path / "clicks", "test-one-new-word") == test
    assert not (tmp_path / "clicks/qrels/test-all-new-words.tsv").exists()
    assert report.record["splits"]["test-neg20"]["queries"] == 1
    assert report.record["splits"]["test-neg20"]["judgments"] == 30
    assert report.record["splits"]["test-all-new-words"]["queries"] == 0


def _tests(query, seed):
    return split_of(query_id(query), SHARES, seed) == "test"


def test_the_default_table_of_a_small_collection(tmp_path, capsys, monkeypatch, corpus):
    """By hand, for the ranking d2, d3, d1, d0 of a query with clicks 4, 3, 1 and 0 on d0 to d3.

    Its weighted clicks are 0.33 times as many, and the sum cancels in the shares 4/8, 3/8 and 1/8:
    levels 1 + 99·4/8 = 50.5, 38.125, 13.375 and 0. With gains of 2^level - 1,

        DCG  = (2^13.375 - 1)/log2(2) + 0 + (2^38.125 - 1)/log2(4) + (2^50.5 - 1)/log2(5)
             = 10,623 + 149,878,241,530 + 685,750,313,128,746 = 685,900,191,380,899
        IDCG = (2^50.5 - 1)/log2(2) + (2^38.125 - 1)/log2(3) + (2^13.375 - 1)/log2(4)
             = 1,592,262,918,131,442 + 189,125,283,989 + 5,311 = 1,592,452,043,420,742

    and NDCG = 0.430720. AP = (1/1 + 2/3 + 3/4)/3 = 0.805556, and P@5 = 3/5.
    """
    lines = [("lung", f"d{number}", clicks, 0, 1) for number, clicks in enumerate([4, 3, 1, 0])]
    settings = ClickSettings(judging=LOOSE, shares=ALL_TEST)
    from_clicks(write_log(tmp_path / "log.tsv", lines), tmp_path / "out", settings, str(corpus))
    id_ = query_id("lung")
    assert judged(tmp_path / "out") == {id_: {"d0": 50.5, "d1": 38.125, "d2": 13.375, "d3": 0}}
    ranking = "".join(
        f"{id_} Q0 {d} 1 {score} x\n" for score, d in enumerate(["d0", "d1", "d3", "d2"])
    )
    (tmp_path / "x.run").write_text(ranking)
    arguments = ["evaluate", "--collection", tmp_path / "out", tmp_path / "x.run", "--json"]
    (scored,) = call(capsys, monkeypatch, *arguments).json["runs"]
    assert scored["measures"] == {
        "nDCG-exp@20": pytest.approx(0.430720, abs=5e-7),
        "AP": pytest.approx(0.805556, abs=5e-7),
        "P@5": 0.6,
    }
    judgments = tmp_path / "out/qrels/test.tsv"
    table = call(capsys, monkeypatch, "evaluate", "--qrels", judgments, tmp_path / "x.run")
    assert "nDCG-exp@20" in table.out.splitlines()[0], table.out


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([("q", "d", 1, 0, 1), ("q", "d", -1, 0, 1)], "log.tsv:3: abstract_clicks is '-1'"),
        (lines_of("a b c d e f g h"), "log.tsv: no query is left: of 1, 1 too many words"),
        (
            [
                *lines_of("q", 3),
                *lines_of("a AND b"),
                *lines_of("a b c d e f g h"),
                *lines_of("smith j[au]"),
            ],
            "of 4, 1 too many words, 1 boolean operators, 1 field tags, 1 too few documents.",
        ),
    ],
)
def test_bad_input_leaves_nothing_behind(tmp_path, capsys, monkeypatch, lines, complaint):
    log = write_log(tmp_path / "log.tsv", lines)
    outcome = call(capsys, monkeypatch, "qrels", "from-clicks", log, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.out == ""
    assert complaint in outcome.err
    assert outcome.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--split", "60/20"], "60/20/20"),
        (["--split", "60/20/30"], "add up to 100"),
        (["--mu", "2"], "mu is a share"),
        (["--lambda", "0"], "lambda must be above 0"),
        (["--max-words", "0"], "at least one word"),
        (["--min-clicked", "0"], "at least 1"),
        (["--collection", "nowhere/at/all"], "unknown collection"),
        (["--levels", "2019"], "levels"),
    ],
)
def test_wrong_options_are_said_before_anything_is_read(
    tmp_path, capsys, monkeypatch, arguments, complaint
):
    log = tmp_path / "missing.tsv"
    outcome = call(
        capsys, monkeypatch, "qrels", "from-clicks", log, "--out", tmp_path / "out", *arguments
    )
    assert outcome.code == 2
    assert complaint in outcome.err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_not_overwritten(tmp_path, capsys, monkeypatch):
    log = write_log(tmp_path / "log.tsv", many(3))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("precious")
    outcome = call(capsys, monkeypatch, "qrels", "from-clicks", log, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert "exists already" in outcome.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_the_command_prints_the_report(tmp_path, capsys, monkeypatch, corpus):
    log = write_log(tmp_path / "log.tsv", many(60))
    command = ["qrels", "from-clicks", log, "--held-out", corpus, "--collection", corpus]
    outcome = call(capsys, monkeypatch, *command, "--out", tmp_path / "table")
    assert outcome.code == 0
    assert re.search(r"^removed: held out +1 +21$", outcome.out, re.MULTILINE)
    assert "test-neg20" in outcome.out
    outcome = call(capsys, monkeypatch, *command, "--out", tmp_path / "json", "--json")
    assert outcome.json["kept"] == {"queries": 59, "lines": 59 * 21}


def test_documents_that_the_collection_lacks_are_counted(tmp_path, corpus):
    log = write_log(tmp_path / "log.tsv", lines_of("a query", documents=50))
    settings = ClickSettings(shares=ALL_TEST)
    report = from_clicks(log, tmp_path / "out", settings, str(corpus))
    note = "10 of the 50 judgments name documents that searched-test lacks"
    assert note in report.record["notes"]
    settings = ClickSettings(shares=Shares(100, 0, 0))
    assert note in from_clicks(log, tmp_path / "train", settings, str(corpus)).record["notes"]


def test_a_log_of_another_collection_is_refused(tmp_path, corpus):
    log = write_log(tmp_path / "log.tsv", lines_of("a query", documents=90))
    with pytest.raises(InputError, match=r"50 of the 90 judgments .* a log of another collection"):
        from_clicks(log, tmp_path / "out", ClickSettings(shares=ALL_TEST), str(corpus))
    assert not (tmp_path / "out").exists()
