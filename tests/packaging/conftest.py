"""Fixtures: the packages, built once."""

from __future__ import annotations

import pytest

from support.packages import Packages


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Returns the sdist, the wheel, and the wheel made from the sdist."""
    return Packages.build(tmp_path_factory.mktemp("packages"))
