"""The file of a new task, from its topics, a run and a few answers."""

import json
import re
from datetime import date

import pytest

from irplatform.errors import InputError
from irplatform.tasks.catalogue.files import read_tasks
from irplatform.tasks.catalogue.writing import id_ranges, pattern_of, task_file
from irplatform.tasks.upload import prepare_runs

DAY = date(2026, 11, 30)
TOPICS = {
    "tsv": "n-0\tHow does it begin?\nn-1\tHow does it end?\n",
    "jsonl": "".join(
        json.dumps(
            {"request_id": f"n-{n}", "title": "A", "background": "B", "problem_statement": "C"}
        )
        + "\n"
        for n in (0, 1)
    ),
    "trec-pm": '<topics><topic number="n-0"><disease>melanoma</disease><gene>BRAF</gene></topic>'
    '<topic number="n-1"><disease>glioma</disease><gene>IDH1</gene></topic></topics>',
    "trec": "<top><num> n-0 <title> begin </top>\n<top><num> n-1 <title> end </top>\n",
    "bioasq": json.dumps({"questions": [{"id": f"n-{n}", "body": "Why?"} for n in (0, 1)]}),
}
QUERIES = {"jsonl": "{title} {background} {problem_statement}", "trec-pm": "{disease} {gene}"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))

    def files(topics="tsv", documents=("shard_00459_61697", "shard_01012_88420")):
        (tmp_path / "topics").write_text(TOPICS[topics])
        lines = [
            f"n-{topic} Q0 {document} {rank} {9 - rank} us\n"
            for topic in (0, 1)
            for rank, document in enumerate(documents, start=1)
        ]
        (tmp_path / "my.run").write_text("".join(lines))
        return tmp_path / "my.run", tmp_path / "topics"

    return files


@pytest.mark.parametrize("name", TOPICS)
def test_the_format_and_the_query_of_topics_are_found(files, tmp_path, name):
    run, topics = files(name)
    (tmp_path / "t.toml").write_text(task_file("t", run, topics, {}, day=DAY))
    (task,) = read_tasks(tmp_path / "t.toml")
    assert (task.rules.topic_format, task.topic_ids) == (name, ("n-0", "n-1"))
    assert task.rules.query == QUERIES.get(name, task.rules.query)
    assert task.rules.documents == "shard_[0-9]+_[0-9]+"
    assert (task.read, task.sources) == (None, {})


def test_answers_are_rules_of_a_page_that_was_read_today(files, tmp_path):
    answers = {"title": "Task 2027", "place": "https://example.org", "depth": 100}
    text = task_file("t", *files(), answers | {"deadline": date(2027, 8, 8)}, day=DAY, dense=True)
    (tmp_path / "t.toml").write_text(text)
    (task,) = read_tasks(tmp_path / "t.toml")
    assert (task.title, task.read, task.year) == ("Task 2027", DAY, 2027)
    assert (task.rules.depth, task.rules.deadline) == (100, date(2027, 8, 8))
    assert task.rules.ranks == ["from 1", "in order", "dense"]
    assert "# As you know it. Add the sentence that says it.\n[[task.rules]]\n" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tag": "("}, "'tag' is not a regular expression"),
        ({"file": "{name}"}, "'file' has {name}; known are"),
    ],
)
def test_an_answer_that_is_no_rule_is_refused(files, change, message):
    with pytest.raises(InputError) as error:
        task_file("t", *files(), change, day=DAY)
    assert message in str(error.value)


def test_files_that_do_not_fit_are_refused(files, tmp_path):
    run, topics = files()
    run.write_text("other Q0 d 1 1 us\n")
    with pytest.raises(InputError, match="topics that the file of topics lacks: other"):
        task_file("t", run, topics, {}, day=DAY)
    topics.write_text("no topics here\n")
    with pytest.raises(InputError, match="the format of these topics is none of bioasq, trec-pm"):
        task_file("t", run, topics, {}, day=DAY)


@pytest.mark.parametrize(
    ("ids", "ranges"),
    [
        (["1", "2", "3"], "1-3"),
        (["a-2", "a-1"], "a-{1-2}"),
        (["1", "3"], None),
        (["01", "02"], "0{1-2}"),
        (["09", "10"], None),
        (["a1", "b2"], None),
        (["x"], None),
    ],
)
def test_ids_in_a_row_are_ranges(ids, ranges):
    assert id_ranges(ids) == ranges


@pytest.mark.parametrize(
    ("ids", "pattern"),
    [
        (["26088450", "1"], "[0-9]+"),
        (["NCT00000001"], "NCT[0-9]+"),
        (["a#1_2", "b#3_4"], "a\\#[0-9]+_[0-9]+|b\\#[0-9]+_[0-9]+"),
        (["ug7v899j", "02tnwd4m", "ejv2xln0", "1zz"], "[a-z0-9]+"),
        (["A-1", "b/2", "c.d", "E:F:G"], "[A-Za-z0-9\\-\\./:]+"),
    ],
)
def test_a_pattern_fits_all_ids(ids, pattern):
    assert pattern_of(ids) == pattern
    assert all(re.fullmatch(pattern, name) for name in ids)


def test_a_tag_never_leads_out_of_the_folder(files, tmp_path):
    run, topics = files()
    (tmp_path / "t.toml").write_text(task_file("t", run, topics, {"tag": r"\S+"}, day=DAY))
    run.write_text(run.read_text().replace(" us\n", " ../../us\n"))
    with pytest.raises(InputError, match=r"the file '\.\./\.\./us' would lie outside"):
        prepare_runs(run, tmp_path / "up", task=str(tmp_path / "t.toml"))
    assert not (tmp_path / "up").exists()
