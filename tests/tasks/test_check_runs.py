"""Checks of a run before it is submitted."""

import pytest

from irplatform.errors import InputError
from irplatform.runs import Ranking, Run, write_run
from irplatform.runs.names import read_tag_pattern
from irplatform.tasks.catalogue.rules import Rules
from irplatform.tasks.check_runs import validate_run


def problems(tmp_path, text, **task):
    path = tmp_path / "a.run"
    path.write_text(text)
    return [(p.level, p.line, p.message) for p in validate_run(path, **task).problems]


def test_what_the_platform_writes_can_be_submitted(tmp_path):
    ranking = Ranking.of(["a", "b", "c"], [1.0, 1.0, 2.0])
    write_run(Run("bm25-delta_1.0", {"1": ranking, "2": ranking}), tmp_path / "a.run")
    check = validate_run(tmp_path / "a.run", Rules(depth=3), topics=["1", "2"])
    assert (check.topics, check.results, check.tag) == (2, (3, 3), "bm25-delta_1.0")
    (warning,) = check.problems
    assert "has a '-' or '.', which several tracks refuse" in warning.message


@pytest.mark.parametrize("rank", ["-1", "01", "00"])
def test_ranks_are_written_as_nists_checker_wants_them(tmp_path, rank):
    ((level, line, message),) = problems(
        tmp_path, f"1 Q0 a 0 2 t\n1 Q0 b {rank} 1 t\n2 Q0 a 10 1 t\n"
    )[:1]
    assert (level, line) == ("error", 2)
    assert message.startswith("the rank is negative or begins with a zero")


@pytest.mark.parametrize("text", ["1 Q0 a 1 2 t\n\n \t\n", "1 Q0 a 1 2.x t\n\n \t\n"])
def test_empty_lines_are_refused_as_nists_checker_and_tira_refuse_them(tmp_path, text):
    findings = [problem for problem in problems(tmp_path, text) if "empty" in problem[2]]
    message = "the line is empty, which NIST's present checker and TIRA refuse, in 2 lines."
    assert findings == [("error", 2, message)]


def test_the_end_of_the_last_line_is_no_empty_line(tmp_path):
    for end in ("", "\n", "\r\n"):
        assert problems(tmp_path, f"1 Q0 a 1 2 t{end}") == []


def test_every_bad_line_is_listed_not_only_the_first(tmp_path):
    findings = problems(tmp_path, "1 Q0 a 1 2 t\n1 Q0 b 2 t\n1 Q0 c 3 nan t\n1 Q0 a 4 1 t\n")
    assert [(level, line) for level, line, _ in findings] == [
        ("error", 2),
        ("error", 3),
        ("error", 4),
    ]


@pytest.mark.parametrize("tag", ["a" * 21, "bm25+rm3", "süß"])
def test_tags_follow_the_rules_of_trec(tmp_path, tag):
    ((level, line, message),) = problems(tmp_path, f"1 Q0 a 1 2 {tag}\n")
    assert (level, line) == ("error", 1)
    assert tag in message


def test_a_run_has_one_tag(tmp_path):
    ((level, line, message),) = problems(tmp_path, "1 Q0 a 1 2 one\n1 Q0 b 2 1 two\n")
    assert (level, line) == ("error", 2)
    assert "'two'" in message


def test_too_many_results_are_an_error(tmp_path):
    ((level, _, message),) = problems(
        tmp_path, "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 1 t\n", rules=Rules(depth=1)
    )
    assert level == "error"
    assert message == "1 of 2 topics have more than the 1 results that are accepted: '1' 2."


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ([4, 4, 4], None),
        ([4, 3, 4], "1 of 3 topics have fewer than the 4 results that are accepted: '1' 3."),
        ([3], "1 of 1 topic have fewer than the 4 results that are accepted: '0' 3."),
        (
            [1, 2, 1, 2, 1, 2, 4],
            "6 of 7 topics have fewer than the 4 results that are accepted: '0' 1, '1' 2, '2' 1, "
            "'3' 2, '4' 1 and 1 more.",
        ),
    ],
)
def test_topics_with_fewer_results_than_are_accepted_are_noted(tmp_path, counts, note):
    lines = [f"{t} Q0 d{r} {r + 1} {9 - r} t\n" for t, n in enumerate(counts) for r in range(n)]
    findings = problems(tmp_path, "".join(lines), rules=Rules(depth=4))
    assert findings == ([("note", None, note)] if note else [])


def test_the_same_is_told_once_with_its_lines(tmp_path):
    short = "".join(f"{n} Q0 a 1 2\n" for n in range(25))
    twice = "".join(f"{n} Q0 a 1 2 t\n{n} Q0 a 2 1 t\n" for n in range(2))
    (tmp_path / "a.run").write_text(short + "1 Q0 a 1\n" + twice)
    columns, fewer, repeated = validate_run(tmp_path / "a.run").problems
    assert columns.message.startswith("5 columns. ")
    assert columns.message.endswith(" 25 such lines: 1, 2, 3 and 22 more.")
    assert columns.lines == tuple(range(1, 26))
    assert (fewer.line, fewer.lines) == (26, (26,))
    assert repeated.message.endswith(
        "the first is in line 27. Keep one of the two. 2 such lines: 28, 30."
    )


@pytest.mark.parametrize(
    ("tag", "rule", "fault"),
    [
        ("my-bm25.v2", "[A-Za-z0-9_]{1,12}", "does not match [A-Za-z0-9_]{1,12}"),
        ("thirteenchars", "/^[A-Za-z0-9_]{1,12}$/", "does not match ^[A-Za-z0-9_]{1,12}$"),
        ("my_bm25", "/^[A-Za-z0-9_]{1,12}$/", None),
        ("a" * 30, "a+", None),
        ("bm25+rm3", ".*", None),
        ("my-bm25", None, "has a '-' or '.', which several tracks refuse"),
        ("my_bm25", None, None),
    ],
)
def test_a_track_has_a_rule_for_tags_of_its_own(tmp_path, tag, rule, fault):
    findings = problems(
        tmp_path, f"1 Q0 a 1 2 {tag}\n", rules=Rules(tag=rule and read_tag_pattern(rule).pattern)
    )
    assert [level for level, _, _ in findings] == (
        [] if fault is None else ["error" if rule else "warning"]
    )
    assert all(fault in message for _, _, message in findings)


def test_strange_topics_and_those_without_results_are_errors(tmp_path):
    findings = problems(tmp_path, "1 Q0 a 1 2 t\n9 Q0 a 1 2 t\n", topics=["1", "2", "3"])
    assert [level for level, _, _ in findings] == ["error", "error"]
    assert "'9'" in findings[0][2]
    assert "2 of 3 topics have no results: '2', '3'" in findings[1][2]


def test_ranks_that_contradict_the_scores_are_a_warning_per_topic(tmp_path):
    text = "1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 c 3 3 t\n3 Q0 a 2 1 t\n3 Q0 b 1 2 t\n"
    ((level, line, message), against) = problems(tmp_path, text)
    assert (level, line) == ("warning", 2)
    assert "rank 2 has a higher score than rank 1" in message
    assert against[1:] == (
        5,
        "topic '3': ranks fall; some tasks want 1, 2, 3, … from line to line.",
    )


def test_ranks_from_0_and_against_the_lines_are_warned_of(tmp_path):
    findings = problems(tmp_path, "1 Q0 a 0 2 t\n1 Q0 b 1 1 t\n2 Q0 a 2 1 t\n2 Q0 b 1 2 t\n")
    assert [(level, line) for level, line, _ in findings] == [("warning", 1), ("warning", 4)]
    assert "ranks begin at 0" in findings[0][2]
    assert "ranks fall" in findings[1][2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 a 0 2 t\n1 Q0 b 0 1 t\n", "rank 0 comes twice"),
        ("1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n", "ranks 1 and 2 have the same score"),
        (
            "1 Q0 a 1 1.00000002 t\n1 Q0 b 2 1.00000001 t\n",
            "have the same score in 32 bits. trec_eval 10 keeps their order",
        ),
    ],
)
def test_ranks_that_are_no_order_are_warned_of(tmp_path, text, message):
    ((level, line, sentence), *_) = problems(tmp_path, text)
    assert (level, line) == ("warning", 2)
    assert message in sentence


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1 0 a 1 3 t\n1 0 b 2 2 t\n", "the second column is '0', not 'Q0', in 2 lines"),
        ("1 Q0 a 1 \u0663 t\n", "is not a number"),
        (f"1 Q0 a {'9' * 5000} 3 t\n", "the rank is not a whole number, in 1 line"),
        ("1 Q0 a 1.0 3 t\n", "the rank is not a whole number, in 1 line"),
        ("\ufeff1 Q0 a 1 3 t\n", "byte order mark"),
        (
            "1 Q0 a\x07 1 3 t\n1 Q0 b\x08 2 2 t\n",
            "the id of a document has a control character in it, which run files cannot hold, in 2",
        ),
        ("1\x01 Q0 a 1 3 t\n", "the id of a topic has a control character in it"),
        ("1 Q0 a\xa0b 1 3 t\n", "the id of a document has white space in it"),
        ("1 Q0 a 1 1e39 t\n", "is beyond what a 32-bit float holds"),
        ("1 Q0 a 1 3 my run\n", "7 columns"),
        ("# 1 Q0 a 1 t\n", "begins with '#': trec_eval 10 passes over it as a comment"),
    ],
)
def test_what_the_scripts_of_trec_refuse_is_an_error(tmp_path, lines, message):
    ((level, line, sentence),) = problems(tmp_path, lines)
    assert (level, line) == ("error", 1)
    assert message in sentence


def test_an_empty_file_is_one_error(tmp_path):
    ((level, line, message),) = problems(tmp_path, "")
    assert (level, line) == ("error", None)
    assert "no results" in message


def test_a_missing_file_is_not_a_problem_of_the_run_but_of_the_user(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        validate_run(tmp_path / "none.run")
