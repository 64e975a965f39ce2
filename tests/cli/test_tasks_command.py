"""`platform tasks`: shared tasks and the sources of their rules."""


def test_tasks_are_listed_and_shown(platform):
    outcome = platform("tasks", "list")
    assert outcome.code == 0
    rows = [line.split("  ") for line in outcome.out.splitlines()]
    tasks = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}
    assert tasks["trec-ct-2021"] == ["2026-11-30", "over", "TREC 2021 Clinical Trials"]
    assert tasks["trec-ct-2022"] == ["not known", "over", "TREC 2022 Clinical Trials"]
    assert [*tasks][:32] == sorted([*tasks][:32])
    answer = platform("tasks", "show", "trec-ct-2021")
    lines = answer.out.splitlines()
    assert lines[0] == "trec-ct-2021: TREC 2021 Clinical Trials"
    sentence = (
        "Its rules were read on 30 November 2026. It is over: its year was 2021. A later edition"
    )
    assert lines[1].startswith(sentence)
    assert "depth         [3]  at most 1,000 results per topic" in lines
    assert '[3]  "my $MAX_RET = 1000;"' in lines
    assert "The sources that were read do not say: runs." in lines


def test_json_has_the_rules_and_their_sources(platform):
    facts = platform("tasks", "show", "trec-ct-2021", "--json").json
    assert facts["rules"]["tag"] == "[A-Za-z0-9_]{1,12}"
    assert "[A-Za-z0-9_]{1,12}" in facts["sources"]["tag"]["sentence"]
    assert (facts["year"], facts["read"], facts["over"]) == (2021, "2026-11-30", True)
    names = [task["name"] for task in platform("tasks", "list", "--json").json["tasks"]]
    assert "trec-biogen-2025-a" in names


def test_an_unknown_task_is_bad_input(platform):
    outcome = platform("tasks", "show", "trec-ct-2121")
    assert (outcome.code, "Did you mean 'trec-ct-2021'?" in outcome.err) == (2, True)


def test_no_depth_is_asked_of_answers(platform):
    outcome = platform("tasks", "show", "trec-biogen-2024")
    assert "The sources that were read do not say: runs." in outcome.out.splitlines()


def test_a_rule_says_that_there_is_no_limit(platform):
    text = platform("tasks", "show", "trec-rag-2026-retrieval").out
    assert "The sources that were read do not say: run tag, runs.\n" in text
    assert "deadline      [8]  8 August 2026\n" in text
    assert "ranks begin at 1; ranks rise from line to line; ranks leave no number out" in text
    json = platform("tasks", "show", "trec-rag-2026-retrieval", "--json").json
    assert json["rules"]["deadline"] == "2026-08-08"


def test_a_task_that_is_over_is_said_once_where_runs_are_checked(platform, folder, monkeypatch):
    monkeypatch.setattr("irplatform.system.console._told", set())
    (folder / "a.run").write_text("1 Q0 NCT1 1 1 us\n")
    outcome = platform("submit", "check", "a.run", "a.run", "--task", "trec-ct-2021")
    notice = "trec-ct-2021 is over: its year was 2021. A later edition may have other rules."
    assert outcome.err.count(notice) == 1
