"""The type of options and arguments that name a file or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irplatform.errors import InputError

if TYPE_CHECKING:
    import os


class NamedPath(click.Path):
    """A path that is not empty.

    An empty one, as of a shell's variable that is not set, would be the current folder.
    """

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path.

        Raises:
            InputError: it is empty.
        """
        if value == "":
            name = param.opts[0] if isinstance(param, click.Option) else "a path"
            raise InputError(f"{name} is empty; name a file or a folder.")
        return super().convert(value, param, ctx)


PATH = NamedPath(path_type=Path)
"""Of whatever there is, or is to be made."""
