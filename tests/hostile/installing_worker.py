"""Installs and updates a plugin repeatedly, with every file that an installation writes.

`install` is one round: pull into the store, lock, write compiled code, a response and a recording.
The program is a nursery: for each line `FOLDER SECONDS` on stdin it forks a child that installs
until it is killed, and prints what the child had acknowledged as one JSON list.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

from carrel.exchange import Request, Response, Verdict
from carrel.fetch.cache import Cache
from carrel.fetch.clock import SystemClock
from carrel.fetch.recording import Recordings
from carrel.oci.layout import write_plugin
from carrel.oci.pull import pull
from carrel.oci.reference import ImageReference, parse_reference
from carrel.oci.store import PluginStore
from carrel.plugins.approval.lock import LockEntry
from carrel.plugins.approval.lockfile import change_lock
from carrel.runtime.codecache import CodeCache
from support.memory_repository import MemoryRepository

REFERENCE = "registry.example/plugins/killed:moving"
MAX_BYTES = 2**24
VERSIONS = 6


def component(version: int) -> bytes:
    """Returns a component large enough that writing it takes measurable time."""
    return b"\0asm\x0d\x00\x01\x00" + f"version {version} ".encode() * 20_000


def code(version: int) -> bytes:
    return f"code of {version} ".encode() * 30_000


def locked(version: int) -> LockEntry:
    digest = "sha256:" + hashlib.sha256(component(version)).hexdigest()
    return LockEntry(f"oci://{REFERENCE}", digest, digest, digest, digest)


def asked(version: int) -> Request:
    return Request("GET", f"https://example.org/{version % 2}")


def response(version: int) -> Response:
    body = f"answer {version} " * (2_000 + version)
    return Response(200, "https://example.org/", (("content-type", "text/xml"),), body, len(body))


def registry() -> MemoryRepository:
    """Returns a repository with every version under its tag."""
    repository = MemoryRepository()
    for version in range(VERSIONS):
        repository.publish(write_plugin(component(version), name="killed"), str(version))
    return repository


class Installation:
    """The files of an installation, opened as a new process opens them."""

    def __init__(self, folder: Path) -> None:
        self.where: ImageReference = parse_reference(REFERENCE)
        self.store = PluginStore(folder / "store")
        self.lock = folder / "carrel.lock"
        self.code = CodeCache(folder / "code")
        self.answers = Cache(folder / "answers.sqlite", 2**26, SystemClock())
        self.recordings = Recordings(folder / "recordings", create=True)

    def install(self, repository: MemoryRepository, version: int) -> None:
        """Installs a version; on return all of it is durable."""
        repository.manifests["moving"] = repository.manifests[str(version)]
        pull(self.where, repository, self.store, max_bytes=MAX_BYTES)
        change_lock(self.lock, {"killed": locked(version)})
        assert self.code.store(f"key{version}", code(version)) is not None
        self.answers.put(b"%d" % version, response(version), ())
        self.answers.settle([b"%d" % version], Verdict.READ)
        self.recordings.keep(asked(version), response(version))


def _install_for_ever(folder: Path, say: int) -> None:
    repository = registry()
    installation = Installation(folder)
    os.write(say, b"ready\n")
    number = 0
    while True:
        version = number % VERSIONS
        os.write(say, b"begin %d\n" % version)
        installation.install(repository, version)
        os.write(say, b"done %d\n" % version)
        number += 1


def _kill_one(folder: Path, seconds: float) -> list[str]:
    """Returns the output of a child that is killed so many seconds after it was ready."""
    hear, say = os.pipe()
    child = os.fork()
    if not child:
        os.close(hear)
        try:
            _install_for_ever(folder, say)
        finally:
            os._exit(1)
    os.close(say)
    with os.fdopen(hear, "rb") as output:
        first = output.readline()
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        lines = (first + output.read()).decode().splitlines()
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        lines.append("ended by itself")
    return lines


def main() -> None:
    for line in sys.stdin:
        folder, seconds = line.rsplit(maxsplit=1)
        sys.stdout.write(json.dumps(_kill_one(Path(folder), float(seconds))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
