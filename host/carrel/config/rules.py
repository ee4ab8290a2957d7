"""Rules for every setting of a configuration, and the table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .identity_rules import IDENTITY_RULES
from .plugin_address import plugin_name
from .store import store
from .values import (
    Misfits,
    Rule,
    collector_url,
    each,
    flag,
    folder,
    host_headers,
    items,
    members,
    metrics_place,
    mistyped,
    number,
    one_of,
    origins,
    path_of,
    readable_file,
    text,
    whole,
    wrong,
)

if TYPE_CHECKING:
    from carrel.fetch.policy.endpoint import Endpoint
    from carrel.fetch.policy.rules import HostGrant
    from carrel.trust.policy import Identity, TrustPolicy

    from .model import RegistryConfig
    from .plugin import PaceGrant

_CONTACT = re.compile(r"[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+")


def contact(value: object, _base: Path) -> str | None:
    """An e-mail address. The error never shows the value."""
    if not isinstance(value, str):
        raise wrong("an e-mail address", value)
    value = value.strip()
    if value and (len(value) > 254 or not _CONTACT.fullmatch(value)):
        raise ValueError("expected an e-mail address (the value is not shown)")
    return value or None


def surface(value: object, _base: Path) -> str | None:
    """The name of a surface; whether there is one is known when it is opened."""
    if not isinstance(value, str):
        raise wrong("the name of a surface", value)
    return value.strip() or None


def hosts(value: object, base: Path) -> tuple[str | HostGrant, ...]:
    """An operator's grant: host names, or tables of a host, methods and paths; or `public-web`."""
    from carrel.fetch.policy.hosts import PUBLIC_WEB, parse_host_entry

    expected = "a list of host names, or of tables with host, methods and paths"
    if value == PUBLIC_WEB:
        return (PUBLIC_WEB,)
    if not isinstance(value, list):
        raise wrong(expected, value)

    def read(item: object) -> str | HostGrant:
        if isinstance(item, dict):
            return _host_grant(item, base)
        if not isinstance(item, str):
            raise mistyped("text or a table", item)
        if item.strip() == "*":
            raise ValueError(
                "'*' would grant every host; name the hosts, or grant a plugin that asks for it "
                f"{PUBLIC_WEB!r}"
            )
        if item == PUBLIC_WEB:
            return PUBLIC_WEB
        try:
            return parse_host_entry(item)
        except ValueError as error:
            raise ValueError(f"{item!r}: {error}") from None

    found: list[str | HostGrant] = []
    misfits = Misfits()
    for index, item in enumerate(value):
        with misfits.at(f"[{index}]"):
            found.append(read(item))
    misfits.raise_found()
    return tuple(dict.fromkeys(found))


def endpoint(value: object, base: Path) -> Endpoint:
    """Reads the address of the operator's server: a URL, or a table with `url` and `private`."""
    from carrel.fetch.policy.endpoint import parse_endpoint

    if isinstance(value, str):
        return parse_endpoint(value)
    if not isinstance(value, dict):
        raise wrong("a URL, or a table with url and private", value)
    fields = members(value, "", {"url": text, "private": flag}, base)
    if "url" not in fields:
        raise ValueError("expected a url")
    return parse_endpoint(fields["url"], private=fields.get("private", False))


def search_providers(value: object, _base: Path) -> tuple[str, ...]:
    """Names of plugins that search the web, the preferred one first."""

    def read(item: str) -> str:
        fault = plugin_name(item)
        if fault is not None:
            raise ValueError(fault)
        return item

    return each(value, "a list of names of plugins", read)


def public_web(value: object, _base: Path) -> str:
    """The grant of every host with a public name."""
    from carrel.fetch.policy.hosts import PUBLIC_WEB

    if value != PUBLIC_WEB:
        raise wrong(f"the text {PUBLIC_WEB!r}", value)
    return PUBLIC_WEB


def _host_grant(item: dict[str, Any], base: Path) -> HostGrant:
    from carrel.fetch.policy.rules import HostGrant

    fields = members(item, "", {"host": _host, "methods": _methods, "paths": _paths}, base)
    if "host" not in fields:
        raise ValueError("expected a host")
    return HostGrant(fields["host"], fields.get("methods"), fields.get("paths"))


def _host(value: object, _base: Path) -> str:
    from carrel.fetch.policy.hosts import parse_host_entry

    if not isinstance(value, str):
        raise wrong("a host name", value)
    return parse_host_entry(value)


def _methods(value: object, _base: Path) -> frozenset[str]:
    allowed = ("GET", "HEAD", "POST")
    methods = [item for _, item in items(value, f"a list of {', '.join(allowed)}")]
    strange = [item for item in methods if item not in allowed]
    if strange or not methods:
        shown = repr(strange[0]) if strange else "an empty list"
        raise ValueError(f"expected a list of {', '.join(allowed)} but found {shown}")
    return frozenset(methods)


def _paths(value: object, _base: Path) -> tuple[str, ...]:
    paths = tuple(item for _, item in items(value, "a list of paths"))
    if not paths or not all(re.fullmatch(r"/[\x21-\x7e]{0,499}", path) for path in paths):
        raise ValueError("expected a list of paths, each beginning with a slash")
    return paths


def folders(value: object, base: Path) -> tuple[Path, ...]:
    """Folders; none need exist yet."""
    found, misfits = [], Misfits()
    for at, item in items(value, "a list of folders"):
        with misfits.at(at):
            found.append(folder(item, base))
    misfits.raise_found()
    return tuple(dict.fromkeys(found))


def host_entries(value: object, _base: Path) -> tuple[str, ...]:
    """Names of hosts, or `*.name`, in the spelling that is compared."""
    from carrel.fetch.policy.hosts import parse_host_entry

    return each(value, "a list of hosts", parse_host_entry)


def host_ports(value: object, _base: Path) -> tuple[str, ...]:
    """Hosts with a port, as `name:port`."""
    from carrel.fetch.policy.hosts import parse_host_entry

    def read(item: str) -> str:
        name, _, port = item.rpartition(":")
        if not (name and port.isascii() and port.isdigit() and 0 < int(port[:9]) < 2**16):
            raise ValueError(f"{item!r}: expected a host and a port, such as example.org:8443")
        host = parse_host_entry(name)
        if host.startswith("*"):
            raise ValueError(f"{item!r}: expected the name of one host")
        return f"{host}:{int(port)}"

    return each(value, "a list of hosts with ports, such as example.org:8443", read)


def library_file(value: object, base: Path) -> Path:
    """The path of a library; the file need not exist yet."""
    path = path_of(value, base)
    if path.is_dir():
        raise ValueError(f"expected a file but {path} is a folder")
    return path


def line(value: object, base: Path) -> str:
    """One line of text that is not blank."""
    found = text(value, base).strip()
    if not found or not found.isprintable() or len(found) > 1000:
        raise ValueError("expected a line of at most 1,000 printable characters")
    return found


def locale(value: object, base: Path) -> str:
    """A language as CSL names it: `de` or `de-DE`."""
    found = text(value, base).strip()
    if not re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-[A-Za-z]{2})?", found):
        raise ValueError(f"expected a language such as de or de-DE but found {found[:40]!r}")
    return found


def patterns(value: object, _base: Path) -> tuple[str, ...]:
    """Regular expressions for tool names."""

    def read(item: str) -> str:
        try:
            re.compile(item)
        except re.error as error:
            raise ValueError(f"{item!r} is not a regular expression: {error}") from error
        return item

    return each(value, "a list of regular expressions", read)


def names(value: object, _base: Path) -> tuple[str, ...]:
    """Names of secrets, as manifests spell them."""

    def read(item: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", item):
            raise ValueError(f"{item!r} is not a name as manifests spell them")
        return item

    return each(value, "a list of names", read)


def pace(value: object, base: Path) -> dict[str, PaceGrant]:
    """Host entry → its pace."""
    from .plugin import PaceGrant

    rules: Mapping[str, Rule] = {
        "interval_ms": whole(0, 600_000, "milliseconds"),
        "burst": whole(1, 1000),
        "ignore_upstream_rule": flag,
    }
    if not isinstance(value, dict):
        raise wrong("a table of hosts", value)
    found, misfits = {}, Misfits()
    for key, item in value.items():
        with misfits.at(f"[{key!r}]"):
            host = _host(key, base)
            if not isinstance(item, dict):
                raise wrong("a table", item)
            fields = members(item, "", rules, base)
            if "interval_ms" not in fields:
                raise ValueError("expected an interval_ms")
            found[host] = PaceGrant(**fields)
    misfits.raise_found()
    return found


def texts(value: object, base: Path) -> dict[str, str]:
    """Keys and texts."""
    if not isinstance(value, dict):
        raise wrong("a table of texts", value)
    misfits = Misfits()
    for key, item in value.items():
        with misfits.at(f".{key}"):
            text(item, base)
    misfits.raise_found()
    return dict(value)


def keyring_entries(value: object, base: Path) -> tuple[tuple[str, str], ...]:
    """Entries of a keyring: tables of a service and a user."""
    if not isinstance(value, list):
        raise wrong("a list of tables with service and user", value)
    found, misfits = [], Misfits()
    for index, item in enumerate(value):
        with misfits.at(f"[{index}]"):
            if not isinstance(item, dict):
                raise wrong("a table", item)
            fields = members(item, "", {"service": text, "user": text}, base)
            if len(fields) != 2:
                raise ValueError("expected a service and a user")
            found.append((fields["service"], fields["user"]))
    misfits.raise_found()
    return tuple(found)


def trust(value: object, base: Path) -> TrustPolicy:
    """The signers whose signatures are accepted."""
    from carrel.trust.policy import TrustPolicy

    if not isinstance(value, dict):
        raise wrong("a table with keys and identities", value)

    def keys(entries: object, below: Path) -> tuple[Path, ...]:
        found, misfits = [], Misfits()
        for at, item in items(entries, "a list of files"):
            with misfits.at(at):
                found.append(readable_file(item, below))
        misfits.raise_found()
        return tuple(found)

    return TrustPolicy(**members(value, "", {"keys": keys, "identities": _identities}, base))


def _identities(value: object, base: Path) -> tuple[Identity, ...]:
    from carrel.trust.policy import Identity

    found, misfits = [], Misfits()
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        with misfits.at(f"[{index}]"):
            if not isinstance(item, dict):
                raise wrong("a table", item)
            fields = members(item, "", _SIGNER_RULES, base)
            if not {"subject", "issuer"} <= fields.keys():
                raise ValueError("expected a subject and an issuer")
            for name in ("subject", "issuer"):
                if fields.get(f"{name}_is_pattern"):
                    with misfits.at(f"[{index}].{name}"):
                        _compiled(fields[name])
            found.append(Identity(**fields))
    misfits.raise_found()
    return tuple(found)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None


def _pattern_or_text(value: object, _base: Path) -> str:
    if not isinstance(value, str) or not value:
        raise wrong("text", value)
    return value


_SIGNER_RULES: Mapping[str, Rule] = {
    "subject": _pattern_or_text,
    "issuer": _pattern_or_text,
    "roots": readable_file,
    "subject_is_pattern": flag,
    "issuer_is_pattern": flag,
}


def _realms(value: object, _base: Path) -> tuple[str, ...]:
    return tuple(item for _, item in items(value, "a list of hosts"))


_REGISTRY_RULES: Mapping[str, Rule] = {
    "plain_http": flag,
    "private": flag,
    "realms": _realms,
    "ca_bundle": readable_file,
}


def registries(value: object, base: Path) -> dict[str, RegistryConfig]:
    """`HOST[:PORT]` of a registry → its settings."""
    from .model import RegistryConfig

    if not isinstance(value, dict):
        raise wrong("a table of registries", value)
    found, misfits = {}, Misfits()
    for key, item in value.items():
        with misfits.at(f"[{key!r}]"):
            if not re.fullmatch(r"[A-Za-z0-9.-]+(:\d{1,5})?", key):
                raise ValueError("expected HOST or HOST:PORT")
            if not isinstance(item, dict):
                raise wrong("a table", item)
            found[key] = RegistryConfig(**members(item, "", _REGISTRY_RULES, base))
    misfits.raise_found()
    return found


_GIB = 2**30
_SECONDS = number(0, 3600, "seconds", above=True)

#: Field of `carrel.exchange.Limits` → its rule; the ends are those of the manifest's schema.
LIMIT_RULES: Mapping[str, Rule] = {
    "cpu_seconds": number(0, 600, "seconds", above=True),
    "wall_seconds": _SECONDS,
    "memory_bytes": whole(2**20, 4 * _GIB, "bytes"),
    "stack_bytes": whole(64 * 2**10, 64 * 2**20, "bytes"),
    "output_bytes": whole(1024, _GIB, "bytes"),
    "fetches": whole(0, 100_000),
    "response_bytes": whole(1024, _GIB, "bytes"),
    "fetched_bytes": whole(1024, 4 * _GIB, "bytes"),
    "log_bytes": whole(0, 64 * 2**20, "bytes"),
}

#: Section → key → rule; the empty section is the file's top level. A test compares the sections
#: with the dataclasses of `config`.
RULES: Mapping[str, Mapping[str, Rule]] = {
    "": {
        "cache_dir": folder,
        "data_dir": folder,
        "record_dir": folder,
        "replay_dir": folder,
        "trust": trust,
        "registries": registries,
        "store": store,
    },
    "fetch": {
        "contact": contact,
        "connect_seconds": _SECONDS,
        "read_seconds": _SECONDS,
        "max_redirects": whole(0, 20),
        "retries": whole(0, 20),
        "ca_bundle": readable_file,
        "cache_max_bytes": whole(0, 2**50, "bytes"),
    },
    "runtime": {
        "workers": whole(1, 1024),
        "result_bytes": whole(0, 2**40, "bytes"),
        "max_component_bytes": whole(1024, _GIB, "bytes"),
        "compile_seconds": _SECONDS,
        "compile_memory_bytes": whole(64 * 2**20, 2**40, "bytes"),
    },
    "server": {
        "max_line_bytes": whole(1024, _GIB, "bytes"),
        "max_in_flight": whole(1, 1_000_000),
        "calls_per_second": number(0, 1_000_000, above=True),
        "burst": whole(1, 1_000_000),
        "patience_seconds": number(0, 3600, "seconds"),
        "shutdown_seconds": number(0, 3600, "seconds"),
        "drain_seconds": number(0, 3600, "seconds"),
        "log_format": one_of("text", "json"),
        "audit_log": path_of,
        "audit_failure": one_of("continue", "refuse"),
        "traces": collector_url,
        "trace_ratio": number(0, 1),
        "log_level": one_of("debug", "info", "warning", "error", "critical"),
        "text": one_of("json", "compact"),
        "surface": surface,
    },
    "http": {
        "allowed_hosts": host_headers,
        "allowed_origins": origins,
        "max_body_bytes": whole(1024, _GIB, "bytes"),
        "max_header_bytes": whole(1024, 2**20, "bytes"),
        "max_connections": whole(1, 1_000_000),
        "max_sessions": whole(1, 1_000_000),
        "session_idle_seconds": number(0, 604_800, "seconds", above=True),
        "read_seconds": _SECONDS,
        "write_seconds": _SECONDS,
        "keep_alive_seconds": _SECONDS,
        "max_events": whole(1, 1_000_000),
        "max_event_bytes": whole(1024, 64 * _GIB, "bytes"),
        "event_seconds": _SECONDS,
        "metrics": metrics_place,
        "metrics_by_principal": flag,
        "page": flag,
    },
    "identity": IDENTITY_RULES,
    "documents": {
        "folders": folders,
    },
    "web": {
        "hosts": public_web,
        "blocked_hosts": host_entries,
        "search": search_providers,
        "lens_folder": folder,
        "ports": host_ports,
        "browser": flag,
        "interval_ms": whole(0, 600_000, "milliseconds"),
        "concurrency": whole(1, 64),
        "research": flag,
        "key_file": path_of,
    },
    "papers": {
        "folder": folder,
        "log_folder": folder,
        "log_retention_days": whole(0, 36_500, "days"),
        "repository_hosts": host_entries,
        "publisher_hosts": host_entries,
    },
    "library": {
        "file": library_file,
        "key_template": line,
        "backups": whole(0, 10_000),
        "attachments": folder,
        "style": line,
        "locale": locale,
    },
}
