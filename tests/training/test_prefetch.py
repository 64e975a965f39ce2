"""What comes next is prepared while one works: in order, in one thread, not too far ahead."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from irplatform.training.loop import LoopSettings, prefetch, run_loop


def test_items_come_prepared_and_in_order():
    assert list(prefetch(lambda n: n * n, range(20))) == [n * n for n in range(20)]
    assert list(prefetch(str, [])) == []


def test_another_thread_prepares_while_one_works():
    thread = threading.current_thread()
    second_begun = threading.Event()

    def prepare(number):
        assert threading.current_thread() is not thread
        if number == 1:
            second_begun.set()
        return number

    stream = prefetch(prepare, range(3))
    assert next(stream) == 0
    assert second_begun.wait(10)
    assert list(stream) == [1, 2]


def test_no_more_is_prepared_than_will_be_wanted_soon():
    drawn = []
    stream = prefetch(lambda n: n, (drawn.append(n) or n for n in range(1000)))
    for number in range(5):
        assert next(stream) == number
        assert len(drawn) <= number + 3
    stream.close()
    assert len(drawn) <= 7


def test_an_error_is_raised_at_its_place():
    stream = prefetch(lambda n: 1 / (3 - n), range(10))
    assert [next(stream) for _ in range(3)] == [1 / 3, 1 / 2, 1]
    with pytest.raises(ZeroDivisionError):
        next(stream)


def test_whoever_leaves_waits_for_the_item_at_work_only():
    numbers, threads = [], set()

    def prepare(number):
        time.sleep(0.01)
        numbers.append(number)
        threads.add(threading.current_thread())

    stream = prefetch(prepare, range(1000))
    next(stream)
    stream.close()
    assert len(numbers) <= 4
    assert not threads & set(threading.enumerate())


def test_the_thread_leaves_java(monkeypatch):
    names = []
    java = SimpleNamespace(detach=lambda: names.append(threading.current_thread().name))
    monkeypatch.setitem(sys.modules, "jnius", java)
    list(prefetch(str, range(3)))
    assert len(names) == 1
    assert names[0] != threading.current_thread().name


class _Reading:
    """A task whose batches are numbers, and read as tensors."""

    def __init__(self, torch, *, reads):
        torch.manual_seed(1)
        self.module = torch.nn.Linear(3, 1)
        self._torch = torch
        if reads:
            self.read = self._read
            self.loss = self._loss
        else:
            self.loss = lambda batch: self._loss(self._read(batch))

    def batches(self, epoch):
        return range(10 * epoch, 10 * epoch + 4)

    def _read(self, number):
        generator = self._torch.Generator().manual_seed(number)
        return self._torch.randn(8, 3, generator=generator)

    def _loss(self, inputs):
        return ((self.module(inputs)[:, 0] - inputs.sum(dim=1)) ** 2).mean()

    def validate(self):
        return -float(self._loss(self._read(99)))


def test_a_task_that_reads_ahead_learns_the_same(tmp_path):
    import torch

    weights = []
    for reads in (False, True):
        task = _Reading(torch, reads=reads)
        workspace = tmp_path / str(reads)
        workspace.mkdir()
        run_loop(task, LoopSettings(epochs=3), seed=1, workspace=workspace)
        weights.append([p.detach().numpy().tobytes() for p in task.module.parameters()])
    assert weights[0] == weights[1]
