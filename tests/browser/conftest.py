"""A browser, Chromium, and a report that it opens."""

import json
import os
import shutil
import time

import pytest
from report_data import write_collection, write_runs

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


def _missing(what):
    if REQUIRED:
        pytest.fail(f"{what} is missing; `make test-browser` installs it")
    pytest.skip(f"{what} is missing")


class Page:
    """A page in Chromium, with what the tests ask of it."""

    def __init__(self, driver, path):
        self.driver = driver
        self.path = path

    def open(self, *, width=1400, dark=False, fragment=""):
        """Open the page anew in a window of this width."""
        self.driver.get("about:blank")
        self.log()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = {"prefers-color-scheme": "dark" if dark else "light"}
        features["prefers-reduced-motion"] = "reduce"  # scroll at once
        media = [{"name": name, "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": media})
        self.driver.get(f"file://{self.path}{fragment}")
        self.wait("return document.querySelectorAll('.plot svg').length === 4")
        return self

    def print(self):
        """Show the page as it is printed, until it is opened again."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        return self

    def run(self, script, *arguments):
        """What a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=15):
        """Wait until a script returns something true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())",
            selector,
        )

    def log(self):
        """Console messages, and requests of something else than the page, since last asked."""
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return messages, [
            url for url in urls if not url.startswith((f"file://{self.path}", "data:", "about:"))
        ]


@pytest.fixture(scope="session")
def driver():
    try:
        from selenium import webdriver
    except ImportError:
        _missing("selenium")
    programs = [
        shutil.which("chromium") or shutil.which("google-chrome"),
        shutil.which("chromedriver"),
    ]
    if not all(programs):
        _missing("chromium or chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The report of three runs over twelve topics."""
    from irplatform.api import write_report

    folder = tmp_path_factory.mktemp("report")
    collection = write_collection(folder / "small")
    runs = write_runs(folder / "runs")
    path = folder / "report.html"
    return write_report(
        runs, path, collection=f"{collection}:dev", measures=["nDCG@10", "P@5", "RR"]
    )


@pytest.fixture
def page(driver, report):
    return Page(driver, report)
