"""Calls the command line in this process, as a user would from a folder of their own."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from irplatform.cli.main import main
from irplatform.system.packages import EXTRAS, absent

_NEEDS = re.compile(r"needs [\w-]+\. Run pip install 'irplatform\[(?:\w+,)*(\w+)\]'")


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> Outcome:
    """Run `platform ARGUMENTS…`."""
    monkeypatch.setattr(sys, "argv", ["platform", *map(str, arguments)])
    capsys.readouterr()
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    if (need := _NEEDS.search(printed.err)) and absent(*EXTRAS[need[1]]):
        pytest.skip(f"the extra '{need[1]}' is not installed")
    return Outcome(code, printed.out, printed.err)
