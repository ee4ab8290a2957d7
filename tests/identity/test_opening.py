"""Tests which configurations have an identity, and what is reported of incomplete ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, IdentityConfig, ScopeGrant, WebConfig, load_config
from carrel.config.identity_rules import ALGORITHMS
from carrel.errors import ConfigError
from carrel.features import FEATURES
from carrel.server.identity.keys import ASYMMETRIC
from carrel.server.identity.opening import TokenIdentity, open_identity
from support.pages import page

SECRET = {"MCP_AUTH_SECRET_KEY": "s" * 32}
PUBLIC = "https://carrel.example.org/mcp"


def opened(
    settings: IdentityConfig,
    env: dict[str, str] | None = None,
    *,
    is_local: bool = False,
    config: Config | None = None,
) -> TokenIdentity | None:
    folder = Path("/nowhere")
    config = config or Config(cache_dir=folder, data_dir=folder)
    return open_identity(
        replace(config, identity=settings),
        env or {},
        address="http://127.0.0.1:8000/mcp" if is_local else "http://0.0.0.0:8000/mcp",
        is_local=is_local,
        toolsets=["library", "papers"],
        download=lambda _url: b"",
        counters=lambda: pytest.fail("not needed"),
    )


def test_loopback_needs_no_identity() -> None:
    assert opened(IdentityConfig(), is_local=True) is None


@pytest.mark.requirement("identity:required:addresses")
def test_other_addresses_need_identity() -> None:
    with pytest.raises(ConfigError, match=r"requires identity: set identity\.issuer.*loopback"):
        opened(IdentityConfig())


def test_a_secret_or_an_issuer_suffices() -> None:
    by_secret = opened(IdentityConfig(resource=PUBLIC), SECRET)
    assert by_secret is not None
    assert by_secret.secret == b"s" * 32
    assert by_secret.host == "carrel.example.org"
    issuer = IdentityConfig(resource=PUBLIC, issuer="https://login.example.org")
    by_issuer = opened(issuer)
    assert by_issuer is not None
    assert by_issuer.secret is None


def test_on_loopback_the_endpoint_is_the_audience() -> None:
    identity = opened(IdentityConfig(), SECRET, is_local=True)
    assert identity is not None
    assert identity.at("http://127.0.0.1:9/mcp").resource == "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize(
    ("settings", "env", "words"),
    [
        ({"resource": PUBLIC}, {}, "expected an issuer, or MCP_AUTH_SECRET_KEY to be set"),
        ({"resource": PUBLIC}, {"MCP_AUTH_SECRET_KEY": "s" * 31}, "at least 32 bytes but found 31"),
        ({}, SECRET, "identity.resource: expected the public URL"),
        ({"issuer": "https://a.example"}, {}, "identity.resource: expected the public URL"),
        ({"resource": PUBLIC, "issuer": "https://a.example"}, SECRET, "exclude each other"),
        ({"resource": PUBLIC, "jwks_url": "https://a.example"}, SECRET, "exclude each other"),
        ({"resource": PUBLIC, "issuer": "http://a.example"}, {}, "identity.issuer: expected https"),
        ({"resource": "http://a.example/mcp"}, SECRET, "identity.resource: expected https"),
        (
            {"resource": PUBLIC, "scopes": {"a": ScopeGrant(toolsets=("librarry",))}},
            SECRET,
            r"scopes\['a'\]\.toolsets: no toolset is called 'librarry'; did you mean 'library'",
        ),
        (
            {"resource": PUBLIC, "scopes": {"a": ScopeGrant(plugins=("nope",))}},
            SECRET,
            "no plugin is called 'nope'",
        ),
        ({"resource": PUBLIC, "keys_keep_seconds": 1.0}, SECRET, "keys_keep_seconds"),
    ],
)
def test_what_is_missing_or_contradictory_is_reported(
    settings: dict[str, Any], env: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        opened(IdentityConfig(**settings), env)


def test_a_provider_of_searches_without_an_entry_can_be_granted() -> None:
    folder = Path("/nowhere")
    settings = IdentityConfig(resource=PUBLIC, scopes={"a": ScopeGrant(plugins=("brave",))})
    with pytest.raises(ConfigError, match="no plugin is called 'brave'"):
        opened(settings, SECRET)
    config = Config(cache_dir=folder, data_dir=folder, web=WebConfig(search=("brave",)))
    assert opened(settings, SECRET, config=config) is not None


def test_faults_are_reported_together_and_never_show_the_secret() -> None:
    settings = IdentityConfig(jwks_url="http://a.example")
    with pytest.raises(ConfigError) as caught:
        opened(settings, {"MCP_AUTH_SECRET_KEY": "hunter2"})
    assert len(caught.value.faults) == 4
    assert "hunter2" not in str(caught.value)
    assert "sssss" not in repr(opened(IdentityConfig(resource=PUBLIC), SECRET))


def test_the_settings_are_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text(
        """
        [identity]
        issuer = "https://login.example.org"
        resource = "https://carrel.example.org/mcp"
        audience = "carrel"
        algorithms = ["ES256"]
        required_scopes = ["carrel"]
        calls_per_day = 1000
        [identity.scopes."carrel:library"]
        toolsets = ["library"]
        plugins = ["*"]
        """,
        "utf-8",
    )
    found = load_config(file, {"HOME": str(tmp_path)}).identity
    assert found.audience == ("carrel",)
    assert found.algorithms == ("ES256",)
    assert found.scopes == {"carrel:library": ScopeGrant(("library",), ("*",))}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('issuer = "login.example.org"', "identity.issuer: expected an absolute URL"),
        ('issuer = "https://a@b.example"', "identity.issuer: expected an absolute URL"),
        ('issuer = "https://b.example?x"', "identity.issuer: expected an absolute URL"),
        ('issuer = "https://b.example:x"', "identity.issuer: expected an absolute URL"),
        ('algorithms = ["HS256"]', r"identity.algorithms\[0\]: expected one of RS256"),
        ('algorithms = ["none"]', r"identity.algorithms\[0\]: expected one of RS256"),
        ("algorithms = []", "identity.algorithms: expected at least one"),
        ('required_scopes = ["a b"]', r"identity.required_scopes\[0\]: expected a scope"),
        ('scopes = {"a b" = {}}', r"identity.scopes\['a b'\]: expected a scope"),
        ("scopes = {a = {tools = []}}", r"identity.scopes\['a'\].tools: unknown key"),
        ("scopes = {a = 5}", r"identity.scopes\['a'\]: expected a table"),
        ("leeway_seconds = 301", "identity.leeway_seconds: expected a number"),
        ('audience = ["a b"]', r"identity.audience\[0\]: expected printable ASCII"),
        ('secret = "x"', "identity.secret: looks like a secret"),
        ("calls_per_day = 0", "identity.calls_per_day: expected a whole number"),
    ],
)
def test_bad_settings_are_refused_with_their_place(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text(f"[identity]\n{line}\n", "utf-8")
    with pytest.raises(ConfigError, match=words):
        load_config(file, {"HOME": str(tmp_path)})


def test_the_rules_know_the_algorithms_of_the_verifier() -> None:
    assert ALGORITHMS == ASYMMETRIC == IdentityConfig().algorithms


def test_the_toolsets_are_documented() -> None:
    text = "\n".join(page("docs/reference/http.md").section("Scopes").lines)
    for feature in FEATURES:
        if feature.tools is not None:
            assert f"`{feature.name}`" in text, feature.name
