"""Tests the whole flow with a real authorization server and the protocol's own client.

`python3 scripts/peers.py oidc-provider` installs the server.
"""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from support.http_server import HttpServer
from support.issuers import bearer

SUPPORT = Path(__file__).parents[1] / "support"
CALLBACK = "http://127.0.0.1:1/callback"


def installed() -> Path:
    """Returns the folder of the authorization server; skips the test if it is not installed."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
    try:
        import peers
    finally:
        sys.path.pop(0)
    found = peers.find("oidc-provider")
    if found is None:
        pytest.skip("needs the server: python3 scripts/peers.py oidc-provider")
    return found.parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def authorization_server(port: int, resource: str) -> Iterator[str]:
    """Runs a server with new keys; returns its URL."""
    script = SUPPORT / "authorization_server.mjs"
    with subprocess.Popen(
        ["node", script, installed(), str(port), resource],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.strip() == "ready":
                break
        else:
            pytest.fail("".join(lines))
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[str, HttpServer]]:
    """An authorization server's URL, and a server that accepts its tokens."""
    port, own = free_port(), free_port()
    resource = f"http://127.0.0.1:{own}/mcp"
    with authorization_server(port, resource) as issuer:
        identity = {
            "issuer": issuer,
            "required_scopes": ["carrel"],
            "plain_http": True,
            "private": True,
        }
        with HttpServer(identity=identity, port=own) as server:
            assert server.url == resource
            yield issuer, server


class Storage:
    """Keeps what a client gets from the authorization server."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def logged_in(url: str, name: str) -> AuthorizationCodeResult:
    """Logs in and consents, as a person does in a browser; returns the code."""
    with httpx2.Client(trust_env=False, follow_redirects=False) as browser:
        response = browser.get(url)
        for _ in range(20):
            if response.is_redirect:
                url = urljoin(url, response.headers["location"])
                if url.startswith(CALLBACK):
                    found = {key: value[0] for key, value in parse_qs(urlsplit(url).query).items()}
                    return AuthorizationCodeResult(
                        code=found["code"], state=found.get("state"), iss=found.get("iss")
                    )
                response = browser.get(url)
                continue
            form = re.search(r'<form[^>]* action="([^"]+)"', response.text)
            prompt = re.search(r'name="prompt" value="([^"]+)"', response.text)
            assert form is not None, response.text
            assert prompt is not None, response.text
            url = urljoin(url, form[1])
            data = {"prompt": prompt[1], "login": name, "password": "any"}
            response = browser.post(url, data=data)
    pytest.fail("the login does not end")


def provider(server: HttpServer, storage: Storage, name: str) -> OAuthClientProvider:
    seen: dict[str, AuthorizationCodeResult] = {}

    async def redirected(url: str) -> None:
        seen["result"] = await asyncio.to_thread(logged_in, url, name)

    async def called_back() -> AuthorizationCodeResult:
        return seen["result"]

    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "test", "redirect_uris": [CALLBACK]}
    )
    return OAuthClientProvider(
        server_url=server.url,
        client_metadata=metadata,
        storage=storage,
        redirect_handler=redirected,
        callback_handler=called_back,
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.requirement("identity:tokens:oauth")
def test_the_sdks_client_gets_a_token_and_calls_a_tool(
    world: tuple[str, HttpServer], mode: Any
) -> None:
    _, server = world
    storage = Storage()

    async def talk() -> None:
        auth = provider(server, storage, "alice")
        async with (
            httpx2.AsyncClient(auth=auth, trust_env=False, timeout=30) as http,
            Client(streamable_http_client(server.url, http_client=http), mode=mode) as client,
        ):
            result = await client.call_tool("echo", {"value": mode})
            assert result.structured_content == {"value": mode}

    asyncio.run(talk())
    assert storage.tokens is not None
    assert storage.client is not None
    assert "carrel" in (storage.tokens.scope or "").split()
    assert not [line for line in server.lines if storage.tokens.access_token[:40] in line]


def client_token(issuer: str, **more: str) -> str:
    """Returns a token of the registered program, without a person."""
    data = {"grant_type": "client_credentials", **more}
    secret = ("machine", "only-for-tests-on-loopback")
    response = httpx2.post(f"{issuer}/token", data=data, auth=secret, trust_env=False)
    assert response.status_code == 200, response.text
    return str(response.json()["access_token"])


def test_tokens_of_the_server_are_judged_by_audience_and_scope(
    world: tuple[str, HttpServer],
) -> None:
    issuer, server = world
    good = client_token(issuer, scope="carrel", resource=server.url)
    assert server.call("echo", {"value": 1}, headers=bearer(good)).status_code == 200
    other = client_token(issuer, scope="carrel", resource="https://other.example.org/mcp")
    assert server.call("echo", {"value": 1}, headers=bearer(other)).status_code == 401
    narrow = client_token(issuer, scope="carrel:library", resource=server.url)
    response = server.call("echo", {"value": 1}, headers=bearer(narrow))
    assert response.status_code == 403
    assert 'scope="carrel"' in response.headers["www-authenticate"]


def test_the_metadata_leads_from_the_endpoint_to_the_authorization_server(
    world: tuple[str, HttpServer],
) -> None:
    issuer, server = world
    refused = server.call("echo", {"value": 1})
    assert refused.status_code == 401
    challenge = refused.headers["www-authenticate"]
    found = re.search(r'resource_metadata="([^"]+)"', challenge)
    assert found is not None
    assert "error" not in challenge
    metadata = server.http.get(found[1])
    assert metadata.json()["authorization_servers"] == [issuer]
    assert metadata.json()["resource"] == server.url
    assert server.http.post(found[1]).status_code == 405


@pytest.mark.long("matrix")
def test_new_keys_of_the_server_are_accepted_and_old_ones_are_not() -> None:
    port = free_port()
    own = free_port()
    resource = f"http://127.0.0.1:{own}/mcp"
    with authorization_server(port, resource) as issuer:
        old = client_token(issuer, scope="carrel")
        identity = {"issuer": issuer, "plain_http": True, "private": True}
        server = HttpServer(identity={**identity, "keys_refresh_seconds": 1}, port=own)
        assert server.call("echo", {"value": 1}, headers=bearer(old)).status_code == 200
    with server, authorization_server(port, resource) as issuer:
        new = client_token(issuer, scope="carrel")
        wait_for_status(server, new, 200)
        wait_for_status(server, old, 401)


def wait_for_status(server: HttpServer, token: str, status: int) -> None:
    """Repeats a call until it has a status, because keys are downloaded every ten seconds."""
    end = time.monotonic() + 40
    while server.call("echo", {"value": 1}, headers=bearer(token)).status_code != status:
        assert time.monotonic() < end, f"no {status}: {server.lines}"
        time.sleep(0.25)
