"""Attacks on tokens and headers: each is a request that must be refused with its status.

A request is a list of headers for a tool call at `/mcp`, or the bytes of a whole request. Every
attack is one line, so that a reader sees what is tried.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .issuers import ALGORITHMS, RESOURCE, Issuer, SigningKey, b64, compact, signing_key

Headers = list[tuple[bytes, bytes]]

_NAMED: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
#: Alg → the function of HMAC.
_HMAC: Final = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: what is tried.
        status: that the request must be refused with.
        headers: of the request, besides those of every tool call.
        path: of the request.
        raw: the whole request in place of these.
        responses: how many there are; the last has the status.
    """

    name: str
    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    path: str = "/mcp"
    raw: bytes | None = None
    responses: int = 1


def token_attack(name: str, token: str, status: int = 401) -> Attack:
    return Attack(name, status, ((b"authorization", b"Bearer " + token.encode("utf-8")),))


def token_attacks(issuer: Issuer, evil: Issuer) -> list[Attack]:
    """Returns the attacks by tokens.

    Args:
        issuer: whose tokens are accepted, with the scope `carrel` and the audience `RESOURCE`.
        evil: another issuer, of the attacker.
    """
    return [
        *_unsigned(issuer),
        *_symmetric(issuer),
        *_encrypted(issuer, evil),
        *_confused(issuer),
        *_signatures(issuer),
        *_keys(issuer, evil),
        *_header_members(issuer),
        *_times(issuer),
        *_audiences(issuer),
        *_issuers(issuer, evil),
        *_subjects(issuer),
        *_scopes(issuer),
        *_duplicates(issuer),
        *_documents(issuer),
        *_encodings(issuer),
    ]


def _hmac(alg: str, secret: bytes, header: Any, claims: Any) -> str:
    unsigned = compact({**header, "alg": alg}, claims, b"").rstrip(".")
    return f"{unsigned}.{b64(hmac.new(secret, unsigned.encode(), _HMAC[alg]).digest())}"


def _unsigned(issuer: Issuer) -> Iterator[Attack]:
    claims = issuer.claims()
    for none in ("none", "None", "NONE", "nOnE", ""):
        for shown, signature in (("empty", b""), ("one byte", b"\0"), ("64 bytes", bytes(64))):
            token = compact(issuer.header(alg=none), claims, signature)
            yield token_attack(f"alg {none!r}, signature of {shown}", token)


def _symmetric(issuer: Issuer) -> Iterator[Attack]:
    claims = issuer.claims()
    rsa = issuer.keys["rsa"]
    secrets = {
        "the public key in PEM": rsa.pem(),
        "the public key in PEM, stripped": rsa.pem().strip(),
        "the public key in DER": rsa.der(),
        "the public key as JWK": json.dumps(rsa.public_jwk()).encode(),
        "the key set": issuer.document("/jwks") or b"",
        "the kid": rsa.kid.encode(),
        "the issuer": issuer.url.encode(),
        "nothing": b"",
    }
    for alg in _HMAC:
        for shown, secret in secrets.items():
            token = _hmac(alg, secret, issuer.header("rsa"), claims)
            yield token_attack(f"{alg} with {shown} as secret", token)
    for kind in ("ec", "ed"):
        key = issuer.keys[kind]
        public = key.public_jwk()
        forms = {
            "PEM": key.pem(),
            "PEM without its end of line": key.pem().strip(),
            "PEM with CRLF": key.pem().replace(b"\n", b"\r\n"),
            "PEM's base64": b"".join(key.pem().splitlines()[1:-1]),
            "DER": key.der(),
            "JWK": json.dumps(public).encode(),
            "JWK, compact": json.dumps(public, separators=(",", ":"), sort_keys=True).encode(),
            "x": base64.urlsafe_b64decode(public["x"] + "=="),
            "x in base64url": public["x"].encode(),
        }
        for alg in _HMAC:
            for shown, secret in forms.items():
                token = _hmac(alg, secret, issuer.header(kind), claims)
                yield token_attack(f"{alg} with the {kind} key as secret, in {shown}", token)
    modulus = base64.urlsafe_b64decode(rsa.public_jwk()["n"] + "==")
    for alg in _HMAC:
        token = _hmac(alg, modulus, issuer.header("rsa"), claims)
        yield token_attack(f"{alg} with the modulus as secret", token)
        for kid in ("/dev/null", "../../../../../../dev/null", "", "' UNION SELECT '' --", ...):
            token = _hmac(alg, b"", issuer.header("rsa", kid=kid), claims)
            yield token_attack(f"{alg} with an empty secret, kid {kid!r}", token)


def _encrypted(issuer: Issuer, evil: Issuer) -> Iterator[Attack]:
    """Tokens of RFC 7516, whose keys anybody has: what matters is who signed."""
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA1

    inner = evil.token(iss=issuer.url).encode()
    rsa = issuer.keys["rsa"]
    for shown, payload in {
        "claims": json.dumps(issuer.claims()).encode(),
        "a token of the attacker": inner,
        "a good token": issuer.token().encode(),
    }.items():
        for alg in ("RSA-OAEP", "dir"):
            header = {"alg": alg, "enc": "A128GCM", "kid": rsa.kid, "cty": "JWT"}
            key, nonce = bytes(range(16)), bytes(12)
            public = rsa.private.public_key()
            oaep = padding.OAEP(padding.MGF1(SHA1()), SHA1(), None)
            wrapped = public.encrypt(key, oaep) if alg == "RSA-OAEP" else b""
            protected = b64(json.dumps(header).encode())
            sealed = AESGCM(key).encrypt(nonce, payload, protected.encode())
            parts = [protected, b64(wrapped), b64(nonce), b64(sealed[:-16]), b64(sealed[-16:])]
            yield token_attack(f"{shown} encrypted with {alg}", ".".join(parts))
    for alg in ("PBES2-HS256+A128KW", "A256GCMKW", "ECDH-ES"):
        token = issuer.token(header={"alg": alg, "p2c": 2**31 - 1, "p2s": "AA"})
        yield token_attack(f"a signed token that names {alg}", token)
    flat = {"protected": b64(json.dumps(issuer.header()).encode()), "payload": b64(b"{}")}
    general: dict[str, Any] = {**flat, "signatures": []}
    for shown, value in (("flattened", flat), ("general", general)):
        text = json.dumps({**flat, **value, "signature": "AA"}, separators=(",", ":"))
        yield token_attack(f"the {shown} form of JSON", text, 400)
        yield token_attack(f"the {shown} form of JSON in base64url", b64(text.encode()))
    disclosed = f"{issuer.token()}~{b64(json.dumps(['s', 'scope', 'admin']).encode())}~"
    yield token_attack("an SD-JWT", disclosed, 401)


def _confused(issuer: Issuer) -> Iterator[Attack]:
    claims = issuer.claims()
    for kind, own in ALGORITHMS.items():
        for alg in _NAMED:
            if alg != own:
                token = issuer.keys[kind].signed(issuer.header(kind, alg=alg), claims)
                yield token_attack(f"{own} signature of the {kind} key, called {alg}", token)
    for strange in [
        "RS1",
        "HS1",
        "ES256K",
        "Ed448",
        "dir",
        "RSA-OAEP",
        "A128KW",
        "es256",
        "ES256\n",
    ]:
        token = issuer.keys["ec"].signed(issuer.header(alg=strange), claims)
        yield token_attack(f"alg {strange!r}", token)
    for odd in (1, None, True, ["ES256"], {"ES256": 1}, ...):
        token = issuer.keys["ec"].signed(issuer.header(alg=odd), claims)
        yield token_attack(f"alg is {odd!r}", token)


def _signatures(issuer: Issuer) -> Iterator[Attack]:
    good = issuer.token()
    unsigned, _, encoded = good.rpartition(".")
    signature = base64.urlsafe_b64decode(encoded + "==")
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")

    def pair(one: int, other: int) -> bytes:
        return one.to_bytes(32, "big") + other.to_bytes(32, "big")

    changed = {
        "of zeros": pair(0, 0),
        "with r = 0": pair(0, s),
        "with s = 0": pair(r, 0),
        "with r = n": pair(order, s),
        "with s = n": pair(r, order),
        "with r and s exchanged": pair(s, r),
        "in DER": b"\x30\x44\x02\x20" + signature[:32] + b"\x02\x20" + signature[32:],
        "cut": signature[:-1],
        "halved": signature[:32],
        "with a byte more": signature + b"\0",
        "with a zero before": b"\0" + signature,
        "with a bit flipped": bytes([signature[0] ^ 1]) + signature[1:],
        "twice": signature * 2,
        "of a megabyte's start": bytes(4000),
    }
    for shown, data in changed.items():
        yield token_attack(f"signature {shown}", f"{unsigned}.{b64(data)}")
    other = issuer.token(sub="bob").rpartition(".")[2]
    yield token_attack("signature of another token", f"{unsigned}.{other}")
    header, payload, _ = good.split(".")
    raised = b64(json.dumps(issuer.claims(sub="root", scope="carrel admin")).encode())
    yield token_attack("claims exchanged", f"{header}.{raised}.{encoded}")
    retitled = b64(json.dumps(issuer.header(typ="JWT")).encode())
    yield token_attack("header exchanged", f"{retitled}.{payload}.{encoded}")
    for kind in ALGORITHMS:
        key = issuer.keys[kind]
        token = compact(issuer.header(kind), issuer.claims(), key.sign(b"something else"))
        yield token_attack(f"{kind} signature of something else", token)


def _keys(issuer: Issuer, evil: Issuer) -> Iterator[Attack]:
    claims = issuer.claims()
    for kind in ALGORITHMS:
        stranger = signing_key(kind, "evil")
        yield token_attack(
            f"{kind} key of the attacker under the issuer's kid",
            stranger.signed(issuer.header(kind), claims),
        )
        yield token_attack(
            f"{kind} key of the attacker without kid",
            stranger.signed(issuer.header(kind, kid=...), claims),
        )
        yield token_attack(
            f"{kind} key of the attacker's issuer",
            evil.keys[kind].signed(evil.header(kind, kid="evil"), claims),
        )
        for name, value in _brought(evil, stranger).items():
            for kid in ("evil", issuer.keys[kind].kid, ...):
                header = issuer.header(kind, kid=kid, **{name: value})
                shown = "no kid" if kid is ... else f"kid {kid}"
                yield token_attack(
                    f"{kind} key of the attacker, brought by {name}, {shown}",
                    stranger.signed(header, claims),
                )
    for name, value in _brought(evil, signing_key("ec", "evil")).items():
        token = issuer.token(header={name: value})
        yield token_attack(f"good signature, but the header has {name}", token)
    stranger = signing_key("ec", "evil")
    kids: list[Any] = [
        "../../../../dev/null", "/dev/null", "..\\..\\nul", "file:///etc/hostname",
        f"{evil.url}/jwks", f"http://127.0.0.1:1/{'a' * 20}", "' OR '1'='1",
        "x' UNION SELECT 'k'--",
        "1; DROP TABLE keys", "$(id)", "`id`", "| id", "%2e%2e%2f", "{{7*7}}", "${jndi:ldap://x}",
        "", " ", "\0", "a" * 256, "a" * 10_000, "ec-1\0", "ec-1 ", "EC-1",
        "ec-1\u202e", "\u0435c-1", 0, 1, True, [], ["ec-1"], {"kid": "ec-1"}, 1.5,
    ]  # fmt: skip
    for kid in kids:
        shown = _short(kid)
        for who, key in (("attacker", stranger), ("issuer", issuer.keys["ec"])):
            if who == "issuer" and kid not in (
                ["ec-1"],
                {"kid": "ec-1"},
                "ec-1\0",
                "ec-1 ",
                "EC-1",
            ):
                continue
            token = key.signed(issuer.header(kid=kid), claims)
            yield token_attack(f"kid {shown}, signed by the {who}", token)


def _brought(evil: Issuer, stranger: SigningKey) -> dict[str, Any]:
    return {
        "jwk": stranger.public_jwk(),
        "jku": f"{evil.url}/jwks",
        "x5u": f"{evil.url}/cert.pem",
        "x5c": [base64.b64encode(stranger.der()).decode()],
    }


def _header_members(issuer: Issuer) -> Iterator[Attack]:
    members: list[dict[str, Any]] = [
        {"crit": ["b64"], "b64": False}, {"crit": ["b64"], "b64": True},
        {"crit": ["exp"], "exp": 0},
        {"crit": []}, {"crit": "exp"}, {"crit": ["https://example.org/x"]}, {"crit": None},
        {"b64": False}, {"b64": True}, {"zip": "DEF"}, {"enc": "A256GCM"}, {"cty": "JWT"},
        {"typ": "dpop+jwt"}, {"typ": "logout+jwt"}, {"typ": "secevent+jwt"}, {"typ": "kb+jwt"},
        {"typ": "JWE"}, {"typ": ""}, {"typ": 5}, {"typ": None}, {"typ": ["JWT"]},
    ]  # fmt: skip
    for one in members:
        yield token_attack(f"header with {one}", issuer.token(header=one))


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:30]}… of {len(shown)}"


def _times(issuer: Issuer) -> Iterator[Attack]:
    now = int(time.time())
    expired: list[Any] = [now - 3600, now - 40, 0, -1, 1, now - 40.5, -1e300]
    odd: list[Any] = [..., None, True, "", str(now + 3600), [now + 3600], {"a": 1}, 2**60, 1e300]
    for value in [*expired, *odd]:
        yield token_attack(f"exp {_shown(value, now)}", issuer.token(exp=value))
    for name in ("nbf", "iat"):
        odd = [now + 3600, now + 40, None, True, str(now), [now], 2**60, -5]
        for value in odd:
            claim: dict[str, Any] = {name: value}
            yield token_attack(f"{name} {_shown(value, now)}", issuer.token(**claim))
    for raw in (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"0x7fffffff", b"+1"):
        text = json.dumps(issuer.claims(exp="?")).encode().replace(b'"?"', raw)
        token = issuer.keys["ec"].signed(issuer.header(), text)
        yield token_attack(f"exp written {raw.decode()}", token)
    yield token_attack("valid before it expired", issuer.token(nbf=now - 99, exp=now - 40, iat=...))
    yield token_attack("expires before it is valid", issuer.token(nbf=now + 99, exp=now + 50))


def _shown(value: Any, now: int) -> str:
    is_near = isinstance(value, int | float) and abs(value - now) < 10_000
    return f"now{value - now:+g}" if is_near and value is not True else repr(value)


def _audiences(issuer: Issuer) -> Iterator[Attack]:
    odd: list[Any] = [
        ..., None, "", [], {}, 5, True, [5], [[RESOURCE]], [RESOURCE, 5], {"aud": RESOURCE},
        "https://other.example.org/mcp", ["https://other.example.org/mcp", "api"], RESOURCE + "x",
        RESOURCE + "/x", RESOURCE + "//", RESOURCE.removesuffix("/mcp"), RESOURCE.upper(),
        RESOURCE.replace("https", "http"), RESOURCE.replace(".org", ".org:443"), f" {RESOURCE}",
        f"{RESOURCE} ", f"{RESOURCE}?a=1", f"{RESOURCE}#a", RESOURCE.replace("mcp", "%6dcp"),
        f"{RESOURCE},other", f"{RESOURCE} other", "*", ".*", "carrel.example.org", RESOURCE + "\0",
        RESOURCE.replace("carrel", "c\u0430rrel"), ["x"] * 100 + [RESOURCE],
    ]  # fmt: skip
    for value in odd:
        yield token_attack(f"aud {_short(value)}", issuer.token(aud=value))


def _issuers(issuer: Issuer, evil: Issuer) -> Iterator[Attack]:
    url = issuer.url
    odd: list[Any] = [
        ..., None, "", 5, True, [url], {"iss": url}, url + "/", url + "/x", url.upper(), f" {url}",
        f"{url} ", url.replace("http", "https"), evil.url, "https://login.example.org", url + "\0",
        url + "#", url + "?", url.replace("127.0.0.1", "localhost"), f"{url}@evil.example",
    ]  # fmt: skip
    for value in odd:
        yield token_attack(f"iss {_short(value)}", issuer.token(iss=value))


def _subjects(issuer: Issuer) -> Iterator[Attack]:
    odd: list[Any] = [
        ..., None, "", " ", 5, True, [], ["alice"], {"sub": "alice"}, "local", "a" * 256, "a b",
        "alice\n", "alice\0", "al\tice", "\u202ealice", "\u0430lice", "alice\u200b", "é", "\x7f",
        "\ud800", "alice\r\nX: y", "a" * 8000,
    ]  # fmt: skip
    for value in odd:
        yield token_attack(f"sub {_short(value)}", issuer.token(sub=value))
    for cnf in ({"jkt": "a" * 43}, {"x5t#S256": "a"}, None):
        yield token_attack(f"cnf {cnf}", issuer.token(cnf=cnf))


def _scopes(issuer: Issuer) -> Iterator[Attack]:
    lacking = ["", "other", "Carrel", "carrel:", "xcarrel", "carrelx", "carrel,other", "*", ...]
    for value in lacking:
        yield token_attack(f"scope {value!r}", issuer.token(scope=value), 403)
    odd: list[Any] = [
        5, None, True, ["carrel"], {"carrel": True}, "carrel\u00a0x", "carrel\tx",
        'carrel "x', "carrel \\", "a " * 101 + "carrel", "carrel " + "a" * 300,
    ]  # fmt: skip
    for value in odd:
        yield token_attack(f"scope {_short(value)}", issuer.token(scope=value))
    for value in (5, None, {"carrel": 1}, [5], [["carrel"]]):
        yield token_attack(f"scp {value!r}", issuer.token(scope=..., scp=value))


def _duplicates(issuer: Issuer) -> Iterator[Attack]:
    key, header, claims = issuer.keys["ec"], issuer.header(), issuer.claims()
    for name in ("exp", "aud", "iss", "sub", "scope"):
        for where in ("before", "after"):
            text = _twice(claims, name, '"x"' if name != "exp" else "1", where)
            yield token_attack(f"a second {name} {where}", key.signed(header, text))
    for name in ("alg", "kid", "typ"):
        for where in ("before", "after"):
            text = _twice(header, name, '"none"', where)
            yield token_attack(f"a second {name} {where}", key.signed(text, claims))
    nested = json.dumps(claims)[:-1].encode() + b', "more": {"a": 1, "a": 2}}'
    yield token_attack("a second nested member", key.signed(header, nested))
    escaped = json.dumps(claims)[:-1].encode() + b', "\\u0073ub": "root"}'
    yield token_attack("a second sub, escaped", key.signed(header, escaped))


def _twice(members: dict[str, Any], name: str, value: str, where: str) -> bytes:
    text, extra = json.dumps(members), f'"{name}": {value}'
    text = f"{{{extra}, {text[1:]}" if where == "before" else f"{text[:-1]}, {extra}}}"
    return text.encode()


def _documents(issuer: Issuer) -> Iterator[Attack]:
    key = issuer.keys["ec"]
    good = {"header": issuer.header(), "payload": issuer.claims()}
    odd = {
        "a list": b"[]", "a text": b'"x"', "a number": b"1", "null": b"null", "empty": b" ",
        "no JSON": b"{", "more behind": b"{} {}", "UTF-16": "{}".encode("utf-16"),
        "not UTF-8": b'{"a": "\xff"}', "nested deeply": b"[" * 3000, "a comment": b"{} // x",
        "nested members": b'{"a":' * 2000, "single quotes": b"{'alg': 'ES256'}",
    }  # fmt: skip
    for part in good:
        for shown, data in odd.items():
            parts = {**good, part: data}
            token = key.signed(parts["header"], parts["payload"])
            yield token_attack(f"the {part} is {shown}", token)
    with_mark = b"\xef\xbb\xbf" + json.dumps(issuer.claims()).encode()
    yield token_attack("the payload has a mark", key.signed(issuer.header(), with_mark))
    inner = issuer.token()
    yield token_attack("a token in a token", key.signed(issuer.header(), inner.encode()))
    wrapped = json.dumps({"token": inner}).encode()
    yield token_attack("a token in a member", key.signed(issuer.header(), wrapped))


def _encodings(issuer: Issuer) -> Iterator[Attack]:
    good = issuer.token()
    header, payload, signature = good.split(".")
    last = "AEIMQUYcgkosw048"
    changed = {
        "four parts": f"{good}.{signature}",
        "five parts": f"{header}.{header}.{header}.{payload}.{signature}",
        "two parts": f"{header}.{payload}",
        "one part": header,
        "no header": f".{payload}.{signature}",
        "no payload": f"{header}..{signature}",
        "no signature": f"{header}.{payload}.",
        "a dot before": f".{good}",
        "a dot behind": f"{good}.",
        "only dots": "..",
        "padding": f"{good}==",
        "padding of one": f"{good}=",
        "a tilde": good.replace(".", "~"),
        "plus": f"{header}.{payload}.{signature[:-2]}+/",
        "a letter less": good[:-1],
        "a letter more": f"{good}A",
        "spare bits": f"{good[:-1]}{'B' if good[-1] in last else 'A'}",
        "upper case": good.upper(),
        "lower case": good.lower(),
        "reversed": good[::-1],
        "17,000 characters": f"{header}.{payload}.{'A' * 17_000}",
        "17,000 characters of claims": issuer.token(more="a" * 17_000),
        "a hash": hashlib.sha256(good.encode()).hexdigest(),
        "a word": "admin",
        "undefined": "undefined",
        "null": "null",
    }
    for shown, token in changed.items():
        yield token_attack(f"compact form: {shown}", token)
