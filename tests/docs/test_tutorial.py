"""Runs the pages for plugin authors verbatim in a new folder, compilers included."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.pages import HOME, ROOT, Block, page, shows
from support.shell import commands
from support.tiny_registry import tiny_registry
from support.toolchains import require_wasm_toolchain

PAGE = "docs/tutorial/first-plugin.md"
JSON_PAGE = "docs/how-to/read-a-json-source.md"
#: Blocks that are not run, because they need more than this machine.
ELSEWHERE = {"network", "sets up an environment"}
REGISTRY = "localhost:5000"

pytestmark = [
    pytest.mark.alone,
    pytest.mark.long("builds"),
    pytest.mark.skipif(
        os.name == "nt" or shutil.which("sh") is None, reason="the page shows a POSIX shell"
    ),
]


class Author:
    """A home directory with Carrel, a Rust toolchain, and a local registry."""

    def __init__(self, home: Path, registry: str) -> None:
        self.home = home
        self._registry = registry
        line = CommandLine(home, real=True)
        # Downloads and compiled crates are reused between runs, as they are for an author.
        kept = ROOT / "target" / "tutorial"
        keep = ("CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR")
        homes = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}
        self._environment = line.environment(
            {name: str(Path.home() / folder) for name, folder in homes.items()}
            | {"CARGO_TARGET_DIR": str(kept / "cargo"), "CARREL_CACHE_DIR": str(kept / "cache")}
            | {name: os.environ[name] for name in keep if name in os.environ}
        )
        scripts = str(Path(sys.executable).parent)
        self._environment["PATH"] = scripts + os.pathsep + self._environment["PATH"]

    def write(self, name: str, text: str) -> None:
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self._typed(text), "utf-8")

    def run(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", self._typed(command)],
            cwd=self.home,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
            check=False,
        )
        seen = done.stdout.decode().replace(str(self.home), HOME)
        return done.returncode, seen.replace(self._registry, REGISTRY)

    def _typed(self, text: str) -> str:
        return text.replace(HOME, str(self.home)).replace(REGISTRY, self._registry)


def steps(name: str = PAGE) -> list[Block]:
    return [
        block
        for block in page(name).blocks
        if "file" in block.marks or block.info == "console"
        if block.marks.get("not run") not in ELSEWHERE
    ]


def follow(author: Author, name: str) -> None:
    """Runs a page's commands and compares their output."""
    require_wasm_toolchain()
    for block in steps(name):
        if "file" in block.marks:
            author.write(block.marks["file"], block.text)
            continue
        for command, shown, expected in commands(block):
            code, real = author.run(command)
            place = f"{name}, block of line {block.line}: $ {command}\n{real[-4000:]}"
            assert code == expected, place
            assert not shown.strip() or shows(shown, real), place


def test_the_tutorial_leads_to_a_published_signed_and_pinned_plugin(tmp_path: Path) -> None:
    with tiny_registry() as registry:
        follow(Author(tmp_path, registry.host), PAGE)
        assert ("plugins/lists", "0.1.0") in registry.manifests
    assert (tmp_path / "operator" / "carrel.lock").is_file()


def test_the_plugin_for_a_json_source_builds_and_passes_its_fixtures(tmp_path: Path) -> None:
    follow(Author(tmp_path, REGISTRY), JSON_PAGE)


def test_the_tutorial_runs_from_start_to_end() -> None:
    typed = "\n".join(command for block in steps() for command, _, _ in commands(block))
    words = re.findall(r"carrel (?:--\S+ \S+ )*(plugin \w+|\w+)", typed)
    way = ["new", "build", "test", "inspect", "push", "keys", "sign", "verify", "lock"]
    assert [f"plugin {word}" for word in way if f"plugin {word}" not in words] == []
    assert {"parse", "call", "serve"} <= set(words)
