"""`platform submit check`: a run is checked as TREC's submission system does."""

import pytest

DEEP = ("--max-per-topic", "2")
TWO = "q2 Q0 d3 1 1.0 mine\nq2 Q0 d2 2 0.5 mine\n"
GOOD = "q1 Q0 d1 1 2.0 mine\nq1 Q0 d2 2 1.0 mine\nq2 Q0 d3 1 1.0 mine\n"


@pytest.fixture
def check(platform, folder):
    def check(content, *arguments):
        (folder / "my.run").write_text(content)
        return platform("submit", "check", "my.run", *arguments)

    return check


def test_a_sound_run_is_accepted(check):
    outcome = check(GOOD.replace("q2 Q0 d3 1 1.0 mine\n", TWO), "--collection", "small", *DEEP)
    assert (outcome.code, outcome.out) == (
        0,
        "my.run: nothing is wrong; 2 topics, 2 results each, tag 'mine'.\n",
    )
    assert (
        "Run tags are assumed to have at most 20 letters, digits, '-', '_' and '.'" in outcome.err
    )


def test_where_topics_have_fewer_results_something_is_said(check):
    outcome = check(GOOD, *DEEP)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "my.run: nothing is wrong; 2 topics, 1 to 2 results each, tag 'mine'.",
        "my.run: note: 1 of 2 topics have fewer than the 2 results that are accepted: 'q2' 1.",
    ]


def test_the_tag_follows_the_rule_of_the_track(check):
    outcome = check(
        GOOD.replace("mine", "my-bm25.v2"), *DEEP, "--tag-pattern", "[A-Za-z0-9_]{1,12}"
    )
    assert outcome.code == 1
    assert (
        "my.run:1: error: the run tag 'my-bm25.v2' does not match [A-Za-z0-9_]{1,12}."
        in outcome.out
    )
    assert "Assumed" not in outcome.err
    refused = check(GOOD, "--tag-pattern", "[A-Z")
    assert (refused.code, "--tag-pattern '[A-Z' is not a regular expression" in refused.err) == (
        2,
        True,
    )


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (GOOD + "q2 Q0 d1 2\n", (), "my.run:4: error: 4 columns"),
        (GOOD + "q2 Q0 d3 2 0.5 mine\n", (), "my.run:4: error: topic 'q2' has document 'd3'"),
        (GOOD.replace("mine", "m" * 21), (), "my.run:1: error: the run tag 'mmmm"),
        (
            GOOD,
            ("--tag-length", "3"),
            "my.run:1: error: the run tag 'mine' has 4 characters; 3 are accepted",
        ),
        (
            GOOD,
            ("--max-per-topic", "1"),
            "my.run: error: 1 of 2 topics have more than the 1 results that are accepted: 'q1' 2",
        ),
        (GOOD + "q9 Q0 d1 1 1 mine\n", ("--collection", "small"), "topics that the task does not"),
    ],
)
def test_what_would_be_refused_is_an_error_with_exit_code_1(check, content, arguments, message):
    outcome = check(content, *arguments)
    assert outcome.code == 1
    assert message in outcome.out


def test_a_warning_alone_is_accepted(check):
    outcome = check("q1 Q0 d1 2 2.0 mine\nq1 Q0 d2 1 1.0 mine\n", *DEEP)
    assert outcome.code == 0
    assert outcome.out.startswith(
        "my.run:1: warning: topic 'q1': rank 2 has a higher score than rank 1"
    )


def test_of_many_problems_the_first_are_printed_and_json_has_all(check):
    columns = "".join(f"q1 Q0 d3{' x' * n}\n" for n in range(4, 34))
    outcome = check(GOOD + columns)
    lines = outcome.out.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("my.run:4: error: 7 columns")
    assert lines[5] == "my.run: 25 more problems; --json lists all."
    assert lines[6].startswith("my.run: 30 errors; 2 topics, ")
    assert "note: " in lines[7]
    (entry,) = check(GOOD + columns, "--json").json["runs"]
    assert len(entry["problems"]) == 31


def test_topics_without_results_are_refused(check):
    outcome = check("q1 Q0 d1 1 2.0 mine\n", "--collection", "small")
    assert outcome.code == 1
    assert "my.run: error: 1 of 2 topics have no results: 'q2'.\n" in outcome.out


def test_a_longer_tag_can_be_allowed(check):
    assert check(GOOD.replace("mine", "m" * 21), "--tag-length", "30").code == 0


def test_json_lists_the_problems_of_every_run(check, platform):
    check(GOOD)
    outcome = platform("submit", "check", "my.run", "good.run", "--tag-length", "2", "--json")
    assert outcome.code == 1
    mine, good = outcome.json["runs"]
    assert (mine["path"], mine["accepted"], mine["problems"][0]["line"]) == ("my.run", False, 1)
    assert (good["path"], good["accepted"], good["problems"][0]["level"]) == (
        "good.run",
        True,
        "note",
    )
    assert (good["topics"], good["results"], good["tag"]) == (2, [1, 2], "x")


def test_what_cannot_be_read_is_reported_beside_the_others(check, platform):
    check(GOOD)
    task = ("--task", "trec-ct-2021")
    outcome = platform("submit", "check", "missing.run", "small", "my.run", *task)
    assert outcome.code == 2
    assert outcome.out.splitlines()[:4] == [
        "missing.run: error: there is no such file.",
        "missing.run: 1 error.",
        "small: error: this is a folder; name a file.",
        "small: 1 error.",
    ]
    assert "`platform submit fix my.run --task trec-ct-2021 -o OUT` repairs" in outcome.err
    outcome = platform("submit", "check", "missing.run", *task)
    assert (outcome.code, "submit fix" in outcome.err) == (2, False)


def test_a_note_is_printed_once_for_several_runs(check, platform, folder):
    check(GOOD)
    (folder / "other.run").write_text(GOOD.replace("mine", "other"))
    outcome = platform("submit", "check", "my.run", "other.run", *DEEP)
    assert outcome.out.splitlines() == [
        "my.run: nothing is wrong; 2 topics, 1 to 2 results each, tag 'mine'.",
        "other.run: nothing is wrong; 2 topics, 1 to 2 results each, tag 'other'.",
        "my.run: note: 1 of 2 topics have fewer than the 2 results that are accepted: 'q2' 1. So "
        "it is in 1 other run.",
    ]


def test_the_command_that_repairs_has_the_same_collection(check):
    outcome = check(GOOD, "--task", "trec-ct-2021", "--collection", "small", "--documents")
    command = "platform submit fix my.run --task trec-ct-2021 --collection small --documents -o OUT"
    assert f"`{command}` repairs what can be repaired." in outcome.err


def test_runs_with_the_same_tag_are_told_apart(check, platform, folder):
    check(GOOD)
    (folder / "again.run").write_text(GOOD)
    outcome = platform("submit", "check", "my.run", "good.run", "again.run", "my.run")
    assert outcome.code == 0
    assert [line for line in outcome.out.splitlines() if "tags" in line] == [
        "again.run: warning: the run tag 'mine' is also that of my.run; tasks identify the "
        "runs of a group by their tags.",
    ]


@pytest.mark.java
def test_documents_that_the_collection_does_not_have_are_named(check):
    outcome = check(GOOD.replace("d3", "d9"), "--collection", "small", "--documents")
    assert outcome.code == 1
    assert "my.run:3: error: 1 of 3 documents are not in the collection: 'd9'." in outcome.out
    assert check(GOOD, "--collection", "small", "--documents").code == 0


def test_documents_need_a_collection(check):
    refused = check(GOOD, "--documents")
    assert refused.code == 2
    assert "--documents needs --collection" in refused.err
