"""A real server over HTTP with a real plugin, a local upstream and a local trace collector."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from carrel.config import DEFAULT_PLUGINS
from support.guests import guest
from support.http_server import HttpServer, answer_of
from support.manifests import manifest, manifest_text
from support.upstream import Upstream

TESTS = Path(__file__).resolve().parents[1]
HOST = "api.example.org"
#: A secret of the plugin `probe`, which the host attaches to its requests.
SECRET = "s3cret-of-the-probe-0123456789"

#: Fetches the member `url` of the arguments, which is the only one.
_FETCH_URL = """(drop (call $get (i32.add (local.get $text) (i32.const 8))
    (i32.sub (local.get $text_length) (i32.const 10))))"""


def probe_plugin(folder: Path, name: str = "probe", **changes: Any) -> str:
    """Writes a plugin whose tool `open` fetches a URL; returns the address of its file."""
    tool = manifest()["tools"][0] | {
        "name": "open",
        "title": "Open",
        "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}},
    }
    text = manifest_text(
        **{
            "name": name,
            "tools": [tool],
            "secrets": [{"name": "key", "hosts": [HOST], "attach": {"query": "api_key"}}],
            **changes,
        }
    )
    path = folder / f"{name}.wasm"
    path.write_bytes(guest(_FETCH_URL, manifest=text, result='{"n":1}', fetching=True).wasm)
    return path.as_uri()


class OperatedServer(HttpServer):
    """`carrel serve --http` with the plugin `probe` and a configuration file.

    Args:
        folder: of the configuration, the data and the plugin.
        upstream: that every request of plugins is sent to.
        cache: folder of compiled code.
        plugins: further entries of the configuration.
        env: further variables of its environment.
        program: file in `support` that runs Carrel, and its first arguments.
        config: further sections of the configuration.
    """

    def __init__(
        self,
        folder: Path,
        upstream: Upstream,
        cache: Path,
        *,
        plugins: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = ("upstream_server.py",),
        **config: Any,
    ) -> None:
        self.folder = folder
        self.file = folder / "carrel.json"
        own_cache = folder / "cache"
        own_cache.mkdir(exist_ok=True)
        (cache / "code").mkdir(exist_ok=True)
        if not (own_cache / "code").exists():
            (own_cache / "code").symlink_to(cache / "code")
        grant = {"allowed_hosts": [HOST], "secrets": ["key"]}
        probe = {"url": probe_plugin(folder), "runtime_config": grant}
        self.document: dict[str, Any] = {
            "cache_dir": str(own_cache),
            "data_dir": str(folder / "data"),
            "fetch": {"ca_bundle": str(upstream.write_authority(folder))},
            "plugins": {
                **{name: {"enabled": False} for name in DEFAULT_PLUGINS},
                "probe": probe,
                **(plugins or {}),
            },
            **config,
        }
        self.configure()
        variables = {
            "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)]),
            "CARREL_SECRET_PROBE_KEY": SECRET,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            **(env or {}),
        }
        words = ["env", *(f"{name}={value}" for name, value in variables.items())]
        command = [sys.executable, str(TESTS / "support" / program[0]), *program[1:]]
        serve = ["serve", "--http", "127.0.0.1:0", "--config", str(self.file)]
        super().__init__([*words, *command, str(upstream.port), *serve])
        self.root = self.url.removesuffix("/mcp")

    def configure(self, **changes: Any) -> None:
        """Writes the configuration file, with sections replaced."""
        self.document |= changes
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.document), "utf-8")
        new.replace(self.file)

    def ready(self) -> Self:
        """Waits until the server has its tools."""
        eventually(lambda: self.http.get(f"{self.root}/readyz").status_code == 200, 60)
        return self

    def open(self, url: str, tool: str = "probe_open", **more: Any) -> Any:
        """Calls the plugin's tool with a URL, and returns the JSON-RPC response."""
        return answer_of(self.call(tool, {"url": url}, **more))

    def metrics(self) -> str:
        """Returns the text of `/metrics`."""
        answer = self.http.get(f"{self.root}/metrics")
        assert answer.status_code == 200, answer.text
        return answer.text

    def status(self) -> Any:
        """Returns `/status.json`."""
        return self.http.get(f"{self.root}/status.json").json()


class Collector:
    """A stand-in of an OpenTelemetry collector: decodes what is posted to `/v1/traces`.

    Attributes:
        url: its base.
        spans: everything that arrived.
        headers: of each request.
    """

    def __init__(self) -> None:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        self.spans: list[Any] = []
        self.resources: list[Any] = []
        self.headers: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                exported = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
                collector.headers.append(dict(self.headers))
                for resource in exported.resource_spans:
                    collector.resources.append(resource.resource)
                    for scope in resource.scope_spans:
                        collector.spans.extend(scope.spans)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def named(self, name: str) -> list[Any]:
        """Returns the spans of that name."""
        return [span for span in list(self.spans) if span.name == name]


def attributes(span: Any) -> dict[str, Any]:
    """Returns a span's attributes as Python values."""
    found = {}
    for one in span.attributes:
        kind = one.value.WhichOneof("value")
        found[one.key] = getattr(one.value, kind)
    return found


def eventually(condition: Any, seconds: float = 20) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


@contextmanager
def an_upstream() -> Iterator[Upstream]:
    """Starts an upstream for the plugin's hosts."""
    with Upstream(HOST, "other.example.org") as upstream:
        yield upstream
