"""A token server: issues the signed tokens that `docker-registry` accepts.

with token_server(tmp_path, {"reader": "password"}) as realm:
    with docker_registry(tmp_path, auth=realm.auth) as registry: ...
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID


@dataclass
class Realm:
    """A running realm.

    Attributes:
        host: `127.0.0.1:PORT`.
        auth: the registry's configuration that sends clients here.
        asked: user (empty without login) and scope of every request.
    """

    host: str
    auth: str
    asked: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def token_server(folder: Path, users: Mapping[str, str]) -> Iterator[Realm]:
    """Starts a token server: all clients may pull, `users` may also push."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "carrel tests")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    bundle = folder / "realm.pem"
    bundle.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    der = base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()

    def sign(access: list[dict[str, object]], user: str) -> str:
        header = {"typ": "JWT", "alg": "ES256", "x5c": [der]}
        at = int(time.time())
        claims = {
            "iss": "carrel-tests", "aud": "plugins", "sub": user, "jti": secrets.token_hex(8),
            "iat": at, "nbf": at - 60, "exp": at + 300, "access": access,
        }  # fmt: skip
        text = ".".join(_unpadded(json.dumps(part).encode()) for part in (header, claims))
        first, second = utils.decode_dss_signature(
            key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        )
        return f"{text}.{_unpadded(first.to_bytes(32, 'big') + second.to_bytes(32, 'big'))}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            user = _user(self.headers.get("Authorization", ""), users)
            query = parse_qs(urlsplit(self.path).query)
            scope = query.get("scope", [""])[0]
            realm.asked.append((user or "", scope))
            kind, repository, actions = ([*scope.split(":"), "", ""])[:3]
            allowed = {"pull"} | ({"push"} if user else set())
            granted = [one for one in actions.split(",") if one in allowed]
            access: list[dict[str, object]] = [
                {"type": kind, "name": repository, "actions": granted}
            ]
            refused = user is None or query.get("service") != ["plugins"]
            body = b"{}" if refused else json.dumps({"token": sign(access, user or "")}).encode()
            self.send_response(401 if refused else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host = f"127.0.0.1:{server.server_port}"
        auth = (
            f"{{token: {{realm: 'http://{host}/token', service: plugins, issuer: carrel-tests, "
            f"rootcertbundle: {bundle}}}}}"
        )
        realm = Realm(host, auth)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield realm
        finally:
            server.shutdown()
            thread.join()


def _user(header: str, users: Mapping[str, str]) -> str | None:
    """Returns the user: empty without login, None for a wrong password."""
    if not header:
        return ""
    user, _, password = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
    return user if users.get(user) == password else None


def _unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
