"""Reads the setting `store`: where state is kept that processes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .values import MisfitError, Rule, members, number, readable_file, text, wrong

if TYPE_CHECKING:
    from carrel.state.redis_settings import RedisSettings

#: The variables that give the password of the Redis server, and its file.
PASSWORD: Final = "CARREL_STORE_PASSWORD"  # noqa: S105 - a name
PASSWORD_FILE: Final = "CARREL_STORE_PASSWORD_FILE"  # noqa: S105 - a name

_EXPECTED: Final = "sqlite, redis://HOST:PORT/DATABASE, rediss://… or a table with a url"


def store(value: object, base: Path) -> RedisSettings | None:
    """`sqlite`, the URL of a Redis server, or a table of it; None stands for `sqlite`.

    An error never shows the value, which may hold a password.
    """
    if isinstance(value, str):
        return None if value.strip().lower() == "sqlite" else _server(value)
    if not isinstance(value, dict):
        raise wrong(_EXPECTED, value)
    fields = members(value, "", _TABLE, base)
    if "url" not in fields:
        raise ValueError("expected a url")
    server: RedisSettings | None = fields.pop("url")
    if server is None:
        if fields:
            raise ValueError("sqlite has no further settings")
        return None
    if "ca_bundle" in fields and not server.tls:
        raise MisfitError("only rediss:// has certificates", ".ca_bundle")
    if "password_file" in fields and server.password:
        raise MisfitError("the url has a password already", ".password_file")
    return replace(server, **fields)


def add_password(values: dict[str, Any], env: Mapping[str, str], faults: list[str]) -> None:
    """Lays the password of the environment over that of the file."""
    server: RedisSettings | None = values.get("store")
    if server is None:
        return
    password, path = env.get(PASSWORD, ""), env.get(PASSWORD_FILE, "").strip()
    if password and path:
        faults.append(f"{PASSWORD}, {PASSWORD_FILE} (environment): set only one of them")
    elif password:
        server = replace(server, password=password, password_file=None)
    elif path:
        try:
            server = replace(server, password=None, password_file=readable_file(path, Path.cwd()))
        except ValueError as error:
            faults.append(f"{PASSWORD_FILE} (environment): {error}")
    values["store"] = server


def _server(url: str) -> RedisSettings:
    import importlib.util

    from carrel.state.redis_settings import parse_redis_url

    if not url.strip().startswith(("redis:", "rediss:")):
        raise ValueError(f"expected {_EXPECTED} (the value is not shown)")
    server = parse_redis_url(url.strip())
    if importlib.util.find_spec("redis") is None:
        raise ValueError("needs the package redis, which is not installed: install carrel[redis]")
    return server


def _url(value: object, _base: Path) -> RedisSettings | None:
    if not isinstance(value, str):
        raise wrong("sqlite, redis://HOST:PORT/DATABASE or rediss://…", value)
    return None if value.strip().lower() == "sqlite" else _server(value)


def _prefix(value: object, base: Path) -> str:
    from carrel.state.redis_settings import check_prefix

    return check_prefix(text(value, base))


_TABLE: Mapping[str, Rule] = {
    "url": _url,
    "password_file": readable_file,
    "ca_bundle": readable_file,
    "prefix": _prefix,
    "timeout_seconds": number(0, 60, "seconds", above=True),
}
