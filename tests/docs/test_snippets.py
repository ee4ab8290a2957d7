"""Runs the pages' commands, Python snippets and configurations without a network."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel.config import ENVIRONMENT, load_config
from carrel.config.file import _TOP_KEYS
from carrel.errors import ConfigError
from support.command_line import CommandLine
from support.guests import guest
from support.pages import HOME, ROOT, Block, Page, pages, shows
from support.shell import commands
from support.tiny_registry import tiny_registry

pytestmark = pytest.mark.long("snippets")

#: The registry in the pages' commands; the test replaces it by its own.
REGISTRY = "localhost:5000"
RECORDING = "examples/recordings/arxiv-query"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: The bytes of a progress line, which overwrites itself and is erased at the end.
_PROGRESS = re.compile(r"(?:\r\x1b\[2K[^\r\n]*)*\r\x1b\[2K")

posix = pytest.mark.skipif(
    os.name == "nt" or shutil.which("sh") is None, reason="the pages show a POSIX shell"
)


def with_blocks(*infos: str) -> list[Page]:
    return [one for one in pages() if any(block.info in infos for block in one.blocks)]


def ids(one: Page) -> str:
    return one.path.as_posix()


class Workspace:
    """A home directory with those files of a clone that one page's commands use."""

    def __init__(self, folder: Path, code_folder: Path, registry: str) -> None:
        self.registry = registry
        self.home = folder
        self.work = folder / "carrel"
        self.work.mkdir()
        (self.work / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
        (folder / "lists").mkdir()
        (folder / "lists" / "lists.wasm").write_bytes(lists_component())
        newer = lists_component(
            version="0.2.0",
            description="The newest papers of the list.",
            hosts=["lists.example.org", "cdn.example.org"],
        )
        (folder / "lists" / "lists-0.2.0.wasm").write_bytes(newer)
        line = CommandLine(folder, real=True)
        self.environment = line.environment({"CARREL_CACHE_DIR": str(code_folder)})
        scripts = str(Path(sys.executable).parent)
        self.environment["PATH"] = scripts + os.pathsep + self.environment.get("PATH", "")

    def written(self, text: str) -> str:
        """Returns a command of the page with this workspace's paths."""
        return text.replace(HOME, str(self.home)).replace(REGISTRY, self.registry)

    def read(self, text: str) -> str:
        """Returns output with the paths that the page shows."""
        seen = _ANSI.sub("", _PROGRESS.sub("", text.replace("\r\n", "\n")))
        return seen.replace(str(self.home), HOME).replace(self.registry, REGISTRY)

    def write(self, name: str, text: str) -> None:
        file = self.work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.written(text), "utf-8")

    def shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", self.written(command)],
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        return done.returncode, self.read(done.stdout.decode())

    def terminal(self, command: str) -> tuple[int, str]:
        line = CommandLine(self.work, real=True)
        program, *words = shlex.split(self.written(command))
        assert program == "carrel", "only carrel itself is shown on a terminal"
        done = line.on_terminal(*words, env=self.environment | {"NO_COLOR": "1"})
        return done.code, self.read(done.out)

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", self.written(code)],
            cwd=self.work,
            env=self.environment | {"CARREL_REPLAY_DIR": RECORDING},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def workspace(tmp_path: Path, code_folder: Path) -> Iterator[Workspace]:
    with tiny_registry() as registry:
        yield Workspace(tmp_path, code_folder, registry.host)


def lists_component(
    version: str = "0.1.0",
    description: str = "The papers of the list's latest issue.",
    hosts: Sequence[str] = ("lists.example.org",),
) -> bytes:
    """Returns the how-to's plugin without its parser: it always returns the how-to's result."""
    item = {"type": "object", "required": ["id", "title"]}
    result = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    hints = {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    manifest = {
        "contract": "1.0",
        "name": "lists",
        "version": version,
        "description": "Reads lists of papers.",
        "licence": "Apache-2.0",
        "hosts": [{"host": host, "methods": ["GET"], "paths": ["/new.txt"]} for host in hosts],
        "tools": [
            {
                "name": "new",
                "title": "New papers",
                "description": description,
                "input_schema": {"type": "object"},
                "output_schema": result,
                "annotations": hints,
            }
        ],
        "formats": [
            {
                "name": "list",
                "description": "Lines of identifier, tab, title.",
                "output_schema": result,
            }
        ],
    }
    items = [{"id": "a1", "title": "On desks"}, {"id": "a2", "title": "On walls"}]
    answer = json.dumps({"items": items}, separators=(",", ":"))
    return guest(result=answer, manifest=json.dumps(manifest)).wasm


# Commands


@posix
@pytest.mark.parametrize("one", with_blocks("console"), ids=ids)
def test_commands_print_what_is_shown(one: Page, workspace: Workspace) -> None:
    for block in one.blocks:
        if "file" in block.marks:
            workspace.write(block.marks["file"], block.text)
        if block.info != "console" or "not run" in block.marks:
            continue
        for command, shown, expected in commands(block):
            run: Callable[[str], tuple[int, str]]
            run = workspace.terminal if "terminal" in block.marks else workspace.shell
            code, real = run(command)
            place = f"{one.path}, block of line {block.line}: $ {command}\n{real[-2000:]}"
            assert code == expected, place
            assert not shown.strip() or shows(shown, real), place


@pytest.mark.parametrize("one", with_blocks("console"), ids=ids)
def test_only_tests_with_missing_requirements_are_skipped(one: Page) -> None:
    reasons = [block.marks["not run"] for block in one.blocks if "not run" in block.marks]
    # `test_own_registry.py` runs the commands that need a registry.
    known = {"network", "sets up an environment", "needs Rust", "an extra", "a registry"}
    known |= {"runs until it is stopped", "needs a container engine", "needs a cluster"}
    # `test_getting_it.py` and `test_doctor_fix.py` do what these say.
    known |= {"needs a registry", "builds a wheel", "writes to the home directory"}
    known |= {"needs a session"}
    assert set(reasons) <= known


@posix
@pytest.mark.parametrize("one", with_blocks("python"), ids=ids)
def test_python_snippets_run_and_print_what_is_shown(one: Page, workspace: Workspace) -> None:
    blocks = one.blocks
    for block, following in zip(blocks, (*blocks[1:], None), strict=True):
        if "file" in block.marks:
            workspace.write(block.marks["file"], block.text)
        elif block.info == "python" and "not run" not in block.marks:
            done = workspace.python(block.text)
            place = f"{one.path}, block of line {block.line}:\n{done.stdout}{done.stderr}"
            assert done.returncode == 0, place
            if following is not None and "output" in following.marks:
                assert shows(following.text, workspace.read(done.stdout)), place


# Configurations


def data_blocks() -> list[Any]:
    return [
        pytest.param(block, id=f"{one.path.as_posix()}:{block.line}")
        for one in pages()
        for block in one.blocks
        if block.info in {"json", "toml"}
    ]


def decoded(block: Block) -> dict[str, Any]:
    value: Any = json.loads(block.text) if block.info == "json" else tomllib.loads(block.text)
    assert isinstance(value, dict)
    return value


#: Paths of the table of servers in clients' configuration files.
CLIENT_TABLES = (("mcpServers",), ("servers",), ("mcp_servers",), ("mcp", "servers"))


def servers_in(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for path in CLIENT_TABLES:
        table: Any = value
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict):
            return table
    return None


@pytest.mark.parametrize("block", data_blocks())
def test_configurations_load(block: Block, tmp_path: Path) -> None:
    value = decoded(block)
    if "not a configuration" in block.marks:
        assert not set(value) & set(_TOP_KEYS), "it is one"
        return
    servers = servers_in(value)
    if servers is not None:
        for server in servers.values():
            assert_starts_carrel(server)
        return
    folder = tmp_path / "operator"
    folder.mkdir()
    for name in (
        "authorities.pem",
        "carrel.pub",
        "../carrel.pub",
        "redis-ca.pem",
        "redis-password",
    ):
        (folder / name).touch()
    file = folder / f"carrel.{block.info}"
    file.write_text(block.text, "utf-8")
    env = {"HOME": str(tmp_path)}
    if "faulty" in block.marks:
        with pytest.raises(ConfigError):
            load_config(file, env)
    else:
        assert load_config(file, env).source_path == file


def assert_starts_carrel(server: Mapping[str, Any]) -> None:
    """Checks a client's entry: its command, options of `serve`, and environment variables."""
    from carrel.cli.serve import serve

    if "url" in server:
        assert server == {"type": "http", "url": "http://127.0.0.1:8000/mcp"}
        return
    assert server["command"] == "carrel" or server["command"].endswith("/carrel")
    first, *rest = server["args"]
    assert first == "serve"
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known
    variables = server.get("env", {})
    assert set(variables) <= {"CARREL_CONFIG", *ENVIRONMENT}
