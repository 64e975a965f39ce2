"""`platform compare`: its table, sentences, options and forms."""

import csv
import io
import json

import pytest

NAMES = ("one", "two", "three")
BASE = ("compare", "one.run", "two.run", "three.run", "--qrels", "qrels.txt", "--measure", "P@1,RR")


@pytest.fixture(autouse=True)
def runs(folder):
    topics = range(1, 9)
    (folder / "qrels.txt").write_text("".join(f"t{n} 0 x 1\nt{n} 0 y 0\n" for n in topics))
    for name, hits in zip(NAMES, ({1}, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 3}), strict=True):
        lines = [
            f"t{n} Q0 {d} {r} {3 - r} x\n"
            for n in topics
            for r, d in enumerate(["x", "y"] if n in hits else ["y", "x"], start=1)
        ]
        (folder / f"{name}.run").write_text("".join(lines))


def test_the_table_has_differences_and_sentences_say_what_they_mean(platform):
    lines = platform(*BASE).out.splitlines()
    assert lines[:9] == [
        "qrels.txt: 8 topics",
        "",
        "system     P@1  Judged@1  difference [95 % interval]      d       p  W/T/L",
        "--------------------------------------------------------------------------",
        "one     0.1250     1.000                    baseline",
        "two     1.0000     1.000    +0.8750 [+0.579, +1.171]  +2.47  0.0004  7/1/0",
        "three   0.2500     1.000    +0.1250 [-0.411, +0.661]  +0.20  0.5983  2/5/1",
        "p: paired t-test, Holm's correction; W/T/L: topics won, tied and lost",
        "",
    ]
    assert lines[9:13] == [
        "system      RR",
        "----------------",
        "one     0.5625",
        "two     1.0000▲▲",
    ]
    sentence = (
        "two is better than one: by 0.8750 P@1, most likely between 0.5794 and 1.1706, and on 7 of"
    )
    assert f"{sentence} 8 topics." in lines
    assert "Topics that differ most by P@1" in lines


def test_the_baseline_is_a_name_and_all_pairs_are_a_table(platform):
    assert "one is worse than two: by 0.8750" in platform(*BASE, "--baseline", "two").out
    said = platform(*BASE, "--baseline", "tow")
    assert (said.code, "unknown run 'tow'. Did you mean 'two'?" in said.err) == (2, True)
    lines = platform(*BASE, "--all-pairs").out.splitlines()
    pairs = [line.split("  ")[0].strip() for line in lines if " − " in line]
    assert pairs == ["two − one", "three − one", "three − two"]
    assert lines[2].endswith("95 % interval  rank  better than")
    better = {line.split()[1]: line.split()[-1] for line in lines[4:7]}
    assert better == {"one": "-", "two": "ac", "three": "-"}


def test_runs_have_the_names_that_are_given(platform):
    assert "B is better than A" in platform(*BASE, "--name", "A,B,C").out
    assert "--name gives A for 3 runs" in platform(*BASE, "--name", "A").err


@pytest.mark.parametrize(
    ("option", "legend"),
    [
        ("--test=randomization", "p: randomization test, Holm's correction"),
        ("--test=wilcoxon", "p: Wilcoxon's signed-rank test, Holm's correction"),
        ("--test=bootstrap", "p: bootstrap test, Holm's correction"),
        ("--correction=none", "p: paired t-test, no correction"),
    ],
)
def test_the_legend_names_the_test(platform, option, legend):
    assert f"{legend}; W/T/L" in platform(*BASE, option).out


def test_json_has_all_parts(platform):
    content = json.loads(platform(*BASE, "--json").out)
    assert [s["name"] for s in content["systems"]] == [*NAMES]
    assert content["systems"][1]["measures"]["RR"]["per_topic"]["t8"] == 1.0
    assert content["pairs"][0]["verdict"] == "better"
    assert len(content["pairs"]) == 4
    assert len(content["topics"]) == 8


def test_csv_has_a_line_for_each_system_and_measure_or_topic(platform):
    rows = [*csv.DictReader(io.StringIO(platform(*BASE, "--table", "csv").out))]
    assert [(r["measure"], r["system"]) for r in rows] == [
        (m, n) for m in ("P@1", "RR") for n in NAMES
    ]
    assert (rows[0]["baseline"], rows[1]["baseline"]) == ("", "one")
    assert float(rows[1]["difference"]) == 0.875
    topics = [*csv.DictReader(io.StringIO(platform(*BASE, "--table", "csv", "--per-topic").out))]
    values = {"one": "1.0", "two": "1.0", "three": "0.5"}
    assert topics[8] == {"measure": "RR", "topic": "t1", "query": "", **values}


def test_markdown_and_latex(platform):
    markdown = platform(*BASE, "--table", "markdown").out.splitlines()
    assert markdown[1] == "|---|---:|---:|---:|---:|---:|---:|"
    assert markdown[3].startswith("| two | **1.0000** | 1.000 | +0.8750 \\[+0.579, +1.171\\] |")
    assert any(line.startswith("- two is better than one") for line in markdown)
    latex = platform(*BASE, "--table", "latex").out.splitlines()
    assert latex[1] == r"\begin{tabular}{lrrrrrr}"
    assert latex[6].startswith(r"two & \textbf{1.0000} & 1.000 & +0.8750 {[}+0.579, +1.171] &")


def test_bounds_and_topics_come_when_asked(platform):
    out = platform(*BASE, "--bounds", "--per-topic").out
    assert "Means with other judgments and tie orders" in out
    assert "Differences with other judgments and tie orders" in out
    assert "Topics by RR" in out
    assert "Topics that differ most" not in out


def test_groups_need_a_collection_and_are_shown(platform, folder):
    assert "groups of topics need --collection" in platform(*BASE, "--group-by", "gene").err
    (folder / "bad.run").write_text("q1 Q0 d2 1 2.0 x\nq2 Q0 d1 1 2.0 x\n")
    command = (
        "compare",
        "good.run",
        "bad.run",
        "--collection",
        "small",
        "--group-by",
        "query-length",
    )
    lines = platform(*command, "--measure", "P@1").out.splitlines()
    assert "P@1 by query-length" in lines
    assert "1 word             2  0.5000  0.0000" in lines
    assert "q1     1.0000  0.0000  crizotinib" in lines


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--json", "--table", "csv"), "--table csv and --json exclude each other"),
        (("--all-pairs", "--baseline", "one"), "--all-pairs and --baseline exclude each other"),
        (("--table", "csv", "--per-topic", "--group-by", "x"), "--table csv writes one table"),
    ],
)
def test_what_excludes_each_other_is_refused(platform, more, message):
    said = platform(*BASE, *more)
    assert said.code == 2
    assert message in said.err


def test_one_run_is_nothing_to_compare(platform):
    said = platform("compare", "one.run", "--qrels", "qrels.txt")
    assert (said.code, said.err) == (2, "platform: give at least two runs to compare.\n")


def test_a_folder_stands_for_the_final_runs_in_it(platform, folder):
    (folder / "runs").mkdir()
    for name in ("two", "one", "two-alone"):
        (folder / "runs" / f"{name}.run").write_bytes((folder / "two.run").read_bytes())
    command = ("compare", "runs", "three.run", "--qrels", "qrels.txt", "--measure", "P@1", "--json")
    assert [s["name"] for s in platform(*command).json["systems"]] == ["one", "two", "three"]
    (folder / "runs" / "report.json").write_text('{"runs": [{"path": "x/two.run"}]}')
    assert [s["name"] for s in platform(*command).json["systems"]] == ["two", "three"]
    (folder / "empty").mkdir()
    assert "no run files (*.run) in this folder" in platform("compare", "empty", *command[2:]).err


def test_markdown_and_latex_have_the_other_measures_too(platform):
    said = platform(*BASE, "--table", "markdown").out
    assert "| system | RR |" in said
    assert "| two | **1.0000▲▲** |" in said
    assert "▲ better than one, ▼ worse: p \\< 0.05" in said
    tables = platform(*BASE, "--table", "latex").out
    assert r"two & \textbf{1.0000$^{\uparrow}$$^{\uparrow}$} \\" in tables
    assert "% ↑ better than one, ↓ worse" in tables
    every = platform(*BASE, "--table", "markdown", "--every-measure").out.splitlines()
    assert "| system | RR |" not in every
