"""Tests that the tables of failures, over HTTP and of replicas, name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [
        ("reference/http.md", "Failures", 15),
        ("how-to/deploy.md", "What one replica can do to the others", 5),
    ],
)
def test_each_failure_names_a_test_that_exists(page: str, heading: str, least: int) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= least
    for row in rows:
        if row.endswith("| not tested |"):
            continue
        [(path, name)] = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8"), row
