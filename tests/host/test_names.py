"""Tests that each public class name exists once, and that names in Rust are specific."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import carrel

PACKAGE = Path(carrel.__file__).parent
ROOT = Path(__file__).parents[2]
#: Names that do not tell what a module, type or trait is.
VAGUE = {
    "helpers",
    "misc",
    "more",
    "outside",
    "part",
    "parts",
    "place",
    "places",
    "small",
    "stuff",
    "util",
    "utils",
}
RUST_ITEM = re.compile(
    r"^\s*pub(?:\([^)]*\))? (?:mod|struct|enum|trait|type|union) (\w+)", re.MULTILINE
)
#: A part that callers may leave out of a result, and a part of a rendered document.
SPECIFIC_HERE = {
    ("plugins/pdk/src/args.rs", "Part"),
    ("plugins/pdk/src/document/render.rs", "Part"),
}


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


def test_a_rust_module_or_public_type_has_a_specific_name() -> None:
    found, vague = 0, set()
    for folder in ("plugins", "componentize", "xtask"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            if "target" in path.relative_to(ROOT).parts:
                continue
            file = path.relative_to(ROOT).as_posix()
            names = [path.stem, *RUST_ITEM.findall(path.read_text("utf-8"))]
            found += len(names)
            vague |= {(file, name) for name in names if name.lower() in VAGUE}
    assert found > 500
    assert vague - SPECIFIC_HERE == set()
