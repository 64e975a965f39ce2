"""An option that takes one value is given once; a word too many is told where it belongs."""

import click
import pytest

from irplatform.cli.main import cli
from irplatform.cli.usage import check_usage
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
        ("run mydata", "'mydata' belongs to no option. Did you mean --collection mydata?"),
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
    told = platform("index", "--collection", "demo", "now")
    assert (told.code, "unexpected extra argument (now)" in told.err) == (2, True)
    assert platform("run", "mydata", "--help").code == 0


def test_the_command_of_a_plugin_is_looked_at_too(platform, monkeypatch):
    monkeypatch.setitem(cli.commands, "strange", group)
    outcome = platform("strange", "do", "--name", "a", "--name", "b")
    assert outcome.code == 2
    assert "--name takes one value, but is given 2 times." in outcome.err
