"""An option that takes one value is given once; a word too many is told where it belongs."""

import re

import click
import pytest

from irplatform.cli.failures import check_usage
from irplatform.cli.main import COMMANDS, cli
from irplatform.errors import InputError


@click.group()
@click.option("--place")
def group(place):
    """A group."""


@group.command()
@click.option("-n", "--name", nargs=1)
@click.option("--pair", nargs=2)
@click.option("--many", multiple=True)
@click.option("-v", "--verbose", count=True)
@click.option("--resume/--no-resume")
@click.argument("files", nargs=-1)
def do(**_):
    """A command of it."""


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("--name a --name a", "--name"),
        ("file -na -n b file --name=c", "--name"),
        ("--pair a b --pair c d", "--pair"),
    ],
)
def test_an_option_that_takes_one_value_is_refused_twice(arguments, option):
    with pytest.raises(InputError, match=f"{option} takes one value, but is given"):
        check_usage(do, arguments.split(), click.Context(cli))


@pytest.mark.parametrize(
    "arguments",
    [
        "--many a --many a",
        "--resume --no-resume --resume",
        "-vv -v",
        "--name a -- --name b",
        "--name a --pair --name b",
        "--name a --unknown --name b",
    ],
)
def test_all_else_is_left_to_the_command(arguments):
    check_usage(do, arguments.split(), click.Context(cli))


def test_commands_of_groups_are_looked_into():
    context = click.Context(cli)
    check_usage(group, ["--place", "a", "do", "--name", "a"], context)
    check_usage(group, ["nothing", "--name", "a", "--name", "b"], context)
    for arguments in ("--place a --place b do", "--place a do --name a --name b"):
        with pytest.raises(InputError):
            check_usage(group, arguments.split(), context)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run mydata", "'mydata' has no option. Did you mean --collection mydata?"),
        ("run --depth 5 mydata", "Did you mean --collection mydata?"),
        ("index mydata", "Did you mean --collection mydata?"),
        ("search --collection demo lung cancer", "Did you mean --query 'lung cancer'?"),
        ("search mydata", "Did you mean --collection mydata?"),
        ("run --collection demo --reranker delta drmm", "Did you mean --reranker delta,drmm?"),
        ("run --collection demo --reranker=delta drmm", "Did you mean --reranker delta,drmm?"),
        ("run --reranker delta delta", "Did you mean --reranker delta,delta?"),
        ("run --reranker delta --tag demo demo", "Did you mean --collection demo?"),
        ("run --collection demo --measure AP P@5 R@9", "Did you mean --measure AP,P@5,R@9?"),
    ],
)
def test_a_word_without_its_option_is_told_where_it_belongs(platform, arguments, message):
    outcome = platform(*arguments.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_word_that_belongs_nowhere_is_left_to_click(platform):
    outcome = platform("index", "--collection", "demo", "now")
    assert (outcome.code, "unexpected extra argument (now)" in outcome.err) == (2, True)
    assert platform("run", "mydata", "--help").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run --rerankr delta", "no option --rerankr. Did you mean --reranker?"),
        ("run --collection demo --qq", "no option --qq. `platform run --help` explains it."),
        ("--reranker delta", "no option --reranker. Put a command's options after the command."),
        ("run --reranker", "--reranker requires an argument."),
        ("run", "--collection COLLECTION,… is missing. `platform run --help` explains it."),
        ("plugins new", "NAME is missing. `platform plugins new --help` explains it."),
        ("evaluate", "RUNS is missing. `platform evaluate --help` explains it."),
        ("run --depth many", "--depth: 'many' is not a whole number."),
        ("search --device best", "no option --device. `platform search --help` explains it."),
        ("evaluate a --relevant all", "--relevant: 'all' is not one of 'seen', 'unseen'."),
        ("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'."),
        ("index --json=3", "--json does not take a value."),
    ],
)
def test_a_wrong_option_is_told_in_a_line(platform, arguments, message):
    outcome = platform(*arguments.split())
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"platform: {message}\n")


def test_an_option_with_one_dash_is_told_its_second(platform, monkeypatch):
    monkeypatch.setattr("sys.argv", ["platform", "run", "-collection", "demo"])
    outcome = platform("run", "-collection", "demo")
    assert outcome.err == "platform: no option -c. Did you mean --collection?\n"


def test_without_a_command_it_says_how_to_begin_in_a_screenful(platform):
    outcome = platform()
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert "  platform run --collection demo --reranker delta" in lines
    assert len(lines) <= 22 and max(map(len, lines)) <= 80
    assert set(COMMANDS) <= set(re.findall(r"[\w-]+", outcome.err))
    assert platform("rerankers").err.startswith("Usage: platform rerankers")


def test_the_command_of_a_plugin_is_looked_at_too(platform, monkeypatch):
    monkeypatch.setitem(cli.commands, "strange", group)
    outcome = platform("strange", "do", "--name", "a", "--name", "b")
    assert outcome.code == 2
    assert "--name takes one value, but is given 2 times." in outcome.err
