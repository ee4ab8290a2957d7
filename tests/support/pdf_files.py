"""Makes PDF files: `python -m support.pdf_files` writes those of `tests/fixtures/pdf`."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "pdf"
_FONTS = ("Helvetica", "Helvetica-Bold", "Courier")
#: The padding of passwords in ISO 32000.
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


class PdfFile:
    """Builds a file: the catalogue, the pages, three fonts, then added objects."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []
        self.pages: list[int] = []
        self.catalogue = self.trailer = ""

    def add(self, text: str | bytes) -> int:
        """Adds an object and returns its number."""
        self.objects.append(text.encode("latin-1") if isinstance(text, str) else text)
        return len(self.objects) + 2 + len(_FONTS)

    def add_stream(self, data: bytes, entries: str = "") -> int:
        """Adds a stream, compressed with deflate."""
        packed = zlib.compress(data, 9)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode {entries} >>\nstream\n"
        return self.add(head.encode() + packed + b"\nendstream")

    def add_page(self, content: str | bytes, *, fonts: str = "", entries: str = "") -> int:
        """Adds a page; fonts F1 to F3 are Helvetica, its bold, Courier."""
        data = content.encode("latin-1") if isinstance(content, str) else content
        stream = self.add_stream(data)
        own = " ".join(f"/F{place + 1} {place + 3} 0 R" for place in range(len(_FONTS)))
        page = self.add(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R"
            f" /Resources << /Font << {own} {fonts} >> >> {entries} >>"
        )
        self.pages.append(page)
        return page

    def save(self, *, encrypted: bool = False, table: bool = True) -> bytes:
        """Returns the file; `encrypted` with an empty password (RC4, 40 bits)."""
        kids = " ".join(f"{page} 0 R" for page in self.pages)
        fixed = [
            f"<< /Type /Catalog /Pages 2 0 R {self.catalogue} >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>",
            *(
                f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
                for name in _FONTS
            ),
        ]
        objects = [text.encode() for text in fixed] + self.objects
        trailer = self.trailer
        if encrypted:
            objects, trailer = _encrypt(objects, trailer)
        out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        offsets = []
        for number, body in enumerate(objects, 1):
            offsets.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(out) if table else 7
        if table:
            out += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n".encode()
            out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
        size = len(offsets) + 1
        out += f"trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n".encode()
        return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _encrypt(objects: Sequence[bytes], trailer: str) -> tuple[list[bytes], str]:
    """Encrypts streams by revision 2 of the standard security handler; there are no strings."""
    name = bytes(range(16))
    owner = _rc4(_md5(_PADDING)[:5], _PADDING)
    permissions = (-4).to_bytes(4, "little", signed=True)
    key = _md5(_PADDING + owner + permissions + name)[:5]
    user = _rc4(key, _PADDING)
    done = []
    for number, body in enumerate(objects, 1):
        head, mark, rest = body.partition(b"\nstream\n")
        if mark:
            own = _md5(key + number.to_bytes(3, "little") + b"\0\0")[:10]
            data = rest.removesuffix(b"\nendstream")
            done.append(head + mark + _rc4(own, data) + b"\nendstream")
        else:
            done.append(body)
    entry = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{owner.hex()}> /U <{user.hex()}> /P -4 >>"
    return done, f"{trailer} {entry} /ID [<{name.hex()}> <{name.hex()}>]"


def lines(font: str, size: int, x: int, y: int, texts: Sequence[str]) -> str:
    """Returns lines of text downwards from a position."""
    shown = []
    for text in texts:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        shown.append(f"({escaped}) Tj T*")
    return f"BT /{font} {size} Tf {size * 6 // 5} TL {x} {y} Td " + " ".join(shown) + " ET\n"


_BODY = (
    "Reading rooms are quiet places where people read for hours without a word being",
    "spoken, and the desks in them are known as carrels. A carrel has a shelf above the",
    "desk, a lamp, and walls on its three sides that keep the eyes on the page. Libra-",
    "ries have had them since monks sat in the cloister's north walk, where the light is",
    "even all day. Most are made of oak, some of pine.",
)


def _paper() -> bytes:
    file = PdfFile()
    head = lines("F1", 8, 72, 770, ["Journal of Rooms 7 (2001)"])
    first = (
        head
        + lines("F2", 18, 72, 735, ["On the Light in Carrels"])
        + lines("F1", 11, 72, 710, ["Ada Reader and Ben Writer"])
        + lines("F1", 9, 72, 694, ["https://doi.org/10.5555/room.2001.7"])
        + lines("F2", 11, 72, 668, ["Abstract"])
        + lines("F1", 10, 72, 650, ["We measure light at forty desks.", "It is even."])
        + lines("F2", 13, 72, 600, ["1 Introduction"])
        + lines("F1", 10, 72, 580, _BODY)
        + lines("F2", 11, 72, 500, ["1.1 Desks"])
        + lines("F1", 10, 72, 480, _BODY)
        + lines("F1", 9, 72, 390, ["Figure 1: A desk below a window, seen from its door."])
        + lines("F1", 8, 300, 30, ["1"])
    )
    page = file.add_page(first)
    file.add_page(
        head
        + lines("F1", 10, 72, 640, _BODY)
        + lines("F3", 10, 72, 540, ["light = sum(desks)", "mean = light / 40"])
        + lines("F2", 13, 72, 480, ["References"])
        + lines("F1", 10, 72, 460, ["[1] C. Clerk. Lamps of oak. Rooms 3, 1999. doi:10.5555/",
                                    "room.1999.3", "[2] D. Dean. Windows. Example Press, 2000."])
        + lines("F1", 8, 300, 30, ["2"])
    )  # fmt: skip
    file.add_page(head + lines("F1", 10, 72, 640, _BODY) + lines("F1", 8, 300, 30, ["3"]))
    item = file.add(f"<< /Title (Introduction) /Parent 1 0 R /Dest [{page} 0 R /Fit] >>")
    outline = file.add(f"<< /First {item} 0 R /Last {item} 0 R >>")
    labels = "/PageLabels << /Nums [0 << /S /D /St 101 >>] >>"
    file.catalogue = f"/Outlines {outline} 0 R {labels} /Lang (en)"
    info = file.add("<< /Title (On the Light in Carrels) /Author (Ada Reader and Ben Writer) >>")
    file.trailer = f"/Info {info} 0 R"
    return file.save()


def _columns() -> bytes:
    content = ""
    for row in range(24):
        content += lines(
            "F1", 10, 60, 700 - row * 13, [f"left line {row} of the first column here"]
        )
        content += lines("F1", 10, 330, 700 - row * 13, [f"right line {row} of the second column"])
    file = PdfFile()
    file.add_page(content)
    return file.save()


def _script(characters: str, show: str) -> bytes:
    """Text in a type 0 font whose codes are the positions of these characters, from 1."""
    file = PdfFile()
    entries = "".join(f"<{n:04X}> <{ord(c):04X}>\n" for n, c in enumerate(characters, 1))
    table = file.add_stream(
        f"begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange "
        f"{len(characters)} beginbfchar\n{entries}endbfchar endcmap".encode()
    )
    system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    inner = file.add(
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /DW 500 {system}"
        " /FontDescriptor << /Type /FontDescriptor /FontName /Made /Flags 4 >> >>"
    )
    font = file.add(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H"
        f" /DescendantFonts [{inner} 0 R] /ToUnicode {table} 0 R >>"
    )
    codes = "".join(f"{characters.index(c) + 1:04X}" for c in show)
    content = f"BT /F9 12 Tf 300 700 Td <{codes}> Tj ET"
    file.add_page(content, fonts=f"/F9 {font} 0 R")
    return file.save()


def _scan() -> bytes:
    file = PdfFile()
    image = file.add_stream(
        b"\x80", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8"
        " /ColorSpace /DeviceGray",
    )  # fmt: skip
    form = file.add_stream(
        b"q 612 0 0 792 0 0 cm /I Do Q",
        f"/Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /I {image} 0 R >> >>",
    )
    stamp = f"<< /Subtype /Stamp /Rect [0 0 612 792] /AP << /N {form} 0 R >> >>"
    file.add_page("", entries=f"/Annots [{stamp}]")
    file.add_page(lines("F1", 10, 72, 700, ["A page with text."]))
    return file.save()


def _one_page(**how: bool) -> bytes:
    file = PdfFile()
    file.add_page(lines("F1", 10, 72, 700, _BODY))
    return file.save(**how)


def _turned() -> bytes:
    file = PdfFile()
    content = "BT /F1 10 Tf 0 1 -1 0 100 100 Tm 12 TL (A first line and) Tj T* (the second.) Tj ET"
    file.add_page(content, entries="/Rotate 90")
    return file.save()


def _unread() -> bytes:
    """Returns a file whose password is not empty, so that its check fails."""
    return _one_page(encrypted=True).replace(b"/O <", b"/O <00", 1).replace(b"> /U", b"> /U", 1)


_ROWS = (
    ("Room", "Desks", "Light"),
    ("North", "14", "even"),
    ("South", "9", "bright"),
    ("Cellar", "2", "none"),
)


def _cells(xs: Sequence[int]) -> str:
    return "".join(
        lines("F1", 10, x, 700 - row * 20, [text])
        for row, texts in enumerate(_ROWS)
        for x, text in zip(xs, texts, strict=True)
    )


def _ruled_table() -> bytes:
    file = PdfFile()
    across = "".join(f"72 {715 - row * 20} m 372 {715 - row * 20} l S\n" for row in range(5))
    down = "".join(f"{x} 635 0.5 80 re f\n" for x in (72, 172, 272, 372))
    caption = lines("F1", 10, 72, 745, ["Table 1: Rooms and their light."])
    below = lines("F1", 10, 72, 600, _BODY)
    file.add_page(caption + across + down + _cells((80, 180, 280)) + below)
    return file.save()


def _open_table() -> bytes:
    file = PdfFile()
    rules = "".join(f"72 {y} m 372 {y} l S\n" for y in (715, 694, 632))
    above = lines("F1", 10, 72, 790, _BODY[:3])
    caption = lines("F1", 10, 72, 610, ["Table 2: The same rooms, without upright lines."])
    file.add_page(above + rules + _cells((76, 200, 300)) + caption)
    return file.save()


def _tagged() -> bytes:
    """Headings, a list and a table that their type does not show."""
    file = PdfFile()
    texts = ("Of rooms", "Rooms have desks.", "oak", "pine", "Room", "Desks", "North", "14")
    content = "".join(
        f"/P << /MCID {mark} >> BDC\n{lines('F1', 10, 72 + 90 * (mark in {5, 7}), y, [text])}EMC\n"
        for mark, (text, y) in enumerate(
            zip(texts, (700, 688, 676, 664, 652, 652, 640, 640), strict=True)
        )
    )
    page = file.add_page(content)
    kinds = ["H1", "P", "LI", "LI"]
    kids = "".join(f"<< /S /{kind} /Pg {page} 0 R /K {mark} >> " for mark, kind in enumerate(kinds))
    rows = [
        f"<< /S /TR /K [<< /S /{kind} /Pg {page} 0 R /K {mark} >>"
        f" << /S /{kind} /Pg {page} 0 R /K {mark + 1} >>] >>"
        for mark, kind in ((4, "TH"), (6, "Cell"))
    ]
    figure = f"<< /S /Figure /Pg {page} 0 R /Alt (A desk below a window.) >>"
    tree = file.add(
        "<< /Type /StructTreeRoot /RoleMap << /Cell /TD >>"
        f" /K [{kids} << /S /Table /K [{' '.join(rows)}] >> {figure}] >>"
    )
    file.catalogue = f"/MarkInfo << /Marked true >> /StructTreeRoot {tree} 0 R"
    return file.save()


def _numbers_of_glyphs() -> bytes:
    """A font of Windows that is not embedded, shown by the numbers of its glyphs."""
    file = PdfFile()
    system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
    inner = file.add(
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Arial /DW 600 {system}"
        " /FontDescriptor << /Type /FontDescriptor /FontName /Arial /Flags 32 >> >>"
    )
    font = file.add(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Arial /Encoding /Identity-H"
        f" /DescendantFonts [{inner} 0 R] >>"
    )
    codes = "".join(f"{ord(c) - 29:04X}" for c in "Reading rooms") + "0003" + "023A023B023C"
    file.add_page(f"BT /F9 12 Tf 72 700 Td <{codes}> Tj ET", fonts=f"/F9 {font} 0 R")
    return file.save()


def _note() -> bytes:
    file = PdfFile()
    note = "<< /Subtype /FreeText /Rect [72 690 300 710] /Contents (A note without its looks) >>"
    file.add_page("", entries=f"/Annots [{note}]")
    return file.save()


def _encrypted_attachments() -> bytes:
    """A password that is not known, for attachments alone."""
    file = PdfFile()
    file.add_page(lines("F1", 10, 72, 700, _BODY))
    filters = "/CF << /StdCF << /AuthEvent /EFOpen /CFM /AESV2 /Length 16 >> >>"
    own = f"<{'5a' * 32}>"
    handler = file.add(
        f"<< /Filter /Standard /V 4 /R 4 /Length 128 {filters} /EFF /StdCF /StmF /Identity"
        f" /StrF /Identity /O {own} /U {own} /P -4 >>"
    )
    file.trailer = f"/Encrypt {handler} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    return file.save()


#: The reversed text is shown on the page from left to right.
CASES: Mapping[str, bytes] = {
    "paper": _paper(),
    "columns": _columns(),
    "hebrew": _script(
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05db2019\u05de",
        "2019 \u05dd\u05dc\u05d5\u05e2 \u05dd\u05d5\u05dc\u05e9",
    ),
    "arabic_forms": _script("\ufe91\ufe8e\ufe8f ", "\ufe8f\ufe8e\ufe91"),
    "scan": _scan(),
    "encrypted_empty_password": _one_page(encrypted=True),
    "encrypted": _unread(),
    "no_cross_references": _one_page(table=False),
    "cut": _one_page()[:900],
    "turned": _turned(),
    "ruled_table": _ruled_table(),
    "open_table": _open_table(),
    "tagged": _tagged(),
    "glyph_numbers": _numbers_of_glyphs(),
    "note": _note(),
    "encrypted_attachments": _encrypted_attachments(),
    "not_pdf": b"<!DOCTYPE html><title>Not found</title>",
}


def main() -> None:
    """Writes the files, without the expected results."""
    for name, data in CASES.items():
        folder = FIXTURES / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "document.pdf").write_bytes(data)


if __name__ == "__main__":
    main()
