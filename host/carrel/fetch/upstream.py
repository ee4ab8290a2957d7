"""One hop: pace, resolve, connect, send, read; and again where that can help."""

from __future__ import annotations

import logging
import random
import ssl
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import httpcore2

from carrel.exchange import Failure

from . import failures
from .breaker import Breaker
from .clock import Clock
from .connect import Connections, NoAddressError, PrivateAddressError, _Connection
from .decode import BodyReader, TooLargeError, UndecodableError
from .errand import Answer, Errand
from .gate import Gate, PaceExceededError, Turn
from .identity import Attachment
from .policy import HostRule
from .retry import backoff, declared_interval, is_retried, retry_after
from .settings import FetchSettings
from .throttle import Buckets
from .url import Target

log = logging.getLogger("carrel.fetch")

#: Statuses whose Location is followed.
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _BrokenError(Exception):
    """An attempt that brought no answer, and that another may mend.

    Attributes:
        word: for the trace.
        message: for a person; names the host.
        silent: whether the upstream just did not answer.
        final: whether trying again is pointless.
    """

    def __init__(
        self, word: str, message: str, *, silent: bool = False, final: bool = False
    ) -> None:
        self.word = word
        self.message = message
        self.silent = silent
        self.final = final
        super().__init__(word)


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of a chain of redirects, allowed by its rule."""

    method: str
    target: Target
    rule: HostRule
    attachment: Attachment


class Upstreams:
    """Every upstream's gate and breaker; lives on the event loop."""

    def __init__(
        self,
        settings: FetchSettings,
        connections: Connections,
        buckets: Buckets,
        *,
        executor: Executor,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self.connections = connections
        self.clock = clock
        self.jitter = jitter
        self._buckets = buckets
        self._executor = executor
        self._gates: dict[str, Gate] = {}
        self._breakers: dict[str, Breaker] = {}

    def adopt(self, rule: HostRule) -> tuple[Gate, Breaker]:
        """The rule's upstream, with the rule's manners taken over."""
        gate = self._gates.get(rule.upstream)
        if gate is None:
            gate = Gate(rule.upstream, self._buckets, self._executor, self.clock)
            self._gates[rule.upstream] = gate
            self._breakers[rule.upstream] = Breaker(
                self.settings.breaker_failures,
                self.settings.breaker_seconds,
                self.clock,
                self.jitter,
            )
        gate.adopt(rule)
        return gate, self._breakers[rule.upstream]

    async def ask(self, errand: Errand, hop: Hop) -> Answer | Failure:
        """The answer of one hop, or why there is none after all retries."""
        return await _Attempts(self, errand, hop).run()


class _Attempts:
    """The attempts at one hop. Its name is resolved once, however many there are."""

    def __init__(self, upstreams: Upstreams, errand: Errand, hop: Hop) -> None:
        self._settings = upstreams.settings
        self._connections = upstreams.connections
        self._clock = upstreams.clock
        self._jitter = upstreams.jitter
        self._gate, self._breaker = upstreams.adopt(hop.rule)
        self._errand = errand
        self._method = hop.method
        self._target = hop.target
        self._attachment = hop.attachment
        self._addresses: tuple[str, ...] = ()
        self._turn: Turn | None = None

    async def run(self) -> Answer | Failure:
        """Tries until there is an answer, or no sense or time in trying again."""
        attempt = 0
        while True:
            attempt += 1
            result = await self._one_turn()
            if isinstance(result, Failure):
                return result
            if isinstance(result, Answer) and not is_retried(result.status):
                self._breaker.succeeded()
                interval = declared_interval(result.headers)
                if interval is not None:
                    self._gate.slow_to(interval)
                return result
            failure = await self._before_next(attempt, result)
            if failure is not None:
                return failure

    async def _one_turn(self) -> Answer | Failure | _BrokenError:
        host, url = self._target.host, self._target.url
        if self._breaker.wait:
            return self._left_alone(self._breaker.wait)
        self._errand.phase = f"for the turn at {host}"
        started = self._clock.monotonic()
        try:
            async with self._gate.slot(self._errand.caller, self._errand.latest) as turn:
                self._errand.phase = f"for {host} to answer"
                wait = self._breaker.admit()
                if wait:
                    return self._left_alone(wait)
                self._turn, started = turn, self._clock.monotonic()
                return await self._attempt()
        except PaceExceededError as fault:
            return failures.rate_limited(url, host, fault.seconds)
        except PrivateAddressError:
            self._breaker.abandoned()
            message = f"{host} resolves to an address that is not public"
            return failures.denied(url, "private_address", message)
        except NoAddressError:
            self._breaker.abandoned()
            return failures.unreachable(url, f"{host} has no address; check the network and name")
        except TooLargeError as fault:
            self._breaker.succeeded()
            return failures.too_large(url, host, self._errand.cap, what=fault.what)
        except UndecodableError as fault:
            self._breaker.succeeded()
            return failures.undecodable(url, host, str(fault))
        except _BrokenError as fault:
            self._errand.note(host, fault.word, self._clock.monotonic() - started)
            return fault
        except BaseException:
            # Cancelled, or out of time: nothing is known about the upstream but its silence.
            self._errand.note(host, "no answer in time", self._clock.monotonic() - started)
            self._breaker.abandoned()
            raise

    async def _before_next(
        self, attempt: int, result: Answer | _BrokenError
    ) -> Answer | Failure | None:
        """Waits before the next attempt; or what the request ends with, when there is none."""
        host, url = self._target.host, self._target.url
        more = attempt <= self._settings.retries
        if isinstance(result, _BrokenError):
            self._breaker.failed()
            pause = backoff(attempt, self._jitter())
            if result.final or not more or self._clock.monotonic() + pause > self._errand.latest:
                if result.silent:
                    return failures.timeout(url, host, self._settings.read_seconds)
                return failures.unreachable(url, result.message)
            await self._clock.sleep(pause)
            return None
        if result.status == 429:
            self._breaker.succeeded()
        else:
            self._breaker.failed()
        asked = retry_after(
            result.headers, self._clock.wall(), self._settings.retry_after_max_seconds
        )
        pause = backoff(attempt, self._jitter(), status=result.status) if asked is None else asked
        late = self._clock.monotonic() + pause > self._errand.latest
        if asked is not None or result.status == 429:
            # Taken from the bucket, so that everybody waits, and then waited for in the queue.
            await self._gate.penalise(pause)
            if not more or late:
                return failures.rate_limited(url, host, pause)
            return None
        if not more or late:
            return result
        await self._clock.sleep(pause)
        return None

    def _left_alone(self, wait: float) -> Failure:
        host = self._target.host
        return failures.unreachable(
            self._target.url, f"{host} keeps failing and is left alone for {wait:.0f} s more"
        )

    async def _attempt(self) -> Answer:
        host = self._target.host
        if not self._addresses:
            try:
                self._addresses = await self._connections.resolve(host)
            except OSError as fault:
                raise _BrokenError(
                    "name not resolved", f"the name {host} cannot be looked up; check the network"
                ) from fault
        started = self._clock.monotonic()
        try:
            answer = await self._exchange()
        except httpcore2.TimeoutException as fault:
            raise _BrokenError(
                "timed out", f"{host} did not answer in time", silent=True
            ) from fault
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as fault:
            # By its type alone: the text may quote the upstream, and that may echo a secret.
            log.debug("an attempt at %s failed: %s", host, type(fault).__name__)
            raise _explain(host, fault) from fault
        self._errand.note(host, f"status {answer.status}", self._clock.monotonic() - started)
        return answer

    async def _exchange(self) -> Answer:
        for fresh in (False, True):
            connection = self._connections.take(self._target.host, self._addresses, fresh=fresh)
            try:
                response = await connection.send(self._make_request())
            except (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError):
                await connection.aclose()
                if connection.used and not fresh:
                    # The upstream had closed an idle connection; it never saw the request.
                    continue
                raise
            except BaseException:
                await connection.aclose()
                raise
            return await self._read(connection, response)
        raise httpcore2.ConnectError  # pragma: no cover -- the second turn returns or raises

    async def _read(self, connection: _Connection, response: httpcore2.Response) -> Answer:
        try:
            headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in response.headers
            )
            answer = Answer(response.status, headers)
            bodiless = self._method == "HEAD" or response.status in {204, 304}
            if response.status in REDIRECTS and not bodiless:
                return answer
            if not bodiless:
                length = answer.header("content-length") or ""
                if length.isascii() and length.isdigit() and int(length[:18]) > self._errand.cap:
                    raise TooLargeError("the answer")
            encodings = [value for name, value in headers if name.lower() == "content-encoding"]
            reader = BodyReader([] if bodiless else encodings, self._errand.cap)
            async for chunk in response.aiter_stream():
                reader.feed(chunk)
            return Answer(response.status, headers, reader.finish())
        finally:
            await response.aclose()
            await self._connections.give_back(connection)

    async def _trace(self, event: str, _info: Any) -> None:
        """What httpcore calls at every step."""
        if event == "http11.send_request_headers.started" and self._turn is not None:
            await self._gate.leave(self._turn)

    def _make_request(self) -> httpcore2.Request:
        errand = self._errand
        headers = {"Host": self._target.host, "Accept": "*/*", "Accept-Encoding": "gzip"}
        headers |= {name.title(): value for name, value in errand.headers}
        headers |= dict(self._attachment.headers)
        content = b""
        if self._method == "POST":
            content = errand.body
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
            headers["Content-Length"] = str(len(content))
        else:
            headers.pop("Content-Type", None)
        settings = self._settings
        return httpcore2.Request(
            self._method,
            httpcore2.URL(
                scheme=b"https",
                host=self._target.host.encode(),
                target=self._attachment.resource.encode(),
            ),
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            content=content,
            extensions={
                "trace": self._trace,
                "timeout": {
                    "connect": settings.connect_seconds,
                    "read": settings.read_seconds,
                    "write": settings.read_seconds,
                    "pool": settings.connect_seconds,
                },
            },
        )


def _explain(host: str, fault: Exception) -> _BrokenError:
    """What went wrong, in our words: an exception's text may quote the upstream."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _BrokenError(
                "certificate refused",
                f"the certificate of {host} is not trusted for that name; "
                "a proxy's own authority can be added with fetch.ca_bundle",
                final=True,
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(fault, httpcore2.ConnectError):
        return _BrokenError("not connected", f"no connection to {host} could be made")
    if isinstance(fault, httpcore2.ProtocolError):
        return _BrokenError("broken answer", f"{host} cut its answer short or broke HTTP's rules")
    return _BrokenError("connection lost", f"the connection to {host} was lost")
