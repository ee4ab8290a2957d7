"""The bytes of built-in plugins and local files, and the digest they must have."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.errors import LoadError
from carrel.runtime.sections import custom_section

#: The custom section with what `describe()` returns, so that listing tools compiles nothing.
MANIFEST_SECTION = "carrel:manifest"

_COMPONENTS = Path(__file__).parents[2] / "components"
_LOCK = _COMPONENTS / "components.lock"


@dataclass(frozen=True, slots=True)
class PluginSource:
    """A component's bytes and the digest that was pinned for them.

    Attributes:
        digest: SHA-256, lower-case hex. For a local file without a lock it is that of the bytes
            just read, so that the same bytes run.
        builtin: whether it is one of Carrel's own.
        oci_digest: of the OCI manifest, `sha256:…`; None for what comes from no registry.
        signer: who signed that digest; None when no signature was asked for.
    """

    wasm: bytes
    digest: str
    builtin: bool
    oci_digest: str | None = None
    signer: str | None = None


def read_source(name: str, url: str) -> PluginSource:
    """Reads the bytes that a plugin's `url` names.

    Args:
        name: the plugin's name, for errors.
        url: `builtin:NAME` or `file:///PATH`.

    Raises:
        LoadError: nothing there, not readable, or an unknown scheme.
    """
    scheme, colon, rest = url.partition(":")
    if Path(url).is_absolute():
        raise LoadError(
            f"{name}: a file is named by its URL, not by its path; write {Path(url).as_uri()}",
            plugin=name,
        )
    if not colon:
        raise LoadError(
            f"{name}: {url!r} is not a URL; relative paths are not accepted; name a file by its "
            "absolute path (file:///…), a registry's plugin (oci://…) or a built-in one "
            "(builtin:NAME)",
            plugin=name,
        )
    if scheme == "builtin":
        return _read_builtin(name, rest)
    if scheme == "file":
        # Imported here: it needs an HTTP client, which built-in plugins do without.
        from urllib.parse import unquote, urlsplit
        from urllib.request import url2pathname

        wasm = _read(name, Path(url2pathname(unquote(urlsplit(url).path))))
        return PluginSource(wasm, hashlib.sha256(wasm).hexdigest(), builtin=False)
    raise LoadError(
        f"{name}: no component is loaded over {scheme}; publish it to a registry (oci://…) or "
        "name a file (file:///…)",
        plugin=name,
    )


def builtin_names() -> tuple[str, ...]:
    """Returns the names of the plugins that come with Carrel."""
    return tuple(json.loads(_LOCK.read_text("utf-8"))["components"])


def embedded_format_list(wasm: bytes) -> list[dict[str, Any]]:
    """Returns the formats in a component's embedded manifest, unchecked; empty without one.

    For built-in components: checking the manifest would take longer than parsing most documents.
    """
    section = custom_section(wasm, MANIFEST_SECTION)
    formats: list[dict[str, Any]] = json.loads(section)["formats"] if section is not None else []
    return formats


def embedded_formats(wasm: bytes) -> dict[str, bool] | None:
    """Returns whether each format's documents are bytes, by a component's embedded manifest.

    Nothing is checked: it is for a built-in component, of which checking the whole manifest would
    take longer than parsing most documents. None without an embedded manifest.
    """
    section = custom_section(wasm, MANIFEST_SECTION)
    if section is None:
        return None
    formats = json.loads(section)["formats"]
    return {
        document_format["name"]: document_format.get("bytes", False) for document_format in formats
    }


def builtin_digest(builtin: str, name: str = "") -> str:
    """Returns the pinned SHA-256 of a built-in plugin, lower-case hex.

    Args:
        builtin: which.
        name: what the configuration calls it, for errors.

    Raises:
        LoadError: there is none.
    """
    name = name or builtin
    try:
        locked = json.loads(_LOCK.read_text("utf-8"))["components"]
    except (OSError, ValueError, KeyError) as error:
        raise LoadError(f"{name}: {_LOCK} cannot be read: {error}", plugin=name) from error
    if builtin not in locked:
        available = ", ".join(sorted(locked))
        raise LoadError(
            f"{name}: no built-in plugin {builtin!r}; there are: {available}", plugin=name
        )
    return str(locked[builtin]["digest"]).removeprefix("sha256:")


def _read_builtin(name: str, builtin: str) -> PluginSource:
    digest = builtin_digest(builtin, name)
    wasm = _read(name, _COMPONENTS / f"{builtin}.wasm")
    return PluginSource(wasm, require_digest(name, wasm, digest), builtin=True)


def require_digest(name: str, wasm: bytes, digest: str) -> str:
    """Returns the digest if the bytes have it.

    Raises:
        LoadError: they are not the pinned bytes.
    """
    found = hashlib.sha256(wasm).hexdigest()
    if found != digest:
        raise LoadError(
            f"{name}: the component's digest is sha256:{found}, but sha256:{digest} is pinned",
            plugin=name,
        )
    return digest


def _read(name: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise LoadError(f"{name}: cannot read {path}: {reason}", plugin=name) from error
