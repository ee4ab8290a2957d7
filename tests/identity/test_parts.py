"""Tests the parts of identity that need no server."""

from __future__ import annotations

import asyncio
import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.config import (
    Config,
    IdentityConfig,
    LibraryConfig,
    PapersConfig,
    ScopeGrant,
    WebConfig,
    builtin,
)
from carrel.errors import BusyError
from carrel.principal import LOCAL, Principal
from carrel.server.identity.allowances import Allowances
from carrel.server.identity.challenges import Challenges
from carrel.server.identity.claims import read_claims
from carrel.server.identity.clock import SteadyClock
from carrel.server.identity.grants import Grants
from carrel.server.identity.keys import secret_key
from carrel.server.identity.roots import config_of, folder_name
from carrel.server.identity.tokens import TokenError
from carrel.server.identity.verifier import FixedKey, Verifier
from carrel.tools.toolbox import Owner
from support.issuers import RESOURCE, SigningKey

SECRET = b"s" * 32
NOW = 1_800_000_000
CLAIMS: dict[str, Any] = {"sub": "alice", "aud": RESOURCE, "exp": NOW + 600, "iat": NOW - 5}


class Clock:
    """A clock that can be set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def verifier(clock: Any) -> Verifier:
    return Verifier(
        FixedKey(secret_key(SECRET)), issuer=None, audiences=[RESOURCE], leeway=30, clock=clock
    )


def hs256(claims: dict[str, Any], secret: bytes = SECRET) -> str:
    return SigningKey(secret, "HS256", "").signed({"alg": "HS256", "typ": "JWT"}, claims)


def verified(one: Verifier, token: str) -> str:
    return asyncio.run(one.verify(token)).subject


# The operator's secret


def test_tokens_of_the_secret_are_accepted_from_any_issuer() -> None:
    for claims in (CLAIMS, {**CLAIMS, "iss": "our own tool"}):
        assert verified(verifier(lambda: NOW), hs256(claims)) == "alice"


@pytest.mark.parametrize("alg", ["none", "HS384", "HS512", "RS256", "ES256", "hs256", "HS256 "])
def test_the_secret_is_for_one_algorithm(alg: str) -> None:
    signing = "HS256" if alg not in {"HS384", "HS512"} else alg
    token = SigningKey(SECRET, signing, "").signed({"alg": alg}, CLAIMS)
    with pytest.raises(TokenError, match="alg"):
        verified(verifier(lambda: NOW), token)


def test_another_secret_signs_nothing() -> None:
    for secret in (b"t" * 32, b"s" * 31, b"s" * 33):
        with pytest.raises(TokenError, match="signature"):
            verified(verifier(lambda: NOW), hs256(CLAIMS, secret))


# Time


@pytest.mark.requirement("identity:tokens:clock")
def test_a_clock_that_is_set_back_makes_no_token_valid_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wall, monotonic = Clock(NOW), Clock(50.0)
    one = verifier(SteadyClock(wall=wall, monotonic=monotonic))
    token = hs256(CLAIMS)
    assert verified(one, token) == "alice"
    wall.now, monotonic.now = NOW + 700, 750.0
    with pytest.raises(TokenError, match="expired"):
        verified(one, token)
    wall.now = NOW - 86_400
    for _ in range(3):
        with pytest.raises(TokenError, match="expired"):
            verified(one, token)
    assert caplog.text.count("the clock was set back by 87100 s") == 1


def test_a_clock_that_jumps_ahead_and_back_is_right_again() -> None:
    wall, monotonic = Clock(NOW), Clock(0.0)
    clock = SteadyClock(wall=wall, monotonic=monotonic)
    wall.now += 10_000
    assert clock() == NOW + 10_000
    wall.now, monotonic.now = NOW + 5, 5.0
    assert clock() == NOW + 5


def test_a_remembered_token_expires() -> None:
    clock = Clock(NOW)
    one = verifier(clock)
    token = hs256(CLAIMS)
    assert verified(one, token) == "alice"
    clock.now = CLAIMS["exp"] + 29.9
    assert verified(one, token) == "alice", "within the leeway"
    clock.now = CLAIMS["exp"] + 30
    with pytest.raises(TokenError, match="expired"):
        verified(one, token)


@given(st.text(max_size=300))
def test_no_subject_is_read_that_could_forge_a_line_or_a_path(subject: str) -> None:
    claims = {**CLAIMS, "sub": subject}
    try:
        found = read_claims(claims, issuer=None, audiences=[RESOURCE]).subject
    except TokenError:
        return
    assert found == subject
    assert found.isascii()
    assert found.isprintable()
    assert " " not in found
    assert found != LOCAL.name


# Folders


@pytest.mark.parametrize(
    "name",
    ["..", ".", "/", "../../etc", "a/b", "a\\b", "CON", "nul.txt", "~", "a" * 255, "-rf", "%2e%2e"],
)
def test_a_folder_name_is_one_plain_segment(name: str) -> None:
    found = folder_name(name)
    assert Path(found).name == found
    assert len(found) <= 70
    assert not set(found) - set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not found.startswith("-")


@given(st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=20, unique=True))
def test_different_names_have_different_folders(names: list[str]) -> None:
    assert len({folder_name(name).casefold() for name in names}) == len(names)


@pytest.mark.requirement("identity:apart:folders")
def test_each_principal_has_its_own_folders(tmp_path: Path) -> None:
    config = Config(
        cache_dir=tmp_path / "cache",
        data_dir=tmp_path / "data",
        library=LibraryConfig(file=tmp_path / "team.bib", attachments=tmp_path / "pdf"),
        papers=PapersConfig(folder=tmp_path / "papers", log_folder=tmp_path / "log"),
    )
    paths = []
    for name in ("alice", "Alice"):
        own = config_of(config, Principal(name))
        folder = tmp_path / "data" / "principals" / folder_name(name)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        found = [
            own.library.file,
            own.library.attachments,
            own.papers.folder,
            own.papers.log_folder,
            own.cache_dir,
        ]
        assert all(path is not None and path.is_relative_to(folder) for path in found)
        assert own.library.file == folder / "library.bib"
        assert own.data_dir == folder
        paths += found
    assert len(set(paths)) == 10


def test_a_principal_has_the_entries_that_it_may_use(tmp_path: Path) -> None:
    config = Config(
        cache_dir=tmp_path,
        data_dir=tmp_path,
        plugins=(
            builtin("arxiv"),
            builtin("crossref"),
            builtin("pdf"),
            builtin("tex", enabled=False),
        ),
    )
    alice = Principal("alice", plugins=frozenset({"arxiv"}))
    own = config_of(config, alice)
    assert [one.name for one in own.plugins] == ["arxiv", "tex"]
    assert own.plugin("crossref") is None
    reader, off = own.plugin("pdf"), own.plugin("tex")
    assert reader is not None
    assert reader.enabled
    assert off is not None
    assert not off.enabled
    assert config_of(config, Principal("bob")).plugins == config.plugins


def test_searches_ask_providers_that_the_principal_may_use(tmp_path: Path) -> None:
    config = Config(
        cache_dir=tmp_path,
        data_dir=tmp_path,
        plugins=(builtin("arxiv"), builtin("brave")),
        web=WebConfig(search=("brave", "duckduckgo")),
    )
    for granted, search in (
        ({"arxiv"}, ()),
        ({"brave"}, ("brave",)),
        ({"duckduckgo"}, ("duckduckgo",)),
    ):
        own = config_of(config, Principal("alice", plugins=frozenset(granted)))
        assert own.web.search == search
        assert [one for one in ("brave", "duckduckgo") if own.plugin(one)] == list(search)
    assert config_of(config, Principal("bob")).web.search == config.web.search


# Scopes

TABLE = {
    "read": ScopeGrant(plugins=("arxiv",)),
    "library": ScopeGrant(toolsets=("library", "papers"), plugins=("csl",)),
    "all": ScopeGrant(toolsets=("*",), plugins=("*",)),
}


def test_scopes_become_toolsets_and_plugins() -> None:
    grants = Grants(TABLE, ())
    both = grants.principal("alice", frozenset({"read", "library", "openid"}))
    assert both.toolsets == frozenset({"library", "papers"})
    assert both.plugins == frozenset({"arxiv", "csl"})
    every = grants.principal("alice", frozenset({"read", "all"}))
    assert (every.toolsets, every.plugins) == (None, None)
    free = Grants({}, ()).principal("alice", frozenset())
    assert (free.toolsets, free.plugins) == (None, None)


def test_a_token_needs_the_required_scopes_and_one_that_grants_something() -> None:
    grants = Grants(TABLE, ["carrel"])
    assert grants.missing(frozenset({"read"})) == ("carrel",)
    assert grants.missing(frozenset({"carrel"})) == ("carrel", "read", "library", "all")
    assert grants.missing(frozenset({"carrel", "read"})) == ()
    assert Grants({}, ()).missing(frozenset()) == ()


def test_an_operator_needs_no_scope_that_grants_tools() -> None:
    grants = Grants(TABLE, ["carrel"])
    scopes = frozenset({"carrel", "carrel:operate"})
    assert grants.missing(scopes) == ()
    olga = grants.principal("olga", scopes)
    assert (olga.toolsets, olga.plugins) == (frozenset(), frozenset())
    assert grants.missing(frozenset({"carrel:operate"})) == ("carrel",)
    assert "carrel:operate" not in grants.supported


def test_the_scope_that_grants_least_is_asked_for_beside_the_own_ones() -> None:
    grants = Grants(TABLE, ["carrel"])
    alice = grants.principal("alice", frozenset({"carrel", "read", "openid"}))
    assert grants.needed(alice, Owner(toolset="library")) == ("carrel", "read", "library")
    assert grants.needed(alice, Owner(plugin="eutils")) == ("carrel", "read", "all")
    assert grants.needed(alice, Owner(plugin="arxiv")) == ()
    without = Grants({"read": TABLE["read"]}, ()).principal("bob", frozenset({"read"}))
    assert Grants({"read": TABLE["read"]}, ()).needed(without, Owner(plugin="eutils")) == ()


# Challenges


def test_challenges_are_those_of_the_standards() -> None:
    challenges = Challenges(RESOURCE, "https://login.example.org", ["carrel"], ["carrel", "read"])
    metadata = "https://carrel.example.org/.well-known/oauth-protected-resource/mcp"
    assert challenges.path == "/.well-known/oauth-protected-resource/mcp"
    assert challenges.without_token() == f'Bearer scope="carrel", resource_metadata="{metadata}"'
    assert challenges.invalid() == (
        f'Bearer error="invalid_token", scope="carrel", resource_metadata="{metadata}"'
    )
    assert challenges.insufficient(["a", "b"]) == (
        f'Bearer error="insufficient_scope", scope="a b", resource_metadata="{metadata}"'
    )
    assert (
        challenges.malformed() == f'Bearer error="invalid_request", resource_metadata="{metadata}"'
    )
    assert json.loads(challenges.metadata()) == {
        "resource": RESOURCE,
        "authorization_servers": ["https://login.example.org"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Carrel",
        "scopes_supported": ["carrel", "read"],
    }


def test_without_an_authorization_server_there_is_no_metadata() -> None:
    challenges = Challenges(RESOURCE, None, [], [])
    assert challenges.path is None
    assert challenges.without_token() == "Bearer"
    assert challenges.invalid() == 'Bearer error="invalid_token"'


# Budgets


class Counted:
    """Counters in memory."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        assert seconds >= 86_400
        count = self.counts.get(key, 0) + amount
        if count > limit:
            return None
        self.counts[key] = count
        return count

    def clock(self) -> float | None:
        return None


def test_a_principal_has_its_calls_of_the_day() -> None:
    clock = Clock(86_400.0 * 20_000 + 82_800)
    settings = IdentityConfig(calls_per_day=3)
    allowances = Allowances(settings, 5, counters=Counted(), clock=clock)
    alice, bob = Principal("alice"), Principal("bob")

    async def work() -> None:
        for _ in range(3):
            await allowances.wait(alice)
        with pytest.raises(BusyError) as caught:
            await allowances.wait(alice)
        assert caught.value.retry_after_seconds == 3600
        assert "all 3 calls of this day" in caught.value.message
        await allowances.wait(bob)
        await allowances.wait(LOCAL)
        clock.now += 3600
        await allowances.wait(alice)

    asyncio.run(work())


def test_the_day_is_that_of_the_counters_which_servers_share() -> None:
    """A server whose own clock is wrong counts to the same day as the others."""
    now = 86_400.0 * 20_000 + 86_000

    class Shared(Counted):
        def clock(self) -> float | None:
            return now

    settings, counters = IdentityConfig(calls_per_day=3), Shared()
    alice = Principal("alice")

    async def work() -> None:
        for wrong in (0, 3600, -90_000):
            own = Allowances(settings, 5, counters=counters, clock=Clock(now + wrong))
            await own.wait(alice)
        with pytest.raises(BusyError) as caught:
            await own.wait(alice)
        assert caught.value.retry_after_seconds == 400

    asyncio.run(work())
    assert counters.counts == {"calls:20000:alice": 3}


def test_a_store_that_hangs_holds_few_threads() -> None:
    hanging, waiting = threading.Event(), []

    class Hanging(Counted):
        def clock(self) -> float | None:
            waiting.append(1)
            assert hanging.wait(10)
            return None

    counters = Hanging()
    allowances = Allowances(IdentityConfig(calls_per_day=1000), 5, counters=counters)

    async def work() -> None:
        turns = [
            asyncio.ensure_future(allowances.wait(Principal(f"p{number}"))) for number in range(200)
        ]
        await asyncio.sleep(0.2)
        assert 0 < len(waiting) <= 32
        hanging.set()
        await asyncio.gather(*turns)

    asyncio.run(work())
    assert len(counters.counts) == 200


def test_calls_that_cannot_be_counted_are_refused() -> None:
    class Broken(Counted):
        def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
            raise BusyError(0)

    settings = IdentityConfig(calls_per_day=3)
    allowances = Allowances(settings, 5, counters=Broken())
    with pytest.raises(BusyError):
        asyncio.run(allowances.wait(Principal("alice")))
