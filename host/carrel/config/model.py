"""The configuration: one immutable class per concern, with every default in this file.

The sections are named tuples. Every process creates these classes when it starts, and a frozen
data class takes ten times as long to create.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .plugin import Overrides, PluginConfig

if TYPE_CHECKING:
    from carrel.exchange import Limits
    from carrel.state.redis_settings import RedisSettings
    from carrel.trust.policy import TrustPolicy

#: The plugins that come with Carrel; `builtin:NAME` in a plugin's `url` means one of them.
BUILTIN_PLUGINS: tuple[str, ...] = (
    "arxiv",
    "brave",
    "crossref",
    "csl",
    "datacite",
    "doaj",
    "duckduckgo",
    "europepmc",
    "eutils",
    "exa",
    "google",
    "hackernews",
    "jats",
    "office",
    "openalex",
    "opencitations",
    "openlibrary",
    "page",
    "pdf",
    "reddit",
    "render",
    "searxng",
    "semanticscholar",
    "serper",
    "tavily",
    "tex",
    "unpaywall",
    "youtube",
)

#: Those of them that are on without an entry in the configuration: the sources of works.
DEFAULT_PLUGINS: tuple[str, ...] = (
    "arxiv",
    "crossref",
    "eutils",
    "openalex",
    "semanticscholar",
    "europepmc",
    "datacite",
    "doaj",
    "unpaywall",
    "opencitations",
    "openlibrary",
)

#: Those that search the web, for the tool `web_search`; the setting `web.search` names the ones
#: that it asks.
SEARCH_PLUGINS: tuple[str, ...] = (
    "brave",
    "duckduckgo",
    "exa",
    "google",
    "searxng",
    "serper",
    "tavily",
)

#: The others, which only read documents or render citations: without an entry they are not listed,
#: and not loaded until they are needed.
READING_PLUGINS: tuple[str, ...] = tuple(
    name for name in BUILTIN_PLUGINS if name not in (*DEFAULT_PLUGINS, *SEARCH_PLUGINS)
)


class RegistryConfig(NamedTuple):
    """How to reach one registry.

    Attributes:
        plain_http: whether it speaks HTTP without TLS, on an address of any kind.
        private: whether it may be on a private address.
        realms: further hosts that its credentials may be sent to for a token.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
    """

    plain_http: bool = False
    private: bool = False
    realms: tuple[str, ...] = ()
    ca_bundle: Path | None = None


class FetchConfig(NamedTuple):
    """How to reach upstreams.

    Attributes:
        contact: the address that upstreams may write to, sent to those that ask for one.
            Default: none. It is neither in logs nor in this object's repr.
        connect_seconds: timeout of connecting, TLS handshake included. Default: 10.
        read_seconds: seconds that an upstream may stay silent. Default: 30.
        max_redirects: redirects that one request may follow. Default: 5.
        retries: further attempts after a 429, a 5xx or a broken connection. Default: 2.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
            Default: none.
        cache_max_bytes: bytes of the cache; 0 disables it. Default: 512 MiB.
    """

    contact: str | None = None
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    max_redirects: int = 5
    retries: int = 2
    ca_bundle: Path | None = None
    cache_max_bytes: int = 512 * 2**20

    def __repr__(self) -> str:
        shown = {**self._asdict(), "contact": "…"}
        return f"FetchConfig({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


class RuntimeConfig(NamedTuple):
    """How components are compiled and run.

    Attributes:
        workers: calls of one plugin that run or wait for an upstream at once; further ones wait in
            the queue. Default: 16, because most of a call's time is waiting for an upstream.
        result_bytes: bytes of each plugin's result cache, in memory; 0 disables it.
            Default: 8 MiB.
        max_component_bytes: bytes of the largest component that is compiled. Default: 64 MiB.
        compile_seconds: processor seconds that compiling one component may take. Default: 120.
        compile_memory_bytes: bytes of memory that compiling one component may take.
            Default: 4 GiB.
    """

    workers: int = 16
    result_bytes: int = 8 * 2**20
    max_component_bytes: int = 64 * 2**20
    compile_seconds: float = 120.0
    compile_memory_bytes: int = 4 * 2**30


class ServerConfig(NamedTuple):
    """Limits and output of the MCP server; ordinary clients stay below the defaults.

    Attributes:
        max_line_bytes: bytes of the longest message from a client; a longer one is refused unread.
            Default: 4 MiB.
        max_in_flight: maximum number of unanswered requests; further ones are refused as `busy`.
            Default: 1,024.
        calls_per_second: rate limit of tool calls; faster calls wait. Default: 1,000.
        burst: number of tool calls that may exceed the rate at once. Default: 5,000.
        patience_seconds: longest wait for the rate limit; a call that would wait longer is refused
            as `busy`, with the seconds. Default: 5.
        shutdown_seconds: seconds from the end of stdin, or a signal, to the end of the process.
            Running calls are cancelled after four fifths of them. Default: 5.
        log_level: lowest level logged to stderr: `debug`, `info`, `warning`, `error` or
            `critical`. Default: `warning`.
        text: how results are written as text: `json` beside structured content, or `compact`
            without it, for clients that show the text to a model. Default: `json`.
        drain_seconds: seconds after SIGTERM in which a server over HTTP still serves, while
            `/readyz` reports that it is not ready. Default: 0.
        log_format: the form of log lines: `text`, or `json` for one object a line. Default: `text`.
        audit_log: file to append denials and approvals to. Default: none.
        audit_failure: what happens while the audit log cannot be written: calls `continue`, or are
            refused (`refuse`). Default: `continue`.
        traces: base URL of the OpenTelemetry collector that spans are sent to. Default: none.
        trace_ratio: share of traces that are sent. Default: 1.
        surface: the server whose tools are offered in place of Carrel's own, under its names and in
            its shapes, such as `doiget`. Default: none.
    """

    max_line_bytes: int = 4 * 2**20
    max_in_flight: int = 1024
    calls_per_second: float = 1000.0
    burst: int = 5000
    patience_seconds: float = 5.0
    shutdown_seconds: float = 5.0
    drain_seconds: float = 0.0
    log_level: str = "warning"
    log_format: str = "text"
    audit_log: Path | None = None
    audit_failure: str = "continue"
    traces: str | None = None
    trace_ratio: float = 1.0
    text: str = "json"
    surface: str | None = None


class HttpConfig(NamedTuple):
    """Limits of `carrel serve --http`; ordinary clients stay below the defaults.

    Attributes:
        allowed_hosts: further values of the `Host` header, as `name` or `name:port`; loopback names
            and addresses are always allowed. Default: none.
        allowed_origins: further values of the `Origin` header, as `https://name`; the server's own
            origin is always allowed. Default: none.
        max_body_bytes: bytes of the largest request body. Default: 4 MiB.
        max_header_bytes: bytes of a request's line and headers. Default: 32 KiB.
        max_connections: open connections; beyond them an idle one of the principal with the most
            is closed. Default: 1,000.
        max_sessions: open sessions of clients that use `initialize`. Default: 1,000.
        session_idle_seconds: seconds without a request after which a session ends. Default: 1,800.
        read_seconds: seconds that a request's headers may take to arrive, and likewise its body.
            Default: 10.
        write_seconds: seconds in which a client must read what was sent, or 1 MiB of it.
            Default: 30.
        keep_alive_seconds: seconds that a connection may stay open between requests. Default: 75.
        max_events: events of one session that are kept for resuming a stream. Default: 256.
        max_event_bytes: bytes of the events that are kept, of all sessions; beyond them the
            principal with the most loses its oldest. Default: 64 MiB.
        event_seconds: seconds that an event is kept. Default: 300.
        metrics: where `/metrics` is served: `same` (with the tools, behind the same identity), on
            an address of its own (HOST:PORT, without identity), or `off`. Default: `same`.
        metrics_by_principal: whether calls are also counted for each principal. Default: false.
        page: whether the page for people and `/status.json` are served. Default: true.
    """

    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = 4 * 2**20
    max_header_bytes: int = 32 * 2**10
    max_connections: int = 1000
    max_sessions: int = 1000
    session_idle_seconds: float = 1800.0
    read_seconds: float = 10.0
    write_seconds: float = 30.0
    keep_alive_seconds: float = 75.0
    max_events: int = 256
    max_event_bytes: int = 64 * 2**20
    event_seconds: float = 300.0
    metrics: str = "same"
    metrics_by_principal: bool = False
    page: bool = True


class ScopeGrant(NamedTuple):
    """The toolsets and plugins that a scope of a token grants; `*` means all.

    Attributes:
        toolsets: names of the host's toolsets, such as `library`.
        plugins: names of plugins.
    """

    toolsets: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class IdentityConfig(NamedTuple):
    """Who may use `carrel serve --http`, and how much; for addresses other than loopback.

    Attributes:
        issuer: the URL of the authorization server whose tokens are accepted. Default: none, and
            then tokens are those of the variable `MCP_AUTH_SECRET_KEY`.
        resource: the public URL of the endpoint, such as `https://carrel.example.org/mcp`. Default:
            the address that is listened on, if it is a loopback one.
        audience: values of a token's `aud` that mean this server. Default: `resource`.
        jwks_url: where the issuer's keys are. Default: as the issuer's metadata says.
        algorithms: accepted algorithms of signatures. Default: `RS256` to `RS512`, `PS256` to
            `PS512`, `ES256` to `ES512` and `EdDSA`.
        required_scopes: scopes that every token must have. Default: none.
        scopes: scope → what it grants. Default: none, and then every token grants everything.
        leeway_seconds: seconds that the issuer's clock may differ. Default: 30.
        keys_refresh_seconds: seconds after which the issuer's keys are downloaded again.
            Default: 300.
        keys_keep_seconds: seconds that keys are used when they cannot be downloaded again; then
            every request is refused. Default: 3,600.
        plain_http: whether the issuer and `resource` may have `http` URLs. Default: false.
        private: whether the issuer may be on a private or loopback address. Default: false.
        ca_bundle: a PEM file of certificate authorities trusted for the issuer besides the
            system's. Default: `fetch.ca_bundle`.
        folder: with a folder for each principal, for its library and papers. Default: `principals`
            in the data folder.
        calls_per_second: rate limit of one principal's tool calls. Default: 20.
        burst: number of tool calls that may exceed that rate at once. Default: 100.
        max_in_flight: unanswered requests of one principal. Default: 64.
        max_sessions: open sessions of one principal. Default: 50.
        calls_per_day: tool calls of one principal from 00:00 UTC to the next. Default: no limit.
    """

    issuer: str | None = None
    resource: str | None = None
    audience: tuple[str, ...] = ()
    jwks_url: str | None = None
    algorithms: tuple[str, ...] = (
        *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
        *("ES256", "ES384", "ES512", "EdDSA"),
    )
    required_scopes: tuple[str, ...] = ()
    scopes: Mapping[str, ScopeGrant] = MappingProxyType({})
    leeway_seconds: float = 30.0
    keys_refresh_seconds: float = 300.0
    keys_keep_seconds: float = 3600.0
    plain_http: bool = False
    private: bool = False
    ca_bundle: Path | None = None
    folder: Path | None = None
    calls_per_second: float = 20.0
    burst: int = 100
    max_in_flight: int = 64
    max_sessions: int = 50
    calls_per_day: int | None = None


class DocumentsConfig(NamedTuple):
    """Which files the tool `document_read` may read.

    Attributes:
        folders: the only folders whose files it reads, with those below them. Default: none, and
            then the tool is not offered.
    """

    folders: tuple[Path, ...] = ()


class PapersConfig(NamedTuple):
    """Where papers and their provenance are kept.

    Attributes:
        folder: of the paper store; it may be doiget's. Default: `papers` in the data folder.
        log_folder: of the provenance log. Default: `provenance` in the data folder.
        log_retention_days: days after which packed logs are deleted; 0 keeps them. Default: 90.
        repository_hosts: further hosts that copies in repositories are downloaded from, as names or
            `*.name`. Default: none.
        publisher_hosts: further hosts that publishers' open copies are downloaded from. Default:
            none.
    """

    folder: Path | None = None
    log_folder: Path | None = None
    log_retention_days: int = 90
    repository_hosts: tuple[str, ...] = ()
    publisher_hosts: tuple[str, ...] = ()


class LibraryConfig(NamedTuple):
    """The reference library, and how it cites.

    Attributes:
        file: the library: CSL-JSON, or BibTeX if its name ends in `.bib`. Default: none, and then
            the tools of the library are not offered.
        key_template: how keys of new references are made; see `docs/how-to/keep-a-library.md`.
            Default: none, and then author and year.
        backups: copies of the library that are kept before it is changed. Default: 50.
        attachments: folder of the attached full texts. Default: `attachments` beside the library.
        style: the citation style, by name or as the path of a `.csl` file. Default: `apa`.
        locale: the language of citations, such as `de-DE`. Default: that of the style.
    """

    file: Path | None = None
    key_template: str | None = None
    backups: int = 50
    attachments: Path | None = None
    style: str = "apa"
    locale: str | None = None


class WebConfig(NamedTuple):
    """What the tools of the toolset `web` may ask and read, and limits of the public web.

    Attributes:
        hosts: `public-web` for every host with a public name. Default: none, and then the tools
            are not offered.
        blocked_hosts: hosts that are refused, with all names below them; also for plugins that are
            granted the public web. Default: none.
        search: the plugins that search the web, the preferred one first. Default: none, and then
            the tool `web_search` is not offered.
        lens_folder: folder with the operator's own lenses, see `carrel.web.search.lenses`. Default:
            none.
        ports: hosts that are also reached on a port other than 443, as `name:port`. Default: none.
        interval_ms: milliseconds between two requests to one host in the long run. Default: 1,000.
        concurrency: requests to one host in flight at once. Default: 2.
        research: whether the tools of the toolset that read no pages are offered without `hosts`.
            Default: false.
        key_file: of the key that encrypts research sessions and large results; made when it is
            missing. Default: none, which means `web.key` in `data_dir`.
        browser: whether a page without text is opened in a local Chromium. Default: off.
    """

    hosts: str | None = None
    blocked_hosts: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    lens_folder: Path | None = None
    ports: tuple[str, ...] = ()
    interval_ms: int = 1000
    concurrency: int = 2
    research: bool = False
    key_file: Path | None = None
    browser: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """All settings.

    Attributes:
        plugins: the `plugins` table, built-in plugins first. A built-in source without an entry is
            on, see `DEFAULT_PLUGINS`.
        fetch: how to reach upstreams.
        runtime: how components are compiled and run.
        server: limits and output of the MCP server.
        http: limits of the server over HTTP.
        identity: who may use the server over HTTP.
        documents: which files a tool may read.
        papers: where papers are kept.
        library: the reference library, and how it cites.
        web: which pages are read.
        limits: the top-level `limits` table: overrides of `carrel.exchange.Limits` for all plugins.
        store: the Redis server that keeps what processes share: cache, pace, circuit breakers,
            sessions, budgets. Default: none, and then files in the cache and data folders do.
        cache_dir: folder for compiled components and answers; may be deleted at any time.
        data_dir: folder for data that must not be deleted.
        record_dir: folder to record every exchange with an upstream in. Default: none.
        replay_dir: folder of exchanges to replay instead of upstreams. Default: none.
        refresh: bypass the cache, for one run of the command line; not a setting of the file.
        by_person: one person requests one page, for one run of the command line; not a setting of
            the file.
        with_lock: hold plugins against `carrel.lock`; off for a file that a command is given, which
            has nothing to do with a configured plugin of the same name. No setting of the file.
        trust: whose signature plugins from registries have to carry; None asks for none.
        registries: `HOST[:PORT]` → how to reach that registry.
        source_path: the file this came from; None when there was none.
        unnamed: the plugins that are on although the file has no entry of them.
        warnings: for a person: settings of the file that Carrel does not support.
    """

    cache_dir: Path
    data_dir: Path
    plugins: tuple[PluginConfig, ...] = ()
    fetch: FetchConfig = field(default_factory=FetchConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    server: ServerConfig = field(default_factory=ServerConfig)
    http: HttpConfig = field(default_factory=HttpConfig)
    identity: IdentityConfig = field(default_factory=IdentityConfig)
    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    papers: PapersConfig = field(default_factory=PapersConfig)
    library: LibraryConfig = field(default_factory=LibraryConfig)
    web: WebConfig = field(default_factory=WebConfig)
    limits: Overrides = field(default_factory=dict)
    store: RedisSettings | None = None
    record_dir: Path | None = None
    replay_dir: Path | None = None
    refresh: bool = False
    by_person: bool = False
    with_lock: bool = True
    trust: TrustPolicy | None = None
    registries: Mapping[str, RegistryConfig] = field(default_factory=dict)
    source_path: Path | None = None
    unnamed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def lock_path(self) -> Path:
        """The path of the lock file: next to the configuration file, else in the data folder."""
        folder = self.source_path.absolute().parent if self.source_path else self.data_dir
        return folder / "carrel.lock"

    def trust_for(self, name: str) -> TrustPolicy | None:
        """Returns who must have signed the plugin `name`; None requires no signature."""
        plugin = self.plugin(name)
        return self.trust if plugin is None or plugin.trust is None else plugin.trust

    def plugin(self, name: str) -> PluginConfig | None:
        """The entry called `name`, enabled or not.

        Also one that is not there, of a built-in reader (`READING_PLUGINS`) and of a built-in
        provider of searches that `web.search` names.
        """
        found = next((plugin for plugin in self.plugins if plugin.name == name), None)
        if found is not None or name not in (*READING_PLUGINS, *self.unlisted_providers):
            return found
        return builtin(name)

    @property
    def unlisted_readers(self) -> tuple[str, ...]:
        """Those of `READING_PLUGINS` that have no entry."""
        listed = {plugin.name for plugin in self.plugins}
        return tuple(name for name in READING_PLUGINS if name not in listed)

    @property
    def unlisted_providers(self) -> tuple[str, ...]:
        """Those of `SEARCH_PLUGINS` that `web.search` names and that have no entry."""
        listed = {plugin.name for plugin in self.plugins}
        named = [name for name in self.web.search if name in SEARCH_PLUGINS]
        return tuple(name for name in named if name not in listed)

    def limits_for(self, name: str) -> Limits:
        """Returns the limits of a plugin's calls: defaults, top-level table, its own entry."""
        from carrel.exchange import Limits

        plugin = self.plugin(name)
        return Limits(**{**self.limits, **(plugin.limits if plugin else {})})  # type: ignore[arg-type]


def builtin(name: str, **changes: Any) -> PluginConfig:
    """Returns the entry of a built-in plugin: enabled, with the hosts of its manifest."""
    return PluginConfig(
        **{"name": name, "url": f"builtin:{name}", "allowed_hosts": None, **changes}
    )
