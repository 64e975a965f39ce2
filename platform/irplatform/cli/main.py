"""The `platform` command: its subcommands, and messages and exit codes of failures.

A subcommand's module is imported when the subcommand is used: `--help` stays quick.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from irplatform.cli.commands import Group, write_examples
from irplatform.cli.failures import (
    check_usage,
    explained,
    give_up_files,
    give_up_stdout,
    refused,
)
from irplatform.errors import (
    InputError,
    PlatformError,
    PluginError,
    chain,
    disk_failed,
    lacks_resources,
    lacks_space,
    lost,
    nearest,
    show_traceback,
    unknown,
)
from irplatform.system import console, process
from irplatform.system.arithmetic import check_arithmetic
from irplatform.system.console import notice
from irplatform.version import __version__

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from click.shell_completion import CompletionItem


_WIDEST = 160
"""Most columns of help; click's limit is 80."""
SECTIONS = {
    "Rank": {
        "run": ("run", "Search a collection, rerank the results and score them."),
        "search": ("search", "Show what a retriever finds for a topic or a query."),
        "explain": ("search", "Explain why a reranker ranks a document where it does."),
        "index": ("search", "Build a collection's index, or describe it."),
        "serve": ("serve", "Serve search, rerank and explain over HTTP or MCP."),
        "train": ("train", "Train a reranker and keep the checkpoint."),
        "tune": ("tune", "Tune options on training topics."),
        "fuse": ("fuse", "Fuse TREC runs."),
        "tira": ("tira", "Rank the input of a TIRA sandbox."),
    },
    "Score": {
        "evaluate": ("evaluate", "Score TREC run files."),
        "compare": ("compare", "Compare TREC run files: which is better, where, and how sure."),
        "report": ("report", "Write a comparison of runs to one HTML file."),
        "agree": (
            "agree",
            "Compare sources of judgments by systems, and judges by grades.",
        ),
        "cite": ("cite", "Print BibTeX of what runs used."),
        "verify": ("verify", "Check that runs are as their metadata say."),
        "rerun": ("verify", "Make a run again from its metadata, and compare."),
        "reproduce": ("reproduce", "Run published results again and compare."),
        "bench": ("rerankers", "Measure how fast rerankers are."),
        "submit": ("submit", "Check, fix and prepare runs for submission."),
        "tasks": ("tasks", "List shared tasks and show their rules."),
    },
    "Collections and knowledge": {
        "collections": ("collections", "List, show, check, name and build collections."),
        "headings": ("headings", "Build queries of MeSH headings, to pre-train on."),
        "judge": ("judge", "Judge the documents of a pool in the browser."),
        "qrels": ("qrels", "Build judgments from click logs and citations; pools to judge."),
        "concepts": ("concepts", "Build, show, check and export the document–concept graph."),
        "kb": ("kb", "Add, list, show and remove knowledge bases."),
    },
    "Manage": {
        "rerankers": ("rerankers", "List rerankers and show their options."),
        "retrievers": ("rerankers", "List retrievers and show their options."),
        "features": ("rerankers", "List feature groups and show their options."),
        "judges": ("rerankers", "List machines that judge and show their options."),
        "plugins": ("plugins", "List, create and check plugins."),
        "cache": ("cache", "List, remove and verify what the cache holds."),
        "config": ("config", "Keep your name, team and repository for metadata."),
        "doctor": ("doctor", "Check the installation, and say how to fix it."),
        "completion": ("completion", "Complete commands and names in your shell."),
    },
}
"""Heading → command → (its module here, its help in a line). The order is that of `--help`."""
COMMANDS = {name: entry for commands in SECTIONS.values() for name, entry in commands.items()}
_WITHOUT_PLUGINS = {"--version", "cache", "completion", "kb"}
"""Commands that need no plugin, and load none."""
_WITHOUT_FILES = {*_WITHOUT_PLUGINS, "concepts", "config", "doctor", "fuse", "submit"}
"""Commands that take no plugin in a file."""
_MEANT = {
    "version": "`platform --version` shows the version.",
    "help": "`platform --help` lists all.",
    "citation citations bibtex": "Did you mean 'cite'?",
    "rank rerank": "Did you mean 'run'?",
    "retrieve query": "Did you mean 'search'?",
    "score eval": "Did you mean 'evaluate'?",
    "fit": "Did you mean 'train'?",
    "dataset datasets data": "`platform collections list` lists what has a name.",
    "download": "`platform collections download NAME` downloads a collection.",
    "build": "`platform collections build` builds collections, `platform index` an index.",
    "model models": "`platform rerankers list` lists them.",
    "metrics measures": "--measure takes ir-measures' names, such as nDCG@20,AP.",
    "clean clear": "`platform cache remove` makes room.",
}
"""Words that are not commands → what to do instead."""


class Commands(Group):
    """The subcommands: our own, loaded at first use, and those of plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List our commands in our order, then those of plugins."""
        return [*COMMANDS, *sorted(super().list_commands(ctx))]

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a plugin's command; PluginError if another one has its name."""
        command_name = name or cmd.name or ""
        if command_name in COMMANDS or self.commands.get(command_name, cmd) is not cmd:
            raise PluginError(f"there is a command '{command_name}' already")
        super().add_command(cmd, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"irplatform.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        _add_common(command, plugins=cmd_name not in _WITHOUT_FILES)
        return command

    def summaries(self) -> dict[str, dict[str, str]]:
        """Return the commands and their help in a line, by heading, without an import."""
        added = {name: command.get_short_help_str() for name, command in self.commands.items()}
        sections = {
            title: {name: summary for name, (_, summary) in commands.items()}
            for title, commands in SECTIONS.items()
        }
        return {**sections, "Of plugins": dict(sorted(added.items()))}

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(_EXAMPLES, formatter)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in sections of equal columns."""
        sections = self.summaries()
        widest = max(len(name) for rows in sections.values() for name in rows)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(widest), text) for name, text in rows.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name, or an option."""
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=summary)
            for rows in self.summaries().values()
            for name, summary in rows.items()
            if name.startswith(incomplete)
        ] or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; refuse usage that click ignores."""
        resolved_name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            check_usage(command, rest, ctx)
        return resolved_name, command, rest

    def no_command(self, name: str, names: list[str], path: str) -> InputError:
        """Return the error for an unknown command, with the right one."""
        for words, meant in _MEANT.items():
            if name.lower() in words.split():
                return InputError(f"unknown command '{name}'. {meant}")
        near = [*filter(None, [nearest(name, names)])]
        return unknown("command", name, near, hint=f"`{path} --help` lists all.")


_EXAMPLES = (
    "platform run --collection demo --reranker delta",
    "platform search --collection demo --query 'lung cancer'",
    "platform evaluate --collection demo runs/demo/bm25.run runs/demo/delta.run",
)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST},
    epilog="`platform COMMAND --help` explains a command.",
)
@click.version_option(__version__, prog_name="platform")
def cli() -> None:
    """A search-evaluation platform for biomedical literature."""
    console.set_level(console.NORMAL)


def _add_common(command: click.Command, *, plugins: bool) -> None:
    """Add --quiet, --verbose, and perhaps --plugin, to a command or to those of a group."""
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            _add_common(subcommand, plugins=plugins)
    elif not any(parameter.name == "quiet" for parameter in command.params):
        command.params += [
            _verbosity(
                "-q", "--quiet", console.QUIET, "Show no progress, and no notices except warnings."
            ),
            _verbosity("-v", "--verbose", console.VERBOSE, "Also show what comes from the cache."),
            *([_plugin_option()] if plugins else []),
        ]


def _plugin_option() -> click.Option:
    """Declare --plugin; it is read before options that name systems."""

    def load(_context: click.Context, _option: click.Parameter, files: tuple[Path, ...]) -> None:
        for file in files:
            from irplatform.registry.session import load_plugin

            load_plugin(file)

    return click.Option(
        ["--plugin"],
        type=click.Path(path_type=Path),
        multiple=True,
        is_eager=True,
        expose_value=False,
        callback=load,
        help="A Python file with a plugin, or classes of rerankers and retrievers; repeatable.",
    )


def _verbosity(short: str, long: str, level: int, text: str) -> click.Option:
    def set_level(_context: click.Context, _option: click.Parameter, given: bool) -> None:
        if given:
            console.set_level(level)

    return click.Option(
        [short, long], is_flag=True, expose_value=False, callback=set_level, help=text
    )


@cli.result_callback()
def _nothing(_returned: object) -> None:
    """Ignore what a plugin's command returns: it is not an exit code."""


@process.command()
def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage or bad input.

    130 after Ctrl-C, 143 after SIGTERM.
    """
    if instruction := os.environ.get("_PLATFORM_COMPLETE"):  # a shell asks
        from irplatform.cli.completion import complete

        sys.exit(complete(cli, instruction, COMMANDS))

    messages: list[str] = []
    try:
        ready_streams()
        ready_home()
        # ir-measures imports cwl, whose escapes Python warns of when it compiles the module.
        warnings.filterwarnings("ignore", category=SyntaxWarning, module=r".*\bcwl\b")
        check_arithmetic()
        messages = _load_plugins()
        status = cli.main(prog_name="platform", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        console.tell(_beginning(error.ctx) if error.ctx.parent is None else error.format_message())
        sys.exit(error.exit_code)
    except click.ClickException as error:
        console.tell(f"platform: {explained(error)}")
        sys.exit(error.exit_code)
    except PlatformError as error:
        show_traceback(error)
        if str(error) not in messages:
            console.tell(f"platform: {error}")
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        console.tell(process.interrupted(lost(error)))
        terminated = any(isinstance(e, process.Terminated) for e in chain(error))
        sys.exit(143 if terminated else 130)
    except BrokenPipeError:
        give_up_stdout()
        sys.exit(1)
    except BaseException as error:  # polars raises errors that are not an Exception
        if isinstance(error, SystemExit) or not (message := refused(error)):
            raise
        show_traceback(error)
        console.tell(f"platform: {message}")
        if lacks_space(error):
            give_up_stdout()
        give_up_files()
        lacks_file = isinstance(error, FileNotFoundError)
        failed = any(f(error) for f in (lacks_space, disk_failed, lacks_resources)) or lacks_file
        sys.exit(PlatformError.exit_code if failed else InputError.exit_code)


def _beginning(context: click.Context) -> str:
    """The program and how to begin, in less than a screen."""
    formatter = context.make_formatter()
    formatter.write(f"""{cli.help}

Try it on the demo collection:
  {_EXAMPLES[0]}

Then check and rank your own documents:
  platform collections check path/to/folder
  platform run --collection path/to/folder --reranker delta
""")
    with formatter.section("Commands"):
        sections = cli.summaries().items()
        formatter.write_dl([(title, ", ".join(names)) for title, names in sections if names])
    formatter.write_paragraph()
    formatter.write(
        "`platform --help` describes them, `platform COMMAND --help` shows their options."
    )
    return formatter.getvalue()


def _load_plugins() -> list[str]:
    """Add the commands of plugins, if needed; show and return warnings about plugins."""
    if _WITHOUT_PLUGINS.intersection(sys.argv[1:2]):
        return []
    with console.waiting("starting"):
        from irplatform.registry.loading import registry

        registry().add_commands(cli)
    messages = []
    for plugin in registry().plugins:
        if plugin.error:
            messages.append(f"{plugin} is not used: {plugin.error}")
        if plugin.wrong:
            messages.append(f"{plugin}: {plugin.wrong}")
    for message in messages:
        console.tell(message)
    return messages


class _Lossy(io.FileIO):
    """A stream of messages, which a full disk or a closed pipe may lose without an error."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def ready_home() -> None:
    """Set a home folder for a user without one, as in containers; libraries keep files there."""
    if os.path.isabs(os.path.expanduser("~")):  # noqa: PTH111, PTH117 - Path raises an error
        return
    import tempfile

    home = Path(tempfile.gettempdir()) / f"irplatform-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        home = Path(tempfile.mkdtemp(prefix="irplatform-"))
    os.environ["HOME"] = str(home)
    os.environ.setdefault("USER", str(os.getuid()))
    notice(f"this user has no home folder; {home} is used instead. Set HOME to change it.")


def ready_streams() -> None:
    """Prepare streams so that printing does not fail after hours of work.

    A closed stream leads nowhere. Characters that stdout cannot encode are escaped.
    """
    if isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty():
        with suppress(OSError):  # streams of tests and notebooks have no number
            raw = io.BufferedWriter(_Lossy(sys.stderr.fileno(), "w", closefd=False))
            sys.stderr = io.TextIOWrapper(
                raw, sys.stderr.encoding, errors="backslashreplace", write_through=True
            )
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - never closed
            setattr(sys, name, nowhere)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
