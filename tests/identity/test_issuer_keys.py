"""Tests how keys of an issuer are downloaded, rotated, and kept during an outage."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from carrel.config import IdentityConfig
from carrel.fetch.small_document import SmallDocumentError, SmallDocumentFetcher
from carrel.server.identity.issuer import (
    PAUSE_SECONDS,
    IssuerKeys,
    KeysUnavailableError,
    metadata_urls,
)
from carrel.server.identity.keys import ASYMMETRIC, read_keys
from carrel.server.identity.tokens import UnverifiedToken, parse_token
from support.issuers import Issuer, SigningKey, signing_key

ISSUER = "https://login.example.org"
JWKS = f"{ISSUER}/jwks"
SETTINGS = IdentityConfig(issuer=ISSUER, jwks_url=JWKS)


class Web:
    """The issuer's documents, and how often each was downloaded."""

    def __init__(self, *keys: SigningKey) -> None:
        self.documents: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.down = False
        self.gate: threading.Event | None = None
        self.publish(*keys)

    def publish(self, *keys: SigningKey) -> None:
        self.documents[JWKS] = json.dumps({"keys": [key.public_jwk() for key in keys]}).encode()

    def __call__(self, url: str) -> bytes:
        self.asked.append(url)
        if self.gate is not None:
            assert self.gate.wait(20)
        if self.down or url not in self.documents:
            raise SmallDocumentError("login.example.org answered with status 500")
        return self.documents[url]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


OLD, NEW = signing_key("ec", "old"), signing_key("ec", "new")


def signed_with(key: SigningKey) -> UnverifiedToken:
    return parse_token(key.signed({"alg": key.alg, "kid": key.kid}, {}))


def run(work: Callable[[], Any]) -> Any:
    return asyncio.run(work())


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_keys_are_downloaded_once_for_many_tokens(clock: Clock) -> None:
    web = Web(OLD)

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        found = await asyncio.gather(*(keys.find(signed_with(OLD)) for _ in range(20)))
        assert {one and one.kid for one in found} == {"old"}

    run(work)
    assert web.asked == [JWKS]


def test_an_unknown_key_causes_one_download(clock: Clock) -> None:
    web = Web(OLD)

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        assert await keys.find(signed_with(OLD)) is not None
        web.publish(OLD, NEW)
        clock.now += PAUSE_SECONDS
        found = await keys.find(signed_with(NEW))
        assert found is not None
        assert found.kid == "new"
        for _ in range(50):
            assert await keys.find(signed_with(signing_key("ec", "evil"))) is None
        assert len(web.asked) == 2
        clock.now += PAUSE_SECONDS
        assert await keys.find(signed_with(signing_key("ec", "evil"))) is None
        assert len(web.asked) == 3

    run(work)


def test_a_key_that_the_issuer_withdrew_is_not_used_after_the_refresh(clock: Clock) -> None:
    web = Web(OLD, NEW)

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        assert await keys.find(signed_with(OLD)) is not None
        web.publish(NEW)
        clock.now += SETTINGS.keys_refresh_seconds + 1
        await keys.find(signed_with(OLD))  # the refresh runs beside it
        for _ in range(200):
            if len(web.asked) == 2 and await keys.find(signed_with(OLD)) is None:
                return
            await asyncio.sleep(0.01)
        pytest.fail("the withdrawn key is still used")

    run(work)


@pytest.mark.requirement("identity:keys:outage")
def test_keys_are_kept_for_a_stated_time_and_then_nobody_is_let_in(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    web = Web(OLD)

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        assert await keys.find(signed_with(OLD)) is not None
        web.down = True
        clock.now += SETTINGS.keys_keep_seconds - 1
        assert await keys.find(signed_with(OLD)) is not None
        clock.now += 2
        with pytest.raises(KeysUnavailableError):
            await keys.find(signed_with(OLD))
        assert not keys.current, "remembered tokens are not accepted either"
        clock.now += PAUSE_SECONDS
        with pytest.raises(KeysUnavailableError):
            await keys.find(signed_with(OLD))
        asked = len(web.asked)
        for _ in range(50):  # a request after another does not ask the issuer
            with pytest.raises(KeysUnavailableError):
                await keys.find(signed_with(OLD))
        assert len(web.asked) == asked
        web.down = False
        clock.now += PAUSE_SECONDS
        assert await keys.find(signed_with(OLD)) is not None

    with caplog.at_level(logging.ERROR):
        run(work)
    assert "the keys of https://login.example.org cannot be downloaded" in caplog.text
    assert "none are left" in caplog.text


def test_an_issuer_that_hangs_does_not_delay_known_tokens(clock: Clock) -> None:
    web = Web(OLD)

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        assert await keys.find(signed_with(OLD)) is not None
        web.gate = threading.Event()
        clock.now += SETTINGS.keys_refresh_seconds + 1
        async with asyncio.timeout(5):
            for _ in range(10):
                assert await keys.find(signed_with(OLD)) is not None
        web.gate.set()

    run(work)
    assert len(web.asked) <= 2


def test_an_empty_key_set_lets_nobody_in(clock: Clock) -> None:
    web = Web()

    async def work() -> None:
        keys = IssuerKeys(SETTINGS, web, clock=clock)
        assert await keys.find(signed_with(OLD)) is None

    run(work)


@pytest.mark.parametrize("path", ["", "/realms/one", "/realms/one/"])
def test_the_issuers_metadata_leads_to_its_keys(clock: Clock, path: str) -> None:
    issuer = f"{ISSUER}{path}"
    for number, url in enumerate(metadata_urls(issuer)):
        web = Web(OLD)
        metadata = {"issuer": issuer, "jwks_uri": JWKS}
        web.documents[url] = json.dumps(metadata).encode()

        async def work(web: Web = web) -> None:
            keys = IssuerKeys(IdentityConfig(issuer=issuer), web, clock=clock)
            assert await keys.find(signed_with(OLD)) is not None

        run(work)
        assert len(web.asked) == number + 2


@pytest.mark.parametrize(
    "metadata", [b"[]", b"{", {"issuer": "https://evil.example", "jwks_uri": JWKS}, {}]
)
def test_metadata_of_another_issuer_is_refused(clock: Clock, metadata: Any) -> None:
    web = Web(OLD)
    data = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    web.documents[f"{ISSUER}/.well-known/oauth-authorization-server"] = data

    async def work() -> None:
        keys = IssuerKeys(IdentityConfig(issuer=ISSUER), web, clock=clock)
        with pytest.raises(KeysUnavailableError):
            await keys.find(signed_with(OLD))

    run(work)
    assert JWKS not in web.asked


RSA = signing_key("rsa", "rsa")
WEAK = {"kty": "RSA", "n": "ALs_", "e": "AQAB", "kid": "weak"}


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "alg": "HS256"},
        RSA.public_jwk(alg="HS256"),
        RSA.public_jwk(alg="none"),
        RSA.public_jwk(use="enc"),
        RSA.public_jwk(key_ops=["encrypt"]),
        RSA.public_jwk(key_ops="verify"),
        RSA.public_jwk(kty="EC"),
        RSA.public_jwk(n="!"),
        RSA.public_jwk(kid=5),
        OLD.public_jwk(crv="secp256k1"),
        OLD.public_jwk(crv="P-384"),
        OLD.public_jwk(x="AA"),
        OLD.public_jwk(alg="RS256"),
        WEAK,
        {},
        [],
        "key",
        None,
    ],
)
def test_keys_that_are_not_for_signatures_are_left_out(jwk: Any) -> None:
    document = json.dumps({"keys": [jwk, NEW.public_jwk()]}).encode()
    assert [key.kid for key in read_keys(document, ASYMMETRIC)] == ["new"]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"keys": {}}', b"[" * 5000, b'{"keys": [' + b"{}," * 65 + b"{}]}"]
)
def test_what_is_no_key_set_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="key set"):
        read_keys(data, ASYMMETRIC)


def test_a_key_has_the_algorithms_of_its_type_and_no_others() -> None:
    jwk = {name: value for name, value in RSA.public_jwk().items() if name != "alg"}
    [key] = read_keys(json.dumps({"keys": [jwk]}).encode(), ASYMMETRIC)
    assert key.algorithms == ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
    [key] = read_keys(json.dumps({"keys": [jwk]}).encode(), ["PS256", "ES256", "HS256"])
    assert key.algorithms == ("PS256",)


def test_documents_are_downloaded_from_allowed_addresses_only() -> None:
    with Issuer() as issuer:
        url = f"{issuer.url}/jwks"
        for settings in ({}, {"plain_http": True}, {"private": True}):
            with pytest.raises(SmallDocumentError):
                SmallDocumentFetcher(**settings).get(url)  # type: ignore[arg-type]
        assert issuer.asked == []
        fetcher = SmallDocumentFetcher(plain_http=True, private=True)
        assert b"keys" in fetcher.get(url)
        issuer.documents["/large"] = b" " * 300_000
        with pytest.raises(SmallDocumentError, match="more than 262,144 bytes"):
            fetcher.get(f"{issuer.url}/large")
        issuer.status = 302
        with pytest.raises(SmallDocumentError, match="status 302"):
            fetcher.get(url)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "jwks", "//x/jwks", "https://a@b/jwks", "https:/x", "ftp://x/y", ""],
)
def test_urls_of_other_kinds_are_refused(url: str) -> None:
    with pytest.raises(SmallDocumentError):
        SmallDocumentFetcher(plain_http=True, private=True).get(url)
