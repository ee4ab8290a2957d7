"""A minimal OCI registry on loopback over HTTP: supports push, pull, tags and signatures."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

_MANIFEST = re.compile(r"/v2/(.+)/manifests/([^/]+)")
_BLOB = re.compile(r"/v2/(.+)/blobs/(sha256:[0-9a-f]{64})")
_UPLOAD = re.compile(r"/v2/(.+)/blobs/uploads/.*")


class TinyRegistry:
    """The registry's contents, and a log of its requests.

    Attributes:
        blobs: digest → content, of every repository.
        manifests: repository and tag or digest → media type and content.
        requests: method and path of every request.
        ranges: digest → the Range header of each request for that blob, None without one.
        stall_after: bytes of a larger blob after which its next response stops until `go_on` is
            set; None sends blobs completely.
        host: `127.0.0.1:PORT`.
    """

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        self.requests: list[str] = []
        self.ranges: dict[str, list[str | None]] = {}
        self.stall_after: int | None = None
        self.go_on = threading.Event()
        self.host = ""

    def digest(self, repository: str, tag: str) -> str:
        return digest_of(self.manifests[repository, tag][1])


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: TinyRegistry

    def do_GET(self) -> None:
        self.registry.requests.append(f"{self.command} {self.path}")
        path = urlsplit(self.path).path
        if path == "/v2/":
            self._answer(200, b"{}", {"Content-Type": "application/json"})
        elif found := _MANIFEST.fullmatch(path):
            kept = self.registry.manifests.get((found[1], found[2]))
            if kept is None:
                self._answer(404)
            else:
                headers = {
                    "Content-Type": kept[0],
                    "Docker-Content-Digest": digest_of(kept[1]),
                }
                self._answer(200, kept[1], headers)
        elif (found := _BLOB.fullmatch(path)) and found[2] in self.registry.blobs:
            self._blob(found[2])
        else:
            self._answer(404)

    def _blob(self, digest: str) -> None:
        data, wanted = self.registry.blobs[digest], self.headers["Range"]
        self.registry.ranges.setdefault(digest, []).append(wanted)
        if wanted is None:
            self._answer(200, data)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        content_range = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._answer(206, data[start:], {"Content-Range": content_range})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.registry.requests.append(f"POST {self.path}")
        self._body()
        name = _UPLOAD.fullmatch(urlsplit(self.path).path)
        assert name is not None, self.path
        self._answer(202, headers={"Location": f"/v2/{name[1]}/blobs/uploads/1"})

    def do_PUT(self) -> None:
        self.registry.requests.append(f"PUT {self.path}")
        data, url = self._body(), urlsplit(self.path)
        if found := _MANIFEST.fullmatch(url.path):
            kept = (self.headers["Content-Type"], data)
            self.registry.manifests[found[1], found[2]] = kept
            self.registry.manifests[found[1], digest_of(data)] = kept
        else:
            [digest] = parse_qs(url.query)["digest"]
            assert digest_of(data) == digest
            self.registry.blobs[digest] = data
        self._answer(201, headers={"Docker-Content-Digest": digest_of(data)})

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        body = body or (json.dumps({"errors": []}).encode() if status >= 400 else b"")
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self._write(body)

    def _write(self, body: bytes) -> None:
        stall_after = self.registry.stall_after
        if stall_after is not None and stall_after < len(body):
            self.registry.stall_after = None
            self.wfile.write(body[:stall_after])
            self.registry.go_on.wait(30)
            body = body[stall_after:]
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores broken connections, because some tests kill clients."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def tiny_registry() -> Iterator[TinyRegistry]:
    registry = TinyRegistry()

    own = type("Own", (Handler,), {"registry": registry})
    server = _Server(("127.0.0.1", 0), own)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    registry.host = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield registry
    finally:
        registry.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
