"""Speaks Chromium's DevTools protocol over a pipe: JSON messages, each ended by a zero byte."""

from __future__ import annotations

import json
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

Message = dict[str, Any]

#: Bytes of the longest message from the browser.
_LONGEST: Final = 32 * 2**20
#: Events that wait to be handled.
_MOST: Final = 10_000


class BrowserGoneError(Exception):
    """The browser ended, or does not keep to the protocol."""


class BrowserTimeoutError(Exception):
    """The browser did not answer in time."""


class Protocol:
    """A connection to a browser; for one thread.

    Args:
        to: the descriptor that commands are written to.
        back: the descriptor that answers are read from.
        check: called while it waits; raises to give up.
    """

    def __init__(self, to: int, back: int, check: Callable[[], None]) -> None:
        self._to = to
        self._back = back
        self._check = check
        self._number = 0
        self._rest = bytearray()
        self._events: deque[Message] = deque()
        os.set_blocking(to, False)

    def post(self, method: str, session: str | None = None, **parameters: Any) -> int:
        """Sends a command, and returns its number without waiting for the answer.

        Raises:
            BrowserGoneError: the browser ended.
        """
        self._number += 1
        message: Message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._write(json.dumps(message).encode() + b"\0")
        return self._number

    def send(
        self, method: str, session: str | None = None, *, seconds: float = 20.0, **parameters: Any
    ) -> Message:
        """Sends a command and returns its result; events that come first wait.

        Raises:
            BrowserGoneError: the browser ended, or refuses the command.
            BrowserTimeoutError: there is no answer in time.
        """
        number = self.post(method, session, **parameters)
        end = time.monotonic() + seconds
        while True:
            message = self._read(end)
            if message is None:
                raise BrowserTimeoutError(method)
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserGoneError(f"{method}: {message['error'].get('message', '')}")
                result: Message = message.get("result", {})
                return result
            self._keep(message)

    def event(self, seconds: float) -> Message | None:
        """Returns the next event; None if there is none in time."""
        if self._events:
            return self._events.popleft()
        end = time.monotonic() + seconds
        while (message := self._read(end)) is not None:
            if "method" in message:
                return message
        return None

    def _keep(self, message: Message) -> None:
        if "method" in message:
            if len(self._events) >= _MOST:
                raise BrowserGoneError("too many events")
            self._events.append(message)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._check()
            _, ready, _ = select.select([], [self._to], [], 0.2)
            if ready:
                try:
                    rest = rest[os.write(self._to, rest) :]
                except OSError as fault:
                    raise BrowserGoneError("the browser ended") from fault

    def _read(self, end: float) -> Message | None:
        """Returns the next message; None if there is none before `end`."""
        while True:
            index = self._rest.find(b"\0")
            if index >= 0:
                text = bytes(self._rest[:index])
                del self._rest[: index + 1]
                try:
                    message = json.loads(text)
                except ValueError as fault:
                    raise BrowserGoneError("no JSON") from fault
                if not isinstance(message, dict):
                    raise BrowserGoneError("no message")
                return message
            self._check()
            left = end - time.monotonic()
            if left <= 0:
                return None
            ready, _, _ = select.select([self._back], [], [], min(left, 0.2))
            if ready:
                data = os.read(self._back, 2**18)
                if not data or len(self._rest) > _LONGEST:
                    raise BrowserGoneError("the browser ended")
                self._rest += data
