"""Runs a headless Chromium over its DevTools protocol; a missing one skips the test."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Raw = dict[str, Any]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio",
    "--force-color-profile=srgb", "--remote-debugging-pipe", "about:blank",
)  # fmt: skip
#: Makes two descriptors the protocol's, 3 and 4, and becomes the browser.
_START = """
import fcntl, os, sys
one, other = (fcntl.fcntl(int(word), fcntl.F_DUPFD, 10) for word in sys.argv[1:3])
os.dup2(one, 3)
os.dup2(other, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
#: Seconds for one answer.
_PATIENCE = 60


class Tab:
    """One page of a browser.

    Attributes:
        events: everything that the browser reported, as method and parameters.
    """

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process = process
        self._to, self._back = to, back
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.events: list[tuple[str, Raw]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Raw:
        """Returns the result of a command."""
        self._number += 1
        message: Raw = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            received = self._read()
            if received.get("id") == self._number:
                assert "error" not in received, received["error"]
                result: Raw = received["result"]
                return result
            self._note(received)

    def load(self, path: Path | str) -> None:
        """Opens a file or a URL, and waits until it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        while "Page.loadEventFired" not in {name for name, _ in self.events}:
            self._note(self._read())

    def open(self, path: Path | str) -> None:
        """Opens a file or a URL, and waits until its script has run."""
        self.load(path)
        end = time.monotonic() + _PATIENCE
        while self.value("document.documentElement?.dataset.ready") != "yes":
            assert time.monotonic() < end, "the page's script did not run"

    def value(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression."""
        evaluation = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in evaluation, evaluation["exceptionDetails"]
        return evaluation["result"].get("value")

    def click(self, selector: str) -> None:
        """Clicks the middle of an element with the mouse."""
        box = self.value(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent",
                type=kind, x=box[0], y=box[1], button="left", clickCount=1,
            )  # fmt: skip

    def press(self, key: str) -> None:
        """Presses a key, such as Tab or ArrowLeft."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}),
            )  # fmt: skip

    def type(self, text: str) -> None:
        """Types into the element that has the focus."""
        self.send("Input.insertText", text=text)

    def media(self, **features: str) -> None:
        """Emulates media features, such as `prefers_color_scheme="dark"`."""
        emulated = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.send("Emulation.setEmulatedMedia", features=emulated)

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Sets the size of the window."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=scale, mobile=False,
        )  # fmt: skip

    def screenshot(self) -> bytes:
        """Returns the window as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def requests(self) -> list[str]:
        """Returns the URLs that the page asked for."""
        self.send("Runtime.evaluate", expression="0")  # everything before it is reported
        return [
            params["request"]["url"]
            for name, params in self.events
            if name == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[Mapping[str, Any]]:
        """Returns exceptions, and messages of the log and the console, such as violations."""
        self.send("Runtime.evaluate", expression="0")
        names = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [params for name, params in self.events if name in names]

    def _note(self, event: Raw) -> None:
        if "method" in event:
            self.events.append((event["method"], event["params"]))

    def _read(self) -> Raw:
        while b"\0" not in self._rest:
            assert select.select([self._back], [], [], _PATIENCE)[0], "Chromium does not answer"
            piece = os.read(self._back, 1 << 16)
            assert piece, f"Chromium ended: {self._process.poll()}"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message: Raw = json.loads(text)
        return message


def chromium() -> str:
    """Returns the browser; skips the test if there is none."""
    for name in _NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium is here; on Debian: apt-get install chromium")


@contextmanager
def open_tab(folder: Path) -> Iterator[Tab]:
    """Starts a browser with a profile in `folder`, without a network, and ends it."""
    browser = chromium()
    to_read, to_write = os.pipe()
    back_read, back_write = os.pipe()
    proxy = "--proxy-server=127.0.0.1:9"
    words = [sys.executable, "-c", _START, str(to_read), str(back_write), browser, proxy]
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            [*words, f"--user-data-dir={folder / 'profile'}", *_FLAGS],
            pass_fds=(to_read, back_write),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(to_read)
        os.close(back_write)
        try:
            tab = Tab(process, to_write, back_read)
            yield tab
            tab._session = None
            tab.send("Browser.close")
            process.wait(_PATIENCE)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(to_write)
            os.close(back_read)
