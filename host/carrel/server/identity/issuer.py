"""Keeps the keys of an issuer: downloaded, refreshed, and used for a while when it is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

from carrel.awaiting import run_in_thread
from carrel.config import IdentityConfig
from carrel.text.printable import printable

from .keys import Key, find_key, read_keys
from .tokens import UnverifiedToken

logger = logging.getLogger(__name__)

#: Downloads the document at a URL; raises an exception whose text is fit for the log.
Download = Callable[[str], bytes]

#: Seconds between two downloads that tokens with an unknown key cause, or that failed.
PAUSE_SECONDS: Final = 10.0


class KeysUnavailableError(Exception):
    """The keys cannot be downloaded, so no token can be verified."""


class IssuerKeys:
    """The current keys of an issuer. Used on one event loop.

    Args:
        settings: the issuer, and how long its keys are kept.
        download: downloads its documents; called in a thread.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        settings: IdentityConfig,
        download: Download,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._download = download
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._downloaded: float | None = None
        self._tried: float | None = None
        self._url: str | None = settings.jwks_url
        self._running: asyncio.Future[None] | None = None

    @property
    def current(self) -> Sequence[Key]:
        """The keys, if they need no refresh; else none."""
        return self._keys if self._age() <= self._settings.keys_refresh_seconds else ()

    async def find(self, token: UnverifiedToken) -> Key | None:
        """Returns the key of a token; None if the issuer has none for it.

        A token whose key is unknown causes one download, at most every `PAUSE_SECONDS`.

        Raises:
            KeysUnavailableError: the issuer cannot be reached, and the keys are too old to be used.
        """
        if not self._are_usable():
            await self._refreshed()
            if not self._are_usable():
                raise KeysUnavailableError
        elif self._age() > self._settings.keys_refresh_seconds:
            self._begin()  # meanwhile the old keys are used
        found = find_key(self._keys, token)
        if found is None and await self._refreshed():
            found = find_key(self._keys, token)
        return found

    def _age(self) -> float:
        return float("inf") if self._downloaded is None else self._clock() - self._downloaded

    def _are_usable(self) -> bool:
        return self._age() <= self._settings.keys_keep_seconds

    async def _refreshed(self) -> bool:
        """Waits for a download, unless one has just ended; returns whether one ended."""
        running = self._begin()
        if running is None:
            return False
        await asyncio.shield(running)
        return True

    def _begin(self) -> asyncio.Future[None] | None:
        """Starts a download, or returns the running one; None shortly after the last one."""
        if self._running is not None:
            return self._running
        if self._tried is not None and self._clock() - self._tried < PAUSE_SECONDS:
            return None
        self._running = running = run_in_thread(self._load)
        running.add_done_callback(self._ended)
        return running

    def _ended(self, running: asyncio.Future[None]) -> None:
        self._running = None
        self._tried = self._clock()
        if not running.cancelled() and (error := running.exception()) is not None:
            logger.error("the keys of the issuer cannot be read", exc_info=error)

    def _load(self) -> None:
        """Downloads the keys; runs in a thread. A failure keeps the old ones."""
        try:
            keys = self._current()
        except Exception as error:  # noqa: BLE001 - each is an outage of the keys
            self._url = self._settings.jwks_url  # the metadata may have another one now
            remaining = self._settings.keys_keep_seconds - self._age()
            logger.error(  # noqa: TRY400 - the reason is in the message
                "the keys of %s cannot be downloaded: %s; %s",
                self._settings.issuer,
                printable(str(error), 300),
                f"the old ones are used for another {remaining:.0f} s"
                if remaining > 0
                else "none are left",
            )
            return
        self._keys, self._downloaded = keys, self._clock()

    def _current(self) -> tuple[Key, ...]:
        """Downloads the keys.

        Raises:
            Exception: why they cannot be had.
        """
        url = self._url or self._discovered()
        return read_keys(self._download(url), self._settings.algorithms)

    def problem(self) -> str | None:
        """Downloads the keys, and returns why no token could be verified with them; else None."""
        try:
            keys = self._current()
        except Exception as error:  # noqa: BLE001 - each is an outage of the keys
            return f"its keys cannot be downloaded: {printable(str(error), 300)}"
        return None if keys else "it has no key that can be used"

    def _discovered(self) -> str:
        """Returns the address of the keys from the issuer's metadata (RFC 8414, OpenID Connect).

        Raises:
            ValueError: no metadata, or of another issuer.
        """
        issuer = self._settings.issuer or ""
        failures = []
        for url in metadata_urls(issuer):
            try:
                found = json.loads(self._download(url))
            except Exception as error:  # noqa: BLE001 - the next address may answer
                failures.append(str(error))
                continue
            if not isinstance(found, dict) or found.get("issuer") != issuer:
                raise ValueError(f"the metadata at {url} is of another issuer")
            keys = found.get("jwks_uri")
            if not isinstance(keys, str):
                raise ValueError(f"the metadata at {url} has no jwks_uri")  # noqa: TRY004
            self._url = keys
            return keys
        raise ValueError(f"no metadata: {'; '.join(failures)}")


def metadata_urls(issuer: str) -> list[str]:
    """Returns where an issuer's metadata may be, the first to be tried first."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = [
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}/.well-known/openid-configuration{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ]
    return list(dict.fromkeys(urls))
