"""The store of pulled plugins: content by digest, and names that point to it.

    blobs/sha256/HEX      content: manifests and blobs; the name is the digest of what it holds
    names/HEX             what a tag, or the list of referrers of a manifest, was at the last pull
    partial/HEX           the beginning of a partial download, see `partial`

Content and names are written atomically and flushed, with their folders: a process that is killed
leaves a whole file or none. Every reader computes the digest of what it reads; a file with another
digest is removed and counts as missing. Processes need no lock for these: equal digests mean equal
content, and a name is one file.
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

#: Seconds after which a partial download that nothing has resumed is removed.
_PARTIAL_SECONDS = 7 * 86_400.0

#: The largest file of `names`.
_MAX_NAME_BYTES = 8 * 2**20


class PluginStore:
    """A folder of pulled plugins, shared by all processes of its owner.

    Args:
        folder: created when it is first written to.

    Attributes:
        folder: see above.
        partial_blobs: the partial downloads.
        altered: digests of content that was altered, and removed.
    """

    def __init__(self, folder: Path) -> None:
        self._blobs = folder / "blobs" / "sha256"
        self._names = folder / "names"
        self.folder = folder
        self.altered: list[str] = []
        self.partial_blobs = PartialBlobs(folder, self._blobs)

    def repository(self, reference: ImageReference) -> StoredRepository:
        """Returns the pulled content of a reference's repository, without network."""
        return StoredRepository(self, reference)

    def resolve(self, reference: ImageReference) -> str | None:
        """Returns the digest of the reference at its last pull; None when it was never pulled."""
        return self.repository(reference).resolve(reference.wanted)

    def read(self, digest: str, *, max_bytes: int | None = None) -> bytes | None:
        """Returns content by its digest; None when it is missing or altered.

        Raises:
            StorageError: the file cannot be read.
        """
        if not is_digest(digest):
            return None
        path = self._path(digest)
        with explained(path):
            try:
                with path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    if max_bytes is not None and status.st_size > max_bytes:
                        return None
                    data = file.read()
            except FileNotFoundError:
                return None
            if sha256(data) == digest:
                return data
            self.altered.append(digest)
            self._discard(path, status)
        return None

    def put(self, data: bytes) -> str:
        """Stores content and returns its digest once it is on the disk.

        Raises:
            StorageError: the disk refuses.
        """
        digest = sha256(data)
        if self.take(digest) is None:
            self._write(self._path(digest), data)
        return digest

    def take(self, digest: str) -> bytes | None:
        """Returns content by its digest, and makes it as recent for `prune` as if just stored."""
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
        """Returns the value of a name; None when it has none, or its file is torn."""
        path = self._name_path(key)
        with explained(path):
            try:
                with path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    data = file.read(_MAX_NAME_BYTES)
            except FileNotFoundError:
                return None
            value = _read_sealed(data)
            if value is not None and value.get("name") == key:
                return value
            self._discard(path, status)
        return None

    def write_name(self, key: str, value: dict[str, Any]) -> None:
        """Sets a name atomically.

        Raises:
            StorageError: the disk refuses.
        """
        self._write(self._name_path(key), _seal({"name": key, **value}))

    def remove_name(self, key: str) -> None:
        """Removes a name if it exists."""
        path = self._name_path(key)
        with explained(path):
            path.unlink(missing_ok=True)

    def prune_partial_blobs(self) -> int:
        """Removes partial downloads that were not resumed for a week; returns bytes freed."""
        return self.partial_blobs.prune(older_than=time.time() - _PARTIAL_SECONDS)

    def names(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yields every whole name with its file."""
        for path in sorted(self._names.glob("*")):
            try:
                value = _read_sealed(path.read_bytes())
            except OSError:
                continue
            if value is not None:
                yield path, value

    def files(self) -> Iterator[Path]:
        """Yields every file of content, and every temporary file."""
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

    def _discard(self, path: Path, status: os.stat_result) -> None:
        """Removes an altered file, unless another process has replaced it by a whole one."""
        _log.warning("%s is torn or was changed; it is removed and fetched again", path)
        try:
            now = path.stat()
            if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            pass


class StoredRepository:
    """A `RepositoryReader` of pulled content; `pull` uses the methods that write."""

    def __init__(self, store: PluginStore, reference: ImageReference) -> None:
        self._store = store
        self._name = f"{reference.host}/{reference.repository}"

    def resolve(self, reference: str) -> str | None:
        """Returns the digest of a tag at its last pull; a digest itself, if it was pulled."""
        found = self._store.read_name(self._key(reference))
        digest = found.get("digest") if found else None
        return digest if is_digest(digest) else None

    def manifest(self, reference: str) -> Document | None:
        """Returns the manifest or index of a tag or digest at the last pull."""
        found = self._store.read_name(self._key(reference))
        digest = found.get("digest") if found else None
        data = self._store.read(digest) if isinstance(digest, str) else None
        if found is None or data is None:
            return None
        kind = found.get("media_type")
        what = f"the manifest {reference} of {self._name}"
        return make_document(data, kind if isinstance(kind, str) else "", what)

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """Returns a pulled blob."""
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
        """Returns the manifests about `digest` at the last pull."""
        found = self._store.read_name(self._referrers_key(digest))
        listed = found.get("referrers") if found else None
        if not isinstance(listed, list):
            return []
        return [read_descriptor(entry, f"the referrers of {digest}") for entry in listed]

    def has_blob(self, descriptor: Descriptor) -> bytes | None:
        """Returns a pulled blob, or None."""
        data = self._store.take(descriptor.digest)
        return data if data is not None and len(data) == descriptor.size else None

    def keep_blob(self, data: bytes) -> None:
        """Stores a blob."""
        self._store.put(data)

    def keep_manifest(self, document: Document) -> None:
        """Stores a manifest under its digest."""
        self._store.put(document.data)
        self.point(document.digest, document)

    def keep_referrers(self, digest: str, listed: Sequence[Descriptor]) -> None:
        """Sets the referrers of `digest`."""
        self._store.write_name(
            self._referrers_key(digest),
            {"referrers": [descriptor_json(descriptor) for descriptor in listed]},
        )

    def point(self, reference: str, document: Document) -> None:
        """Sets a tag, or the type of a digest, whose content must be stored before."""
        self._store.write_name(
            self._key(reference), {"digest": document.digest, "media_type": document.media_type}
        )

    def forget(self, reference: str) -> None:
        """Removes a tag."""
        self._store.remove_name(self._key(reference))

    def _key(self, reference: str) -> str:
        return f"{self._name}{'@' if is_digest(reference) else ':'}{reference}"

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
