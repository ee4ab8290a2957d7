"""Encrypts values at rest with AES-256-GCM.

The key is random, made once per installation, and kept in a file that only its owner can read, in
the configuration's data folder. A copy of the database cannot be read without that file.
Replicas that share a store share the key by the setting `web.key_file`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from carrel.errors import StorageError
from carrel.files.atomic_write import OWNER_ONLY
from carrel.files.locking import LockTimeout, locked

if TYPE_CHECKING:
    from carrel.config import Config

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
#: First byte of a sealed value.
_VERSION: Final = b"\x01"


class Sealer:
    """Encrypts and decrypts values. Thread-safe.

    Args:
        key: 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(key)

    def seal(self, value: bytes, name: str) -> bytes:
        """Returns the value encrypted.

        Args:
            value: of any size.
            name: where it is kept; it can only be opened under the same name.
        """
        nonce = os.urandom(_NONCE_BYTES)
        return _VERSION + nonce + self._cipher.encrypt(nonce, value, name.encode())

    def open(self, sealed: bytes, name: str) -> bytes | None:
        """Returns the value; None if it was changed, or sealed with another key or name."""
        from cryptography.exceptions import InvalidTag

        if sealed[:1] != _VERSION:
            return None
        nonce, body = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, body, name.encode())
        except (InvalidTag, ValueError):
            return None


def installation_sealer(config: Config) -> Sealer:
    """Returns the sealer of this installation; makes its key when there is none.

    Raises:
        StorageError: the key cannot be read or written, or is no key.
    """
    path = config.web.key_file or config.data_dir / "web.key"
    try:
        key = _read(path)
        if key is None:
            key = _made(path)
    except (OSError, LockTimeout) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StorageError(str(path), f"the key for kept results: {reason}") from None
    if len(key) != _KEY_BYTES:
        raise StorageError(
            str(path), f"is no key of {_KEY_BYTES} bytes; delete it, and a new one is made"
        )
    return Sealer(key)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _made(path: Path) -> bytes:
    """Writes a new key, unless another process has done so meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_name(path.name + ".lock")):
        existing = _read(path)
        if existing is not None:
            return existing
        key = os.urandom(_KEY_BYTES)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
        try:
            os.write(handle, key)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
        return key
