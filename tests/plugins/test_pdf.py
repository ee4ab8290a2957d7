"""Tests the plugin for PDF files: fixtures in both builds, and hostile files."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import carrel
from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import CarrelError, SourceError
from support.pdf_files import CASES, FIXTURES, PdfFile, lines

COMPONENT = Path(carrel.__file__).parent / "components" / "pdf.wasm"


@pytest.fixture
def library(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("pdf"),)))


@pytest.mark.parametrize("name", CASES)
def test_the_files_of_fixtures_are_what_their_script_writes(name: str) -> None:
    assert (FIXTURES / name / "document.pdf").read_bytes() == CASES[name]


def test_the_component_is_smaller_than_six_megabytes() -> None:
    assert COMPONENT.stat().st_size <= 6_000_000


def _deflated_twice() -> bytes:
    return zlib.compress(zlib.compress(bytes(300 << 20), 9), 9)


def _bomb(entries: str) -> Callable[[], bytes]:
    def make() -> bytes:
        file = PdfFile()
        data = _deflated_twice()
        filters = "/Filter [/FlateDecode /FlateDecode]"
        head = f"<< /Length {len(data)} {filters} {entries} >>\nstream\n".encode()
        form = file.add(head + data + b"\nendstream")
        stamp = f"<< /Subtype /Stamp /Rect [0 0 9 9] /AP << /N {form} 0 R >> >>"
        file.add_page("", entries=f"/Annots [{stamp}]")
        return file.save()

    return make


def _nested() -> bytes:
    file = PdfFile()
    file.catalogue = "/Deep " + "[" * 50_000 + "]" * 50_000
    file.add_page(lines("F1", 10, 72, 700, ["words"]))
    return file.save()


def _many_objects() -> bytes:
    file = PdfFile()
    file.add_page(lines("F1", 10, 72, 700, ["words"]))
    for number in range(10_000):
        file.add(f"<< /Number {number} >>")
    return file.save()


def _loop() -> bytes:
    data = CASES["columns"]
    start = data.rindex(b"startxref")
    at = data.rindex(b"xref\n0 ", 0, start)
    return data.replace(b"/Root 1 0 R", f"/Root 1 0 R /Prev {at}".encode())


def _multiplying_forms() -> bytes:
    file = PdfFile()
    inner = file.add_stream(b"BT ET", "/Subtype /Form /BBox [0 0 9 9]")
    for _ in range(20):
        entries = f"/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {inner} 0 R >> >>"
        inner = file.add_stream(b"/X Do " * 10, entries)
    stamp = f"<< /Subtype /Stamp /Rect [0 0 9 9] /AP << /N {inner} 0 R >> >>"
    file.add_page("", entries=f"/Annots [{stamp}]")
    return file.save()


def _many_rules() -> bytes:
    file = PdfFile()
    rules = "".join(f"{x} 0 m {x} 792 l S 0 {x} m 612 {x} l S\n" for x in range(0, 600, 3))
    texts = "".join(lines("F1", 2, x, 700, ["x"] * 200) for x in range(10, 600, 30))
    file.add_page(rules + texts)
    file.add_page("0 0 9 9 re S\n" * 200_000)
    return file.save()


def _structure_loop() -> bytes:
    file = PdfFile()
    page = file.add_page("/P << /MCID 0 >> BDC\n" + lines("F1", 10, 72, 700, ["words"]) + "EMC")
    # Each element has the next one many times over, and the last one has the first.
    first = len(file.objects) + 6
    for number in range(first, first + 30):
        following = first if number == first + 29 else number + 1
        file.add(f"<< /S /P /Pg {page} 0 R /K [0 {f'{following} 0 R ' * 50}] >>")
    file.catalogue = f"/MarkInfo << /Marked true >> /StructTreeRoot << /K {first} 0 R >>"
    return file.save()


def _deep_page_tree() -> bytes:
    file = PdfFile()
    data = file.add_page(lines("F1", 10, 72, 700, ["words"]))
    kid = data
    for _ in range(5000):
        kid = file.add(f"<< /Type /Pages /Kids [{kid} 0 R {kid} 0 R] /Count 2 >>")
    file.pages = [kid]
    return file.save()


def _picture(width: int, height: int) -> bytes:
    """A picture that claims so many dots, in 300 KB that would give 300 MB."""
    file = PdfFile()
    entries = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB "
        "/BitsPerComponent 16 /Filter /FlateDecode"
    )
    picture = file.add_stream(zlib.compress(bytes(300 << 20), 9), entries)
    words = lines("F1", 10, 72, 700, ["words"])
    page = f"/Resources << /XObject << /X {picture} 0 R >> >>"
    form = file.add_stream(b"/X Do", f"/Subtype /Form /BBox [0 0 9 9] {page}")
    stamp = f"<< /Subtype /Stamp /Rect [0 0 9 9] /AP << /N {form} 0 R >> >>"
    file.add_page(words, entries=f"/Annots [{stamp}]")
    return file.save()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "header-only": lambda: b"%PDF-1.7\n",
    "zeros": lambda: b"%PDF-1.7\n" + bytes(1 << 20),
    "object-stream-bomb": _bomb("/Type /ObjStm /N 1 /First 4"),
    "content-bomb": _bomb("/Subtype /Form /BBox [0 0 9 9]"),
    "picture-bomb": lambda: _picture(10_000, 5_000),
    "picture-of-impossible-size": lambda: _picture(2**31 - 1, 2**31 - 1),
    "nested": _nested,
    "objects": _many_objects,
    "loop": _loop,
    "forms": _multiplying_forms,
    "rules": _many_rules,
    "structure-loop": _structure_loop,
    "page-tree": _deep_page_tree,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_document_or_one_typed_error(library: Carrel, name: str) -> None:
    try:
        found = library.parse("pdf", "pdf", HOSTILE[name]())
    except CarrelError as error:
        # Data that inflates to more than the sandbox's memory ends with the limit's error.
        codes = {"invalid_document", "too_large", "limit_exceeded"}
        assert error.to_dict()["code"] in codes
    else:
        assert found["quality"] in {"complete", "partial", "none"}


def test_a_range_of_pages_is_read(library: Carrel) -> None:
    found = library.parse("pdf", "pdf", CASES["paper"], {"pages": "2"})
    assert found["pages"] == 3
    assert {section.get("page") for section in found["sections"]} == {2}
    with pytest.raises(SourceError) as caught:
        library.parse("pdf", "pdf", CASES["paper"], {"pages": "7-9"})
    assert caught.value.to_dict()["code"] == "invalid_arguments"
