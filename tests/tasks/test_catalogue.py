"""The rules of shared tasks, ours and one's own."""

import pytest

from irplatform.errors import InputError
from irplatform.experiment.shared_tasks import all_tasks, task_of
from irplatform.tasks.catalogue import find_task, known_tasks, own_folder
from irplatform.tasks.model import RULES, read_tasks

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
        (('name = "mine"', ""), "task.0: the key 'name' is missing."),
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


def test_a_plugins_tasks_never_replace_ours(tmp_path, own, capsys):
    ours, wrong = tmp_path / "ours.toml", tmp_path / "wrong.toml"
    ours.write_text(OWN + OWN[OWN.index("[[task]]") :].replace('"mine"', '"trec-ct-2021"'))
    wrong.write_text("[[task]]\n")
    known = known_tasks([wrong, ours])
    assert known["mine"].title == "My task"
    assert known["trec-ct-2021"].title == "TREC 2021 Clinical Trials"
    assert "WARNING: tasks of a plugin are left out" in capsys.readouterr().err
