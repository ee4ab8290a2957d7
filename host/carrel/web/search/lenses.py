"""Reads lenses: lists of hosts that a search is restricted to, one TOML file each.

Carrel's own are in the folder `lenses` beside this module; the operator's are in the folder that
`web.lens_folder` names, and take precedence. A file has `hosts`, and may have `about` for people
and `cx`, the identifier of a Programmable Search Engine for these hosts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from carrel.errors import ArgumentError, ConfigError

from .addresses import ascii_host
from .schema import NAME

#: Where Carrel's own lenses are.
FOLDER: Final = Path(__file__).with_name("lenses")
#: The most hosts of a lens, and the bytes of its file.
_MOST, _MAX_BYTES = 500, 64 * 1024

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_ENGINE: Final = re.compile(r"[A-Za-z0-9:_-]{1,100}")
_HOST: Final = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")


@dataclass(frozen=True, slots=True)
class Lens:
    """A list of hosts.

    Attributes:
        name: by which it is chosen.
        hosts: with those below them, the most important first.
        about: for people.
        engine: a Programmable Search Engine for these hosts (`cx`); None without one.
    """

    name: str
    hosts: tuple[str, ...]
    about: str = ""
    engine: str | None = None


def read_lenses(folder: Path | None) -> dict[str, Lens]:
    """Returns all lenses by name.

    Args:
        folder: the operator's own; None without one.

    Raises:
        ConfigError: a file cannot be read, or is no lens; with every fault.
    """
    faults: list[str] = []
    lenses: dict[str, Lens] = {}
    for directory in (FOLDER, folder):
        if directory is None:
            continue
        if not directory.is_dir():
            faults.append(f"web.lens_folder: {directory} is no folder")
            continue
        for path in sorted(directory.glob("*.toml")):
            try:
                lenses[path.stem] = _read_lens(path)
            except (OSError, ValueError) as fault:
                faults.append(f"{path}: {fault}")
    if faults:
        raise ConfigError(faults)
    return lenses


def choose_lens(lenses: Mapping[str, Lens], name: str) -> Lens:
    """Returns the lens of that name.

    Raises:
        ArgumentError: there is none; with those that there are.
    """
    lens = lenses.get(name)
    if lens is None:
        names = ", ".join(sorted(lenses))
        raise ArgumentError([f"lens: there is no lens {name!r}; known: {names}"], tool=NAME)
    return lens


def _read_lens(path: Path) -> Lens:
    if not _NAME.fullmatch(path.stem):
        raise ValueError("the name of a lens has lower-case letters, digits and hyphens")
    if path.stat().st_size > _MAX_BYTES:
        raise ValueError(f"the file is larger than {_MAX_BYTES} bytes")
    raw: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    strange = sorted(set(raw) - {"hosts", "about", "cx"})
    if strange:
        raise ValueError(f"unknown key {strange[0]!r}; known: about, cx, hosts")
    hosts = raw.get("hosts")
    if not isinstance(hosts, list) or not 1 <= len(hosts) <= _MOST:
        raise ValueError(f"hosts: expected a list of 1 to {_MOST} hosts")
    names = tuple(dict.fromkeys(_host(host) for host in hosts))
    about, engine = raw.get("about", ""), raw.get("cx")
    if not isinstance(about, str):
        raise ValueError("about: expected text")  # noqa: TRY004 -- the file is wrong
    if engine is not None and not (isinstance(engine, str) and _ENGINE.fullmatch(engine)):
        raise ValueError("cx: expected the identifier of a Programmable Search Engine")
    return Lens(path.stem, names, " ".join(about.split()), engine)


def _host(value: object) -> str:
    host = ascii_host(value) if isinstance(value, str) else None
    if host is None or not _HOST.fullmatch(host):
        raise ValueError(f"hosts: expected a host such as example.org but found {value!r}")
    return host
