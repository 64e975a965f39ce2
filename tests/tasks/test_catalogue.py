"""The rules of shared tasks, ours and one's own."""

from datetime import date

import pytest

from irplatform.errors import InputError
from irplatform.tasks.catalogue.files import read_tasks
from irplatform.tasks.catalogue.names import find_task, known_tasks, own_folder
from irplatform.tasks.catalogue.rules import RULES, Rules, Task
from irplatform.tasks.submissions import all_tasks, check_runs, task_of
from irplatform.tasks.upload import prepare_runs

OWN = """
[sources.call]
title = "Call"
place = "https://example.org/call"

[[rules]]
source = "call"
sentence = "Runs have a hundred results."
depth = 100

[[task]]
name = "mine"
title = "My task"

[[task.rules]]
topics = 2
topic_ids = "1-2"
tag = "[a-z]{1,4}"
"""


@pytest.fixture
def task_file(tmp_path, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))

    def task_file(text=OWN, name="own.toml"):
        own_folder().mkdir(parents=True, exist_ok=True)
        (own_folder() / name).write_text(text)
        return own_folder() / name

    return task_file


@pytest.mark.parametrize("task", known_tasks().values(), ids=lambda task: task.name)
def test_each_rule_that_is_shipped_has_title_place_and_sentence(task):
    stated = {name for name in RULES if getattr(task.rules, name) is not None}
    assert stated == {*task.sources}
    assert {"form"} <= stated
    for source in task.sources.values():
        assert all(map(str.strip, (source.title, source.sentence)))
        assert source.place.startswith(("https://", "http://"))


def test_the_tasks_of_the_track_are_known_by_name():
    names = {*known_tasks()}
    pm = {f"trec-pm-{year}{part}" for year in (2017, 2018, 2019) for part in ("", "-trials")}
    covid = {f"trec-covid-round{number}" for number in range(1, 6)}
    biogen = {"trec-biogen-2024", "trec-biogen-2025-a", "trec-biogen-2025-b"}
    clinical = {"trec-cds-2016", "trec-ct-2021", "trec-ct-2022", "trec-ct-2023"}
    bioasq = {"bioasq-13b-a", "bioasq-14b-a", "bioasq-synergy-2025"}
    pm |= {"trec-pm-2020", "trec-pm-2020-evidence"}
    rag = {f"trec-rag-{year}-retrieval" for year in (2024, 2025, 2026)}
    rag |= {"trec-ragtime-2025-mlir", "trec-ragtime-2026-mlir"}
    assert pm | covid | biogen | clinical | bioasq | rag <= names


def test_a_file_of_ones_own_is_read_and_listed(task_file):
    path = task_file()
    (task,) = read_tasks(path)
    assert (task.rules.depth, task.rules.tag, task.topic_ids) == (100, "[a-z]{1,4}", ("1", "2"))
    assert task.sources["depth"].sentence == "Runs have a hundred results."
    assert "tag" not in task.sources
    assert all_tasks()["mine"] == task_of("mine") == find_task(str(path)) == task


def test_ones_own_task_replaces_a_shipped_one(task_file):
    task_file(OWN.replace('"mine"', '"trec-ct-2021"'))
    assert task_of("trec-ct-2021").title == "My task"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("depth = 100", "dept = 100"), "rules.0: unknown key 'dept'. Did you mean 'depth'?"),
        (('name = "mine"', ""), "task 'number 1': the key 'name' is missing."),
        (("[[task]]", "[tasks]\n[[task]]"), "unknown key 'tasks'. Did you mean 'task'?"),
        (("depth = 100", 'depth = "100"'), "rules.0.depth"),
        (("[a-z]{1,4}", "[a-z"), "'tag' is not a regular expression"),
        (('"1-2"', '"1-3"'), "'topic_ids' are 3 topics, 'topics' says 2"),
        (('"1-2"', '["a", "a"]'), "'topic_ids' has 'a' twice"),
        (("topics = 2", "ranks = ['dense', 'from 0']"), "rules.0.ranks.1"),
        (("topics = 2", 'topic_pattern = "q("'), "'topic_pattern' is not a regular expression"),
        (('"1-2"', '"one"'), "'topic_ids' is 'one'; write ranges, such as"),
        (('source = "call"', 'source = "cal"'), "there is no [sources.cal]"),
        (("topics = 2", 'topic_format = "xml"'), "'topic_format' is 'xml'; formats are"),
        (("topics = 2", 'file = "{name}"'), "'file' has {name}; known are"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(task_file, change, message):
    path = task_file(OWN.replace(*change))
    with pytest.raises(InputError) as error:
        read_tasks(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_measure_of_a_task_is_refused_when_it_is_used(task_file):
    path = task_file(OWN.replace("topics = 2", 'measures = ["infNDCG", "AP", "nDGC@10"]'))
    assert "mine" in all_tasks()
    with pytest.raises(InputError, match="task 'mine': unknown measure 'nDGC'") as no:
        task_of("mine")
    assert no.value.path == path


@pytest.mark.parametrize(
    ("name", "near"),
    [("trec-ct-2121", "trec-ct-2021"), ("trec-rag-2027-retrieval", "trec-rag-2026-retrieval")],
)
def test_an_unknown_name_has_a_suggestion_that_may_have_other_rules(name, near):
    with pytest.raises(InputError) as error:
        find_task(name)
    message = (
        f"Did you mean '{near}'? Another task may have other rules, also that of another year."
    )
    assert message in str(error.value)
    assert "`platform tasks new` writes the file of one that is missing." in str(error.value)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("1-3", ("1", "2", "3")),
        ("7,9-10", ("7", "9", "10")),
        ("rag2026-{0-2}", ("rag2026-0", "rag2026-1", "rag2026-2")),
        ("a{1-2}b,c{5-5}", ("a1b", "a2b", "c5")),
        (["x", "2024-145979"], ("x", "2024-145979")),
    ],
)
def test_ids_of_topics_are_ranges_or_a_list(value, ids):
    assert Task("t", "T", Rules(topic_ids=value)).topic_ids == ids


DAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("title", "edition", "deadline", "year", "past"),
    [
        ("TREC 2025 RAG", None, None, 2025, "its year was 2025"),
        ("TREC 2026 RAG", None, None, 2026, ""),
        ("TREC 2026 RAG", None, date(2026, 8, 8), 2026, "its deadline was 8 August 2026"),
        ("TREC 2026 RAG", None, DAY, 2026, ""),
        ("TREC 2025 RAG", None, date(2027, 1, 9), 2025, ""),
        ("BioASQ 13b", 2025, None, 2025, "its year was 2025"),
        ("A task of ours", None, None, None, ""),
    ],
)
def test_a_task_says_what_of_it_is_over(title, edition, deadline, year, past):
    task = Task("t", title, Rules(deadline=deadline), edition=edition)
    assert (task.year, task.past(DAY)) == (year, past)


def test_the_day_of_reading_stands_in_the_file_or_at_a_task(task_file):
    text = "read = 2026-11-29\n" + OWN + OWN[OWN.index("[[task]]") :].replace('"mine"', '"two"')
    path = task_file(text.replace('name = "two"', 'name = "two"\nread = 2026-11-30\nyear = 2027'))
    one, two = read_tasks(path)
    assert (one.read, two.read, two.year) == (date(2026, 11, 29), date(2026, 11, 30), 2027)


def test_every_year_that_is_shipped_is_known():
    assert [task.name for task in known_tasks().values() if task.year is None] == []


TWO = OWN + OWN[OWN.index("[[task]]") :]


def test_a_plugins_tasks_never_replace_ours_and_that_is_told(tmp_path, task_file, capsys):
    shipped, wrong = tmp_path / "shipped.toml", tmp_path / "wrong.toml"
    shipped.write_text(OWN + OWN[OWN.index("[[task]]") :].replace('"mine"', '"trec-ct-2021"'))
    wrong.write_text("[[task]]\n")
    tasks = known_tasks({wrong: "plugin 'a'", shipped: "plugin 'b'"})
    assert tasks["mine"].title == "My task"
    assert tasks["trec-ct-2021"].title == "TREC 2021 Clinical Trials"
    notice = capsys.readouterr().err
    assert "WARNING: a task of plugin 'a' is left out: " in notice
    assert f"plugin 'b' is left out: {shipped}: task 'trec-ct-2021' is also in " in notice


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("tag =", "tga ="), "task 'second': unknown key 'tga'. Did you mean 'tag'?"),
        (("[a-z]{1,4}", "(a-z"), "task 'second': 'tag' is not a regular expression"),
        (("title =", "titel ="), "task 'second': unknown key 'titel'. Did you mean 'title'?"),
        (('"second"', '"mine"'), "task 'mine' comes twice; rename one."),
        (('"second"', '"Second!"'), "task 'Second!': name: "),
        (("topics = 2", "topics = 0"), "task 'second': rules.0.topics: "),
    ],
)
def test_a_wrong_task_of_a_plugin_is_left_out_alone(tmp_path, task_file, capsys, change, fault):
    path = tmp_path / "several.toml"
    second = OWN[OWN.index("[[task]]") :].replace('"mine"', '"second"')
    path.write_text(OWN + second.replace(*change) + second.replace('"second"', '"third"'))
    tasks = known_tasks({path: "plugin 'c'"})
    assert {"mine", "third"} <= {*tasks}
    assert "second" not in tasks
    assert f"WARNING: a task of plugin 'c' is left out: {path}: {fault}" in capsys.readouterr().err


def test_a_file_of_ones_own_replaces_a_plugins_task_and_that_is_told(tmp_path, task_file, capsys):
    path = tmp_path / "theirs.toml"
    path.write_text(OWN.replace("My task", "Their task"))
    mine = task_file()
    assert known_tasks({path: "plugin 'd'"})["mine"].title == "My task"
    assert f"task 'mine' of plugin 'd' is replaced by that of {mine}" in capsys.readouterr().err


def test_a_name_that_comes_twice_in_ones_own_file_is_refused(task_file):
    with pytest.raises(InputError, match="task 'mine' comes twice"):
        read_tasks(task_file(TWO))


def test_a_new_year_costs_one_file(task_file, tmp_path):
    shipped = known_tasks()["trec-rag-2026-retrieval"].path
    task_file(
        shipped.read_text().replace("2026", "2027").replace("shard_", "page_"), "rag-2027.toml"
    )
    lines = [f"rag2027-{n} Q0 page_{n}_7 1 2.5 mine\n" for n in range(119)]
    (tmp_path / "a.run").write_text("".join(lines))
    (tmp_path / "b.run").write_text("".join(lines).replace("rag2027", "rag2026"))
    for name, accepted in (("a.run", True), ("b.run", False)):
        path = tmp_path / name
        (check,) = check_runs(path, task="trec-rag-2027-retrieval").values()
        assert check.refused != accepted, check.problems
    upload = prepare_runs(tmp_path / "a.run", tmp_path / "up", task="trec-rag-2027-retrieval")
    assert upload["files"] == ["r_output_trec_rag_2027.tsv", "runs.md", "SHA256SUMS"]
    assert task_of("trec-rag-2026-retrieval").topic_ids[0] == "rag2026-0"
