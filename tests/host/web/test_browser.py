"""Tests of pages that a real Chromium reads, and of what it cannot reach."""

# ruff: noqa: E501 - the lines of scripts are data

from __future__ import annotations

import contextlib
import http.server
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.errors import CarrelError
from carrel.web.browser.process import PROGRAMS, BrowserProcess
from support.upstream import Reply, Seen, Upstream

from .conftest import OpenWeb, Web
from .test_read import URL, WORDS, error_of, page

pytestmark = [
    pytest.mark.long("programs"),
    pytest.mark.alone,  # a browser that shares the processors misses its time limits
    pytest.mark.requirement("sandbox:hosts:browser"),
    pytest.mark.skipif(
        not any(shutil.which(name) for name in PROGRAMS), reason="there is no Chromium"
    ),
]

SHELL = b"<!doctype html><html><head><title>Desks</title></head><body><div id=root></div>%s</body></html>"
SCRIPT = f"""document.getElementById("root").innerHTML =
"<main><article><h1>On desks</h1>" + "<p>{WORDS}</p>".repeat(4) + "</article></main>";"""


@pytest.fixture
def web(open_web: OpenWeb, configuration: Config) -> Web:
    return open_web(replace(configuration, web=configuration.web._replace(browser=True)))


def shell(inside: str) -> Reply:
    return page(SHELL % inside.encode())


def serve_app(
    upstream: Upstream, script: str, inside: str = "<script src=/app.js></script>"
) -> None:
    def answer(seen: Seen) -> Reply:
        if seen.path == "/robots.txt":
            return Reply(404)
        if seen.path == "/app.js":
            return Reply(200, [("Content-Type", "text/javascript")], script.encode())
        if seen.path.startswith("/desks"):
            return shell(inside)
        if seen.path == "/data.json":
            return Reply(200, [("Content-Type", "application/json")], b'{"word": "walnut"}')
        return Reply(404)

    upstream.on("*", answer)


def test_text_that_a_script_writes_is_read(web: Web, upstream: Upstream) -> None:
    serve_app(upstream, SCRIPT + 'fetch("/data.json").then(r => r.json()).then(d => {'
              'document.querySelector("p").textContent += " Made of " + d.word + "."})')  # fmt: skip
    result = web.read(URL)
    assert WORDS.strip() in result["text"]
    assert "Made of walnut." in result["text"]
    assert result["title"] == "Desks"
    paths = [seen.path for seen in upstream.seen if seen.path != "/robots.txt"]
    assert paths == ["/desks", "/app.js", "/data.json"]
    assert web.read(URL)["cached"]


def test_a_browser_is_off_by_default(open_web: OpenWeb, upstream: Upstream) -> None:
    serve_app(upstream, SCRIPT)
    error = error_of(open_web())
    assert error.extra["needs_browser"]
    assert "web.browser" in error.message


def test_a_page_that_stays_empty_is_an_error(web: Web, upstream: Upstream) -> None:
    serve_app(upstream, "1")
    assert error_of(web).extra["page"] == "empty"


def test_robots_rules_hold_for_scripts_too(web: Web, upstream: Upstream) -> None:
    serve_app(upstream, SCRIPT)
    rules = b"User-agent: *\nDisallow: /app.js\n"
    upstream.on("/robots.txt", Reply(body=rules))
    assert error_of(web).extra["page"] == "empty"
    assert "/app.js" not in [seen.path for seen in upstream.seen]


class Canary:
    """A server on loopback that a browser with a network would reach."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()
                self.wfile.write(b"reached")

            do_POST = do_HEAD = do_CONNECT = do_OPTIONS = do_GET  # noqa: N815 - their names

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            def verify_request(self, *_: object) -> bool:
                seen.append("connection")
                return True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        self.datagrams.setblocking(False)
        self.udp = self.datagrams.getsockname()[1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.datagrams.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    one = Canary()
    yield one
    one.close()


def escapes(canary: Canary) -> str:
    """Returns a script that tries every way out and writes which worked."""
    places = json.dumps({
        "loopback": f"http://127.0.0.1:{canary.port}/fetch",
        "localhost": f"http://localhost:{canary.port}/fetch",
        "six": f"http://[::1]:{canary.port}/fetch",
        "secure": f"https://127.0.0.1:{canary.port}/fetch",
        "file": "file:///etc/hostname",
        "metadata": "http://169.254.169.254/latest/meta-data/",
        "devtools": "http://127.0.0.1:9222/json",
    })  # fmt: skip
    return (
        SCRIPT
        + f"""
const out = document.createElement("p"); document.querySelector("article").append(out);
out.textContent = "Outcomes begin here and are written one after the other, as they come in. ";
const say = (name, how) => {{ out.textContent += name + " " + how + ". "; }};
for (const [name, url] of Object.entries({places})) {{
  fetch(url).then(r => r.text()).then(t => say(name, "OPEN" + t.length), () => say(name, "shut"));
  new Image().src = url + "?image";
  navigator.sendBeacon && navigator.sendBeacon(url + "?beacon", "x");
  for (const tag of ["iframe", "embed", "video", "link", "script"]) {{
    const one = document.createElement(tag);
    one.src = one.href = url + "?" + tag; one.rel = "prefetch"; document.body.append(one);
  }}
}}
const socket = new WebSocket("ws://127.0.0.1:{canary.port}/socket");
socket.onopen = () => say("socket", "OPEN"); socket.onerror = () => say("socket", "shut");
try {{
  const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{canary.udp}"}}]}});
  peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
  peer.onicecandidate = e => e.candidate && say("candidate", "OPEN " + e.candidate.address);
}} catch (fault) {{ say("peer", "shut"); }}
try {{ new WebTransport("https://127.0.0.1:{canary.udp}/").ready.then(() => say("transport", "OPEN"), () => 0); }} catch (fault) {{}}
for (const name of ["leak.example.net", "127.0.0.1.example.net"]) {{
  for (const rel of ["dns-prefetch", "preconnect"]) {{
    const one = document.createElement("link"); one.rel = rel; one.href = "//" + name; document.head.append(one);
  }}
}}
const frame = document.createElement("iframe");
frame.srcdoc = "<script>fetch('http://127.0.0.1:{canary.port}/srcdoc')<\\/script>"; document.body.append(frame);
const inner = document.createElement("iframe");
inner.src = "data:text/html,<script>fetch('http://127.0.0.1:{canary.port}/data')<\\/script>"; document.body.append(inner);
const code = "fetch('http://127.0.0.1:{canary.port}/worker')";
try {{ new Worker(URL.createObjectURL(new Blob([code]))); }} catch (fault) {{}}
const opened = window.open("http://127.0.0.1:{canary.port}/window");
const file = document.createElement("a");
file.href = URL.createObjectURL(new Blob(["x"])); file.download = "x.bin"; document.body.append(file); file.click();
navigator.serviceWorker && navigator.serviceWorker.register("/worker.js").catch(() => 0);
fetch("https://example.org/form", {{method: "POST", body: "x"}}).then(() => say("post", "OPEN"), () => say("post", "shut"));
fetch("https://example.org:8443/").then(() => say("port", "OPEN"), () => say("port", "shut"));
"""
    )


def test_a_page_in_a_browser_reaches_nothing_but_through_the_policy(
    web: Web, upstream: Upstream, canary: Canary, tmp_path: Path
) -> None:
    serve_app(upstream, escapes(canary))
    result = web.read(URL)
    assert "Outcomes begin here" in result["text"]
    assert "OPEN" not in result["text"]
    for name in ("loopback", "localhost", "secure", "file"):
        assert f"{name} shut" in result["text"], result["text"]
    assert canary.seen == []
    with pytest.raises(BlockingIOError):
        canary.datagrams.recv(100)
    assert set(upstream.names.lookups) <= {"example.org", "localhost"} - {"localhost"}
    assert {seen.method for seen in upstream.seen} == {"GET"}


#: What a page declares, each a request to a place; PLACE is replaced.
DECLARED = """<meta http-equiv=refresh content="0;url=PLACE/refresh">
<link rel=preload as=script href=PLACE/preload-script><link rel=preload as=font crossorigin href=PLACE/preload-font>
<link rel=preload as=fetch crossorigin href=PLACE/preload-fetch><link rel=modulepreload href=PLACE/modulepreload>
<link rel=prefetch href=PLACE/prefetch><link rel=prerender href=PLACE/prerender>
<link rel=preconnect href=PLACE><link rel=dns-prefetch href=//leak.example.net><link rel=preconnect href=//leak.example.net>
<link rel=stylesheet href=PLACE/sheet><link rel=icon href=PLACE/icon><link rel=manifest href=PLACE/manifest>
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["PLACE/rules"]}],
"prerender": [{"source": "list", "urls": ["PLACE/rules-prerender"]}]}</script>
<style>@import url(PLACE/import); @import "PLACE/import-text";
@font-face {font-family: walls; src: url(PLACE/font)} p {font-family: walls; background: url(PLACE/background);
cursor: url(PLACE/cursor), auto; list-style-image: url(PLACE/list)} p::after {content: url(PLACE/content)}</style>
<img src=PLACE/image srcset="PLACE/srcset 2x"><picture><source srcset=PLACE/picture><img></picture>
<video poster=PLACE/poster src=PLACE/video autoplay><track default src=PLACE/track></video><audio src=PLACE/audio autoplay></audio>
<object data=PLACE/object></object><embed src=PLACE/embed><input type=image src=PLACE/input>
<svg><image href=PLACE/svg-image /><use href=PLACE/use#a /></svg><iframe src=PLACE/frame></iframe><iframe src=/frame></iframe>
<a id=ping ping=PLACE/ping href=#root></a><a id=download download href=PLACE/download></a>
<a id=opened target=_blank href=PLACE/anchor></a>
<form class=f action=PLACE/post method=post><input name=a value=b></form>
<form class=f action=PLACE/get><input name=a value=b></form>
<form class=f action=PLACE/post-blank method=post target=_blank><input name=a value=b></form>
<form class=f action=PLACE/get-blank target=_blank><input name=a value=b></form>
<form class=f action=PLACE/plain method=post enctype=text/plain target=named><input name=a value=b></form>
<form class=f action=https://leak.example.net/post method=post><input name=a value=b></form>
<form class=f action=https://leak.example.net/blank method=post target=_blank><input name=a value=b></form>
<script src=/app.js></script>"""
#: What its scripts try, each on its own.
TRIED = """new EventSource("PLACE/events")
navigator.sendBeacon("PLACE/beacon", "x")
fetch("PLACE/keepalive", {method: "POST", mode: "no-cors", keepalive: true, body: "x"}).catch(() => 0)
fetch("PLACE/no-cors", {mode: "no-cors"}).catch(() => 0)
{ const one = new XMLHttpRequest(); one.open("POST", "PLACE/sync", false); one.send("x") }
new WebSocket("SOCKET/socket")
new WebSocketStream("SOCKET/stream").opened.catch(() => 0)
{ const peer = new RTCPeerConnection({iceServers: [{urls: "stun:HOST:UDP"}, {urls: ["turn:HOST:PORT?transport=tcp", "turn:HOST:UDP"], username: "a", credential: "b"}]}); peer.createDataChannel("x"); peer.createOffer().then(one => peer.setLocalDescription(one)) }
new WebTransport("https://HOST:UDP/").ready.catch(() => 0)
navigator.serviceWorker.register("/worker.js").catch(() => 0)
navigator.serviceWorker.register("PLACE/worker.js").catch(() => 0)
new Worker(URL.createObjectURL(new Blob(["importScripts('PLACE/imported')"])))
new SharedWorker(URL.createObjectURL(new Blob(["fetch('PLACE/shared')"])))
import("PLACE/module").catch(() => 0)
new FontFace("other", "url(PLACE/face)").load().catch(() => 0)
new Audio("PLACE/sound").play().catch(() => 0)
CSS.paintWorklet.addModule("PLACE/worklet").catch(() => 0)
new PaymentRequest([{supportedMethods: "PLACE/pay"}], {total: {label: "x", amount: {currency: "EUR", value: "1"}}}).canMakePayment().catch(() => 0)
window.open("PLACE/window")
window.open("PLACE/window-opener", "_blank", "noopener")
document.getElementById("ping").click()
document.getElementById("download").click()
document.getElementById("opened").click()
for (const one of document.querySelectorAll(".f")) one.submit()
document.body.append(Object.assign(document.createElement("iframe"), {srcdoc: "<form action=PLACE/inner method=post target=_top></form><script>document.forms[0].submit()<\\/script>"}))
location.assign("PLACE/assign")"""


def test_a_page_with_every_way_out_reaches_nothing_and_is_read(
    web: Web, upstream: Upstream, canary: Canary
) -> None:
    def aimed(text: str) -> str:
        place = f"http://127.0.0.1:{canary.port}"
        text = text.replace("PLACE", place).replace("SOCKET", place.replace("http", "ws"))
        text = text.replace("HOST", "127.0.0.1").replace("PORT", str(canary.port))
        return text.replace("UDP", str(canary.udp))

    tries = "".join(f"try {{ {one} }} catch (fault) {{}}\n" for one in TRIED.splitlines())
    serve_app(upstream, SCRIPT + aimed(tries), aimed(DECLARED))
    policy = aimed("img-src 'none'; report-uri PLACE/report")
    headers = [("Content-Type", "text/html"), ("Content-Security-Policy", policy)]
    upstream.on("/frame", Reply(200, headers, b"<img src=/picture.png>"))
    result = web.read(URL)
    assert WORDS.strip() in result["text"]
    assert result["in_browser"] is True
    assert canary.seen == []
    with pytest.raises(BlockingIOError):
        canary.datagrams.recv(100)
    assert set(upstream.names.lookups) <= {"example.org"}
    assert {(seen.method, seen.host) for seen in upstream.seen} == {("GET", "example.org")}
    assert "/app.js" in [seen.path for seen in upstream.seen]


def test_a_page_that_leads_a_browser_away_is_not_followed_inside(
    web: Web, upstream: Upstream, canary: Canary
) -> None:
    target = f"http://127.0.0.1:{canary.port}/away"
    for script in (f"location = '{target}'", f"document.forms[0].submit() // {target}"):
        form = f"<form action='{target}' method=post><input name=a value=b></form>"
        serve_app(upstream, SCRIPT + script, form + "<script src=/app.js></script>")
        with contextlib.suppress(CarrelError):
            assert "reached" not in web.read(f"{URL}?{len(script)}")["text"]
        assert canary.seen == []


def test_pages_beside_the_policy_are_refused(
    open_web: OpenWeb, configuration: Config, upstream: Upstream
) -> None:
    settings = configuration.web._replace(browser=True, blocked_hosts=("news.example.com",))
    upstream.names.table["www.example.org"] = ["10.0.0.1"]
    hosts = ("news.example.com", "www.example.org")
    attempts = "".join(f'fetch("https://{host}/x").catch(() => 0);' for host in hosts)
    serve_app(upstream, attempts + SCRIPT)
    assert WORDS.strip() in open_web(web=settings).read(URL)["text"]
    assert {seen.host for seen in upstream.seen} == {"example.org"}
    assert "news.example.com" not in upstream.names.lookups


def test_a_script_without_end_costs_its_time_and_nothing_else(
    open_web: OpenWeb, configuration: Config, upstream: Upstream
) -> None:
    settings = configuration.web._replace(browser=True)
    changed = replace(configuration, web=settings, limits={"wall_seconds": 20})
    serve_app(upstream, SCRIPT + "for (;;) {}")
    one = open_web(changed)
    with contextlib.suppress(CarrelError):
        one.read(URL)
    serve_app(upstream, SCRIPT)
    assert open_web(web=settings).read(URL + "?2")["quality"] == "complete"


def test_the_profile_is_gone_with_the_browser() -> None:
    browser = BrowserProcess()
    profile = browser._profile
    assert profile.is_dir()
    assert browser.memory >= 0
    browser.close()
    assert not profile.exists()
    browser.close()
