"""Attaches, reads and detaches the full texts of references."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from carrel.documents import DocumentReader
from carrel.documents.folders import read_granted
from carrel.documents.parts import take_part
from carrel.errors import ArgumentError, SourceError, StorageError
from carrel.files.atomic_write import write_atomically
from carrel.library.errors import LibraryError
from carrel.text.printable import printable

from .attachments import (
    FILE_NAMES,
    KINDS,
    AttachedFile,
    TextKind,
    attached_files,
    attachments_folder,
    directory_of,
    with_file,
    without_files,
)

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.library.library import Library
    from carrel.plugins.plugin_set import PluginSet

#: Bytes of the largest file that is attached.
MAX_BYTES: Final = 256 * 2**20
#: Characters of a text that one answer has, unless the caller asks for another number.
MAX_CHARS: Final = 40_000
#: The most characters that a caller can ask for.
LONGEST_PART: Final = 4_000_000

#: Returns the content of a file, by path and largest size.
ReadFile = Callable[[str, int], bytes]


class NoFullTextError(LibraryError):
    """No full text is attached to the reference."""

    def __init__(self, id: str) -> None:  # noqa: A002
        super().__init__(
            "NOT_FOUND",
            f"no full text is attached to {id}",
            advice="attach one with library_fulltext_attach (carrel library attach), or read the "
            "paper with paper_read (carrel read)",
        )


class FullTexts:
    """The full texts of a library. Thread-safe.

    Args:
        plugins: read PDFs, in the sandbox.
        config: names the folder of attachments.
        read_file: opens files that the operator granted.
    """

    def __init__(self, plugins: PluginSet, config: Config, read_file: ReadFile) -> None:
        self._config = config
        self._read_file = read_file
        self.reader = DocumentReader(plugins, config)

    def attach(
        self,
        library: Library,
        id: str,  # noqa: A002
        path: str,
        *,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Copies a PDF or Markdown file into the folder of attachments, and records it.

        Raises:
            LibraryError: `NOT_FOUND`; `DUPLICATE`: the reference has a full text of this kind.
            ArgumentError: it is neither a PDF nor Markdown.
            SourceError: `denied`, `not_found`, `too_large`: see `read_granted`.
            StorageError: it cannot be written.
        """
        item = library.get(id)
        data = self._read_file(path, MAX_BYTES)
        kind = _kind_of(path, data)
        same = [file for file in attached_files(item) if file.kind == kind]
        if same and not replace:
            raise LibraryError(
                "DUPLICATE",
                f"{item['id']} has a {_WORDS[kind]} attached: {same[0].filename}",
                advice="detach it first, or attach with replace: true",
            )
        directory = directory_of(item)
        filename = same[0].filename if same else FILE_NAMES[kind]
        target = self.folder(library) / directory / filename
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _require_inside(target.parent, self.folder(library))
            write_atomically(target, data)
        except OSError as error:
            shown = printable(str(target), 300)
            raise StorageError(shown, f"cannot be written: {error.strerror or error}") from None
        library.update(
            str(item["id"]), {"custom": {"attachments": with_file(item, directory, filename)}}
        )
        return {
            "id": item["id"],
            "kind": kind,
            "filename": filename,
            "path": str(target),
            "bytes": len(data),
            "replaced": bool(same),
        }

    def get(
        self,
        library: Library,
        id: str,  # noqa: A002
        call: Call,
        *,
        read_pdf: bool = False,
        start: int = 0,
        max_chars: int = MAX_CHARS,
    ) -> dict[str, Any]:
        """Returns the attached full texts: Markdown as text, a PDF as its path.

        Args:
            library: has the reference.
            id: of the reference.
            call: its deadline applies to reading the PDF.
            read_pdf: also return the text of the PDF if there is no Markdown.
            start: characters of the text before the part that is returned.
            max_chars: characters of that part.

        Raises:
            LibraryError: `NOT_FOUND`; no such reference, or it has no full text.
            SourceError: `not_found`; the file is gone. Or the PDF cannot be read.
        """
        item = library.get(id)
        files = self._files(item)
        if not files:
            raise NoFullTextError(str(item["id"]))
        folder = self.folder(library)
        result: dict[str, Any] = {"id": item["id"]}
        pdf, markdown = files.get("pdf"), files.get("markdown")
        if pdf is not None:
            result["pdf"] = str(self._existing(pdf, folder))
        text: str | None = None
        if markdown is not None:
            self._existing(markdown, folder)
            data = _read(markdown, folder)
            text, result["source"] = data.decode("utf-8", "replace"), "markdown"
        elif pdf is not None and read_pdf:
            read = self.reader.read(_read(pdf, folder), call)
            text, result["source"] = read.text, "pdf"
        if text is not None:
            part = take_part(text, (), section=None, start=start, max_chars=max_chars)
            # With the blank lines between two parts, so that parts make up the whole text.
            end = part.length if part.next is None else part.next
            result |= {"text": text[part.start : end], "length": part.length}
            if part.next is not None:
                result["next"] = part.next
        return result

    def detach(
        self,
        library: Library,
        id: str,  # noqa: A002
        *,
        kinds: Collection[TextKind] = ("pdf", "markdown"),
        delete: bool = False,
    ) -> dict[str, Any]:
        """Detaches full texts; their files stay unless `delete` is set.

        Raises:
            LibraryError: `NOT_FOUND`; no such reference, or no such full text is attached.
            StorageError: a file cannot be deleted.
        """
        item = library.get(id)
        chosen = [file for kind, file in self._files(item).items() if kind in kinds]
        if not chosen:
            raise NoFullTextError(str(item["id"]))
        attachments = without_files(item, {file.filename for file in chosen})
        library.update(str(item["id"]), {"custom": {"attachments": attachments}})
        folder = self.folder(library)
        for file in chosen if delete else ():
            path = file.path(folder)
            try:
                _require_inside(path.parent, folder)
                path.unlink(missing_ok=True)
                path.parent.rmdir()
            except OSError:
                if path.exists():
                    raise StorageError(printable(str(path), 300), "cannot be deleted") from None
        return {
            "id": item["id"],
            "detached": [file.filename for file in chosen],
            "deleted": delete,
        }

    def folder(self, library: Library) -> Path:
        """Returns the folder of attachments."""
        return attachments_folder(self._config, library)

    @staticmethod
    def _files(item: Item) -> dict[TextKind, AttachedFile]:
        found: dict[TextKind, AttachedFile] = {}
        for file in attached_files(item):
            if file.kind is not None:
                found.setdefault(file.kind, file)
        return found

    @staticmethod
    def _existing(file: AttachedFile, folder: Path) -> Path:
        """Returns the path of an attached file.

        Raises:
            SourceError: `not_found`; it is gone, or a link.
        """
        path = file.path(folder)
        if path.is_symlink() or not path.is_file():
            raise SourceError(
                "not_found",
                f"the attached file {file.directory}/{file.filename} is gone; detach it, or put it "
                "back",
                plugin="",
                tool="library_fulltext_get",
            )
        return path


_WORDS: Final = {"pdf": "PDF", "markdown": "Markdown file"}


def _kind_of(path: str, data: bytes) -> TextKind:
    """Returns the kind of a file, by its content and name.

    Raises:
        ArgumentError: it is neither a PDF nor Markdown.
    """
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf"
    suffix = PurePath(path).suffix.lower()
    if KINDS.get(suffix) == "markdown":
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ArgumentError([f"path: byte {error.start} of the file is not UTF-8"]) from None
        if "\0" not in text:
            return "markdown"
    shown = printable(PurePath(path).name, 100)
    raise ArgumentError([f"path: {shown} is neither a PDF nor a Markdown file (.md)"])


def _read(file: AttachedFile, folder: Path) -> bytes:
    return read_granted(str(PurePath(file.directory) / file.filename), [folder], MAX_BYTES)


def _require_inside(path: Path, folder: Path) -> None:
    """Refuses a directory that leads out of the folder of attachments through a link."""
    inside = os.path.realpath(path)
    base = os.path.realpath(folder)
    if inside != base and not inside.startswith(base + os.sep):
        raise PermissionError(None, "leads out of the folder of attachments")
