"""What the commands of a call have given, kept for one that goes on after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.journal import append_journal, read_journal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Finished:
    """What commands printed, in a file, for a call that goes on after an interruption.

    A command is known by its words and by the data that it was run on.

    Attributes:
        runs: the folder for their run files.
    """

    def __init__(self, path: Path, *, resume: bool, runs: Path) -> None:
        self.runs = runs
        self._path = path
        if not resume:
            path.unlink(missing_ok=True)
        self.done: dict[str, Mapping[str, Any]] = dict(
            read_journal(path, lambda line: (line["command"], line["report"]))
        )

    def report(self, command: str) -> Mapping[str, Any] | None:
        """What a command printed, if it is done."""
        return self.done.get(command)

    def add(self, command: str, report: Mapping[str, Any]) -> None:
        """Keep what a command printed; one that failed is kept for this call only."""
        self.done[command] = report
        if "error" not in report:
            append_journal(self._path, [{"command": command, "report": report}])

    def remove(self) -> None:
        """Forget: all is done."""
        self._path.unlink(missing_ok=True)
