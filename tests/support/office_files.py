"""Makes small Office documents, e-books and e-prints, with the same bytes in every run."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

_PREFIXES = " ".join(
    f'xmlns:{one}="urn:{one}"'
    for one in ("w", "r", "m", "a", "p", "c", "wp", "mc", "text", "table", "office", "draw")
)
_RELATIONS = "<Relationships>{}</Relationships>"


def archive(entries: Mapping[str, str | bytes], *, packed: bool = True) -> bytes:
    """Returns a ZIP archive of entries in the given order."""
    out = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", kind) as zipped:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.compress_type = kind
            zipped.writestr(info, content)
    return out.getvalue()


def relations(*entries: tuple[str, str, str] | tuple[str, str, str, str]) -> str:
    """Returns a relations part of (id, kind, target) or (id, kind, target, mode)."""
    lines = []
    for entry in entries:
        mode = f' TargetMode="{entry[3]}"' if len(entry) > 3 else ""
        lines.append(
            f'<Relationship Id="{entry[0]}" Type="urn:x/{entry[1]}" Target="{entry[2]}"{mode}/>'
        )
    return _RELATIONS.format("".join(lines))


def docx(body: str, links: str = "", **parts: str | bytes) -> bytes:
    """Returns a Word document of a body, its relations and further parts (`word_styles_xml`)."""
    entries: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {_PREFIXES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": links or _RELATIONS.format(""),
    }
    for name, content in parts.items():
        path = name.replace("_", "/", 1)
        path = ".".join(path.rsplit("_", 1))
        entries[path] = (
            content.replace("<w:root", f"<w:root {_PREFIXES}")
            if isinstance(content, str)
            else content
        )
    return archive(entries)


def paragraph(text: str, style: str = "", extra: str = "") -> str:
    """Returns a paragraph of Word."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{extra}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(*slides: str, show: tuple[str, ...] = ()) -> bytes:
    """Returns a presentation of slides, each the content of a shape tree; the last comes first."""
    numbers = list(reversed(range(len(slides))))
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in numbers)
    entries: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": (
            f"<p:presentation {_PREFIXES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"s{n}", "slide", f"slides/slide{n}.xml") for n in numbers)
        ),
    }
    for n, shapes in enumerate(slides):
        hidden = ' show="0"' if str(n) in show else ""
        entries[f"ppt/slides/slide{n}.xml"] = (
            f"<p:sld {_PREFIXES}{hidden}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    return archive(entries)


def shape(*paragraphs: str, kind: str = "") -> str:
    """Returns a shape of a slide with paragraphs (`a:p` elements, or plain text)."""
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    lines = [
        one if one.startswith("<") else f"<a:p><a:r><a:t>{one}</a:t></a:r></a:p>"
        for one in paragraphs
    ]
    return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody>{''.join(lines)}</p:txBody></p:sp>"


def odt(body: str, **parts: str) -> bytes:
    """Returns an OpenDocument text with the content of `office:text`."""
    content = (
        f"<office:document-content {_PREFIXES}><office:body><office:text>{body}</office:text>"
        "</office:body></office:document-content>"
    )
    entries: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": content,
    }
    entries |= {".".join(name.rsplit("_", 1)): text for name, text in parts.items()}
    return archive(entries)


def epub(chapters: Mapping[str, str], metadata: str = "", nav: str = "", **parts: str) -> bytes:
    """Returns an e-book of chapters (complete pages) in the order of the mapping."""
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    if nav:
        items += (
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        )
    entries: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
        ),
        "OPS/book.opf": (
            '<package xmlns:dc="urn:dc"><metadata>'
            f"{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
        ),
    }
    entries |= {f"OPS/{name}.xhtml": page for name, page in chapters.items()}
    if nav:
        entries["OPS/nav.xhtml"] = nav
    entries |= {name.replace("__", "/"): text for name, text in parts.items()}
    return archive(entries)


def eprint(files: Mapping[str, str | bytes], *, packed: bool = True) -> bytes:
    """Returns an e-print: a tar archive, optionally compressed with gzip."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0) if packed else out.getvalue()
