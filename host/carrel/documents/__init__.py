"""Reads papers and pages as text for people and models, in the sandbox.

In the order of a reading: `sniff` detects the kind of document, `readers` finds the plugin whose
manifest has a format for it, `reading` calls that plugin and then the plugin `render`, which writes
the result as Markdown or text, `parts` selects a section or a part of the text. `folders` opens
files in granted folders. `tool` implements the tool `document_read`, `command` the command
`carrel read`.

In Python it is `Carrel.read`. How to use it: `docs/how-to/read-documents.md`; arguments and fields:
`docs/reference/tools.md`; the result of a plugin: `docs/reference/documents.md`; why a plugin
renders: decision 0034.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .parts import DocumentPart, SectionHeading
    from .reading import DocumentReader, ReadDocument

__all__ = ["DocumentPart", "DocumentReader", "ReadDocument", "SectionHeading"]

__getattr__ = lazy_names(
    __name__,
    {
        "DocumentPart": "parts",
        "DocumentReader": "reading",
        "ReadDocument": "reading",
        "SectionHeading": "parts",
    },
)
