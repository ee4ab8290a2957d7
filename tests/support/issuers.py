"""An issuer of tokens for tests: keys, forged tokens, and a web server with the keys.

with Issuer() as issuer:
    issuer.token(sub="alice")
"""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

#: The audience of tokens, unless a test has another.
RESOURCE: Final = "https://carrel.example.org/mcp"
#: Kind of key → the algorithm that it signs with here.
ALGORITHMS: Final = {"rsa": "RS256", "ec": "ES256", "ed": "EdDSA"}


def b64(data: bytes) -> str:
    """Encodes as tokens do."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(header: object, payload: object, signature: bytes) -> str:
    """Returns a token of these parts; bytes are taken as they are, other values as JSON."""
    parts = [
        one if isinstance(one, bytes) else json.dumps(one).encode() for one in (header, payload)
    ]
    return ".".join([*map(b64, parts), b64(signature)])


@dataclass(frozen=True, eq=False)
class SigningKey:
    """A private key.

    Attributes:
        alg: of its signatures.
        kid: its name in the key set.
    """

    private: Any
    alg: str
    kid: str

    def sign(self, data: bytes, alg: str | None = None) -> bytes:
        """Returns the signature of some bytes."""
        algorithm = jwt.PyJWS().get_algorithm_by_name(alg or self.alg)
        signature: bytes = algorithm.sign(data, self.private)
        return signature

    def public_jwk(self, **changes: Any) -> dict[str, Any]:
        """Returns the public key as it is in a key set."""
        algorithm = jwt.PyJWS().get_algorithm_by_name(self.alg)
        found = algorithm.to_jwk(self.private.public_key(), as_dict=True)
        found.pop("key_ops", None)
        return {**found, "kid": self.kid, "use": "sig", "alg": self.alg, **changes}

    def pem(self) -> bytes:
        """Returns the public key in PEM."""
        data: bytes = self.private.public_key().public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        )
        return data

    def der(self) -> bytes:
        """Returns the public key in DER."""
        data: bytes = self.private.public_key().public_bytes(
            Encoding.DER, PublicFormat.SubjectPublicKeyInfo
        )
        return data

    def signed(self, header: object, payload: object, alg: str | None = None) -> str:
        """Returns a token of these parts with a signature that matches."""
        unsigned = compact(header, payload, b"").rstrip(".")
        return f"{unsigned}.{b64(self.sign(unsigned.encode(), alg))}"


@cache
def signing_key(kind: str, kid: str) -> SigningKey:
    """Returns the key of this kind and name; the same each time."""
    private: Any
    if kind == "rsa":
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    elif kind == "ec":
        private = ec.generate_private_key(ec.SECP256R1())
    else:
        private = ed25519.Ed25519PrivateKey.generate()
    return SigningKey(private, ALGORITHMS[kind], kid)


@dataclass
class Issuer:
    """An issuer and its web server on loopback.

    Attributes:
        keys: those in its key set, by kind.
        documents: path → what is there; replaces the usual documents.
        status: of every response.
        delay: seconds before every response.
        asked: paths of the requests.
    """

    keys: dict[str, SigningKey] = field(
        default_factory=lambda: {kind: signing_key(kind, f"{kind}-1") for kind in ALGORITHMS}
    )
    documents: dict[str, bytes] = field(default_factory=dict)
    status: int = 200
    delay: float = 0.0
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                time.sleep(issuer.delay)
                body = issuer.document(self.path)
                self.send_response(issuer.status if body is not None else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def document(self, path: str) -> bytes | None:
        """Returns the document at a path."""
        if path in self.documents:
            return self.documents[path]
        if path == "/jwks":
            return json.dumps({"keys": [key.public_jwk() for key in self.keys.values()]}).encode()
        if path == "/.well-known/oauth-authorization-server":
            metadata = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"}
            return json.dumps(metadata).encode()
        return None

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Returns the claims of a good token, changed; a claim that is `...` is left out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "alice",
            "iat": now,
            "exp": now + 3600,
            "scope": "carrel",
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not ...}

    def header(self, kind: str = "ec", **changes: Any) -> dict[str, Any]:
        """Returns the header of a good token, changed; a member that is `...` is left out."""
        key = self.keys[kind]
        header = {"typ": "at+jwt", "alg": key.alg, "kid": key.kid, **changes}
        return {name: value for name, value in header.items() if value is not ...}

    def token(self, kind: str = "ec", *, header: Any = None, **claims: Any) -> str:
        """Returns a token with a signature that matches."""
        return self.keys[kind].signed(self.header(kind, **(header or {})), self.claims(**claims))


def bearer(token: str) -> dict[str, str]:
    """Returns the header with a token."""
    return {"authorization": f"Bearer {token}"}
