"""Tests that all layouts of images are read, and ambiguous or hostile ones refused."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import ConfigError, RegistryError
from carrel.oci.documents import OCI_INDEX, OCI_MANIFEST, read_object, sha256
from carrel.oci.layout import WASM_TYPES, read_plugin, write_plugin
from carrel.oci.tarlayer import find_component
from support.memory_repository import MemoryRepository

COMPONENT = b"\0asm\x0d\x00\x01\x00" + b"component" * 50
MODULE = b"\0asm\x01\x00\x00\x00" + b"module" * 50
OTHER = COMPONENT + b"other"
MAX = 2**20
TAR = "application/vnd.oci.image.layer.v1.tar"
POLICY = "application/vnd.wasm.policy.v1+yaml"


def read(repository: MemoryRepository, digest: str) -> Any:
    return read_plugin(repository, digest, max_bytes=MAX)


def refusal(repository: MemoryRepository, digest: str) -> str:
    with pytest.raises(RegistryError) as caught:
        read(repository, digest)
    return caught.value.message


def tar(*members: tuple[str, bytes] | tarfile.TarInfo, kind: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=kind) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return target.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


class TestLayers:
    @pytest.mark.parametrize("kind", sorted(WASM_TYPES))
    def test_every_name_of_the_wasm_type_is_known(self, kind: str) -> None:
        repository = MemoryRepository()
        assert read(repository, repository.put_layers((COMPONENT, kind))).wasm == COMPONENT

    def test_a_policy_layer_is_reported_and_ignored(self) -> None:
        repository = MemoryRepository()
        digest = repository.put_layers((b"allow: all", POLICY), (COMPONENT, "application/wasm"))
        found = read(repository, digest)
        assert (found.wasm, found.layout) == (COMPONENT, "wassette")
        assert found.ignored == (f"a layer of type {POLICY}",)
        assert sha256(b"allow: all") not in repository.asked

    @pytest.mark.parametrize(
        ("layers", "says"),
        [
            ([], "but found no layers"),
            ([(b"x", "text/plain")], "but found text/plain"),
            ([(b"not wasm", "application/wasm")], "whose content is not WebAssembly"),
            ([(COMPONENT, "application/wasm"), (OTHER, "application/wasm")], "has 2 components"),
            ([(tar(("readme", b"x")), TAR)], "holds no plugin"),
            ([(b"x" * 600_000, TAR), (b"y" * 600_000, TAR), (b"z" * 999_999, TAR)], "in all"),
            ([(b"", "text/plain")] * 40, "at most 32 are read"),
        ],
    )
    def test_an_artifact_without_plugin_is_reported(
        self, layers: list[tuple[bytes, str]], says: str
    ) -> None:
        repository = MemoryRepository()
        assert says in refusal(repository, repository.put_layers(*layers))

    @pytest.mark.parametrize(
        "change",
        [
            {"layers": None},
            {"layers": [{"mediaType": "application/wasm", "digest": "sha256:x", "size": 1}]},
            {"layers": [{"mediaType": "application/wasm", "digest": sha256(b""), "size": -1}]},
            {"layers": [{"mediaType": "application/wasm", "digest": sha256(b""), "size": True}]},
            {"layers": [{"mediaType": 1, "digest": sha256(b""), "size": 1}]},
            {"layers": {"0": 1}},
            {"config": []},
        ],
    )
    def test_a_malformed_manifest_is_reported(self, change: dict[str, Any]) -> None:
        repository = MemoryRepository()
        digest = repository.put_layers((COMPONENT, "application/wasm"))
        body = {**read_object(repository.manifests[digest].data, "it"), **change}
        made = repository.put_manifest(json.dumps(body).encode(), OCI_MANIFEST)
        assert "descriptor" in refusal(repository, made.digest)


class TestIndexes:
    def index(self, repository: MemoryRepository, *platforms: Any) -> str:
        listed = []
        for number, platform in enumerate(platforms):
            wasm = COMPONENT + str(number).encode()
            digest = repository.put_layers((wasm, "application/wasm"))
            size = len(repository.manifests[digest].data)
            listed.append(
                {"mediaType": OCI_MANIFEST, "digest": digest, "size": size, "platform": platform}
            )
        data = json.dumps({"schemaVersion": 2, "manifests": listed}).encode()
        return repository.put_manifest(data, OCI_INDEX, "1").digest

    @pytest.mark.parametrize(
        ("platforms", "chosen"),
        [
            (["linux/amd64", "wasip1/wasm"], 1),
            (["linux/arm64", "linux/amd64"], 1),
            (["windows/amd64", "linux/amd64"], 1),
            (["linux/arm64"], 0),
            (["unknown/unknown", "linux/arm64"], 1),
            ([None], 0),
        ],
    )
    def test_the_manifest_for_wasm_is_chosen_else_the_one_hyper_mcp_takes(
        self, platforms: list[str | None], chosen: int
    ) -> None:
        repository = MemoryRepository()
        platform_objects = [
            one and {"os": one.split("/")[0], "architecture": one.split("/")[1]}
            for one in platforms
        ]
        digest = self.index(repository, *platform_objects)
        found = read(repository, digest)
        assert found.wasm == COMPONENT + str(chosen).encode()
        assert found.digest == digest
        assert found.manifest_digest != digest

    def test_an_index_without_a_matching_manifest_is_refused(self) -> None:
        repository = MemoryRepository()
        digest = self.index(
            repository,
            {"os": "linux", "architecture": "arm64"},
            {"os": "linux", "architecture": "s390x"},
        )
        assert "nor one for linux/amd64" in refusal(repository, digest)

    def test_an_index_in_an_index_is_not_followed(self) -> None:
        repository = MemoryRepository()
        inner = self.index(repository, None)
        size = len(repository.manifests[inner].data)
        outer = {"manifests": [{"mediaType": OCI_INDEX, "digest": inner, "size": size}]}
        made = repository.put_manifest(json.dumps(outer).encode(), OCI_INDEX)
        assert "another index" in refusal(repository, made.digest)


@pytest.mark.requirement("registry:bytes:archives")
class TestArchives:
    def find(self, *layers: bytes) -> bytes | None:
        return find_component(layers, "it", max_bytes=MAX)

    def error_message(self, *layers: bytes) -> str:
        with pytest.raises(RegistryError) as caught:
            self.find(*layers)
        return caught.value.message

    @pytest.mark.parametrize("name", ["/plugin.wasm", "plugin.wasm", "./plugin.wasm", "a/b.wasm"])
    @pytest.mark.parametrize("compress", [bytes, gzip.compress])
    def test_the_component_is_found(self, name: str, compress: Any) -> None:
        archive = tar(("etc/motd", b"hello"), (name, COMPONENT))
        assert self.find(compress(archive)) == COMPONENT

    @pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT])
    def test_older_kinds_of_archive_are_read(self, kind: int) -> None:
        name = "x" * 60 + "/" + "y" * 60 + ".wasm"
        assert self.find(tar((name, COMPONENT), kind=kind)) == COMPONENT

    def test_plugin_wasm_wins_over_other_names(self) -> None:
        archive = tar(("a.wasm", OTHER), ("plugin.wasm", COMPONENT), ("z.wasm", OTHER))
        assert self.find(archive) == COMPONENT

    def test_later_layers_override_earlier_ones_as_in_a_container(self) -> None:
        first = tar(("plugin.wasm", OTHER), ("old/x.wasm", OTHER))
        assert self.find(first, tar(("plugin.wasm", COMPONENT))) == COMPONENT
        hidden = tar((".wh.plugin.wasm", b""), ("old/.wh..wh..opq", b""))
        assert self.find(first, hidden) is None
        assert self.find(first, hidden, tar(("new.wasm", COMPONENT))) == COMPONENT

    @pytest.mark.parametrize(
        ("archive", "says"),
        [
            (tar(("a.wasm", OTHER), ("b.wasm", COMPONENT)), "several components"),
            (tar(("a.wasm", OTHER), ("a.wasm", COMPONENT)), "twice in one layer"),
            (tar(("./a.wasm", OTHER), ("/a.wasm", COMPONENT)), "twice in one layer"),
            (tar(special("plugin.wasm", tarfile.SYMTYPE, "/etc/passwd")), "not a plain file"),
            (tar(special("plugin.wasm", tarfile.LNKTYPE, "/etc/passwd")), "not a plain file"),
            (tar(special("plugin.wasm", tarfile.CHRTYPE)), "not a plain file"),
            (tar(special("plugin.wasm", tarfile.FIFOTYPE)), "not a plain file"),
            (tar(special("plugin.wasm", tarfile.DIRTYPE)), "not a plain file"),
            (tar(("../../plugin.wasm", COMPONENT)), "not a plain file"),
            (tar(("plugin.wasm", b"x" * (MAX + 1))), "at most 1048576 are taken"),
            (tar(("plugin.wasm", COMPONENT))[:700], "no readable tar"),
            (tar(*[(f"{n}.txt", b"") for n in range(10_001)]), "not honest"),
            (b"not a tar archive at all" * 99, "no readable tar"),
            (
                gzip.compress(tar(("plugin.wasm", COMPONENT)), mtime=0)[:90],
                "cannot be decompressed",
            ),
            (gzip.compress(b"\0" * (64 * MAX), mtime=0), "decompresses to more"),
            (
                gzip.compress(bytes(Random(1).choices(b"abcd", k=3 * MAX)), 1, mtime=0),
                "decompresses to",
            ),
            (b"\x28\xb5\x2f\xfd" + b"x" * 99, "zstd"),
        ],
    )
    def test_a_hostile_archive_is_refused(self, archive: bytes, says: str) -> None:
        assert says in self.error_message(archive)

    @pytest.mark.parametrize("size", [-1, -512, -(2**40), 2**62])
    @pytest.mark.parametrize("name", ["plugin.wasm", "x"])
    def test_a_false_size_is_refused(self, size: int, name: str) -> None:
        info = tarfile.TarInfo(name)
        raw = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        raw[124:136] = (b"\x80" if size >= 0 else b"\xff") + size.to_bytes(11, "big", signed=True)
        raw[148:156] = b" " * 8
        raw[148:156] = b"%06o\0 " % sum(raw)
        archive = bytes(raw) + COMPONENT.ljust(1024, b"\0") + tar(("a.wasm", COMPONENT))
        try:
            assert self.find(archive) in {None, COMPONENT}
        except RegistryError:
            pass

    def test_a_sparse_file_is_refused(self) -> None:
        info = tarfile.TarInfo("plugin.wasm")
        info.pax_headers = {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "plugin.wasm",
            "GNU.sparse.realsize": str(2**40),
        }
        info.size = 512
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
            archive.addfile(info, io.BytesIO(b"1\n0\n512\n".ljust(512, b"\0")))
        assert "not a plain file" in self.error_message(target.getvalue())

    @given(st.binary(max_size=2000) | st.binary(max_size=600).map(lambda b: tar(("a.wasm", b)) + b))
    def test_any_bytes_are_read_or_refused(self, archive: bytes) -> None:
        try:
            self.find(archive, gzip.compress(archive))
        except RegistryError:
            pass


class TestWriting:
    def body(self, package: Any) -> dict[str, Any]:
        return read_object(package.manifest, "it")

    def test_there_is_exactly_one_layer_and_a_config_as_the_cncf_has_it(self) -> None:
        at = datetime(2026, 1, 2, 3, 4, 5, 999, tzinfo=UTC)
        package = write_plugin(
            COMPONENT, name="demo", imports=["a:b/c@1.0.0"], exports=["d:e/f@1.0.0"], created=at
        )
        body = self.body(package)
        [layer] = body["layers"]
        assert layer["mediaType"] == "application/wasm"
        assert layer["annotations"] == {"org.opencontainers.image.title": "demo.wasm"}
        assert body["config"]["mediaType"] == "application/vnd.wasm.config.v0+json"
        assert json.loads(package.blobs[0][0]) == {
            "created": "2026-01-02T03:04:05Z",
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [sha256(COMPONENT)],
            "component": {"exports": ["d:e/f@1.0.0"], "imports": ["a:b/c@1.0.0"]},
        }

    def test_a_core_module_is_reported_as_a_core_module(self) -> None:
        config = json.loads(write_plugin(MODULE, name="demo").blobs[0][0])
        assert config["os"] == "wasip1"
        assert "component" not in config

    def test_a_huge_manifest_of_the_plugin_stays_out_of_the_annotations(self) -> None:
        manifest = {"name": "demo", "version": "1", "tools": ["x" * 2**20]}
        annotations = self.body(write_plugin(COMPONENT, name="x", plugin_manifest=manifest))[
            "annotations"
        ]
        assert set(annotations) == {
            f"org.opencontainers.image.{key}" for key in ("created", "title", "version")
        }

    def test_the_date_can_be_fixed_and_has_to_be_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
        annotations = self.body(write_plugin(COMPONENT, name="x"))["annotations"]
        assert annotations["org.opencontainers.image.created"] == "1970-01-01T00:00:00Z"
        for late in ("253402300800", "9" * 30, "9" * 5000):
            monkeypatch.setenv("SOURCE_DATE_EPOCH", late)
            with pytest.raises(ConfigError, match=f"{late[:40]} is out of range"):
                write_plugin(COMPONENT, name="x")
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
        with pytest.raises(ConfigError, match="SOURCE_DATE_EPOCH"):
            write_plugin(COMPONENT, name="x")
