"""The stream of notifications of a session over HTTP, read in a thread."""

from __future__ import annotations

import threading
import time

import httpx2

from .http_server import HttpServer


class Stream(threading.Thread):
    """An open GET stream.

    Args:
        server: that sends it.
        headers: of the session.

    Attributes:
        text: what was received so far.
    """

    def __init__(self, server: HttpServer, headers: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._client = httpx2.Client(timeout=60, trust_env=False)
        accept = {"accept": "text/event-stream"}
        self._context = self._client.stream("GET", server.url, headers={**headers, **accept})
        self._response = self._context.__enter__()
        assert self._response.status_code == 200, self._response.status_code
        self.start()

    def run(self) -> None:
        try:
            for text in self._response.iter_text():
                self.text += text
        except httpx2.HTTPError:
            pass  # closed

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Waits until a text was received."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, f"{text!r} did not come: {self.text!r}"
            time.sleep(0.02)

    def close(self) -> None:
        """Closes the stream."""
        self._client.close()
