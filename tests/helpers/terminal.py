"""Commands on a pseudo-terminal, and what they write there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from dataclasses import dataclass

_PLATFORM = (sys.executable, "-m", "irplatform")


@dataclass(frozen=True)
class Shown:
    """What a command wrote to its terminal, and how it ended.

    Attributes:
        text: all that it wrote, escape sequences included.
        status: its exit code.
        seconds: from Ctrl-C, or else from its start, to its end.
    """

    text: str
    status: int
    seconds: float

    @property
    def screen(self) -> list[str]:
        """The lines that are left, where only a line's own text was painted over."""
        lines = re.sub(r"\x1b\[\d*m", "", self.text).replace("\r\n", "\n").split("\n")
        return [re.split(r"\r|\x1b\[K", line)[-1] for line in lines]


def on_terminal(
    *arguments: object,
    columns: int = 80,
    interrupt_at: str | None = None,
    limit: float = 300,
    **environment: str,
) -> Shown:
    """Run `platform` on a terminal.

    Args:
        arguments: those of the command.
        columns: the terminal's width.
        interrupt_at: a pattern; Ctrl-C is typed as soon as it is written.
        limit: seconds after which the command is killed.
        environment: variables to set.
    """
    command = [*_PLATFORM, *map(str, arguments)]
    process, terminal = pty.fork()
    if process == 0:
        os.execve(command[0], command, {**os.environ, "TERM": "xterm", **environment})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    began, typed, output = time.monotonic(), False, bytearray()
    while time.monotonic() - began < limit:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        output += data
        if interrupt_at and not typed and re.search(interrupt_at, output.decode(errors="replace")):
            os.write(terminal, b"\x03")
            began, typed = time.monotonic(), True
    else:
        os.kill(process, 9)
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    seconds = time.monotonic() - began
    return Shown(output.decode(errors="replace"), os.waitstatus_to_exitcode(status), seconds)
