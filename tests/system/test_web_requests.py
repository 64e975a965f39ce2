"""Calls stay below a rate, passing failures are tried again, and others are explained at once."""

import random
from email.utils import formatdate

import pytest
from eutils_stand_in import StandIn

from irplatform.errors import InputError, PlatformError
from irplatform.system.web import RateLimiter, TransientError, check_url, request, with_retries


class Clock:
    """A clock that moves only when somebody sleeps or works."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def server():
    with StandIn() as stand_in:
        yield stand_in


@pytest.mark.parametrize("rate", [3, 10, 2.5, 0.5])
def test_no_second_has_more_calls_than_allowed_whatever_delays_them(rate):
    clock = Clock()
    limiter = RateLimiter(rate, clock=clock, sleep=clock.sleep)
    chance = random.Random(1)
    arrived = []
    for _ in range(200):
        with limiter.call():
            clock.now += chance.choice([0.0, 0.01, 0.3])  # on the way
            arrived.append(clock.now)
            clock.now += chance.choice([0.0, 0.2])  # and back
    allowed = max(1, int(rate))
    spans = [late - early for early, late in zip(arrived, arrived[allowed:], strict=False)]
    assert min(spans) >= allowed / rate - 1e-9


def test_a_call_that_fails_counts():
    clock = Clock()
    limiter = RateLimiter(1, clock=clock, sleep=clock.sleep)
    with pytest.raises(TransientError), limiter.call():
        raise TransientError("no")
    with limiter.call():
        assert clock.now == 101.0


def test_slow_answers_are_not_slowed_down_further():
    clock = Clock()
    limiter = RateLimiter(3, clock=clock, sleep=lambda _: pytest.fail("it waited"))
    for _ in range(10):
        with limiter.call():
            clock.now += 0.5


def _failing(*errors):
    queue = list(errors)

    def call():
        if queue:
            raise queue.pop(0)
        return "done"

    return call


def test_waits_double_up_to_a_minute(waits):
    assert with_retries(_failing(*[TransientError("no")] * 7), "it") == "done"
    assert waits == [1, 2, 4, 8, 16, 32, 60]


def test_the_server_may_say_how_long_to_wait(waits):
    errors = [TransientError("a", wait=5), TransientError("b"), TransientError("c", wait=0)]
    assert with_retries(_failing(*errors), "it") == "done"
    assert waits == [5, 2, 0]


def test_each_failure_is_told(waits, capsys):
    with_retries(_failing(TransientError("too many calls", wait=3)), "E-utilities")
    assert capsys.readouterr().err == "E-utilities: too many calls; trying again in 3 s\n"


def test_after_eight_failures_it_gives_up_with_the_last_reason(waits):
    with pytest.raises(PlatformError, match=r"it failed 8 times, at last: e7\. The same command"):
        with_retries(_failing(*[TransientError(f"e{i}") for i in range(9)]), "it")


def test_it_does_not_wait_for_an_hour(waits):
    with pytest.raises(PlatformError, match="asks to wait 60 minutes"):
        with_retries(_failing(TransientError("busy", wait=3600)), "it")
    assert waits == []


def test_other_errors_are_not_tried_again(waits):
    with pytest.raises(PlatformError, match="mine"):
        with_retries(_failing(PlatformError("mine")), "it")
    assert waits == []


@pytest.mark.parametrize(
    ("order", "reason", "wait"),
    [
        ("throttle", r"too many calls \(status 429\)", None),
        ("throttle:7", r"too many calls \(status 429\)", 7.0),
        ("throttle:soon", r"too many calls", None),
        ("status:500", r"Internal Server Error \(status 500\)", None),
        ("status:503", "Service Unavailable", None),
        ("half-body", "the answer was cut off", None),
        ("hang-up", "no connection", None),
    ],
)
def test_what_may_pass_is_transient(server, order, reason, wait):
    server.orders.append(order)
    with pytest.raises(TransientError, match=reason) as error:
        request("POST", f"{server.url}/efetch.fcgi", {"id": "1"})
    assert error.value.wait == wait


def test_a_date_to_come_back_at_is_understood(server):
    server.orders.append(f"throttle:{formatdate(usegmt=True)}")
    with pytest.raises(TransientError) as error:
        request("POST", f"{server.url}/efetch.fcgi", {"id": "1"})
    assert error.value.wait == 0


def test_what_does_not_pass_is_explained(server):
    with pytest.raises(PlatformError, match=r"/other answers with status 404: no such utility"):
        request("POST", f"{server.url}/other", {"id": "1"})


def test_redirects_are_not_followed(server):
    server.orders.append(f"redirect:{server.url}/elsewhere")
    with pytest.raises(PlatformError, match=r"status 302: http.*/elsewhere"):
        request("POST", f"{server.url}/efetch.fcgi", {"id": "1", "api_key": "secret"})
    assert len(server.calls) == 1


def test_nobody_there_is_transient():
    with StandIn() as gone:
        pass
    with pytest.raises(TransientError, match="no connection"):
        request("GET", gone.url)


@pytest.mark.parametrize("url", ["https://x.org/e/", "http://127.0.0.1:8/", "http://localhost/a"])
def test_https_and_this_machine_are_good(url):
    assert check_url(url, "X") == url.rstrip("/")


@pytest.mark.parametrize("url", ["http://x.org", "ftp://x.org", "x.org", "https://", "/a", ""])
def test_unsafe_urls_are_refused(url):
    with pytest.raises(InputError, match=r"X is .* must be an https:// URL"):
        check_url(url, "X")
