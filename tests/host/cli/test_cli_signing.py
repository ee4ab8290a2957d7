"""Tests `carrel plugin sign`, `verify` and `keys` as processes, with a real registry."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel
from carrel.trust import privatekey
from support.command_line import CommandLine, Done
from support.http_repository import HttpRepository
from support.pages import page, shows
from support.registries import Registry, docker_registry, peer
from support.signed import artifact
from support.signing_keys import SigningKeys

pytestmark = pytest.mark.long("matrix")

PASSWORD = {"COSIGN_PASSWORD": "a long sentence of your own"}
COMPONENT = Path(carrel.__file__).parent / "components" / "arxiv.wasm"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture
def line(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


def test_a_key_pair_is_made_signs_and_is_verified(line: CommandLine, registry: Registry) -> None:
    made = line("plugin", "keys", "generate", env=PASSWORD)
    assert made.code == 0, made.err
    fingerprint = json.loads(made.out)["key"]
    assert stat.S_IMODE((line.home / "carrel.key").stat().st_mode) == 0o600
    name = f"{registry.host}/plugins/one"
    digest = artifact(HttpRepository(registry.host, "plugins/one"), "1")
    signed = line(
        "plugin", "sign", f"{name}:1", "--key", "carrel.key", "--plain-http", env=PASSWORD
    )
    assert signed.code == 0, signed.err
    assert json.loads(signed.out)["digest"] == digest
    verified = line("plugin", "verify", f"{name}:1", "--key", "carrel.pub", "--plain-http")
    assert verified.code == 0, verified.err
    assert json.loads(verified.out)["signer"] == {"kind": "key", "name": fingerprint, "issuer": ""}


@pytest.mark.requirement("plugin:signed:refused")
def test_a_plugin_not_signed_by_the_key_exits_with_3(
    line: CommandLine, registry: Registry, tmp_path: Path
) -> None:
    signing_keys = SigningKeys(tmp_path)
    (key,) = signing_keys.by_key().policy.keys
    artifact(HttpRepository(registry.host, "plugins/two"), "1")
    done = line(
        "plugin", "verify", f"{registry.host}/plugins/two:1", "--key", str(key), "--plain-http"
    )
    assert (done.code, done.out) == (3, "")
    assert "is not signed" in done.err


def test_without_options_the_configuration_names_the_signers(
    line: CommandLine, registry: Registry
) -> None:
    line("plugin", "keys", "generate", env=PASSWORD)
    line("plugin", "keys", "generate", "--output-prefix", "other", env=PASSWORD)
    registries = f'[registries."{registry.host}"]\nplain_http = true\n'
    for name in ("carrel", "other"):
        trust = f'[trust]\nkeys = ["{name}.pub"]\n'
        line.write(f"{name}.toml", trust + registries)
    artifact(HttpRepository(registry.host, "plugins/three"), "1")
    name = f"{registry.host}/plugins/three:1"
    signed = line(
        "--config", "carrel.toml", "plugin", "sign", name, "--key", "carrel.key", env=PASSWORD
    )
    assert signed.code == 0, signed.err
    assert line("--config", "carrel.toml", "plugin", "verify", name).code == 0
    assert line("--config", "other.toml", "plugin", "verify", name).code == 3


class Trusting:
    """A plugin that `carrel.key` signed, and configurations that trust `carrel` or `other`."""

    def __init__(self, line: CommandLine, registry: Registry) -> None:
        self.line, self.registry = line, registry
        for prefix in ("carrel", "other"):
            line("plugin", "keys", "generate", "--output-prefix", prefix, env=PASSWORD)
        self.reference = f"{registry.host}/plugins/trusting:1"
        artifact(HttpRepository(registry.host, "plugins/trusting"), "1")
        words = ("plugin", "sign", self.reference, "--key", "carrel.key", "--plain-http")
        assert line(*words, env=PASSWORD).code == 0

    def verify(self, subject: str, *words: str, top: str | None, **own: str | None) -> Done:
        """Verifies with a configuration that trusts a key globally and one in each plugin's entry.

        `""` is a table without keys; None means no table.
        """
        lines = [f'[registries."{self.registry.host}"]', "plain_http = true"]
        lines += ["[trust]", *self._keys(top)] if top is not None else []
        for name, trusted in own.items():
            lines += [f"[plugins.{name}]", f'url = "oci://{self.reference}"']
            lines += (
                [f"[plugins.{name}.trust]", *self._keys(trusted)] if trusted is not None else []
            )
        self.line.write("carrel.toml", "\n".join(lines) + "\n")
        return self.line("--config", "carrel.toml", "plugin", "verify", subject, *words)

    def _keys(self, trusted: str) -> list[str]:
        return [f'keys = ["{trusted}.pub"]'] if trusted else []


@pytest.fixture(scope="module")
def trusting(registry: Registry, tmp_path_factory: pytest.TempPathFactory) -> Trusting:
    return Trusting(CommandLine(tmp_path_factory.mktemp("trusting"), real=True), registry)


@pytest.mark.requirement("plugin:signed:own-trust")
@pytest.mark.parametrize("by_name", [True, False], ids=["name", "reference"])
def test_a_plugins_own_trust_table_takes_precedence(trusting: Trusting, *, by_name: bool) -> None:
    subject = "lists" if by_name else trusting.reference
    accepted = trusting.verify(subject, top="other", lists="carrel")
    assert accepted.code == 0, accepted.err
    assert json.loads(accepted.out)["reference"] == f"oci://{trusting.reference}"
    refused = trusting.verify(subject, top="carrel", lists="other")
    assert (refused.code, refused.out) == (3, "")
    assert "none of the accepted keys made it" in refused.err


@pytest.mark.requirement("plugin:signed:own-trust")
@pytest.mark.parametrize("by_name", [True, False], ids=["name", "reference"])
def test_a_plugin_without_one_is_verified_with_the_top_level_trust(
    trusting: Trusting, *, by_name: bool
) -> None:
    subject = "lists" if by_name else trusting.reference
    assert trusting.verify(subject, top="carrel", lists=None).code == 0
    assert trusting.verify(subject, top="other", lists=None).code == 3


@pytest.mark.requirement("plugin:signed:own-trust")
def test_a_trust_table_without_signers_is_refused(
    trusting: Trusting,
) -> None:
    done = trusting.verify("lists", top="carrel", lists="")
    assert done.code == 2
    assert "no signer is given" in done.err


def test_options_take_precedence_over_a_plugins_trust_table(trusting: Trusting) -> None:
    assert trusting.verify("lists", "--key", "carrel.pub", top=None, lists="other").code == 0
    assert trusting.verify("lists", "--key", "other.pub", top=None, lists="carrel").code == 3


def test_plugins_of_one_repository_with_different_trust_need_a_name(
    trusting: Trusting,
) -> None:
    both: dict[str, str | None] = {"lists": "carrel", "strict": "other"}
    done = trusting.verify(trusting.reference, top=None, **both)
    assert done.code == 2
    assert "lists, strict come from there and differ in their `trust`" in done.err
    assert trusting.verify("lists", top=None, **both).code == 0
    assert trusting.verify("strict", top=None, **both).code == 3
    both["strict"] = "carrel"
    assert trusting.verify(trusting.reference, top=None, **both).code == 0


def test_existing_keys_are_not_overwritten(line: CommandLine) -> None:
    line.write("mine.pub", "something")
    done = line("plugin", "keys", "generate", "--output-prefix", "mine", env=PASSWORD)
    assert done.code == 2
    assert (line.home / "mine.pub").read_text("utf-8") == "something"
    assert not (line.home / "mine.key").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "r.example.org/x:1"], "no signer is given"),
        (["verify", "r.example.org/x:1", "--identity", "a@b"], "go together"),
        (["verify", "no reference", "--key", "k.pub"], "no reference"),
        (["verify", "arxiv", "--key", "k.pub"], "builtin:arxiv is not in a registry"),
        (["verify", "arxvi", "--key", "k.pub"], "did you mean 'arxiv'?"),
        (["sign", "r.example.org/x:1", "--key", "k.pub"], "cannot be read"),
        (["sign", "r.example.org/x:1", "--key", "k.key"], "COSIGN_PASSWORD"),
    ],
)
def test_misuse_exits_with_2_and_names_the_fault(
    words: list[str], message: str, line: CommandLine
) -> None:
    key = privatekey.new_private_key()
    line.write("k.key", privatekey.write_private_key(key, b"x"))
    line.write("k.pub", privatekey.write_public_key(key))
    done = line("plugin", *words)
    assert done.code == 2
    assert message in done.err


@pytest.mark.requirement("sandbox:secrets:signing-key")
def test_a_wrong_password_shows_neither_password(line: CommandLine) -> None:
    secret = PASSWORD["COSIGN_PASSWORD"].encode()
    key = privatekey.write_private_key(privatekey.new_private_key(), secret)
    line.write("carrel.key", key)
    wrong = {"COSIGN_PASSWORD": "not-the-sentence"}
    done = line("--debug", "plugin", "sign", "r.example.org/x:1", "--key", "carrel.key", env=wrong)
    assert done.code == 2
    assert "password is wrong" in done.err
    assert "not-the-sentence" not in done.err
    assert PASSWORD["COSIGN_PASSWORD"] not in done.err


@pytest.mark.skipif(os.name == "nt", reason="the page shows a POSIX shell")
def test_the_how_to_works_with_a_real_registry_and_cosign(
    line: CommandLine, registry: Registry, tmp_path: Path
) -> None:
    """Runs the page's commands that need a network, in order, with a local registry."""
    signing_keys = SigningKeys(tmp_path)
    shutil.copy(COMPONENT, line.home / "lists.wasm")
    signer = signing_keys.leaf
    line.write("leaf.key", signing_keys.private_pem(signer.key))
    line.write("leaf.pem", signer.pem)
    line.write("chain.pem", signing_keys.root.pem)
    line.write("ca.pem", signing_keys.root.pem)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "cosign").symlink_to(peer("cosign3"))
    environment = line.environment(PASSWORD)
    path = [str(bin_folder), str(Path(sys.executable).parent), environment["PATH"]]
    environment["PATH"] = os.pathsep.join(path)
    ran = 0
    for block in page("docs/how-to/sign-and-verify.md").blocks:
        if "file" in block.marks:
            text = block.text.replace("registry.example.org", registry.host)
            line.write(block.marks["file"], text)
        if block.info != "console" or block.marks.get("not run") == "an extra":
            continue
        for part in re.split(r"(?m)^\$ ", block.text)[1:]:
            command, shown, code = _parts(part)
            command = command.replace("registry.example.org", registry.host)
            command = re.sub(r"\b(plugin (?:push|sign|verify)) ", r"\1 --plain-http ", command)
            command = command.replace("cosign verify", "cosign verify --allow-http-registry")
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=line.home,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
                check=False,
            )
            seen = done.stdout.replace(registry.host, "registry.example.org")
            assert done.returncode == code, f"$ {command}\n{seen}"
            assert not shown or shows(shown, seen), f"$ {command}\n{seen}"
            ran += 1
    assert ran >= 9


def _parts(text: str) -> tuple[str, str, int]:
    """Returns a command, the documented part of its output, and its exit code."""
    lines = text.splitlines()
    words = [lines.pop(0)]
    while words[-1].endswith("\\"):
        words.append(lines.pop(0))
    code = 0
    if lines and (status := re.fullmatch(r"\[exit (\d+)\]", lines[-1])):
        code = int(status[1])
        lines.pop()
    return "\n".join(words), "\n".join(lines), code
