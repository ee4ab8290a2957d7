"""Requests to one registry: redirects, authorization, retries.

Responses of registries are untrusted. A redirect is followed to https only, at a checked address,
and without the Authorization when it leaves the registry.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from carrel.errors import RegistryError
from carrel.fetch.registries.client import Network, RegistryHttp, RegistryIoError, RegistryResponse
from carrel.fetch.registries.url import RegistryUrl, Site, parse_location, parse_site
from carrel.fetch.retry import backoff, is_retried, retry_after
from carrel.fetch.url import UrlFault

from .challenge import read_challenge
from .credentials import Credential, find_credential
from .reference import ImageReference
from .settings import RegistrySettings
from .tokens import Authorizer, shown_error

#: Where a registry's HTTP interface is, when it is not at the name that references have.
_INTERFACES = {"docker.io": "registry-1.docker.io", "index.docker.io": "registry-1.docker.io"}

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REDIRECTS_WITH_BODY = frozenset({307, 308})

ReplyT = TypeVar("ReplyT")

#: Bytes of an error's body that are read.
_ERROR_BYTES = 64 * 2**10


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole response.

    Attributes:
        url: its URL, after redirects.
        headers: names in lower case.
    """

    url: RegistryUrl
    status: int
    headers: Mapping[str, str]
    body: bytes


class RegistryClient:
    """Sends requests about one repository.

    Attributes:
        host: the registry as references name it.
        settings: how it is reached.
    """

    def __init__(
        self,
        reference: ImageReference,
        settings: RegistrySettings,
        *,
        network: Network | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.host = reference.host
        self.settings = settings
        self.repository = reference.repository
        self._sleep = sleep
        self._http = RegistryHttp(
            connect_seconds=settings.connect_seconds,
            read_seconds=settings.read_seconds,
            total_seconds=settings.total_seconds,
            ca_bundle=settings.ca_bundle,
            may_be_private=self._may_be_private,
            network=network,
        )
        scheme = "http" if self.host in settings.plain_http_hosts else "https"
        site = parse_site(scheme, _INTERFACES.get(self.host, self.host))
        if isinstance(site, UrlFault):
            raise RegistryError(f"the registry {self.host} is refused: {site.message}")
        self.base = RegistryUrl(site, f"/v2/{self.repository}")
        self._found: list[Credential | None] = []
        self._authorizer = Authorizer(
            self.host,
            self.base,
            self.repository,
            credential=self._credential,
            realm_hosts=settings.realm_hosts,
            ask=self._ask_realm,
        )

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def url(self, path: str) -> RegistryUrl:
        """Returns the URL of a path below the repository."""
        return RegistryUrl(self.base.site, f"{self.base.resource}/{path}")

    def locate(self, base: RegistryUrl, location: str | None, what: str) -> RegistryUrl:
        """Parses a URL from the registry and checks that it may be followed.

        Raises:
            RegistryError: it is missing, malformed, or neither https nor granted.
        """
        found = parse_location(base, location or "")
        if isinstance(found, UrlFault):
            raise RegistryError(f"{self.host} gives {what} that is refused: {found.message}")
        if found.site.scheme != "https" and not self._may_be_plain(found.site):
            raise RegistryError(
                f"{self.host} gives {what} to {found.site.authority} over http, which is refused"
            )
        return found

    def ask(
        self,
        method: str,
        url: RegistryUrl,
        *,
        actions: str = "pull",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        cap: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Reply:
        """Returns the whole response, after redirects, authorization and retries.

        Args:
            method: HTTP's.
            url: one of `url` or `locate`.
            actions: what a token is asked for: `pull`, or `pull,push`.
            headers: besides those that every request has.
            body: to send.
            cap: bytes of the body that are read; None takes the cap of documents.
            on_sent: called with the number of body bytes sent so far.

        Raises:
            RegistryError: there is no response, or it exceeds `cap`.
        """
        cap = self.settings.max_document_bytes if cap is None else cap

        def once() -> Reply:
            with self.open(
                method, url, actions=actions, headers=headers, body=body, on_sent=on_sent
            ) as (at, got):
                content = b"" if method == "HEAD" else self._read(got, cap)
                return Reply(at, got.status, got.headers, content)

        return self.persist(once, lambda reply: (reply.status, reply.headers))

    def persist(
        self,
        once: Callable[[], ReplyT],
        outcome: Callable[[ReplyT], tuple[int, Mapping[str, str]]],
    ) -> ReplyT:
        """Repeats an operation while a retry can help, with the pauses that the registry asks for.

        Raises:
            RegistryError: it kept failing.
        """
        attempt = 0
        while True:
            attempt += 1
            more = attempt <= self.settings.retries
            try:
                reply = once()
            except RegistryIoError as fault:
                if not (fault.retryable and more):
                    named = self.base.site.authority in fault.message
                    by = "" if named else f"; {self.host} had led there"
                    raise RegistryError(fault.message + by) from fault
                self._sleep(backoff(attempt, random.random()))  # noqa: S311 -- no secret
                continue
            status, headers = outcome(reply)
            if not is_retried(status) or not more:
                return reply
            longest = self.settings.retry_after_max_seconds
            requested = retry_after(headers.items(), time.time(), 2 * longest)
            if requested is not None and requested > longest:
                return reply
            jitter = random.random()  # noqa: S311 -- no secret
            self._sleep(backoff(attempt, jitter, status=status) if requested is None else requested)

    @contextmanager
    def open(
        self,
        method: str,
        url: RegistryUrl,
        *,
        actions: str = "pull",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        on_sent: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[RegistryUrl, RegistryResponse]]:
        """Yields one response with an unread body, after redirects and authorization.

        Raises:
            RegistryError: a redirect or realm is refused.
            RegistryIoError: there is no response.
        """
        followed, challenged, at_home = 0, False, url.site == self.base.site
        while True:
            sent = dict(headers or {})
            authorization = self._authorizer.header(actions) if at_home else ""
            if authorization:
                sent["Authorization"] = authorization
            target = None
            with self._http.send(method, url, sent, body, on_sent) as answer:
                if answer.status in (_REDIRECTS if not body else _REDIRECTS_WITH_BODY):
                    target = self.locate(url, answer.headers.get("location"), "a redirect")
                elif answer.status == 401 and at_home and not challenged:
                    challenged = True
                    challenge = read_challenge(answer.headers.get("www-authenticate", ""))
                    if challenge is None or not self._authorizer.answer(challenge, actions):
                        yield url, answer
                        return
                else:
                    yield url, answer
                    return
            if target is not None:
                followed += 1
                if followed > self.settings.max_redirects:
                    raise RegistryError(f"{self.host} redirects more than {followed - 1} times")
                # Once a redirect has left the registry, no later hop gets credentials.
                at_home = at_home and target.site == self.base.site
                url = target

    def refused(self, reply: Reply, what: str) -> RegistryError:
        """Returns the error for a status that is not retried."""
        status, code = reply.status, shown_error(reply.body)
        if status == 401:
            if self._found and self._found[0] is not None and not self._authorizer.withheld:
                advice = (
                    "it refuses the credentials of Docker's configuration; log in again with "
                    f"`docker login {self.host}`"
                )
            else:
                advice = "it asks for credentials; " + self._authorizer.advice()
            return RegistryError(f"{self.host}: cannot {what}: {advice}", status=status)
        if status == 403:
            return RegistryError(
                f"{self.host}: cannot {what}: not allowed{code}; the account lacks the right, or "
                f"not logged in: `docker login {self.host}`",
                status=status,
            )
        if status == 429:
            return RegistryError(
                f"{self.host}: cannot {what}: it asks for slower requests; try again later",
                status=status,
            )
        return RegistryError(
            f"{self.host}: cannot {what}: it answered {status}{code}", status=status
        )

    def _read(self, answer: RegistryResponse, cap: int) -> bytes:
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise RegistryError(f"{self.host} answers in an encoding that was not asked for")
        limit = cap if answer.status < 300 else _ERROR_BYTES
        chunks, size = [], 0
        for chunk in answer.chunks():
            size += len(chunk)
            if size > limit:
                if answer.status >= 300:
                    break  # only the beginning of an error is read
                raise RegistryError(f"{self.host} answers with more than {cap} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    def _ask_realm(
        self, method: str, url: RegistryUrl, headers: dict[str, str], body: bytes
    ) -> tuple[int, bytes]:
        self.locate(url, str(url), "a realm")
        with self._http.send(method, url, headers, body) as answer:
            return answer.status, self._read(answer, self.settings.max_document_bytes)

    def _credential(self) -> Credential | None:
        if not self._found:
            settings = self.settings
            self._found.append(
                find_credential(
                    self.host, settings.docker_config, helper_seconds=settings.helper_seconds
                )
            )
        return self._found[0]

    def _may_be_plain(self, site: Site) -> bool:
        return self._granted(site, self.settings.plain_http_hosts)

    def _may_be_private(self, site: Site) -> bool:
        return self._granted(site, self.settings.private_hosts | self.settings.plain_http_hosts)

    def _granted(self, site: Site, hosts: frozenset[str]) -> bool:
        """Whether a site may be reached by the operator's settings.

        A realm that was named for this registry may be. Any other site must be listed with the
        registry: an unlisted registry cannot redirect to private sites.
        """
        granted = self.host in hosts or self.base.site.authority in hosts
        if site == self.base.site:
            return granted
        if (self.host, site.authority) in self.settings.realm_hosts:
            return granted or site.authority in hosts
        return granted and site.authority in hosts
