"""The `platform` command: finds its subcommands, and turns failures into messages and exit codes.

A subcommand's module is imported when the subcommand is used, so that `--help` stays quick.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from irplatform import __version__, interruptions, stdout
from irplatform.arithmetic import check_arithmetic
from irplatform.at_work import show_traceback
from irplatform.cli.failures import chain, explained, give_up_stdout, lost, refused
from irplatform.errors import InputError, PlatformError, PluginError, lacks_space, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from irplatform.registry.registration import Plugin

COMMANDS = {
    "run": ("run", "Take a collection to scored, reranked runs."),
    "search": ("search", "Show what a retriever finds for a topic or a query."),
    "explain": ("explain", "Say why a reranker puts a document where it does."),
    "index": ("index", "Build a collection's index, or say what is in it."),
    "train": ("train", "Train a reranker and keep the checkpoint."),
    "tune": ("tune", "Choose options on training topics."),
    "evaluate": ("evaluate", "Score TREC run files."),
    "reproduce": ("reproduce", "Run published results again, and compare."),
    "agree": ("agree", "Compare the orders that several sources give the same systems."),
    "fuse": ("fuse", "Fuse TREC runs, by their ranks or by their scores."),
    "submit": ("submit", "Check TREC run files before they are submitted."),
    "collections": ("collections", "List, show, check, name and build collections."),
    "qrels": ("qrels", "Build judgments from click logs and citations."),
    "concepts": ("concepts", "Build, show, check and export the document–concept graph."),
    "kb": ("kb", "Add, list, show and remove knowledge bases."),
    "rerankers": ("rerankers", "List rerankers and show their options."),
    "features": ("rerankers", "List groups of features and show their options."),
    "retrievers": ("rerankers", "List retrievers and show their options."),
    "bench": ("bench", "Measure how fast rerankers are."),
    "cache": ("cache", "List what the cache holds, and make room."),
    "plugins": (
        "plugins",
        "List installed plugins and what they provide, begin a new one, check one.",
    ),
}
"""Command → (its module here, its help in a line). The order is that of `--help`."""


class Commands(click.Group):
    """The subcommands: our own, loaded at first use, and those of plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our commands in our order, then those of plugins."""
        return [*COMMANDS, *sorted(super().list_commands(ctx))]

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a plugin's command, whose name nobody has yet."""
        if (command_name := name or cmd.name) in (*COMMANDS, *self.commands):
            raise PluginError(f"there is a command '{command_name}' already")
        super().add_command(cmd, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"irplatform.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        rows = [(name, summary) for name, (_, summary) in COMMANDS.items()]
        rows += [
            (name, command.get_short_help_str()) for name, command in sorted(self.commands.items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name; refuse options given twice."""
        from irplatform.cli.repeated import refuse_repeated
        from irplatform.errors import unknown

        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            names = [] if name == "help" else self.list_commands(ctx)
            raise unknown("command", name, names, hint="`platform --help` lists all.")
        resolved_name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            refuse_repeated(command, rest, ctx)
        return resolved_name, command, rest


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="platform")
def cli() -> None:
    """A search-evaluation platform for biomedical literature.

    \b
    platform run --reranker delta --collection demo
    """  # noqa: D301 - click wants the character \b, which keeps the line below it as it is


@cli.result_callback()
def _nothing(_returned: object) -> None:
    """What a command returns is no exit code: of a plugin's it may be anything."""


@interruptions.ending()
@stdout.of_a_command()
def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage or bad input.

    130 after Ctrl-C, 143 after SIGTERM.
    """
    from irplatform.cli.environment import misspelt, ready_streams
    from irplatform.registry import registry

    try:
        ready_streams()
        for warning in misspelt(os.environ):
            print(warning, file=sys.stderr)
        check_arithmetic()
        registry().add_commands(cli)
        _tell_of(registry().plugins)
        status = cli.main(standalone_mode=False)  # of `context.exit`; see `_nothing`
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        explained(error).show()
        sys.exit(error.exit_code)
    except PlatformError as error:
        show_traceback(error)
        print(f"platform: {printable(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        print(
            "platform: interrupted; what was finished is kept, and the same command goes on from "
            f"there.{lost(error)}",
            file=sys.stderr,
        )
        terminated = any(isinstance(e, interruptions.Terminated) for e in chain(error))
        sys.exit(143 if terminated else 130)
    except BrokenPipeError:
        give_up_stdout()
        sys.exit(1)
    except Exception as error:  # some say only in words that a disk is full
        if not (message := refused(error)):
            raise
        show_traceback(error)
        print(f"platform: {message}", file=sys.stderr)
        if lacks_space(error):
            give_up_stdout()
        # A full disk, or what another command removed, is no wrong usage.
        failed = lacks_space(error) or isinstance(error, FileNotFoundError)
        sys.exit(PlatformError.exit_code if failed else InputError.exit_code)


def _tell_of(plugins: Iterable[Plugin]) -> None:
    """Name the plugins that something is wrong with."""
    for plugin in plugins:
        if plugin.error:
            print(f"{plugin} is not used: {plugin.error}", file=sys.stderr)
        if plugin.wrong:
            print(f"{plugin}: {plugin.wrong}", file=sys.stderr)
