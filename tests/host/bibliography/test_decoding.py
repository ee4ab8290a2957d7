"""Encodings of bibliographies."""

from __future__ import annotations

import pytest

from carrel.bibliography import BibliographyError, read_bibliography

TEXT = '[{"id": "a", "type": "book", "title": "Über Tische"}]'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_is_utf_8_or_utf_16_with_a_byte_order_mark(encoding: str) -> None:
    found = read_bibliography(TEXT.encode(encoding))
    assert found.entries[0].item["title"] == "Über Tische"
    assert found.unread == ()


def test_other_bytes_are_read_as_windows_1252_with_a_warning() -> None:
    found = read_bibliography(TEXT.encode("latin-1"))
    assert found.entries[0].item["title"] == "Über Tische"
    assert "not UTF-8; the text was read as Windows-1252" in found.unread[0].problem


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"\x00" * 3, "NOT_TEXT"), (b"\xff\xfe1", "NOT_TEXT"), (b" " * (2**24 + 1), "TOO_LARGE")],
)
def test_what_is_no_text_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(BibliographyError) as raised:
        read_bibliography(data)
    assert raised.value.bibliography_code == code


def test_a_text_in_no_known_format_is_refused() -> None:
    with pytest.raises(BibliographyError, match="no bibliography that Carrel knows") as raised:
        read_bibliography("just words")
    assert raised.value.bibliography_code == "UNKNOWN_FORMAT"
