"""Words the remedy of an error for the user of the command line.

Errors speak of an operator, because clients of the server read them too. At the command line the
reader is the operator, so the remedy names the setting and the file to change.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import BuildError, LockError, RegistryError, SignatureError

if TYPE_CHECKING:
    from carrel.errors import CarrelError

_CHANGE = re.compile(r"(?P<key>plugins\.\S+?) (?P<sign>\+=|-=) (?P<value>.+)")


def remedy(error: CarrelError) -> str:
    """Returns the remedy of an error; empty if there is none."""
    setting = grant_of(error)
    if setting:
        written = change(setting, configuration_file())
        return written if error.action == "ask_operator" else f"{error.advice}; or {written}"
    if error.action != "ask_operator" or isinstance(error, RegistryError):
        return error.advice
    if error.error_code == "denied":
        return "no setting allows this; the plugin's own manifest would have to"
    if isinstance(error, BuildError):
        return error.remedy or "correct what the message names, then build again"
    name, file = error.plugin, configuration_file()
    if isinstance(error, LockError):
        # Without a name the error came from that command, whose message has the remedy.
        return f"if it is what you expect, approve it with 'carrel plugin lock {name}'" * bool(name)
    if isinstance(error, SignatureError):
        keys = f"plugins.{name}.trust or trust" if name else "trust"
        return f"in {file}, add its signer to {keys}, or use a plugin of a configured signer"
    entry = f", or plugins.{name} in {file}" if name else f", or its entry in {file}"
    return f"correct what the message names: the plugin itself{entry}"


def grant_of(error: CarrelError) -> str:
    """Returns the setting that would allow what was refused, as written in the file; empty if none
    would.
    """
    details = error.details()
    denial: Any = details.get("denial_context")
    grant = denial.get("grant") if isinstance(denial, dict) else details.get("grant")
    return str(grant) if grant and grant != "none" else ""


def change(setting: str, file: Path) -> str:
    """Returns the change of a file for a setting such as `plugins.x.… += "value"`."""
    return f"in {file}, {change_inside(setting)}"


def change_inside(setting: str) -> str:
    """Returns the same without the file's name."""
    found = _CHANGE.fullmatch(setting)
    if found is None:
        return f"set {setting.removesuffix(' = …')}"
    verb, to = ("add", "to") if found["sign"] == "+=" else ("remove", "from")
    return f"{verb} {found['value']} {to} {found['key']}"


def configuration_file() -> Path:
    """Returns the path of the configuration file of this run, which may not exist."""
    context = click.get_current_context(silent=True)
    while context is not None:
        named = context.params.get("config")
        if named is not None:
            return Path(named)
        context = context.parent
    from carrel.config import find_file, possible_files

    return find_file(os.environ) or next(iter(possible_files(os.environ)), Path("carrel.toml"))
