"""`carrel.credentials`: where secrets are looked for."""

from __future__ import annotations

import pytest

from carrel.credentials import find_secret


class Ring:
    """A keyring with one entry."""

    def get_password(self, service: str, username: str, /) -> str | None:
        return "from-ring" if (service, username) == ("carrel", "ncbi_api_key") else None


class LockedRing:
    """A keyring that nobody unlocked."""

    def get_password(self, service: str, username: str, /) -> str | None:
        raise RuntimeError("locked")


@pytest.mark.requirement("sandbox:secrets:environment-then-keyring")
class TestFindSecret:
    def test_the_environment_wins_over_the_keyring(self) -> None:
        env = {"CARREL_SECRET_NCBI_API_KEY": " from-env\n"}
        assert find_secret("ncbi_api_key", env, Ring()) == "from-env"

    def test_the_keyring_is_asked_when_the_environment_is_silent(self) -> None:
        assert (
            find_secret("ncbi_api_key", {"CARREL_SECRET_NCBI_API_KEY": ""}, Ring()) == "from-ring"
        )

    def test_nobody_knowing_it_is_no_error(self) -> None:
        assert find_secret("other", {}, Ring()) is None

    def test_a_keyring_that_fails_counts_as_silent(self) -> None:
        assert find_secret("ncbi_api_key", {}, LockedRing()) is None
