"""Tests the audit log: what it has, its permissions, rotation, a full disk."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import HttpConfig, ServerConfig
from carrel.errors import ConfigError
from carrel.principal import Principal, acting_as
from carrel.server.operations.approvals import record_changes
from carrel.server.operations.audit import AuditLog, AuditUnavailableError
from carrel.server.operations.operations import Operations
from carrel.server.toolbox_loader import ToolboxLoader
from carrel.telemetry import Denial
from support.http_server import command
from support.operated_server import HOST, OperatedServer, an_upstream, eventually, probe_plugin

pytestmark = pytest.mark.long("servers")


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


class FullDisk:
    """Writes until there is no space; `room` is in bytes."""

    def __init__(self, room: float) -> None:
        self.room = room

    def __call__(self, file: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = os.write(file, data[: int(min(self.room, len(data)))])
        self.room -= written
        return written


def test_a_line_has_time_event_and_facts(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.write("denial", plugin="p", hosts=["a", "b\n"], grant='x += "y"', count=3, nothing=None)
    [event] = events(log.path)
    assert event.pop("time").endswith("Z")
    assert event == {
        "event": "denial",
        "plugin": "p",
        "hosts": ["a", "b "],
        "grant": 'x += "y"',
        "count": 3,
        "nothing": None,
    }
    log.close()


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    log.close()


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o606])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "audit.jsonl"
    file.touch()
    file.chmod(mode)
    with pytest.raises(ConfigError, match=rf"mode {mode:o}\); chmod 600 it"):
        AuditLog(file)


def test_a_path_that_cannot_be_opened_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"server\.audit_log: .* cannot be opened: No such file"):
        AuditLog(tmp_path / "missing" / "audit.jsonl")
    with pytest.raises(ConfigError, match="cannot be opened"):
        AuditLog(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"cannot be opened|is not a file"):
        AuditLog(tmp_path / "pipe")
    target = tmp_path / "target"
    target.touch(0o600)
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(ConfigError, match="cannot be opened"):
        AuditLog(tmp_path / "link")


def test_lines_are_appended_to_an_existing_file(tmp_path: Path) -> None:
    for number in range(2):
        log = AuditLog(tmp_path / "audit.jsonl")
        log.write("denial", number=number)
        log.close()
    assert [one["number"] for one in events(tmp_path / "audit.jsonl")] == [0, 1]


def test_two_logs_of_one_file_do_not_mix_their_lines(tmp_path: Path) -> None:
    logs = [AuditLog(tmp_path / "audit.jsonl") for _ in range(4)]

    def write(log: AuditLog, name: int) -> None:
        for number in range(200):
            log.write("denial", who=name, number=number, filler="x" * 500)

    threads = [threading.Thread(target=write, args=(log, at)) for at, log in enumerate(logs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = events(tmp_path / "audit.jsonl")
    assert len(found) == 800
    assert [one["number"] for one in found if one["who"] == 2] == list(range(200))


@pytest.mark.parametrize("rotate", ["rename", "remove", "rename and signal"])
def test_a_rotation_loses_no_line(tmp_path: Path, rotate: str) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.write("denial", number=0)
    if rotate == "remove":
        log.path.unlink()
    else:
        log.path.rename(tmp_path / "audit.jsonl.1")
    if rotate.endswith("signal"):
        log.reopen()
    log.write("denial", number=1)
    log.close()
    assert [one["number"] for one in events(log.path)] == [1]
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_a_full_disk_is_one_error_and_the_lines_are_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FullDisk(100)
    log = AuditLog(tmp_path / "audit.jsonl", write=disk)
    with caplog.at_level(logging.WARNING):
        for number in range(5):
            log.write("denial", number=number)
    assert log.is_failing
    messages = [record.message for record in caplog.records]
    assert len(messages) == 1
    assert "cannot be written: No space left on device; lines are kept" in messages[0]
    disk.room = 10**6
    assert log.retry()
    lines = log.path.read_text("utf-8").splitlines()
    whole = [json.loads(line) for line in lines if line.endswith("}")]
    assert [one["number"] for one in whole] == [0, 1, 2, 3, 4]
    assert len(lines) == 6  # and the part that was written first, on a line of its own
    log.write("denial", number=5)
    assert events_of_whole_lines(log.path)[-1]["number"] == 5
    log.close()


def events_of_whole_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in path.read_text("utf-8").splitlines() if one.endswith("}")]


def test_a_part_of_a_line_that_a_crash_has_left_is_ended_first(tmp_path: Path) -> None:
    """The process ends while the disk is full; the next one starts when there is space again."""
    crashed = AuditLog(tmp_path / "audit.jsonl", write=FullDisk(150))
    crashed.write("denial", number=0)
    crashed.write("denial", number=1, filler="x" * 500)
    crashed.close()
    for number in (2, 3):
        log = AuditLog(tmp_path / "audit.jsonl")
        log.write("denial", number=number)
        log.close()
    assert [one["number"] for one in events_of_whole_lines(log.path)] == [0, 2, 3]
    assert len(log.path.read_text("utf-8").splitlines()) == 4


def test_lines_beyond_the_memory_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.server.operations.audit._KEPT", 3)
    disk = FullDisk(0)
    log = AuditLog(tmp_path / "audit.jsonl", write=disk)
    for number in range(5):
        log.write("denial", number=number)
    disk.room = 10**6
    log.close()
    found = events(log.path)
    assert found[0] == {"event": "lost", "lines": 2}
    assert [one["number"] for one in found[1:]] == [2, 3, 4]


# The operator's view


DENIAL = Denial("p", "open", "https://h.example.org/private?q=1", "host_not_granted", 'x += "h"')


def operations(tmp_path: Path, failure: str = "continue") -> Operations:
    settings = ServerConfig(audit_log=tmp_path / "audit.jsonl", audit_failure=failure)
    return Operations(settings, HttpConfig())


@pytest.mark.requirement("operate:denials:grant")
def test_a_denial_has_who_where_why_and_the_grant_and_no_path(tmp_path: Path) -> None:
    view = operations(tmp_path)
    with acting_as(Principal("anna")):
        view.denied(DENIAL)
    [event] = events(tmp_path / "audit.jsonl")
    assert event.pop("time")
    assert event == {
        "event": "denial",
        "principal": "anna",
        "plugin": "p",
        "tool": "open",
        "host": "h.example.org",
        "reason": "host_not_granted",
        "grant": 'x += "h"',
    }


@pytest.mark.parametrize("failure", ["continue", "refuse"])
def test_the_setting_decides_whether_calls_run_without_the_log(
    tmp_path: Path, failure: str
) -> None:
    view = operations(tmp_path, failure)
    disk = FullDisk(0)
    assert view.audit is not None
    view.audit._write_bytes = disk
    view.denied(DENIAL)

    async def run() -> str:
        return "ran"

    async def call() -> str:
        return await view.call("echo", run)

    if failure == "continue":
        assert asyncio.run(call()) == "ran"
        assert view.gauges.readiness().reasons == ("starting",)
    else:
        with pytest.raises(AuditUnavailableError) as caught:
            asyncio.run(call())
        assert caught.value.error_code == "storage"
        assert "audit_log" in view.gauges.readiness().reasons
    disk.room = 10**6
    assert asyncio.run(call()) == "ran"
    assert "audit_log" not in view.gauges.readiness().reasons
    assert events(tmp_path / "audit.jsonl")[0]["reason"] == "host_not_granted"


def test_a_hidden_tool_is_a_denial(tmp_path: Path, code_folder: Path) -> None:
    grant = {"allowed_hosts": [HOST], "secrets": ["key"], "tools": ["nothing"]}
    plugins = {"probe": {"url": probe_plugin(tmp_path), "runtime_config": grant}}
    audit = tmp_path / "audit.jsonl"
    with (
        an_upstream() as upstream,
        OperatedServer(
            tmp_path, upstream, code_folder, plugins=plugins, server={"audit_log": str(audit)}
        ) as server,
    ):
        server.ready()
        server.open("https://api.example.org/v1/x")
        [event] = [one for one in events(audit) if one["event"] == "denial"]
        assert event["reason"] == "tool_hidden"
        assert event["grant"] == 'plugins.probe.runtime_config.tools += "open"'


def test_a_server_records_denials_refusals_and_changed_grants_and_follows_a_rotation(
    tmp_path: Path, code_folder: Path
) -> None:
    audit = tmp_path / "audit.jsonl"
    with (
        an_upstream() as upstream,
        OperatedServer(tmp_path, upstream, code_folder, server={"audit_log": str(audit)}) as server,
    ):
        server.ready()
        server.open("https://other.example.org/secret/path")
        server.post(b"", headers={"host": "evil.example.org"})
        denial, refusal = events(audit)
        assert denial["host"] == "other.example.org"
        assert denial["reason"] == "host_not_declared"
        assert denial["method"] == "tools/call"
        assert denial["request_id"] == "1"
        assert refusal["refusal"] == "wrong-host"
        assert refusal["peer"].startswith("127.0.0.1:")
        assert "secret/path" not in audit.read_text("utf-8")

        audit.rename(tmp_path / "audit.jsonl.1")
        os.kill(server.process.pid, signal.SIGHUP)
        eventually(audit.exists)

        plugins = json.loads(server.file.read_text())["plugins"]
        plugins["probe"]["runtime_config"]["allowed_hosts"] = []
        server.configure(plugins=plugins)
        eventually(lambda: "grant_changed" in audit.read_text("utf-8"))
        [changed] = [one for one in events(audit) if one["event"] == "grant_changed"]
        assert changed["plugin"] == "probe"
        assert (changed["hosts_before"], changed["hosts"]) == ([HOST], [])
        assert server.stop()[0] == 0


def test_a_log_that_cannot_be_opened_ends_the_start(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.touch()
    path.chmod(0o644)
    words = command(server={"audit_log": str(path)})
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "may be read or written by others (mode 644); chmod 600 it" in done.stderr


def test_the_command_records_approvals_and_revocations(tmp_path: Path, code_folder: Path) -> None:
    audit, file = tmp_path / "audit.jsonl", tmp_path / "carrel.json"
    file.write_text(
        json.dumps(
            {
                "cache_dir": str(code_folder),
                "data_dir": str(tmp_path / "data"),
                "server": {"audit_log": str(audit)},
                "plugins": {"probe": {"url": probe_plugin(tmp_path)}},
            }
        )
    )

    def lock(*words: str) -> subprocess.CompletedProcess[str]:
        command_ = [sys.executable, "-m", "carrel", "--config", str(file), "plugin", "lock", *words]
        return subprocess.run(command_, capture_output=True, text=True, check=False)

    assert lock("probe").returncode == 1  # not approved
    assert not audit.exists()
    assert lock("probe", "--yes").returncode == 0
    assert lock("--remove", "probe").returncode == 0
    approval, revocation = events(audit)
    assert approval["event"] == "approval"
    assert approval["plugin"] == "probe"
    assert approval["by"]
    assert approval["digest"].startswith("sha256:")
    assert approval["hosts"] == [HOST]
    assert any("tool new" in line or "tool open" in line for line in approval["changes"])
    assert (revocation["event"], revocation["plugin"]) == ("revocation", "probe")
    audit.chmod(0o644)
    refused = lock("probe", "--yes")
    assert refused.returncode == 2
    assert "may be read or written by others" in refused.stderr
    assert "probe" not in (tmp_path / "carrel.lock").read_text("utf-8")


class _State:
    """The part of `PluginState` that is recorded."""

    def __init__(self, name: str, **changes: Any) -> None:
        self.name = name
        self.url = "oci://registry.example.org/p:1"
        self.digest: str | None = "d1"
        self.signer: str | None = None
        self.granted: tuple[str, ...] = ("h",)
        self.locked: bool | None = True
        self.enabled = True
        vars(self).update(changes)


class _Toolbox:
    def __init__(self, *states: _State) -> None:
        self._states = states

    def known_plugins(self) -> tuple[_State, ...]:
        return self._states


@pytest.mark.parametrize(
    ("before", "after", "event"),
    [
        ([], [_State("p")], "approval_used"),
        ([_State("p")], [_State("p", digest="d2")], "approval_used"),
        ([_State("p", locked=None)], [_State("p")], "approval_used"),
        ([_State("p")], [_State("p")], None),
        ([_State("p")], [_State("p", locked=None)], "approval_removed"),
        ([_State("p")], [], "approval_removed"),
        (
            [_State("p", locked=None)],
            [_State("p", locked=None, granted=("h", "i"))],
            "grant_changed",
        ),
        ([_State("p", locked=None)], [_State("p", locked=None, enabled=False)], "plugin_disabled"),
        ([_State("p", locked=None, enabled=False)], [_State("p", locked=None)], "plugin_enabled"),
    ],
)
def test_a_reload_records_what_changed_in_approvals(
    tmp_path: Path, before: list[_State], after: list[_State], event: str | None
) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    record: Callable[..., None] = record_changes
    record(log, _Toolbox(*before), _Toolbox(*after))
    log.close()
    assert [one["event"] for one in events(log.path)] == ([] if event is None else [event])


class _Listed(_Toolbox):
    """A toolbox that a loader can start with."""

    def tools(self) -> tuple[()]:
        return ()

    resource_templates = listed = tools

    @property
    def prompts(self) -> Any:
        return self


def test_the_approvals_that_a_server_starts_with_are_recorded(tmp_path: Path) -> None:
    """A lock may come by version control, and a server may be started anew instead of reloaded."""
    states = _State("p"), _State("own", locked=None), _State("off", locked=None, enabled=False)
    make: Any = lambda: _Listed(*states)  # noqa: E731
    view = operations(tmp_path)

    async def start() -> None:
        loader = ToolboxLoader(make)
        view.attach(loader)
        await loader.start()

    asyncio.run(start())
    [event] = events(tmp_path / "audit.jsonl")
    assert (event["event"], event["plugin"]) == ("approval_used", "p")
    assert (event["digest"], event["hosts"]) == ("sha256:d1", ["h"])
