"""Tests that both decoders of guests' JSON, the faster and the standard one, agree."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import ContractViolation
from carrel.text.json_text import MAX_DEPTH, decode_object, decode_own_object

#: White space that makes a text large enough for the faster decoder.
ROOM = b" " * 2**18

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


def own(text: bytes) -> dict[str, Any]:
    return decode_own_object(text, plugin="desk", tool="look")


def anybodys(text: bytes) -> dict[str, Any]:
    return decode_object(text, plugin="desk", tool="look", strict=True)


@given(value=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES))
def test_both_decoders_read_the_same(value: dict[str, Any]) -> None:
    text = json.dumps(value).encode()
    assert repr(own(text)) == repr(own(text + ROOM)) == repr(json.loads(text))
    assert repr(anybodys(text)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [b"{", b"", b'{"n":NaN}', b'{"n":1} {"n":2}', b'{"n":"\xff"}', b"[" * 100_000],
    ids=["cut", "empty", "nan", "two", "bytes", "deep"],
)
@pytest.mark.parametrize("room", [b"", ROOM], ids=["small", "large"])
@pytest.mark.parametrize("decode", [own, anybodys])
def test_invalid_json_is_refused(decode: Any, room: bytes, text: bytes) -> None:
    with pytest.raises(ContractViolation, match="look returned text that is not JSON: "):
        decode(text + room)


@pytest.mark.parametrize("decode", [own, anybodys])
@pytest.mark.parametrize("room", [b"", ROOM], ids=["small", "large"])
def test_a_value_that_is_no_object_is_refused(decode: Any, room: bytes) -> None:
    with pytest.raises(ContractViolation, match="JSON that is not an object"):
        decode(b"[]" + room)


@pytest.mark.parametrize("room", [b"", ROOM], ids=["small", "large"])
def test_nesting_is_limited_for_results_of_any_size(room: bytes) -> None:
    def nested(depth: int) -> bytes:
        return b'{"n":' + b"[" * depth + b"]" * depth + b"}" + room

    assert anybodys(nested(MAX_DEPTH))
    with pytest.raises(ContractViolation, match="recursion"):
        anybodys(nested(MAX_DEPTH + 1))


def test_a_small_result_does_not_pay_for_the_quicker_decoder() -> None:
    code = (
        "import sys; from carrel.text.json_text import decode_own_object as decode;"
        "decode(b'{}', plugin='', tool=''); print('msgspec' in sys.modules);"
        "decode(b'{}' + b' ' * 2**18, plugin='', tool=''); print('msgspec' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
