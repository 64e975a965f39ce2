"""Several passes at a time: in order, in as many threads as are asked for, none left behind."""

import threading
import time
from types import SimpleNamespace

import pytest

from irplatform_encoders.on_cpu import map_ahead, map_in_threads, passes_at_a_time


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_come_in_order(threads):
    second = threading.Event()

    def slow_first(number):
        if number == 1:
            second.set()
        assert number > 0 or threads == 1 or second.wait(timeout=10)
        return number * number

    assert list(map_in_threads(slow_first, range(20), threads)) == [n * n for n in range(20)]
    assert list(map_in_threads(str, [], threads)) == []


def test_so_many_are_computed_at_a_time():
    meet = threading.Barrier(3, timeout=10)
    assert (
        len(set(map_in_threads(lambda _: (meet.wait(), threading.get_ident())[1], "abc", 3))) == 3
    )


@pytest.mark.parametrize(("threads", "items"), [(1, "abc"), (4, "a")])
def test_no_thread_is_begun_for_one(threads, items):
    thread = threading.get_ident()
    assert set(map_in_threads(lambda _: threading.get_ident(), items, threads)) == {thread}


def test_the_next_item_is_computed_while_one_is_used():
    computed = threading.Event()

    def compute(number):
        if number == 1:
            computed.set()
        return number

    results = map_ahead(compute, range(3))
    assert next(results) == 0
    assert computed.wait(timeout=10)
    assert list(results) == [1, 2]


def test_an_error_is_raised_at_its_place_and_the_rest_is_not_begun():
    begun = []

    def divide(number):
        begun.append(number)
        time.sleep(0.1 * (number > 3))  # else a slow machine might begin them all meanwhile
        return 1 / (3 - number)

    results = map_in_threads(divide, range(1000), 2)
    assert [next(results) for _ in range(3)] == [1 / 3, 1 / 2, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert len(begun) < 100


def test_closing_waits_only_for_items_at_work():
    numbers, threads = [], set()

    def compute(number):
        threads.add(threading.current_thread())
        time.sleep(0.1 * (number > 0))  # else a slow machine might compute them all meanwhile
        numbers.append(number)

    results = map_in_threads(compute, range(1000), 2)
    next(results)
    results.close()
    assert len(numbers) < 100
    assert not threads & set(threading.enumerate())


@pytest.mark.parametrize(
    ("device", "threads", "model_threads", "passes"),
    [("cpu", 16, 1, 16), ("cpu", 16, 4, 4), ("cpu", 1, 4, 1), ("cuda", 16, 1, 1), ("mps", 8, 1, 1)],
)
def test_torch_has_its_own_threads_of_the_cores(device, threads, model_threads, passes):
    resources = SimpleNamespace(device=device, threads=threads, model_threads=model_threads)
    assert passes_at_a_time(resources) == passes
