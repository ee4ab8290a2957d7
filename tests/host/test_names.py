"""Tests that each public class name exists once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import carrel

PACKAGE = Path(carrel.__file__).parent


def test_a_public_class_name_exists_once() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(PACKAGE.rglob("*.py")):
        # Two implementations of one interface share its names.
        place = re.sub("^runtime/ffi/(direct|public)/", "", path.relative_to(PACKAGE).as_posix())
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(place)
    assert len(found) > 100
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
