"""What was pulled, kept on this machine: content under its digest, and names that point to it.

    blobs/sha256/HEX      content: manifests and blobs; the name is the digest of what it holds
    names/HEX             what a tag, or the list of referrers of a manifest, was at the last pull
    partial/HEX           the beginning of a blob that has not come whole yet, see `partial`

Every file of content and names is written aside, flushed and renamed, and its folder flushed: a
process that is killed leaves a whole file or none. Every reader computes the digest of what it
reads; a file that does not hold is removed and counts as missing. Processes need no lock for
these: content is the same whoever writes it, and a name is one file.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from carrel.errors import RegistryError
from carrel.files.atomic_write import flush_folder, write_atomically

from .disk import explained, make_folder
from .documents import (
    descriptor_json,
    encode_json,
    make_document,
    read_descriptor,
    sha256,
)
from .partial import PartialBlobs
from .reference import ImageReference, is_digest
from .repository import Descriptor, Document

_log = logging.getLogger("carrel.oci")

#: The beginning of a blob that nobody has gone on with for so long is not waited for any more.
_PARTIAL_SECONDS = 7 * 86_400.0

#: The largest file of `names`.
_MAX_NAME_BYTES = 8 * 2**20


class PluginStore:
    """A folder of pulled plugins, shared by every process of its owner.

    Args:
        folder: made when something is first kept.

    Attributes:
        folder: where it is.
        partial_blobs: where blobs are kept that have not come whole yet.
        altered: digests of content that was found altered, and removed.
    """

    def __init__(self, folder: Path) -> None:
        self._blobs = folder / "blobs" / "sha256"
        self._names = folder / "names"
        self.folder = folder
        self.altered: list[str] = []
        self.partial_blobs = PartialBlobs(folder, self._blobs)

    def repository(self, reference: ImageReference) -> StoredRepository:
        """What was pulled of a reference's repository, answering without a network."""
        return StoredRepository(self, reference)

    def resolve(self, reference: ImageReference) -> str | None:
        """The digest that the reference had when it was last pulled; None when it never was."""
        return self.repository(reference).resolve(reference.wanted)

    def read(self, digest: str, *, max_bytes: int | None = None) -> bytes | None:
        """Content by its digest; None when it is not there, or not what it should be.

        Raises:
            StorageError: the file cannot be read.
        """
        if not is_digest(digest):
            return None
        path = self._path(digest)
        with explained(path):
            try:
                with path.open("rb") as file:
                    kept = os.fstat(file.fileno())
                    if max_bytes is not None and kept.st_size > max_bytes:
                        return None
                    data = file.read()
            except FileNotFoundError:
                return None
            if sha256(data) == digest:
                return data
            self.altered.append(digest)
            self._discard(path, kept)
        return None

    def put(self, data: bytes) -> str:
        """Keeps content and returns its digest; on return it is on the disk.

        Raises:
            StorageError: the disk refuses.
        """
        digest = sha256(data)
        if self.take(digest) is None:
            self._write(self._path(digest), data)
        return digest

    def take(self, digest: str) -> bytes | None:
        """Content by its digest, as young for `prune` as if it had been kept just now."""
        data = self.read(digest)
        if data is not None:
            path = self._path(digest)
            with explained(path):
                try:
                    os.utime(path)
                except FileNotFoundError:
                    return None
        return data

    def read_name(self, key: str) -> dict[str, Any] | None:
        """What a name was last set to; None when it was not, or its file is torn."""
        path = self._name_path(key)
        with explained(path):
            try:
                with path.open("rb") as file:
                    kept = os.fstat(file.fileno())
                    data = file.read(_MAX_NAME_BYTES)
            except FileNotFoundError:
                return None
            value = _read_sealed(data)
            if value is not None and value.get("name") == key:
                return value
            self._discard(path, kept)
        return None

    def write_name(self, key: str, value: dict[str, Any]) -> None:
        """Sets a name, at once and whole.

        Raises:
            StorageError: the disk refuses.
        """
        self._write(self._name_path(key), _seal({"name": key, **value}))

    def remove_name(self, key: str) -> None:
        """Forgets a name, if there is one."""
        path = self._name_path(key)
        with explained(path):
            path.unlink(missing_ok=True)

    def prune_partial_blobs(self) -> int:
        """Removes what came of transfers that nobody went on with for a week; bytes freed."""
        return self.partial_blobs.prune(older_than=time.time() - _PARTIAL_SECONDS)

    def names(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Every name that is whole, with its file."""
        for path in sorted(self._names.glob("*")):
            try:
                value = _read_sealed(path.read_bytes())
            except OSError:
                continue
            if value is not None:
                yield path, value

    def files(self) -> Iterator[Path]:
        """Every file of content, and every file that was never finished."""
        for folder in (self._blobs, self._names):
            for path in sorted(folder.glob("*")):
                if folder == self._blobs or path.suffix == ".tmp":
                    yield path

    def _path(self, digest: str) -> Path:
        return self._blobs / digest.removeprefix("sha256:")

    def _name_path(self, key: str) -> Path:
        # Hashed, because a tag may differ from another only in case, and file systems may not.
        return self._names / hashlib.sha256(key.encode()).hexdigest()

    def _write(self, path: Path, data: bytes) -> None:
        with explained(path):
            make_folder(path.parent, self.folder)
            write_atomically(path, data)
            flush_folder(path.parent)

    def _discard(self, path: Path, kept: os.stat_result) -> None:
        """Removes a file that does not hold, unless another process has put a whole one there."""
        _log.warning("%s is torn or was changed; it is removed and fetched again", path)
        try:
            now = path.stat()
            if (now.st_dev, now.st_ino) == (kept.st_dev, kept.st_ino):
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            pass


class StoredRepository:
    """A `RepositoryReader` over what was pulled; the writing half is for `pull`."""

    def __init__(self, store: PluginStore, reference: ImageReference) -> None:
        self._store = store
        self._name = f"{reference.host}/{reference.repository}"

    def resolve(self, wanted: str) -> str | None:
        """The digest of a tag when it was last pulled; a digest is itself, if it was pulled."""
        found = self._store.read_name(self._key(wanted))
        digest = found.get("digest") if found else None
        return digest if is_digest(digest) else None

    def manifest(self, reference: str) -> Document | None:
        """The manifest or index that a tag or digest had at the last pull."""
        found = self._store.read_name(self._key(reference))
        digest = found.get("digest") if found else None
        data = self._store.read(digest) if isinstance(digest, str) else None
        if found is None or data is None:
            return None
        kind = found.get("media_type")
        what = f"the manifest {reference} of {self._name}"
        return make_document(data, kind if isinstance(kind, str) else "", what)

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """A blob that was pulled."""
        data = self._store.read(descriptor.digest, max_bytes=max_bytes)
        if data is None and descriptor.digest in self._store.altered:
            raise RegistryError(
                f"the blob {descriptor.digest} of {self._name} was altered on this machine, and is "
                "removed; pull it again"
            )
        if data is None or len(data) != descriptor.size:
            raise RegistryError(
                f"the blob {descriptor.digest} of {self._name} is not on this machine; pull it"
            )
        return data

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        """The manifests about `digest` that were there at the last pull."""
        found = self._store.read_name(self._referrers_key(digest))
        listed = found.get("referrers") if found else None
        if not isinstance(listed, list):
            return []
        return [read_descriptor(one, f"the referrers of {digest}") for one in listed]

    def has_blob(self, descriptor: Descriptor) -> bytes | None:
        """A blob that was pulled, or None."""
        data = self._store.take(descriptor.digest)
        return data if data is not None and len(data) == descriptor.size else None

    def keep_blob(self, data: bytes) -> None:
        """Keeps a blob."""
        self._store.put(data)

    def keep_manifest(self, document: Document) -> None:
        """Keeps a manifest, to be found by its digest."""
        self._store.put(document.data)
        self.point(document.digest, document)

    def keep_referrers(self, digest: str, listed: Sequence[Descriptor]) -> None:
        """Sets what is about `digest`."""
        self._store.write_name(
            self._referrers_key(digest), {"referrers": [descriptor_json(one) for one in listed]}
        )

    def point(self, wanted: str, document: Document) -> None:
        """Sets a tag, or the type of a digest; what it points to has to be kept before."""
        self._store.write_name(
            self._key(wanted), {"digest": document.digest, "media_type": document.media_type}
        )

    def forget(self, wanted: str) -> None:
        """Forgets a tag."""
        self._store.remove_name(self._key(wanted))

    def _key(self, wanted: str) -> str:
        return f"{self._name}{'@' if is_digest(wanted) else ':'}{wanted}"

    def _referrers_key(self, digest: str) -> str:
        return f"{self._name}@{digest}#referrers"


def _seal(value: dict[str, Any]) -> bytes:
    """A name's file: the digest of the line below it, and the line."""
    body = encode_json(value)
    return sha256(body).encode() + b"\n" + body


def _read_sealed(data: bytes) -> dict[str, Any] | None:
    seal, _, body = data.partition(b"\n")
    if sha256(body).encode() != seal:
        return None
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
