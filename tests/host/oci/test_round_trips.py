"""Tests pushing and pulling plugins with Carrel and with other clients, on real registries."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.oci.documents import sha256
from carrel.oci.layout import PluginArtifact, read_plugin, write_plugin
from carrel.oci.pull import pull
from carrel.oci.push import push
from carrel.oci.registry import open_repository
from carrel.oci.repository import RepositoryWriter
from carrel.oci.store import PluginStore
from support.registries import KINDS, Registry

MAX = 8 * 2**20
COMPONENT = b"\0asm\x0d\x00\x01\x00" + bytes(range(256)) * 300
MANIFEST = {
    "name": "demo",
    "title": "Demo",
    "version": "1.2.3",
    "description": "Echoes its argument",
    "licence": "Apache-2.0",
    "homepage": "https://example.org/demo",
}


@pytest.fixture(scope="module", params=KINDS)
def registry(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registry]:
    with KINDS[request.param](tmp_path_factory.mktemp("registry")) as running:
        yield running


def publish(registry: Registry, name: str, wasm: bytes = COMPONENT) -> str:
    package = write_plugin(wasm, name="demo", plugin_manifest=MANIFEST)
    reference = registry.reference(name)
    with open_repository(reference, registry.settings) as repository:
        return push(package, reference, repository).digest


def fetch(registry: Registry, name: str, store: PluginStore) -> PluginArtifact:
    reference = registry.reference(name)
    with open_repository(reference, registry.settings) as repository:
        return pull(reference, repository, store, max_bytes=MAX)


def put_image(repository: RepositoryWriter, tag: str, *layers: bytes) -> str:
    """Pushes an image as `docker build` makes it from a Dockerfile with `FROM scratch`."""
    kind = "application/vnd.docker.image.rootfs.diff.tar.gzip"
    config = repository.put_blob(
        b'{"architecture":"amd64","os":"linux"}', "application/vnd.docker.container.image.v1+json"
    )
    listed = [repository.put_blob(layer, kind) for layer in layers]
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"mediaType": config.media_type, "digest": config.digest, "size": config.size},
        "layers": [
            {"mediaType": kind, "digest": layer.digest, "size": layer.size} for layer in listed
        ],
    }
    data = json.dumps(manifest).encode()
    return repository.put_manifest(data, str(manifest["mediaType"]), tag).digest


def tar_of(**files: bytes) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_wasm", ".wasm"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target.getvalue()


class TestWithOurselves:
    def test_a_pulled_plugin_equals_the_pushed_one(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        digest = publish(registry, "plugins/demo:1")
        artifact = fetch(registry, "plugins/demo:1", PluginStore(tmp_path))
        assert artifact.wasm == COMPONENT
        assert artifact.wasm_digest == sha256(COMPONENT)
        assert (artifact.digest, artifact.layout) == (digest, "cncf")
        assert json.loads(artifact.manifest_text or "") == MANIFEST
        assert artifact.annotations["org.opencontainers.image.version"] == "1.2.3"
        assert artifact.annotations["org.opencontainers.image.licenses"] == "Apache-2.0"

    def test_pulled_plugins_work_without_the_registry(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        digest = publish(registry, "plugins/offline:1")
        store = PluginStore(tmp_path)
        fetch(registry, "plugins/offline:1", store)
        reference = registry.reference("plugins/offline:1")
        assert store.resolve(reference) == digest
        assert read_plugin(store.repository(reference), digest, max_bytes=MAX).wasm == COMPONENT

    def test_a_tag_that_moves_is_followed_at_the_next_pull_only(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        store, reference = PluginStore(tmp_path), registry.reference("plugins/moving:latest")
        first = publish(registry, "plugins/moving:latest")
        fetch(registry, "plugins/moving:latest", store)
        second = publish(registry, "plugins/moving:latest", COMPONENT + b"newer")
        assert store.resolve(reference) == first
        assert fetch(registry, "plugins/moving:latest", store).wasm.endswith(b"newer")
        assert store.resolve(reference) == second
        kept = read_plugin(store.repository(reference), first, max_bytes=MAX)
        assert kept.wasm == COMPONENT

    def test_a_digest_wins_over_the_tag_beside_it(self, registry: Registry, tmp_path: Path) -> None:
        first = publish(registry, "plugins/pinned:1")
        publish(registry, "plugins/pinned:1", COMPONENT + b"newer")
        got = fetch(registry, f"plugins/pinned:1@{first}", PluginStore(tmp_path))
        assert got.wasm == COMPONENT

    def test_publishing_again_with_the_same_date_gives_the_same_digest(
        self, registry: Registry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        assert publish(registry, "plugins/same:1") == publish(registry, "plugins/same:2")

    @pytest.mark.parametrize("compress", [False, True])
    def test_an_image_from_scratch_is_read(
        self, registry: Registry, tmp_path: Path, compress: bool
    ) -> None:
        archive = tar_of(usr__other_wasm=b"\0asm other", plugin_wasm=COMPONENT)
        reference = registry.reference("plugins/image:1")
        with open_repository(reference, registry.settings) as repository:
            put_image(repository, "1", gzip.compress(archive) if compress else archive)
        got = fetch(registry, "plugins/image:1", PluginStore(tmp_path))
        assert (got.wasm, got.layout) == (COMPONENT, "image")


class TestWithOras:
    def test_oras_pulls_what_carrel_pushed(self, registry: Registry, tmp_path: Path) -> None:
        publish(registry, "plugins/for-oras:1")
        registry.run(
            "oras", "pull", "--plain-http", registry.reference("plugins/for-oras:1").name,
            "--output", str(tmp_path),
        )  # fmt: skip
        assert (tmp_path / "demo.wasm").read_bytes() == COMPONENT

    @pytest.mark.parametrize(
        ("words", "layout"),
        [
            (["--config", "config.json:application/vnd.wasm.config.v0+json"], "cncf"),
            (["--artifact-type", "application/vnd.hyper-mcp.plugin.v2"], "artifact"),
            (
                ["--config", "config.json:application/vnd.wasm.config.v0+json",
                 "policy.yaml:application/vnd.wasm.policy.v1+yaml"],
                "wassette",
            ),
        ],
    )  # fmt: skip
    def test_carrel_pulls_what_oras_pushed(
        self, registry: Registry, tmp_path: Path, words: list[str], layout: str
    ) -> None:
        (tmp_path / "plugin.wasm").write_bytes(COMPONENT)
        (tmp_path / "config.json").write_text("{}")
        (tmp_path / "policy.yaml").write_text("version: 1.0\n")
        name = f"plugins/oras-{layout}:1"
        registry.run(
            "oras", "push", "--plain-http", registry.reference(name).name, *words,
            "plugin.wasm:application/wasm", cwd=tmp_path,
        )  # fmt: skip
        got = fetch(registry, name, PluginStore(tmp_path / "store"))
        assert (got.wasm, got.layout) == (COMPONENT, layout)
        ignored = ("a layer of type application/vnd.wasm.policy.v1+yaml",)
        assert got.ignored == (ignored if layout == "wassette" else ())

    def test_oras_finds_what_carrel_attached_and_carrel_what_oras_attached(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        digest = publish(registry, "plugins/attached:1")
        reference = registry.reference("plugins/attached:1")
        (tmp_path / "note.txt").write_text("from oras")
        registry.run(
            "oras", "attach", "--plain-http", reference.name, "--artifact-type",
            "application/vnd.example.note", "note.txt:text/plain", cwd=tmp_path,
        )  # fmt: skip
        with open_repository(reference, registry.settings) as repository:
            subject = repository.manifest(digest)
            assert subject is not None
            config = repository.put_blob(b"{}", "application/vnd.oci.empty.v1+json")
            layer = repository.put_blob(b"from carrel", "text/plain")
            ours = {
                "schemaVersion": 2,
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "artifactType": "application/vnd.example.own",
                "config": {"mediaType": config.media_type, "digest": config.digest, "size": 2},
                "layers": [{"mediaType": "text/plain", "digest": layer.digest, "size": layer.size}],
                "subject": {
                    "mediaType": subject.media_type, "digest": digest, "size": len(subject.data),
                },
            }  # fmt: skip
            repository.put_manifest(json.dumps(ours).encode(), str(ours["mediaType"]))
            assert len(repository.referrers(digest)) == 2
        found = json.loads(
            registry.run(
                "oras", "discover", "--plain-http", "--format", "json", "--depth", "1",
                reference.name,
            )
        )  # fmt: skip
        listed = found.get("referrers") or found["manifests"]
        assert len({one["digest"] for one in listed}) == 2
        store = PluginStore(tmp_path / "store")
        fetch(registry, "plugins/attached:1", store)
        assert len(store.repository(reference).referrers(digest)) == 2


class TestWithCrane:
    def test_crane_copies_what_carrel_pushed_with_its_digest(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        digest = publish(registry, "plugins/for-crane:1")
        source = registry.reference("plugins/for-crane:1").name
        target = registry.reference("plugins/from-crane:1").name
        registry.run("crane", "--insecure", "copy", source, target)
        assert registry.run("crane", "--insecure", "digest", target).strip() == digest
        registry.run("crane", "--insecure", "validate", "--remote", target)
        assert fetch(registry, "plugins/from-crane:1", PluginStore(tmp_path)).wasm == COMPONENT

    def test_carrel_pulls_an_image_and_an_index_that_crane_made(
        self, registry: Registry, tmp_path: Path
    ) -> None:
        archive = tmp_path / "layer.tar"
        archive.write_bytes(tar_of(plugin_wasm=COMPONENT))
        name = registry.reference("plugins/crane-image:1").name
        words = ("--insecure", "append", "--new_layer", str(archive), "--new_tag", name)
        registry.run("crane", *words, "--oci-empty-base")
        assert fetch(registry, "plugins/crane-image:1", PluginStore(tmp_path)).layout == "image"
        index = registry.reference("plugins/crane-index:1").name
        registry.run("crane", "--insecure", "index", "append", "-m", name, "-t", index)
        got = fetch(registry, "plugins/crane-index:1", PluginStore(tmp_path))
        assert got.wasm == COMPONENT
        assert got.digest != got.manifest_digest
