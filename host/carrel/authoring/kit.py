"""Carrel's sources for plugin authors: the guest kit, the componentiser, the contract.

A wheel carries them as package data, a checkout has them at its root, under the same paths. They
are members of Carrel's Cargo workspace; a copy of them becomes a small workspace of its own, with
the same versions and lints.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from carrel.contract import contract_file

#: The crate that plugins depend on, below the kit's root.
GUEST_KIT = "plugins/pdk"
#: The crate that makes components of core modules.
COMPONENTISER = "componentize"


def kit_root() -> Path:
    """Returns the folder that holds the workspace's manifest, lock and crates."""
    installed = Path(__file__).parent / "kit"
    return installed if installed.is_dir() else Path(__file__).parents[3]


def contract_wit() -> Path:
    """Returns the contract's definition, for tools that generate bindings from it."""
    return contract_file("plugin.wit")


def world(*, reads_bytes: bool) -> str:
    """The contract's world for a plugin, with or without binary formats."""
    return "plugin-with-documents" if reads_bytes else "plugin"


def copy_crates(crates: Sequence[str], into: Path) -> None:
    """Copies crates of the kit, and makes a Cargo workspace of the copy.

    Args:
        crates: such as `GUEST_KIT`.
        into: a folder, made if needed.
    """
    root = kit_root()
    for crate in crates:
        for part in ("Cargo.toml", "src"):
            source, target = root / crate / part, into / crate / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(source, target)
    if GUEST_KIT in crates:
        wit = into / "contract" / "v1" / "plugin.wit"
        wit.parent.mkdir(parents=True)
        shutil.copyfile(contract_wit(), wit)
    manifest = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))
    (into / "Cargo.toml").write_text(workspace_manifest(manifest, crates), "utf-8")


def workspace_manifest(manifest: Mapping[str, Any], crates: Sequence[str]) -> str:
    """Returns the text of a workspace's `Cargo.toml` with only some of its members.

    Profiles are omitted, because the workspace defines them. So are dependencies on members.
    """
    workspace = dict(manifest["workspace"])
    workspace["members"] = list(crates)
    workspace.pop("exclude", None)
    workspace["dependencies"] = {
        name: requirement
        for name, requirement in workspace["dependencies"].items()
        if not (isinstance(requirement, dict) and "path" in requirement)
    }
    return "\n".join(_table("workspace", workspace)).strip() + "\n"


def _table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yields a table as TOML: its values first, then the tables in it. JSON's values are TOML's
    too.
    """
    yield f"\n[{name}]"
    for key, value in table.items():
        if not isinstance(value, dict):
            yield f"{key} = {json.dumps(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _table(f"{name}.{key}", value)
