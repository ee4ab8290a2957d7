"""Finds the component in an image's layers: tar archives, read in memory, never unpacked to disk.

Archives are untrusted: decompressed size, number of members and their types are limited; members
that are not plain files are skipped or refused.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Sequence

from carrel.errors import RegistryError
from carrel.fetch.decode import BodyReader, TooLargeError, UndecodableError
from carrel.text.printable import printable

#: Members of one archive.
_MAX_MEMBERS = 10_000

#: Bytes of an archive besides the component: headers, padding, small files.
_OVERHEAD = 2**20

#: Bytes passed to the decompressor at once.
_PIECE = 64 * 1024

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_WHITEOUT = ".wh."


def find_component(layers: Sequence[bytes], what: str, *, max_bytes: int) -> bytes | None:
    """Returns the component that a container of these layers would have; None without one.

    `plugin.wasm` at the root precedes any other `*.wasm`; a later layer replaces and removes files
    of an earlier one, as in a container runtime.

    Raises:
        RegistryError: an archive is broken or hostile, or several files qualify.
    """
    files: dict[str, bytes] = {}
    for layer in layers:
        found: dict[str, bytes] = {}
        for name, content in _members(_decompress(layer, what, max_bytes), what, max_bytes):
            folder, _, base = name.rpartition("/")
            if base.startswith(_WHITEOUT):
                _hide(files, folder, base.removeprefix(_WHITEOUT))
            elif name in found:
                raise RegistryError(f"{what} has {printable(name, 100)!r} twice in one layer")
            elif content is not None:
                found[name] = content
        files |= found
    if "plugin.wasm" in files:
        return files["plugin.wasm"]
    if len(files) > 1:
        names = printable(", ".join(sorted(files)), 200)
        raise RegistryError(f"{what} has several components and none is /plugin.wasm: {names}")
    return next(iter(files.values()), None)


def _hide(files: dict[str, bytes], folder: str, base: str) -> None:
    """Returns what a whiteout removes: a path with all below it, or (opaque) all below a folder."""
    gone = folder if base == ".wh..opq" else f"{folder}/{base}".lstrip("/")
    for name in list(files):
        if not gone or name == gone or name.startswith(f"{gone}/"):
            del files[name]


def _decompress(layer: bytes, what: str, max_bytes: int) -> bytes:
    cap = max_bytes + _OVERHEAD
    if layer.startswith(_ZSTD):
        raise RegistryError(f"{what} is compressed with zstd, which is not read here; use gzip")
    if not layer.startswith(_GZIP):
        return layer
    try:
        reader = BodyReader(["gzip"], cap)
        for start in range(0, len(layer), _PIECE):
            for _ in reader.feed(layer[start : start + _PIECE]):
                pass
        return bytes(reader.finish())
    except TooLargeError as fault:
        raise RegistryError(f"{what} decompresses to more than {cap} bytes") from fault
    except UndecodableError as fault:
        raise RegistryError(f"{what} cannot be decompressed: {fault}") from fault


def _members(archive: bytes, what: str, max_bytes: int) -> Iterator[tuple[str, bytes | None]]:
    """Returns the plain `*.wasm` files with their content, and the whiteouts with None."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            last = -1
            for count in range(_MAX_MEMBERS + 1):
                member = tar.next()
                if member is None:
                    return
                # Sizes below zero make some versions of the reader loop.
                if count == _MAX_MEMBERS or member.offset <= last or member.size < 0:
                    break
                last = member.offset
                name = member.name.removeprefix("./").lstrip("/")
                base = name.rpartition("/")[2]
                if base.startswith(_WHITEOUT):
                    yield name, None
                elif base.endswith(".wasm"):
                    yield name, _content(tar, member, what, max_bytes)
    except (tarfile.TarError, ArithmeticError, OSError, RecursionError, ValueError) as fault:
        raise RegistryError(f"{what} holds no readable tar archive") from fault
    raise RegistryError(f"{what} holds a tar archive that is not honest about its members")


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, what: str, max_bytes: int) -> bytes:
    shown = printable(member.name, 100)
    if not member.isreg() or member.issparse() or ".." in member.name.split("/"):
        raise RegistryError(f"{what}: {shown!r} is not a plain file of the archive")
    if member.size > max_bytes:
        raise RegistryError(
            f"{what}: {shown!r} has {member.size} bytes; at most {max_bytes} are taken"
        )
    file = tar.extractfile(member)
    content = file.read() if file is not None else b""
    if len(content) != member.size:
        raise RegistryError(f"{what}: {shown!r} is cut short")
    return content
