"""What workers of a cluster do in tests; a module that they can import."""

import os
import signal
import time
from pathlib import Path

from irplatform.files.cache import artifact, at_hand
from irplatform.files.writing import home


def home_of(place, _item):
    _meet(place)
    return str(home())


def _meet(place):
    """Wait until both machines work, so that neither does all items alone."""
    folder = Path(place)
    (folder / str(home()).replace("/", "-")).touch()
    until = time.monotonic() + 60
    while len([*folder.iterdir()]) < 2 and time.monotonic() < until:
        time.sleep(0.01)


def end_once(place, item):
    """Kill this worker at the item 3, the first time."""
    if item == 3:
        try:
            (Path(place) / "killed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def read_table(meeting, place, _item):
    """A file of an artifact that the asking machine has, with the cache that it is read from."""
    _meet(meeting)

    def build(_folder):
        raise AssertionError("it is there, on the other machine")

    path = artifact("table", "t", {"of": 1}, build).path
    assert at_hand(place) == path
    return (path / "rows" / "a").read_text(), str(path.parent.parent)
