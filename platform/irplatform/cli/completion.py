"""`platform completion SHELL`: the script of a shell that completes commands, options and names.

At the tab key, the shell calls `platform` with the typed words in environment variables.
"""

from __future__ import annotations

import contextlib
import os
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    add_completion_class,
    get_completion_class,
    shell_complete,
)

from irplatform.cli.commands import command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

_VARIABLE = "_PLATFORM_COMPLETE"
_PROGRAM = "platform"
_BREAKS = frozenset(":=@")


@add_completion_class
class _Bash(BashComplete):
    """Joins words that bash splits at ":", "=" and "@", as in nDCG@10 and FOLDER:train."""

    _typed = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        goes_on = False
        for word in [*args, incomplete]:
            breaks = bool(word) and _BREAKS.issuperset(word)
            if words and (breaks or goes_on):
                words[-1] += word
            else:
                words.append(word)
            goes_on = breaks
        argument = words.pop() if words else ""
        if argument != incomplete:  # bash replaces what follows the last break, and an "@" itself
            value = argument.partition("=")[2] if argument.startswith("-") else argument
            place = max(map(value.rfind, _BREAKS))
            self._typed = value[: place + (value[place] != "@")] if place >= 0 else ""
        return words, argument

    def format_completion(self, item: CompletionItem) -> str:
        item.value = item.value.removeprefix(self._typed)
        return super().format_completion(item)


@add_completion_class
class _Fish(FishComplete):
    """Keeps commas in lists, where click's script ends a word."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


def complete(cli: click.Group, instruction: str, commands: Iterable[str]) -> int:
    """Answer a shell's request, such as bash_complete, and return the exit code.

    These `commands` need no plugins.
    """
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        try:
            words = os.environ.get("COMP_WORDS", "").split()
            if words[1:2] not in [[name] for name in commands] and _third_party_plugins():
                from irplatform.registry.loading import registry

                registry().add_commands(cli)
            return shell_complete(cli, {}, _PROGRAM, _VARIABLE, instruction)
        except Exception:
            return 1


def _third_party_plugins() -> bool:
    points = metadata.entry_points(group="irplatform")
    return any(point.dist is None or point.dist.name != "irplatform" for point in points)


@command('eval "$(platform completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and names in your shell.

    To install it, add `eval "$(platform completion bash)"` to ~/.bashrc, the same with zsh to
    ~/.zshrc, or write the output for fish to ~/.config/fish/completions/platform.fish.
    """
    script = get_completion_class(shell) or _Bash
    click.echo(script(context.find_root().command, {}, _PROGRAM, _VARIABLE).source())
