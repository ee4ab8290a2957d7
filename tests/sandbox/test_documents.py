"""Tests binary documents: the guest gets them unchanged, and faults are typed errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.errors import ContractViolation, LimitExceeded, LoadError, Trap
from carrel.exchange import Call, Limits
from carrel.runtime.component import PluginReport, SandboxedComponent
from carrel.runtime.documents import DOCUMENTS, ENTRY, entry_arguments, with_entry
from carrel.runtime.sections import sections
from support.guests import (
    CHECK_PATTERN,
    CHECKED,
    HEX,
    Guest,
    assemble,
    checking_guest,
    guest,
    guest_wat,
    pattern,
)

from .conftest import Load
from .test_results import RETURN

MIB = 2**20
READER = Limits(memory_bytes=256 * MIB)
OPTIONS = '{"pages": "3-7"}'


def read(
    component: SandboxedComponent,
    document: bytes,
    options: str = "{}",
    *,
    limits: Limits = READER,
    inline: bool = True,
) -> Any:
    call = Call("guest", "file", limits)
    text = component.parse_bytes("file", document, options, call, settings={}, inline=inline)
    return json.loads(bytes(text))


def right(size: int) -> dict[str, str]:
    return {"size": f"{size:08x}", "wrong": "00000000"}


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "worker"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 6, 7, 255, 65_536, 3 * 2**18 + 1, 10 * MIB])
def test_every_byte_reaches_the_guest(load: Load, size: int, inline: bool) -> None:
    component = load(checking_guest())
    assert read(component, pattern(size), inline=inline) == right(size)
    ascii_only = pattern(size, ascii_only=True)
    assert read(component, ascii_only, OPTIONS, inline=inline) == right(size)
    component.close()


def test_a_document_of_64_mib_reaches_the_guest(load: Load) -> None:
    component = load(checking_guest())
    assert read(component, pattern(64 * MIB)) == right(64 * MIB)
    component.close()


@pytest.mark.parametrize("value", [0x00, 0x7F, 0x80, 0xC3, 0xED, 0xFF])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_bytes_that_are_no_text_reach_the_guest(load: Load, value: int, size: int) -> None:
    same = f"""
      (block $end
        (loop $next
          (br_if $end (i32.ge_u (local.get $i) (local.get $length)))
          (if (i32.ne (i32.load8_u (i32.add (local.get $document) (local.get $i)))
                      (i32.const {value}))
            (then unreachable))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next)))
      (if (i32.ne (local.get $length) (i32.const {size})) (then unreachable))
    """
    component = load(guest(reading=same))
    assert read(component, bytes([value]) * size) == {}
    component.close()


def test_the_options_reach_the_guest_as_they_are(load: Load) -> None:
    options = '{"pages":"3-7", "é": "ü"}'
    body = """
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (local.get $options))
      (i32.store (i32.const 8) (local.get $options_length))
      (return (i32.const 0))
    """
    component = load(guest(reading=body))
    for document in (b"text", b"\xff"):
        assert read(component, document, options) == json.loads(options)
    component.close()


def test_text_crosses_as_it_is_and_other_bytes_in_base64() -> None:
    for text in (b"", b"plain", "größer".encode(), b"\0"):
        data, encoding = entry_arguments(text)
        assert (data.data, encoding.data) == (text, b"")
    data, encoding = entry_arguments(b"\xff\xfe\0")
    assert (data.data, encoding.data) == (b"//4A", b"base64")


@pytest.mark.requirement("result:typed:contract")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param("(i32.store8 (i32.const 1024) (i32.const 0xff))", "not UTF-8", id="utf8"),
        pytest.param(RETURN.format(case=0, at=1024, length=0x7FFFFFFF), "outside", id="length"),
        pytest.param(RETURN.format(case=0, at=0x7FFFFFF0, length=2), "outside", id="pointer"),
        pytest.param(RETURN.format(case=7, at=1024, length=2), "variant case", id="discriminant"),
        pytest.param("(return (i32.const 3))", "misaligned|aligned", id="misaligned"),
        pytest.param("(return (i32.const 0x7ffffff0))", "guest", id="result"),
    ],
)
@pytest.mark.parametrize("document", [b"text", b"\xff"], ids=["text", "bytes"])
def test_a_value_that_breaks_the_abi_is_a_contract_violation(
    load: Load, body: str, words: str, document: bytes
) -> None:
    component = load(guest(reading=body))
    with pytest.raises(ContractViolation, match=words):
        read(component, document)
    component.close()


REALLOC = '(func (export "realloc") (param i32 i32 i32) (param $n i32) (result i32)'


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param("(return (i32.const 0x7ffffff0))", id="outside"),
        pytest.param("(return (i32.const -1))", id="last-address"),
        pytest.param("(return (i32.const 131060))", id="across-the-end"),
        pytest.param(
            "(if (i32.eq (local.get $n) (i32.const 1000)) (then (return (i32.const 0x7ffffff0))))",
            id="document-outside",
        ),
        pytest.param(
            "(if (i32.eq (local.get $n) (i32.const 128)) (then (return (i32.const 0x7ffffff0))))",
            id="table-outside",
        ),
        pytest.param("unreachable", id="trap"),
    ],
)
def test_a_faulty_allocator_is_a_typed_error(load: Load, lie: str) -> None:
    wat = guest_wat(
        reading="(drop (i32.load8_u (i32.add (local.get $document) (i32.sub (local.get $length)"
        " (i32.const 1)))))"
    )
    assert REALLOC in wat
    component = load(assemble(wat.replace("(local $p i32)", f"(local $p i32) {lie}", 1)))
    with pytest.raises((ContractViolation, Trap, LimitExceeded)):
        read(component, b"\xff" * 1000)
    component.close()


def test_an_allocator_that_only_allocates_is_enough(load: Load) -> None:
    # componentize-py traps for a block that it has already returned.
    wat = guest_wat(reading=CHECK_PATTERN, result=CHECKED, functions=HEX)
    only = "(local $p i32) (if (local.get 0) (then unreachable))"
    component = load(assemble(wat.replace("(local $p i32)", only, 1)))
    for size in (1, 1000, 5 * MIB):
        assert read(component, pattern(size)) == right(size)
    component.close()


def test_an_allocator_with_overlapping_blocks_fails_only_its_own_call(load: Load) -> None:
    # The alphabet's table overlaps the document, so the guest reads wrong data, but only its own.
    wat = guest_wat(reading="")
    same = "(local $p i32) (return (i32.const 65536))"
    component = load(assemble(wat.replace("(local $p i32)", same, 1)))
    assert read(component, b"\xff" * 1000) == {}
    component.close()


def test_a_trap_is_the_guests_own(load: Load) -> None:
    component = load(guest(reading="unreachable"))
    with pytest.raises(Trap) as caught:
        read(component, b"\xff")
    assert caught.value.kind == "unreachable"
    component.close()


@pytest.mark.requirement("sandbox:limits:memory")
@pytest.mark.parametrize("first", [b"\xff", b"x"], ids=["bytes", "text"])
def test_a_document_that_does_not_fit_into_memory_is_a_limit(load: Load, first: bytes) -> None:
    component = load(checking_guest())
    with pytest.raises(LimitExceeded) as caught:
        read(component, first * (8 * MIB), limits=Limits(memory_bytes=4 * MIB))
    assert caught.value.limit == "memory"
    component.close()


@pytest.mark.requirement("sandbox:limits:cpu")
def test_a_guest_that_loops_over_a_document_ends(load: Load) -> None:
    component = load(guest(reading="(loop $again (br $again))"))
    with pytest.raises(LimitExceeded) as caught:
        read(component, b"\xff", limits=Limits(cpu_seconds=0.2))
    assert caught.value.limit == "cpu"
    component.close()


@pytest.mark.requirement("sandbox:fresh:memory")
def test_nothing_of_a_document_is_there_in_the_next_call(load: Load) -> None:
    body = """
      (if (i32.load (i32.const 2048)) (then unreachable))
      (i32.store (i32.const 2048) (i32.const 1))
    """
    component = load(guest(reading=body))
    for _ in range(20):
        assert read(component, b"\xff" * 10) == {}
    component.close()


def test_the_plugins_own_error_is_returned(load: Load) -> None:
    report = json.dumps({"code": "invalid_document", "message": "no file of that kind"})
    component = load(guest(reading="", result=report, failed=True))
    with pytest.raises(PluginReport) as caught:
        read(component, b"\xff")
    assert json.loads(caught.value.text)["code"] == "invalid_document"
    component.close()


LIFT = """(canon lift (core func $i "parse-bytes") (memory (core memory $libc "memory"))
      (realloc (core func $libc "realloc")))"""


def changed(old: str, new: str) -> Guest:
    wat = guest_wat(reading="")
    assert old in wat
    return assemble(wat.replace(old, new))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        pytest.param(
            changed('"document" (list u8)', '"document" string'), "another type", id="text"
        ),
        pytest.param(
            changed('"document" (list u8)', '"document" (list s8)'), "another type", id="signed"
        ),
        pytest.param(
            changed(
                'export "parse-bytes" (func $parse_bytes)',
                'export "parse-byte" (func $parse_bytes)',
            ),
            "another type",
            id="other-name",
        ),
        pytest.param(
            changed(LIFT, LIFT[:-1] + " string-encoding=latin1+utf16)"), "encoding", id="encoding"
        ),
        pytest.param(
            changed(
                "(instance $documents (export",
                '(instance $documents (export "more" (func $parse))(export',
            ),
            "2 functions",
            id="two",
        ),
        pytest.param(
            changed(
                '(instance $documents (export "parse-bytes" (func $parse_bytes)))',
                "(instance $documents)",
            ),
            "0 functions",
            id="none",
        ),
    ],
)
def test_another_interface_of_that_name_is_refused(load: Load, other: Guest, words: str) -> None:
    with pytest.raises(LoadError, match=words) as caught:
        load(other)
    assert DOCUMENTS in caught.value.message


def test_a_function_that_another_component_lifts_is_refused_with_the_reason(load: Load) -> None:
    wat = guest_wat(reading="")
    lifted = wat[wat.index("(func $parse_bytes") : wat.index("(instance $documents")]
    inner = f"""
      (component $inner
        (core module $m (memory (export "memory") 1)
          (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
          (func (export "parse-bytes") (param i32 i32 i32 i32 i32 i32) (result i32) unreachable))
        (core instance $i (instantiate $m))
        (alias core export $i "memory" (core memory $memory))
        {lifted.replace("$libc", "$i")}
        (export "parse-bytes" (func $parse_bytes)))
      (instance $instance (instantiate $inner))
      (alias export $instance "parse-bytes" (func $parse_bytes))
    """
    with pytest.raises(LoadError, match="lift it itself"):
        load(assemble(wat.replace(lifted, inner)))


def test_a_component_that_has_the_entrys_name_already_is_refused(load: Load) -> None:
    taken = changed(
        '(export "carrel:plugin/documents@1.0.0"',
        f'(export "{ENTRY}" (func $parse)) (export "carrel:plugin/documents@1.0.0"',
    )
    with pytest.raises(LoadError):
        load(taken)


def test_a_component_without_the_interface_is_compiled_as_it_is(load: Load) -> None:
    component = load(guest())
    assert not component.reads_bytes
    component.close()


def test_the_entry_is_appended_and_nothing_of_the_component_changes() -> None:
    # The appended code is part of the compiled code: if it changes, so must
    # `codecache.SETTINGS_REVISION`.
    one = guest(reading="")
    longer = with_entry(one.wasm, "guest")
    assert longer.startswith(one.wasm)
    assert [section for section, *_ in sections(longer[len(one.wasm) - 8 :])] == [1, 2, 6, 7, 8, 11]


def test_damaged_definitions_end_in_one_typed_error() -> None:
    wasm = guest(reading="").wasm
    for at in range(8, len(wasm)):
        for value in (0x00, 0x7F, 0xFF):
            damaged = wasm[:at] + bytes([value]) + wasm[at + 1 :]
            try:
                with_entry(damaged, "guest")
            except LoadError:
                continue
