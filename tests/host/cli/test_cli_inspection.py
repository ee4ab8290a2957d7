"""Tests `carrel plugin inspect` and `carrel doctor`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from carrel.cli.doctor import examine
from carrel.cli.inspection import inspect_plugin
from carrel.cli.online import ask_hosts
from carrel.cli.session import Options, Session
from carrel.config import Config, PluginConfig
from carrel.exchange import Call, Failure, FailureKind, Outcome, Request, Response
from carrel.fetch.policy.manifest import read_policy
from carrel.plugins.manifests.manifest import Manifest, parse_manifest
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.state import PluginState
from carrel.runtime import ffi
from carrel.runtime.ffi.choice import Interface
from carrel.runtime.imported_names import imported_names
from support.command_line import CommandLine
from support.guests import assemble, guest
from support.manifests import manifest_text
from support.redis_process import RedisProcess


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


@pytest.fixture
def component(tmp_path: Path) -> Path:
    """Returns a component that imports the contract's http and declares two hosts."""
    hosts = [{"host": host, "methods": ["GET"]} for host in ("api.example.org", "cdn.example.org")]
    secrets = [{"name": "key", "hosts": ["api.example.org"], "attach": {"query": "key"}}]
    path = tmp_path / "sample.wasm"
    path.write_bytes(
        guest(fetching=True, manifest=manifest_text(hosts=hosts, secrets=secrets)).wasm
    )
    return path


def inspected(component: Path, tmp_path: Path, **entry: Any) -> dict[str, Any]:
    plugin = PluginConfig("sample", component.as_uri(), **entry)
    config = Config(tmp_path / "cache", tmp_path / "data", plugins=(plugin,))
    plugin_set = PluginSet(config)
    try:
        [state] = plugin_set.states()
    finally:
        plugin_set.close()
    return inspect_plugin(config, plugin, state)


class TestRelativeAddress:
    def test_every_command_finds_the_component_beside_the_configuration(
        self, carrel: CommandLine, component: Path, tmp_path: Path
    ) -> None:
        operator = tmp_path / "operator"
        (operator / "plugins").mkdir(parents=True)
        component.rename(operator / "plugins" / "sample.wasm")
        text = '[plugins.sample]\nurl = "plugins/sample.wasm"\n'
        config = carrel.write("operator/carrel.toml", text)
        start = ("--config", config, "plugin")
        locked = carrel(*start, "lock", "sample", "--yes")
        assert locked.code == 0, locked.err
        report = json.loads(carrel(*start, "inspect", "sample").out)
        assert report["url"] == (operator / "plugins" / "sample.wasm").as_uri()
        assert report["locked"] is True
        listed = json.loads(carrel(*start, "list").out)
        [sample] = [one for one in listed if one["name"] == "sample"]
        assert sample["state"] == "ready"
        assert carrel("--config", config, "doctor").code in {0, 1}


class TestInspect:
    @pytest.mark.requirement("sandbox:hosts:inspect-shows-manifest-and-grant")
    def test_inspect_shows_granted_refused_and_unused_grants(
        self, component: Path, tmp_path: Path
    ) -> None:
        report = inspected(
            component, tmp_path, allowed_hosts=("api.example.org", "elsewhere.example.net")
        )
        assert {host["host"]: host["granted"] for host in report["hosts"]} == {
            "api.example.org": True,
            "cdn.example.org": False,
        }
        assert report["in_vain"] == [
            "plugins.sample.runtime_config.allowed_hosts: elsewhere.example.net"
        ]

    def test_it_shows_tools_formats_limits_digest_and_imports(
        self, component: Path, tmp_path: Path
    ) -> None:
        report = inspected(component, tmp_path, limits={"cpu_seconds": 2.0}, skip_tools=("ec.*",))
        assert report["digest"].startswith("sha256:")
        assert [(tool["name"], tool["skipped"]) for tool in report["tools"]] == [
            ("sample_echo", True)
        ]
        assert [one["name"] for one in report["formats"]] == ["note"]
        assert report["limits"]["cpu_seconds"] == 2.0
        assert report["imports"] == ["carrel:plugin/http@1.0.0"]

    @pytest.mark.requirement("sandbox:secrets:inspect-shows-names-only")
    def test_inspect_shows_whether_a_secret_is_set_and_not_its_value(
        self, carrel: CommandLine, component: Path
    ) -> None:
        env = {"CARREL_SECRET_SAMPLE_KEY": "hunter2"}
        carrel.write("c.toml", f'plugins.sample.url = "{component.as_uri()}"')
        done = carrel("plugin", "inspect", "sample", "--config", "c.toml", env=env)
        assert done.code == 0
        assert json.loads(done.out)["secrets"] == [
            {
                "name": "key",
                "granted": False,
                "set": True,
                "from": "CARREL_SECRET_SAMPLE_KEY",
            }
        ]
        assert "hunter2" not in done.out + done.err

    def test_a_file_is_shown_with_an_empty_grant(
        self, carrel: CommandLine, component: Path
    ) -> None:
        done = carrel("plugin", "inspect", str(component))
        assert done.code == 0
        report = json.loads(done.out)
        assert (report["plugin"], report["version"]) == ("sample", "0.1.0")
        assert [host["granted"] for host in report["hosts"]] == [False, False]

    def test_a_file_is_not_checked_against_the_lock_of_a_plugin_with_its_name(
        self, carrel: CommandLine, component: Path, tmp_path: Path
    ) -> None:
        config = carrel.write("carrel.toml", '[plugins.sample]\nurl = "sample.wasm"\n')
        start = ("--config", config, "plugin")
        assert carrel(*start, "lock", "sample", "--yes").code == 0
        newer = tmp_path / "newer"
        newer.mkdir()
        (newer / "sample.wasm").write_bytes(guest(manifest=manifest_text()).wasm)
        refused = carrel(*start, "inspect", "none.wasm")
        assert "there is no such file" in refused.err
        done = carrel(*start, "inspect", str(newer / "sample.wasm"))
        assert (done.code, done.err) == (0, "")
        report = json.loads(done.out)
        assert report["locked"] is None
        assert report["version"] == "0.1.0"
        # The configured plugin is still held.
        component.write_bytes((newer / "sample.wasm").read_bytes())
        assert "not what was approved" in carrel(*start, "inspect", "sample").err

    @pytest.mark.parametrize(
        ("data", "says"),
        [(b"", "empty"), (b"\0asm\x01\0\0\0", "core module"), (b"<html>", "not WebAssembly")],
    )
    def test_a_file_that_is_no_component_is_refused_with_the_reason(
        self, carrel: CommandLine, data: bytes, says: str
    ) -> None:
        done = carrel("plugin", "inspect", carrel.write("p.wasm", data))
        assert done.code == 1
        assert says in done.err
        assert json.loads(done.out)["error"]["code"] == "plugin_unavailable"

    def test_a_missing_file_is_named(self, carrel: CommandLine) -> None:
        done = carrel("plugin", "inspect", "none.wasm")
        assert done.code == 2
        assert "none.wasm: there is no such file" in done.err

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_a_person_gets_tables(self, carrel: CommandLine, component: Path) -> None:
        done = carrel.on_terminal("plugin", "inspect", str(component), env={"TERM": "dumb"})
        assert done.code == 0
        for words in ("Hosts", "api.example.org", "nothing", "Limits", "Imports", "sample_echo"):
            assert words in done.out

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    @pytest.mark.parametrize("name", ["arxiv", "crossref", "eutils"])
    def test_80_columns_hold_every_fact_in_one_piece(self, carrel: CommandLine, name: str) -> None:
        report = json.loads(carrel("plugin", "inspect", name).out)
        done = carrel.on_terminal("plugin", "inspect", name, env={"NO_COLOR": "1"}, columns=80)
        assert done.code == 0
        assert max(len(line) for line in done.out.splitlines()) <= 80
        words = set(done.out.split())
        facts = [report["digest"], report["url"], *report["imports"]]
        for item in report["policy"]:
            if item["kind"] == "lookup":
                facts += item["name"].split()
                continue
            facts += [*item["name"].split(), *item["asked"].split(), *item["granted"].split()]
            facts += item["grant"].removesuffix(" = …").split()[-1:] * (item["kind"] == "pace")
        below = ("/entrez/eutils/",)  # these paths are part of one that the output shows
        assert [fact for fact in facts if fact not in words and not fact.startswith(below)] == []

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    @pytest.mark.parametrize("columns", [80, 200])
    def test_requested_and_granted_have_separate_columns(
        self, carrel: CommandLine, columns: int
    ) -> None:
        env = {"NO_COLOR": "1"}
        done = carrel.on_terminal("plugin", "inspect", "eutils", env=env, columns=columns)
        lines = [line.rstrip() for line in done.out.splitlines()]
        shown = lines[lines.index("Hosts") + 1 :]
        shown = shown[: shown.index("")]
        eutils, pmc = "GET, POST /entrez/eutils", "GET /tools/idconv/api/v1/articles"
        if columns == 80:
            assert shown == [
                "host",
                "  asked                              granted",
                "eutils.ncbi.nlm.nih.gov",
                f"  {eutils}           {eutils}",
                "pmc.ncbi.nlm.nih.gov",
                f"  {pmc}  {pmc}",
            ]
        else:
            assert [line.split()[0] for line in shown] == [
                "host",
                "eutils.ncbi.nlm.nih.gov",
                "pmc.ncbi.nlm.nih.gov",
            ]
            assert {line.index("GET") for line in shown[1:]} == {shown[0].index("asked")}
            assert {line.rindex("GET") for line in shown[1:]} == {shown[0].index("granted")}

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    @pytest.mark.parametrize("name", ["arxiv", "crossref", "eutils"])
    def test_no_row_is_there_twice_and_no_column_is_empty(
        self, carrel: CommandLine, name: str
    ) -> None:
        done = carrel.on_terminal("plugin", "inspect", name, env={"NO_COLOR": "1"}, columns=200)
        for block in done.out.replace(" \n", "\n").split("\n\n"):
            rows = [line.rstrip() for line in block.splitlines()]
            assert len(rows) == len(set(rows))
            assert "refused" not in rows[1:2]

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    @pytest.mark.parametrize("columns", [80, 60, 40])
    def test_no_column_is_narrower_than_its_words(
        self, carrel: CommandLine, tmp_path: Path, columns: int
    ) -> None:
        host = "a-rather-long-name.of-a-host.example.org"
        hosts = [{"host": host, "methods": ["GET", "POST"], "paths": ["/v1/works", "/v1/people"]}]
        path = tmp_path / "sample.wasm"
        path.write_bytes(guest(manifest=manifest_text(hosts=hosts)).wasm)
        env = {"NO_COLOR": "1"}
        done = carrel.on_terminal("plugin", "inspect", "sample.wasm", env=env, columns=columns)
        lines = [line.rstrip() for line in done.out.splitlines()]
        assert max(len(line) for line in lines) <= columns
        [start] = [number for number, line in enumerate(lines) if line == "Hosts"]
        shown = lines[start + 1 : lines.index("", start)]
        asked = "GET, POST /v1/works, /v1/people"
        if columns == 80:
            assert shown[0].split() == ["host", "asked", "granted"]
            assert " ".join(" ".join(shown[1:]).split()) == (
                f"{host} GET, POST /v1/works, nothing /v1/people"
            )
        else:
            words = " ".join(" ".join(shown).split())
            rest = asked.rpartition(" ") if columns == 40 else (asked, "", "")
            assert words == f"host asked granted {host} {rest[0]} nothing {rest[2]}".strip()

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_partly_refused_requests_have_a_column(
        self, carrel: CommandLine, component: Path, tmp_path: Path
    ) -> None:
        grant = '[{host = "api.example.org", methods = ["GET"], paths = ["/only"]}]'
        text = f'[plugins.sample]\nurl = "{component.name}"\n'
        text += f"runtime_config.allowed_hosts = {grant}\n"
        text += "runtime_config.skip_tools = ['echo']\n"
        config = carrel.write("carrel.toml", text)
        env = {"NO_COLOR": "1"}
        done = carrel.on_terminal("--config", config, "plugin", "inspect", "sample", env=env)
        lines = [line.split() for line in done.out.splitlines()]
        assert ["host", "asked", "granted", "refused"] in lines
        row = ["api.example.org", "GET", "every", "path", "GET", "/only", "other", "paths"]
        assert row in lines
        assert ["cdn.example.org", "GET", "every", "path", "nothing"] in lines
        assert ["sample_echo", "listed", "hidden"] in lines

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_a_terminal_error_names_the_setting_and_the_file(
        self, carrel: CommandLine, component: Path, tmp_path: Path
    ) -> None:
        config = carrel.write("carrel.toml", f'[plugins.sample]\nurl = "{component.name}"\n')
        env = {"NO_COLOR": "1"}
        done = carrel.on_terminal("--config", config, "plugin", "inspect", "sample", env=env)
        seen = [line.strip() for line in done.out.splitlines()]
        at = seen.index("To grant what is refused, change carrel.toml")
        assert seen[at + 1 : at + 4] == [
            'add "api.example.org" to plugins.sample.runtime_config.allowed_hosts',
            'add "cdn.example.org" to plugins.sample.runtime_config.allowed_hosts',
            'add "key" to plugins.sample.runtime_config.secrets',
        ]
        done = carrel.on_terminal("plugin", "inspect", component.name, env=env)
        text = "".join(done.out.split())
        assert f"change{tmp_path}/.config/carrel/carrel.toml" in text
        assert f'setplugins.sample.url="{component.as_uri()}"' in text


class TestImportedNames:
    def test_every_kind_of_import_is_named(self) -> None:
        wat = """(component
          (import "a:b/instance" (instance (export "f" (func))))
          (import "function" (func (param "x" string)))
          (import "resource" (type (sub resource)))
          (import "alias" (type (eq 0)))
          (import "module" (core module))
          (import "inner" (component))
          (import "last" (func)))"""
        names = ["a:b/instance", "function", "resource", "alias", "module", "inner", "last"]
        assert imported_names(assemble(wat).wasm) == names

    def test_a_truncated_component_ends_only_the_list(self) -> None:
        wasm = assemble('(component (import "one" (func)) (import "two" (func)))').wasm
        for length in range(len(wasm)):
            assert set(imported_names(wasm[:length])) <= {"one", "two"}


class AnsweringAccess:
    """Fake access to hosts that respond, except those listed as down."""

    def __init__(self, down: Sequence[str]) -> None:
        self.down = down
        self.manifest: Manifest | None = None
        self.closed = False

    def fetcher(self, entry: PluginConfig, manifest: Manifest, /) -> AnsweringAccess:
        self.manifest = manifest
        return self

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        return [
            Failure(FailureKind.UNREACHABLE, request.url, "no connection")
            if request.url.split("/")[2] in self.down
            else Response(404, request.url, (), "")
            for request in requests
        ]

    def close(self) -> None:
        self.closed = True


class TestOnline:
    def test_every_granted_host_is_queried_at_its_rate_limit(self, tmp_path: Path) -> None:
        pace = {"interval_ms": 3000, "upstream": "slow"}
        hosts = [
            {"host": "a.example.org", "methods": ["GET"], "paths": ["/api"], "pace": pace},
            {"host": "b.example.org", "methods": ["GET"]},
            {"host": "*.example.org", "methods": ["GET"]},
            {"host": "refused.example.org", "methods": ["GET"]},
        ]
        state = PluginState(
            name="sample",
            url="builtin:sample",
            enabled=True,
            digest=None,
            manifest=parse_manifest(manifest_text(hosts=hosts), "sample"),
            granted=("a.example.org", "b.example.org", "*.example.org"),
            error=None,
        )
        access = AnsweringAccess(down=["b.example.org"])
        config = Config(tmp_path, tmp_path, plugins=(PluginConfig("sample", "builtin:sample"),))
        answers = ask_hosts(config, [state], access=access)
        assert [answer["host"] for answer in answers] == ["a.example.org", "b.example.org"]
        assert answers[0]["status"] == 404
        assert answers[1]["error"] == "no connection"
        assert access.closed
        assert access.manifest is not None
        policy, secrets = read_policy(access.manifest.raw, granted=None, provided={"k": "v"})
        [rule] = [rule for rule in policy.rules if rule.host == "a.example.org"]
        assert (rule.pace.interval, rule.pace.upstream) == (3.0, "slow")
        assert rule.methods == {"HEAD"}
        assert secrets == ()


class TestDoctor:
    @pytest.fixture
    def session(self) -> Session:
        from support.fake_carrel import FakeHost

        return Session(opener=cast("Any", FakeHost))

    def test_a_mistyped_variable_is_a_problem_with_the_nearest_name(self, session: Session) -> None:
        report = examine(session, online=False, env={"CARREL_CONTCAT": "me@example.org"})
        assert not report["ok"]
        assert "CARREL_CONTCAT" in report["problems"][0]
        assert "did you mean CARREL_CONTACT?" in report["problems"][0]
        assert "me@example.org" not in json.dumps(report)

    @pytest.mark.requirement("sandbox:secrets:doctor-shows-names-only")
    def test_variables_are_named_and_never_shown(self, session: Session) -> None:
        env = {
            "CARREL_SECRET_API_KEY": "hunter2",
            "CARREL_CONTACT": "me@example.org",
            "NCBI_API_KEY": "hunter2",
            "NCBI_ADMIN_EMAIL": "me@example.org",
            "NCBI_TOOL_IDENTIFIER": "pubmed-desk/2",
            "HOME": "elsewhere",
        }
        report = examine(session, online=False, env=env)
        assert report["environment"] == [
            "CARREL_CONTACT",
            "CARREL_SECRET_API_KEY",
            "NCBI_ADMIN_EMAIL",
            "NCBI_API_KEY",
            "NCBI_TOOL_IDENTIFIER",
        ]
        assert report["ok"]
        assert "hunter2" not in json.dumps(report)
        assert "me@example.org" not in json.dumps(report)

    @pytest.mark.requirement("sandbox:secrets:doctor-shows-no-password")
    def test_the_redis_server_is_examined_without_its_password(
        self, session: Session, tmp_path: Path, redis_process: RedisProcess
    ) -> None:
        path = tmp_path / "c.toml"
        path.write_text(f'store = "{redis_process.url}"', "utf-8")
        report = examine(session.with_options(config=path), online=False, env={})
        store = report["store"]
        assert (store["kind"], store["where"]) == (
            "redis", f"redis://127.0.0.1:{redis_process.port}/0",
        )  # fmt: skip
        assert store["password"] is True
        assert report["ok"], report["problems"]
        assert not {"p@ss", "p%40ss"} & set(re.findall("p@ss|p%40ss", json.dumps(report)))

    @pytest.mark.requirement("sandbox:secrets:doctor-shows-no-password")
    def test_a_redis_server_that_refuses_is_a_problem(
        self, session: Session, tmp_path: Path, redis_process: RedisProcess
    ) -> None:
        path = tmp_path / "c.toml"
        path.write_text(f'store = "redis://:hush@127.0.0.1:{redis_process.port}"', "utf-8")
        report = examine(session.with_options(config=path), online=False, env={})
        where = f"redis://127.0.0.1:{redis_process.port}/0"
        assert report["problems"] == [f"store {where}: user or password was refused; correct them"]
        assert "hush" not in json.dumps(report)

    @pytest.mark.parametrize("name", ["direct", "public"])
    def test_the_interface_to_wasmtime_is_named_with_its_reason(
        self, session: Session, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setattr(ffi, "INTERFACE", Interface(name, "a reason"))
        report = examine(session, online=False, env={})
        assert report["sandbox"] == {"interface": name, "reason": "a reason"}
        assert report["ok"]

    def test_an_interface_that_is_not_there_is_a_problem(self, session: Session) -> None:
        report = examine(session, online=False, env={ffi.VARIABLE: "fast"})
        assert report["problems"] == [
            f"environment: {ffi.VARIABLE} is 'fast'; it can be auto or public"
        ]
        assert examine(session, online=False, env={ffi.VARIABLE: "public"})["ok"]

    def test_faults_of_the_configuration_are_problems(
        self, session: Session, tmp_path: Path
    ) -> None:
        path = tmp_path / "c.toml"
        path.write_text("fetch.retries = -1\nfoo = 1")
        report = examine(session.with_options(config=path), online=False, env={})
        assert not report["ok"]
        assert len(report["problems"]) == 2

    def test_a_broken_plugin_makes_it_fail(self, carrel: CommandLine) -> None:
        carrel.write("c.toml", 'plugins.mine.url = "file:///nowhere/mine.wasm"')
        done = carrel("doctor", "--config", "c.toml")
        assert done.code == 1
        assert any("mine" in problem for problem in json.loads(done.out)["problems"])

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
    def test_a_folder_that_cannot_be_written_to_makes_it_fail(self, carrel: CommandLine) -> None:
        closed = carrel.home / "closed"
        closed.mkdir(mode=0o500)
        done = carrel("doctor", env={"CARREL_DATA_DIR": str(closed)})
        assert done.code == 1
        assert "cannot be written to" in done.out


def test_later_options_override_earlier_ones() -> None:
    session = Session(Options(config=Path("a"), debug=True))
    later = session.with_options(config=Path("b"), record=None, debug=False)
    assert later.options == Options(config=Path("b"), debug=True)
