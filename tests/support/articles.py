"""Makes small documents of several formats, and a third-party plugin that reads one."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from typing import Any

from .guests import Guest, guest
from .manifests import manifest_text

WORDS = "We measured every stone that the river brought down, and counted them twice. "


def section(title: str, paragraphs: int = 1, label: str = "") -> str:
    labelled = f"<label>{label}</label>" if label else ""
    text = "".join(f"<p>{number}: {WORDS}</p>" for number in range(paragraphs))
    return f"<sec>{labelled}<title>{title}</title>{text}</sec>"


def article(body: str = "", title: str = "On stones", summary: str = "In short.") -> bytes:
    """Returns an article in JATS."""
    return (
        '<?xml version="1.0"?><article article-type="research-article"><front><article-meta>'
        '<article-id pub-id-type="doi">10.5555/stones.1</article-id>'
        f"<title-group><article-title>{title}</article-title></title-group>"
        f"<abstract><p>{summary}</p></abstract></article-meta></front>"
        f"<body>{body or section('Methods')}</body></article>"
    ).encode()


def long_article() -> bytes:
    """Returns an article of about 20,000 characters, with nested sections."""
    inner = f"<sec><title>Sites</title><p>{WORDS}</p></sec>"
    methods = section("Materials and Methods", 60, "2").replace("</sec>", f"{inner}</sec>")
    return article(section("Introduction", 60, "1") + methods + section("Results", 80, "3"))


def archive(**members: bytes) -> bytes:
    """Returns a ZIP archive; in names, `__` means a slash and `$` a dot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "/").replace("$", "."), data)
    return packed.getvalue()


def tar(name: str, data: bytes) -> bytes:
    """Returns a tar archive of one file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        file.addfile(member, io.BytesIO(data))
    return packed.getvalue()


DOCUMENT: dict[str, Any] = {
    "title": "A stranger's",
    "identifiers": {"doi": "10.5555/9"},
    "sections": [
        {"heading": "Words", "level": 1, "blocks": [{"kind": "paragraph", "text": "Rich words."}]}
    ],
    "quality": "complete",
}


def reader(
    name: str = "rtf", document: Any = None, *, takes_bytes: bool = True, **parts: Any
) -> Guest:
    """Returns a third-party plugin with a format that reads documents."""
    form = {
        "name": name,
        "description": "A kind of document.",
        "output_schema": {"type": "object", "required": ["identifiers", "sections", "quality"]},
        **({"bytes": True} if takes_bytes else {}),
    }
    manifest = manifest_text(
        hosts=[], tools=[], formats=[form], **({"contract": "1.1"} if takes_bytes else {})
    )
    return guest(
        result=json.dumps(DOCUMENT if document is None else document),
        manifest=manifest,
        **({"reading": parts.pop("body", "")} if takes_bytes else {}),
        **parts,
    )
