"""Detects the kind of a document by its content, never by a file name.

Kinds include documents that no reader reads, so that errors can name them. A third-party plugin's
reader for one of these kinds is found by the kind's name.

The bytes may be hostile: detection examines a bounded number of bytes, names or lines, and unpacks
only the first kilobytes of a gzip file.
"""

from __future__ import annotations

import re
import zlib
from typing import Final, NamedTuple


class Kind(NamedTuple):
    """A kind of document.

    Attributes:
        name: the name of readers' formats for it.
        what: a description for people, with its article.
        media_type: empty if there is none.
    """

    name: str
    what: str
    media_type: str = ""


_KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("html", "an HTML page", "text/html"),
        Kind("markdown", "Markdown", "text/markdown"),
        Kind("text", "plain text", "text/plain"),
        Kind("pdf", "a PDF file", "application/pdf"),
        Kind("jats", "an article in JATS XML", "application/jats+xml"),
        Kind("tei", "an article in TEI XML", "application/tei+xml"),
        Kind(
            "docx",
            "a Word document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        Kind(
            "pptx",
            "a PowerPoint presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ),
        Kind(
            "xlsx",
            "an Excel workbook",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        Kind("epub", "an EPUB book", "application/epub+zip"),
        Kind("odt", "an OpenDocument text", "application/vnd.oasis.opendocument.text"),
        Kind("ods", "an OpenDocument table", "application/vnd.oasis.opendocument.spreadsheet"),
        Kind("odp", "an OpenDocument show", "application/vnd.oasis.opendocument.presentation"),
        Kind("tex", "TeX source", "application/x-tex"),
        Kind("tar", "an archive of TeX sources", "application/x-tar"),
        Kind("zip", "a ZIP archive", "application/zip"),
        Kind("gzip", "a gzip file", "application/gzip"),
        Kind("xml", "an XML document of another vocabulary", "application/xml"),
        Kind("rtf", "an RTF document", "application/rtf"),
        Kind("ole", "an Office document of before 2007", "application/x-ole-storage"),
        Kind("postscript", "PostScript", "application/postscript"),
        Kind("djvu", "a DjVu file", "image/vnd.djvu"),
        Kind("png", "a PNG picture", "image/png"),
        Kind("jpeg", "a JPEG picture", "image/jpeg"),
        Kind("gif", "a GIF picture", "image/gif"),
        Kind("tiff", "a TIFF picture", "image/tiff"),
        Kind("webp", "a WebP picture", "image/webp"),
        Kind("unknown", "bytes of an unknown kind"),
    )
}

#: First bytes of a file → its kind.
_MAGIC: Final = (
    (b"{\\rtf", "rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"%!PS", "postscript"),
    (b"AT&TFORM", "djvu"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)

#: Limits: bytes of text, names in an archive, bytes before a PDF's header.
_HEAD, _NAMES, _LEADING = 2**16, 2000, 1024

#: The first part of a name in an Office file → its kind.
_OFFICE: Final = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}


def sniff(data: bytes) -> Kind:
    """Returns the kind of the document `data`; `unknown` if it is not recognized."""
    return _KINDS[_sniffed(data)]


def _sniffed(data: bytes) -> str:
    if b"%PDF-" in data[: _LEADING + 5]:
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if data.startswith(b"\x1f\x8b"):
        return _gzip_kind(data)
    if _is_tar(data):
        return "tar"
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    if b" obj" in data[:_HEAD] and b"endobj" in data[:_HEAD]:
        return "pdf"  # its header is damaged
    text = _decoded(data)
    return "unknown" if text is None else _text_kind(text)


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _zip_kind(data: bytes) -> str:
    """Returns the kind by the names in the archive; searches for headers in case of damage."""
    stated, names = _zip_names(data)
    for kind in (_KINDS["epub"], _KINDS["odt"], _KINDS["ods"], _KINDS["odp"]):
        if stated == kind.media_type:
            return kind.name
    folders = {name.partition("/")[0] for name in names if "/" in name}
    for folder, kind_name in _OFFICE.items():
        if folder in folders and any(
            name == "[Content_Types].xml" or name.startswith("_rels/") for name in names
        ):
            return kind_name
    if "META-INF/container.xml" in names:
        return "epub"
    if "content.xml" in names and "META-INF/manifest.xml" in names:
        return "odt"
    return "zip"


def _zip_names(data: bytes) -> tuple[str, set[str]]:
    """Returns the content of the member `mimetype`, and the names in the headers."""
    stated, names = "", set()
    # Of a member's header and of the directory's: signature, offset of the lengths, size.
    for signature, at_lengths, size in ((b"PK\x03\x04", 26, 30), (b"PK\x01\x02", 28, 46)):
        offset = data.find(signature)
        for _ in range(_NAMES):
            if offset < 0:
                break
            length = int.from_bytes(data[offset + at_lengths : offset + at_lengths + 2], "little")
            start = offset + size
            name = data[start : start + length].decode("utf-8", "replace")
            names.add(name)
            if name == "mimetype" and size == 30 and not stated:
                extra = int.from_bytes(data[offset + 28 : offset + 30], "little")
                begin = start + length + extra
                stated = _leading_media_type(data[begin : begin + 100])
            offset = data.find(signature, start)
    return stated, names


def _leading_media_type(data: bytes) -> str:
    found = re.match(rb"application/[a-z0-9.+-]+", data)
    if found is None:
        return ""
    text = found[0].decode()
    # It is stored without an end mark; the next member's header begins with capital letters.
    return next(
        (
            kind.media_type
            for kind in sorted(_KINDS.values(), key=lambda kind: -len(kind.media_type))
            if kind.media_type and text.startswith(kind.media_type)
        ),
        text,
    )


def _gzip_kind(data: bytes) -> str:
    """Returns the kind of a gzip file: `tar` for a packed archive or a packed TeX file."""
    try:
        head = zlib.decompressobj(wbits=31).decompress(data[:_HEAD], _HEAD)
    except zlib.error:
        return "gzip"
    return "tar" if _is_tar(head) or _sniffed_text(head) == "tex" else "gzip"


def _sniffed_text(data: bytes) -> str:
    text = _decoded(data)
    return "" if text is None else _text_kind(text)


# Text


def _decoded(data: bytes) -> str | None:
    """Returns the beginning of a text in any charset; None if it is not text."""
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) & ~1].decode("utf-16", "replace")
    if b"\0" in head:
        return None
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        if len(data) > _HEAD and fault.start > len(head) - 4:
            return head[: fault.start].decode("utf-8-sig")
    controls = sum(byte < 0x20 and byte not in b"\t\n\f\r\x1b" for byte in head)
    # An eighth of random bytes are control characters; in a legacy charset's text none is.
    return head.decode("latin-1") if controls * 200 <= len(head) else None


_TAG = re.compile(r"<\s*(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
#: First tags of a page or of a fragment.
_HTML_TAGS = frozenset(
    {
        "html", "head", "body", "title", "meta", "link", "script", "style", "div", "p",
        "table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "a", "b", "i", "br",
        "hr", "section", "main", "nav", "header", "footer", "article", "span", "font",
        "center", "iframe", "img", "form", "pre", "blockquote", "noscript", "template",
        "aside", "figure",
    }
)  # fmt: skip
_JATS_SIGNS = re.compile(
    r"//NLM//|//JATS|JATS-|journalpublishing|archivearticle|nlm-articleset|article-type\s*=|"
    r"dtd-version\s*=|<(?:[\w.-]+:)?(?:front|article-meta|journal-meta)\b"
)
_JATS_ROOTS = frozenset({"article", "pmc-articleset", "OAI-PMH", "response", "sub-article"})
_TEI_ROOTS = frozenset({"TEI", "tei", "TEI.2", "teiCorpus"})
_TEX = re.compile(
    r"^[^%\n]*?\\(?:documentclass|documentstyle|begin\s*\{|usepackage|input\b|section\*?\s*\{|"
    r"newcommand|def\\|magnification|bye\b)",
    re.MULTILINE,
)


def _text_kind(text: str) -> str:
    start = text.lstrip("\ufeff \t\r\n\f")
    if not start:
        return "text"
    if start.startswith("<"):
        found = _markup_kind(start)
        if found:
            return found
    if _TEX.search(text):
        return "tex"
    return "markdown" if _is_markdown(text) else "text"


def _markup_kind(text: str) -> str:
    """Returns the vocabulary of markup by its declaration and first tag; empty for other text."""
    declared = text[:5].lower() == "<?xml"
    at = 0
    for _ in range(1000):
        at = _skipped(text, at)
        lower = text[at : at + 14].lower()
        if lower == "<!doctype html":
            return "html"
        if not lower.startswith("<!doctype"):
            break
        at = _behind_doctype(text, at)
    tag = _TAG.match(text, at)
    if tag is None:
        return "xml" if declared else ""
    root = tag[1]
    if root in _TEI_ROOTS:
        return "tei"
    if root in _JATS_ROOTS and _JATS_SIGNS.search(text):
        return "jats"
    if root.lower() in _HTML_TAGS and not (declared and root.lower() == "article"):
        return "html"
    return "xml"


def _skipped(text: str, at: int) -> int:
    """Returns the text after white space, comments and processing instructions."""
    for _ in range(1000):
        while at < len(text) and text[at].isspace():
            at += 1
        for begin, end in (("<!--", "-->"), ("<?", ">")):
            if text.startswith(begin, at):
                found = text.find(end, at + len(begin))
                at = len(text) if found < 0 else found + len(end)
                break
        else:
            return at
    return at


_DOCTYPE = re.compile(
    r"""<!doctype(?:[^\["'>]|"[^"]*"|'[^']*')*+(?:\[(?:[^\]"']|"[^"]*"|'[^']*')*+\]\s*)?>""",
    re.IGNORECASE,
)


def _behind_doctype(text: str, at: int) -> int:
    """Returns the text after a document type declaration, including its internal subset."""
    whole = _DOCTYPE.match(text, at)
    if whole is not None:
        return whole.end()
    end = text.find(">", at)  # an open quote: the end of the declaration is unknown
    return len(text) if end < 0 else end + 1


#: Patterns of Markdown and their weights; a sum of two is enough.
_MARKDOWN = (
    (re.compile(r"(?:^|\n[ \t]*\n)#{1,6} +\S[^\n]*(?:\n[ \t]*\n|\n[^\n#]|$)"), 2),
    (re.compile(r"(?:^|\n[ \t]*\n)(?!=)\S[^\n]*\n(?:={3,}|-{3,})[ \t]*\n"), 2),
    (re.compile(r"(?:^|\n) {0,3}(?:```|~~~)[^\n`]*\n"), 1),
    (re.compile(r"\n {0,3}(?:```|~~~)[ \t]*(?:\n|$)"), 1),
    (re.compile(r"\n *\|? *:?-{3,}:? *\|[-| :]*\n"), 2),
    (re.compile(r"!?\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)"), 2),
    (re.compile(r"\n\[[^\]\n]{1,80}\]: +\S"), 1),
    (re.compile(r"\*\*[^*\s][^*\n]{0,200}\*\*"), 1),
    (re.compile(r"(?:^|\n)[-*+] \S[^\n]*\n+[-*+] \S"), 1),
    (re.compile(r"(?:^|\n)> \S"), 1),
)


def _is_markdown(text: str) -> bool:
    if text.startswith("#!"):
        return False
    text = text.replace("\r\n", "\n")
    return sum(weight for pattern, weight in _MARKDOWN if pattern.search(text)) >= 2
