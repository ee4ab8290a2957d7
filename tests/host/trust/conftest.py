"""Fixtures: keys, and registries with and without the referrers API."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.http_repository import HttpRepository
from support.registries import KINDS, Registry
from support.signing_keys import SigningKeys

_numbers = itertools.count()


@pytest.fixture(scope="session")
def signing_keys(tmp_path_factory: pytest.TempPathFactory) -> SigningKeys:
    """Returns keys and certificate authorities, made once per run."""
    return SigningKeys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def registries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Registry]]:
    """Yields a registry without the referrers API and one with it, by kind."""
    with ExitStack() as stack:
        yield {
            kind: stack.enter_context(start(tmp_path_factory.mktemp(kind)))
            for kind, start in KINDS.items()
        }


@pytest.fixture
def repository(
    request: pytest.FixtureRequest, registries: Mapping[str, Registry]
) -> HttpRepository:
    """Returns a repository for one test, in a registry of the kind that the test is parametrised
    with.
    """
    kind = getattr(request, "param", "docker-registry")
    return HttpRepository(registries[kind].host, f"plugins/{next(_numbers)}")


@pytest.fixture(scope="session")
def cosign_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a home directory for cosign, so that it does not use the tester's."""
    return tmp_path_factory.mktemp("cosign")
