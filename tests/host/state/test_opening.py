"""Tests that the configuration chooses the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.config import Config
from carrel.state import StoreLimits, open_store, store_health


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(cache_dir=tmp_path / "cache", data_dir=tmp_path / "data")


def test_namespaces_do_not_see_each_other(config: Config) -> None:
    one, other = open_store(config, "one"), open_store(config, "other")
    one.put("a", b"1")
    assert (other.get("a"), other.keys("")) == (None, [])
    one.close()
    other.close()


def test_state_outlives_the_cache_folder(config: Config) -> None:
    store = open_store(config, "budgets", StoreLimits(max_entries=10))
    store.put("a", b"1")
    store.close()
    assert (config.data_dir / "state" / "budgets.sqlite").is_file()
    assert not config.cache_dir.exists()


@pytest.mark.parametrize("name", ["", "A", "../up", "a/b", "a:b", "x" * 41])
def test_a_namespace_is_a_short_name(config: Config, name: str) -> None:
    with pytest.raises(ValueError, match="expected lower-case letters"):
        open_store(config, name)


def test_health_is_none_or_says_what_is_wrong(config: Config) -> None:
    assert store_health(config) is None
    broken = Config(cache_dir=config.cache_dir, data_dir=config.data_dir / "file")
    broken.data_dir.write_bytes(b"")
    assert "check the disk and its folder" in str(store_health(broken))
