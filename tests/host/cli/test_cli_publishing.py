"""Tests `carrel plugin push` and `pull` as processes, with a real registry."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import carrel as package
from carrel.cli.publishing import registry_settings, settings_for
from carrel.config import Config, FetchConfig, RegistryConfig
from carrel.oci.reference import parse_reference
from carrel.oci.settings import RegistrySettings
from support.command_line import CommandLine
from support.guests import guest
from support.manifests import manifest_text
from support.registries import Registry, docker_registry
from support.tiny_registry import TinyRegistry, digest_of, tiny_registry

pytestmark = pytest.mark.long("matrix")

ARXIV = Path(package.__file__).parent / "components" / "arxiv.wasm"
MODULE = b"\0asm\x01\x00\x00\x00"


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("home"), real=True)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with docker_registry(tmp_path_factory.mktemp("registry"), with_login=True) as running:
        yield running


@pytest.fixture
def logged_in(registry: Registry) -> dict[str, str]:
    """Returns an environment with the password."""
    return {"DOCKER_CONFIG": str(registry.docker_config)}


def test_a_pushed_plugin_can_be_pulled(
    carrel: CommandLine, registry: Registry, logged_in: dict[str, str]
) -> None:
    name = f"{registry.host}/plugins/arxiv:0.1.0"
    pushed = carrel("plugin", "push", str(ARXIV), name, "--plain-http", env=logged_in)
    assert (pushed.code, pushed.err) == (0, "")
    published = json.loads(pushed.out)
    assert published["reference"] == f"oci://{name}"
    assert published["size"] == ARXIV.stat().st_size
    words = ("plugin", "pull", f"oci://{name}", "--plain-http", "--output", "got.wasm")
    pulled = carrel(*words, env=logged_in)
    assert (pulled.code, pulled.err) == (0, "")
    got = json.loads(pulled.out)
    assert (got["digest"], got["layout"], got["ignored"]) == (published["digest"], "cncf", [])
    assert got["annotations"]["org.opencontainers.image.title"] == "arXiv"
    assert (carrel.home / "got.wasm").read_bytes() == ARXIV.read_bytes()
    config = json.loads(
        registry.run("oras", "manifest", "fetch-config", "--plain-http", name)
    )["component"]  # fmt: skip
    assert config["exports"] == ["carrel:plugin/source@1.0.0"]
    assert "carrel:plugin/http@1.0.0" in config["imports"]


def test_a_core_module_of_another_plugin_system_is_published_as_it_is(
    carrel: CommandLine, registry: Registry, logged_in: dict[str, str]
) -> None:
    file = carrel.write("module.wasm", MODULE)
    name = f"{registry.host}/plugins/module:1"
    assert carrel("plugin", "push", file, name, "--plain-http", env=logged_in).code == 0
    got = carrel("plugin", "pull", name, "--plain-http", "--output", "m.wasm", env=logged_in)
    assert got.code == 0
    assert (carrel.home / "m.wasm").read_bytes() == MODULE


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["pull", "arxiv:1"], 2, "no registry host"),
        (
            ["pull", "{host}/plugins/none:1", "--plain-http"],
            1,
            "/plugins/none has no tag 1; check",
        ),
        (["pull", "{host}/plugins/none:1"], 1, "a registry that speaks http only"),
        (
            ["push", "none.wasm", "{host}/a:1", "--plain-http"],
            2,
            "none.wasm: there is no such file",
        ),
        (["push", "text.wasm", "{host}/a:1", "--plain-http"], 1, "text.wasm: not WebAssembly"),
        (["push", "broken.wasm", "{host}/a:1", "--plain-http"], 1, "broken"),
        (["push", "module.wasm", "{host}/a", "--plain-http"], 2, "write {host}/a:TAG"),
        (["pull", "127.0.0.1:1/a:1", "--plain-http"], 1, "no connection to 127.0.0.1:1"),
    ],
)
def test_errors_are_one_line_with_a_remedy(
    carrel: CommandLine,
    registry: Registry,
    logged_in: dict[str, str],
    *,
    words: list[str],
    code: int,
    says: str,
) -> None:
    carrel.write("text.wasm", "hello")
    carrel.write("module.wasm", MODULE)
    carrel.write("broken.wasm", b"\0asm\x0d\x00\x01\x00broken")
    done = carrel("plugin", *(one.format(host=registry.host) for one in words), env=logged_in)
    assert (done.code, done.out) == (code, "")
    assert says.format(host=registry.host) in done.err
    assert "Traceback" not in done.err


def test_an_unauthorised_request_names_the_login_command(
    carrel: CommandLine, registry: Registry
) -> None:
    done = carrel("plugin", "pull", f"{registry.host}/plugins/arxiv:0.1.0", "--plain-http")
    assert done.code == 1
    assert f"`docker login {registry.host}`" in done.err


def test_on_a_terminal_a_person_reads_it(
    carrel: CommandLine, registry: Registry, logged_in: dict[str, str]
) -> None:
    file = carrel.write("module.wasm", MODULE)
    name = f"{registry.host}/plugins/read:1"
    done = carrel.on_terminal("plugin", "push", file, name, "--plain-http", env=logged_in)
    assert done.code == 0
    assert "published" in done.out
    assert not done.out.lstrip().startswith("{")


def test_the_configuration_has_the_registrys_settings(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    file = carrel.write("module.wasm", MODULE)
    with tiny_registry() as registry:
        name = f"{registry.host}/plugins/module:1"
        refused = carrel("plugin", "push", file, name)
        assert (refused.code, refused.out) == (1, "")
        config = carrel.write("carrel.toml", f'[registries."{registry.host}"]\nplain_http = true\n')
        pushed = carrel("--config", config, "plugin", "push", file, name)
        assert (pushed.code, pushed.err) == (0, "")
        pulled = carrel("--config", config, "plugin", "pull", name, "--output", "got.wasm")
        assert (pulled.code, pulled.err) == (0, "")
    assert (tmp_path / "got.wasm").read_bytes() == MODULE


def test_the_authorities_of_a_registry_come_from_the_configuration(tmp_path: Path) -> None:
    where = parse_reference("registry.example.org/plugins/a:1")
    own, all_of_them = tmp_path / "own.pem", tmp_path / "all.pem"
    fetch = FetchConfig(ca_bundle=all_of_them)
    registries = {where.host: RegistryConfig(ca_bundle=own, realms=("login.example.org",))}
    config = Config(tmp_path, tmp_path, fetch=fetch, registries=registries)
    settings = settings_for(config, where, plain_http=False)
    assert settings.ca_bundle == own
    assert settings.realm_hosts == {(where.host, "login.example.org")}
    other = parse_reference("other.example.org/a:1")
    assert settings_for(config, other, plain_http=False).ca_bundle == all_of_them


def test_a_file_is_published_whatever_is_locked_under_its_name(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    carrel.write("lists.wasm", guest(manifest=manifest_text(name="lists")).wasm)
    config = carrel.write("carrel.toml", '[plugins.lists]\nurl = "lists.wasm"\n')
    start = ("--config", config, "plugin")
    assert carrel(*start, "lock", "lists", "--yes").code == 0
    newer = guest(manifest=manifest_text(name="lists", version="0.2.0")).wasm
    (tmp_path / "new").mkdir()
    carrel.write("new/lists.wasm", newer)
    with tiny_registry() as registry:
        name = f"{registry.host}/plugins/lists:0.2.0"
        pushed = carrel(*start, "push", "new/lists.wasm", name, "--plain-http")
        assert (pushed.code, pushed.err) == (0, "")
        pulled = carrel(*start, "pull", name, "--plain-http", "--output", "got.wasm")
        assert json.loads(pulled.out)["annotations"]["org.opencontainers.image.version"] == "0.2.0"
    assert (tmp_path / "got.wasm").read_bytes() == newer


def test_options_extend_the_configured_registry() -> None:
    where = parse_reference("registry.example.org:5000/plugins/a:1")
    base = RegistrySettings(plain_http_hosts=frozenset({"other:1"}), retries=9)
    settings = registry_settings(where, plain_http=False, base=base)
    assert settings.private_hosts == {where.host}
    assert settings.plain_http_hosts == {"other:1"}
    assert settings.retries == 9
    plain = registry_settings(where, plain_http=True, base=base)
    assert plain.plain_http_hosts == {"other:1", where.host}


class Stalling:
    """A registry with one plugin; the download of its component stops in the middle.

    Attributes:
        digest: the component's.
        wasm: the component.
    """

    STALL = 100_000

    def __init__(self, registry: TinyRegistry, carrel: CommandLine) -> None:
        self.wasm = MODULE + bytes(range(256)) * 2_000
        self.digest = digest_of(self.wasm)
        self.words = ("plugin", "pull", f"{registry.host}/plugins/large:1", "--plain-http")
        self._registry, self._carrel = registry, carrel
        file = carrel.write("large.wasm", self.wasm)
        assert carrel("plugin", "push", file, *self.words[2:]).code == 0

    @contextmanager
    def stalled(self) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """Yields a pull that has stopped in the middle, and the file of its partial download."""
        self._registry.stall_after = self.STALL
        with self._carrel.start(*self.words) as process:
            try:
                yield process, self._wait()
            finally:
                process.kill()

    def _wait(self) -> Path:
        until = time.monotonic() + 30
        name = self.digest.removeprefix("sha256:")
        while time.monotonic() < until:
            for path in self._carrel.home.rglob(f"partial/{name}"):
                if path.stat().st_size == self.STALL:
                    return path
            time.sleep(0.01)
        raise AssertionError("what has come is not on the disk")

    def go_on(self) -> None:
        """Sends the rest."""
        self._registry.go_on.set()

    @property
    def ranges(self) -> list[str | None]:
        """Returns the Range header of each request for the component."""
        return self._registry.ranges[self.digest]


@pytest.fixture
def stalling(tmp_path: Path) -> Iterator[Stalling]:
    with tiny_registry() as registry:
        yield Stalling(registry, CommandLine(tmp_path, real=True))


@pytest.mark.skipif(os.name != "posix", reason="flock and signals are POSIX's")
@pytest.mark.requirement("registry:store:resumed")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_next_pull_resumes_an_interrupted_one(
    stalling: Stalling, tmp_path: Path, ending: signal.Signals
) -> None:
    with stalling.stalled() as (process, file):
        process.send_signal(ending)
        assert process.wait(10) != 0
        assert file.read_bytes() == stalling.wasm[: stalling.STALL]
    done = CommandLine(tmp_path, real=True)(*stalling.words, "--output", "got.wasm")
    assert (done.code, done.err) == (0, "")
    assert stalling.ranges == [None, f"bytes={stalling.STALL}-"]
    assert (tmp_path / "got.wasm").read_bytes() == stalling.wasm
    assert not file.exists()


@pytest.mark.skipif(os.name != "posix", reason="flock is POSIX's")
@pytest.mark.requirement("registry:store:one-writer")
def test_a_pull_does_not_wait_for_another_of_the_same_plugin(
    stalling: Stalling, tmp_path: Path
) -> None:
    with stalling.stalled() as (process, file):
        done = CommandLine(tmp_path, real=True)(*stalling.words)
        assert (done.code, done.err) == (0, "")
        assert stalling.ranges == [None, None]
        assert file.stat().st_size == stalling.STALL
        stalling.go_on()
        assert process.wait(30) == 0
    assert not file.exists()
    kept = file.parents[1] / "blobs" / "sha256" / file.name
    assert kept.read_bytes() == stalling.wasm
