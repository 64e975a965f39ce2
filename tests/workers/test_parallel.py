import operator
import os
import signal
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

import psutil
import pytest

from irplatform.errors import PlatformError
from irplatform.workers.distribution import ordered_map, several_workers, use_workers
from irplatform.workers.pool import Workers

UNGUARDED = """
from irplatform.workers.pool import Workers
from irplatform.workers.distribution import ordered_map
print("script")
print(list(ordered_map(abs, range(-5, 5), workers=2)))
"""
ENDLESS = """
import time
from itertools import repeat
from irplatform.workers.pool import Workers
from irplatform.workers.distribution import ordered_map
for _ in ordered_map(time.sleep, repeat(0.01), workers=2):
    print("working", flush=True)
"""
SIGNALLED = """
import signal, sys
from itertools import repeat
from time import sleep
from irplatform.workers.pool import Workers
from irplatform.workers.distribution import ordered_map
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
for _ in ordered_map(sleep, repeat(0.01), workers=2):
    print("working", flush=True)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(workers):
    assert list(ordered_map(abs, range(-30, 30), workers=workers)) == [*map(abs, range(-30, 30))]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_endless_stream_is_read_only_as_far_as_needed(workers):
    read = []
    results = ordered_map(abs, (read.append(n) or n for n in count()), workers=workers)
    assert [next(results) for _ in range(4)] == [0, 1, 2, 3]
    results.close()
    assert len(read) < 20


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_function_reaches_the_caller(workers):
    with pytest.raises(ValueError, match="invalid literal"):
        list(ordered_map(int, ["1", "2", "3", "x", "5"], workers=workers))


@pytest.mark.parametrize(("fewest", "local"), [(2, False), (3, True)])
def test_few_items_get_processes_only_where_they_are_worth_it(fewest, local):
    pids = list(ordered_map(operator.call, [os.getpid] * 2, workers=2, fewest=fewest))
    assert (os.getpid() in pids) is local


def test_a_worker_that_ended_is_an_explained_failure():
    with pytest.raises(PlatformError, match="a worker process ended with exit code 1: a plugin"):
        list(ordered_map(os._exit, [1] * 10, workers=2))


def test_no_more_workers_start_than_there_are_items(monkeypatch):
    started = []

    class Counted(Workers):
        def __init__(self, function, count):
            started.append(count)
            super().__init__(function, count)

    monkeypatch.setattr("irplatform.workers.distribution.Workers", Counted)
    assert [*ordered_map(abs, [-1, -2], workers=40, fewest=2)] == [1, 2]
    assert started == [2]


def _growing(numbers, item):
    numbers.append(item)
    return len(numbers)


def test_a_worker_keeps_what_the_function_made_for_one_item_for_the_next():
    """Here each worker's own list, which came with the function."""
    numbers = list(ordered_map(partial(_growing, []), range(10), workers=2))
    assert sum(number == 1 for number in numbers) == 2


@pytest.mark.parametrize(("count", "local"), [(1, True), (2, False), (None, False)])
def test_a_block_says_how_many_workers_there_are(count, local):
    with use_workers(count):
        pids = list(ordered_map(operator.call, [os.getpid] * 3, workers=2))
        assert several_workers() == (count == 2)
    assert (os.getpid() in pids) is local
    assert not several_workers()


def test_a_script_without_a_main_guard_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    process = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=True
    )
    assert process.stdout == "script\n[5, 4, 3, 2, 1, 0, 1, 2, 3, 4]\n"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes as Linux shows them")
def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ENDLESS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) >= 2
        parent.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(children, timeout=20)
        assert not alive


def test_a_signal_to_all_processes_at_once_ends_them_all():
    """As `timeout` and batch systems send it: workers die while the parent is ending them."""
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", SIGNALLED], stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdout.readline() == b"working\n"
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode in {1, 143}, "1 where it saw a worker die first"
