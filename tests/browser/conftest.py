"""Browsers, Chromium, and a report that they open."""

import os
import shutil

import pytest
from report_data import write_collection, write_runs
from report_page import Page

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


def _missing(program):
    if REQUIRED:
        pytest.fail(f"{program} is missing; `make test-browser` installs it")
    pytest.skip(f"{program} is missing")


def _driver(*, logged=True):
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
    if logged:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))


@pytest.fixture(scope="session")
def driver():
    driver = _driver()
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def other_driver():
    """The browser of somebody else."""
    driver = _driver()
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def quick_drivers():
    """Two browsers that log nothing, which takes time."""
    drivers = [_driver(logged=False) for _ in range(2)]
    yield drivers
    for driver in drivers:
        driver.quit()


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The report of three runs over twelve topics."""
    from irplatform import write_report

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
