"""Tests partial downloads: another process resumes them, verifies them, or discards them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from carrel.errors import RegistryError, StorageError
from carrel.oci import partial as module
from carrel.oci.documents import sha256
from carrel.oci.package import write_plugin
from carrel.oci.partial import PartialBlob, PartialBlobs
from carrel.oci.pruning import prune
from carrel.oci.pull import pull
from carrel.oci.reference import parse_reference
from carrel.oci.repository import Descriptor
from carrel.oci.store import PluginStore
from support.memory_repository import MemoryRepository
from support.staged_registry import Staged
from support.upstream import Reply

pytestmark = pytest.mark.skipif(os.name != "posix", reason="flock is POSIX's")

DATA = bytes(range(256)) * 64
HEX = sha256(DATA).removeprefix("sha256:")
BLOB = Descriptor("application/wasm", sha256(DATA), len(DATA))
BLOB_PATH = f"/v2/plugins/demo/blobs/{BLOB.digest}"
BROKEN = Reply(body=DATA, cut=5000)


def rest(start: int, data: bytes = DATA) -> Reply:
    content_range = f"bytes {start}-{len(data) - 1}/{len(data)}"
    return Reply(206, headers=(("Content-Range", content_range),), body=data[start:])


@pytest.fixture
def store(tmp_path: Path) -> PluginStore:
    return PluginStore(tmp_path / "plugins")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Returns the path of the blob's partial download."""
    return tmp_path / "plugins" / "partial" / HEX


def leave(file: Path, data: bytes) -> None:
    """Writes a partial download as a killed process leaves it."""
    for folder in reversed((file.parent, *file.parent.parents)):
        folder.mkdir(mode=0o700, exist_ok=True)
    file.write_bytes(data)


def pulled(staged: Staged, store: PluginStore, descriptor: Descriptor = BLOB) -> bytes:
    """Returns the blob as a new process downloads it, with a new client."""
    with staged.repository(partial_blobs=store.partial_blobs) as repository:
        return repository.blob(descriptor, max_bytes=2**20)


def refusal(staged: Staged, store: PluginStore) -> str:
    with pytest.raises(RegistryError) as caught:
        pulled(staged, store)
    return caught.value.message


def ranges(staged: Staged) -> list[str | None]:
    return [seen.headers.get("range") for seen in staged.seen]


@pytest.mark.requirement("registry:store:resumed")
class TestGoingOn:
    def test_only_the_rest_of_a_blob_is_requested_and_the_whole_is_stored(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        staged.configure(retries=0)
        staged.on(BLOB_PATH, BROKEN, rest(5000))
        assert "cut its answer short" in refusal(staged, store)
        assert file.read_bytes() == DATA[:5000]
        assert pulled(staged, store) == DATA
        assert ranges(staged) == [None, "bytes=5000-"]
        assert store.read(BLOB.digest) == DATA
        assert not file.exists()

    def test_a_download_that_breaks_repeatedly_is_resumed_each_time(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        staged.configure(retries=1)
        second = Reply(206, headers=rest(5000).headers, body=DATA[5000:], cut=1000)
        third = Reply(206, headers=rest(6000).headers, body=DATA[6000:], cut=1000)
        staged.on(BLOB_PATH, BROKEN, second, third, rest(7000))
        assert "cut its answer short" in refusal(staged, store)
        assert file.read_bytes() == DATA[:6000]
        assert pulled(staged, store) == DATA
        assert ranges(staged) == [None, *(f"bytes={at}-" for at in (5000, 6000, 7000))]

    @pytest.mark.parametrize(
        "answers",
        [
            [Reply(body=DATA)],
            [Reply(416), Reply(body=DATA)],
            [Reply(206, headers=rest(0).headers, body=DATA), Reply(body=DATA)],
            [Reply(206, body=DATA[5000:]), Reply(body=DATA)],
        ],
        ids=["whole", "refused", "another part", "a part that is not named"],
    )
    def test_a_registry_without_ranges_sends_the_blob_from_its_start(
        self, staged: Staged, store: PluginStore, file: Path, answers: list[Reply]
    ) -> None:
        staged.configure(retries=0)
        leave(file, DATA[:5000])
        staged.on(BLOB_PATH, *answers)
        assert pulled(staged, store) == DATA
        assert ranges(staged) == ["bytes=5000-", None][: len(answers)]
        assert store.read(BLOB.digest) == DATA

    def test_a_refused_range_is_requested_once_without_a_range(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        leave(file, DATA[:5000])
        staged.on(BLOB_PATH, Reply(416))
        assert "it answered 416" in refusal(staged, store)
        assert ranges(staged) == ["bytes=5000-", None]

    def test_complete_blobs_are_not_requested_again(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        leave(file, DATA)
        assert pulled(staged, store) == DATA
        assert staged.seen == []
        assert store.read(BLOB.digest) == DATA

    @pytest.mark.parametrize("status", [401, 404, 503])
    def test_a_missing_blob_does_not_discard_the_partial_download(
        self, staged: Staged, store: PluginStore, file: Path, status: int
    ) -> None:
        leave(file, DATA[:5000])
        staged.on(BLOB_PATH, Reply(status))
        refusal(staged, store)
        assert file.read_bytes() == DATA[:5000]

    def test_only_the_owner_can_read_a_partial_download(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        staged.configure(retries=0)
        staged.on(BLOB_PATH, BROKEN)
        before = os.umask(0)
        try:
            refusal(staged, store)
        finally:
            os.umask(before)
        modes = {path: path.stat().st_mode & 0o777 for path in (file, file.parent)}
        assert modes == {file: 0o600, file.parent: 0o700}


@pytest.mark.requirement("registry:store:resumed-untrusted")
class TestTrust:
    @pytest.mark.parametrize("end", [5000, len(DATA)], ids=["in part", "whole"])
    def test_a_corrupt_partial_download_is_downloaded_again(
        self, staged: Staged, store: PluginStore, file: Path, end: int
    ) -> None:
        leave(file, b"x" + DATA[1:end])
        answers = [rest(5000)] if end == 5000 else []
        staged.on(BLOB_PATH, *answers, Reply(body=DATA))
        assert pulled(staged, store) == DATA
        assert ranges(staged) == [*("bytes=5000-" for _ in answers), None]
        assert store.read(BLOB.digest) == DATA
        assert not file.exists()

    def test_a_wrong_range_is_requested_at_most_twice(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        leave(file, b"x" + DATA[1:5000])
        staged.on(BLOB_PATH, rest(5000), Reply(body=b"x" + DATA[1:]))
        assert "in its place" in refusal(staged, store)
        assert ranges(staged) == ["bytes=5000-", None]
        assert not file.exists()
        assert store.read(BLOB.digest) is None

    @pytest.mark.parametrize(
        "answer",
        [
            Reply(206, headers=rest(5000).headers, body=DATA),
            Reply(raw=b"HTTP/1.1 206 OK\r\nContent-Range: bytes 5000-\r\n\r\n" + DATA),
        ],
        ids=["announced", "sent"],
    )
    def test_a_partial_download_that_grows_too_long_is_restarted(
        self, staged: Staged, store: PluginStore, file: Path, answer: Reply
    ) -> None:
        leave(file, DATA[:5000])
        staged.on(BLOB_PATH, answer, Reply(body=DATA))
        assert pulled(staged, store) == DATA
        assert ranges(staged) == ["bytes=5000-", None]

    def test_a_partial_download_larger_than_the_blob_is_dropped(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        leave(file, DATA + b"x")
        staged.on(BLOB_PATH, Reply(body=DATA))
        assert pulled(staged, store) == DATA
        assert ranges(staged) == [None]

    @pytest.mark.parametrize(
        "answer",
        [
            Reply(body=b"x" + DATA[1:]),
            Reply(body=DATA + b"x"),
            Reply(raw=b"HTTP/1.1 200 OK\r\n\r\n" + DATA + b"x"),
            Reply(headers=(("Content-Encoding", "gzip"),), body=DATA),
        ],
        ids=["other bytes", "announced longer", "longer", "encoded"],
    )
    def test_nothing_is_kept_of_a_wrong_blob(
        self, staged: Staged, store: PluginStore, file: Path, answer: Reply
    ) -> None:
        staged.on(BLOB_PATH, answer)
        refusal(staged, store)
        assert len(staged.seen) == 1
        assert list(file.parent.iterdir()) == []

    def test_a_link_in_place_of_the_file_is_not_followed(
        self, staged: Staged, store: PluginStore, file: Path, tmp_path: Path
    ) -> None:
        leave(file, b"")
        other = tmp_path / "precious"
        other.write_bytes(b"mine")
        file.unlink()
        file.symlink_to(other)
        staged.on(BLOB_PATH, Reply(body=DATA))
        with pytest.raises(StorageError, match=HEX):
            pulled(staged, store)
        assert other.read_bytes() == b"mine"


def opened(blobs: PartialBlobs) -> AbstractContextManager[PartialBlob | None]:
    return blobs.open(BLOB.digest, BLOB.size)


HOLDER = (
    "import sys; from pathlib import Path\n"
    "from carrel.oci.store import PluginStore\n"
    "folder, digest, size = sys.argv[1:]\n"
    "with PluginStore(Path(folder)).partial_blobs.open(digest, int(size)) as partial:\n"
    "    partial.append(b'x' * 100)\n"
    "    print('ready', flush=True)\n"
    "    sys.stdin.read()\n"
)


@pytest.mark.requirement("registry:store:one-writer")
class TestSeveral:
    def holder(self, file: Path) -> subprocess.Popen[bytes]:
        """Returns a process that is downloading the same blob."""
        words = [sys.executable, "-c", HOLDER, str(file.parents[1]), BLOB.digest, str(BLOB.size)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()

    def test_a_second_downloader_gets_the_blob_without_the_partial_file(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        staged.on(BLOB_PATH, Reply(body=DATA))
        holder = self.holder(file)
        holder.send_signal(
            signal.SIGSTOP
        )  # so that a process that waited for it would never return
        try:
            assert pulled(staged, store) == DATA
            assert ranges(staged) == [None]
            assert file.read_bytes() == b"x" * 100
        finally:
            self.end(holder)

    def test_a_killed_process_releases_its_lock(
        self, staged: Staged, store: PluginStore, file: Path
    ) -> None:
        self.end(self.holder(file))
        file.write_bytes(DATA[:5000])
        staged.on(BLOB_PATH, rest(5000))
        assert pulled(staged, store) == DATA
        assert ranges(staged) == ["bytes=5000-"]

    def test_a_file_that_is_moved_away_before_it_is_locked_is_not_written_to(
        self, store: PluginStore, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave(file, DATA[:5000])
        real, target = module._try_lock, file.parents[1] / "whole"

        def late(handle: int) -> bool:
            if not target.exists():
                file.replace(target)  # as its holder does before it releases the lock
            return real(handle)

        monkeypatch.setattr(module, "_try_lock", late)
        with opened(store.partial_blobs) as partial:
            assert partial is not None
            partial.append(b"new")
            assert target.read_bytes() == DATA[:5000]
            assert file.read_bytes() == b"new"


@pytest.mark.requirement("registry:store:resumed-pruned")
class TestPruning:
    def age(self, file: Path, days: float) -> None:
        then = time.time() - days * 86_400
        os.utime(file, (then, then))

    def test_week_old_partial_downloads_are_removed(self, store: PluginStore, file: Path) -> None:
        leave(file, DATA[:5000])
        self.age(file, 6.9)
        assert prune(store) == 0
        self.age(file, 7.1)
        assert prune(store) == 5000
        assert not file.exists()

    def test_every_pull_fetches_signatures(self, store: PluginStore, file: Path) -> None:
        leave(file, DATA[:5000])
        self.age(file, 8)
        repository = MemoryRepository()
        repository.publish(write_plugin(b"\0asm\x0d\x00\x01\x00", name="demo"), "1")
        where = parse_reference("registry.example.org/plugins/demo:1")
        pull(where, repository, store, max_bytes=2**20)
        assert not file.exists()

    def test_a_download_in_progress_is_kept_at_any_age(
        self, store: PluginStore, file: Path
    ) -> None:
        leave(file, DATA[:5000])
        self.age(file, 8)
        with opened(store.partial_blobs) as partial:
            assert partial is not None
            assert prune(store) == 0
            assert partial.read() == DATA[:5000]
        assert file.exists()

    def test_a_resumed_partial_download_is_kept(
        self, store: PluginStore, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave(file, DATA[:5000])
        self.age(file, 8)
        real = module._try_lock

        def late(handle: int) -> bool:
            os.utime(file)
            return real(handle)

        monkeypatch.setattr(module, "_try_lock", late)
        assert prune(store) == 0
        assert file.exists()
