"""Opens a page in a browser, and takes its HTML when its scripts have written it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import SourceError

from .process import MEMORY_BYTES, BrowserProcess
from .protocol import BrowserGoneError, BrowserTimeoutError, Protocol
from .requests import BrowserRequests

if TYPE_CHECKING:
    from carrel.exchange import Call, FileFetcher
    from carrel.web.download import DownloadedPage

#: Seconds for a page, and without any request after which it is complete.
_SECONDS: Final = 45.0
_QUIET: Final = 1.5
#: Seconds in which the page gives its HTML; one whose script never ends does not.
_TAKING: Final = 8.0
#: Characters of HTML that are taken.
_LONGEST: Final = 8 * 2**20
#: One browser at a time: each takes hundreds of megabytes.
_ONE: Final = threading.Lock()
#: Kinds of targets that may run: parts of the page. Others, such as windows, are closed.
_PARTS: Final = frozenset({"iframe", "worker", "service_worker", "shared_worker"})
_TAKE: Final = f"document.documentElement.outerHTML.slice(0, {_LONGEST})"


def read_in_browser(fetcher: FileFetcher, page: DownloadedPage, call: Call) -> DownloadedPage:
    """Returns a page with the HTML that its scripts have written.

    Args:
        fetcher: under the grant of the public web; makes all requests of the browser.
        page: as it was downloaded.
        call: of the reading.

    Raises:
        SourceError: there is no browser, or it failed.
        CarrelError: the call was cancelled.
    """
    while not _ONE.acquire(timeout=0.1):
        call.check()
    try:
        call.explain("opening the page in a browser")
        browser = BrowserProcess()
        try:
            html = _Opened(browser, BrowserRequests(fetcher, page, call), call).html(page.url)
        except (BrowserGoneError, BrowserTimeoutError) as fault:
            call.check()
            raise SourceError(
                "invalid_document",
                f"{page.url}: the browser did not read the page: {fault}",
                plugin="",
                tool="web_read",
                action="none",
                extra={"page": "empty", "needs_browser": True},
            ) from None
        finally:
            browser.close()
    finally:
        _ONE.release()
    data = ("\ufeff" + html).encode("utf-8", "replace")
    return replace(page, data=data, media_type="text/html; charset=utf-8")


class _Opened:
    """A page in a browser."""

    def __init__(self, browser: BrowserProcess, requests: BrowserRequests, call: Call) -> None:
        self._browser = browser
        self._requests = requests
        self._call = call
        self._end = time.monotonic() + min(_SECONDS, call.remaining * 0.8)
        self._looked = 0.0
        self._target = ""
        self._protocol = Protocol(browser.to, browser.back, self._check)

    def html(self, url: str) -> str:
        """Returns the page's HTML once no request was made for a while, or the time is up."""
        send = self._protocol.send
        send("Browser.setDownloadBehavior", behavior="deny")
        self._target = send("Target.createTarget", url="about:blank")["targetId"]
        attached = send("Target.attachToTarget", targetId=self._target, flatten=True)
        session = attached["sessionId"]
        send(
            "Target.setAutoAttach",
            session,
            autoAttach=True,
            waitForDebuggerOnStart=True,
            flatten=True,
        )
        send("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        send("Page.enable", session)
        self._protocol.post("Page.navigate", session, url=url)
        self._run()
        found = send(
            "Runtime.evaluate", session, seconds=_TAKING, expression=_TAKE, returnByValue=True
        )
        value = found.get("result", {}).get("value")
        if not isinstance(value, str):
            raise BrowserGoneError("the page has no document")
        return value

    def _run(self) -> None:
        quiet = time.monotonic() + 2 * _QUIET
        while (now := time.monotonic()) < min(quiet, self._end):
            event = self._protocol.event(min(quiet, self._end) - now)
            if event is None:
                continue
            method, parameters = event.get("method"), event.get("params", {})
            session = event.get("sessionId")
            if method == "Fetch.requestPaused":
                command, answer = self._requests.answer(parameters)
                self._protocol.post(command, session, **answer)
                quiet = time.monotonic() + _QUIET
            elif method == "Target.attachedToTarget":
                self._attached(parameters)
            elif method == "Page.javascriptDialogOpening":
                self._protocol.post("Page.handleJavaScriptDialog", session, accept=False)

    def _attached(self, parameters: dict[str, Any]) -> None:
        """Intercepts the requests of a part of the page before it runs; closes windows."""
        info = parameters.get("targetInfo", {})
        session = parameters.get("sessionId")
        if info.get("targetId") == self._target:
            return
        if info.get("type") in _PARTS:
            self._protocol.post("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
            self._protocol.post("Runtime.runIfWaitingForDebugger", session)
        else:
            self._protocol.post("Target.closeTarget", targetId=info.get("targetId"))

    def _check(self) -> None:
        """Raises if the call was cancelled, or the browser takes too much memory."""
        self._call.check()
        now = time.monotonic()
        if now - self._looked > 0.5:
            self._looked = now
            if self._browser.memory > MEMORY_BYTES:
                raise BrowserGoneError("it took too much memory")
