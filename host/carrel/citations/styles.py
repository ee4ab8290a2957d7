"""Finds citation styles: those that come with Carrel, and `.csl` files.

A style is text for the sandbox; nothing here parses it. What is known of the vendored styles is in
`styles/index.json`, which `scripts/styles.py` writes.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from carrel.errors import ArgumentError, StorageError

_FOLDER: Final = Path(__file__).parent / "styles"
#: Maximum size of a `.csl` file in bytes; the largest published one has about 200,000.
MAX_STYLE_BYTES: Final = 2 * 2**20
_SUFFIX: Final = ".csl"
_IDS: Final = ("http://www.zotero.org/styles/", "https://www.zotero.org/styles/")


@dataclass(frozen=True, slots=True)
class Style:
    """A citation style.

    Attributes:
        name: of a vendored style, or the name of the file without `.csl`.
        text: the XML, unread.
        title: as the style states it; None for a file.
        default_locale: of a vendored style.
        own_locale: of a vendored dependent style, in place of its parent's.
        folder: the folder of a file, where its parent may be.
    """

    name: str
    text: str
    title: str | None = None
    default_locale: str | None = None
    own_locale: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class StyleInfo:
    """An entry of `list_styles`.

    Attributes:
        name: what `find_style` takes.
        title: as the style states it.
        citation_format: `author-date`, `numeric`, `author`, `label` or `note`.
    """

    name: str
    title: str
    citation_format: str


def list_styles() -> tuple[StyleInfo, ...]:
    """Returns the styles that come with Carrel, sorted by name."""
    styles: Mapping[str, Mapping[str, str]] = _index()["styles"]
    return tuple(
        StyleInfo(name, facts["title"], facts.get("format", "")) for name, facts in styles.items()
    )


def find_style(name: str, *, files: bool = False) -> Style:
    """Returns a style by name, by alias, or by the journal that uses it.

    Args:
        name: such as `apa`, `Vancouver`, `nature-communications` or the style's address at
            zotero.org.
        files: whether a path is allowed too. Only a person may name files; a client of the server
            may not.

    Raises:
        ArgumentError: there is no such style or file, or the file is too large or not text.
        StorageError: the file cannot be read.
    """
    if files and (name.endswith(_SUFFIX) or "/" in name or os.sep in name) and not _is_id(name):
        return read_style(Path(name))
    found = _vendored(_plain(name))
    if found is None:
        raise ArgumentError([_unknown(name, files=files)])
    return found


def read_style(path: Path) -> Style:
    """Reads a `.csl` file as text.

    Raises:
        ArgumentError: there is no such file, or it is too large or not UTF-8.
        StorageError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_STYLE_BYTES + 1)
    except FileNotFoundError:
        raise ArgumentError([f"{path}: there is no such file; name a .csl file"]) from None
    except (IsADirectoryError, NotADirectoryError, ValueError):
        raise ArgumentError([f"{path}: is not a file; name a .csl file"]) from None
    except OSError as error:
        raise StorageError(str(path), f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_STYLE_BYTES:
        raise ArgumentError([f"{path}: is larger than {MAX_STYLE_BYTES:,} bytes; no style is"])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError([f"{path}: is not UTF-8 at byte {error.start}"]) from None
    return Style(path.name.removesuffix(_SUFFIX), text, folder=path.parent)


def find_parent(link: str, child: Style) -> Style:
    """Returns the independent style that a dependent one names.

    It is looked for beside the dependent style's file first, then among the vendored styles.

    Args:
        link: the address that the style gives, such as `http://www.zotero.org/styles/apa`.
        child: the dependent style.

    Raises:
        ArgumentError: the parent is not known.
    """
    name = _plain(link.rpartition("/")[2])
    if child.folder is not None and name:
        beside = child.folder / f"{name}{_SUFFIX}"
        if beside.is_file():
            return read_style(beside)
    found = _vendored(name)
    if found is None:
        where = f" into {child.folder}" if child.folder else ""
        missing = f"the style {child.name} depends on the style {name or link!r}, which is missing"
        advice = f"put {name or 'that'}{_SUFFIX}{where}, or name an independent style"
        raise ArgumentError([f"{missing}; {advice}"])
    return found


def _vendored(name: str) -> Style | None:
    index = _index()
    canonical = index["aliases"].get(name, name)
    facts = index["styles"].get(canonical)
    parent = facts.get("parent") if facts else _dependents().get(canonical)
    if parent is not None:
        return Style(
            canonical,
            _text(parent),
            facts["title"] if facts else None,
            index["styles"][parent].get("default_locale"),
            facts.get("default_locale") if facts else index["locales"].get(canonical),
        )
    return (
        Style(canonical, _text(canonical), facts["title"], facts.get("default_locale"))
        if facts
        else None
    )


def _plain(name: str) -> str:
    for start in _IDS:
        name = name.removeprefix(start)
    return "-".join(name.removesuffix(_SUFFIX).lower().replace("_", " ").split())


def _is_id(name: str) -> bool:
    return name.startswith(_IDS)


def _unknown(name: str, *, files: bool) -> str:
    index = _index()
    names = [*index["styles"], *index["aliases"], *_dependents()]
    near = difflib.get_close_matches(_plain(name), names, n=3, cutoff=0.75)
    suggestions = ", ".join(near or index["styles"])
    lead = "did you mean" if near else "there are"
    path = "; a path ends with .csl" if files else ""
    return f"no style {name!r}; {lead} {suggestions}{'?' if near else ''}{path}"


@cache
def _text(name: str) -> str:
    return (_FOLDER / f"{name}{_SUFFIX}").read_text("utf-8")


@cache
def _index() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads((_FOLDER / "index.json").read_text("utf-8"))
    return found


@cache
def _dependents() -> Mapping[str, str]:
    table: Mapping[str, Sequence[str]] = _index()["dependents"]
    return {name: parent for parent, names in table.items() for name in names}
