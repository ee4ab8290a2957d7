"""The seven providers as their plugins are: over upstreams on loopback, with keys, and replayed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.config import SEARCH_PLUGINS, Config, PluginConfig, WebConfig, builtin
from carrel.errors import CarrelError, SourceError
from carrel.features import FEATURES
from carrel.fetch.policy.endpoint import parse_endpoint
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from carrel.web.search import ask
from support.loopback_client import loopback_client
from support.upstream import Reply, Seen, SkippingClock, Upstream

HOSTS = {
    "brave": "api.search.brave.com",
    "duckduckgo": "html.duckduckgo.com",
    "exa": "api.exa.ai",
    "google": "www.googleapis.com",
    "serper": "google.serper.dev",
    "tavily": "api.tavily.com",
}
FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Provider → where its key is in a request.
KEYS: dict[str, Callable[[Seen], str]] = {
    "brave": lambda seen: seen.headers["x-subscription-token"],
    "exa": lambda seen: seen.headers["x-api-key"],
    "google": lambda seen: seen.path.partition("key=")[2].partition("&")[0],
    "serper": lambda seen: seen.headers["x-api-key"],
    "tavily": lambda seen: seen.headers["authorization"].removeprefix("Bearer "),
}


def answer_of(provider: str, case: str = "full") -> bytes:
    return next((FIXTURES / provider / case).glob("response.*")).read_bytes()


def reply(body: bytes, status: int = 200, *headers: tuple[str, str]) -> Reply:
    kind = "application/json" if body.lstrip()[:1] in b"{[" else "text/html"
    return Reply(status, [("Content-Type", f"{kind}; charset=utf-8"), *headers], body)


class Search:
    """Calls the tool of a toolbox."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox

    def __call__(self, query: str = "walled desks", **arguments: Any) -> Any:
        return self.toolbox.call_sync("web_search", {"query": query, **arguments})

    def error(self, **arguments: Any) -> SourceError:
        with pytest.raises(SourceError) as caught:
            self(**arguments)
        return caught.value


OpenSearch = Callable[..., Search]


@pytest.fixture(scope="module")
def certificates() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def site(certificates: trustme.CA) -> Iterator[Upstream]:
    with Upstream(*HOSTS.values(), authority=certificates) as server:
        yield server


@pytest.fixture
def open_search(
    site: Upstream, tmp_path: Path, code_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenSearch]:
    opened: list[Toolbox] = []

    def make(*providers: str, keys: bool = True, plugins: tuple[PluginConfig, ...] = ()) -> Search:
        for name in KEYS:
            if keys:
                monkeypatch.setenv(f"CARREL_SECRET_{name.upper()}_API_KEY", f"key-of-{name}")
            else:
                monkeypatch.delenv(f"CARREL_SECRET_{name.upper()}_API_KEY", raising=False)
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path / "data",
            web=WebConfig(search=providers),
            plugins=(builtin("google", settings={"cx": "engine:1"}), *plugins),
        )
        client = loopback_client(site, tmp_path, clock=SkippingClock(), retries=0)
        features = [one for one in FEATURES if one.name == "web"]
        plugin_set = PluginSet(config, fetch_client=client)
        opened.append(Toolbox(config, features=features, plugin_set=plugin_set))
        return Search(opened[-1])

    yield make
    for toolbox in opened:
        toolbox.close()


@pytest.mark.parametrize("provider", HOSTS)
def test_each_provider_answers_with_its_key_and_nobody_else_gets_it(
    provider: str, site: Upstream, open_search: OpenSearch
) -> None:
    site.on("*", lambda _: reply(answer_of(provider)))
    result = open_search(provider)()
    assert result.data["results"][0]["url"].startswith("https://desks.example.org/walled")
    assert result.meta["provider_used"] == provider
    [seen] = site.seen
    assert seen.host == HOSTS[provider]
    for name, key in KEYS.items():
        if name == provider:
            assert key(seen) == f"key-of-{name}"
        else:
            assert f"key-of-{name}" not in f"{seen.path} {seen.headers} {seen.body!r}"
    assert "key-of-" not in result.text


@pytest.mark.parametrize("provider", KEYS)
def test_a_missing_key_names_the_variable_and_sends_nothing(
    provider: str, site: Upstream, open_search: OpenSearch
) -> None:
    error = open_search(provider, keys=False).error()
    assert error.error_code == "config"
    assert f"CARREL_SECRET_{provider.upper()}_API_KEY" in error.message
    assert site.seen == []


@pytest.mark.parametrize("provider", KEYS)
def test_a_refused_key_names_the_variable(
    provider: str, site: Upstream, open_search: OpenSearch
) -> None:
    status = {"brave": 422, "google": 400, "serper": 403}.get(provider, 401)
    site.on("*", lambda _: reply(answer_of(provider, "bad_key"), status))
    error = open_search(provider).error()
    assert (error.error_code, error.extra["kind"]) == ("config", "auth_required")
    assert f"CARREL_SECRET_{provider.upper()}_API_KEY" in error.message


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
@pytest.mark.parametrize("provider", HOSTS)
def test_too_many_requests_open_the_circuit(
    provider: str, as_date: bool, site: Upstream, open_search: OpenSearch
) -> None:
    late = format_datetime(datetime.now(tz=UTC) + timedelta(seconds=600), usegmt=True)
    site.on("*", lambda _: reply(b"", 429, ("Retry-After", late if as_date else "600")))
    search = open_search(provider)
    error = search.error()
    assert error.error_code == "rate_limited"
    assert 500 < error.extra["retry_after_seconds"] <= 600 * 1.2 + 1
    sent = len(site.seen)
    again = search.error(query="another")
    assert "circuit open" in again.message
    assert len(site.seen) == sent


@pytest.mark.parametrize("provider", HOSTS)
@pytest.mark.parametrize("status", [200, 500, 503])
def test_an_answer_that_cannot_be_read_is_a_failure_and_is_not_kept(
    provider: str, status: int, site: Upstream, open_search: OpenSearch
) -> None:
    replies = [reply(b"<html><p>Welcome</p></html>", status), reply(answer_of(provider))]
    site.on("*", lambda _: replies.pop(0) if len(replies) > 1 else replies[0])
    search = open_search(provider)
    assert search.error().error_code == "upstream_unavailable"
    assert search().data["result_count"] > 0


def test_a_challenge_is_named_as_blocked(site: Upstream, open_search: OpenSearch) -> None:
    site.on("*", lambda _: reply(answer_of("duckduckgo", "challenge"), 202))
    error = open_search("duckduckgo").error()
    assert error.extra["kind"] == "blocked"
    assert "challenge" in error.message


@pytest.mark.parametrize(
    ("provider", "case", "status"),
    [
        ("exa", "no_credits", 402),
        ("tavily", "plan_limit", 432),
        ("serper", "no_credits", 400),
        ("google", "daily_quota", 403),
    ],
)
def test_used_up_credits_fall_back_and_never_count(
    provider: str, case: str, status: int, site: Upstream, open_search: OpenSearch
) -> None:
    def answer(seen: Seen) -> Reply:
        if seen.host == HOSTS[provider]:
            return reply(answer_of(provider, case), status)
        return reply(answer_of("brave"))

    site.on("*", answer)
    search = open_search(provider, "brave")
    for number in range(7):
        meta = search(query=f"q{number}").meta
        assert meta["provider_used"] == "brave"
        assert meta["providers_attempted"] == [provider, "brave"]


@pytest.mark.long("load")
def test_an_answer_that_drips_does_not_use_up_the_time_of_the_next_provider(
    site: Upstream, open_search: OpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(seen: Seen) -> Reply:
        if seen.host == HOSTS["exa"]:
            return replace(reply(answer_of("exa")), drip=0.05)
        return reply(answer_of("brave"))

    site.on("*", answer)
    search = open_search("exa", "brave")
    search(provider="brave", query="compiles the plugin")
    monkeypatch.setattr(ask, "PROVIDER_SECONDS", 3.0)
    meta = search().meta
    assert (meta["provider_used"], meta["fallback_reason"]) == ("brave", "primary_unavailable")
    assert [seen.host for seen in site.seen][-2:] == [HOSTS["exa"], HOSTS["brave"]]


def test_odd_results_come_out_clean(site: Upstream, open_search: OpenSearch) -> None:
    site.on("*", lambda _: reply(answer_of("brave", "odd_results")))
    result = open_search("brave")(num_results=10).data
    links = {one["title"]: one["display_link"] for one in result["results"]}
    assert links["In other letters"] == "möbel.example"
    assert links["Mixed letters"] == "xn--exmple-4nf.org"
    assert "Hidden text" in links
    assert result["urls"].count("https://example.org/twice") == 1
    assert all(url.startswith("http") and url.isascii() for url in result["urls"])


def test_only_the_hosts_tool_is_listed_for_providers_that_it_asks(
    site: Upstream, open_search: OpenSearch
) -> None:
    del site
    toolbox = open_search("brave", plugins=(builtin("brave"), builtin("exa"))).toolbox
    names = {tool.name for tool in toolbox.tools()}
    assert {"web_search", "exa_web_search"} <= names
    assert "brave_web_search" not in names


class Instance(BaseHTTPRequestHandler):
    """A SearXNG instance."""

    protocol_version = "HTTP/1.1"
    body = answer_of("searxng")

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_words: object) -> None:
        """Writes no log."""


def test_an_instance_on_loopback_is_asked_if_the_operator_says_so(
    code_folder: Path, tmp_path: Path
) -> None:
    with HTTPServer(("127.0.0.1", 0), Instance) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = parse_endpoint(f"http://127.0.0.1:{server.server_port}", private=True)
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            web=WebConfig(search=("searxng",)),
            plugins=(builtin("searxng", endpoint=endpoint),),
        )
        toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "web"])
        try:
            result = toolbox.call_sync("web_search", {"query": "walled desks"}).data
        finally:
            toolbox.close()
            server.shutdown()
    assert result["results"][0]["source"] == "brave, duckduckgo"


def test_without_an_instance_the_setting_is_named(code_folder: Path, tmp_path: Path) -> None:
    config = Config(cache_dir=code_folder, data_dir=tmp_path, web=WebConfig(search=("searxng",)))
    toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "web"])
    try:
        with pytest.raises(CarrelError) as caught:
            toolbox.call_sync("web_search", {"query": "walled desks"})
    finally:
        toolbox.close()
    assert caught.value.error_code == "config"
    assert "plugins.searxng.runtime_config.endpoint" in caught.value.message


def test_every_provider_is_a_plugin_with_one_tool_and_one_format(
    code_folder: Path, tmp_path: Path
) -> None:
    config = Config(cache_dir=code_folder, data_dir=tmp_path, web=WebConfig(search=SEARCH_PLUGINS))
    plugins = PluginSet(config)
    shapes = set()
    try:
        for name in SEARCH_PLUGINS:
            manifest = plugins.manifest(name)
            assert [tool.name for tool in manifest.tools] == ["web_search"]
            assert [one.name for one in manifest.formats] == ["results"]
            assert not manifest.public_web
            shapes.add(json.dumps(manifest.tools[0].output_schema, sort_keys=True))
            shapes.add(json.dumps(manifest.formats[0].output_schema, sort_keys=True))
            assert len(manifest.hosts) == 1
    finally:
        plugins.close()
    assert len(shapes) == 1
