"""A pool that is built through two kills and a throttling phase equals one built in peace."""

import os
import signal
import subprocess
import sys

import pytest
from eutils_stand_in import StandIn
from small_pool import arguments, articles, contents, write_archive, write_year

CALLS = 18
"""That an undisturbed build makes."""


@pytest.fixture
def command(tmp_path):
    judged = [str(number) for number in range(1, 200 * CALLS + 1)]
    first = write_year(tmp_path / "files", 2017, judged[: len(judged) // 2])
    partner = write_year(tmp_path / "files", 2018, judged[len(judged) // 3 :])
    archive = write_archive(tmp_path / "extra.tar.gz")
    options = [*arguments(first, partner), "--extra-abstracts", str(archive), "--rate", "1000"]
    program = [sys.executable, "-m", "irplatform", "collections", "build", "trec-pm-pool-2017"]
    return lambda out: [*program, *options, "--out", str(out)]


@pytest.fixture
def environment(tmp_path):
    """Of a process that knows of no proxy and no key."""

    def environment(server):
        hidden = {"NCBI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}
        variables = {name: value for name, value in os.environ.items() if name not in hidden}
        return {
            **variables,
            "IRPLATFORM_HOME": str(tmp_path / "home"),
            "IRPLATFORM_EUTILS_URL": server.url,
            "IR_DATASETS_HOME": str(tmp_path / "irds"),
        }

    return environment


@pytest.mark.slow
def test_two_kills_and_throttling_leave_no_trace(command, environment, tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    with StandIn(articles(200 * CALLS)) as server:
        subprocess.run(command(calm), env=environment(server), check=True)
        assert len(server.calls) == CALLS
    with StandIn(articles(200 * CALLS)) as server:
        for after in (5, 11):
            process = subprocess.Popen(command(killed), env=environment(server))
            server.wait_for_calls(after)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            assert not killed.exists()
        before = len(server.calls)
        troubles = ["throttle:1", "throttle:1", "answer", "throttle:0", "status:502", "half-body"]
        server.orders.extend(["answer", *troubles])
        result = subprocess.run(
            command(killed), env=environment(server), check=True, capture_output=True, text=True
        )
        assert server.orders == type(server.orders)(), "all of it happened"
        assert len(server.calls) - before < CALLS, "finished batches were not fetched again"
    assert result.stderr.count("too many calls (status 429)") == 3
    assert contents(killed) == contents(calm)
    assert not (tmp_path / "killed.partial").exists()
