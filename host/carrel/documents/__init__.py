"""Files → text for people and models: papers and pages, read in the sandbox, whole or in parts.

In the order of a reading: `sniff` tells what kind of document bytes are, `readers` finds the plugin
whose manifest has a format for it, `reading` has that plugin read it and the plugin `render` show
the result as Markdown or text, `parts` takes a section or a piece out of that. `folders` opens the
files that the operator granted. `tool` offers it as the tool `document_read`, `command` as
`carrel read`.

From Python it is `Carrel.read`. How it is used: `docs/how-to/read-documents.md`; arguments and
fields: `docs/reference/tools.md`; what a reader returns: `docs/reference/documents.md`; why the
host renders nothing itself: decision 0034.
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
