"""`platform tasks`: shared tasks and the sources of their rules."""


def test_tasks_are_listed_and_shown(platform):
    listed = platform("tasks", "list")
    assert listed.code == 0
    assert "trec-ct-2021             TREC 2021 Clinical Trials\n" in listed.out
    shown = platform("tasks", "show", "trec-ct-2021")
    lines = shown.out.splitlines()
    assert lines[0] == "trec-ct-2021: TREC 2021 Clinical Trials"
    assert "depth         [3]  at most 1,000 results per topic" in lines
    assert '[3]  "my $MAX_RET = 1000;"' in lines
    assert "The sources that were read do not say: runs." in lines


def test_json_has_the_rules_and_their_sources(platform):
    shown = platform("tasks", "show", "trec-ct-2021", "--json").json
    assert shown["rules"]["tag"] == "[A-Za-z0-9_]{1,12}"
    assert "[A-Za-z0-9_]{1,12}" in shown["sources"]["tag"]["sentence"]
    names = [task["name"] for task in platform("tasks", "list", "--json").json["tasks"]]
    assert "trec-biogen-2025-a" in names


def test_an_unknown_task_is_bad_input(platform):
    shown = platform("tasks", "show", "trec-ct-2121")
    assert (shown.code, "Did you mean 'trec-ct-2021'?" in shown.err) == (2, True)


def test_no_depth_is_asked_of_answers(platform):
    shown = platform("tasks", "show", "trec-biogen-2024")
    assert "The sources that were read do not say: runs." in shown.out.splitlines()
