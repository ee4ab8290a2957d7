"""Keeps the events of streams, so that a client can resume one after its connection broke.

The SDK passes only a stream's name, which is a request's id and the same in several sessions.
Therefore every session has its own `SessionEvents`; their bytes are limited together. Beyond the
limit the oldest event of the principal with the most bytes is dropped, so that none can drop
another's.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    EventCallback,
    EventMessage,
    EventStore,
)
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

from carrel.config import HttpConfig
from carrel.principal import LOCAL
from carrel.text.printable import escaped_json

#: Bytes that an event takes besides its message.
_OVERHEAD = 200
#: Digits of an event's number, far more than a server counts to.
_MOST_DIGITS = 20


@dataclass(slots=True)
class _Event:
    """A message as JSON text; an object would take many times the memory.

    Attributes:
        text: None for an event without data.
        ends: whether it is the response that ends its stream.
    """

    owner: SessionEvents
    stream: str
    text: bytes | None
    ends: bool
    size: int
    at: float


class EventLog:
    """The events of all sessions, oldest first.

    Args:
        settings: the limits.
        clock: seconds that never go back.
    """

    def __init__(
        self, settings: HttpConfig, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._events: OrderedDict[int, _Event] = OrderedDict()
        #: Principal → numbers of its events, oldest first, and their bytes.
        self._owned: dict[str, OrderedDict[int, None]] = {}
        self._bytes: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    def session(self, principal: str = LOCAL.name) -> SessionEvents:
        """Returns the store of a new session of a principal."""
        return SessionEvents(self, principal)

    def bytes_of(self, principal: str) -> int:
        """Returns the bytes of a principal's events."""
        return self._bytes[principal]

    def add(
        self, owner: SessionEvents, stream: str, text: bytes | None, *, ends: bool = False
    ) -> int:
        """Keeps an event, drops those over the limits, and returns its number."""
        size = _OVERHEAD + len(text or b"")
        number = next(self._numbers)
        self._events[number] = _Event(owner, stream, text, ends, size, self._clock())
        owner.numbers[number] = stream
        self._owned.setdefault(owner.principal, OrderedDict())[number] = None
        self._bytes[owner.principal] += size
        self.bytes += size
        while len(owner.numbers) > self._settings.max_events:
            self.drop(next(iter(owner.numbers)))
        self.expire()
        while self.bytes > self._settings.max_event_bytes:
            [(largest, _)] = self._bytes.most_common(1)
            self.drop(next(iter(self._owned[largest])))
        return number

    def find(self, number: int) -> _Event | None:
        """Returns a kept event."""
        return self._events.get(number)

    def expire(self) -> None:
        """Drops events older than `event_seconds`."""
        oldest = self._clock() - self._settings.event_seconds
        while self._events:
            number, event = next(iter(self._events.items()))
            if event.at >= oldest:
                return
            self.drop(number)

    def drop(self, number: int) -> None:
        """Drops an event."""
        event = self._events.pop(number, None)
        if event is not None:
            self.bytes -= event.size
            event.owner.numbers.pop(number, None)
            principal = event.owner.principal
            self._bytes[principal] -= event.size
            del self._owned[principal][number]
            if not self._owned[principal]:
                del self._owned[principal], self._bytes[principal]


class SessionEvents(EventStore):
    """The events of one session, as the SDK's transport stores and replays them.

    Attributes:
        principal: whose session it is.
        numbers: number of each kept event → its stream, oldest first.
        has_error: whether a response was an error.
    """

    def __init__(self, log: EventLog, principal: str = LOCAL.name) -> None:
        self._log = log
        self.principal = principal
        self.has_error = False
        self.numbers: dict[int, str] = {}
        #: Stream of each call that runs → what is called when it has ended.
        self._unanswered: dict[str, Callable[[], object]] = {}
        #: Set and replaced when an event is stored or a call ends.
        self._changed = asyncio.Event()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keeps an event, and returns its id."""
        self.has_error = self.has_error or isinstance(message, JSONRPCError)
        ends, text = isinstance(message, JSONRPCResponse | JSONRPCError), None
        if message is not None:
            text = escaped_json(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        event = str(self._log.add(self, stream_id, text, ends=ends))
        if ends:
            self.answered(stream_id)
        else:
            self._wake_replays()
        return event

    def knows(self, event_id: str) -> bool:
        """Returns whether the events after this one can be replayed."""
        self._log.expire()
        return _number(event_id) in self.numbers

    def notifies(self, event_id: str) -> bool:
        """Returns whether an event is of the stream that belongs to no request."""
        return self.numbers.get(_number(event_id)) == GET_STREAM_KEY

    def size_after(self, event_id: str) -> int:
        """Returns the bytes of the kept events of the same stream after this one."""
        last = _number(event_id)
        stream = self.numbers.get(last)
        later = [
            number for number, name in self.numbers.items() if number > last and name == stream
        ]
        return sum(event.size for event in map(self._log.find, later) if event is not None)

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Sends the events of the same stream after this one.

        The stream of a running call is sent from here until its response: the SDK would miss what
        comes between the last kept event and the first that it sends itself.

        Returns:
            The stream to continue with; None if its response was sent, or nothing is known.
        """
        if not self.knows(last_event_id):
            return None
        last = _number(last_event_id)
        stream = self.numbers[last]
        last = await self._send_after(last, stream, send_callback)
        if self._ends(last):
            return None
        if stream not in self._unanswered:
            return stream
        while stream in self._unanswered:
            await self._changed.wait()
            last = await self._send_after(last, stream, send_callback)
        return None

    async def _send_after(self, last: int, stream: str, send_callback: EventCallback) -> int:
        """Sends the kept events of a stream up to that which ends it, those included that are kept
        while others are sent; returns the number of the last.
        """
        while not self._ends(last):
            later = (
                number for number, name in self.numbers.items() if number > last and name == stream
            )
            number = next(later, None)
            if number is None:
                break
            event = self._log.find(number)
            if event is not None and event.text is not None:
                message = cast("JSONRPCMessage", _KeptMessage(event.text))
                await send_callback(EventMessage(message, str(number)))
            last = number
        return last

    def _ends(self, number: int) -> bool:
        """Returns whether an event is the response that ends its stream."""
        event = self._log.find(number)
        return event is not None and event.ends

    # Calls that run, whether or not their clients are there

    def expect(self, stream: str) -> None:
        """Notes that a request is served, until `answered`."""
        self._unanswered[stream] = _nothing

    def answered(self, stream: str) -> None:
        """Notes that a request's call has ended."""
        self._unanswered.pop(stream, _nothing)()
        self._wake_replays()

    def when_answered(self, stream: str, then: Callable[[], object]) -> None:
        """Calls `then` when a request's call has ended, at once if it has."""
        if stream in self._unanswered:
            self._unanswered[stream] = then
        else:
            then()

    # Streams of plain calls, whose only message is the response

    def start_stream(self, stream: str) -> str:
        """Keeps an event without data, so that the stream can be resumed; returns its id."""
        return str(self._log.add(self, stream, None))

    def end_stream(self, stream: str, line: bytes | None) -> str | None:
        """Keeps the response, and returns its event's id; None if there is none."""
        return None if line is None else str(self._log.add(self, stream, line, ends=True))

    def forget_stream(self, event: str) -> None:
        """Forgets a stream that the SDK serves instead."""
        self._log.drop(int(event))

    def _wake_replays(self) -> None:
        """Wakes the replays that wait for another event."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def clear(self) -> None:
        """Drops every event, because the session has ended."""
        for number in list(self.numbers):
            self._log.drop(number)
        for stream in list(self._unanswered):
            self.answered(stream)


def _nothing() -> None:
    """Does nothing: no request waits for the call's end."""


def _number(event_id: str) -> int:
    """Returns the number of an event; 0, which none has, for what is no id of this server."""
    digits = event_id.isascii() and event_id.isdigit() and len(event_id) <= _MOST_DIGITS
    return int(event_id) if digits and not event_id.startswith("0") else 0


class _KeptMessage:
    """A message whose JSON text is known. The SDK only writes it, and decoding a large response and
    encoding it again would delay others.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text

    def model_dump_json(self, **_options: Any) -> str:
        """Returns the text as it was kept."""
        return self._text.decode()
