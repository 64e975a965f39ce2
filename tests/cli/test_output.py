"""What commands print: one JSON object on stdout, or a table that says the same."""

import os
import re
import signal
import time

import pytest

from irplatform.cli.output import print_rows
from irplatform.registry.loading import registry
from irplatform.system import process
from irplatform.system.console import say_text


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("plugins", "list"), {"plugins"}),
        (("rerankers", "list"), {"rerankers"}),
        (("retrievers", "list"), {"retrievers"}),
        (("rerankers", "show", "delta"), {"name", "options", "citation"}),
        (("retrievers", "show", "bm25"), {"name", "options", "citation"}),
        (("collections", "list"), {"collections"}),
        (("collections", "show", "demo"), {"id", "title", "note", "documents"}),
        (("evaluate", "good.run", "--collection", "small"), {"runs"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_json_is_one_object_and_nothing_else(platform, arguments, keys):
    outcome = platform(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    assert keys <= outcome.json.keys()


def test_evaluate_gives_the_measures_of_every_run(platform, folder):
    (folder / "other.run").write_text("q1 Q0 d2 1 2.0 x\nq2 Q0 d3 1 1.0 x\n")
    scored = platform(
        "evaluate", "good.run", "other.run", "--collection", "small", "--measure", "P@1", "--json"
    ).json
    assert scored["runs"] == [
        {"path": "good.run", "name": "good", "measures": {"P@1": 0.5}},
        {"path": "other.run", "name": "other", "measures": {"P@1": 0.5}},
    ]


def test_evaluate_per_topic(platform):
    arguments = ("evaluate", "good.run", "--collection", "small", "--measure", "P@1", "--per-topic")
    (entry,) = platform(*arguments, "--json").json["runs"]
    assert entry["per_topic"] == {"P@1": {"q1": 1.0, "q2": 0.0}}
    lines = [line.split() for line in platform(*arguments).out.splitlines()]
    assert ["good", "P@1", "q1", "1.0000"] in lines
    assert ["good", "P@1", "q2", "0.0000"] in lines


def test_evaluate_takes_a_file_of_judgments(platform, folder):
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq3 0 d1 1\n")
    outcome = platform("evaluate", "good.run", "--qrels", "qrels.txt", "--measure", "P@1", "--json")
    assert outcome.json["runs"] == [
        {"path": "good.run", "name": "good", "measures": {"P@1": 0.5}, "missing": ["q3"]}
    ]
    assert "1 topic with no results (they count as 0): q3" in outcome.err
    assert "1 topic with results but no judgments (they do not count): q2" in outcome.err
    assert "without a relevant document" not in outcome.err
    (folder / "qrels.txt").write_text("q1 0 d1 0\nq2 0 d1 1\n")
    outcome = platform("evaluate", "good.run", "--qrels", "qrels.txt", "--measure", "P@1", "--json")
    assert "1 topic without a relevant document, where no run can find one (they count): q1" in (
        outcome.err
    )


def test_fuse_writes_a_run(platform, folder):
    (folder / "other.run").write_text("q1 Q0 d2 1 2.0 x\n")
    assert platform("fuse", "good.run", "other.run", "--out", "fused.run", "--tag", "f").code == 0
    lines = [line.split() for line in (folder / "fused.run").read_text().splitlines()]
    assert [(line[0], line[2], line[5]) for line in lines] == [
        ("q1", "d2", "f"),
        ("q1", "d1", "f"),
        ("q2", "d2", "f"),
    ]


def test_fuse_by_scores(platform, folder):
    (folder / "other.run").write_text("q1 Q0 d2 1 2.0 x\n")
    runs = ("good.run", "other.run", "--by", "scores", "--out", "fused.run")
    assert platform("fuse", *runs).code == 0
    ranks = ("good.run", "other.run", "--out", "ranks.run")
    assert platform("fuse", *ranks).code == 0
    assert (folder / "fused.run").read_text() != (folder / "ranks.run").read_text()


def test_show_lists_every_setting_with_type_default_and_meaning(platform):
    registration = registry().reranker("delta")
    facts = platform("rerankers", "show", "delta", "--json").json
    assert [option["name"] for option in facts["options"]] == registration.setting_names()
    assert all(option["type"] and option["description"] for option in facts["options"])
    text = platform("rerankers", "show", "delta").out
    assert "WWW 2018" in text
    for name in registration.setting_names():
        assert f"  {name} " in text


def test_help_lists_every_command(platform):
    outcome = platform("--help")
    assert outcome.code == 0
    for command in ("run", "search", "index", "train", "evaluate", "fuse", "collections"):
        assert f"\n  {command} " in outcome.out
        assert platform(command, "--help").code == 0


def test_ctrl_c_is_answered_in_a_line(platform, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("irplatform.run", interrupt)
    outcome = platform("run", "--collection", "small")
    assert outcome.code == 130
    assert outcome.out == ""
    message = "what was finished is kept, and the same command goes on from there."
    assert outcome.err.strip() == f"platform: interrupted; {message}"


def test_ctrl_c_keeps_nothing_of_a_temporary_cache(platform, monkeypatch):
    def interrupt(*_):
        process.keep_nothing()
        raise KeyboardInterrupt

    monkeypatch.setattr("irplatform.run", interrupt)
    outcome = platform("run", "--collection", "small")
    assert (outcome.code, outcome.err.strip()) == (130, "platform: interrupted; nothing is kept.")


def test_sigterm_leaves_things_as_ctrl_c_does(platform, monkeypatch):
    """Batch systems and `timeout` send it."""
    cleaned = []

    def work(*_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        finally:
            cleaned.append(True)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("irplatform.run", work)
    outcome = platform("run", "--collection", "small")
    assert outcome.code == 143
    assert outcome.err.strip().startswith("platform: interrupted; what was finished is kept")
    assert cleaned
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_sigterm_does_not_cut_short_what_the_first_one_tidies_up(platform, monkeypatch):
    """`timeout` sends one to the process and one to its group."""
    cleaned = []

    def work(*_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            cleaned.append(True)

    monkeypatch.setattr("irplatform.run", work)
    assert platform("run", "--collection", "small").code == 143
    assert cleaned


@pytest.mark.java
def test_ctrl_c_names_what_starts_over(platform, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("irplatform.text.train_vectors", interrupt)
    outcome = platform("run", "--collection", "small", "--reranker", "wmd-text")
    assert outcome.code == 130
    pattern = r"goes on from there\. vectors/\S+ starts over: \d+ s of work are lost\.\n$"
    assert re.search(pattern, outcome.err)
    monkeypatch.setattr("irplatform.lucene.build._build", interrupt)
    outcome = platform("index", "--collection", "demo")
    assert re.search(r" index/\S+ starts over", outcome.err)


@pytest.mark.java
def test_an_index_is_told_in_words(platform):
    facts = platform("index", "--collection", "small", "--json").json
    rows = platform("index", "--collection", "small").out.splitlines()
    assert f"path                 {facts['path']}" in rows
    assert {"built now            no", "non empty documents  3"} <= {*rows}


@pytest.mark.java
def test_a_run_says_where_its_files_are_and_not_among_the_results(platform):
    outcome = platform("run", "--collection", "small", "--run-dir", "elsewhere")
    assert outcome.err.splitlines()[-1] == "runs and scores: elsewhere"
    assert "elsewhere" not in outcome.out


def test_a_new_plugin_comes_with_the_commands_that_install_and_use_it(platform):
    assert platform("plugins", "new", "my-ranker").out.splitlines() == [
        "irplatform-my-ranker: a reranker 'my-ranker'. To install, test and use it:",
        "  pip install -e irplatform-my-ranker",
        "  pytest irplatform-my-ranker",
        "  platform run --collection demo --reranker my-ranker",
    ]


def test_the_last_column_goes_on_below_where_the_terminal_ends(capsys, monkeypatch):
    monkeypatch.setattr("irplatform.cli.output.terminal_width", lambda _: 50)
    print_rows([("a", "1", "word " * 12), ("bb", "2", "")])
    assert capsys.readouterr().out.splitlines() == [
        "a   1  word word word word word word word word",
        "       word word word word",
        "bb  2",
    ]


def test_columns_stand_below_each_other_where_the_last_one_has_no_room(capsys, monkeypatch):
    monkeypatch.setattr("irplatform.cli.output.terminal_width", lambda _: 50)
    rows = [("  option", "a whole number above 0", "[1]", "word " * 9), ("  b", "text", "", "")]
    print_rows(rows)
    assert capsys.readouterr().out.splitlines() == [
        "  option  a whole number above 0  [1]",
        "          word word word word word word word word",
        "          word",
        "  b       text",
    ]


def test_a_cell_with_a_word_that_its_column_is_too_narrow_for_stands_below(capsys, monkeypatch):
    monkeypatch.setattr("irplatform.cli.output.terminal_width", lambda _: 50)
    print_rows([("name", "short"), ("a longer name", f"see /{'x' * 44} there"), ("c", "/" * 60)])
    assert capsys.readouterr().out.splitlines() == [
        "name           short",
        "a longer name",
        "    see",
        f"    /{'x' * 44}",
        "    there",
        "c",
        "/" * 60,
    ]


def test_sentences_of_results_end_lines_between_words_on_a_terminal_alone(capsys, monkeypatch):
    say_text("word " * 5)
    monkeypatch.setattr("irplatform.system.console.terminal_width", lambda _: 12)
    say_text("word " * 5)
    assert capsys.readouterr().out == "word word word word word \nword word\nword word\nword\n"
