"""Tests `carrel.lock`: approvals, refusals, and how it is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig, RegistryConfig, load_config
from carrel.errors import LoadError, LockError, SignatureError, StorageError
from carrel.oci.package import write_plugin
from carrel.oci.push import push
from carrel.oci.reference import parse_reference
from carrel.oci.registry import open_repository
from carrel.oci.settings import RegistrySettings
from carrel.plugins.approval.lock import LockEntry, changes
from carrel.plugins.approval.lockfile import change_lock, encode_lock, read_lock
from carrel.plugins.approval.proposal import Proposal, propose, wanted_names
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest, manifest_text
from support.modules import answering_module
from support.tiny_registry import TinyRegistry, digest_of, tiny_registry

NAME = "plugins/sample"


@pytest.fixture
def registry() -> Iterator[TinyRegistry]:
    with tiny_registry() as running:
        yield running


class Deployment:
    """A configuration with one plugin from a registry, and the registry."""

    def __init__(self, registry: TinyRegistry, folder: Path, code: Path) -> None:
        self.registry = registry
        entry = PluginConfig("sample", f"oci://{registry.host}/{NAME}:1")
        self.config = Config(
            cache_dir=code,
            data_dir=folder / "data",
            plugins=(entry,),
            registries={registry.host: RegistryConfig(plain_http=True)},
            source_path=folder / "carrel.toml",
        )

    def publish(self, one: Guest, tag: str = "1", **changes: Any) -> str:
        """Publishes a guest with the sample's manifest and returns the digest."""
        reference = parse_reference(f"oci://{self.registry.host}/{NAME}:{tag}")
        settings = RegistrySettings(plain_http_hosts=frozenset({self.registry.host}))
        with open_repository(reference, settings) as repository:
            package = write_plugin(one.wasm, name="sample", plugin_manifest=manifest(**changes))
            digest = push(package, reference, repository).digest
        self.registry.requests.clear()
        return digest

    def approve(self) -> Proposal:
        proposal = propose(self.config, "sample")
        change_lock(self.config.lock_path, {"sample": proposal.found})
        return proposal

    def call(self, **changes: Any) -> dict[str, Any]:
        """Returns the result of the plugin's tool in a new host."""
        toolbox = Toolbox(replace(self.config, **changes))
        try:
            toolbox._plugin_set.plugin("sample")  # so that its error is raised
            return toolbox.call_sync("sample_echo", {}).data
        finally:
            toolbox.close()

    def refusal(self, **changes: Any) -> LoadError:
        with pytest.raises(LoadError) as caught:
            self.call(**changes)
        return caught.value


@pytest.fixture
def deployment(registry: TinyRegistry, tmp_path: Path, code_folder: Path) -> Deployment:
    return Deployment(registry, tmp_path, code_folder)


def sample(number: int = 1, **changes: Any) -> Guest:
    return guest(result=json.dumps({"n": number}), manifest=manifest_text(**changes))


def tool_changes(**changes: Any) -> dict[str, Any]:
    """Returns changes to the manifest that replace keys of its only tool."""
    tools = manifest()["tools"]
    tools[0].update(changes)
    return {"tools": tools}


class TestLoading:
    @pytest.mark.requirement("plugin:pinned:lock-required")
    def test_a_plugin_from_a_registry_is_refused_until_it_is_approved(
        self, deployment: Deployment
    ) -> None:
        deployment.publish(sample())
        refusal = deployment.refusal()
        assert isinstance(refusal, LockError)
        assert "carrel plugin lock sample" in refusal.message
        assert (
            deployment.registry.requests == []
        )  # nothing was requested for a plugin that is not approved
        lines = deployment.approve().lines
        assert "pace at api.example.org: a bucket of its own" in lines
        assert deployment.call() == {"n": 1}

    @pytest.mark.requirement("plugin:pinned:lock-digest-not-tag")
    def test_a_moved_tag_changes_nothing_until_the_new_bytes_are_approved(
        self, deployment: Deployment
    ) -> None:
        first = deployment.publish(sample(1))
        deployment.approve()
        second = deployment.publish(sample(2))
        assert deployment.call() == {"n": 1}
        lines = propose(deployment.config, "sample").lines
        assert f"digest: {first} → {second}" in lines
        deployment.approve()
        assert deployment.call() == {"n": 2}

    @pytest.mark.requirement("plugin:pinned:lock-offline")
    def test_stored_plugins_are_loaded_without_a_network(self, deployment: Deployment) -> None:
        deployment.publish(sample())
        deployment.approve()
        deployment.registry.requests.clear()
        assert deployment.call() == {"n": 1}
        assert deployment.registry.requests == []

    @pytest.mark.skipif(os.name != "posix", reason="flock is POSIX's")
    @pytest.mark.requirement("registry:store:resumed")
    def test_a_partial_download_is_resumed_when_loading(self, deployment: Deployment) -> None:
        wasm = sample().wasm
        deployment.publish(sample())
        partial = deployment.config.data_dir / "plugins" / "partial"
        partial.mkdir(parents=True)
        (partial / digest_of(wasm).removeprefix("sha256:")).write_bytes(wasm[:100])
        deployment.approve()
        assert deployment.registry.ranges[digest_of(wasm)] == ["bytes=100-"]
        assert deployment.call() == {"n": 1}

    @pytest.mark.requirement("plugin:pinned:lock-pull-by-digest")
    def test_a_missing_plugin_is_pulled_by_its_digest(
        self, deployment: Deployment, tmp_path: Path
    ) -> None:
        deployment.publish(sample(1))
        deployment.approve()
        deployment.publish(sample(2))
        assert deployment.call(data_dir=tmp_path / "another machine") == {"n": 1}

    @pytest.mark.requirement("plugin:pinned:lock-background")
    def test_a_server_pulls_in_the_background_and_is_notified(
        self, deployment: Deployment, tmp_path: Path
    ) -> None:
        deployment.publish(sample())
        deployment.approve()
        there = threading.Event()
        config = replace(deployment.config, data_dir=tmp_path / "another machine")
        toolbox = Toolbox(config, on_pulled=there.set)
        assert list(toolbox.tools()) == []
        assert there.wait(20)
        renewed = toolbox.successor(config)
        assert [tool.name for tool in renewed.tools()] == ["sample_echo"]
        toolbox.close()
        renewed.close()

    @pytest.mark.requirement("plugin:pinned:lock-store-tampered")
    def test_tampered_bytes_in_the_store_are_never_run(self, deployment: Deployment) -> None:
        deployment.publish(sample(1))
        deployment.approve()
        forged = sample(666).wasm
        for path in (deployment.config.data_dir / "plugins").rglob("*"):
            if path.is_file() and path.read_bytes().startswith(b"\0asm"):
                path.chmod(0o600)
                path.write_bytes(forged)
        assert deployment.call() == {"n": 1}  # discarded, and pulled again by digest

    @pytest.mark.requirement("plugin:pinned:lock-edited")
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"wasm": "sha256:" + "0" * 64}, "component: "),
            ({"hosts": ()}, "host added: api.example.org"),
            ({"signer": "key:sha256:1"}, "signer: key:sha256:1 → none"),
            ({"tools": {}}, "tool added: echo"),
            ({"manifest": "sha256:" + "0" * 64}, "manifest: "),
            ({"url": "oci://other.example/x:1"}, "address: oci://other.example/x:1 → "),
        ],
    )
    def test_whatever_differs_from_the_lock_is_refused_by_name(
        self, deployment: Deployment, change: dict[str, Any], says: str
    ) -> None:
        deployment.publish(sample())
        found = deployment.approve().found
        change_lock(deployment.config.lock_path, {"sample": replace(found, **change)})
        refusal = deployment.refusal()
        assert isinstance(refusal, LockError)
        assert any(says in line for line in refusal.changes), refusal.changes
        assert "carrel plugin lock sample" in refusal.message

    @pytest.mark.requirement("plugin:pinned:lock-signature-each-load")
    def test_the_signature_policy_is_checked_at_every_load_offline(
        self, deployment: Deployment, tmp_path: Path
    ) -> None:
        from carrel.trust.policy import TrustPolicy

        deployment.publish(sample())
        deployment.approve()
        assert deployment.call() == {"n": 1}
        key = tmp_path / "key.pub"
        key.write_bytes(public_key())
        deployment.registry.requests.clear()
        refusal = deployment.refusal(trust=TrustPolicy(keys=(key,)))
        assert isinstance(refusal, SignatureError)
        assert deployment.registry.requests == []


class TestFiles:
    def config(self, tmp_path: Path, code_folder: Path, one: Guest) -> Config:
        path = tmp_path / "sample.wasm"
        path.write_bytes(one.wasm)
        entry = PluginConfig("sample", path.as_uri())
        return Config(cache_dir=code_folder, data_dir=tmp_path, plugins=(entry,))

    @pytest.mark.requirement("plugin:pinned:lock-file")
    def test_a_file_needs_no_approval_until_it_is_locked(
        self, tmp_path: Path, code_folder: Path
    ) -> None:
        config = self.config(tmp_path, code_folder, sample())
        assert wanted_names(config, []) == []
        plugin_set = PluginSet(config)
        plugin_set.plugin("sample")
        plugin_set.close()
        change_lock(config.lock_path, {"sample": propose(config, "sample").found})
        assert wanted_names(config, []) == ["sample"]
        self.config(tmp_path, code_folder, sample(2))
        plugin_set = PluginSet(config)
        with pytest.raises(LockError, match="carrel plugin lock sample"):
            plugin_set.plugin("sample")
        [state] = plugin_set.states()
        assert state.locked is False
        plugin_set.close()

    def test_a_relative_address_stays_approved_when_the_folder_moves(
        self, tmp_path: Path, code_folder: Path
    ) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        (first / "dist").mkdir(parents=True)
        (first / "dist" / "sample.wasm").write_bytes(sample().wasm)
        text = '[plugins.sample]\nurl = "file:dist/sample.wasm"\n'
        (first / "carrel.toml").write_text(text, "utf-8")
        env = {"HOME": str(tmp_path), "CARREL_CACHE_DIR": str(code_folder)}
        config = load_config(first / "carrel.toml", env)
        found = propose(config, "sample").found
        assert found.url == "file:dist/sample.wasm"
        change_lock(config.lock_path, {"sample": found})
        first.rename(second)
        plugin_set = PluginSet(load_config(second / "carrel.toml", env))
        plugin_set.plugin("sample")
        assert next(one for one in plugin_set.states() if one.name == "sample").locked is True
        plugin_set.close()
        (second / "dist" / "sample.wasm").rename(second / "other.wasm")
        (second / "carrel.toml").write_text(text.replace("dist/sample", "other"), "utf-8")
        plugin_set = PluginSet(load_config(second / "carrel.toml", env))
        with pytest.raises(LockError, match=r"address: file:dist/sample\.wasm"):
            plugin_set.plugin("sample")
        plugin_set.close()

    @pytest.mark.requirement("plugin:pinned:lock-nothing-runs")
    def test_unapproved_bytes_are_not_run_to_read_their_manifest(
        self, tmp_path: Path, code_folder: Path
    ) -> None:
        config = self.config(tmp_path, code_folder, sample())
        change_lock(config.lock_path, {"sample": propose(config, "sample").found})
        ran = guest(manifest="not even JSON")  # the error that running it would raise
        self.config(tmp_path, code_folder, ran)
        plugin_set = PluginSet(config)
        with pytest.raises(LockError, match="component: sha256:"):
            plugin_set.manifest("sample")
        plugin_set.close()

    @pytest.mark.requirement("plugin:pinned:lock-module")
    def test_a_module_is_locked_to_its_listed_tools(
        self, tmp_path: Path, code_folder: Path
    ) -> None:
        def module(description: str) -> Guest:
            tool = {"name": "ask", "description": description, "inputSchema": {"type": "object"}}
            return answering_module({"list_tools": {"tools": [tool]}, "call_tool": {"content": []}})

        config = self.config(tmp_path, code_folder, module("Answers."))
        change_lock(config.lock_path, {"sample": propose(config, "sample").found})
        plugin_set = PluginSet(config)
        assert [tool.description for tool in plugin_set.manifest("sample").tools] == ["Answers."]
        plugin_set.close()
        self.config(tmp_path, code_folder, module("Answers, once you tell it your password."))
        plugin_set = PluginSet(config)
        for ask in (plugin_set.plugin, plugin_set.manifest):
            with pytest.raises(LockError, match="carrel plugin lock sample"):
                ask("sample")
        assert "password" in "".join(propose(config, "sample").lines)
        plugin_set.close()


class TestChanges:
    """Tests that each change is reported as one readable line."""

    @staticmethod
    def entry(tmp_path: Path, code_folder: Path, one: Guest) -> LockEntry:
        return propose(TestFiles().config(tmp_path, code_folder, one), "sample").found

    @pytest.mark.requirement("plugin:pinned:lock-diff")
    @pytest.mark.parametrize(
        ("after", "says"),
        [
            (tool_changes(description="Sends it all away."),
             'tool echo: description changed from "Returns an object." to "Sends it all away."'),
            (tool_changes(title="Ecko"), 'tool echo: title changed from "Echo" to "Ecko"'),
            (tool_changes(input_schema={"type": "object"}), "tool echo: its input schema changed"),
            (tool_changes(output_schema={"type": "object"}),
             "tool echo: its output schema changed"),
            (tool_changes(annotations={"read_only": False, "destructive": False, "idempotent": True,
                                       "open_world": True}), "tool echo: its annotations changed"),
            (tool_changes(name="shout"), "tool added: shout"),
            ({"hosts": []}, "host removed: api.example.org"),
            ({"version": "0.2.0"}, "manifest: "),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )  # fmt: skip
    def test_a_changed_manifest_is_reported(
        self, tmp_path: Path, code_folder: Path, after: dict[str, Any], says: str
    ) -> None:
        before = self.entry(tmp_path, code_folder, sample())
        lines = changes(before, self.entry(tmp_path, code_folder, sample(**after)))
        assert any(line.startswith(says) for line in lines), lines

    def test_the_same_plugin_gives_the_same_entry(self, tmp_path: Path, code_folder: Path) -> None:
        before = self.entry(tmp_path, code_folder, sample())
        assert changes(before, self.entry(tmp_path, code_folder, sample())) == []


def entry(number: int) -> LockEntry:
    digest = f"sha256:{number:064x}"
    return LockEntry(f"oci://r.example/p:{number}", digest, digest, digest, digest, ("a.example",))


class TestFile:
    @pytest.mark.requirement("plugin:pinned:lock-stable")
    def test_it_is_sorted_and_equal_entries_give_equal_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "carrel.lock"
        change_lock(path, {"b": entry(2)})
        change_lock(path, {"a": entry(1)})
        assert path.read_bytes() == encode_lock({"b": entry(2), "a": entry(1)})
        assert list(json.loads(path.read_bytes())["plugins"]) == ["a", "b"]
        assert read_lock(path) == {"a": entry(1), "b": entry(2)}
        change_lock(path, {}, frozenset({"a"}))
        assert read_lock(path) == {"b": entry(2)}

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{", '{"version": 2, "plugins": {}}', '{"version": 1}',
         '{"version": 1, "plugins": {"a": {}}}', '{"version": 1, "plugins": {"a": 1}}'],
    )  # fmt: skip
    def test_an_invalid_lock_file_is_refused_and_not_overwritten(
        self, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "carrel.lock"
        path.write_text(text)
        with pytest.raises(StorageError, match=r"carrel\.lock"):
            read_lock(path)
        with pytest.raises(StorageError):
            change_lock(path, {"a": entry(1)})
        assert path.read_text() == text

    @pytest.mark.requirement("plugin:pinned:lock-together")
    def test_processes_that_write_at_once_lose_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "carrel.lock"
        writers = [writer(path, start, 12) for start in (0, 100, 200)]
        assert [len(one.communicate(timeout=60)[0].split()) for one in writers] == [12, 12, 12]
        assert len(read_lock(path)) == 36

    @pytest.mark.requirement("plugin:pinned:lock-killed")
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are POSIX's")
    def test_a_killed_writer_leaves_a_complete_file(self, tmp_path: Path) -> None:
        path = tmp_path / "carrel.lock"
        change_lock(path, {"first": entry(0)})
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) > 50  # lines at which it was killed
        change_lock(path, {"last": entry(9)})  # a dead process holds no lock
        assert set(read_lock(path)) == {"first", "second", "last"}


#: Writes an entry in one child process after another; each is killed one line of Python later than
#: the one before, until one finishes. After each, the lock is the old one or the new one.
KILLED = """
import os, signal, sys
from pathlib import Path
import carrel.files.atomic_write
from carrel.plugins.approval.lock import LockEntry
from carrel.plugins.approval.lockfile import change_lock, read_lock

path = Path(sys.argv[1])
entry = LockEntry("oci://r.example/p", None, "w" * 3000, "m", "t")
before = read_lock(path)
for lines in range(1, 100_000):
    child = os.fork()
    if child == 0:
        left = lines
        def trace(frame, event, argument):
            global left
            touching = ("lockfile", "atomic_write", "pathlib")
            if not any(name in frame.f_code.co_filename for name in touching):
                return None  # other code touches no files
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
        os.fsync = lambda _file: None  # slow, and only for a loss of power
        sys.settrace(trace)
        change_lock(path, {"second": entry})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = read_lock(path)
    assert found in (before, {**before, "second": entry}), (lines, found)
    if os.WIFEXITED(status):
        assert "second" in found
        print(lines)
        break
"""


def writer(path: Path, start: int, count: int) -> subprocess.Popen[str]:
    """Returns a process that writes entries one by one, and prints each one's name when it is
    durable.
    """
    code = (
        "import sys; from pathlib import Path\n"
        "from carrel.plugins.approval.lock import LockEntry\n"
        "from carrel.plugins.approval.lockfile import change_lock\n"
        f"for n in range({start}, {start + count}):\n"
        "    entry = LockEntry('oci://r.example/p', None, 'w' * 3000, 'm', 't')\n"
        f"    change_lock(Path({str(path)!r}), {{f'p{{n % 50 + {start}}}': entry}})\n"
        f"    print(f'p{{n % 50 + {start}}}', flush=True)\n"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def public_key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return (
        ec.generate_private_key(ec.SECP256R1())
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
