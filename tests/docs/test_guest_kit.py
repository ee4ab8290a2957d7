"""Tests the guest kit's page: its examples compile and run, and it lists every public item."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.pages import ROOT, page
from support.toolchains import needs_cargo

PAGE = "docs/reference/guest-kit.md"
KIT = ROOT / "plugins" / "pdk" / "src"

_MANIFEST = """\
[package]
name = "guest-kit-page"
version = "0.1.0"
edition = "2024"

[dependencies]
carrel-pdk = {{ path = "{kit}" }}
schemars = {{ version = "1.2", default-features = false, features = ["derive"] }}
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"

[workspace]
"""


@needs_cargo
@pytest.mark.alone
@pytest.mark.long("builds")
def test_every_example_of_the_page_compiles_and_holds(tmp_path: Path) -> None:
    kit = (ROOT / "plugins" / "pdk").as_posix()
    (tmp_path / "Cargo.toml").write_text(_MANIFEST.format(kit=kit), "utf-8")
    (tmp_path / "src").mkdir()
    text = f'#![doc = include_str!("{(ROOT / PAGE).as_posix()}")]\n'
    (tmp_path / "src" / "lib.rs").write_text(text, "utf-8")
    shutil.copyfile(ROOT / "Cargo.lock", tmp_path / "Cargo.lock")
    done = subprocess.run(
        ["cargo", "test", "--doc", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "pages")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
    output = done.stdout.decode()
    assert done.returncode == 0, output[-4000:]
    count = sum(block.info == "rust" for block in page(PAGE).blocks)
    assert f"{count} passed" in output


def test_every_public_item_of_the_kit_is_on_the_page() -> None:
    text = (ROOT / PAGE).read_text("utf-8")
    inner = {"alloc", "blocks", "export", "scan", "tests"}
    missing = []
    for path in sorted(KIT.rglob("*.rs")):
        if inner.isdisjoint(path.relative_to(KIT).with_suffix("").parts):
            source = path.read_text("utf-8").partition("#[cfg(test)]")[0]
            names = re.findall(r"(?m)^ *pub (?:fn|struct|enum|trait) (\w+)", source)
            missing += [name for name in names if not re.search(rf"\b{name}\b", text)]
    assert missing == []
