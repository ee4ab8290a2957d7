"""Tests the setting `store`: a file, the environment, and passwords that are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.config import load_config
from carrel.errors import ConfigError
from carrel.state.redis_settings import RedisSettings


def load(tmp_path: Path, text: str, **env: str) -> RedisSettings | None:
    path = tmp_path / "carrel.toml"
    path.write_text(text, "utf-8")
    return load_config(path, {"HOME": str(tmp_path), **env}).store


def fault(tmp_path: Path, text: str, **env: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, **env)
    assert "hush" not in str(caught.value)
    [one] = caught.value.faults
    return one


def test_state_is_in_files_unless_a_server_is_named(tmp_path: Path) -> None:
    assert load(tmp_path, "") is None
    assert load(tmp_path, 'store = "sqlite"') is None
    assert load(tmp_path, 'store.url = "sqlite"') is None


def test_a_url_names_the_server(tmp_path: Path) -> None:
    found = load(tmp_path, 'store = "redis://:hush@cache.lab.example:6380/1"')
    assert found == RedisSettings("cache.lab.example", 6380, 1, password="hush")


def test_a_table_has_further_settings(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("", "utf-8")
    (tmp_path / "password").write_text("hush\n", "utf-8")
    found = load(
        tmp_path,
        '[store]\nurl = "rediss://me@h"\nca_bundle = "ca.pem"\npassword_file = "password"\n'
        'prefix = "team-a"\ntimeout_seconds = 0.5\n',
    )
    assert found == RedisSettings(
        "h", tls=True, username="me", ca_bundle=tmp_path / "ca.pem",
        password_file=tmp_path / "password", prefix="team-a", timeout_seconds=0.5,
    )  # fmt: skip
    assert found.read_password() == "hush"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("store = 1", "store: expected sqlite, redis://HOST:PORT/DATABASE"),
        ('store = "memcached://hush"', "(the value is not shown)"),
        ('store = "redis://:hush@h:x"', "(the value is not shown)"),
        ("[store]\nprefix = 'a'", "store: expected a url"),
        ("[store]\nurl = 'redis://h'\nca_bundle = 'carrel.toml'", "only rediss:// has"),
        ("[store]\nurl = 'redis://h'\nca_bundle = 'none.pem'", "expected a file"),
        ("[store]\nurl = 'redis://h'\nprefix = 'a:b'", "store.prefix: expected letters"),
        ("[store]\nurl = 'redis://h'\ntimeout_seconds = 0", "a number of seconds above 0"),
        ("[store]\nurl = 'redis://h'\nurls = 1", "store.urls: unknown key"),
        ("[store]\nurl = 'sqlite'\nprefix = 'a'", "sqlite has no further settings"),
        (
            "[store]\nurl = 'redis://:hush@h'\npassword_file = 'carrel.toml'",
            "store.password_file: the url has a password already",
        ),
    ],
)
def test_a_fault_names_its_place_and_no_secret(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in fault(tmp_path, text)


def test_the_environment_names_server_and_password(tmp_path: Path) -> None:
    env = {"CARREL_STORE": "redis://h:1", "CARREL_STORE_PASSWORD": "hush"}
    assert load(tmp_path, 'store = "sqlite"', **env) == RedisSettings("h", 1, password="hush")


def test_a_password_file_can_come_from_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("hush", "utf-8")
    env = {"CARREL_STORE_PASSWORD_FILE": str(path)}
    found = load(tmp_path, 'store = "redis://:other@h"', **env)
    assert found == RedisSettings("h", password_file=path)
    assert "expected a file" in fault(
        tmp_path, 'store = "redis://h"', CARREL_STORE_PASSWORD_FILE=str(tmp_path / "none")
    )
    assert "only one of them" in fault(
        tmp_path, 'store = "redis://h"', CARREL_STORE_PASSWORD="hush", **env
    )


def test_a_configuration_shows_no_password(tmp_path: Path) -> None:
    path = tmp_path / "carrel.toml"
    path.write_text('store = "redis://:hush@h"', "utf-8")
    assert "hush" not in repr(load_config(path, {"HOME": str(tmp_path)}))
