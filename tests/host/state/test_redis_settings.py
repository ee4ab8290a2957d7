"""Tests the URL of a Redis server, and that passwords are never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.state.redis_settings import RedisSettings, parse_redis_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://localhost", RedisSettings("localhost")),
        ("redis://localhost/", RedisSettings("localhost")),
        ("redis://cache.lab.example:6380/2", RedisSettings("cache.lab.example", 6380, 2)),
        ("rediss://[::1]:7000/0", RedisSettings("::1", 7000, tls=True)),
        ("redis://:p%40ss%3A@h", RedisSettings("h", password="p@ss:")),
        ("redis://me:pw@h", RedisSettings("h", username="me", password="pw")),
    ],
)
def test_a_url_says_where_the_server_is(url: str, expected: RedisSettings) -> None:
    assert parse_redis_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://:hush@h",
        "redis://",
        "redis://:hush@",
        "redis://:hush@h:port",
        "redis://:hush@h:99999",
        "redis://:hush@h:0",
        "redis://:hush@h/zero",
        "redis://:hush@h/0/1",
        "redis://:hush@h?db=1",
        "redis://:hush@h#1",
        "redis://:hush@h h",
        "redis://:hush@[::1",
    ],
)
def test_a_faulty_url_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match="the value is not shown") as caught:
        parse_redis_url(url)
    assert "hush" not in str(caught.value)


def test_the_password_is_in_no_text_for_people() -> None:
    settings = parse_redis_url("rediss://me:hush@h:1/2")
    assert settings.address == "rediss://h:1/2"
    assert "hush" not in repr(settings) + str(settings) + settings.address


def test_the_password_file_is_read_each_time(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("one\n", "utf-8")
    settings = RedisSettings("h", password_file=path)
    assert settings.read_password() == "one"
    path.write_text("t w o", "utf-8")
    assert settings.read_password() == "t w o"
