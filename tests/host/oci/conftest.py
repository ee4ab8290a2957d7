"""Fixtures: a registry whose responses the test defines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.staged_registry import Staged, staged_registry


@pytest.fixture
def staged(tmp_path: Path) -> Iterator[Staged]:
    with staged_registry(tmp_path) as running:
        yield running
