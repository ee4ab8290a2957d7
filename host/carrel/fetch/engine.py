"""The half of the fetch layer that lives on the event loop."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import random
import traceback
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

from carrel.exchange import Call, Failure, FailureKind, Outcome, Response

from . import failures, requestlog
from .budget import OverBudgetError
from .cache import KEPT, Cache
from .chain import Chain
from .clock import Clock
from .connect import Connections, Dialer, Resolver
from .errand import MAX_ATTEMPTS, Errand, Finished
from .flight import Flights
from .scheduler import FREE_SECONDS
from .settings import FetchSettings
from .throttle import Buckets
from .upstream import Upstreams

log = logging.getLogger("carrel.fetch")


class Batch:
    """The errands of one `fetch_all`, and how far they are.

    Attributes:
        outcomes: one per errand, None while it is under way.
    """

    def __init__(self, call: Call, errands: list[Errand]) -> None:
        self.call = call
        self.errands = errands
        self.outcomes: list[Outcome | None] = [None] * len(errands)

    @property
    def done(self) -> int:
        """How many errands have ended."""
        return sum(outcome is not None for outcome in tuple(self.outcomes))

    @property
    def phase(self) -> str:
        """How many requests were answered, and what the first unfinished one waits for."""
        outcomes = list(self.outcomes)
        pairs = zip(self.errands, outcomes, strict=True)
        waits = next((one.phase() for one, outcome in pairs if outcome is None), "finishing")
        if len(outcomes) == 1:
            return waits
        fetched = sum(isinstance(outcome, Response) for outcome in outcomes)
        failed = sum(isinstance(outcome, Failure) for outcome in outcomes)
        counted = f"{fetched} of {len(outcomes)} fetched" + (f", {failed} failed" if failed else "")
        return f"{counted}, {waits}"


class Engine:
    """Runs batches; made and used on the loop alone."""

    def __init__(
        self,
        settings: FetchSettings,
        *,
        resolver: Resolver | None,
        dialer: Dialer | None,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._connections = Connections(settings, resolver, dialer)
        self._buckets = Buckets(settings.pace_path, clock)
        # One thread for each file: it allows one writer anyway, and no writer waits for another's.
        self._pace_thread = ThreadPoolExecutor(1, "carrel-pace")
        self._cache_threads: dict[Cache, ThreadPoolExecutor] = {}
        self._upstreams = Upstreams(
            settings,
            self._connections,
            self._buckets,
            executor=self._pace_thread,
            clock=clock,
            jitter=jitter,
        )
        self._flights: Flights[Finished] = Flights()

    async def run(self, batch: Batch) -> None:
        """Runs a batch to its end, or to the end of its call's budget."""
        for errand in batch.errands:
            # Before the first one queues, so that the slowest rule holds from the start.
            self._upstreams.queue(errand.policy, errand.rule, errand.target.host)
        tasks: list[asyncio.Future[None]] = []
        try:
            if len(batch.errands) == 1:
                await self._run_one(batch, 0)
                return
            tasks.extend(
                asyncio.ensure_future(self._run_one(batch, index))
                for index in range(len(batch.errands))
            )
            for task in asyncio.as_completed(tasks):
                await task
                if batch.call.fatal is not None:
                    break
        finally:
            for pending in tasks:
                pending.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # The answers are the guest's from here on, and its memory has its own limit.
            for errand in batch.errands:
                errand.charge.drop()

    async def aclose(self) -> None:
        """Ends what is under way; closes connections and files."""
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._connections.close()
        self._pace_thread.shutdown()
        for thread in self._cache_threads.values():
            thread.shutdown()
        self._buckets.close()

    async def _run_one(self, batch: Batch, index: int) -> None:
        errand, call = batch.errands[index], batch.call
        started = self._clock.monotonic()
        try:
            finished, led = await self._travel(errand, index == 0)
        except Exception as fault:  # noqa: BLE001 -- a bug of ours must not raise through wasm
            # Where, but not what it said: an exception's text may hold what was being sent.
            where = "".join(traceback.format_tb(fault.__traceback__))
            kind = type(fault).__name__
            log.error("a fault of the fetch layer's own: %s\n%s", kind, where)  # noqa: TRY400
            message = "a fault of the fetch layer's own; the log has the details"
            batch.outcomes[index] = failures.unreachable(errand.target.url, message)
            return
        outcome = finished.outcome
        room = MAX_ATTEMPTS - len(call.attempts)
        call.attempts.extend(finished.attempts[: max(room, 0)])
        if finished.stored:
            call.unsettled.append(errand.key)
        if isinstance(outcome, Response):
            if not led:
                outcome = _charge_shared(errand, outcome)
        elif outcome.kind is FailureKind.DENIED:
            call.denial = outcome
        if not led:
            requestlog.write_line(
                plugin=errand.plugin,
                tool=errand.tool,
                method=errand.method,
                target=errand.target,
                seconds=self._clock.monotonic() - started,
                cache="shared",
                **requestlog.facts_of(outcome),
            )
        batch.outcomes[index] = outcome

    async def _travel(self, errand: Errand, first: bool) -> tuple[Finished, bool]:
        flight: Hashable = (errand.key, errand.policy, errand.cap, errand.refresh)
        starting = errand.phase
        errand.phase = _joined

        async def start() -> Finished:
            errand.phase = starting
            errand.charge.keep()
            try:
                chain = Chain(errand, self._upstreams, self._settings, self._clock)
                finished = await self._upstreams.scheduler.run(
                    errand.policy.partition, chain.run(), FREE_SECONDS if first else 0.0
                )
                stored = await self._store(errand, finished)
            finally:
                errand.charge.drop()
            return dataclasses.replace(finished, stored=stored)

        while True:
            finished, led = await self._flights.join(flight, start)
            # A request that joined one which ran out of its own time or budget asks again.
            short = (
                isinstance(finished.outcome, Failure)
                and finished.outcome.kind in {FailureKind.TIMEOUT, FailureKind.RATE_LIMITED}
                and errand.cut > finished.cut
            )
            if led or not (short or finished.own_end):
                return finished, led

    async def _store(self, errand: Errand, finished: Finished) -> bool:
        """Puts the answer into the cache, if it may be kept once a plugin has read it."""
        outcome = finished.outcome
        if not isinstance(outcome, Response) or not _is_kept(errand, outcome):
            return False
        cache = errand.cache
        thread = self._cache_threads.get(cache)
        if thread is None:
            thread = self._cache_threads[cache] = ThreadPoolExecutor(1, "carrel-cache")
        return await asyncio.get_running_loop().run_in_executor(
            thread, cache.put, errand.key, outcome, finished.hops
        )


def _joined() -> str:
    return "waiting for the answer to the same request of another call"


def _charge_shared(errand: Errand, response: Response) -> Outcome:
    """The answer to a request that joined another, charged like one of its own."""
    try:
        errand.charge.add(response.size)
    except OverBudgetError as fault:
        url = errand.target.url
        if fault.allowed is None:
            return failures.not_made(url)
        return failures.over_plugin_budget(url, errand.plugin, fault.allowed)
    return response


def _is_kept(errand: Errand, response: Response) -> bool:
    """Whether an answer goes into the cache."""
    if errand.rule.cache_seconds <= 0 or response.status not in KEPT:
        return False
    headers = dict(response.headers)
    if "no-store" in headers.get("cache-control", "").lower():
        return False
    # A page in place of a document is a proxy's or a challenge's, and gone the next time.
    accept = dict(errand.headers).get("accept", "")
    is_page = "html" in headers.get("content-type", "").lower()
    return errand.method == "HEAD" or not is_page or "html" in accept
