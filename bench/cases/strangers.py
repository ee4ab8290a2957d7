"""Measures third-party plugins: Extism modules, and pulling from a registry."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import bench.plugin  # noqa: F401 - makes the tests' support importable
from bench.measure import Row, time_in_turn
from bench.workbench import Workbench

_CALL = "a no-op call of an Extism module : of a component"
_PULL = "a plugin pulled and its signature checked, in process : oras pulling it, a process"
_VERIFY = "a signature checked on a plugin in the store, in process : cosign verify, a process"


def modules(bench: Workbench) -> Sequence[Row]:
    """Measures a no-op call of a module against a no-op call of a component."""
    from carrel.exchange import Call
    from carrel.runtime.extism.context import ModuleContext
    from carrel.runtime.instance import OfflineFetcher
    from carrel.runtime.loader import Runtime, RuntimeSettings
    from support.guests import guest
    from support.modules import module

    runtime = Runtime(RuntimeSettings(bench.folder / "strangers-code"))
    component_guest = guest()
    module_guest = module(
        "(call $say (call $put (i32.const 0) (i32.const 2)))", data='(data (i32.const 0) "{}")'
    )
    component = runtime.load("component", component_guest.wasm, component_guest.digest)
    extism = runtime.load_module("module", module_guest.wasm, module_guest.digest)

    def ours(_: str) -> object:
        call = Call("module", "tool")
        return extism.submit("call_tool", "{}", call, config={}, context=ModuleContext()).result()

    def plain(_: str) -> object:
        call = Call("component", "tool")
        return component.submit_call(
            "tool", "{}", call, fetcher=OfflineFetcher(), settings={}
        ).result()

    assert plain("") == ours("") == "{}"
    try:
        took, floor = time_in_turn(ours, plain, document="", rounds=bench.rounds(400, 5))
    finally:
        runtime.close()
    return [Row("extism", _CALL, took, floor)]


def from_a_registry(bench: Workbench) -> Sequence[Row]:
    """Measures pulling and verifying a signed plugin from a local registry, against oras and
    cosign.
    """
    from _pytest.outcomes import Skipped

    folder = bench.folder / "registry"
    folder.mkdir()
    try:
        return _measured(bench, folder)
    except Skipped as reason:
        return [
            Row("pull", _PULL, missing=str(reason)),
            Row("verify", _VERIFY, missing=str(reason)),
        ]


def _measured(bench: Workbench, folder: Path) -> Sequence[Row]:
    from carrel.oci.package import write_plugin
    from carrel.oci.pull import pull
    from carrel.oci.push import push
    from carrel.oci.registry import open_repository
    from carrel.oci.store import PluginStore
    from carrel.plugins.sources.source import read_source
    from carrel.trust.policy import TrustPolicy
    from carrel.trust.privatekey import new_private_key, write_public_key
    from carrel.trust.sign import sign
    from carrel.trust.verify import verify
    from support.registries import docker_registry, peer

    oras, cosign = peer("oras"), peer("cosign3")
    wasm = read_source("arxiv", "builtin:arxiv").wasm
    key, public = new_private_key(), folder / "bench.pub"
    public.write_bytes(write_public_key(key))
    policy = TrustPolicy(keys=(public,))
    numbers = count()
    with docker_registry(folder) as registry:
        reference = registry.reference("plugins/arxiv:1")
        with open_repository(reference, registry.settings) as repository:
            digest = push(write_plugin(wasm, name="arxiv"), reference, repository).digest
            sign(repository, digest, key)

        def ours(_: str) -> PluginStore:
            store = PluginStore(folder / f"store-{next(numbers)}")
            with open_repository(reference, registry.settings) as repository:
                artifact = pull(reference, repository, store, max_bytes=2**26)
            verify(store.repository(reference), artifact.digest, policy)
            assert artifact.wasm_digest.endswith(hashlib.sha256(wasm).hexdigest())
            return store

        def theirs(_: str) -> None:
            output = folder / f"oras-{next(numbers)}"
            name = f"{registry.host}/plugins/arxiv:1"
            _run(oras, "pull", "--plain-http", "--output", str(output), name, folder=folder)

        def check(_: str) -> None:
            verify(pulled_store.repository(reference), digest, policy)

        def check_by_cosign(_: str) -> None:
            words = ("--insecure-ignore-tlog", "--allow-http-registry", "--key", str(public))
            name = f"{registry.host}/plugins/arxiv@{digest}"
            _run(cosign, "verify", *words, name, folder=folder)

        pulled_store = ours("")
        rounds = bench.rounds(15, 1)
        pulled, oras_pulled = time_in_turn(ours, theirs, document="", rounds=rounds)
        verified, cosign_verified = time_in_turn(check, check_by_cosign, document="", rounds=rounds)
    shutil.rmtree(folder, ignore_errors=True)
    return [
        Row("pull", _PULL, pulled, oras_pulled),
        Row("verify", _VERIFY, verified, cosign_verified),
    ]


def _run(program: Path, *words: str, folder: Path) -> None:
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    subprocess.run([program, *words], env=environment, capture_output=True, check=True)
