"""Tests of large results that are kept: life, privacy, encryption."""

from __future__ import annotations

import hashlib
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config import Config, WebConfig
from carrel.errors import StorageError, UnknownNameError
from carrel.principal import Principal, acting_as
from carrel.web.artifacts.resources import PREFIX, TEMPLATE, ArtifactResources, make_resources
from carrel.web.artifacts.sealed_store import SealedStore
from carrel.web.artifacts.sealing import Sealer, installation_sealer
from carrel.web.artifacts.store import LIFE_SECONDS, ArtifactStore
from support.memory_state import MemoryStore

BODY = b'{"text":"walls of the desk"}'
ID = hashlib.sha256(BODY).hexdigest()
ADA, BO = Principal("ada@example.org"), Principal("bo")


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def artifacts(memory: MemoryStore) -> ArtifactStore:
    sealer = Sealer(b"k" * 32)
    return ArtifactStore(SealedStore(lambda: memory, lambda: sealer, seconds=LIFE_SECONDS))


@pytest.mark.requirement("web:artifacts:life")
@pytest.mark.requirement("web-researcher:link-same")
@pytest.mark.requirement("web-researcher:link-life")
def test_the_id_is_the_hash_of_the_body_and_it_lives_for_half_an_hour(
    artifacts: ArtifactStore, memory: MemoryStore
) -> None:
    assert artifacts.put(BODY)[0] == ID
    assert artifacts.put(BODY)[0] == ID
    assert len(memory.entries) == 1
    memory.now = 30 * 60 - 1
    assert artifacts.get(ID) == BODY
    memory.now = 30 * 60
    assert artifacts.get(ID) is None


@pytest.mark.requirement("web:artifacts:own")
@pytest.mark.requirement("web-researcher:link-caller")
def test_anothers_artifact_is_not_found_even_by_its_hash(artifacts: ArtifactStore) -> None:
    with acting_as(ADA):
        artifacts.put(BODY)
    with acting_as(BO):
        assert artifacts.get(ID) is None
        artifacts.put(BODY)  # who has made the same result may read it
        assert artifacts.get(ID) == BODY
    with acting_as(ADA):
        assert artifacts.get(ID) == BODY


@pytest.mark.requirement("web:artifacts:sealed")
def test_stored_values_are_encrypted_and_their_keys_have_no_principal(
    artifacts: ArtifactStore, memory: MemoryStore
) -> None:
    with acting_as(ADA):
        artifacts.put(BODY)
    [(key, (value, _))] = memory.entries.items()
    assert b"walls" not in value
    assert "example" not in key


def test_a_value_that_was_changed_or_moved_is_not_opened() -> None:
    sealer = Sealer(b"k" * 32)
    sealed = sealer.seal(b"x", "a/1")
    assert sealer.open(sealed, "a/1") == b"x"
    assert sealer.open(sealed, "b/1") is None
    assert sealer.open(sealed[:-1] + bytes([sealed[-1] ^ 1]), "a/1") is None
    assert Sealer(b"z" * 32).open(sealed, "a/1") is None
    assert sealer.open(b"", "a/1") is None
    assert sealer.seal(b"x", "a/1") != sealed


def test_a_value_of_another_key_is_not_found_and_the_log_says_why_once(
    memory: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    def sealed_with(key: bytes) -> ArtifactStore:
        return ArtifactStore(SealedStore(lambda: memory, lambda: Sealer(key), seconds=60.0))

    one, other = sealed_with(b"k" * 32), sealed_with(b"z" * 32)
    one.put(BODY)
    assert other.get("f" * 64) is None
    assert caplog.text == "", "there is no such value"
    for _ in range(2):
        assert other.get(ID) is None
    assert caplog.text.count("servers that share a store need the same web.key_file") == 1
    assert one.get(ID) == BODY


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    config = Config(cache_dir=tmp_path, data_dir=tmp_path / "data")
    sealed = installation_sealer(config).seal(b"x", "n")
    assert installation_sealer(config).open(sealed, "n") == b"x"
    path = tmp_path / "data" / "web.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = replace(config, web=WebConfig(key_file=tmp_path / "shared.key"))
    assert installation_sealer(other).open(sealed, "n") is None
    assert (tmp_path / "shared.key").exists()


def test_a_file_that_is_no_key_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "web.key").write_bytes(b"short")
    with pytest.raises(StorageError, match="delete it"):
        installation_sealer(Config(cache_dir=tmp_path, data_dir=tmp_path))


def test_the_resource_is_a_template_and_lists_no_results(artifacts: ArtifactStore) -> None:
    resources = ArtifactResources(artifacts)
    kept = resources.keep(BODY)
    assert kept is not None
    assert kept.uri == f"{PREFIX}{ID}"
    assert resources.resources() == []
    assert [one.uri_template for one in resources.templates()] == [TEMPLATE]
    assert resources.has(kept.uri)
    assert resources.read(kept.uri) == BODY.decode()
    result = resources.start_reading(kept.uri).result()
    assert result.content is not None
    assert result.content[0]["mimeType"] == "application/json"
    for id_ in ("", "f" * 64, "../ada", ID.upper()):
        with pytest.raises(UnknownNameError):
            resources.read(PREFIX + id_)


def test_a_resource_is_read_as_the_principal_that_asks(artifacts: ArtifactStore) -> None:
    resources = ArtifactResources(artifacts)
    with acting_as(ADA):
        resources.keep(BODY)
        assert resources.start_reading(PREFIX + ID).result().utf8 == BODY
    with acting_as(BO), pytest.raises(UnknownNameError):
        resources.start_reading(PREFIX + ID).result()


def test_a_store_that_cannot_be_used_keeps_nothing() -> None:
    def broken() -> MemoryStore:
        raise StorageError("/data", "disk full")

    values = SealedStore(broken, lambda: Sealer(b"k" * 32), seconds=1)
    assert ArtifactResources(ArtifactStore(values)).keep(BODY) is None


def test_there_is_no_template_where_the_toolset_is_off(tmp_path: Path) -> None:
    plugins: object = None
    assert make_resources(plugins, Config(cache_dir=tmp_path, data_dir=tmp_path)) is None  # type: ignore[arg-type]
