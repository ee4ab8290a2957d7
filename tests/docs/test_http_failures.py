"""Tests that the table of failures over HTTP names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_failure_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "reference" / "http.md").read_text("utf-8")
    section = text.partition("## Failures\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    for row in rows:
        [(path, name)] = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8"), row
