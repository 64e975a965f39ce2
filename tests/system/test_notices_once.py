"""Notices that say a name once, and come once in a command."""

from irplatform.system.console import notice, with_subject, without_repeats


def test_a_subject_that_a_line_begins_with_is_not_repeated(capsys):
    with with_subject("bm25"):
        notice("bm25: 2 topics with no results")
        notice("bm25x: 2 topics")
    assert capsys.readouterr().err.splitlines() == [
        "bm25: 2 topics with no results",
        "bm25: bm25x: 2 topics",
    ]


def test_lines_with_some_words_come_once_whatever_the_subject(capsys):
    with without_repeats("no results", "left out"):
        for subject in ("one", "two"):
            with with_subject(subject):
                notice("bm25: 2 topics with no results")
                notice("features 'a' are left out: no gene.")
                notice("training")
    assert capsys.readouterr().err.splitlines() == [
        "one: bm25: 2 topics with no results",
        "one: features 'a' are left out: no gene.",
        "one: training",
        "two: training",
    ]
