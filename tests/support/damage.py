"""Damages documents of every format that the readers know: the same damage in every run."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
#: Longer documents take long and have nothing that shorter ones have not.
_LARGEST = 60_000
#: Format → the plugin that reads it.
READERS = {
    "html": "page",
    "markdown": "page",
    "text": "page",
    "pdf": "pdf",
    "jats": "jats",
    "tei": "jats",
    "docx": "office",
    "pptx": "office",
    "epub": "office",
    "odt": "office",
    "tex": "tex",
    "tar": "tex",
}
_USUAL = {"page": "html", "jats": "jats", "office": "docx", "pdf": "pdf", "tex": "tex"}
#: Inserted fragments: those that open, end, count or escape something in one of the formats.
_PIECES: tuple[bytes, ...] = (
    *(bytes([one]) for one in b"<>&;\"'=/[](){}\\%$#|*`~-_\n\t 09"),
    "é名😀\u00a0\u2028".encode(),
    *(b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"-->", b"]]>", b"<!--", b"<![CDATA["),
    *(b"</", b"/>", b"<p>", b"<table><tr><td>", b"<script>", b"<sec>", b"<list>", b"<w:tbl>"),
    *(b' colspan="99999"', b' rowspan="99999"', b"&#x10ffff;", b"&amp;", b"&bomb;"),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"obj", b"endobj", b"stream\n", b"endstream", b"xref\n"),
    *(b" 1 0 R", b"/Length 999999999", b"/Prev 9", b"/Kids [1 0 R]", b"/W 0", b"BT", b"Tj", b"Do"),
    *(b"\\begin{", b"\\end{document}", b"\\def\\a{\\a\\a}\\a", b"\\input{main}", b"\\item["),
    *(b"\\verb|", b"\\fi", b"\\footnote{", b"\\cite{a}", b"\\csname", b"$$"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\x1f\x8b\x08", b"999999999999999999999"),
    *(b"```", b"> > > ", b"- - - ", b"| a | b |\n|---|---|\n", b"[^1]: x", b"<div>" * 60),
)


def originals(document_format: str) -> list[bytes]:
    """The fixtures of a format, undamaged."""
    plugin = READERS[document_format]
    found = []
    for folder in sorted((FIXTURES / plugin).iterdir()):
        named = folder / "format"
        declared = named.read_text("utf-8").strip() if named.exists() else _USUAL[plugin]
        if declared == document_format:
            [file] = [*folder.glob("document.*"), *folder.glob("response.*")]
            found.append(file.read_bytes())
    return [data for data in found if 0 < len(data) <= _LARGEST]


def damaged(document_format: str, count: int) -> Iterator[bytes]:
    """Yields so many damaged documents; the numbers of a format are always the same."""
    chance = random.Random(document_format)
    files = originals(document_format)
    for round_ in range(count):
        data = files[round_ % len(files)]
        inside = chance.random() < 0.6
        if inside and data.startswith(b"PK"):
            yield _zip_with_a_damaged_part(data, chance)
        elif inside and document_format == "tar":
            yield _tar_with_a_damaged_file(data, chance)
        elif inside and document_format == "pdf":
            yield _pdf_with_a_damaged_stream(data, chance)
        else:
            yield _damage(data, chance)


def _damage(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed) + 1)
        length = chance.randrange(40)
        kind = chance.randrange(6)
        if kind == 0:
            changed[at:at] = chance.choice(_PIECES)
        elif kind == 1:
            del changed[at : at + length]
        elif kind == 2:
            changed[at:at] = changed[at : at + length] * chance.randint(1, 30)
        elif kind == 3 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 4:
            changed[at : at + length] = chance.randbytes(length)
        elif chance.random() < 0.2:
            del changed[at:]
    return bytes(changed)


def _zip_with_a_damaged_part(data: bytes, chance: random.Random) -> bytes:
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            names = old.namelist()
            hit = chance.choice(names)
            for name in names:
                content = old.read(name)[:_LARGEST]
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                new.writestr(info, _damage(content, chance) if name == hit else content)
    except (zipfile.BadZipFile, zlib.error, OSError, IndexError):
        return _damage(data, chance)
    return out.getvalue()


def _tar_with_a_damaged_file(data: bytes, chance: random.Random) -> bytes:
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        plain = data
    if chance.random() < 0.5:
        return gzip.compress(_damage(plain, chance), mtime=0)
    out = io.BytesIO()
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as old:
            files = [(one.name, old.extractfile(one)) for one in old.getmembers() if one.isfile()]
            contents = [(name, file.read()) for name, file in files if file is not None]
    except (tarfile.TarError, OSError):
        return _damage(plain, chance)
    with tarfile.open(fileobj=out, mode="w") as new:
        for name, content in contents:
            changed = _damage(content, chance)
            info = tarfile.TarInfo(name)
            info.size = len(changed)
            new.addfile(info, io.BytesIO(changed))
    return gzip.compress(out.getvalue(), mtime=0)


def _pdf_with_a_damaged_stream(data: bytes, chance: random.Random) -> bytes:
    """Damages a few bytes after a `stream`, or a number that a reader uses as a length."""
    starts = [at for at in range(len(data)) if data.startswith((b"stream", b"obj", b"/"), at)]
    if not starts:
        return _damage(data, chance)
    at = chance.choice(starts)
    return data[:at] + _damage(data[at : at + 80], chance) + data[at + 80 :]
