"""Commands in a terminal: one progress line, tables that fit, and Ctrl-C at any stage."""

import re

import pytest
from terminal import on_terminal

pytestmark = [pytest.mark.java]

MOST_BYTES = 200_000
RUN = ("run", "--collection", "demo", "--run-dir")
FAST = ("--members", "2", "--set", "delta.loop.epochs=3")


def _check(session, columns=80):
    """One progress line that nothing moves away from, and no line that is wider than allowed."""
    assert session.status == 0, session.text
    assert len(session.text) < MOST_BYTES
    assert set(re.findall(r"\x1b\[[\d;]*\w", session.text)) <= {"\x1b[K", "\x1b[1m", "\x1b[0m"}
    painted = [part for line in session.text.split("\n") for part in line.split("\r")]
    widths = [len(re.sub(r"\x1b\[\d*\w", "", part)) for part in painted if "/" not in part]
    assert max(widths) <= columns


def test_a_run_shows_one_progress_line_and_a_table_that_fits(tmp_path):
    session = on_terminal(*RUN, tmp_path / "runs", "--reranker", "lexical")
    _check(session)
    assert re.search(r"\rindexing demo: [^\r]* \d+:\d\d:\d\d\x1b\[K", session.text)
    assert any(line.startswith("lexical (first stage") for line in session.screen)
    assert not any("searching" in line and "of 20" in line for line in session.screen)


def test_ctrl_c_ends_a_run_within_two_seconds(tmp_path, fresh_home):
    session = on_terminal(*RUN, tmp_path / "runs", interrupt_at=r"\rindexing demo")
    assert session.status == 130
    assert "interrupted; what was finished is kept" in session.text.replace("\r\n", " ")
    assert "Traceback" not in session.text


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 140])
def test_training_fits_every_terminal(tmp_path, columns):
    session = on_terminal(*RUN, tmp_path / "runs", "--reranker", "delta", *FAST, columns=columns)
    _check(session, columns)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stage",
    [
        "indexing demo",
        "searching 20 topics",
        "training word vectors",
        "member 1 of 2, epoch 2 of 3",
        "reranking with delta",
    ],
)
def test_ctrl_c_ends_every_stage_of_a_run(tmp_path, fresh_home, stage):
    session = on_terminal(*RUN, tmp_path / "runs", "--reranker", "delta", *FAST, interrupt_at=stage)
    assert session.status == 130
    assert session.seconds < 4, "2 seconds on a machine that does nothing else"
    assert "Traceback" not in session.text


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ("rerankers", "show", "lexical"),
        ("retrievers", "show", "bm25"),
        ("rerankers", "list"),
        ("collections", "show", "demo"),
        ("collections", "list"),
        ("plugins", "list"),
        ("kb", "list"),
    ],
    ids=" ".join,
)
def test_lists_tear_no_word_where_the_terminal_ends(arguments, columns):
    session = on_terminal(*arguments, columns=columns)
    assert session.status == 0
    assert [line for line in session.screen if len(line) > columns and " " in line.strip()] == []
