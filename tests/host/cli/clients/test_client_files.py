"""Tests the changes that add Carrel to clients' configurations."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from carrel.cli.clients import jsonc
from carrel.cli.clients.change import own_command, plan, write
from carrel.cli.clients.known import CLIENTS, Client, ClientFolders, is_installed
from carrel.errors import CarrelError, ConfigError, StorageError

COMMAND, ARGUMENTS = "/opt/carrel/bin/carrel", ["serve"]

#: Configurations as people have them: format → texts.
FILES: dict[str, list[str]] = {
    "json": [
        "{}",
        "{\n}\n",
        "{ /* nothing yet */ }",
        '{"KEYS": {}}',
        '{"KEYS": {"other": {"command": "x"}}}',
        '{\n  "KEYS": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
        '// mine\n{\n\t// theme\n\t"theme": "dark", // at night\n\t"a": [1, 2,],\n}\n',
        (
            '{\n    "KEYS": {\n        // the first\n        "other": {"command": "x"}, // kept\n'
            "        // the last\n    },\n    /* more */\n}\n"
        ),
        '{\n  "KEYS": {\n    "other": 1 // kept\n  }\n}',
        '{\r\n  "KEYS": {\r\n    "other": {}\r\n  },\r\n  "x": "//no comment"\r\n}\r\n',
        '\ufeff{"a": "é\\u00e9", "b": 1e3}',
        (
            '{\n  "KEYS": {\n    "carrel": {\n      "command": "/old/carrel", // mine\n'
            '      "args": ["serve", "--config", "a"],\n      "env": {"CARREL_CONTACT": "a@b.c"}\n'
            "    }\n  }\n}\n"
        ),
    ],
    "toml": [
        "# mine\n",
        'model = "x" # kept\n',
        '[mcp_servers.other]\ncommand = "y"\nargs = [\n  "a", # first\n  "b",\n]\n',
        'a = 1\r\n\r\n[table]\r\nb = "[mcp_servers.carrel]"\r\n',
        (
            '[mcp_servers.carrel]\ncommand = "/old/carrel" # mine\nargs = [\n  "serve",\n]\n'
            'startup_timeout_sec = 20\n\n[mcp_servers.carrel.env]\nCARREL_CONTACT = "a@b.c"\n'
        ),
        '[mcp_servers."carrel"]\ncommand = "x"\n[other]\nargs = 1\n',
    ],
    "yaml": [
        "# mine\n",
        "GOOSE_MODEL: x # kept\n",
        "extensions:\n  other:\n    cmd: y # kept\n    args:\n    - a\n    - b\n# end\nlast: 1\n",
        (
            "extensions:\n    other:\n        enabled: true\n        text: |\n            one\n"
            "            two\nmode: auto\n"
        ),
        "extensions: {}\nmode: auto\n",
        "extensions:\nmode: auto\n",
        "extensions:\n  carrel:\n    cmd: /old/carrel # mine\n    args: [serve]\n    timeout: 60\n",
        # As Goose itself writes lists.
        (
            "extensions:\n  carrel:\n    args: # mine\n    - run\n    - serve\n"
            "    cmd: old # kept\nmode: auto\n"
        ),
        "extensions:\n  carrel:\n    cmd: old\n    args:\n    - run\n",
        "mode: auto",
        "extensions:\r\n  other:\r\n    cmd: y # kept\r\nmode: auto\r\n",
        "extensions:\r\n  carrel:\r\n    cmd: /old/carrel\r\n    args:\r\n    - serve\r\n",
        "\ufeff# mine\r\nmode: auto\r\n",
    ],
}
READERS: dict[str, Any] = {"json": jsonc.read, "toml": tomllib.loads, "yaml": yaml.safe_load}
CASES = [
    pytest.param(client, text, id=f"{client.name}-{number}")
    for client in CLIENTS.values()
    for number, text in enumerate(FILES[client.format])
]


def places(home: Path, platform: str = "linux", **env: str) -> ClientFolders:
    return ClientFolders.of({"HOME": str(home), **env}, platform)


def put(client: Client, home: Path, text: str) -> Path:
    path = client.file(places(home))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace("KEYS", client.keys[0]).encode())
    return path


def entry(client: Client, text: str) -> dict[str, Any]:
    found = READERS[client.format](text)
    for key in (*client.keys, "carrel"):
        found = found[key]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(("client", "text"), CASES)
def test_an_entry_is_added_and_all_else_is_kept(client: Client, text: str, tmp_path: Path) -> None:
    path = put(client, tmp_path, text)
    before = path.read_bytes().decode()
    change = plan(client, places(tmp_path), COMMAND, ARGUMENTS)
    own = entry(client, change.after)
    assert own[client.command_key] == COMMAND
    assert own["args"][0] == "serve"
    # Comments and strings are there as before, and lines that are not Carrel's are unchanged.
    for word in ("mine", "kept", "first", "theme", "at night", "more", "the last", "a@b.c"):
        assert change.after.count(word) == before.count(word)
    assert ("\r\n" in before) == ("\r\n" in change.after)
    if "\r\n" in before:
        assert "\n" not in change.after.replace("\r\n", "")
    assert change.after.replace("\r\n", "").count("\r") == 0
    write(change)
    again = plan(client, places(tmp_path), COMMAND, ARGUMENTS)
    assert not again.is_needed, "a second run changes nothing"


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda one: one.name)
def test_a_missing_file_is_created_for_its_owner_only(client: Client, tmp_path: Path) -> None:
    change = plan(client, places(tmp_path), COMMAND, ARGUMENTS)
    assert change.before is None
    assert change.diff().startswith("--- /dev/null")
    assert write(change) is None
    assert entry(client, change.path.read_text("utf-8"))[client.command_key] == COMMAND
    if os.name == "posix":
        assert change.path.stat().st_mode & 0o777 == 0o600


BROKEN = {
    "json": ['{"KEYS": {', '{"KEYS": []}', "[1]", '{"a" 1}', '{"a": 1, "a": 2}', "{'a': 1}"],
    "toml": ["a = ", "mcp_servers = 1", "[mcp_servers]\ncarrel = 1", "[a]\n[a]"],
    "yaml": ["a: [1", "extensions: 1", "- 1", "a: b: c", "extensions:\n  carrel: text"],
}


@pytest.mark.parametrize(
    ("client", "text"),
    [
        pytest.param(client, text, id=f"{client.name}-{number}")
        for client in CLIENTS.values()
        for number, text in enumerate([*BROKEN[client.format], "\ud800"])
    ],
)
def test_a_broken_file_is_reported_and_left_alone(
    client: Client, text: str, tmp_path: Path
) -> None:
    path = put(client, tmp_path, "" if text == "\ud800" else text)
    if text == "\ud800":
        path.write_bytes(b"\xff\xfe")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"repair the file first|by hand") as caught:
        plan(client, places(tmp_path), COMMAND, ARGUMENTS)
    assert str(path) in caught.value.message
    assert path.read_bytes() == before


def test_an_existing_entry_keeps_its_other_members(tmp_path: Path) -> None:
    client = CLIENTS["cursor"]
    old = {"command": COMMAND, "args": ["serve", "--config", "a"], "env": {"A": "b"}, "x": 1}
    put(client, tmp_path, json.dumps({"mcpServers": {"carrel": old}}))
    assert not plan(client, places(tmp_path), COMMAND, ARGUMENTS).is_needed
    other = plan(client, places(tmp_path), "/new/carrel", ARGUMENTS)
    assert entry(client, other.after) == {**old, "command": "/new/carrel"}


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["serve", "--config", "/home/me/carrel.toml"], ["--config", "/home/me/carrel.toml"]),
        (["-m", "carrel", "serve", "--surface", "doiget"], ["--surface", "doiget"]),
        (["carrel", "serve"], []),
        (["--version"], []),
        ("serve --config a", []),
    ],
)
def test_the_options_of_an_existing_entry_are_kept(
    client: Client, given: Any, kept: list[str], tmp_path: Path
) -> None:
    """They may name the configuration, which has grants and trusted signers."""
    old: Any = {client.command_key: "/old/carrel", "args": given}
    for key in reversed((*client.keys, "carrel")):
        old = {key: old}
    table = f'[mcp_servers.carrel]\ncommand = "/old/carrel"\nargs = {json.dumps(given)}\n'
    texts = {"json": json.dumps(old), "toml": table, "yaml": yaml.safe_dump(old)}
    put(client, tmp_path, texts[client.format])
    change = plan(client, places(tmp_path), COMMAND, ["-m", "carrel", "serve"])
    assert entry(client, change.after)["args"] == ["-m", "carrel", "serve", *kept]


@pytest.mark.parametrize(
    ("name", "platform", "file"),
    [
        (
            "claude-desktop",
            "darwin",
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("cursor", "darwin", ".cursor/mcp.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", "AppData/Roaming/Code/User/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("zed", "darwin", ".config/zed/settings.json"),
        ("zed", "win32", "AppData/Roaming/Zed/settings.json"),
        ("goose", "darwin", ".config/goose/config.yaml"),
        ("goose", "win32", "AppData/Roaming/Block/goose/config/config.yaml"),
    ],
)
def test_files_are_where_each_platform_has_them(
    name: str, platform: str, file: str, tmp_path: Path
) -> None:
    assert CLIENTS[name].file(places(tmp_path, platform)) == tmp_path / file


def test_variables_of_the_clients_name_their_folders(tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    found = places(tmp_path, CODEX_HOME=other, CLAUDE_CONFIG_DIR=other, XDG_CONFIG_HOME=other)
    assert CLIENTS["codex"].file(found) == tmp_path / "other" / "config.toml"
    assert CLIENTS["claude-code"].file(found) == tmp_path / "other" / ".claude.json"
    assert CLIENTS["zed"].file(found) == tmp_path / "other" / "zed" / "settings.json"
    on_mac = places(tmp_path, "darwin", XDG_CONFIG_HOME=other)
    assert CLIENTS["zed"].file(on_mac) == tmp_path / ".config" / "zed" / "settings.json"


def test_a_client_with_a_folder_of_its_own_is_found(tmp_path: Path) -> None:
    found = places(tmp_path)
    assert not any(is_installed(one, found) for one in CLIENTS.values())
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".claude.json").write_text("{}")
    installed = [one.name for one in CLIENTS.values() if is_installed(one, found)]
    assert installed == ["claude-code", "cursor"]


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_a_linked_file_stays_a_link_and_keeps_its_permissions(tmp_path: Path) -> None:
    client = CLIENTS["codex"]
    path = put(client, tmp_path, "# mine\n")
    target = tmp_path / "dotfiles.toml"
    path.rename(target)
    target.chmod(0o640)
    path.symlink_to(target)
    backups = [write(plan(client, places(tmp_path), name, ARGUMENTS)) for name in ("/a", "/b")]
    assert path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in backups if one] == [
        "dotfiles.toml.before-carrel-1",
        "dotfiles.toml.before-carrel-2",
    ]
    assert (tmp_path / "dotfiles.toml.before-carrel-1").read_text() == "# mine\n"


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    """Its owner, or what generates it, has protected it; a rename would not mind."""
    path = put(CLIENTS["cursor"], tmp_path, "{}")
    path.chmod(0o444)
    with pytest.raises(StorageError, match="is read-only; make it writable first"):
        write(plan(CLIENTS["cursor"], places(tmp_path), COMMAND, ARGUMENTS))
    assert path.read_text() == "{}"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    client = CLIENTS["zed"]
    path = put(client, tmp_path, "{}")
    change = plan(client, places(tmp_path), COMMAND, ARGUMENTS)
    path.write_text('{"a": 1}')
    with pytest.raises(CarrelError, match="changed meanwhile"):
        write(change)
    assert path.read_text() == '{"a": 1}'


def test_the_own_command_starts_this_carrel() -> None:
    command, arguments = own_command({})
    assert Path(command).is_file()
    assert arguments[-1] == "serve"


RUNNERS = {
    "uvx": "/home/me/.cache/uv/archive-v0/Ab1",
    "uvx ": "/home/me/.local/share/uv/environments-v2/carrel-1",
    "pipx": "/home/me/.cache/pipx/1f2",
    "pipx ": "/Users/me/Library/Caches/pipx/1f2",
    "pipx  ": "/c/Users/me/AppData/Local/pipx/pipx/Cache/1f2",
}


@pytest.mark.skipif(os.name != "posix", reason="programs of POSIX")
@pytest.mark.parametrize(("runner", "prefix"), RUNNERS.items(), ids=lambda one: one.strip())
def test_the_environment_of_one_run_is_not_named_but_its_runner_with_its_path(
    runner: str, prefix: str, tmp_path: Path
) -> None:
    """uvx and pipx delete such an environment; a desktop program may not find them by name."""
    runner = runner.strip()
    program = tmp_path / runner
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    before = ["run"] if runner == "pipx" else []
    arguments = [*before, "carrel", "serve"]
    assert own_command({"PATH": str(tmp_path)}, prefix) == (str(program), arguments)
    assert own_command({"PATH": str(tmp_path / "none")}, prefix) == (runner, arguments)


# Any file of JSON with comments

BLANK = st.sampled_from(["", " ", "\n", "\n    ", "\t", " // a {\n", "/* } */", "\n  // x\n  "])
KEY = st.sampled_from(["a", "b", "mcpServers", "carrel", 'quoted "\\" é'])


@st.composite
def documents(draw: Any, depth: int = 3) -> str:
    """Returns an object with blanks and comments anywhere."""
    parts = [draw(BLANK), "{"]
    keys = draw(st.lists(KEY, unique=True, max_size=4 if depth else 0))
    for number, key in enumerate(keys):
        if depth and draw(st.booleans()):
            value = draw(documents(depth=depth - 1))
        else:
            value = draw(st.sampled_from(['"x // y"', "1", "[1, /* 2, */ 3,]", "null", "-1.5e3"]))
        comma = "," if number < len(keys) - 1 or draw(st.booleans()) else ""
        parts += [draw(BLANK), json.dumps(key), draw(BLANK), ":", draw(BLANK), value]
        parts += [draw(BLANK), comma]
    return "".join([*parts, draw(BLANK), "}", draw(BLANK)])


@given(documents(), st.lists(KEY, min_size=1, max_size=3))
def test_a_member_is_set_in_any_document(text: str, path: list[str]) -> None:
    expected = jsonc.read(text)
    target = expected
    for key in path[:-1]:
        target = target.setdefault(key, {}) if isinstance(target, dict) else None
    if not isinstance(target, dict):
        with pytest.raises(ValueError, match="is not an object"):
            jsonc.set_member(text, path, 7)
        return
    target[path[-1]] = {"n": [1], "m": {}}
    changed = jsonc.set_member(text, path, {"n": [1], "m": {}})
    assert jsonc.read(changed) == expected
