"""The table of `platform evaluate`: its forms, what it calls runs, and the notes below it."""

from pathlib import Path

import pytest

from irplatform.runs.names import names_of

ASKED = ("evaluate", "good.run", "bad.run", "--qrels", "qrels.txt", "--measure", "P@1")


@pytest.fixture(autouse=True)
def files(folder):
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 2\n")
    (folder / "bad.run").write_text("q1 Q0 d2 1 2.0 x\nq2 Q0 d1 1 2.0 x\n")


def test_markdown(platform):
    assert platform(*ASKED, "--table", "markdown").out.splitlines() == [
        "| system | P@1 |",
        "|---|---:|",
        "| good | **0.5000** |",
        "| bad | 0.0000 |",
    ]


def test_latex(platform):
    lines = platform(*ASKED, "--table", "latex").out.splitlines()
    assert lines[-4:] == [
        r"good & \textbf{0.5000} \\",
        r"bad & 0.0000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize("other", ["--json", "--per-topic"])
def test_what_is_no_table_is_refused_beside_it(platform, other):
    refused = platform(*ASKED, "--table", "latex", other)
    assert refused.code == 2
    assert f"--table latex and {other} exclude each other" in refused.err


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["bm25.run", "rm3.txt.gz", "input.group1"], ["bm25", "rm3", "input.group1"]),
        (["a/bm25.run", "b/bm25.run", "a/rm3.run"], ["a/bm25", "b/bm25", "rm3"]),
        (["a/x/bm25.run", "b/x/bm25.run"], ["a/x/bm25", "b/x/bm25"]),
        (["bm25.run", "a/bm25.run"], ["bm25.run", "a/bm25"]),
        (["a/bm25.run", "a/bm25.txt"], ["a/bm25.run", "a/bm25.txt"]),
        ([".run"], [".run"]),
    ],
)
def test_runs_are_called_as_their_files(files, names):
    assert list(names_of([Path(file) for file in files]).values()) == names


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_every_form_calls_runs_as_the_user_says(platform, form):
    command = (*ASKED, "--name", "ours", "--name", "theirs")
    outcome = platform(*command, "--table", form)
    assert outcome.code == 0
    assert "ours" in outcome.out
    assert "theirs" in outcome.out
    assert ".run" not in outcome.out
    assert {"ours", "theirs"} <= {*platform(*command, "--per-topic").out.split()}


def test_json_has_the_path_beside_the_name(platform):
    answer = platform(*ASKED, "--name", "ours", "--name", "theirs", "--json").json
    assert [(run["path"], run["name"]) for run in answer["runs"]] == [
        ("good.run", "ours"),
        ("bad.run", "theirs"),
    ]


@pytest.mark.parametrize("names", [("ours",), ("ours", "ours"), ("ours", " "), ("a", "b", "c")])
def test_each_run_needs_a_name_of_its_own(platform, names):
    options = [part for name in names for part in ("--name", name)]
    refused = platform(*ASKED, *options)
    assert refused.code == 2
    assert "for 2 runs: give each run a name of its own, in their order, or none." in refused.err


def test_measures_that_look_deeper_than_rankings_are_named(platform, folder):
    more = ("--measure", "R@1000", "--measure", "P(rel=2)@2", "--measure", "IPrec@0.5")
    note = "R@1000, P(rel=2)@2: no ranking of bad has more than 1 document"
    note_of_good = "R@1000: no ranking of good has more than 2 documents"
    assert platform(*ASKED, *more).out.splitlines()[-2:] == [note_of_good, note]
    assert platform(*ASKED, *more, "--table", "latex").err.splitlines()[-2:] == [note_of_good, note]
    assert "no ranking" not in platform(*ASKED).out


def test_a_folder_stands_for_its_runs(platform, folder):
    (folder / "runs").mkdir()
    for name in ("good.run", "bad.run"):
        (folder / name).rename(folder / "runs" / name)
    table = platform("evaluate", "runs", "--qrels", "qrels.txt", "--measure", "P@1").out
    assert [line.split()[0] for line in table.splitlines()[2:4]] == ["bad", "good"]
