"""`platform submit check`: a run is checked as TREC's submission system does."""

import pytest

GOOD = "q1 Q0 d1 1 2.0 mine\nq1 Q0 d2 2 1.0 mine\nq2 Q0 d3 1 1.0 mine\n"


@pytest.fixture
def check(platform, folder):
    def check(content, *arguments):
        (folder / "my.run").write_text(content)
        return platform("submit", "check", "my.run", *arguments)

    return check


def test_a_sound_run_is_accepted(check):
    done = check(GOOD, "--collection", "small")
    assert (done.code, done.out) == (0, "my.run: nothing is wrong.\n")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (GOOD + "q2 Q0 d1 2\n", (), "my.run:4: error: 4 columns"),
        (GOOD + "q2 Q0 d3 2 0.5 mine\n", (), "my.run:4: error: topic 'q2' has document 'd3'"),
        (GOOD.replace("mine", "m" * 21), (), "my.run:1: error: the run tag 'mmmm"),
        (GOOD, ("--tag-length", "3"), "my.run:1: error: the run tag 'mine' is not 1 to 3 letters"),
        (GOOD, ("--max-per-topic", "1"), "my.run: error: topic 'q1' has 2 results; 1 are accepted"),
        (GOOD + "q9 Q0 d1 1 1 mine\n", ("--collection", "small"), "topics that the task does not"),
    ],
)
def test_what_would_be_refused_is_an_error_with_exit_code_1(check, content, arguments, message):
    done = check(content, *arguments)
    assert done.code == 1
    assert message in done.out


def test_a_warning_alone_is_accepted(check):
    done = check("q1 Q0 d1 2 2.0 mine\nq1 Q0 d2 1 1.0 mine\n")
    assert done.code == 0
    assert done.out.startswith(
        "my.run:1: warning: topic 'q1': rank 2 has a higher score than rank 1"
    )


def test_of_many_problems_the_first_are_printed_and_json_has_all(check):
    swapped = "".join(f"q{n} Q0 d1 1 2.0 mine\nq{n} Q0 d2 1 1.0 mine\n" for n in range(30))
    done = check(swapped + "q1 Q0 d3\n")
    lines = done.out.splitlines()
    assert len(lines) == 26
    assert lines[0].startswith("my.run:61: error: 3 columns")
    assert lines[1].startswith("my.run:2: warning: ")
    assert lines[25] == "my.run: 6 more problems; --json lists all."
    (entry,) = check(swapped + "q1 Q0 d3\n", "--json").json["runs"]
    assert len(entry["problems"]) == 31


def test_topics_without_results_are_refused(check):
    done = check("q1 Q0 d1 1 2.0 mine\n", "--collection", "small")
    assert done.code == 1
    assert done.out == "my.run: error: 1 of 2 topics have no results: 'q2'.\n"


def test_a_longer_tag_can_be_allowed(check):
    assert check(GOOD.replace("mine", "m" * 21), "--tag-length", "30").code == 0


def test_json_lists_the_problems_of_every_run(check, platform):
    check(GOOD)
    found = platform("submit", "check", "my.run", "good.run", "--tag-length", "2", "--json")
    assert found.code == 1
    mine, good = found.json["runs"]
    assert (mine["path"], mine["accepted"], mine["problems"][0]["line"]) == ("my.run", False, 1)
    assert (good["path"], good["accepted"], good["problems"]) == ("good.run", True, [])


def test_what_cannot_be_read_is_reported_beside_the_others(check, platform):
    check(GOOD)
    done = platform("submit", "check", "my.run", "missing.run", "small", "good.run")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        "my.run: nothing is wrong.",
        "missing.run: error: there is no such file.",
        "small: error: this is a folder; name a file.",
        "good.run: nothing is wrong.",
    ]


def test_runs_with_the_same_tag_are_told_apart(check, platform, folder):
    check(GOOD)
    (folder / "again.run").write_text(GOOD)
    done = platform("submit", "check", "my.run", "good.run", "again.run", "my.run")
    assert done.code == 0
    assert done.out.splitlines() == [
        "my.run: nothing is wrong.",
        "good.run: nothing is wrong.",
        "again.run: warning: the run tag 'mine' is that of my.run too; tasks tell the runs of a "
        "group by their tags.",
    ]


@pytest.mark.java
def test_documents_that_the_collection_does_not_have_are_named(check):
    done = check(GOOD.replace("d3", "d9"), "--collection", "small", "--documents")
    assert done.code == 1
    assert "my.run:3: error: 1 of 3 documents are not in the collection: 'd9'." in done.out
    assert check(GOOD, "--collection", "small", "--documents").code == 0


def test_documents_need_a_collection(check):
    refused = check(GOOD, "--documents")
    assert refused.code == 2
    assert "--documents needs --collection" in refused.err
