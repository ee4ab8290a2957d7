"""Appends custom sections to a component, which a host reads without running it."""

from __future__ import annotations

from carrel.plugins.sources.source import MANIFEST_SECTION
from carrel.runtime.leb128 import write_leb128
from carrel.runtime.loader import CONTRACT_SECTION
from carrel.runtime.sections import custom_section


def with_sections(component: bytes, *, contract: str, manifest: str) -> bytes:
    """Returns the component with the contract's version and its manifest embedded.

    Args:
        component: one that has neither yet.
        contract: such as `1.0`.
        manifest: exactly what `describe` returns.
    """
    assert custom_section(component, MANIFEST_SECTION) is None, "a manifest is embedded once"
    return (
        component
        + _section(CONTRACT_SECTION, contract.encode())
        + _section(MANIFEST_SECTION, manifest.encode())
    )


def _section(name: str, body: bytes) -> bytes:
    content = write_leb128(len(name.encode())) + name.encode() + body
    return b"\0" + write_leb128(len(content)) + content
