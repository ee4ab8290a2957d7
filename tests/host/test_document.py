"""Tests the types of documents: text, bytes in any charset, and refused types."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import carrel
from carrel.errors import ContractViolation
from carrel.text.utf8 import Utf8

FEED = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>naïve €</title></entry></feed>"""
TITLE = "naïve €"


@pytest.fixture(scope="module")
def api() -> Iterator[carrel.Carrel]:
    with carrel.Carrel() as api:
        yield api


def in_charset(charset: str) -> bytes:
    return f'<?xml version="1.0" encoding="{charset}"?>{FEED}'.encode(charset)


@pytest.mark.parametrize(
    "document",
    [
        FEED,
        FEED.encode(),
        Utf8(FEED.encode()),
        bytearray(FEED.encode()),
        memoryview(FEED.encode()),
        b"\xef\xbb\xbf" + FEED.encode(),
        FEED.encode("utf-16"),
        in_charset("iso8859-15"),
        in_charset("cp1252"),
    ],
    ids=["text", "utf-8", "known", "bytearray", "view", "bom", "utf-16", "latin", "windows"],
)
def test_text_and_bytes_give_equal_results(api: carrel.Carrel, document: Any) -> None:
    assert api.parse("arxiv", "feed", document)["entries"][0]["title"] == TITLE
    assert TITLE.encode() in api.parse_utf8("arxiv", "feed", document)
    assert TITLE in api.parse_text("arxiv", "feed", document)
    assert TITLE.encode() in bytes(api.parse_view("arxiv", "feed", document))


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_restored(
    api: carrel.Carrel, collecting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ContractViolation("not JSON")

    large = FEED.replace("<entry>", "<entry>" + "<author><name>A</name></author>" * 20_000)
    (gc.enable if collecting else gc.disable)()
    try:
        api.parse("arxiv", "feed", large)
        assert gc.isenabled() == collecting
        monkeypatch.setattr("carrel.plugins.plugin.decode_own_object", refuse)
        with pytest.raises(ContractViolation):
            api.parse("arxiv", "feed", FEED)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("document", "says", "offset"),
    [
        (b"<feed>\xff</feed>", "byte 6 of 14 is not valid utf-8", 6),
        (b"\xef\xbb\xbf<feed>\xff</feed>", "byte 9 of 17 is not valid utf-8", 9),
        ("<feed>é\ud800</feed>", "character 7 of 15 is half a surrogate pair", 8),
        (b'<?xml version="1.0" encoding="klingon"?><feed/>', "not supported", None),
    ],
    ids=["bytes", "behind a bom", "text", "charset"],
)
def test_a_document_that_is_no_text_is_refused_with_the_position(
    api: carrel.Carrel, document: Any, says: str, offset: int | None
) -> None:
    with pytest.raises(carrel.CarrelError, match=says) as refused:
        api.parse("arxiv", "feed", document)
    assert refused.value.error_code == "invalid_document"
    position = refused.value.details().get("position")
    assert position == (None if offset is None else {"offset": offset})


@pytest.mark.parametrize("document", [None, 5, ["<feed/>"]])
def test_a_document_that_is_neither_text_nor_bytes_is_an_argument_error(
    api: carrel.Carrel, document: Any
) -> None:
    with pytest.raises(carrel.errors.ArgumentError, match="document: expected text or bytes but"):
        api.parse("arxiv", "feed", document)
