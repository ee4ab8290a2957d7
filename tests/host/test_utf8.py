from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import carrel.text.utf8
from carrel.text.utf8 import Utf8

#: Texts with characters of one to four bytes, and invalid bytes, cut at any position.
MOSTLY_TEXT = st.lists(
    st.one_of(
        st.sampled_from(["a", "é", "€", "😀"]).map(str.encode),
        st.binary(min_size=1, max_size=2),
        st.sampled_from([b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80"]),
    ),
    max_size=12,
).map(b"".join)


def start_of_fault(check: object, data: bytes) -> int | None:
    try:
        check(data)  # type: ignore[operator]
    except UnicodeDecodeError as fault:
        return fault.start
    return None


@given(data=MOSTLY_TEXT, piece=st.integers(4, 9))
def test_invalid_utf8_is_refused_at_pythons_position(data: bytes, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(carrel.text.utf8, "_PIECE", piece)
        assert start_of_fault(Utf8, data) == start_of_fault(bytes.decode, data)


@pytest.mark.parametrize("place", [0, 5_000, 100_000])
def test_a_fault_in_a_large_text_is_found_at_its_place(place: int) -> None:
    data = bytearray("naïve € 😀".encode() * 10_000)
    data[place:place] = b"\xff"
    assert start_of_fault(Utf8, bytes(data)) == place


def test_utf8_keeps_its_bytes() -> None:
    data = "naïve € 😀".encode() * 10_000
    assert Utf8(data).data is data
    assert len(Utf8(data)) == len(data)
