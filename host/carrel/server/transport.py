"""Connects a pair of pipes with the SDK's `Server.run`, and tracks unanswered requests.

Enforces what the SDK does not check, before a message takes resources: the length of a line, the
number of requests in flight, duplicate ids, batches, and a client that does not read its responses.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Self

from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PROTOCOL_VERSION_META_KEY,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from carrel.config import ServerConfig
from carrel.errors import BusyError

from .calls import BUSY, ToolCalls
from .fast_path import FastPath
from .frames import (
    LineCutter,
    Rejection,
    TooLong,
    classify,
    encode,
    encode_rejection,
    encode_response,
    parse,
)
from .pipes import ByteSink, ByteSource

logger = logging.getLogger(__name__)

#: The only revision with batches.
_BATCH_REVISION: Final = "2025-03-26"
#: From this revision on, an error with unknown id omits the id; earlier schemas have no form for
#: it.
_ABSENT_ID_SINCE: Final = "2025-11-25"

#: Number of messages waiting for the SDK at which reading pauses.
_QUEUE_LIMIT: Final = 1024
#: Bytes not yet read by the client at which reading pauses. Far above a pipe's size, because a
#: client may send all its requests before it reads the first response.
_UNREAD_LIMIT: Final = 16 * 2**20
#: The same, at which log and progress notifications are dropped.
_UNREAD_INFORMATION: Final = 2**20
#: Requests that revision 2026-07-28 removed, but that are answered anyway.
_OF_THE_HANDSHAKE: Final = frozenset({"ping", "logging/setLevel"})
_INFORMATION: Final = frozenset({"notifications/progress", "notifications/message"})


class MessageBatch:
    """The responses to a batch, sent together in one line."""

    def __init__(self) -> None:
        self.waiting: set[RequestId] = set()
        self.answers: list[bytes] = []


class Transport:
    """A client's connection.

    Attributes:
        reading: what the SDK reads messages from.
        writing: what the SDK writes messages to.
        ended: set when no further message is read, at the end of input or when the output is
            closed.
    """

    def __init__(
        self,
        source: ByteSource,
        sink: ByteSink,
        settings: ServerConfig,
        *,
        on_first_answer: Callable[[], object] = lambda: None,
    ) -> None:
        self._source = source
        self._sink = sink
        self._settings = settings
        self._cutter = LineCutter(settings.max_line_bytes)
        self._queue: deque[SessionMessage] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._finished = False
        self._paused = False
        self._in_flight: dict[RequestId, MessageBatch | None] = {}
        self._listening: set[RequestId] = set()
        self._abandoned: set[RequestId] = set()
        self._quiet = False
        self._revision: str | None = None
        self._handshake: RequestId | None = None
        self._on_first_answer: Callable[[], object] | None = on_first_answer
        self._fast_path: FastPath | None = None
        self._open = False
        self.broken = False
        self.ended = asyncio.Event()
        self._all_answered = asyncio.Event()
        self._flushed = asyncio.Event()
        self._flushed.set()
        self.reading = ReadStream(self)
        self.writing = WriteStream(self)
        sink.start(self._on_written, self._on_broken)
        source.start(self._on_data, self._on_end)

    def use_fast_path(
        self,
        calls: ToolCalls,
        *,
        find_list: Callable[[str], dict[str, Any] | None] = lambda _revision: None,
    ) -> None:
        """Enables the fast path for plain requests; see `fast_path.FastPath`."""
        self._fast_path = FastPath(calls, self._answer_fast_path, find_list=find_list)

    # Input

    def _on_data(self, chunk: bytes) -> None:
        for line in self._cutter.feed(chunk):
            self._take_line(line)
        self._balance()

    def _on_end(self) -> None:
        rest = self._cutter.finish()
        if rest is not None:
            self._take_line(rest)
        self.stop_reading()

    def stop_reading(self) -> None:
        """Stops reading messages; those already read are still served while the client reads."""
        self._source.close()
        self._sink.watch()
        self.ended.set()
        self._check_all_answered()

    def _on_broken(self) -> None:
        self.broken = True
        self._flushed.set()
        self.stop_reading()
        self.finish()

    def _take_line(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            limit = self._settings.max_line_bytes
            message = f"the message is longer than {limit} bytes"
            self._reject(Rejection(INVALID_REQUEST, message, line.id))
            return
        if not line or line.isspace():
            return
        value = parse(line)
        if isinstance(value, list):
            self._take_batch(value)
        else:
            self._take(value if isinstance(value, Rejection) else classify(value))

    def _take_batch(self, values: list[Any]) -> None:
        if self._revision != _BATCH_REVISION or not values:
            reason = "an empty batch" if not values else "this protocol revision has no batches"
            self._reject(Rejection(INVALID_REQUEST, reason))
            return
        batch = MessageBatch()
        for value in values:
            self._take(classify(value), batch)
        self._send_if_complete(batch)

    def _take(
        self, message: JSONRPCMessage | Rejection | None, batch: MessageBatch | None = None
    ) -> None:
        if isinstance(message, JSONRPCRequest):
            if batch is None and self._is_keep_alive(message):
                self._write(encode_response(message.id, {"resultType": "complete"}))
                return
            rejection = self._admit(message, batch)
            if rejection is None:
                if batch is None and self._takes_fast_path(message):
                    return
                hook = partial(self._drop_unanswered, message.id)
                metadata = ServerMessageMetadata(on_request_unanswered=hook)
                self._put(SessionMessage(message, metadata))
                return
            message = rejection
        if isinstance(message, Rejection):
            self._reject(message, batch)
        elif message is not None:
            if self._fast_path is not None and isinstance(message, JSONRPCNotification):
                self._fast_path.notice(message)
            self._put(SessionMessage(message))

    def _is_keep_alive(self, request: JSONRPCRequest) -> bool:
        """Returns whether it is a request of an older revision, without `_meta`, on a newer
        connection.

        Clients that support both send such requests, and treat an error as a broken connection.
        """
        return (
            request.method in _OF_THE_HANDSHAKE
            and self._revision in MODERN_PROTOCOL_VERSIONS
            and "_meta" not in (request.params or {})
            and request.id not in self._in_flight
        )

    def _takes_fast_path(self, request: JSONRPCRequest) -> bool:
        fast_path, revision = self._fast_path, self._revision
        return (
            self._open
            and fast_path is not None
            and revision is not None
            and fast_path.take(request, revision)
        )

    def _admit(self, request: JSONRPCRequest, batch: MessageBatch | None) -> Rejection | None:
        id_ = request.id
        if id_ in self._in_flight:
            # Without an id, because with this one it would look like the response to the first
            # request.
            return Rejection(INVALID_REQUEST, f"the request id {id_!r:.100} is in use")
        if len(self._in_flight) >= self._settings.max_in_flight:
            busy = BusyError(self._settings.max_in_flight)
            return Rejection(BUSY, busy.message, id_, {"error": busy.to_dict()})
        self._in_flight[id_] = batch
        if batch is not None:
            batch.waiting.add(id_)
        if request.method == "initialize":
            self._handshake = id_
        elif request.method == "subscriptions/listen":
            self._listening.add(id_)
        if self._revision is None and request.params and request.method != "initialize":
            meta = request.params.get("_meta")
            if isinstance(meta, dict) and isinstance(meta.get(PROTOCOL_VERSION_META_KEY), str):
                self._revision = meta[PROTOCOL_VERSION_META_KEY]
        return None

    def _put(self, message: SessionMessage) -> None:
        self._queue.append(message)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _balance(self) -> None:
        """Pauses or resumes reading, depending on the queue of messages and unread responses."""
        full = len(self._queue) >= _QUEUE_LIMIT or self._sink.pending >= _UNREAD_LIMIT
        if full and not self._paused:
            self._paused = True
            self._source.pause()
        elif self._paused and (
            len(self._queue) < _QUEUE_LIMIT // 2 and self._sink.pending < _UNREAD_LIMIT // 2
        ):
            self._paused = False
            self._source.resume()

    async def receive(self) -> SessionMessage | None:
        """Returns the next message; None at the end."""
        while not self._queue:
            if self._finished:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        message = self._queue.popleft()
        if self._paused:
            self._balance()
        return message

    def abandon(self) -> None:
        """Stops writing responses to running requests; subscriptions end with their results.

        A client that closed its end, or sent a signal, does not expect responses to cancelled
        calls.
        """
        self._quiet = True
        for id_, batch in self._in_flight.items():
            if id_ in self._listening or id_ in self._abandoned:
                continue
            self._abandoned.add(id_)
            if batch is not None:
                batch.waiting.discard(id_)
                self._send_if_complete(batch)

    def finish(self) -> None:
        """Ends the SDK's stream of messages, and cancels what still runs."""
        self.abandon()
        self._finished = True
        if self._fast_path is not None:
            self._fast_path.close()
        self._wake()

    # Output

    def deliver(self, message: JSONRPCMessage) -> None:
        """Writes a message of the server without waiting."""
        if isinstance(message, JSONRPCNotification | JSONRPCRequest):
            if self._quiet and message.method in _INFORMATION:
                return
            if self._sink.pending < _UNREAD_INFORMATION or message.method not in _INFORMATION:
                self._write(encode(message))
            return
        if isinstance(message, JSONRPCResponse) and message.id == self._handshake:
            self._handshake = None
            self._open = True
            self._revision = message.result.get("protocolVersion", self._revision)
        self._answer(message.id, encode(message))

    def _reject(self, rejection: Rejection, batch: MessageBatch | None = None) -> None:
        may_omit_id = self._revision is not None and self._revision >= _ABSENT_ID_SINCE
        line = encode_rejection(rejection, null_id=not may_omit_id)
        if batch is None:
            self._write(line)
        else:
            batch.answers.append(line)

    def _answer(self, id_: RequestId | None, line: bytes) -> None:
        if id_ in self._abandoned:
            self._leave_unanswered(id_)
            return
        batch = self._release(id_)
        if batch is None:
            self._write(line)
        else:
            batch.answers.append(line)
            self._send_if_complete(batch)

    def _release(self, id_: RequestId | None) -> MessageBatch | None:
        """Removes a request from the unanswered ones, and returns its batch, if any."""
        if id_ is None:
            return None
        batch = self._in_flight.pop(id_, None)
        self._listening.discard(id_)
        if batch is not None:
            batch.waiting.discard(id_)
        self._check_all_answered()
        return batch

    def _answer_fast_path(self, id_: RequestId, line: bytes | None) -> None:
        if line is None:
            self._leave_unanswered(id_)
        else:
            self._answer(id_, line)

    async def _drop_unanswered(self, id_: RequestId) -> None:
        self._leave_unanswered(id_)

    def _leave_unanswered(self, id_: RequestId | None) -> None:
        """Drops a cancelled request without a response, also from its batch."""
        batch = self._release(id_)
        if batch is not None:
            self._send_if_complete(batch)

    def _send_if_complete(self, batch: MessageBatch) -> None:
        if not batch.waiting and batch.answers:
            answers, batch.answers = batch.answers, []
            self._write(b"[" + b",".join(answers) + b"]")

    def _write(self, line: bytes) -> None:
        self._flushed.clear()
        self._sink.write(line + b"\n")
        self._on_written()
        if self._on_first_answer is not None:
            started, self._on_first_answer = self._on_first_answer, None
            started()

    def _on_written(self) -> None:
        if self._sink.pending == 0 or self.broken:
            self._flushed.set()
        self._balance()

    # The end

    def _check_all_answered(self) -> None:
        if self.ended.is_set() and len(self._in_flight) <= len(self._listening):
            self._all_answered.set()

    async def all_answered(self) -> None:
        """Waits until input has ended and every request except subscriptions is answered."""
        await self._all_answered.wait()

    async def flushed(self) -> None:
        """Waits until the client has read every line, or is gone."""
        await self._flushed.wait()

    def close(self) -> None:
        """Closes both pipes; lines that the client has not read are lost."""
        self._source.close()
        self._sink.close()


class ReadStream:
    """The connection's messages, as the SDK reads them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        message = await self._transport.receive()
        if message is None:
            raise StopAsyncIteration
        return message

    async def receive(self) -> SessionMessage | Exception:
        """Returns the next message.

        Raises:
            EndOfStream: there is none.
        """
        from anyio import EndOfStream

        message = await self._transport.receive()
        if message is None:
            raise EndOfStream
        return message

    async def aclose(self) -> None:
        """Nothing to do: the connection outlives the SDK's loop."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> bool | None:
        return None


class WriteStream:
    """The SDK's output stream; a write never waits, so cancellation cannot interrupt it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, item: SessionMessage, /) -> None:
        """Writes one message."""
        message = item.message
        if isinstance(message, JSONRPCError) and message.id is None:
            return  # it would answer no request
        self._transport.deliver(message)

    async def aclose(self) -> None:
        """Nothing to do: the connection outlives the SDK's loop."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> bool | None:
        return None
