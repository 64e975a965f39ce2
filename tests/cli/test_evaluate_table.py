"""`platform evaluate --table`: the table in the forms that papers and web pages take."""

import pytest

ASKED = ("evaluate", "good.run", "bad.run", "--qrels", "qrels.txt", "--measure", "P@1")


@pytest.fixture(autouse=True)
def files(folder):
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d3 2\n")
    (folder / "bad.run").write_text("q1 Q0 d2 1 2.0 x\nq2 Q0 d1 1 2.0 x\n")


def test_markdown(platform):
    assert platform(*ASKED, "--table", "markdown").out.splitlines() == [
        "| system | P@1 |",
        "|---|---:|",
        "| good.run | **0.5000** |",
        "| bad.run | 0.0000 |",
    ]


def test_latex(platform):
    lines = platform(*ASKED, "--table", "latex").out.splitlines()
    assert lines[-4:] == [
        r"good.run & \textbf{0.5000} \\",
        r"bad.run & 0.0000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize("other", ["--json", "--per-topic"])
def test_what_is_no_table_is_refused_beside_it(platform, other):
    refused = platform(*ASKED, "--table", "latex", other)
    assert refused.code == 2
    assert f"--table latex and {other} exclude each other" in refused.err
