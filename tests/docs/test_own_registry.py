"""Tests the page that starts a registry without Docker, if the registry is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.guests import guest
from support.manifests import manifest_text
from support.pages import HOME, page, shows
from support.registries import free_port, peer
from support.shell import commands

PAGE, SECTION = "docs/how-to/publish-a-plugin.md", "A registry on your own machine or network"
REGISTRY = "localhost:5000"


class Publisher:
    """Runs the page's commands with a free port in place of the page's."""

    def __init__(self, home: Path, program: Path) -> None:
        self.home = home
        self.registry = f"localhost:{free_port()}"
        self.environment = CommandLine(home, real=True).environment()
        (home / "bin").mkdir()
        (home / "bin" / "docker-registry").symlink_to(program)
        folders = [str(home / "bin"), str(Path(sys.executable).parent), self.environment["PATH"]]
        self.environment["PATH"] = os.pathsep.join(folders)

    def typed(self, text: str) -> str:
        return text.replace(HOME, str(self.home)).replace(REGISTRY, self.registry)

    def run(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", self.typed(command)],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode().replace(self.registry, REGISTRY)

    @contextmanager
    def serving(self, command: str) -> Iterator[None]:
        """Runs a command of the page that ends in `&` until the context is left."""
        words = self.typed(command).removesuffix("&").strip()
        process = subprocess.Popen(
            ["sh", "-c", f"exec {words}"], cwd=self.home, env=self.environment
        )
        try:
            for _ in range(200):
                assert process.poll() is None, (self.home / "registry.log").read_text()
                try:
                    urllib.request.urlopen(f"http://{self.registry}/v2/", timeout=2).close()
                    break
                except OSError:
                    time.sleep(0.05)
            else:
                raise AssertionError((self.home / "registry.log").read_text())
            yield
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.skipif(os.name == "nt", reason="the page shows a POSIX shell")
def test_a_plugin_is_pushed_and_pulled_without_docker(tmp_path: Path) -> None:
    person = Publisher(tmp_path, peer("docker-registry"))
    (tmp_path / "lists.wasm").write_bytes(guest(manifest=manifest_text()).wasm)
    start, *rest = [
        step
        for block in page(PAGE).section(SECTION).blocks
        if block.info == "console"
        for step in commands(block)
    ]
    [file] = [block for block in page(PAGE).blocks if block.marks.get("file") == "registry.yml"]
    (tmp_path / "registry.yml").write_text(person.typed(file.text), "utf-8")
    with person.serving(start[0]):
        for command, shown, expected in rest:
            code, real = person.run(command)
            assert code == expected, f"$ {command}\n{real}"
            assert not shown.strip() or shows(shown, real), f"$ {command}\n{real}"
    assert (tmp_path / "registry" / "docker" / "registry" / "v2" / "blobs").is_dir()
