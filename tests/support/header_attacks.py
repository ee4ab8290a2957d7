"""Attacks by headers, targets and bodies: where a token, a Host or an Origin must not count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .issuers import Issuer
from .token_attacks import Attack


def header_attacks(issuer: Issuer, port: int) -> Iterator[Attack]:
    """Returns the attacks on the server at `port`, with good tokens of `issuer`."""
    yield from _credentials(issuer)
    yield from _hosts_and_origins(issuer, port)
    yield from _proxied(issuer, port)
    yield from _bodies(issuer)
    yield from _smuggling(issuer)


def _credentials(issuer: Issuer) -> Iterator[Attack]:
    good = issuer.token().encode()
    name = b"authorization"

    def sent(shown: str, status: int, *values: bytes, **more: Any) -> Attack:
        return Attack(shown, status, tuple((name, value) for value in values), **more)

    yield Attack("no token", 401)
    for scheme in (b"Basic", b"Digest", b"DPoP", b"Token", b"JWT", b"Negotiate", b"Bearer2", b"X"):
        yield sent(f"scheme {scheme.decode()}", 401, scheme + b" " + good)
    yield sent("no scheme", 401, b"a" * 20)
    yield sent("an empty header", 400, b"")
    for shown, value in {
        "Bearer alone": b"Bearer",
        "two tokens": b"Bearer " + good + b" " + good,
        "tokens with a comma": b"Bearer " + good + b"," + good,
        "two schemes": b"Basic YTpi, Bearer " + good,
        "quotes": b'Bearer "' + good + b'"',
        "a parameter": b"Bearer token=" + good,
        "a comma before": b",Bearer " + good,
        "a tab": b"Bearer\t" + good,
        "no blank": b"Bearer:" + good,
        "a semicolon": b"Bearer " + good + b";",
        "a byte above ASCII": b"Bearer " + good + b"\xe9",
        "UTF-8": b"Bearer " + "tökén".encode(),
        "a bidi mark": b"Bearer \xe2\x80\xae" + good,
        "a zero-width space": b"Bearer \xe2\x80\x8b" + good,
        "a byte order mark": b"\xef\xbb\xbfBearer " + good,
        "a fullwidth scheme": "\uff22earer ".encode() + good,
        "a dollar": b"Bearer $" + good,
        "an asterisk": b"Bearer *",
        "percent-encoded": b"Bearer " + good.replace(b".", b"%2E"),
        "two schemes without a comma": b"Bearer Bearer " + good,
        "two blanks inside": b"Bearer  " + good[:20] + b"  " + good[20:],
    }.items():
        yield sent(shown, 400, value)
    yield sent("two headers", 400, b"Bearer " + good, b"Bearer " + good)
    yield sent("a bad header after a good one", 400, b"Bearer " + good, b"Bearer x")
    yield sent("a good header after a bad one", 400, b"Bearer x", b"Bearer " + good)
    yield sent("a header of Basic beside it", 400, b"Basic YTpi", b"Bearer " + good)
    for other in (
        b"x-authorization", b"proxy-authorization", b"authorization-x", b"authentication",
        b"x-forwarded-authorization", b"x-api-key", b"x-access-token", b"access_token", b"token",
        b"authorization_", b"x-original-authorization", b"http_authorization", b"x-forwarded-user",
        b"x-remote-user", b"remote-user", b"x-auth-request-user", b"x-principal",
    ):  # fmt: skip
        yield Attack(f"the token in {other.decode()}", 401, ((other, b"Bearer " + good),))
    for cookie in (b"authorization=Bearer " + good, b"access_token=" + good, b"token=" + good):
        yield Attack(f"the token in the cookie {cookie[:6].decode()}", 401, ((b"cookie", cookie),))
    text = good.decode()
    for query in (f"access_token={text}", f"ACCESS_TOKEN={text}", f"a=1&access%5Ftoken={text}",
                  "access_token=", f"x;access_token={text}&access_token=1"):  # fmt: skip
        yield Attack(f"in the query: {query[:20]}", 400, path=f"/mcp?{query}")
    yield sent("in the query too", 400, b"Bearer " + good, path=f"/mcp?access_token={text}")
    yield Attack("in the query under another name", 401, path=f"/mcp?token={text}")
    yield sent("larger than the headers may be", 431, b"Bearer " + b"a" * 40_000)


def _hosts_and_origins(issuer: Issuer, port: int) -> Iterator[Attack]:
    good = ((b"authorization", b"Bearer " + issuer.token().encode()),)
    hosts = [
        "evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example",
        "carrel.example.org.evil.example", "evil.carrel.example.org",
        "carrel.example.orgx", "evil.example@127.0.0.1", "127.0.0.1@evil.example", "localhost.",
        "carrel.example.org.", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "[::]",
        "[::ffff:10.0.0.1]", "10.0.0.1", "169.254.169.254", "", "localhost:80:80", "localhost,evil",
        "xn--lcalhost-s9c.example", "rebind.network", "a.127.0.0.1.nip.io",
        f"evil.example.:{port}", f"localhost.:{port}", f"127.0.0.1.:{port}", "127.0.0.1:",
        "127.0.0.1:x", "127.0.0.1:123456", "127.0.0.1:-1", "127.0.0.1:80,evil.example",
        "[::1", "::1]", "[[::1]]", "::1", "[127.0.0.1]", "127.0.0.1]", "[::1%25lo]", "[::1]evil",
        "[::1]:x", "[::ffff:169.254.169.254]", "[fe80::1]", "[fd00::1]:8000",
        "http://127.0.0.1", "127.0.0.1/mcp", "127.0.0.1#", "127.0.0.1?x", "127.0.0.1 evil.example",
        "127.0.0.1\\evil", "carrel.example.org:x", "carrel.example.org,evil.example", "*", "..",
        "\u2460\u2461\u2466.0.0.1", "loc\u0430lhost",
    ]  # fmt: skip
    for host in hosts:
        yield Attack(f"Host {host!r}", 421, (*good, (b"host", host.encode())))
        if host:
            about = ((b"x-forwarded-host", b"127.0.0.1"), (b"forwarded", b"host=127.0.0.1"))
            headers = (*good, (b"host", host.encode()), *about)
            yield Attack(f"Host {host!r} behind a good X-Forwarded-Host", 421, headers)
    origins = [
        "null", "http://evil.example", "https://evil.example", "http://localhost:1", "file://",
        f"https://127.0.0.1:{port}@evil.example", f"http://127.0.0.1:{port}/", "http://127.0.0.1",
        f"http://127.0.0.1:{port}.evil.example", "https://carrel.example.org.evil.example",
        "https://carrel.example.org", f"ftp://127.0.0.1:{port}", "chrome-extension://abcdef", "",
        f"http://127.0.0.1:{port} http://evil.example", f"http://evil.example:{port}",
        f"//127.0.0.1:{port}", f"127.0.0.1:{port}", "http://\u202e", "http://[::1]",
    ]  # fmt: skip
    for origin in origins:
        sent = (b"origin", origin.encode())
        yield Attack(f"Origin {origin!r}", 403, (*good, sent))
    yield Attack(
        "two origins", 400, (*good, (b"origin", f"http://127.0.0.1:{port}".encode()),
                             (b"origin", b"http://evil.example"))
    )  # fmt: skip
    for name in (b"mcp-session-id", b"mcp-protocol-version", b"last-event-id", b"content-type"):
        pair = ((name, b"application/json"), (name, b"application/json"))
        yield Attack(f"two headers {name.decode()}", 400, (*good, *pair))
    for path in (
        *("/mcp/", "/MCP", "//mcp", "/mcp/..", "/mcp;x=1", "/x/../mcp", "/mcp%00", "/mcp/x"),
        *("/.well-known/../mcp", "/healthz/../mcp", "/mcp.json", "/sse", "/admin"),
    ):
        yield Attack(f"path {path}", 404, path=path)
    yield Attack("path %6dcp without a token", 404, path="/%6dcp")


def _proxied(issuer: Issuer, port: int) -> Iterator[Attack]:
    """Headers in which proxies state what they know; nothing of them counts."""
    own = f"127.0.0.1:{port}".encode()
    for shown, name, value in (
        ("X-Forwarded-For", b"x-forwarded-for", b"127.0.0.1"),
        ("X-Real-IP", b"x-real-ip", b"127.0.0.1"),
        ("Forwarded", b"forwarded", b"for=127.0.0.1;host=localhost;proto=https"),
        ("X-Forwarded-Host", b"x-forwarded-host", own),
        ("X-Forwarded-Proto", b"x-forwarded-proto", b"https"),
        ("X-Forwarded-Prefix", b"x-forwarded-prefix", b"/healthz"),
        ("X-Original-URL", b"x-original-url", b"/healthz"),
        ("X-Rewrite-URL", b"x-rewrite-url", b"/healthz"),
        ("X-Original-Method", b"x-http-method-override", b"GET"),
        ("X-Forwarded-Client-Cert", b"x-forwarded-client-cert", b"Subject=CN=alice"),
        ("X-SSL-Client-Verify", b"x-ssl-client-verify", b"SUCCESS"),
        ("X-Carrel-Principal", b"x-carrel-principal", b"local"),
        ("Via", b"via", b"1.1 localhost"),
    ):
        yield Attack(f"no token, but {shown}", 401, ((name, value),))
    token = issuer.token(sub="local")
    for name in (b"x-forwarded-for", b"x-forwarded-user"):
        headers = ((b"authorization", b"Bearer " + token.encode()), (name, b"127.0.0.1"))
        yield Attack(f"a token of the local user with {name.decode()}", 401, headers)


def _bodies(issuer: Issuer) -> Iterator[Attack]:
    """Tokens in the body, as RFC 6750 allows and the protocol does not."""
    token = issuer.token()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    bodies = {
        "a form": ("application/x-www-form-urlencoded", f"access_token={token}"),
        "a member": ("application/json", json.dumps({**message, "access_token": token})),
        "an argument": ("application/json", json.dumps({**message, "params": {"token": token}})),
        "_meta": (
            "application/json",
            json.dumps({**message, "params": {"_meta": {"authorization": f"Bearer {token}"}}}),
        ),
        "a part": ("multipart/form-data; boundary=x", f"--x\r\n\r\n{token}\r\n--x--"),
    }
    for shown, (kind, body) in bodies.items():
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        yield Attack(f"the token in {shown} of the body", 401, raw=f"{head}{body}".encode())
    ended = f"Authorization: Bearer {token}\r\n"
    chunked = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n2\r\n{}\r\n0\r\n"
    )
    yield Attack("the token in a trailer", 401, raw=f"{chunked}{ended}\r\n".encode())


def _smuggling(issuer: Issuer) -> Iterator[Attack]:
    token = issuer.token().encode()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    usual = b"Content-Type: application/json\r\nAccept: application/json\r\n"
    host = b"Host: 127.0.0.1\r\n"
    length = b"Content-Length: %d\r\n" % len(body)
    authorized = b"Authorization: Bearer " + token + b"\r\n"
    post = b"POST /mcp HTTP/1.1\r\n"
    lines = {
        "two lengths": (400, post + host + usual + length + b"Content-Length: 5\r\n"),
        "length and chunks": (400, post + host + usual + length + b"Transfer-Encoding: x\r\n"),
        "a negative length": (400, post + host + usual + b"Content-Length: -5\r\n"),
        "a signed length": (400, post + host + usual + b"Content-Length: +5\r\n"),
        "a length in hexadecimal": (400, post + host + usual + b"Content-Length: 0x10\r\n"),
        "an unknown coding": (400, post + host + usual + b"Transfer-Encoding: xchunked\r\n"),
        "two hosts": (400, post + host + b"Host: evil.example\r\n" + usual + length),
        "no host": (400, post + usual + length),
        "a blank before the colon": (400, post + host + b"Authorization : Bearer x\r\n" + length),
        "a folded header": (400, post + host + usual + b"X: a\r\n " + authorized + length),
        "a line feed in a value": (400, post + host + usual + b"X: a\n" + length),
        "a NUL in a value": (400, post + host + usual + b"X: a\0b\r\n" + length),
        "a NUL in a name": (400, post + host + b"Authorization\0: Bearer x\r\n" + length),
        "no name": (400, post + host + b": Bearer x\r\n" + length),
        "HTTP/0.9": (400, b"GET /mcp\r\n"),
        "HTTP/2": (400, b"POST /mcp HTTP/2.0\r\n" + host),
        "the preface of HTTP/2": (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n"),
        "a blank in the target": (400, b"POST /mcp x HTTP/1.1\r\n" + host),
        "a blank before the method": (400, b" POST /mcp HTTP/1.1\r\n" + host),
        "another host in the target": (
            404, b"POST http://evil.example/mcp HTTP/1.1\r\n" + host + usual + length),
        "a target with authority": (
            404, b"POST //evil.example/mcp HTTP/1.1\r\n" + host + usual + length),
        "an asterisk as target": (404, b"OPTIONS * HTTP/1.1\r\n" + host),
        "an absolute target of the server, and another Host": (
            404, b"POST http://127.0.0.1/mcp HTTP/1.1\r\nHost: evil.example\r\n"
            + authorized + usual + length),
        "another absolute target, and the server's Host": (
            404, b"POST http://evil.example/mcp HTTP/1.1\r\n" + host + authorized + usual + length),
        "HTTP/1.0 without Host": (421, b"POST /mcp HTTP/1.0\r\n" + authorized + usual + length),
        "HTTP/1.0 with another Host": (
            421, b"POST /mcp HTTP/1.0\r\nHost: evil.example\r\n" + authorized + usual + length),
        "HTTP/1.0 without a token": (401, b"POST /mcp HTTP/1.0\r\n" + host + usual + length),
        "an empty Host": (421, post + b"Host:\r\n" + authorized + usual + length),
        "a Host of blanks": (421, post + b"Host:   \r\n" + authorized + usual + length),
        "a second Host behind the headers": (
            400, post + host + authorized + usual + length + b"Host: evil.example\r\n"),
        "two tokens, one folded": (
            400, post + host + b"Authorization: Basic x,\r\n Bearer " + token + b"\r\n" + length),
        "CONNECT": (404, b"CONNECT evil.example:443 HTTP/1.1\r\n" + host),
        "TRACE": (401, b"TRACE /mcp HTTP/1.1\r\n" + host + length),
        "an upgrade": (
            401, b"GET /mcp HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n" + host + length),
        "a websocket": (
            401, b"GET /mcp HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" + host
            + length),
        "a method of the attacker": (400, b"EVIL /mcp HTTP/1.1\r\n" + host),
    }  # fmt: skip
    for shown, (status, head) in lines.items():
        yield Attack(f"on the wire: {shown}", status, raw=head + b"\r\n" + body)
    # A second request behind the first: its own credentials count, not those of the first.
    first = post + host + usual + authorized + b"Content-Length: 2\r\n\r\n[]"
    second = post + host + usual + length + b"\r\n" + body
    yield Attack(
        "on the wire: a second request without a token", 401, raw=first + second, responses=2
    )
