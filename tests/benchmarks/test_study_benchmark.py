"""The benchmark of a study spells its commands as they are, and says why it has no peer."""

import sys

import click
import pytest

from irplatform.cli.main import cli


@pytest.fixture
def study_commands(tmp_path):
    """The words of each command, by part."""
    from study import commands

    return commands(str(tmp_path), tmp_path / "runs")


def test_every_command_can_be_parsed(study_commands):
    for words in study_commands.values():
        command = cli.get_command(click.Context(cli), words[0])
        command.make_context(words[0], words[1:])


@pytest.mark.parametrize(
    ("python", "reason"),
    [("/no/such/python", "No such file"), (sys.executable, "lacks pyterrier_none: give another")],
)
def test_a_peer_that_is_missing_has_a_reason(python, reason, monkeypatch):
    import study

    monkeypatch.setattr(study, "PACKAGES", ("click", "pyterrier_none"))
    assert reason in study.missing(python)


def test_a_python_with_the_packages_is_a_peer(monkeypatch):
    import study

    monkeypatch.setattr(study, "PACKAGES", ("click",))
    assert study.missing(sys.executable) is None
