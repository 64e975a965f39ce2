"""The rules of shared tasks, ours and one's own."""

import pytest

from irplatform.errors import InputError
from irplatform.tasks.rules import RULES, find_task, known_tasks, own_folder, read_tasks
from irplatform.tasks.submissions import all_tasks, task_of

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
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))

    def own(text=OWN, name="own.toml"):
        own_folder().mkdir(parents=True, exist_ok=True)
        (own_folder() / name).write_text(text)
        return own_folder() / name

    return own


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
    others = {"trec-cds-2016", "trec-ct-2021", "trec-ct-2022", "bioasq-13b-a"}
    assert pm | covid | biogen | others <= names


def test_a_file_of_ones_own_is_read_and_listed(own):
    path = own()
    (task,) = read_tasks(path)
    assert (task.rules.depth, task.rules.tag, task.topic_ids) == (100, "[a-z]{1,4}", ("1", "2"))
    assert task.sources["depth"].sentence == "Runs have a hundred results."
    assert "tag" not in task.sources
    assert all_tasks()["mine"] == task_of("mine") == find_task(str(path)) == task


def test_ones_own_task_replaces_a_shipped_one(own):
    own(OWN.replace('"mine"', '"trec-ct-2021"'))
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
        (('"1-2"', '"one"'), "'topic_ids' is 'one'; write whole numbers"),
        (('source = "call"', 'source = "cal"'), "there is no [sources.cal]"),
        (("topics = 2", 'topic_format = "xml"'), "'topic_format' is 'xml'; formats are"),
        (("topics = 2", 'file = "{name}"'), "'file' has {name}; known are"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(own, change, message):
    path = own(OWN.replace(*change))
    with pytest.raises(InputError) as error:
        read_tasks(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_an_unknown_measure_of_a_task_is_refused_when_it_is_used(own):
    path = own(OWN.replace("topics = 2", 'measures = ["infNDCG", "AP", "nDGC@10"]'))
    assert "mine" in all_tasks()
    with pytest.raises(InputError, match="task 'mine': unknown measure 'nDGC'") as no:
        task_of("mine")
    assert no.value.path == path


def test_an_unknown_name_has_a_suggestion():
    with pytest.raises(InputError, match="Did you mean 'trec-ct-2021'"):
        find_task("trec-ct-2121")


TWO = OWN + OWN[OWN.index("[[task]]") :]


def test_a_plugins_tasks_never_replace_ours_and_that_is_told(tmp_path, own, capsys):
    shipped, wrong = tmp_path / "shipped.toml", tmp_path / "wrong.toml"
    shipped.write_text(OWN + OWN[OWN.index("[[task]]") :].replace('"mine"', '"trec-ct-2021"'))
    wrong.write_text("[[task]]\n")
    known = known_tasks({wrong: "plugin 'a'", shipped: "plugin 'b'"})
    assert known["mine"].title == "My task"
    assert known["trec-ct-2021"].title == "TREC 2021 Clinical Trials"
    told = capsys.readouterr().err
    assert "WARNING: a task of plugin 'a' is left out: " in told
    assert f"plugin 'b' is left out: {shipped}: task 'trec-ct-2021' is also in " in told


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
def test_a_wrong_task_of_a_plugin_is_left_out_alone(tmp_path, own, capsys, change, fault):
    path = tmp_path / "several.toml"
    second = OWN[OWN.index("[[task]]") :].replace('"mine"', '"second"')
    path.write_text(OWN + second.replace(*change) + second.replace('"second"', '"third"'))
    known = known_tasks({path: "plugin 'c'"})
    assert {"mine", "third"} <= {*known}
    assert "second" not in known
    assert f"WARNING: a task of plugin 'c' is left out: {path}: {fault}" in capsys.readouterr().err


def test_a_file_of_ones_own_replaces_a_plugins_task_and_that_is_told(tmp_path, own, capsys):
    path = tmp_path / "theirs.toml"
    path.write_text(OWN.replace("My task", "Their task"))
    mine = own()
    assert known_tasks({path: "plugin 'd'"})["mine"].title == "My task"
    assert f"task 'mine' of plugin 'd' is replaced by that of {mine}" in capsys.readouterr().err


def test_a_name_that_comes_twice_in_ones_own_file_is_refused(own):
    with pytest.raises(InputError, match="task 'mine' comes twice"):
        read_tasks(own(TWO))
