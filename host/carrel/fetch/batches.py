"""Runs batches of requests on the event loop; coalesces identical ones, caches responses."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import random
import threading
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from carrel import telemetry
from carrel.exchange import Call, Failure, FailureKind, Outcome, Response

from . import failures, requestlog
from .cache import CACHEABLE, ResponseCache
from .clock import Clock
from .connect import Connections, Dialer
from .pending_request import MAX_ATTEMPTS, Finished, OverBudgetError, PendingRequest
from .redirects import RedirectChain
from .resolve import Resolver
from .robots import Robots
from .scheduler import FREE_SECONDS, partition_of
from .settings import FetchSettings
from .token_buckets import PaceStore, TokenBuckets
from .upstream import Upstreams

if TYPE_CHECKING:
    from carrel.state.redis_server import RedisServer

    from .redis_buckets import RedisTokenBuckets

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Threads that wait for Redis: more upstreams than that queue for it.
_REDIS_THREADS = 4


class FetchBatch:
    """The requests of one `fetch_all`, with their outcomes and progress.

    Attributes:
        outcomes: one per request, None while it is running.
    """

    def __init__(self, call: Call, pending_requests: list[PendingRequest]) -> None:
        self.call = call
        self.pending_requests = pending_requests
        self.outcomes: list[Outcome | None] = [None] * len(pending_requests)

    @property
    def done(self) -> int:
        """Counts the requests that have ended."""
        return sum(outcome is not None for outcome in tuple(self.outcomes))

    @property
    def phase(self) -> str:
        """Words the progress: how many have ended, and what the first running one waits for."""
        outcomes = list(self.outcomes)
        pairs = zip(self.pending_requests, outcomes, strict=True)
        waits = next(
            (pending.phase() for pending, outcome in pairs if outcome is None), "finishing"
        )
        if len(outcomes) == 1:
            return waits
        fetched = sum(isinstance(outcome, Response) for outcome in outcomes)
        failed = sum(isinstance(outcome, Failure) for outcome in outcomes)
        counted = f"{fetched} of {len(outcomes)} fetched" + (f", {failed} failed" if failed else "")
        return f"{counted}, {waits}"


class BatchRunner:
    """Runs batches; used on the event loop only."""

    def __init__(
        self,
        settings: FetchSettings,
        *,
        resolver: Resolver | None,
        dialer: Dialer | None,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
        server: RedisServer | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._connections = Connections(settings, resolver, dialer)
        self._shared_pace = None if server is None else _shared_pace(server, settings)
        self._buckets: PaceStore = self._shared_pace or TokenBuckets(settings.pace_path, clock)
        # One thread per file: SQLite allows one writer, and no file's writer waits for another's.
        self._pace_thread = ThreadPoolExecutor(
            1 if server is None else _REDIS_THREADS, "carrel-pace"
        )
        self._cache_threads: dict[ResponseCache, ThreadPoolExecutor] = {}
        self._upstreams = Upstreams(
            settings,
            self._connections,
            self._buckets,
            executor=self._pace_thread,
            clock=clock,
            jitter=jitter,
            circuits=self._shared_pace,
        )
        self._shared: Coalescer[Finished] = Coalescer()
        self._robots = Robots(clock)

    async def run(self, batch: FetchBatch) -> None:
        """Runs a batch until all requests end or the call's budget is exhausted."""
        for pending in batch.pending_requests:
            # Before the first one is queued, so that the slowest rule applies from the start.
            self._upstreams.admission(pending.policy, pending.rule, pending.target.host)
        tasks: list[asyncio.Future[None]] = []
        try:
            if len(batch.pending_requests) == 1:
                await self._run_one(batch, 0)
                return
            tasks.extend(
                asyncio.ensure_future(self._run_one(batch, index))
                for index in range(len(batch.pending_requests))
            )
            for task in asyncio.as_completed(tasks):
                await task
                if batch.call.fatal is not None:
                    break
        finally:
            for running in tasks:
                running.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # The guest receives the responses now, and its memory has its own limit.
            for pending in batch.pending_requests:
                pending.charge.drop()

    def upstreams(self) -> list[telemetry.UpstreamState]:
        """Returns the state of every upstream. Thread-safe."""
        return self._upstreams.states()

    async def aclose(self) -> None:
        """Cancels running requests; closes connections and files."""
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._connections.close()
        self._upstreams.close()
        self._pace_thread.shutdown()
        for thread in self._cache_threads.values():
            thread.shutdown()
        self._buckets.close()

    async def _run_one(self, batch: FetchBatch, index: int) -> None:
        pending, call = batch.pending_requests[index], batch.call
        started = self._clock.monotonic()
        try:
            finished, led = await self._run_coalesced(pending, index == 0)
        except Exception as fault:  # noqa: BLE001 -- a bug of ours must not raise through wasm
            # The place only: an exception's text may contain what was being sent.
            where = "".join(traceback.format_tb(fault.__traceback__))
            kind = type(fault).__name__
            log.error("a fault of the fetch layer's own: %s\n%s", kind, where)  # noqa: TRY400
            message = "a fault of the fetch layer's own; the log has the details"
            batch.outcomes[index] = failures.unreachable(pending.target.url, message)
            return
        outcome = finished.outcome
        room = MAX_ATTEMPTS - len(call.attempts)
        call.attempts.extend(finished.attempts[: max(room, 0)])
        if finished.stored:
            call.unsettled.append(pending.key)
        observer = telemetry.observer()
        if observer is not None and pending.rule.cache_seconds > 0 and pending.sink is None:
            observer.cache(pending.plugin, "miss" if led else "shared")
        if isinstance(outcome, Response):
            if not led:
                outcome = _charge_shared(pending, outcome)
        elif outcome.kind is FailureKind.DENIED:
            call.denial = outcome
        if not led:
            requestlog.write_line(
                plugin=pending.plugin,
                tool=pending.tool,
                method=pending.method,
                target=pending.target,
                seconds=self._clock.monotonic() - started,
                cache="shared",
                **requestlog.facts_of(outcome),
            )
        batch.outcomes[index] = outcome

    async def _run_coalesced(self, pending: PendingRequest, first: bool) -> tuple[Finished, bool]:
        key: Hashable = (pending.key, pending.policy, pending.cap, pending.refresh)
        starting = pending.phase
        pending.phase = _joined

        async def start() -> Finished:
            pending.phase = starting
            pending.charge.keep()
            try:
                chain = RedirectChain(
                    pending, self._upstreams, self._settings, self._clock, self._robots
                )
                finished = await self._upstreams.scheduler.run(
                    partition_of(pending.policy.partition, pending.owner),
                    chain.run(),
                    FREE_SECONDS if first else 0.0,
                )
                stored = await self._store(pending, finished)
            finally:
                pending.charge.drop()
            return dataclasses.replace(finished, stored=stored)

        while True:
            finished, led = await self._shared.join(key, start)
            # A request that joined one which ran out of time or budget is sent again.
            short = (
                isinstance(finished.outcome, Failure)
                and finished.outcome.kind in {FailureKind.TIMEOUT, FailureKind.RATE_LIMITED}
                and pending.cut > finished.cut
            )
            if led or not (short or finished.own_end):
                return finished, led

    async def _store(self, pending: PendingRequest, finished: Finished) -> bool:
        """Caches the response if it is cacheable; a hit once the plugin has read it."""
        outcome = finished.outcome
        if not isinstance(outcome, Response) or not _is_cacheable(pending, outcome):
            return False
        cache = pending.cache
        thread = self._cache_threads.get(cache)
        if thread is None:
            thread = self._cache_threads[cache] = ThreadPoolExecutor(1, "carrel-cache")
        return await asyncio.get_running_loop().run_in_executor(
            thread,
            partial(
                cache.put,
                pending.key,
                outcome,
                finished.hops,
                seconds=pending.rule.cache_seconds,
            ),
        )


def _shared_pace(server: RedisServer, settings: FetchSettings) -> RedisTokenBuckets:
    from .redis_buckets import RedisTokenBuckets

    return RedisTokenBuckets(server, settings.breaker_failures)


def _joined() -> str:
    return "waiting for the answer to the same request of another call"


def _charge_shared(pending: PendingRequest, response: Response) -> Outcome:
    """Charges the response to a request that joined another."""
    try:
        pending.charge.add(response.size)
    except OverBudgetError as fault:
        url = pending.target.url
        if fault.allowed is None:
            return failures.not_made(url)
        return failures.over_plugin_budget(url, pending.plugin, fault.allowed)
    return response


def _is_cacheable(pending: PendingRequest, response: Response) -> bool:
    """Whether a response may be cached."""
    if pending.sink is not None or pending.rule.cache_seconds <= 0:
        return False
    if response.status not in CACHEABLE:
        return False
    headers = dict(response.headers)
    if "no-store" in headers.get("cache-control", "").lower():
        return False
    # An HTML page in place of a document is a proxy's or a challenge's, and soon gone.
    accept = dict(pending.headers).get("accept", "")
    is_page = "html" in headers.get("content-type", "").lower()
    return pending.method == "HEAD" or not is_page or "html" in accept


class _SharedTask(Generic[T]):
    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting = 0


class Coalescer(Generic[T]):
    """Coalesces identical requests; used on the event loop only.

    A shared request runs while any caller waits for it, so cancelling the caller that started it
    does not fail the others, and it is cancelled when no caller is left.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, _SharedTask[T]] = {}

    async def join(self, key: Hashable, start: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """Returns the result, and whether this caller started the request."""
        shared = self._shared.get(key)
        led = shared is None
        if shared is None:
            shared = _SharedTask(asyncio.ensure_future(_run(start)))
            self._shared[key] = shared
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task), led
        finally:
            shared.waiting -= 1
            if shared.waiting == 0:
                if self._shared.get(key) is shared:
                    del self._shared[key]
                shared.task.cancel()


async def _run(start: Callable[[], Awaitable[T]]) -> T:
    return await start()


class LoopThread:
    """A thread that runs an event loop. `submit` is thread-safe."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts the coroutine; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def stop(self) -> None:
        """Cancels all tasks, stops the loop and joins the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
