"""Computes the change that adds Carrel to a client's configuration, and writes it."""

from __future__ import annotations

import copy
import difflib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from carrel.errors import ConfigError, StorageError
from carrel.files.atomic_write import OWNER_ONLY, write_atomically

from .known import NAME, Client, ClientFolders, Format

#: Bytes of the largest configuration that is read.
_MOST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file.

    Attributes:
        client: whose configuration it is.
        path: of the file.
        before: its text; None if it does not exist.
        after: its new text; equal to `before` if nothing is to change.
    """

    client: Client
    path: Path
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Whether the file changes."""
        return self.before != self.after

    def diff(self) -> str:
        """Returns the change for a person, as a unified diff."""
        before = (self.before or "").splitlines()
        name = "/dev/null" if self.before is None else str(self.path)
        lines = difflib.unified_diff(
            before, self.after.splitlines(), name, str(self.path), "", "", 3, ""
        )
        return "\n".join(lines)


def own_command(env: Mapping[str, str], prefix: str = sys.prefix) -> tuple[str, list[str]]:
    """Returns the command and arguments that start this Carrel's server.

    uvx and pipx may delete the environment of one run, so then the command is uvx or pipx; with its
    full path, because desktop programs often have a `PATH` without it.

    Args:
        env: the environment.
        prefix: as `sys.prefix`.
    """
    parts = {part.lower() for part in Path(prefix).parts}
    if {"archive-v0", "environments-v2"} & parts:
        return _found("uvx", env), ["carrel", "serve"]
    # The cache is `~/.cache`, `~/Library/Caches` or `%LOCALAPPDATA%\pipx\pipx\Cache`.
    if "pipx" in parts and {".cache", "cache", "caches"} & parts:
        return _found("pipx", env), ["run", "carrel", "serve"]
    name = "carrel.exe" if os.name == "nt" else "carrel"
    script = Path(sys.executable).parent / name
    tool = Path(env.get("UV_TOOL_BIN_DIR") or Path.home() / ".local" / "bin") / name
    for path in (tool, script):
        # A tool's link stays where it is when the tool is upgraded.
        if path.exists() and path.resolve() == script.resolve():
            return str(path), ["serve"]
    if script.exists():
        return str(script), ["serve"]
    return sys.executable, ["-m", "carrel", "serve"]


def _found(program: str, env: Mapping[str, str]) -> str:
    """Returns the full path of a program, or its name if it is not in `PATH`."""
    path = shutil.which(program, path=env.get("PATH"))
    return program if path is None else os.path.abspath(path)  # noqa: PTH100 - keeps links


def plan(client: Client, folders: ClientFolders, command: str, arguments: Sequence[str]) -> Change:
    """Returns the change that makes a client start Carrel; reads the file and writes nothing.

    An existing entry keeps its other members, and its arguments after `serve`.

    Raises:
        ConfigError: the file is broken, or cannot be edited without other changes.
        StorageError: it cannot be read.
    """
    path = client.file(folders)
    before = _read(path)
    editor = _editor(client.format)
    text = before or ""
    try:
        document = editor.read(text) if text.strip("\ufeff \t\r\n") else {}
    except ValueError as error:
        raise ConfigError([f"{error}; repair the file first"], path=str(path)) from None
    members = _members(client, document, command, arguments, path)
    if not members:
        return Change(client, path, before, text)
    keys = (*client.keys, NAME)
    expected = copy.deepcopy(document)
    target = expected
    for key in keys:
        if target.get(key) is None:
            target[key] = {}
        target = target[key]
    target.update(members)
    try:
        after = editor.set_members(text, keys, members)
        is_right = editor.read(after) == expected
    except ValueError:
        is_right, after = False, text
    if not is_right:
        fault = f"the entry cannot be added without other changes; add it by hand: {members}"
        raise ConfigError([fault], path=str(path))
    return Change(client, path, before, after)


def _members(
    client: Client, document: Any, command: str, arguments: Sequence[str], path: Path
) -> dict[str, Any]:
    """Returns the members of the entry that must be set; none if it is right."""
    found = document
    for depth, key in enumerate((*client.keys, NAME)):
        if not isinstance(found, dict):
            where = ".".join(client.keys[:depth]) or "the document"
            raise ConfigError([f"{where} is not a table; repair the file first"], path=str(path))
        found = found.get(key)
        if found is None:
            return client.entry(command, arguments)
    if not isinstance(found, dict):
        raise ConfigError([f"{NAME} is not a table; repair the file first"], path=str(path))
    existing, own = found.get("args"), list(arguments)
    if isinstance(existing, list) and "serve" in existing:
        is_own = found.get(client.command_key) == command
        own = existing if is_own else [*own, *existing[existing.index("serve") + 1 :]]
    members = {client.command_key: command, "args": own}
    return {key: value for key, value in members.items() if found.get(key) != value}


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(str(path), f"cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST:
        raise ConfigError([f"the file is larger than {_MOST:,} bytes"], path=str(path))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        fault = f"the file is not UTF-8, at byte {error.start}; repair the file first"
        raise ConfigError([fault], path=str(path)) from None


def _editor(kind: Format) -> ModuleType:
    from . import jsonc, toml_tables, yaml_mappings

    return {"json": jsonc, "toml": toml_tables, "yaml": yaml_mappings}[kind]


def write(change: Change) -> Path | None:
    """Writes the file atomically, and returns the copy of the old one; None without an old one.

    A link stays a link: the file that it names is replaced. The file keeps its permissions; a new
    one can only be read by its owner.

    Raises:
        ConfigError: the file has changed since it was read.
        StorageError: it cannot be written, or is read-only: a rename would replace it all the same.
    """
    path = change.path.resolve()
    if _read(path) != change.before:
        raise ConfigError(["the file has changed meanwhile; run the command again"], path=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        backup, mode = None, OWNER_ONLY
        if change.before is not None:
            mode = path.stat().st_mode & 0o777
            if not mode & 0o222:
                raise StorageError(str(path), "is read-only; make it writable first")
            backup = _free_name(path)
            write_atomically(backup, change.before.encode(), mode=mode)
        write_atomically(path, change.after.encode(), mode=mode)
    except OSError as error:
        raise StorageError(str(path), f"cannot be written: {error.strerror or error}") from None
    return backup


def _free_name(path: Path) -> Path:
    """Returns the path of a new backup beside the file."""
    number = 1
    while (backup := path.with_name(f"{path.name}.before-carrel-{number}")).exists():
        number += 1
    return backup
