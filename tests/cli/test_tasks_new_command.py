"""`platform tasks new`: from a run, topics and a few answers to an accepted folder."""

import pytest

from irplatform.tasks.catalogue.files import read_tasks


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "home"))
    (tmp_path / "topics").write_text("n-0\tHow does it begin?\nn-1\tHow does it end?\n")
    lines = [f"n-{t} Q0 shard_{r}_0 {r} {9 - r} us\n" for t in (0, 1) for r in (1, 2)]
    (tmp_path / "my.run").write_text("".join(lines))


def test_a_new_task_leads_from_files_to_an_accepted_folder(platform, files, tmp_path):
    outcome = platform(
        *("tasks", "new", "mine-2027", "--run", "my.run", "--topics", "topics"),
        *("--title", "My task 2027", "--file", "sent.tsv", "--dense-ranks", "--depth", "2"),
    )
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "home" / "tasks" / "mine-2027.toml").is_file()
    text = platform("tasks", "show", "mine-2027").out
    assert "Its rules were read on a day that is not known.\n" in text
    assert f"Rules without a number have no source in {tmp_path / 'home'}" in text
    answer = platform("submit", "prepare", "my.run", "--task", "mine-2027", "--out", "up")
    assert answer.code == 0, answer.err
    assert (tmp_path / "up" / "sent.tsv").read_bytes() == (tmp_path / "my.run").read_bytes()
    refused = platform(
        "tasks", "new", "x", "--run", "my.run", "--topics", "topics", "--deadline", "8"
    )
    assert (refused.code, "Write it as 2027-08-31." in refused.err) == (2, True)


def test_on_a_terminal_it_asks_for_what_is_not_given(platform, files, monkeypatch, tmp_path):
    questions = []
    answers = {"Most results": 7, "Full title": "Mine 2027"}

    def prompt(text, default, **_):
        questions.append(text)
        return next(
            (answer for start, answer in answers.items() if text.startswith(start)), default
        )

    monkeypatch.setattr("irplatform.cli.config.on_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", prompt)
    outcome = platform(
        "tasks", "new", "asked", "--run", "my.run", "--topics", "topics", "--runs", "3"
    )
    assert outcome.code == 0, outcome.err
    (task,) = read_tasks(tmp_path / "home" / "tasks" / "asked.toml")
    assert (task.title, task.rules.depth, task.rules.runs) == ("Mine 2027", 7, 3)
    assert not any(text.startswith("Most runs") for text in questions)


def test_two_runs_whose_files_are_called_alike_get_folders(platform, files, tmp_path):
    platform(
        "tasks", "new", "t-2099", "--run", "my.run", "--topics", "topics", "--file", "sent.tsv"
    )
    (tmp_path / "b.run").write_text((tmp_path / "my.run").read_text().replace(" us\n", " we\n"))
    outcome = platform("submit", "prepare", "my.run", "b.run", "--task", "t-2099", "--out", "up")
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "up" / "us" / "sent.tsv").is_file()
    assert (tmp_path / "up" / "we" / "sent.tsv").is_file()
