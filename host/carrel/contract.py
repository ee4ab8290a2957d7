"""Finds the contract's files: in the package when installed, at the root in a checkout."""

from __future__ import annotations

from pathlib import Path


def contract_file(name: str) -> Path:
    """Returns the path of a file of `contract/v1`, such as `manifest.schema.json`."""
    installed = Path(__file__).parent / "contract" / "v1" / name
    if installed.exists():
        return installed
    return Path(__file__).parents[2] / "contract" / "v1" / name
