"""Help: options and commands in groups, with examples that work, as wide as the terminal."""

import shlex

import click
import pytest

from irplatform.cli.commands import option_groups
from irplatform.cli.main import COMMANDS, SECTIONS, cli

GROUPS_OF_RUN = ["What to run", "First stage", "Reranking", "Learning", "Output", "Machine"]
MANY = 10
"""Options that a list without headings can have."""


def _commands(group, context, path=""):
    """Every command that can be called, by its name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, inner, f"{path}{name} ")
        else:
            yield path + name, command


ALL = dict(_commands(cli, click.Context(cli, info_name="platform")))


def _options(command):
    return [option for option in command.params if isinstance(option, click.Option)]


def test_the_options_of_run_stand_in_groups_with_an_example_each(platform):
    lines = platform("run", "--help").out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    examples = [heading for heading in headings if ", for example --" in heading]
    assert [heading.split(",")[0] for heading in examples] == GROUPS_OF_RUN
    assert headings == ["Examples:", *examples, "Other:"]
    assert lines[-1].endswith("Show this message and exit.")


@pytest.mark.parametrize("command", ALL.values(), ids=[*ALL])
def test_many_options_stand_in_groups(command):
    options = [o for o in _options(command) if o.name not in {"quiet", "verbose", "plugin"}]
    titles = [*option_groups(options)]
    assert len(titles) > 1 or len(options) <= MANY
    assert "Other" not in titles


@pytest.mark.parametrize("command", ALL.values(), ids=[*ALL])
def test_examples_are_calls_that_the_command_takes(command):
    for line in command.examples:
        words = shlex.split(line)
        if words[:1] == ["eval"]:
            continue
        assert words[0] == "platform"
        subcommand = cli
        arguments = words[1:]
        while isinstance(subcommand, click.Group):
            subcommand = subcommand.get_command(click.Context(cli), arguments.pop(0))
        subcommand.make_context("example", arguments).close()
    for option in _options(command):
        if example := vars(option).get("example"):
            values, rest, order = command.make_parser(click.Context(command)).parse_args(
                shlex.split(example)
            )
            assert not rest
            for parameter in (o for o in order if isinstance(o, click.Option)):
                parameter.type_cast_value(click.Context(command), values[parameter.name])


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("arguments", ["--help", "run --help", "qrels simulate-clicks --help"])
def test_help_is_as_wide_as_the_terminal(platform, monkeypatch, arguments, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = platform(*arguments.split()).out.splitlines()
    wrapped = [line for line in lines if "platform" not in line and ", for example" not in line]
    widest = max(map(len, wrapped))
    assert widest <= width
    assert arguments == "--help" or widest > width - 12


def test_the_examples_fit_80_columns():
    lines = [f"  {line}" for command in ALL.values() for line in command.examples]
    headings = [
        f"{title}, for example {vars(option)['example']}:"
        for command in ALL.values()
        for title, options in option_groups(_options(command)).items()
        for option in options
        if "example" in vars(option)
    ]
    assert {line for line in [*lines, *headings] if len(line) > 80} == set()


def test_options_of_one_group_need_no_heading():
    one, two = (click.Option([name]) for name in ("--one", "--two"))
    vars(one)["group"] = "First"
    assert option_groups([one]) == {"Options": [one]}
    assert option_groups([one, two]) == {"First": [one], "Other": [two]}
    assert option_groups([]) == {}


@pytest.mark.parametrize("command", ["evaluate", "kb add"])
def test_arguments_are_no_options(platform, command):
    lines = platform(*command.split(), "--help").out.splitlines()
    assert not any(line.startswith(("  RUNS", "  NAME", "  FILES")) for line in lines)
    assert lines[-1].endswith("Show this message and exit.")


def test_a_group_lists_commands_with_their_whole_sentence(platform):
    text = " ".join(platform("cache", "--help").out.split())
    assert "list List what the cache holds, by kind; with --kind or " in text
    assert "..." not in text.partition("Commands:")[2]


def test_commands_stand_in_sections(platform):
    sections = platform("--help").out.split("\n\n")
    sections_by_title = {part.splitlines()[0]: part for part in sections}
    for title, commands in SECTIONS.items():
        assert [line.split()[0] for line in sections_by_title[f"{title}:"].splitlines()[1:]] == [
            *commands
        ]
    assert len(sections_by_title["Examples:"].splitlines()) == 4


def test_commands_of_plugins_have_a_section_of_their_own(platform, monkeypatch):
    command = click.Command("shelve", help="Put books on shelves.")
    monkeypatch.setitem(cli.commands, "shelve", command)
    (section,) = (p for p in platform("--help").out.split("\n\n") if p.startswith("Of plugins:"))
    rows = [line.split(maxsplit=1) for line in section.splitlines()[1:]]
    assert ["shelve", "Put books on shelves."] in rows


def test_each_command_says_in_a_line_what_it_does():
    assert all(0 < len(summary) <= 64 for _, summary in COMMANDS.values())
