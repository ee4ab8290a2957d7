"""Serves the page for people with invented data, for a browser."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from carrel.config import HttpConfig, ServerConfig
from carrel.errors import LoadError
from carrel.plugins.state import PluginState
from carrel.principal import LOCAL, Principal, acting_as
from carrel.server.operations.live_calls import LiveCall
from carrel.server.operations.operations import Operations
from carrel.server.operations.request_facts import RequestFacts
from carrel.server.operations.routes import Routes
from carrel.server.toolbox_loader import ToolboxLoader
from carrel.telemetry import Denial, UpstreamState

#: A text that would run if it became HTML, a URL or a script.
HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    "'\"--></script><a href=\"javascript:document.title='owned'\">x</a>\u202e"
)
#: A name of 10 kB that overrides the direction of what follows, isolates it, and breaks the line.
HUGE = "\u202egnp.exe\u2066\u200f\u2028\r\n\x1b[31m" + "A\u0301\u202e" * 3500


@dataclass
class _Manifest:
    version: str


@dataclass
class InventedToolbox:
    """What the page shows of a toolbox."""

    states: list[PluginState] = field(default_factory=list)
    upstream_states: list[UpstreamState] = field(default_factory=list)

    def known_plugins(self) -> Sequence[PluginState]:
        return self.states

    def upstreams(self) -> Sequence[UpstreamState]:
        return self.upstream_states

    def tools(self) -> Sequence[Any]:
        return ()


def plugin(name: str, **changes: Any) -> PluginState:
    """Returns the state of a plugin."""
    version = changes.pop("version", "1.0.0")
    known: dict[str, Any] = {
        "name": name,
        "url": f"builtin:{name}",
        "enabled": True,
        "digest": (name.encode().hex() * 64)[:64],
        "manifest": cast("Any", _Manifest(version)),
        "granted": (),
        "error": None,
    }
    return PluginState(**{**known, **changes})


def view_of(toolbox: InventedToolbox) -> Operations:
    """Returns an operator's view of a toolbox."""

    class Loader:
        loaded = toolbox

    view = Operations(ServerConfig(), HttpConfig())
    view.attach(cast("ToolboxLoader", Loader()))
    view.gauges.sessions = lambda: 14
    return view


def invented_view() -> Operations:
    """Returns a team's server at work."""
    signer = "identity:https://github.com/library-tools/preprints/.github/workflows/release.yml"
    toolbox = InventedToolbox(
        [
            plugin("arxiv", granted=("export.arxiv.org", "arxiv.org")),
            plugin("crossref", granted=("api.crossref.org",)),
            plugin("eutils", granted=("eutils.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov")),
            plugin(
                "preprints",
                url="oci://registry.example.org/plugins/preprints:2.1.0",
                version="2.1.0",
                granted=("api.preprints.example.org",),
                signer=signer,
                locked=True,
            ),
            plugin(
                "theses",
                url="oci://registry.example.org/plugins/theses:0.4.0",
                version="0.4.0",
                digest=None,
                error=LoadError(
                    "theses: oci://registry.example.org/plugins/theses:0.4.0 is not in the lock; "
                    "to review and approve it: carrel plugin lock theses",
                    plugin="theses",
                ),
            ),
            plugin("doaj", enabled=False),
        ],
        [
            UpstreamState("arxiv", "arxiv", 3.0, 1, 1, 7, 0.0, 0.0, 0),
            UpstreamState("crossref", "crossref", 0.02, 3, 2, 0, 0.0, 0.0, 0),
            UpstreamState("eutils", "ncbi", 0.1, 3, 3, 12, 0.0, 0.0, 0),
            UpstreamState("preprints", "api.preprints.example.org", 1.0, 8, 0, 0, 0.0, 41.0, 5),
        ],
    )
    view = view_of(toolbox)
    now = time.monotonic()
    for at, (tool, owner, principal, session, seconds) in enumerate(
        (
            ("work_lookup", "", "maria@example.org", "9f2c41aa5d", 4.2),
            ("arxiv_query", "arxiv", "agent-reviews", "c07d7b316e", 11.8),
            ("pubmed_search", "eutils", "jun@example.org", None, 0.7),
        )
    ):
        view.live._calls[at] = LiveCall(
            tool, owner, principal, RequestFacts("tools/call", session=session), now - seconds
        )
    for principal, denial in (
        (
            "jun@example.org",
            Denial(
                "preprints",
                "preprints_search",
                "https://files.preprints.example.org/v2/11",
                "host_not_granted",
                'plugins.preprints.runtime_config.allowed_hosts += "files.preprints.example.org"',
            ),
        ),
        (
            "agent-reviews",
            Denial(
                "preprints",
                "preprints_search",
                "https://metrics.example.net/pixel",
                "host_not_declared",
                "",
            ),
        ),
    ):
        with acting_as(Principal(principal)):
            for _ in range(3):
                view.denied(denial)
    return view


def hostile_view(text: str = HOSTILE) -> Operations:
    """Returns a view in which every text that others choose is `text`."""
    toolbox = InventedToolbox(
        [
            plugin(
                text,
                version=text,
                url=text,
                granted=(text, "javascript:document.title='owned'"),
                signer=text,
                error=LoadError(text, plugin="p"),
            ),
            plugin("__proto__", granted=("constructor",)),
        ],
        [UpstreamState(text, text, 1.0, 1, 1, 1, 1.0, 1.0, 1)],
    )
    view = view_of(toolbox)
    view.live._calls[0] = LiveCall(text, text, text, RequestFacts(text, session=text), 0.0)
    with acting_as(Principal(text)):
        view.denied(Denial(text, text, f"https://{text}/", text, text))
    return view


class PageServer:
    """Serves the routes of a view on loopback; with a token, only to those who send it.

    Attributes:
        url: of the page.
        tokens: values of the header `Authorization` of each request for the status.
    """

    def __init__(self, view: Operations, token: str | None = None) -> None:
        self.view = view
        self.token = token
        self.tokens: list[str | None] = []
        routes = Routes(view)
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                principal: Principal | None = LOCAL
                if routes.access(self.path) == "identified":
                    sent = self.headers.get("authorization")
                    served.tokens.append(sent)
                    if served.token is not None and sent != f"Bearer {served.token}":
                        principal = None
                if routes.access(self.path) is None or principal is None:
                    self.send_response(404 if principal is not None else 401)
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                reply = asyncio.run(routes.reply("GET", self.path, principal))
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
