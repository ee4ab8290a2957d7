"""`carrel plugin push` and `pull` against a real registry, as whole processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel as package
from carrel.cli.publishing import registry_settings
from carrel.oci.reference import parse_reference
from carrel.oci.settings import RegistrySettings
from support.command_line import CommandLine
from support.registries import Registry, docker_registry

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
    """The environment of somebody who has the password."""
    return {"DOCKER_CONFIG": str(registry.docker_config)}


def test_a_plugin_goes_into_a_registry_and_out_of_it(
    carrel: CommandLine, registry: Registry, logged_in: dict[str, str]
) -> None:
    name = f"{registry.host}/plugins/arxiv:0.1.0"
    pushed = carrel("plugin", "push", str(ARXIV), name, "--plain-http", env=logged_in)
    assert (pushed.code, pushed.err) == (0, "")
    told = json.loads(pushed.out)
    assert told["reference"] == f"oci://{name}"
    assert told["size"] == ARXIV.stat().st_size
    words = ("plugin", "pull", f"oci://{name}", "--plain-http", "--output", "got.wasm")
    pulled = carrel(*words, env=logged_in)
    assert (pulled.code, pulled.err) == (0, "")
    got = json.loads(pulled.out)
    assert (got["digest"], got["layout"], got["ignored"]) == (told["digest"], "cncf", [])
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
        (["pull", "{host}/plugins/none:1", "--plain-http"], 1, "has no plugins/none with tag 1"),
        (["pull", "{host}/plugins/none:1"], 1, "a registry that speaks http only"),
        (["push", "none.wasm", "{host}/a:1", "--plain-http"], 1, "none.wasm: No such file"),
        (["push", "text.wasm", "{host}/a:1", "--plain-http"], 1, "text.wasm: not WebAssembly"),
        (["push", "broken.wasm", "{host}/a:1", "--plain-http"], 1, "broken"),
        (["push", "module.wasm", "{host}/a", "--plain-http"], 2, "write {host}/a:TAG"),
        (["pull", "127.0.0.1:1/a:1", "--plain-http"], 1, "no connection to 127.0.0.1:1"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line_with_what_to_do(
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


def test_somebody_without_the_password_is_told_how_to_log_in(
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


def test_what_is_typed_adds_to_what_the_configuration_says() -> None:
    where = parse_reference("registry.example.org:5000/plugins/a:1")
    base = RegistrySettings(plain_http_hosts=frozenset({"other:1"}), retries=9)
    settings = registry_settings(where, plain_http=False, base=base)
    assert settings.private_hosts == {where.host}
    assert settings.plain_http_hosts == {"other:1"}
    assert settings.retries == 9
    plain = registry_settings(where, plain_http=True, base=base)
    assert plain.plain_http_hosts == {"other:1", where.host}
