"""The table of results in Markdown and LaTeX."""

from irplatform.reports.table import ResultRow, latex_table, markdown_table

ROWS = [
    ResultRow("my_runs/bm25", {"nDCG@20": 0.4404, "AP": 0.2508, "NumRet": 3875.0}),
    ResultRow("delta", {"nDCG@20": 0.46519, "AP": 0.25084, "NumRet": 20.0}, {"nDCG@20": 2}),
    ResultRow("a|b", {"nDCG@20": 0.1, "NumRet": 10.0}, {"nDCG@20": -1}),
]
MEASURES = ["nDCG@20", "AP", "NumRet"]


def test_markdown_has_the_best_in_bold_and_marks_behind_figures():
    assert markdown_table(ROWS, MEASURES, baseline="my_runs/bm25").splitlines() == [
        "| system | nDCG@20 | AP | NumRet |",
        "|---|---:|---:|---:|",
        r"| my\_runs/bm25 | 0.4404 | **0.2508** | **3,875** |",
        "| delta | **0.4652**▲▲ | **0.2508** | 20 |",
        r"| a\|b | 0.1000▼ | - | 10 |",
        "",
        r"▲ better than my\_runs/bm25, ▼ worse: p \< 0.05; ▲▲ ▼▼ p \< 0.01 "
        "(paired t-test, Holm's correction)",
    ]


def test_latex_is_a_tabular_with_what_the_marks_mean_in_a_comment():
    assert latex_table(ROWS, MEASURES, baseline="my_runs/bm25").splitlines() == [
        r"% \usepackage{booktabs,amssymb}",
        r"% $\blacktriangle$ better than my\_runs/bm25, $\blacktriangledown$ worse: "
        r"p \textless{} 0.05; $\blacktriangle$$\blacktriangle$ "
        r"$\blacktriangledown$$\blacktriangledown$ p \textless{} 0.01 "
        "(paired t-test, Holm's correction)",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"system & nDCG@20 & AP & NumRet \\",
        r"\midrule",
        r"my\_runs/bm25 & 0.4404 & \textbf{0.2508} & \textbf{3,875} \\",
        r"delta & \textbf{0.4652}$^{\blacktriangle\blacktriangle}$ & \textbf{0.2508} & 20 \\",
        r"a\textbar{}b & 0.1000$^{\blacktriangledown}$ & - & 10 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_names_of_files_are_no_commands():
    rows = [ResultRow("[a]\nb*", {"AP": 0.5})]
    assert latex_table(rows, ["AP"]).splitlines()[5] == r"{[}a] b{*} & 0.5000 \\"
    assert markdown_table(rows, ["AP"]).splitlines()[2] == r"| \[a\] b\* | 0.5000 |"


def test_a_single_run_is_not_the_best_and_without_marks_there_is_nothing_to_explain():
    rows = [ResultRow("50%_of{it}", {"AP": 0.5})]
    assert markdown_table(rows, ["AP"]).splitlines()[2:] == [r"| 50%\_of{it} | 0.5000 |"]
    latex = latex_table(rows, ["AP"]).splitlines()
    assert latex[0] == r"% \usepackage{booktabs}"
    assert r"50\%\_of\{it\} & 0.5000 \\" in latex
