"""Tests `carrel.credentials`: where secrets are looked up."""

from __future__ import annotations

import pytest

from carrel.credentials import find_secret


class Ring:
    """A keyring with two entries."""

    def get_password(self, service: str, username: str, /) -> str | None:
        known = {"eutils/api_key": "from-ring", "api_key": "shared"}
        return known.get(username) if service == "carrel" else None


class LockedRing:
    """A locked keyring."""

    def get_password(self, service: str, username: str, /) -> str | None:
        raise RuntimeError("locked")


@pytest.mark.requirement("sandbox:secrets:environment-then-keyring")
class TestFindSecret:
    def test_the_environment_wins_over_the_keyring(self) -> None:
        env = {"CARREL_SECRET_EUTILS_API_KEY": " from-env\n"}
        assert find_secret("eutils", "api_key", env=env, keyring=Ring()) == "from-env"

    def test_the_keyring_is_used_if_no_variable_is_set(self) -> None:
        env = {"CARREL_SECRET_EUTILS_API_KEY": ""}
        assert find_secret("eutils", "api_key", env=env, keyring=Ring()) == "from-ring"

    def test_a_missing_secret_is_no_error(self) -> None:
        assert find_secret("other", "token", env={}, keyring=Ring()) is None

    def test_a_keyring_that_fails_counts_as_silent(self) -> None:
        assert find_secret("eutils", "api_key", env={}, keyring=LockedRing()) is None


@pytest.mark.requirement("sandbox:secrets:of-one-plugin")
class TestOwners:
    def test_two_plugins_have_two_secrets_of_one_name(self) -> None:
        env = {"CARREL_SECRET_ONE_TOKEN": "1", "CARREL_SECRET_MY_TWO_TOKEN": "2"}
        assert find_secret("one", "token", env=env) == "1"
        assert find_secret("my-two", "token", env=env) == "2"

    @pytest.mark.parametrize(
        "env",
        [
            {"CARREL_SECRET_API_KEY": "ncbi's"},
            {"NCBI_API_KEY": "ncbi's"},
            {"CARREL_SECRET_EUTILS_API_KEY": "ncbi's"},
        ],
    )
    def test_a_built_in_plugins_key_is_passed_to_no_other_plugin(self, env: dict[str, str]) -> None:
        assert find_secret("eutils", "api_key", builtin=True, env=env) == "ncbi's"
        assert find_secret("stranger", "api_key", env=env, keyring=Ring()) is None

    @pytest.mark.parametrize("plugin", ["openalex", "semanticscholar"])
    def test_a_short_name_sets_the_key_of_one_built_in_plugin(self, plugin: str) -> None:
        env = {"CARREL_SECRET_API_KEY": "ncbi's"}
        assert find_secret("eutils", "api_key", builtin=True, env=env) == "ncbi's"
        assert find_secret(plugin, "api_key", builtin=True, env=env) is None
        assert find_secret(plugin, "api_key", builtin=True, env={}, keyring=Ring()) is None
        env = {"CARREL_SECRET_ACCESS_TOKEN": "mine"}
        assert find_secret("opencitations", "access_token", builtin=True, env=env) == "mine"

    def test_the_most_particular_name_wins(self) -> None:
        env = {"NCBI_API_KEY": "3", "CARREL_SECRET_API_KEY": "2"}
        assert find_secret("eutils", "api_key", builtin=True, env=env) == "2"
        env["CARREL_SECRET_EUTILS_API_KEY"] = "1"
        assert find_secret("eutils", "api_key", builtin=True, env=env) == "1"

    def test_the_administrators_address_is_sent_to_ncbi_only(self) -> None:
        env = {"NCBI_ADMIN_EMAIL": "me@example.org"}
        assert find_secret("eutils", "contact", builtin=True, env=env) == "me@example.org"
        assert find_secret("crossref", "contact", builtin=True, env=env) is None
