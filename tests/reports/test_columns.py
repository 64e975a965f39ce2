"""Tables of text cells: as text that fits, in Markdown and in LaTeX."""

import re
from dataclasses import replace

from irplatform.reports.columns import Column, Table, as_latex, as_markdown, as_text

TABLE = Table(
    [
        Column("system", ["my_runs/bm25", "a|b − c"]),
        Column("nDCG@20", ["0.4404", "0.4652"], best=[1]),
        Column("NumRet", ["3,875", "-"], best=[0]),
    ]
)
TOPICS = Table(
    [
        Column("topic", ["41", "7"]),
        Column("bm25", ["0.5", "0.25"]),
        Column("query", ["melanoma BRAF (V600E) in a woman of 40", "mice"]),
    ],
    "Topics",
    text=True,
)


def test_markdown_has_the_best_in_bold_and_text_escaped():
    assert as_markdown(TABLE).splitlines() == [
        "| system | nDCG@20 | NumRet |",
        "|---|---:|---:|",
        r"| my\_runs/bm25 | 0.4404 | **3,875** |",
        r"| a\|b − c | **0.4652** | - |",
    ]


def test_latex_is_a_tabular_of_booktabs():
    assert as_latex(TABLE).splitlines() == [
        r"% \usepackage{booktabs}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"system & nDCG@20 & NumRet \\",
        r"\midrule",
        r"my\_runs/bm25 & 0.4404 & \textbf{3,875} \\",
        r"a\textbar{}b $-$ c & \textbf{0.4652} & - \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_names_of_files_are_no_commands():
    table = Table.of(["system", "AP"], [["[a]\nb*", "0.5"], ["50%_of{it}", "0.5"]])
    signed = Table.of(["run-2", "AP"], [["a-1", "-0.1 [-0.2, +0.1]"]])
    assert as_latex(signed).splitlines()[5] == r"a-1 & $-$0.1 {[}$-$0.2, +0.1] \\"
    assert as_latex(table).splitlines()[5:7] == [
        r"{[}a] b{*} & 0.5 \\",
        r"50\%\_of\{it\} & 0.5 \\",
    ]
    assert as_markdown(table).splitlines()[2:] == [r"| \[a\] b\* | 0.5 |", r"| 50%\_of{it} | 0.5 |"]
    assert as_text(table, None).splitlines()[2] == "[a] b*      0.5"


def test_a_last_column_of_text_is_cut_at_the_edge_or_left_out():
    assert as_text(TOPICS, None).splitlines()[2:] == [
        "topic  bm25  query",
        "---------------------------------------------------",
        "41      0.5  melanoma BRAF (V600E) in a woman of 40",
        "7      0.25  mice",
    ]
    assert as_text(TOPICS, 40).splitlines()[4] == "41      0.5  melanoma BRAF (V600E) in a…"
    assert as_text(TOPICS, 25).splitlines()[2] == "topic  bm25"


def test_names_are_squeezed_only_if_all_columns_fit_then():
    long = "a" * 20 + "b" * 20
    table = Table.of(["system", "AP", "P@10"], [[long, "0.5000", "0.5000"]])
    (line,) = as_text(table, 50).splitlines()[2:]
    assert line == "a" * 17 + "…" + "b" * 16 + "  0.5000  0.5000"
    assert as_text(table, 25).count("system") == 2
    assert as_text(table, 50, squeeze=False).splitlines()[2].startswith("aaaaaaaaaaaa…b")


def test_the_best_are_bold_on_a_terminal_that_shows_colours(monkeypatch):
    assert "\x1b[1m0.4652\x1b[0m" in re.sub(r"m +", "m", as_text(TABLE, 80))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in as_text(TABLE, 80)


def test_marks_follow_cells_and_all_forms_but_text_leave_no_room_for_them():
    column = Column("AP", ["0.5000", "0.4000"], marks=["", "▲▲"])
    table = Table([Column("system", ["bm25", "ltr"]), column])
    assert as_text(table, None).splitlines() == [
        "system      AP",
        "----------------",
        "bm25    0.5000",
        "ltr     0.4000▲▲",
    ]
    assert as_markdown(table).splitlines()[2:] == ["| bm25 | 0.5000 |", "| ltr | 0.4000▲▲ |"]


def test_a_part_below_repeats_the_names_of_its_lines():
    table = Table.of(["measure", "system", "mean"], [["AP", "bm25", "0.5"]] * 2, left=2)
    wide = replace(table, columns=[*table.columns, Column("ties", ["0 to 1"] * 2)])
    below = as_text(wide, 24).split("\n\n")[1].splitlines()
    assert below[0].split() == ["measure", "system", "ties"]
    assert below[2].split() == ["AP", "bm25", "0", "to", "1"]
