"""Follows a request's redirects; each is checked like a request."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from carrel.exchange import FILE_STATUSES, Failure, Outcome, Response

from . import failures, requestlog
from .clock import Clock
from .decode import UndecodableError, decode_pieces
from .identity import Redactor, Secret, attach, without_secret_parameters
from .pending_request import Finished, PendingRequest, RawResponse
from .policy.rules import HostRule
from .robots import Robots, RobotsSink
from .settings import FetchSettings
from .upstream import REDIRECTS, Hop, Upstreams
from .url import Target, UrlFault, resolve_redirect


class RedirectChain:
    """Follows one request to its last hop.

    Args:
        pending: the request.
        upstreams: sends it.
        settings: how many redirects are followed.
        clock: for its deadline.
        robots: decides on hops whose rule asks for it; None for requests of a `robots.txt`.
    """

    def __init__(
        self,
        pending: PendingRequest,
        upstreams: Upstreams,
        settings: FetchSettings,
        clock: Clock,
        robots: Robots | None = None,
    ) -> None:
        self._robots = robots
        self._pending = pending
        self._upstreams = upstreams
        self._settings = settings
        self._clock = clock
        self._attached: dict[str, Secret] = {}
        self._hops: list[str] = []
        self._hop_started = clock.monotonic()
        self._tries_before = 0
        self._target = pending.target

    async def run(self) -> Finished:
        """Returns the request's outcome; never raises for what an upstream does."""
        pending = self._pending
        seconds = pending.cut - self._clock.monotonic()
        try:
            async with asyncio.timeout(seconds):
                outcome = await self._follow()
        except TimeoutError:
            outcome = failures.timeout(self._target.url, self._target.host, max(seconds, 0.0))
            self._log(outcome)
        return Finished(
            outcome, tuple(pending.attempts), tuple(self._hops), pending.cut, pending.own_end
        )

    async def _follow(self) -> Outcome:
        pending = self._pending
        method, rule = pending.method, pending.rule
        seen = {(method, self._target.url)}
        while True:
            self._hop_started = self._clock.monotonic()
            self._tries_before = len(pending.attempts)
            if rule.robots and self._robots is not None:
                refusal = await self._robots.refusal(
                    self._target, pending.policy.partition, self._fetch_robots
                )
                if refusal is not None:
                    self._log(refusal)
                    return refusal
            attachment = attach(self._target, pending.secrets, self._settings.homepage)
            self._attached |= {secret.name: secret for secret in attachment.secrets}
            answer = await self._upstreams.ask(pending, Hop(method, self._target, rule, attachment))
            if isinstance(answer, Failure):
                self._log(answer)
                return answer
            if answer.status not in REDIRECTS:
                outcome = await self._finish(answer)
                self._log(outcome)
                return outcome
            self._log(answer)
            target = self._next_target(answer)
            if isinstance(target, Failure):
                self._log(target)
                return target
            method = _method_after(answer.status, method)
            allowed = self._check_redirect(method, target)
            circle = (method, target.url) in seen
            if circle or len(self._hops) >= self._settings.max_redirects:
                allowed = failures.denied(
                    target.url,
                    "too_many_redirects",
                    "the redirects go round in a circle"
                    if circle
                    else f"there are more than {self._settings.max_redirects} redirects",
                )
            self._target = target
            self._hops.append(target.url)
            if isinstance(allowed, Failure):
                self._log(allowed)
                return allowed
            rule = allowed
            seen.add((method, target.url))

    async def _fetch_robots(self, target: Target, sink: RobotsSink) -> Outcome:
        """Downloads the `robots.txt` of a host, with the time and the budget of the request."""
        pending = self._pending
        rule = pending.policy.check("GET", target)
        if isinstance(rule, Failure):
            return rule
        robots_request = dataclasses.replace(
            pending,
            method="GET",
            target=target,
            headers=(("accept", "text/plain"),),
            body=b"",
            rule=rule,
            sink=sink,
        )
        pending.phase = lambda: f"{target.host}: robots.txt: {robots_request.phase()}"
        chain = RedirectChain(robots_request, self._upstreams, self._settings, self._clock)
        return (await chain.run()).outcome

    def _check_redirect(self, method: str, target: Target) -> HostRule | Failure:
        """Returns the rule that allows the next hop, or a denial naming the redirecting host."""
        allowed = self._pending.policy.check(method, target)
        if isinstance(allowed, Failure):
            reason = allowed.message.removeprefix("refused: ")
            message = f"refused: {self._target.host} answers with a redirect, and {reason}"
            return allowed._replace(message=message)
        return allowed

    def _next_target(self, answer: RawResponse) -> Target | Failure:
        location = answer.header("location")
        here = self._target
        if not location:
            return failures.unreachable(
                here.url, f"{here.host} redirects to nowhere", status=answer.status
            )
        target = resolve_redirect(
            here, location, any_port=self._pending.policy.public_web is not None
        )
        if isinstance(target, UrlFault):
            return failures.denied(
                here.url, target.reason, f"{here.host} redirects to a bad URL: {target.message}"
            )
        target = without_secret_parameters(target, self._pending.secrets)
        if Redactor(self._attached.values()).finds(target.url):
            return failures.unreachable(
                here.url, f"{here.host} redirects to a URL that carries a credential"
            )
        return target

    async def _finish(self, answer: RawResponse) -> Outcome:
        url, host = self._target.url, self._target.host
        content_type = answer.header("content-type") or ""
        if answer.status >= 500 and not _worth_reading(answer, content_type):
            return failures.unreachable(
                url, f"{host} answers with status {answer.status}; try again later",
                status=answer.status,
            )  # fmt: skip
        redactor = Redactor(self._attached.values())
        if self._pending.sink is not None and answer.status in FILE_STATUSES:
            return Response(answer.status, url, redactor.headers(answer.headers), "")
        if answer.status == 206:
            return failures.unreachable(
                url, f"{host} answers with a part of the document; all of it was asked for",
                status=206,
            )  # fmt: skip
        try:
            body = await self._decode(answer, content_type, redactor)
        except UndecodableError as fault:
            return failures.undecodable(url, host, str(fault))
        headers = redactor.headers(answer.headers)
        return Response(answer.status, url, headers, body, len(answer.body))

    async def _decode(self, answer: RawResponse, content_type: str, redactor: Redactor) -> str:
        """Decodes and redacts the body; other requests run in between."""
        pieces = []
        redacted = redactor.stream()
        for piece in decode_pieces(answer.body, content_type):
            pieces.append(redacted.feed(piece))
            await self._upstreams.scheduler.checkpoint()
        pieces.append(redacted.finish())
        return "".join(pieces)

    def _log(self, ended: RawResponse | Outcome) -> None:
        if isinstance(ended, RawResponse):
            facts: dict[str, Any] = {"status": ended.status, "bytes": len(ended.body)}
        else:
            facts = requestlog.facts_of(ended)
        facts["tries"] = len(self._pending.attempts) - self._tries_before
        requestlog.write_line(
            plugin=self._pending.plugin,
            tool=self._pending.tool,
            method=self._pending.method,
            target=self._target,
            seconds=self._clock.monotonic() - self._hop_started,
            hop=len(self._hops),
            **facts,
        )


def _method_after(status: int, method: str) -> str:
    """Returns the method of the next hop, as browsers choose it."""
    becomes_get = method == "POST" and status in {301, 302, 303}
    return "GET" if becomes_get else method


def _worth_reading(answer: RawResponse, content_type: str) -> bool:
    """Whether a server error's body is for the plugin: an API's error, not a proxy's page."""
    kind = content_type.lower()
    return bool(answer.body.strip()) and ("xml" in kind or "json" in kind) and "html" not in kind
