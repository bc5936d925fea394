"""A headless Chromium, driven over its own debugging protocol."""

import base64
import json
import pathlib
import shutil
import subprocess
import time
import urllib.request

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return where a Chromium is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with one page.

    Args:
        profile: An empty folder for what a browser writes.

    Attributes:
        problems: What the page's console, its policy and its scripts reported.
        requests: Addresses that the page asked for.
    """

    def __init__(self, profile: pathlib.Path):
        import websocket

        self._process = subprocess.Popen(
            [
                find_chromium(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-port=0",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.problems, self.requests = [], []
        self._sent = 0
        try:
            port = self._port(profile / "DevToolsActivePort")
            with urllib.request.urlopen(
                f"http://127.0.0.1:{port}/json/list"
            ) as listed:
                pages = [p for p in json.load(listed) if p["type"] == "page"]
            self._line = websocket.create_connection(
                pages[0]["webSocketDebuggerUrl"],
                timeout=30,
                suppress_origin=True,
            )
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(20)

    def call(self, method: str, **parameters) -> dict:
        """Ask for something; note what happens on the page meanwhile."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        self._line.send(json.dumps(message))
        while (got := json.loads(self._line.recv())).get("id") != self._sent:
            self._note(got)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']}")
        return got["result"]

    def run(self, script: str):
        """Return the value of an expression, awaited if it is a promise."""
        got = self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in got:
            raise RuntimeError(f"{script}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def wait(self, condition: str, seconds: float = 20) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, (
                f"{condition}; {self.problems}; "
                + self.run("document.body.innerText")
            )
            time.sleep(0.05)

    def open(self, address: str) -> None:
        """Go to an address, from nothing."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def look(self, width=1100, height=900, dark=False, phone=False) -> None:
        """Set the window's size and the user's preference."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        scheme = "dark" if dark else "light"
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path: pathlib.Path) -> None:
        """Keep a picture of the whole page."""
        time.sleep(0.3)  # what fades in has done so
        got = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(got["data"]))

    def _port(self, file):
        until = time.monotonic() + 30
        while not (file.is_file() and file.read_text().strip()):
            assert time.monotonic() < until, "Chromium does not start"
            time.sleep(0.05)
        return int(file.read_text().split()[0])

    def _note(self, event):
        method, said = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(said["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(said["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"a dialog: {said['message']}")
            self._sent += 1
            answer = {
                "id": self._sent,
                "method": "Page.handleJavaScriptDialog",
                "params": {"accept": True},
            }
            self._line.send(json.dumps(answer))
