"""Tests that a guest's result is a validated text or a typed error."""

from __future__ import annotations

import gc
import json
import logging
import sys
from importlib import metadata
from types import FrameType

import pytest
import wasmtime

from carrel.errors import ContractViolation, LimitExceeded, Trap
from carrel.exchange import Call, Limits, Request
from carrel.runtime.component import PluginReport, SandboxedComponent
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.traps import TRAPS, from_wasmtime
from carrel.text.utf8 import Utf8
from sandbox.conftest import AnsweringFetcher, Invoke, Load
from support.guests import guest

from .test_pool import resident

pytestmark = pytest.mark.long("matrix")

RETURN = "(i32.store8 (i32.const 0) (i32.const {case})) (i32.store (i32.const 4) (i32.const {at}))"
RETURN += " (i32.store (i32.const 8) (i32.const {length})) (return (i32.const 0))"
MIB = 2**20
LARGE = f"(drop (memory.grow (i32.const 130))) {RETURN.format(case=0, at=131072, length=8 * MIB)}"


def parsed(component: SandboxedComponent, limits: Limits | None = None) -> memoryview:
    call = Call("guest", "format", limits or Limits())
    return component.parse("format", Utf8(b"{}"), call, settings={}, inline=True)


def test_a_text_is_unchanged_while_others_are_freed(load: Load) -> None:
    component, other = load(guest(result='{"a":1}')), load(guest(result='{"b":2}'))
    text = parsed(component)
    assert text.readonly
    for _ in range(50):
        assert bytes(parsed(other)) == b'{"b":2}'
    component.close()
    other.close()
    gc.collect()
    assert bytes(text) == b'{"a":1}'


@pytest.mark.skipif(sys.platform != "linux", reason="another C library gives memory back later")
def test_a_text_is_freed_with_the_last_view_of_it(load: Load) -> None:
    component = load(guest(LARGE))
    limits = Limits(output_bytes=16 * MIB)
    before = resident()
    for _ in range(20):
        assert len(parsed(component, limits)) == 8 * MIB
    for _ in range(20):
        garbage: list[object] = [parsed(component, limits)]
        garbage.append(garbage)
        del garbage
        gc.collect()
    assert resident() < before + 100 * MIB
    component.close()


@pytest.mark.requirement("sandbox:limits:interrupt")
def test_nothing_of_pythons_runs_when_a_text_is_freed(load: Load) -> None:
    # An interrupt that was raised there would be lost.
    component = load(guest())
    text = parsed(component)
    calls = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            calls.append(frame.f_code.co_name)

    sys.setprofile(note)
    del text
    sys.setprofile(None)
    assert calls == []
    component.close()


@pytest.mark.skipif(sys.platform != "linux", reason="another C library gives memory back later")
def test_a_text_that_is_too_long_is_freed_before_its_error_is(load: Load) -> None:
    component = load(guest(LARGE))
    before = resident()
    errors = []
    for _ in range(60):
        with pytest.raises(LimitExceeded) as caught:
            parsed(component, Limits(output_bytes=MIB))
        errors.append(caught.value)
    assert resident() < before + 100 * MIB
    component.close()


@pytest.mark.requirement("serve:alive:trap")
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("unreachable", "unreachable"),
        ("(drop (i32.load (i32.const 0x7fffffff)))", "memory_out_of_bounds"),
        ("(drop (i32.div_u (i32.const 1) (local.get $i)))", "integer_division_by_zero"),
        (
            "(drop (i32.div_s (i32.const 0x80000000) (i32.sub (local.get $i) (i32.const 1))))",
            "integer_overflow",
        ),
        ("(drop (i32.trunc_f32_s (f32.const nan)))", "bad_conversion_to_integer"),
    ],
)
def test_a_trap_is_a_typed_error_with_its_kind(invoke: Invoke, body: str, kind: str) -> None:
    with pytest.raises(Trap) as caught:
        invoke(guest(body))
    assert caught.value.kind == kind
    assert caught.value.error_code == "plugin_failed"
    assert caught.value.to_dict()["trap"] == kind


def test_no_traps_message_contains_anothers() -> None:
    for kind, words in TRAPS.items():
        error = from_wasmtime(wasmtime.WasmtimeError(f"wasm trap: {words}"), Call("g", "t"))
        if isinstance(error, Trap):
            assert error.kind == kind


@pytest.mark.requirement("result:typed:contract")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(
            "(i32.store8 (i32.const 1024) (i32.const 0xff))", "not UTF-8", id="invalid-utf8"
        ),
        pytest.param(
            RETURN.format(case=0, at=1024, length=0x7FFFFFFF), "outside its memory", id="length"
        ),
        pytest.param(
            RETURN.format(case=0, at=0x7FFFFFF0, length=2), "outside its memory", id="pointer"
        ),
        pytest.param(RETURN.format(case=7, at=1024, length=2), "variant case", id="discriminant"),
        pytest.param("(return (i32.const 3))", "misaligned|aligned", id="misaligned"),
    ],
)
def test_a_value_that_breaks_the_abi_is_a_contract_violation(
    invoke: Invoke, body: str, words: str
) -> None:
    with pytest.raises(ContractViolation, match=words):
        invoke(guest(body))


def test_a_faulty_allocator_is_a_typed_error(invoke: Invoke) -> None:
    with pytest.raises((ContractViolation, Trap, LimitExceeded)):
        invoke(guest("unreachable"), "x" * 1_000_000, limits=Limits(memory_bytes=200_000))


def test_the_plugins_own_error_is_returned(invoke: Invoke) -> None:
    report = json.dumps({"code": "not_found", "message": "no such paper"})
    with pytest.raises(PluginReport) as caught:
        invoke(guest(result=report, failed=True))
    assert json.loads(caught.value.text)["code"] == "not_found"


@pytest.mark.requirement("sandbox:fresh:memory")
def test_nothing_a_call_wrote_is_there_in_the_next_one(load: Load) -> None:
    # Counts in memory and in a global; traps if either was set by an earlier call.
    component = load(
        guest(
            """
            (if (i32.load (i32.const 2048)) (then unreachable))
            (if (global.get $seen) (then unreachable))
            (i32.store (i32.const 2048) (i32.const 1))
            (global.set $seen (i32.const 1))
            """,
            functions="(global $seen (mut i32) (i32.const 0))",
        )
    )
    for _ in range(50):
        call = Call("guest", "tool")
        done = component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        assert done.result(timeout=5) == "{}"


@pytest.mark.requirement("serve:alive:host-function")
def test_a_fetcher_that_fails_inside_the_host_costs_one_internal_error(
    invoke: Invoke, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(AnsweringFetcher):
        def fetch_all(self, requests: object, call: Call) -> list[object]:  # type: ignore[override]
            raise RuntimeError("secret detail")

    asks = guest("(drop (call $get (i32.const 1024) (i32.const 2)))", fetching=True)
    with caplog.at_level(logging.ERROR), pytest.raises(Exception, match="internal error") as caught:
        invoke(asks, fetcher=Broken())
    assert getattr(caught.value, "error_code", None) == "internal"
    assert "secret detail" not in str(caught.value)
    assert "secret detail" in caplog.text


def test_a_fetch_reaches_the_fetcher_as_the_guest_wrote_it(invoke: Invoke) -> None:
    fetcher = AnsweringFetcher()
    asks = guest(
        "(if (call $get (i32.const 2048) (i32.const 22)) (then unreachable))",
        data='(data (i32.const 2048) "https://example.org/a?b")',
        fetching=True,
    )
    assert invoke(asks, fetcher=fetcher) == "{}"
    [request] = fetcher.requests
    assert (request.method, request.url, request.body) == ("GET", "https://example.org/a?", "")


class DiscardingFetcher(AnsweringFetcher):
    """Records the URLs that a guest discarded, too."""

    def __init__(self) -> None:
        super().__init__()
        self.discarded: list[Request] = []

    def discard(self, call: Call, request: Request) -> None:
        self.discarded.append(request)


@pytest.mark.requirement("result:typed:discarded-is-not-kept")
def test_a_discarded_request_reaches_the_fetcher_as_the_guest_wrote_it(invoke: Invoke) -> None:
    fetcher = DiscardingFetcher()
    gives_up = guest(
        "(call $discard (i32.const 2048) (i32.const 22))",
        data='(data (i32.const 2048) "https://example.org/a?b")',
        fetching=True,
        discarding=True,
    )
    assert invoke(gives_up, fetcher=fetcher) == "{}"
    assert fetcher.discarded == [Request("GET", "https://example.org/a?")]
    # A fetcher without a cache ignores a discard: a replay, or none.
    assert invoke(gives_up, fetcher=AnsweringFetcher()) == "{}"


@pytest.mark.requirement("sandbox:limits:reports")
def test_a_flood_of_discards_ends_the_call(invoke: Invoke) -> None:
    flood = guest(
        "(loop $l (call $discard (i32.const 2048) (i32.const 22)) (br $l))",
        fetching=True,
        discarding=True,
    )
    fetcher = DiscardingFetcher()
    with pytest.raises(LimitExceeded) as caught:
        invoke(flood, fetcher=fetcher)
    assert caught.value.limit == "reports"
    assert len(fetcher.discarded) == 5000


@pytest.mark.requirement("sandbox:limits:fetches")
@pytest.mark.skipif(
    int(metadata.version("wasmtime").partition(".")[0]) < 50,
    reason="wasmtime before 50 has no limit on what a guest passes: this takes 2.6 GB there",
)
def test_a_list_of_requests_larger_than_the_host_takes_is_a_typed_error(invoke: Invoke) -> None:
    """Two million requests in one list: the host lifts the list before it checks a budget."""
    flood = guest(
        """
        (drop (memory.grow (i32.const 1400)))
        (drop (call $get_all (i32.const 131072) (i32.const 2000000)))
        """,
        fetching=True,
    )
    with pytest.raises((ContractViolation, LimitExceeded, Trap)):
        invoke(flood, fetcher=AnsweringFetcher(), limits=Limits(cpu_seconds=3.0))


@pytest.mark.requirement("sandbox:parse:offline")
def test_describe_and_parse_have_no_network(load: Load) -> None:
    asks = guest(
        "(if (i32.eqz (call $get (i32.const 1024) (i32.const 2))) (then unreachable))",
        fetching=True,
    )
    component = load(asks)
    call = Call("guest", "format")
    assert bytes(component.parse("format", "<a/>", call, settings={})) == b"{}"
    assert call.denial is not None
    assert call.denial.reason == "offline"
