"""What workers of a cluster do in tests; a module that they can import."""

import os
import signal
import time
from pathlib import Path

from irplatform.system.cache import artifact, at_hand
from irplatform.system.writing import home


def home_of(_item):
    time.sleep(0.02)
    return str(home())


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


def read_table(place, _item):
    """A file of an artifact that the asking machine has, with the cache that it is read from."""

    def build(_folder):
        raise AssertionError("it is there, on the other machine")

    path = artifact("table", "t", {"of": 1}, build).path
    assert at_hand(place) == path
    return (path / "rows" / "a").read_text(), str(path.parent.parent)
