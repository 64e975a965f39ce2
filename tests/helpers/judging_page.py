"""The page of judges: its server, as a process that can be killed, and what tests do on it.

    python tests/helpers/judging_page.py FOLDER PORT

serves the pool of a folder over documents in memory.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

REFUSED = 0.05
"""Seconds between attempts to reach a server that starts."""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server of judging at a port of its own; by default over documents in memory."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        served = command or (sys.executable, __file__, str(folder))
        self._command = [*served, str(self.port)]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Server:
        """Start it, and wait until it listens."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        line = self._process.stdout.readline()
        assert self.url in line, line + self._process.stdout.read()
        return self

    def kill(self) -> None:
        """End it at once, with SIGKILL."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process.stdout.close()
            self._process = None


class JudgingPage:
    """The page in a browser."""

    def __init__(self, driver, url):
        self.driver, self.url = driver, url

    def open(self, name="", *, width=1280, height=900, dark=False, path=""):
        """Open the page anew, and give a name."""
        self.driver.get("about:blank")
        self.log()
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": media})
        self.driver.get(self.url + path)
        self.run("localStorage.clear()")
        self.driver.get(self.url + path)
        self.wait("return !document.getElementById('sign-in').hidden")
        if name:
            self.find("#name").send_keys(f"{name}\n")
            self.wait("return !document.getElementById('sign-in').checkVisibility()")
            self.settle()
        return self

    def settle(self):
        """Wait until a document is shown, or nothing is left."""
        self.wait(
            "return !document.getElementById('nothing').hidden || "
            "!document.getElementById('desk').hidden"
        )

    def run(self, script, *arguments):
        """What a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=20):
        """Wait until a script returns something true; return that."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}; {self.text('#alert')}"
            time.sleep(0.01)
        return value

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    @property
    def document(self):
        """The id of the document that is shown, or "" for none."""
        script = "return document.getElementById('desk').hidden ? '' : arguments[0].textContent"
        return self.run(script, self.find("#id"))

    def press(self, keys):
        """Press keys where the focus is."""
        self.driver.switch_to.active_element.send_keys(keys)

    def judge(self, key):
        """Press the key of a grade, and wait for the next document; return the judged one."""
        judged = self.document
        self.press(key)
        self.wait(
            f"return document.getElementById('desk').hidden || "
            f"document.getElementById('id').textContent !== {json.dumps(judged)}"
        )
        return judged

    def pressed(self):
        """The grade that is marked as given, or None."""
        return self.run(
            "return document.querySelector('[aria-pressed=true]')?.dataset.grade ?? null"
        )

    def log(self):
        """Console messages, and requests of other hosts, since last asked."""
        if "performance" not in self.driver.log_types:
            return [], []
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return messages, [url for url in urls if not url.startswith((self.url, "about:"))]


def _serve(folder: Path, port: int) -> None:
    from judged_pools import small_desk

    from irplatform.judging.page.application import application, serve
    from irplatform.judging.pool_folder import read_pool

    bound = socket.socket(proto=socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    with small_desk(folder, read_pool(folder), share=0.2) as desk:
        serve(application(desk, folder), bound, f"judging on http://127.0.0.1:{port}/")


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
