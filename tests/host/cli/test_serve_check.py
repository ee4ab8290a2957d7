"""Tests `carrel serve --check`, and the faults that keep a server from starting."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from carrel.config import DEFAULT_PLUGINS, READING_PLUGINS
from support.command_line import CommandLine
from support.issuers import Issuer

pytestmark = pytest.mark.long("servers")

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
    'server.audit_log = "no-such-folder/audit.jsonl"': "server.audit_log: ",
    'http.metrics = "127.0.0.1:65536"': "http.metrics: 65536 is no port",
    'store = {url = "redis://h:0/0", password_file = "gone"}': (
        "store.url: ", "store.password_file: expected a file but there is none",
    ),
    'http.allowed_hosts = ["http://a", "b", "c/d"]': (
        "http.allowed_hosts[0]: ", "http.allowed_hosts[2]: ",
    ),
    'identity.issuer = "http://login.example.org"': "identity.issuer: expected https",
    "identity.burst = 0": "identity.burst: ",
    'identity.scopes = {"a b" = {}, c = {toolsets = ["?"], plugins = [1]}}': (
        "identity.scopes['a b']: ",
        "identity.scopes['c'].toolsets[0]: ",
        "identity.scopes['c'].plugins[0]: ",
    ),
}  # fmt: skip

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
    report = json.loads(done.out)
    assert not report["ok"]
    expected = [
        *(part for one in FAULTS.values() for part in ([one] if isinstance(one, str) else one)),
        f"cannot listen on {where}: Address already in use; end the program that listens there",
        "did you mean CARREL_CONTACT?",
    ]
    missing = [one for one in expected if not any(one in fault for fault in report["faults"])]
    assert missing == [], report["faults"]
    assert len(report["faults"]) == len(expected), report["faults"]
    assert report["configuration"] == "c.toml"
    assert report["plugins"]["gone"] == "failed"
    assert report["plugins"]["arxiv"] == "ready"


def test_tools_that_cannot_be_listed_are_a_fault(carrel: CommandLine) -> None:
    """Such a server would start and never be ready."""
    carrel.write(
        "c.toml", OFF + 'web = {search = ["duckduckgo"], lens_folder = "no-such-folder"}\n'
    )
    done = carrel("serve", "--check", "--config", "c.toml")
    assert done.code == 1, done.err
    [fault] = json.loads(done.out)["faults"]
    assert fault.startswith("web.lens_folder: ")


IDENTITY = """
[identity]
issuer = "{issuer}"
resource = "https://carrel.example.org/mcp"
plain_http = true
private = true
keys_keep_seconds = 10
[identity.scopes]
carrel = {{toolsets = ["libary"], plugins = ["arxv"]}}
"""


@pytest.mark.parametrize("where", ["127.0.0.1:0", "somewhere"])
def test_faults_of_an_identity_are_reported_with_every_address(
    carrel: CommandLine, where: str
) -> None:
    carrel.write("c.toml", OFF + IDENTITY.format(issuer="http://127.0.0.1:9"))
    env = {"MCP_AUTH_SECRET_KEY": "short"}
    done = carrel("serve", "--check", "--config", "c.toml", "--http", where, env=env)
    faults = json.loads(done.out)["faults"]
    for part in (
        "MCP_AUTH_SECRET_KEY (environment): expected at least 32 bytes but found 5",
        "identity.issuer, MCP_AUTH_SECRET_KEY (environment): exclude each other",
        "identity.keys_keep_seconds: expected at least",
        "identity.scopes['carrel'].toolsets: no toolset is called 'libary'; did you mean 'library",
        "identity.scopes['carrel'].plugins: no plugin is called 'arxv'; did you mean 'arxiv'",
    ):
        assert any(one.startswith(part) for one in faults), (part, faults)
    assert len(faults) == 5 + (where == "somewhere"), faults


def test_a_wrong_setting_of_an_identity_is_one_fault(carrel: CommandLine) -> None:
    carrel.write("c.toml", OFF + 'identity.issuer = "login.example.org"\n')
    done = carrel("serve", "--check", "--config", "c.toml", "--http", "0.0.0.0:0")
    faults = json.loads(done.out)["faults"]
    assert [one.partition(":")[0] for one in faults] == ["identity.issuer"]


@pytest.mark.parametrize(
    ("status", "keys", "problem"),
    [
        (200, None, None),
        (500, None, "its keys cannot be downloaded: no metadata: 127.0.0.1:"),
        (200, {}, "it has no key that can be used"),
    ],
    ids=["good", "gone", "no key"],
)
def test_an_issuer_without_keys_is_a_fault(
    carrel: CommandLine, status: int, keys: dict[str, Any] | None, problem: str | None
) -> None:
    with Issuer() if keys is None else Issuer(keys) as issuer:
        issuer.status = status
        text = IDENTITY.format(issuer=issuer.url).replace("keys_keep_seconds = 10", "")
        carrel.write("c.toml", OFF + text.replace("libary", "library").replace("arxv", "arxiv"))
        done = carrel("serve", "--check", "--config", "c.toml", "--http", "127.0.0.1:0")
    faults = json.loads(done.out)["faults"]
    if problem is None:
        assert faults == []
    else:
        assert faults[0].startswith(f"identity.issuer: {issuer.url}: {problem}"), faults
        assert len(faults) == 1


def test_ports_and_logs_that_cannot_be_used_are_faults(carrel: CommandLine, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    log.touch()
    log.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = f'http.metrics = "127.0.0.1:{port}"\nserver.audit_log = "{log}"\n'
        carrel.write("c.toml", text + OFF)
        done = carrel("serve", "--check", "--config", "c.toml", "--http", "127.0.0.1:0")
    faults = json.loads(done.out)["faults"]
    assert len(faults) == 2, faults
    assert "may be read or written by others (mode 644); chmod 600 it" in faults[0]
    assert faults[1].startswith(f"http.metrics: cannot listen on 127.0.0.1:{port}: ")
    same = carrel("serve", "--check", "--config", "c.toml", "--http", f"127.0.0.1:{port}")
    assert any("is the address of --http" in one for one in json.loads(same.out)["faults"])


def test_a_configuration_without_faults_passes(carrel: CommandLine) -> None:
    carrel.write("c.toml", OFF)
    done = carrel("serve", "--check", "--config", "c.toml", "--http", "127.0.0.1:0")
    assert done.code == 0, done.out
    report = json.loads(done.out)
    assert (report["ok"], report["faults"]) == (True, [])
    assert report["url"].startswith("http://127.0.0.1")


def test_grants_for_nothing_and_missing_grants_are_warnings(carrel: CommandLine) -> None:
    grant = 'plugins.arxiv.runtime_config.allowed_hosts = ["export.arxiv.org", "example.org"]'
    carrel.write("c.toml", f"{grant}\n{OFF}")
    report = json.loads(carrel("serve", "--check", "--config", "c.toml").out)
    assert report["ok"], report["faults"]
    assert any("example.org is granted, but not requested" in one for one in report["warnings"])
    assert any("host arxiv.org is not granted" in one for one in report["warnings"])


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
    assert "configuration: c.toml" in done.out
