"""Reads which files are attached to a reference, and where they are.

The format is reference-manager's: `custom.attachments` has a `directory`, relative to the folder of
attachments, and `files` with `filename` and `role`. Names in a library file are not trusted: one
that leaves the folder is no attachment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.library.items import custom_of

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.config import Config
    from carrel.library.library import Library

TextKind = Literal["pdf", "markdown"]
ROLE: Final = "fulltext"
#: kind → the name of its file.
FILE_NAMES: Final[Mapping[TextKind, str]] = {"pdf": "fulltext.pdf", "markdown": "fulltext.md"}
#: Suffix of a file → its kind.
KINDS: Final[Mapping[str, TextKind]] = {".pdf": "pdf", ".md": "markdown", ".markdown": "markdown"}

_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file of a reference.

    Attributes:
        directory: below the folder of attachments.
        filename: in the directory.
        role: such as fulltext or supplement.
    """

    directory: str
    filename: str
    role: str

    @property
    def kind(self) -> TextKind | None:
        """Which full text it is; None for another file."""
        suffix = PurePath(self.filename).suffix.lower()
        return KINDS.get(suffix) if self.role == ROLE else None

    def path(self, folder: Path) -> Path:
        """Returns the path below the folder of attachments."""
        return folder / self.directory / self.filename


def attachments_folder(config: Config, library: Library) -> Path:
    """Returns the folder of attachments: the one that is set, else the one beside the library."""
    return config.library.attachments or library.path.absolute().parent / "attachments"


def attached_files(item: Item) -> list[AttachedFile]:
    """Returns the files of a reference, without those whose names leave the folder."""
    block = custom_of(item).get("attachments")
    if not isinstance(block, dict) or not _is_name(block.get("directory")):
        return []
    listed = block.get("files")
    return [
        AttachedFile(block["directory"], file["filename"], str(file.get("role") or ""))
        for file in (listed if isinstance(listed, list) else [])
        if isinstance(file, dict) and _is_name(file.get("filename"))
    ]


def directory_of(item: Item) -> str:
    """Returns the directory of a reference: the one that it has, else a new name for it."""
    block = custom_of(item).get("attachments")
    if isinstance(block, dict) and _is_name(block.get("directory")):
        return str(block["directory"])
    key = _UNSAFE.sub("_", str(item.get("id") or "reference")).strip("._")[:80] or "reference"
    pmid = _UNSAFE.sub("", str(item.get("PMID") or ""))
    uuid = _UNSAFE.sub("", str(custom_of(item).get("uuid") or ""))[:8]
    return "-".join(part for part in (key, f"PMID{pmid}" if pmid else "", uuid) if part)


def with_file(item: Item, directory: str, filename: str) -> dict[str, Any]:
    """Returns the member `attachments` with one more full text."""
    block = custom_of(item).get("attachments")
    listed = block.get("files") if isinstance(block, dict) else None
    files = [
        file
        for file in (listed if isinstance(listed, list) else [])
        if not (isinstance(file, dict) and file.get("filename") == filename)
    ]
    rest = block if isinstance(block, dict) else {}
    files.append({"filename": filename, "role": ROLE})
    return {**rest, "directory": directory, "files": files}


def without_files(item: Item, names: set[str]) -> dict[str, Any] | None:
    """Returns the member `attachments` without some files; None if none is left."""
    block = custom_of(item).get("attachments")
    if not isinstance(block, dict):
        return None
    listed = block.get("files")
    files = [
        file
        for file in (listed if isinstance(listed, list) else [])
        if not (isinstance(file, dict) and file.get("filename") in names)
    ]
    return {**block, "files": files} if files else None


def _is_name(value: object) -> bool:
    """Whether a value names one file or folder, and not a path."""
    if not isinstance(value, str) or not value or value in {".", ".."} or len(value) > 255:
        return False
    return not any(character in value for character in "/\\\0:") and value.isprintable()
