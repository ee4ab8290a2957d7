"""Tests that no attack on tokens and headers lets anybody in, and that each has its exact status.

The tables are `support/token_attacks.py` and `support/header_attacks.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx2
import pytest

from support.header_attacks import header_attacks
from support.http_server import BOTH, HttpServer, envelope, modern_headers, request
from support.issuers import ALGORITHMS, RESOURCE, Issuer, bearer, signing_key
from support.token_attacks import Attack, token_attacks

MARK = "let-me-in-5c1f"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def evil() -> Iterator[Issuer]:
    keys = {kind: signing_key(kind, f"evil-{kind}") for kind in ALGORITHMS}
    with Issuer(keys) as issuer:
        yield issuer


@pytest.fixture(scope="module")
def server(issuer: Issuer) -> Iterator[HttpServer]:
    identity = {
        "issuer": issuer.url,
        "resource": RESOURCE,
        "required_scopes": ["carrel"],
        "plain_http": True,
        "private": True,
        "calls_per_second": 10_000,
    }
    with HttpServer(identity=identity) as server:
        yield server


def sent(server: HttpServer, attack: Attack) -> tuple[int, bytes, httpx2.Headers]:
    """Sends a request; returns status, body and headers of the response."""
    if attack.raw is not None:
        return _exchanged(server, attack.raw, attack.responses)
    params = {"name": "echo", "arguments": {"value": MARK}, "_meta": envelope()}
    usual = {
        **modern_headers("tools/call", "echo"),
        "accept": BOTH,
        "content-type": "application/json",
        "host": f"127.0.0.1:{server.port}",
    }
    given = {name for name, _ in attack.headers}
    body = json.dumps(request("tools/call", params)).encode()
    headers = [
        *((n.encode(), v.encode()) for n, v in usual.items() if n.encode() not in given),
        *attack.headers,
        (b"content-length", str(len(body)).encode()),
    ]
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    head = b"POST " + attack.path.encode() + b" HTTP/1.1\r\n" + lines + b"\r\n"
    return _exchanged(server, head + body, 1)


def _exchanged(server: HttpServer, data: bytes, count: int) -> tuple[int, bytes, httpx2.Headers]:
    """Sends bytes; returns the last of `count` responses."""
    received = b""
    with server.connect() as connection:
        connection.sendall(data)
        while True:
            rest, found = received, None
            for _ in range(count):
                found, rest = _first(rest)
            if found is not None:
                return found
            chunk = connection.recv(65_536)
            assert chunk, f"the server closed the connection after {received!r}"
            received += chunk


def _first(received: bytes) -> tuple[tuple[int, bytes, httpx2.Headers] | None, bytes]:
    """Returns the first response, if it is complete, and what is behind it."""
    head, end, rest = received.partition(b"\r\n\r\n")
    if not end:
        return None, b""
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = httpx2.Headers(
        [(name, value) for name, _, value in (x.partition(": ") for x in lines)]
    )
    length = int(headers["content-length"])
    if len(rest) < length:
        return None, b""
    return (int(first.split()[1]), rest[:length], headers), rest[length:]


def tokens_of(attack: Attack) -> set[str]:
    """Returns everything in a request that looks like a part of a token."""
    data = b" ".join([value for _, value in attack.headers] + [attack.raw or b""])
    text = data.decode("latin-1") + attack.path
    return {one for one in re.findall(r"[A-Za-z0-9_-]{24,}", text) if one not in RESOURCE}


@pytest.mark.requirement("identity:tokens:attacks")
def test_no_attack_lets_anybody_in(server: HttpServer, issuer: Issuer, evil: Issuer) -> None:
    table = [*token_attacks(issuer, evil), *header_attacks(issuer, server.port)]
    names = [attack.name for attack in table]
    assert not {name for name in names if names.count(name) > 1}, "two attacks have one name"
    assert len(table) >= 780
    wrong = []
    for attack in table:
        status, body, headers = sent(server, attack)
        if status != attack.status:
            wrong.append(f"{attack.name}: expected {attack.status} but found {status} {body!r}")
        if MARK.encode() in body:
            wrong.append(f"{attack.name}: let in")
        response = body.decode("latin-1") + str(headers)
        leaked = {one for one in tokens_of(attack) if one in response}
        assert not leaked, f"{attack.name}: the response has a part of the token"
        if status in {401, 403} and "origin" not in attack.name.lower():
            assert headers["www-authenticate"].startswith("Bearer"), attack.name
    assert not wrong, "\n".join(wrong)
    assert evil.asked == [], "no address in a token is asked"
    for attack in table:
        for part in tokens_of(attack):
            lines = [line for line in server.lines if part in line]
            assert not lines, f"{attack.name}: the log has a part of the token"
    assert not [line for line in server.lines if "Traceback" in line]


def test_good_tokens_of_every_kind_are_accepted(server: HttpServer, issuer: Issuer) -> None:
    good = [
        *(issuer.token(kind) for kind in issuer.keys),
        issuer.token(header={"typ": ...}),
        issuer.token(header={"typ": "JWT"}),
        issuer.token(aud=["https://other.example.org", RESOURCE]),
        issuer.token(aud=f"{RESOURCE}/"),
        issuer.token(scope="other carrel"),
        issuer.token(scope=..., scp=["carrel"]),
        issuer.token(iat=...),
        issuer.token(exp=issuer.claims()["exp"] + 0.5),
        issuer.token(sub="auth0|5f7c~!@#"),
    ]
    for token in good:
        response = server.call("echo", {"value": 1}, headers=bearer(token))
        assert response.status_code == 200, response.text
    lower = {"authorization": f"bearer  {good[0]}"}
    assert server.call("echo", {"value": 1}, headers=lower).status_code == 200


def test_the_log_says_why_and_the_response_does_not(server: HttpServer, issuer: Issuer) -> None:
    response = server.call("echo", headers=bearer(issuer.token(aud="https://else.example.org")))
    assert response.status_code == 401
    assert "audience" not in response.text + str(response.headers)
    assert response.json()["error"]["message"] == "the token is invalid; get another"
    server.wait_for(
        r"refused POST of .* \(-\): 401 invalid-token: the token is for another audience"
    )
