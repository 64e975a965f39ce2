"""A report in a browser, as tests drive it."""

import json
import time


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
