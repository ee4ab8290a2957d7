"""Lists the known clients: where their configuration is, and what an entry looks like."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

#: The name of the entry.
NAME: Final = "carrel"

Format = Literal["json", "toml", "yaml"]


@dataclass(frozen=True, slots=True)
class ClientFolders:
    """Folders of the user.

    Attributes:
        home: the home directory.
        config: the folder of configurations: `XDG_CONFIG_HOME`, or `%APPDATA%` on Windows.
        env: the environment.
        platform: as `sys.platform`.
    """

    home: Path
    config: Path
    env: Mapping[str, str]
    platform: str

    @classmethod
    def of(cls, env: Mapping[str, str], platform: str = sys.platform) -> ClientFolders:
        """Returns the folders of the user of this environment."""
        home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
        if platform == "win32":
            config = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
        else:
            named = Path(env.get("XDG_CONFIG_HOME", ""))
            config = named if named.is_absolute() else home / ".config"
        return cls(home, config, env, platform)

    @property
    def support(self) -> Path:
        """The folder of desktop programs: `~/Library/Application Support` on macOS."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.config

    def named(self, variable: str, default: Path) -> Path:
        """Returns the folder that a variable names, or the default."""
        text = self.env.get(variable, "").strip()
        return Path(text) if text else default


@dataclass(frozen=True, slots=True)
class Client:
    """A client.

    Attributes:
        name: for `--client`.
        title: its name for people.
        file: returns the path of its configuration.
        format: of that file.
        keys: the table of servers.
        command_key: the member of an entry with the command.
        more: the other members of a new entry.
    """

    name: str
    title: str
    file: Callable[[ClientFolders], Path]
    format: Format
    keys: tuple[str, ...]
    command_key: str = "command"
    more: Mapping[str, Any] | None = None

    def entry(self, command: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Returns a new entry."""
        return {**(self.more or {}), self.command_key: command, "args": list(arguments)}


def _goose(folders: ClientFolders) -> Path:
    if folders.platform == "win32":
        return folders.config / "Block" / "goose" / "config" / "config.yaml"
    return folders.config / "goose" / "config.yaml"


def _zed(folders: ClientFolders) -> Path:
    if folders.platform == "darwin":  # where Zed does not read XDG_CONFIG_HOME
        return folders.home / ".config" / "zed" / "settings.json"
    folder = "Zed" if folders.platform == "win32" else "zed"
    return folders.config / folder / "settings.json"


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            lambda folders: folders.support / "Claude" / "claude_desktop_config.json",
            "json",
            ("mcpServers",),
        ),
        Client(
            "claude-code",
            "Claude Code",
            lambda folders: folders.named("CLAUDE_CONFIG_DIR", folders.home) / ".claude.json",
            "json",
            ("mcpServers",),
            more={"type": "stdio"},
        ),
        Client(
            "cursor",
            "Cursor",
            lambda folders: folders.home / ".cursor" / "mcp.json",
            "json",
            ("mcpServers",),
        ),
        Client(
            "vscode",
            "VS Code",
            lambda folders: folders.support / "Code" / "User" / "mcp.json",
            "json",
            ("servers",),
            more={"type": "stdio"},
        ),
        Client(
            "codex",
            "Codex",
            lambda folders: folders.named("CODEX_HOME", folders.home / ".codex") / "config.toml",
            "toml",
            ("mcp_servers",),
        ),
        Client("zed", "Zed", _zed, "json", ("context_servers",), more={"source": "custom"}),
        Client(
            "goose",
            "Goose",
            _goose,
            "yaml",
            ("extensions",),
            command_key="cmd",
            more={"enabled": True, "type": "stdio", "name": NAME, "timeout": 300},
        ),
    )
}


def is_installed(client: Client, folders: ClientFolders) -> bool:
    """Returns whether the user seems to have the client: its file or its own folder exists."""
    file = client.file(folders)
    own = file.parent not in {folders.home, folders.config, folders.support}
    return file.exists() or (own and file.parent.is_dir())
