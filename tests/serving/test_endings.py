"""The end of a server: what it has begun is answered or told, and nothing new is taken."""

import asyncio
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from irplatform.errors import PlatformError
from irplatform.serving.endings import Ending
from irplatform.serving.model_thread import BusyError, ModelThread
from irplatform.system.process import serving


class Models:
    """Answers a request when it may go on; what it is asked to raise it raises."""

    def __init__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.thread = ModelThread(self._answer, 10, 5.0)

    def _answer(self, requests):
        self.begun.set()
        self.go_on.wait(10)
        for request in requests:
            if isinstance(request, BaseException):
                raise request
        return requests


@pytest.fixture
def models():
    models = Models()
    yield models
    models.go_on.set()
    models.thread.end()


def _ended(models, ending, then, *requests):
    """The answers to some requests that a server had begun when a signal came."""

    async def scenario():
        answers = [
            asyncio.ensure_future(models.thread.ask("kind", request)) for request in requests
        ]
        await asyncio.to_thread(models.begun.wait, 10)
        ending.on_signal(signal.SIGTERM)
        assert ending.is_over() is False
        await then()
        while not ending.is_over():
            await asyncio.sleep(0.001)
        return await asyncio.gather(*answers, return_exceptions=True)

    return asyncio.run(scenario())


def test_requests_that_wait_are_answered_and_no_new_ones_are_taken(models, capsys):
    async def then():
        with pytest.raises(BusyError, match="the server is stopping; try again later"):
            await models.thread.ask("kind", "new")
        models.go_on.set()

    ending = Ending(models.thread, 30)
    assert not ending.is_over()
    assert _ended(models, ending, then, "first", "second", "third") == ["first", "second", "third"]
    with pytest.raises(SystemExit) as ended:
        ending.leave()
    assert ended.value.code == 0
    assert capsys.readouterr().err.splitlines() == [
        "stopping; 3 requests left to answer within 30 s",
        "stopped; 3 requests answered, 0 given up",
    ]


@pytest.mark.parametrize("hurried", [False, True])
def test_what_is_not_answered_in_time_or_at_a_second_signal_is_told(models, monkeypatch, hurried):
    ending, now = Ending(models.thread, 30), time.monotonic()

    async def then():
        clock = SimpleNamespace(monotonic=lambda: now + (1 if hurried else 31))
        monkeypatch.setattr("irplatform.serving.endings.time", clock)
        if hurried:
            assert ending.is_over() is False
            ending.on_signal(signal.SIGTERM)

    first, second = _ended(models, ending, then, "first", "second")
    assert isinstance(first, BusyError)
    assert isinstance(second, BusyError)
    models.go_on.set()
    with pytest.raises(SystemExit) as ended:
        ending.leave()
    assert ended.value.code == 128 + signal.SIGTERM


def test_a_signal_that_comes_twice_at_once_is_one(models):
    ending = Ending(models.thread, 30)

    async def then():
        ending.on_signal(signal.SIGTERM)
        assert ending.is_over() is False
        models.go_on.set()

    assert _ended(models, ending, then, "first") == ["first"]


KINDS = (KeyboardInterrupt, GeneratorExit, SystemExit, StopIteration, asyncio.CancelledError)


@pytest.mark.parametrize("kind", [*KINDS, MemoryError, ValueError, BaseException])
def test_whatever_is_raised_is_an_error_of_its_request(models, kind):
    models.go_on.set()

    async def scenario():
        with pytest.raises(kind if kind in (MemoryError, ValueError) else PlatformError):
            await models.thread.ask("kind", kind("why"))
        return await models.thread.ask("kind", "after")

    assert asyncio.run(scenario()) == "after"
    assert not models.thread.ended


def test_an_answer_too_few_is_an_error_too():
    models = ModelThread(lambda _requests: [], 10, 5.0)
    with pytest.raises(ValueError, match="zip"):
        asyncio.run(models.ask("kind", "request"))
    assert models.end()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_is_told_at_once_and_ends_the_server(models):
    def fail(_requests):
        raise RuntimeError

    models.thread.batches = fail
    for _ in range(2):
        with pytest.raises(PlatformError, match="the thread of the models has ended"):
            asyncio.run(models.thread.ask("kind", "request"))
        models.thread._thread.join(10)
    ending = Ending(models.thread, 30)
    assert ending.is_over()
    with pytest.raises(PlatformError, match="Start the server again"):
        ending.leave()


def test_a_slow_model_answers_one_request_after_the_other(monkeypatch):
    sizes, now = [], iter(range(0, 1000, 10))
    monkeypatch.setattr("irplatform.serving.model_thread.time.monotonic", lambda: next(now))
    begun = threading.Event()

    def answer(requests):
        begun.wait(10)
        sizes.append(len(requests))
        return requests

    models = ModelThread(answer, 10, 500.0)

    async def scenario():
        answers = [asyncio.ensure_future(models.ask("kind", n)) for n in range(4)]
        await asyncio.sleep(0)
        begun.set()
        return await asyncio.gather(*answers)

    try:
        assert asyncio.run(scenario()) == [0, 1, 2, 3]
    finally:
        monkeypatch.undo()
        models.end()
    assert sizes == [1, 1, 1, 1]


def test_a_server_gets_the_signals_itself_and_gives_them_back():
    before, signals = signal.getsignal(signal.SIGTERM), []
    with serving(signals.append):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert signals == [signal.SIGTERM, signal.SIGINT]
    assert signal.getsignal(signal.SIGTERM) is before
