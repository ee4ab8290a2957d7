"""The fetcher of plugins: checks policy and cache on the calling thread, sends in the background.

The order of work for each request is that of the trust boundary: parse the URL once, check it
against policy, look into the cache, and only then queue for the upstream, on one background
thread that all plugins share.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from carrel import telemetry
from carrel.exchange import (
    CacheHit,
    Call,
    Failure,
    FileSink,
    Headers,
    Outcome,
    Request,
    Response,
    Verdict,
    report_denials,
)

from . import failures, requestlog
from .cache import PLUGIN_SHARE, Cache, ResponseCache, cache_key, partition_path
from .clock import Clock, SystemClock
from .identity import Secret, without_secret_parameters
from .pending_request import (
    Charge,
    HeldBytes,
    PendingRequest,
    charge_bytes,
    charge_requests,
)
from .policy.rules import HostRule, Policy, check_headers
from .settings import FetchSettings
from .url import Target, UrlFault, parse_url

if TYPE_CHECKING:
    from carrel.state.redis_server import RedisServer

    from .batches import BatchRunner, FetchBatch, LoopThread
    from .connect import Dialer
    from .resolve import Resolver

#: Plans of a plugin's requests that are cached, and the characters of the longest one.
_PLANS = 1024
_REMEMBERED = 2048
#: The least time for a response, so that no slot is taken for a request that cannot finish.
_ANSWER_SECONDS = 1.0


class FetchClient:
    """The only code that opens connections; one per process serves every plugin.

    Args:
        settings: how upstreams are reached.
        resolver: resolves names; the system's by default.
        dialer: where to connect for a checked address; to the address itself except in tests.
        clock: the machine's by default.
        jitter: random numbers from 0 to 1.
    """

    def __init__(
        self,
        settings: FetchSettings,
        *,
        resolver: Resolver | None = None,
        dialer: Dialer | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self._caches: dict[str, ResponseCache] = {}
        self._held: dict[str, HeldBytes] = {}
        self._resolver = resolver
        self._dialer = dialer
        self._jitter = jitter
        self._lock = threading.Lock()
        self._loop: LoopThread | None = None
        self._runner: BatchRunner | None = None
        self._closed = False
        self._server: RedisServer | None = None
        if settings.redis is not None:
            from carrel.state.redis_server import acquire_server

            self._server = acquire_server(settings.redis)

    def for_plugin(self, policy: Policy, secrets: Sequence[Secret] = ()) -> PluginFetcher:
        """Returns the fetcher of one plugin, bound to its policy and secrets."""
        return PluginFetcher(self, policy, tuple(secrets))

    def cache(self, partition: str) -> ResponseCache:
        """Returns the cache of one partition; no other reads or writes it."""
        with self._lock:
            if partition not in self._caches:
                settings = self.settings
                path, max_bytes = settings.cache_path, settings.cache_max_bytes
                if partition:
                    max_bytes //= PLUGIN_SHARE
                if self._server is not None:
                    from .redis_cache import RedisCache

                    cache: ResponseCache = RedisCache(
                        self._server, partition, max_bytes, self.clock
                    )
                else:
                    if partition and path is not None:
                        path = partition_path(path, partition)
                    cache = Cache(path, max_bytes, self.clock)
                self._caches[partition] = cache
            return self._caches[partition]

    def held_bytes(self, partition: str) -> HeldBytes:
        """Returns the counter of response bytes that one partition holds; for the event loop."""
        with self._lock:
            return self._held.setdefault(partition, HeldBytes(self.settings.plugin_bytes))

    def start(self, batch: FetchBatch) -> Future[None] | None:
        """Starts a batch; returns None once the client is closed."""
        with self._lock:
            if self._closed:
                return None
            if self._loop is None or self._runner is None:
                from .batches import BatchRunner, LoopThread

                self._loop = LoopThread("carrel-fetch")
                self._runner = BatchRunner(
                    self.settings,
                    resolver=self._resolver,
                    dialer=self._dialer,
                    clock=self.clock,
                    jitter=self._jitter,
                    server=self._server,
                )
            return self._loop.submit(self._runner.run(batch))

    def upstreams(self) -> list[telemetry.UpstreamState]:
        """Returns the pace and the breaker of every upstream that was asked. Thread-safe."""
        with self._lock:
            runner = self._runner
        return [] if runner is None else runner.upstreams()

    def close(self) -> None:
        """Cancels running requests, closes connections and files. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            loop, runner = self._loop, self._runner
            self._loop = self._runner = None
            caches = list(self._caches.values())
        if loop is not None and runner is not None:
            loop.submit(runner.aclose()).result(timeout=10)
            loop.stop()
        for cache in caches:
            cache.close()
        if self._server is not None:
            from carrel.state.redis_server import release_server

            release_server(self._server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request that was checked.

    Attributes:
        target: None when the URL could not be read.
        rule: the rule that allows it; None when none does, and `refusal` says why.
        key: its cache key.
    """

    target: Target | None
    rule: HostRule | None = None
    key: bytes = b""
    refusal: Failure | None = None


class PluginFetcher:
    """A `carrel.exchange.Fetcher` for one plugin."""

    def __init__(self, client: FetchClient, policy: Policy, secrets: tuple[Secret, ...]) -> None:
        self._client = client
        self._policy = policy
        self._secrets = secrets
        self._cache = client.cache(policy.partition)
        self._held = client.held_bytes(policy.partition)
        self._remembered_plan = lru_cache(_PLANS)(self._plan)
        self._under_way: set[FetchBatch] = set()

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        """Makes the requests; see `carrel.exchange.Fetcher`."""
        if call.has_ended() or not charge_requests(call, len(requests)):
            return [failures.not_made(request.url) for request in requests]
        outcomes: list[Outcome | None] = []
        pending_requests: list[PendingRequest] = []
        indexes: list[int] = []
        caller = object()
        for index, request in enumerate(requests):
            if call.has_ended():
                break
            prepared = self._prepare(request, call, caller)
            if isinstance(prepared, Response | Failure):
                outcomes.append(prepared)
            else:
                outcomes.append(None)
                pending_requests.append(prepared)
                indexes.append(index)
        outcomes += [None] * (len(requests) - len(outcomes))
        if pending_requests and not call.has_ended():
            for index, outcome in zip(indexes, self._run(pending_requests, call), strict=True):
                outcomes[index] = outcome
        return [
            failures.not_made(request.url) if outcome is None else outcome
            for request, outcome in zip(requests, outcomes, strict=True)
        ]

    def download(self, url: str, sink: FileSink, call: Call, *, accept: str = "*/*") -> Outcome:
        """Downloads a file; see `carrel.exchange.FileFetcher`."""
        if call.has_ended() or not charge_requests(call, 1):
            return failures.not_made(url)
        request = Request("GET", url, (("accept", accept),))
        outcome = self._download(request, sink, call)
        report_denials(call, [outcome])
        return outcome

    def _download(self, request: Request, sink: FileSink, call: Call) -> Outcome:
        url = request.url
        plan = self._planned(request)
        if plan.target is None or plan.rule is None:
            assert plan.refusal is not None, "what is not allowed is refused"
            return self._refuse(plan.refusal, request, plan.target, call)
        # A key of its own: a sink belongs to one call, so the request is not coalesced.
        pending = self._make_pending(
            request, call, plan.target, plan.rule, caller=object(), key=uuid4().bytes, refresh=True
        )
        if not isinstance(pending, PendingRequest):
            return pending
        pending.sink = sink
        [outcome] = self._run([pending], call)
        return failures.not_made(url) if outcome is None else outcome

    def waiting(self) -> int:
        """See `carrel.exchange.QueueReporter`."""
        return sum(len(batch.pending_requests) - batch.done for batch in tuple(self._under_way))

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        """See `carrel.exchange.CacheHitChecker`."""
        return self._cache.still_cached(hits, version)

    def discard(self, call: Call, request: Request) -> None:
        """See `carrel.exchange.AnswerDiscarder`."""
        key = self._planned(request).key
        if key in call.unsettled:
            call.unsettled = [unsettled for unsettled in call.unsettled if unsettled != key]
            self._cache.settle([key], Verdict.UNREADABLE)
        hits = [hit for hit in call.cache_hits if hit.key == key]
        if hits:
            # Without these hits `is_all_cached` is false, so the result is not cached either.
            call.cache_hits = [hit for hit in call.cache_hits if hit.key != key]
            self._cache.remove(hits)

    def settle(self, call: Call, verdict: Verdict) -> None:
        """See `carrel.exchange.AnswerSettler`."""
        if call.unsettled:
            keys, call.unsettled = call.unsettled, []
            self._cache.settle(keys, verdict)

    def _prepare(self, request: Request, call: Call, caller: object) -> Outcome | PendingRequest:
        """Returns the outcome if no network is needed, otherwise the pending request."""
        started = self._client.clock.monotonic()
        plan = self._planned(request)
        target = plan.target
        if target is None or plan.rule is None:
            assert plan.refusal is not None, "what is not allowed is refused"
            return self._refuse(plan.refusal, request, target, call)
        refresh = request.refresh or call.refresh or self._client.settings.refresh
        if not refresh:
            answer = self._from_cache(plan.key, plan.rule, request, call)
            if answer is not None:
                observer = telemetry.observer()
                if observer is not None:
                    observer.cache(self._policy.plugin, "hit")
                if requestlog.log.isEnabledFor(logging.INFO):
                    self._log(request, target, call, started, answer)
                return answer
        return self._make_pending(
            request, call, target, plan.rule, caller=caller, key=plan.key, refresh=refresh
        )

    def _planned(self, request: Request) -> _Plan:
        body = request.body if request.method == "POST" else ""
        small = len(request.url) + len(body) < _REMEMBERED
        plan = self._remembered_plan if small else self._plan
        return plan(request.method, request.url, request.headers, body)

    def _plan(self, method: str, url: str, headers: Headers, body: str) -> _Plan:
        """Checks a request by the policy alone, so with the same result every time."""
        on_the_web = self._policy.public_web is not None
        parsed = parse_url(url, upgrade=on_the_web, any_port=on_the_web)
        if isinstance(parsed, UrlFault):
            return _Plan(None, refusal=failures.denied(url, parsed.reason, parsed.message))
        target = without_secret_parameters(parsed, self._secrets)
        rule = self._policy.check(method, target)
        if isinstance(rule, Failure):
            return _Plan(target, refusal=rule)
        headers = tuple((name.lower(), value) for name, value in headers)
        bad = check_headers(target.url, headers)
        if bad is not None:
            return _Plan(target, refusal=bad)
        attached = [secret.name for secret in self._secrets if secret.goes_to(target.host)]
        return _Plan(target, rule, cache_key(method, target.url, headers, body, attached))

    def _from_cache(
        self, key: bytes, rule: HostRule, request: Request, call: Call
    ) -> Response | Failure | None:
        found = self._cache.get(
            key,
            fresh_seconds=rule.cache_seconds,
            negative_seconds=self._client.settings.negative_cache_seconds,
        )
        if found is None:
            return None
        for hop in found.hops:
            target = parse_url(hop, any_port=self._policy.public_web is not None)
            if isinstance(target, UrlFault) or isinstance(
                self._policy.check(request.method, target), Failure
            ):
                return None
        response = found.response
        if response.size > call.limits.response_bytes:
            return None
        if not charge_bytes(call, response.size):
            return failures.not_made(response.url)
        call.cache_hits.append(CacheHit(key, found.stored, found.until))
        return response

    def _make_pending(
        self,
        request: Request,
        call: Call,
        target: Target,
        rule: HostRule,
        *,
        caller: object,
        key: bytes,
        refresh: bool,
    ) -> Outcome | PendingRequest:
        settings = self._client.settings
        body = request.body.encode("utf-8", "replace") if request.method == "POST" else b""
        if len(body) > settings.max_request_bytes:
            return failures.too_large(
                target.url, target.host, settings.max_request_bytes, what="the body for a POST"
            )
        now = self._client.clock.monotonic()
        cut = call.deadline - _reserve(settings, call.limits.wall_seconds)
        if call.cancelled or now >= cut:
            return (failures.cancelled if call.cancelled else failures.out_of_time)(target.url)
        return PendingRequest(
            plugin=self._policy.plugin,
            tool=call.tool,
            method=request.method,
            target=target,
            headers=tuple((name.lower(), value) for name, value in request.headers),
            body=body,
            rule=rule,
            policy=self._policy,
            secrets=self._secrets,
            cap=call.limits.response_bytes,
            cut=cut,
            latest=cut - min(_ANSWER_SECONDS, (cut - now) / 10),
            caller=caller,
            owner=call.owner,
            key=key,
            refresh=refresh,
            charge=Charge(call, self._held),
            cache=self._cache,
        )

    def _run(self, pending_requests: list[PendingRequest], call: Call) -> list[Outcome | None]:
        """Runs the requests on the background thread and waits, reporting progress."""
        from .batches import FetchBatch

        batch = FetchBatch(call, pending_requests)
        running = self._client.start(batch)
        if running is None:
            return [failures.cancelled(pending.target.url) for pending in pending_requests]
        forget = call.on_cancel(lambda: _cancel(running))
        self._under_way.add(batch)
        call.waits()
        try:
            self._wait(running, batch, call)
        finally:
            self._under_way.discard(batch)
            forget()
        if call.cancelled:
            return [
                outcome or failures.cancelled(pending.target.url)
                for pending, outcome in zip(pending_requests, batch.outcomes, strict=True)
            ]
        return batch.outcomes

    def _wait(self, running: Future[None], batch: FetchBatch, call: Call) -> None:
        every = self._client.settings.progress_seconds
        while True:
            try:
                running.result(timeout=every)
            except TimeoutError:
                call.explain(batch.phase)
                # The loop ends every request in time; if it hangs, the call must not.
                if call.remaining <= 0:
                    running.cancel()
                    return
            except CancelledError:
                return
            else:
                return

    def _refuse(
        self, refusal: Failure, request: Request, target: Target | None, call: Call
    ) -> Failure:
        call.denial = refusal
        self._log(request, target, call, self._client.clock.monotonic(), refusal)
        return refusal

    def _log(
        self, request: Request, target: Target | None, call: Call, started: float,
        outcome: Outcome,
    ) -> None:  # fmt: skip
        requestlog.write_line(
            plugin=self._policy.plugin,
            tool=call.tool,
            method=request.method,
            target=target,
            seconds=self._client.clock.monotonic() - started,
            cache="hit" if isinstance(outcome, Response) else "none",
            **requestlog.facts_of(outcome),
        )


def _reserve(settings: FetchSettings, wall_seconds: float) -> float:
    """Returns how many seconds before a call's deadline its fetches end."""
    reserve = max(settings.reserve_seconds, settings.reserve_share * wall_seconds)
    return min(reserve, wall_seconds / 4)


def _cancel(running: Future[None]) -> None:
    running.cancel()
