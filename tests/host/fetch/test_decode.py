from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.fetch.decode import BodyReader, TooLargeError, UndecodableError, decode_text

CAP = 64 * 2**20


def read(encodings: list[str], *chunks: bytes, cap: int = CAP) -> bytes:
    reader = BodyReader(encodings, cap)
    for chunk in chunks:
        feed(reader, chunk)
    return bytes(reader.finish())


def feed(reader: BodyReader, chunk: bytes) -> list[int]:
    return list(reader.feed(chunk))


def squeeze(data: bytes) -> bytes:
    """Compresses with gzip, without a time in the header."""
    return gzip.compress(data, mtime=0)


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("encodings", "wire"),
    [
        ([], b"feed"), (["identity"], b"feed"), (["gzip"], squeeze(b"feed")),
        (["X-GZIP"], squeeze(b"feed")), (["deflate"], zlib.compress(b"feed")),
        (["deflate"], raw_deflate(b"feed")), (["identity, gzip"], squeeze(b"feed")),
        (["gzip"], squeeze(b"fe") + squeeze(b"ed")),
        (["gzip"], squeeze(b"feed") + b"\0" * 500),
    ],
)  # fmt: skip
def test_every_accepted_encoding_and_its_usual_variants_are_decoded(
    encodings: list[str], wire: bytes
) -> None:
    assert read(encodings, wire) == b"feed"
    assert read(encodings, *(bytes([byte]) for byte in wire)) == b"feed"


@pytest.mark.property
@given(st.binary(max_size=5000), st.integers(1, 700))
def test_a_body_survives_any_cutting_into_chunks(data: bytes, size: int) -> None:
    for kind, wire in (
        ("gzip", squeeze(data)),
        ("deflate", zlib.compress(data)),
        ("deflate", raw_deflate(data)),
        ("", data),
    ):
        chunks = [wire[start : start + size] for start in range(0, len(wire), size)]
        assert read([kind], *chunks) == data


@pytest.mark.requirement("sandbox:limits:decompression-bomb")
def test_a_megabyte_that_expands_to_a_gibibyte_stops_at_the_cap() -> None:
    stream = zlib.compressobj(9, wbits=31)
    zeros = bytes(2**20)
    head, block = (stream.compress(zeros) + stream.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = head + block * 1023
    assert len(bomb) < 1.1 * 2**20
    reader = BodyReader(["gzip"], CAP)
    with pytest.raises(TooLargeError, match="decompressed"):
        feed(reader, bomb)
    assert len(reader._body) <= CAP + 2**20


def test_a_ratio_that_no_document_has_is_refused_before_the_cap() -> None:
    reader = BodyReader(["gzip"], 2**40)
    with pytest.raises(TooLargeError):
        feed(reader, squeeze(bytes(64 * 2**20)))


def test_the_limit_applies_to_plain_and_compressed_bodies() -> None:
    assert read([], b"12345", cap=5) == b"12345"
    with pytest.raises(TooLargeError):
        read([], b"123456", cap=5)
    with pytest.raises(TooLargeError):
        read(["gzip"], squeeze(b""), cap=5)
    assert read(["gzip"], squeeze(b"1" * 100), cap=100) == b"1" * 100
    with pytest.raises(TooLargeError):
        read(["gzip"], squeeze(b"1" * 101), cap=100)


@pytest.mark.parametrize(
    "encodings", [["gzip, gzip"], ["gzip", "deflate"], ["br"], ["zstd"], ["compress"], ["gzip;q=1"]]
)
def test_stacked_and_unrequested_encodings_are_refused(encodings: list[str]) -> None:
    with pytest.raises(UndecodableError):
        BodyReader(encodings, CAP)


@pytest.mark.parametrize(
    ("kind", "wire"),
    [
        ("gzip", squeeze(b"feed" * 100)[:-9]), ("gzip", b"<feed/>"),
        ("gzip", squeeze(b"x") + b"junk"), ("deflate", b"<feed/>"),
        ("deflate", zlib.compress(b"feed") + b"junk"), ("deflate", zlib.compress(b"feed")[:-2]),
        ("gzip", squeeze(b"feed")[:-4] + b"\0\0\0\0"),
    ],
)  # fmt: skip
def test_a_broken_or_cut_stream_is_undecodable(kind: str, wire: bytes) -> None:
    with pytest.raises(UndecodableError):
        read([kind], wire)


XML_LATIN = '<?xml version="1.0" encoding="ISO-8859-1"?><t>caf\u00e9</t>'


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"", "", ""),
        ("caf\u00e9".encode(), "text/plain", "caf\u00e9"),
        ("caf\u00e9".encode("latin-1"), "text/plain; charset=ISO-8859-1", "caf\u00e9"),
        ("caf\u00e9".encode("cp1252"), 'text/plain; a=b; Charset="windows-1252"', "caf\u00e9"),
        (XML_LATIN.encode("latin-1"), "application/xml", XML_LATIN),
        (XML_LATIN.encode(), "application/xml; charset=utf-8", XML_LATIN),
        ("\ufeffa".encode(), "text/plain; charset=latin-1", "a"),
        ("\ufeff<a/>".encode("utf-16-le"), "", "<a/>"),
        ("\ufeff<a/>".encode("utf-16-be"), "text/xml; charset=utf-8", "<a/>"),
        ("<?xml?>".encode("utf-16-be"), "text/xml", "<?xml?>"),
        ("<?xml?>".encode("utf-16-le"), "text/xml; charset=utf-16", "<?xml?>"),
        (b'<meta charset="koi8-r">\xc1', "text/html", '<meta charset="koi8-r">\u0430'),
        (b'<?xml version="1.0" encoding="utf-16"?>', "", '<?xml version="1.0" encoding="utf-16"?>'),
    ],
)
def test_the_charset_is_found_where_it_is_declared(
    body: bytes, content_type: str, text: str
) -> None:
    assert decode_text(body, content_type) == text


def test_a_wrong_byte_is_named_by_its_offset() -> None:
    with pytest.raises(UndecodableError, match="byte 3 of 5 is not valid utf-8"):
        decode_text(b"caf\xe9!", "text/plain")
    with pytest.raises(UndecodableError, match="byte 6 of 7"):
        decode_text(b"\xef\xbb\xbfcaf\xe9", "")


@pytest.mark.parametrize("label", ["utf-7", "zip", "rot13", "idna", "x-unknown", "../x", "a" * 99])
def test_a_charset_that_is_none_is_undecodable(label: str) -> None:
    with pytest.raises(UndecodableError, match="charset"):
        decode_text(b"abc", f"text/plain; charset={label}")
