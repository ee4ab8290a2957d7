"""Tests `carrel serve --check`, and the faults that keep a server from starting."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from carrel.config import DEFAULT_PLUGINS, READING_PLUGINS
from support.command_line import CommandLine

#: What is wrong in the configuration → a part of its fault.
FAULTS = {
    "server.max_inflight = 1": "server.max_inflight: unknown key; did you mean 'max_in_flight'?",
    "http.read_seconds = -1": "http.read_seconds: ",
    'plugins.gone.url = "file:///nowhere/gone.wasm"': "plugin gone",
    'plugins.unpaywall.runtime_config.secrets = ["contact"]': "plugin unpaywall: an e-mail address",
    'documents.folders = ["no-such-folder"]': "documents.folders: ",
    'library.file = "broken.json"': "library: ",
    'library.style = "no-such-style"': "library.style: ",
    'papers.folder = "broken.json/papers"': "papers.folder: ",
}

#: Turns the other plugins off, which would have to be compiled.
OFF = "".join(
    f"plugins.{name}.enabled = false\n"
    for name in (*DEFAULT_PLUGINS, *READING_PLUGINS)
    if name not in {"arxiv", "unpaywall"}
)


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path, real=True)
    made.write("broken.json", "{")
    return made


def test_all_faults_are_reported_at_once(carrel: CommandLine) -> None:
    carrel.write("c.toml", "\n".join([*FAULTS, OFF]))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        done = carrel(
            "serve", "--check", "--config", "c.toml", "--http", where, env={"CARREL_CONTAKT": "a"}
        )
    assert done.code == 1, done.err
    told = json.loads(done.out)
    assert not told["ok"]
    expected = [*FAULTS.values(), f"cannot listen on {where}", "did you mean CARREL_CONTACT?"]
    missing = [one for one in expected if not any(one in fault for fault in told["faults"])]
    assert missing == [], told["faults"]
    assert len(told["faults"]) == len(expected), told["faults"]
    assert told["configuration"] == "c.toml"
    assert told["plugins"]["gone"] == "failed"
    assert told["plugins"]["arxiv"] == "ready"


def test_a_configuration_without_faults_passes(carrel: CommandLine) -> None:
    carrel.write("c.toml", OFF)
    done = carrel("serve", "--check", "--config", "c.toml", "--http", "127.0.0.1:0")
    assert done.code == 0, done.out
    told = json.loads(done.out)
    assert (told["ok"], told["faults"]) == (True, [])
    assert told["url"].startswith("http://127.0.0.1")


def test_grants_for_nothing_and_missing_grants_are_warnings(carrel: CommandLine) -> None:
    grant = 'plugins.arxiv.runtime_config.allowed_hosts = ["export.arxiv.org", "example.org"]'
    carrel.write("c.toml", f"{grant}\n{OFF}")
    told = json.loads(carrel("serve", "--check", "--config", "c.toml").out)
    assert told["ok"], told["faults"]
    assert any("example.org is granted, but not requested" in one for one in told["warnings"])
    assert any("host arxiv.org is not granted" in one for one in told["warnings"])


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--config", "no-such-file.toml"), "no-such-file.toml"),
        (("--surface", "no-such-surface"), "no-such-surface"),
        (("--http", "0.0.0.0:80"), "--http: "),
        (("--http", "0.0.0.0:80"), "requires identity: set identity.issuer"),
        (("--http", "somewhere"), "--http: expected HOST:PORT"),
    ],
)
def test_each_fault_of_the_start_is_one_of_the_check(
    carrel: CommandLine, words: tuple[str, ...], fault: str
) -> None:
    carrel.write("c.toml", OFF)
    checked = carrel("serve", "--check", *words, env={"CARREL_CONFIG": "c.toml"})
    assert checked.code == 1
    assert json.loads(checked.out)["faults"]
    assert fault in checked.out
    started = carrel("serve", *words)
    assert (started.code, started.out) == (2, "")
    assert fault in started.err


def test_a_server_that_cannot_start_lists_every_fault(carrel: CommandLine) -> None:
    carrel.write("c.toml", "server.max_inflight = 1\nfetch.retries = -1\n")
    done = carrel("serve", "--config", "c.toml", "--http", "somewhere", "--surface", "other")
    assert done.code == 2
    assert "4 faults in the configuration" in done.err
    for part in ("server.max_inflight", "fetch.retries", "--http: ", "other"):
        assert part in done.err


def test_a_person_reads_lines(carrel: CommandLine) -> None:
    carrel.write("c.toml", f"fetch.retries = -1\n{OFF}")
    done = carrel.on_terminal("serve", "--check", "--config", "c.toml", env={"TERM": "dumb"})
    assert done.code == 1
    assert "fault: fetch.retries: " in done.out
