"""Makes the attempts at one hop: pace, resolve, connect, send, read, retry."""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from carrel import telemetry
from carrel.exchange import FILE_STATUSES, Failure, FileRefusedError

from . import failures
from .clock import Clock
from .connect import (
    Connection,
    Connections,
    NoAddressError,
    NotConnectedError,
    PrivateAddressError,
)
from .decode import BodyReader, TooLargeError, UndecodableError
from .fair_permits import FairPermits
from .http1 import (
    Head,
    LostError,
    MalformedError,
    SilentError,
    UnsendableError,
    WireError,
    WireRequest,
)
from .identity import Attachment
from .least_recent import LeastRecent
from .pending_request import OverBudgetError, PendingRequest, RawResponse
from .policy.endpoint import ENDPOINT
from .policy.rules import HostRule, Policy
from .receive import receive_file
from .retry import (
    Breaker,
    backoff,
    budget_reset,
    declared_interval,
    is_retried,
    retry_after,
)
from .scheduler import FairScheduler
from .settings import FetchSettings
from .shared_breaker import CircuitStore, SharedBreaker
from .token_buckets import PaceStore
from .upstream_queue import GrantedSlot, PaceExceededError, PaceUnknownError, UpstreamQueue
from .url import Target

log = logging.getLogger("carrel.fetch")

#: Statuses whose Location is followed.
REDIRECTS = frozenset({301, 302, 303, 307, 308})


#: Upstreams whose queue and breaker are kept although nothing depends on them.
_MOST_UPSTREAMS = 1024
#: Threads that write downloads; more wait.
_SINK_THREADS = 4

#: Errors that are never retried.
_FINAL = (
    PaceExceededError,
    PrivateAddressError,
    NoAddressError,
    TooLargeError,
    UndecodableError,
    OverBudgetError,
    UnsendableError,
    FileRefusedError,
)


class _BrokenError(Exception):
    """A failed attempt that a retry may mend.

    Attributes:
        word: for the trace.
        message: for a person; names the host.
        silent: whether the upstream did not respond in time.
        final: whether it is not retried.
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


@dataclass(frozen=True, slots=True)
class Admission:
    """The queues and the breaker that a request to an upstream passes.

    Attributes:
        own: the queue of the request's own partition, which responses may slow.
        name: the upstream's, for metrics.
        shared: the queue of the built-in plugins' rule for the host, which requests of other
            partitions pass too, without changing its pace.
        breaker: of the own partition.
        permits: requests that the plugin may have in flight over all hosts; None for the built-in
            plugins.
    """

    own: UpstreamQueue
    breaker: Breaker
    name: str
    shared: UpstreamQueue | None = None
    permits: FairPermits | None = None


class Upstreams:
    """The queues and breakers of all upstreams; used on the event loop only.

    On the public web each new host has a queue and a breaker. Those of hosts that were not
    requested for long are removed, but never a queue that requests wait in or that keeps a pace,
    nor a breaker that is open or counts recent failures: what is removed is what a new one would
    be.
    """

    def __init__(
        self,
        settings: FetchSettings,
        connections: Connections,
        buckets: PaceStore,
        *,
        executor: Executor,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
        circuits: CircuitStore | None = None,
    ) -> None:
        self.settings = settings
        self.connections = connections
        self.clock = clock
        self.jitter = jitter
        self._buckets = buckets
        self._executor = executor
        self._circuits = circuits
        self.scheduler = FairScheduler()
        self._queues: LeastRecent[UpstreamQueue] = LeastRecent(_MOST_UPSTREAMS, _is_idle)
        self._breakers: LeastRecent[Breaker] = LeastRecent(_MOST_UPSTREAMS, _is_forgettable)
        #: Bucket → plugin and upstream, for metrics; of breakers that are kept, and some others.
        self._names: dict[str, tuple[str, str]] = {}
        self._permits: dict[str, FairPermits] = {}
        self._sinks: ThreadPoolExecutor | None = None

    @property
    def sinks(self) -> Executor:
        """The threads that write downloads; made when first needed."""
        if self._sinks is None:
            self._sinks = ThreadPoolExecutor(_SINK_THREADS, "carrel-download")
        return self._sinks

    def close(self) -> None:
        """Ends the threads that write downloads, without waiting for a disk that hangs."""
        if self._sinks is not None:
            self._sinks.shutdown(wait=False, cancel_futures=True)

    def admission(self, policy: Policy, rule: HostRule, host: str) -> Admission:
        """Returns the queues for a host, and applies the rule's limits to them."""
        bucket = policy.bucket(rule)
        own = self._queue_of(bucket)
        own.adopt(rule)
        breaker = self._breakers.get(bucket)
        if breaker is None:
            breaker = self._make_breaker(bucket)
            self._breakers.put(bucket, breaker)
        name = policy.upstream_name(rule)
        if bucket not in self._names:
            self._names[bucket] = policy.plugin, name
            if len(self._names) > 2 * max(_MOST_UPSTREAMS, len(self._breakers)):
                remaining = {key for key, _ in self._breakers.items()}
                self._names = {key: names for key, names in self._names.items() if key in remaining}
        if not policy.partition:
            return Admission(own, breaker, name)
        permits = self._permits.get(policy.partition)
        if permits is None:
            permits = FairPermits(self.settings.plugin_concurrency)
            self._permits[policy.partition] = permits
        floor = policy.shared_rule(host)
        if floor is None:
            return Admission(own, breaker, name, permits=permits)
        shared = self._queue_of(floor.upstream)
        shared.adopt_floor(floor)
        return Admission(own, breaker, name, shared, permits)

    def states(self) -> list[telemetry.UpstreamState]:
        """Returns the pace and the breaker of every upstream; thread-safe."""
        found = []
        for bucket, breaker in self._breakers.items():
            own, name = self._queues.peek(bucket), self._names.get(bucket)
            if own is None or name is None:
                continue
            queue, (plugin, upstream) = own.state(), name
            found.append(
                telemetry.UpstreamState(
                    plugin,
                    upstream,
                    queue.interval,
                    queue.concurrency,
                    queue.in_flight,
                    queue.waiting,
                    queue.paused,
                    breaker.wait,
                    breaker.failures,
                )
            )
        return found

    def _make_breaker(self, bucket: str) -> Breaker:
        failures, seconds = self.settings.breaker_failures, self.settings.breaker_seconds
        if self._circuits is None:
            return Breaker(failures, seconds, self.clock, self.jitter)
        return SharedBreaker(
            bucket,
            self._circuits,
            self._executor,
            failures=failures,
            seconds=seconds,
            clock=self.clock,
            jitter=self.jitter,
        )

    def _queue_of(self, bucket: str) -> UpstreamQueue:
        queue = self._queues.get(bucket)
        if queue is None:
            queue = UpstreamQueue(bucket, self._buckets, self._executor, self.clock)
            self._queues.put(bucket, queue)
        return queue

    async def ask(self, pending: PendingRequest, hop: Hop) -> RawResponse | Failure:
        """Returns the response of one hop, or the failure after all retries."""
        return await _Attempts(self, pending, hop).run()


class _Attempts:
    """The attempts at one hop. Its name is resolved once for all of them.

    A POST may have an effect, and then must not be repeated (RFC 9110, section 9.2.2). It is
    retried only when it certainly had none: it was not sent, or the response is 429 or has a
    Retry-After. A POST that the manifest lets the cache answer (`cache_seconds`) is a read, so it
    is retried like a GET.
    """

    def __init__(self, upstreams: Upstreams, pending: PendingRequest, hop: Hop) -> None:
        self._upstreams = upstreams
        self._settings = upstreams.settings
        self._connections = upstreams.connections
        self._clock = upstreams.clock
        self._jitter = upstreams.jitter
        self._scheduler = upstreams.scheduler
        self._partition = pending.policy.partition
        self._admission = upstreams.admission(pending.policy, hop.rule, hop.target.host)
        self._breaker = self._admission.breaker
        self._pending = pending
        self._method = hop.method
        self._repeatable = hop.method != "POST" or hop.rule.cache_seconds > 0
        self._target = hop.target
        self._attachment = hop.attachment
        # A request to a server of the operator's own names a stand-in.
        self._endpoint = pending.policy.endpoint if hop.target.host == ENDPOINT else None
        self._addresses: tuple[str, ...] = ()
        self._slots_held: list[tuple[UpstreamQueue, GrantedSlot]] = []
        #: Whether the breaker has admitted the attempt, which then must report its outcome.
        self._admitted = False
        self._observed: telemetry.AttemptReport | None = None

    async def run(self) -> RawResponse | Failure:
        """Makes attempts until one succeeds, or another would be useless or too late."""
        attempt = 0
        while True:
            attempt += 1
            result = await self._one_attempt()
            if isinstance(result, Failure):
                return result
            if isinstance(result, RawResponse) and not is_retried(result.status):
                self._breaker.succeeded()
                interval = declared_interval(result.headers)
                if interval is not None:
                    self._admission.own.slow_to(interval)
                return result
            failure = await self._before_next(attempt, result)
            if failure is not None:
                return failure

    async def _one_attempt(self) -> RawResponse | Failure | _BrokenError:
        observer = telemetry.observer()
        if observer is None:
            return await self._try_once()
        with observer.attempt(
            self._pending.plugin, self._admission.name, self._target.host, self._method
        ) as self._observed:
            result = await self._try_once()
            self._observed.ended(_result_word(result))
        return result

    async def _try_once(self) -> RawResponse | Failure | _BrokenError:
        host = self._target.host
        self._admitted = False
        if self._breaker.wait:
            return self._circuit_open(self._breaker.wait)
        started = self._clock.monotonic()
        try:
            async with self._slots() as slots:
                self._pending.phase = lambda: f"waiting for {host} to answer"
                self._slots_held, started = slots, self._clock.monotonic()
                wait = await self._breaker.consult(slots[0][1].slot)
                if wait:
                    await self._give_back()
                    return self._circuit_open(wait)
                wait = self._breaker.admit()
                if wait:
                    return self._circuit_open(wait)
                self._admitted = True
                if self._observed is not None:
                    self._observed.sent()
                return await self._attempt()
        except _FINAL as fault:
            return self._ended_by(fault)
        except _BrokenError as fault:
            self._pending.note(host, fault.word, self._clock.monotonic() - started)
            return fault
        except BaseException:
            # Cancelled or out of time: nothing is known about the upstream.
            self._pending.note(host, "no answer in time", self._clock.monotonic() - started)
            if self._admitted:
                self._breaker.abandoned()
            raise

    def _ended_by(self, fault: Exception) -> Failure:
        """Returns the failure of an error that is not retried; updates the breaker."""
        host, url = self._target.host, self._target.url
        if isinstance(fault, TooLargeError | UndecodableError | FileRefusedError):
            self._breaker.succeeded()
        elif self._admitted:
            # Not the upstream's fault: the request was not sent, or its own limits ended it.
            self._breaker.abandoned()
        match fault:
            case PaceExceededError():
                return _paced(url, host, fault)
            case PrivateAddressError():
                return self._private_address()
            case NoAddressError():
                message = f"{host} has no address; check the network and name"
                return failures.unreachable(url, message)
            case TooLargeError():
                return failures.too_large(url, host, self._pending.cap, what=fault.what)
            case UndecodableError() | FileRefusedError():
                return failures.undecodable(url, host, str(fault))
            case OverBudgetError(allowed=None):
                self._pending.own_end = True
                return failures.not_made(url)
            case OverBudgetError(allowed=int(allowed)):
                return failures.over_plugin_budget(url, self._pending.plugin, allowed)
        return failures.denied(url, "header_not_allowed", "HTTP does not allow the request")

    def _private_address(self) -> Failure:
        """Denies a request to a special address; says nothing about an operator's own server."""
        url, host, plugin = self._target.url, self._target.host, self._pending.policy.plugin
        if self._endpoint is None:
            message = f"{host} resolves to an address that is not public"
            return failures.denied(url, "private_address", message)
        return failures.denied(
            url,
            "private_address",
            f"the endpoint of {plugin} is on an address that is not allowed",
            grant=f"plugins.{plugin}.runtime_config.endpoint.private = true",
        )

    async def _before_next(
        self, attempt: int, result: RawResponse | _BrokenError
    ) -> RawResponse | Failure | None:
        """Waits before the next attempt; returns the outcome when there is none."""
        host, url = self._target.host, self._target.url
        more = attempt <= self._settings.retries
        if isinstance(result, _BrokenError):
            self._failed()
            pause = backoff(attempt, self._jitter())
            if result.final or not more or self._clock.monotonic() + pause > self._pending.latest:
                if result.silent:
                    return failures.timeout(url, host, self._settings.read_seconds)
                return failures.unreachable(url, result.message)
            await self._rest(result.message, pause)
            return None
        if result.status == 429:
            self._breaker.succeeded()
        else:
            self._failed()
        requested = retry_after(
            result.headers, self._clock.wall(), self._settings.retry_after_max_seconds
        )
        pause = (
            backoff(attempt, self._jitter(), status=result.status)
            if requested is None
            else requested
        )
        late = self._clock.monotonic() + pause > self._pending.latest
        renewed = budget_reset(result.headers, self._clock.wall())
        if result.status == 429 and requested is None and renewed is not None:
            # A spent budget is renewed in hours and counts some requests only: nobody is held up.
            return failures.rate_limited(url, host, renewed)
        if requested is not None or result.status == 429:
            # Taken from the bucket, so that every process waits, and then waited for in the queue.
            await self._admission.own.penalise(pause, asked=requested is not None)
            if not more or late:
                return failures.rate_limited(url, host, pause)
            return None
        if not more or late or not self._repeatable:
            return result
        await self._rest(f"{host} answered with status {result.status}", pause)
        return None

    def _failed(self) -> None:
        """Counts a failure, and reports it if it opens the circuit."""
        was_open = self._breaker.wait > 0
        self._breaker.failed()
        observer = telemetry.observer()
        if observer is not None and self._breaker.wait > 0 and not was_open:
            observer.circuit_opened(self._pending.plugin, self._admission.name)

    async def _rest(self, why: str, seconds: float) -> None:
        """Waits before the next attempt, and reports why."""
        self._pending.phase = lambda: f"{why}; trying again in {seconds:.1f} s"
        await self._clock.sleep(seconds)

    @asynccontextmanager
    async def _slots(self) -> AsyncIterator[list[tuple[UpstreamQueue, GrantedSlot]]]:
        """Waits for a slot of every queue, and holds them inside the block."""
        pending, admission = self._pending, self._admission
        name = pending.policy.title or self._target.host
        async with AsyncExitStack() as stack:
            pending.phase = partial(admission.own.describe, name)
            slots = [
                (
                    admission.own,
                    await stack.enter_async_context(
                        admission.own.slot(pending.caller, pending.latest, owner=pending.owner)
                    ),
                )
            ]
            if admission.permits is not None:
                most = self._settings.plugin_concurrency
                pending.phase = lambda: f"waiting for one of the plugin's {most} requests to end"
                await stack.enter_async_context(admission.permits.held(pending.owner))
            if admission.shared is not None:
                # Last, so that no request holds the shared slot while it waits for its own.
                pending.phase = partial(admission.shared.describe, self._target.host)
                slot = admission.shared.slot(pending.caller, pending.latest, self._partition)
                slots.append((admission.shared, await stack.enter_async_context(slot)))
            yield slots

    def _circuit_open(self, wait: float) -> Failure:
        host = self._target.host
        return failures.unreachable(
            self._target.url,
            f"{host}: circuit open for another {wait:.0f} s after repeated failures",
        )

    async def _attempt(self) -> RawResponse:
        host = self._target.host
        if not self._addresses:
            try:
                self._addresses = await self._connections.resolve(
                    host, self._partition, self._endpoint
                )
            except (NoAddressError, PrivateAddressError):
                await self._give_back()
                raise
            except OSError as fault:
                await self._give_back()
                raise _BrokenError(
                    "name not resolved", f"the name {host} cannot be looked up; check the network"
                ) from fault
        started = self._clock.monotonic()
        try:
            answer = await self._exchange()
        except NotConnectedError as fault:
            raise _unconnected(host, fault) from fault
        except UnsendableError:
            raise
        except WireError as fault:
            # The type alone: the text may quote the upstream, which may echo a secret.
            log.debug("an attempt at %s failed: %s", host, type(fault).__name__)
            broken = _broken(host, fault)
            # Only a request that was not sent, or that has no effect, is retried.
            if fault.maybe_sent and not self._repeatable:
                broken.final = True
                broken.message += "; the request may have arrived, so it is not repeated"
            raise broken from fault
        self._pending.note(host, f"status {answer.status}", self._clock.monotonic() - started)
        return answer

    async def _give_back(self) -> None:
        """Returns the slots of a request that was not sent."""
        for queue, slot in self._slots_held:
            await queue.give_back(slot)

    async def _exchange(self) -> RawResponse:
        host, port, partition = self._target.host, self._target.port, self._partition
        connection = self._connections.idle(partition, host, self._addresses, port)
        if connection is not None:
            try:
                return await self._ask(connection)
            except LostError:
                # The upstream may have closed the idle connection while the request was being sent.
                if not self._repeatable:
                    raise
        return await self._ask(
            await self._connections.connect(partition, host, self._addresses, port, self._endpoint)
        )

    async def _ask(self, connection: Connection) -> RawResponse:
        try:
            head = await connection.http.request(
                self._make_request(), self._scheduler, before_sending=self._before_sending
            )
            answer = await self._read(connection, head)
        except BaseException:
            connection.http.close()
            self._pending.charge.discard()
            raise
        self._connections.give_back(connection)
        return answer

    async def _read(self, connection: Connection, head: Head) -> RawResponse:
        answer = RawResponse(head.status, head.headers)
        bodiless = self._method == "HEAD" or head.status in {204, 304}
        if head.status in REDIRECTS and not bodiless:
            return answer
        if self._pending.sink is not None and head.status in FILE_STATUSES:
            self._pending.phase = lambda: f"receiving from {self._target.host}"
            body = connection.http.body(self._scheduler)
            sinks = self._upstreams.sinks
            await receive_file(head, self._target, body, self._pending.sink, sinks)
            return answer
        if not bodiless:
            length = answer.header("content-length") or ""
            if length.isascii() and length.isdigit() and int(length[:18]) > self._pending.cap:
                raise TooLargeError("the answer")
        encodings = [value for name, value in head.headers if name.lower() == "content-encoding"]
        reader = BodyReader([] if bodiless else encodings, self._pending.cap)
        async for data in connection.http.body(self._scheduler):
            for size in reader.feed(data):
                self._pending.charge.add(size)
                await self._scheduler.checkpoint()
        return RawResponse(head.status, head.headers, reader.finish())

    async def _before_sending(self) -> None:
        """Moves the slots to now: resolving and connecting took time."""
        for queue, slot in self._slots_held:
            await queue.leave(slot)

    def _make_request(self) -> WireRequest:
        pending = self._pending
        headers = {"Accept": "*/*", "Accept-Encoding": "gzip"}
        headers |= {name.title(): value for name, value in pending.headers}
        if pending.sink is not None:
            # A part of a compressed file cannot be resumed.
            headers |= {"Accept-Encoding": "identity", **dict(pending.sink.range_headers())}
        headers |= dict(self._attachment.headers)
        if self._observed is not None and pending.policy.continues_trace(self._target.host):
            headers |= self._observed.headers()
        content = b""
        if self._method == "POST":
            content = pending.body
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        else:
            headers.pop("Content-Type", None)
        host, prefix = self._target.authority, ""
        if self._endpoint is not None:
            host, prefix = self._endpoint.authority, self._endpoint.prefix
        return WireRequest(
            self._method,
            host,
            prefix + self._attachment.resource,
            tuple(headers.items()),
            content,
        )


def _paced(url: str, host: str, fault: PaceExceededError) -> Failure:
    if isinstance(fault, PaceUnknownError):
        return failures.pace_unknown(url, fault.seconds)
    return failures.rate_limited(url, host, fault.seconds)


def _result_word(result: RawResponse | Failure | _BrokenError) -> str:
    """Returns the status of an attempt, or the kind of its failure."""
    if isinstance(result, RawResponse):
        return str(result.status)
    if isinstance(result, Failure):
        return result.kind.value
    return "timeout" if result.silent else "unreachable"


def _is_idle(queue: UpstreamQueue) -> bool:
    """Whether a new queue would behave like this one."""
    return queue.is_idle


def _is_forgettable(breaker: Breaker) -> bool:
    """Whether a new breaker may take the place of this one."""
    return breaker.is_forgettable


def _unconnected(host: str, fault: NotConnectedError) -> _BrokenError:
    if fault.certificate:
        return _BrokenError(
            "certificate refused",
            f"the certificate of {host} is not trusted for that name; "
            "a proxy's own authority can be added with fetch.ca_bundle",
            final=True,
        )
    if fault.silent:
        return _BrokenError("timed out", f"{host} did not answer in time", silent=True)
    return _BrokenError("not connected", f"no connection to {host} could be made")


def _broken(host: str, fault: WireError) -> _BrokenError:
    """Words a failed attempt; the exception's text may quote the upstream."""
    if isinstance(fault, SilentError):
        return _BrokenError("timed out", f"{host} did not answer in time", silent=True)
    if isinstance(fault, MalformedError):
        return _BrokenError("broken answer", f"{host} broke HTTP's rules: {fault}")
    return _BrokenError(
        "connection lost", f"the connection to {host} was lost before its answer was complete"
    )
