"""Checks that a component's embedded manifest is what its `describe()` returns.

Tools are listed, and grants and locks are decided, by the embedded manifest, which is read without
running anything. A component that describes itself differently when it runs was changed after it
was built, or is meant to deceive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, LoadError
from carrel.plugins.sources.source import MANIFEST_SECTION
from carrel.runtime.documents import DOCUMENTS
from carrel.runtime.sections import custom_section
from carrel.text.json_text import decode_object
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.runtime.component import SandboxedComponent

    from .manifest import Manifest

#: Differing paths that an error names.
_SHOWN = 3

#: Digests of components that agree, checked in this process.
_agreeing: set[str] = set()


def require_agreement(component: SandboxedComponent, wasm: bytes) -> None:
    """Runs `describe()` and compares its JSON value with the embedded manifest's.

    A component without an embedded manifest passes: its manifest comes from `describe()`. The check
    runs once for each digest in a process.

    Args:
        component: runs `describe()`, under limits of its own.
        wasm: its bytes, which have the component's digest.

    Raises:
        LoadError: the two differ, or `describe()` failed.
    """
    section = custom_section(wasm, MANIFEST_SECTION)
    if section is None or component.digest in _agreeing:
        return
    name = component.name
    try:
        described = decode_object(component.describe(), plugin=name, tool="describe")
        embedded = decode_object(section.decode("utf-8", "replace"), plugin=name, tool="describe")
    except CarrelError as error:
        raise LoadError(
            f"{name}: cannot be loaded, because describe() failed: {error.message}", plugin=name
        ) from error
    paths = list(_differences(embedded, described, ""))
    if paths:
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        raise LoadError(
            f"{name}: the embedded manifest is not what describe() returns; they differ at "
            f"{', '.join(printable(path, 100) for path in paths[:_SHOWN])}{more}. Build it again "
            "with 'carrel plugin build', or get it again from its publisher",
            plugin=name,
        )
    _agreeing.add(component.digest)


def require_documents(manifest: Manifest, *, exported: bool) -> None:
    """Compares a manifest's formats with what its component exports.

    Args:
        manifest: of a component.
        exported: whether the component exports the optional interface `documents`.

    Raises:
        LoadError: a format is bytes and the interface is missing, or the other way round.
    """
    name = manifest.name
    formats = [declared.name for declared in manifest.formats if declared.takes_bytes]
    if formats and not exported:
        raise LoadError(
            f"{name}: its manifest declares {', '.join(formats)} as bytes, but the component does "
            f"not export {DOCUMENTS}; build it for the world plugin-with-documents "
            "(in Rust: plugin!(…, bytes))",
            plugin=name,
        )
    if exported and not formats:
        raise LoadError(
            f"{name}: the component exports {DOCUMENTS}, but no format of its manifest is bytes; "
            'declare one with "bytes": true, or build it for the world plugin',
            plugin=name,
        )


def _differences(left: Any, right: Any, path: str) -> Iterator[str]:
    """Yields the paths at which two JSON values differ, outermost first."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            below = f"{path}.{key}" if path else key
            if key in left and key in right:
                yield from _differences(left[key], right[key], below)
            else:
                yield below
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (here, there) in enumerate(zip(left, right, strict=True)):
            yield from _differences(here, there, f"{path}[{index}]")
    elif left != right or isinstance(left, bool) is not isinstance(right, bool):
        # To Python True is 1; in JSON they are two values, as 1 and 1.0 are not.
        yield path
