"""Tests that both interfaces to wasmtime have the same names and behave alike."""

from __future__ import annotations

import gc
import hashlib
import importlib
import inspect
import struct
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any
from weakref import ref

import pytest
import wasmtime
from wasmtime.component import Component

from carrel.exchange import Failure, FailureKind, Outcome, Request, Response
from carrel.runtime.documents import ENTRY, entry_arguments, with_entry
from carrel.runtime.engine import new_engine
from carrel.runtime.ffi import MAX_WORDS, MismatchError, OutputError, symbols
from carrel.runtime.imports import SOURCE
from support.guests import (
    CHECK_PATTERN,
    Guest,
    assemble,
    checking_guest,
    guest,
    guest_wat,
    pattern,
)

HTTP = "carrel:plugin/http@1.0.0"
LOG = "carrel:plugin/log@1.0.0"
PROGRESS = "carrel:plugin/progress@1.0.0"
CONFIG = "carrel:plugin/config@1.0.0"
MIB = 2**20
GET = "(drop (call $get (i32.const 2048) (i32.const 6)))"
URL = '(data (i32.const 2048) "http:x")'

Define = Callable[[Any], None]


@pytest.fixture(params=["direct", "public"])
def interface(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "direct" and list(symbols.differences()):
        pytest.skip("the private bindings of this wasmtime-py are not those of the list")
    return importlib.import_module(f"carrel.runtime.ffi.{request.param}")


def entry_guest(reading: str) -> Guest:
    """Returns a guest with the entry for binary documents, as the host compiles it."""
    one = checking_guest() if reading == CHECK_PATTERN else guest(reading=reading)
    wasm = with_entry(one.wasm, "guest")
    return Guest(wasm, hashlib.sha256(wasm).hexdigest())


class Run:
    """Runs a guest in its own engine."""

    def __init__(self, interface: ModuleType, guest: Guest, define: Define | None = None) -> None:
        self.interface = interface
        self.engine = new_engine(2**20)
        machine_code = bytes(Component(self.engine, guest.wasm).serialize())
        self.code = interface.Code(self.engine, machine_code)
        self.linker = interface.Linker(self.engine)
        if define is not None:
            with self.linker.root() as root:
                define(root)
        self.store: Any = None
        self.returned = 0

    def call(
        self,
        function: str = "call",
        arguments: Sequence[bytes] = (b"tool", b"{}"),
        *,
        memory_bytes: int = 64 * MIB,
        max_bytes: int = MIB,
    ) -> tuple[bool, bytes]:
        self.store = self.interface.Store(
            self.engine,
            memory_bytes=memory_bytes,
            table_elements=1000,
            instances=50,
            tables=10,
            memories=1,
        )
        try:
            instance = self.store.instantiate(self.linker, self.code)
            inside = None if function == ENTRY else self.code.export(SOURCE)
            place = self.code.export(function, inside)
            is_ok, text = self.interface.call_text(
                self.store.function(instance, place),
                self.store,
                arguments,
                max_bytes=max_bytes,
                returned=self._count_return,
            )
            assert text.readonly
            return is_ok, bytes(text)
        finally:
            self.store.close()

    def _count_return(self) -> None:
        self.returned += 1


class Upstream:
    """Responds to a guest's requests, and records them."""

    def __init__(self, outcome: Outcome | None = None, limit: int = 100) -> None:
        self.outcome = outcome or Response(200, "http:x", (("a", "b"),), "body")
        self.limit = limit
        self.requests: list[Request] = []
        self.asked: list[int] = []
        self.cycle: object = None

    def fetch(self, requests: list[Request]) -> list[Outcome]:
        self.requests += requests
        return [self.outcome for _ in requests]

    def may_fetch(self, count: int) -> bool:
        self.asked.append(count)
        return count <= self.limit

    def define(self, root: Any) -> None:
        with root.add_instance(HTTP) as http:
            http.add_fetch("fetch", self.fetch, may_fetch=self.may_fetch, many=False)
            http.add_fetch("fetch-all", self.fetch, may_fetch=self.may_fetch, many=True)


def test_both_have_the_same_names_and_parameters() -> None:
    if list(symbols.differences()):
        pytest.skip("the private bindings of this wasmtime-py are not those of the list")
    direct, public = (
        importlib.import_module(f"carrel.runtime.ffi.{name}") for name in ("direct", "public")
    )
    assert direct.__all__ == public.__all__
    for name in direct.__all__:
        one, other = getattr(direct, name), getattr(public, name)
        assert list(parameters(one)) == list(parameters(other)) or name in {
            "Export",
            "LinkerInstance",
        }, name
        methods = {
            member for member in vars(one) if not member.startswith("_") and inspect.isclass(one)
        }
        for method in methods:
            assert parameters(getattr(one, method)) == parameters(getattr(other, method)), method


def parameters(function: Any) -> dict[str, tuple[object, object]]:
    return {
        name: (parameter.kind, parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
    }


@pytest.mark.parametrize("failed", [False, True])
def test_a_result_and_an_error_are_returned_as_text(interface: ModuleType, *, failed: bool) -> None:
    run = Run(interface, guest(result='{"é": 1}', failed=failed))
    assert run.call() == (not failed, '{"é": 1}'.encode())
    assert run.call("describe", ()) == (True, b"{}")
    assert run.returned == 2


def test_a_result_as_long_as_its_limit_is_read_and_a_longer_one_is_not(
    interface: ModuleType,
) -> None:
    run = Run(interface, guest(result="é" * 50))
    assert run.call(max_bytes=100) == (True, b"\xc3\xa9" * 50)
    with pytest.raises(OutputError):
        run.call(max_bytes=99)


def test_a_function_of_another_type_is_a_mismatch(interface: ModuleType) -> None:
    wat = guest_wat().replace(
        '(func $describe (result string)\n    (canon lift (core func $i "describe") '
        '(memory (core memory $libc "memory"))))',
        '(func $describe (result u32) (canon lift (core func $i "describe")))',
    )
    run = Run(interface, assemble(wat))
    with pytest.raises(MismatchError):
        run.call("describe", ())
    assert run.call() == (True, b"{}")


def test_a_function_called_with_another_number_of_arguments_fails(interface: ModuleType) -> None:
    run = Run(interface, guest())
    with pytest.raises(wasmtime.WasmtimeError):
        run.call("call", (b"one",))
    assert run.returned == 1


def test_a_trap_is_wasmtimes_error(interface: ModuleType) -> None:
    run = Run(interface, guest("unreachable"))
    with pytest.raises(wasmtime.WasmtimeError, match="wasm `unreachable` instruction executed"):
        run.call()
    assert run.returned == 1


def test_the_next_epoch_interrupts_a_guest(interface: ModuleType) -> None:
    run = Run(
        interface,
        guest("(drop (call $get (i32.const 2048) (i32.const 6))) (loop $l (br $l))", fetching=True),
    )

    class Interrupting(Upstream):
        def fetch(self, requests: list[Request]) -> list[Outcome]:
            run.engine.increment_epoch()
            return super().fetch(requests)

    with run.linker.root() as root:
        Interrupting().define(root)
    with pytest.raises(wasmtime.WasmtimeError, match="wasm trap: interrupt"):
        run.call()


def test_memory_ends_at_its_limit(interface: ModuleType) -> None:
    body = (
        "(if (i32.ne (i32.const -1) (memory.grow (i32.const 64))) (then unreachable))"
        "(if (i32.eq (i32.const -1) (memory.grow (i32.const 1))) (then unreachable))"
    )
    assert Run(interface, guest(body)).call(memory_bytes=2 * MIB) == (True, b"{}")
    with pytest.raises(wasmtime.WasmtimeError, match="exceeds memory limits"):
        Run(interface, guest(pages=64)).call(memory_bytes=2 * MIB)


def test_imports_and_exports_are_found_by_name(interface: ModuleType) -> None:
    run = Run(interface, guest(fetching=True, reporting=True))
    assert sorted(run.code.imports()) == [CONFIG, HTTP, LOG, PROGRESS]
    assert run.code.export("carrel:plugin/source@9.9.9") is None
    assert run.code.export("parse", run.code.export(SOURCE)) is not None
    assert run.code.export("missing", run.code.export(SOURCE)) is None


def test_a_request_arrives_as_the_guest_wrote_it(interface: ModuleType) -> None:
    headers = struct.pack("<iiii", 2048, 6, 2049, 3)
    request = struct.pack("<B3xiiiiiiB3x", 2, 2048, 6, 3072, 1, 2050, 4, 1)
    body = (
        "(if (i32.ne (i32.const 1) (call $get_all (i32.const 4096) (i32.const 1)))"
        " (then (if (i32.eqz (i32.load (i32.const 64))) (then unreachable))))"
    )
    data = URL + _data(3072, headers) + _data(4096, request)
    upstream = Upstream()
    asking = guest(body, fetching=True, data=data)
    assert Run(interface, asking, upstream.define).call() == (True, b"{}")
    assert upstream.requests == [
        Request("POST", "http:x", (("http:x", "ttp"),), "tp:x", refresh=True)
    ]
    assert upstream.asked == [1]


def _data(at: int, content: bytes) -> str:
    return f'(data (i32.const {at}) "{"".join(f"{one:02x}" for one in content)}")'.replace(
        content.hex(), "".join(f"\\{one:02x}" for one in content)
    )


def test_a_request_to_discard_is_read_from_the_guest(interface: ModuleType) -> None:
    discarded: list[Request] = []
    readers: list[object] = []

    def discard(read: Callable[[], Request]) -> None:
        readers.append(read)
        if len(readers) == 1:
            discarded.append(read())

    def define(root: Any) -> None:
        upstream = Upstream()
        with root.add_instance(HTTP) as http:
            http.add_fetch("fetch", upstream.fetch, may_fetch=upstream.may_fetch, many=False)
            http.add_fetch("fetch-all", upstream.fetch, may_fetch=upstream.may_fetch, many=True)
            http.add_discard("discard", discard)

    body = "(call $discard (i32.const 2048) (i32.const 6))" * 2
    giving_up = guest(body, fetching=True, discarding=True, data=URL)
    assert Run(interface, giving_up, define).call() == (True, b"{}")
    assert discarded == [Request("GET", "http:x")]
    assert len(readers) == 2


OUTCOMES: list[Outcome] = [
    Response(404, "http:x", (("name", "v\udc80"),), "a body with a half \ud800 character"),
    Failure(FailureKind.DENIED, "http:x", "no", reason="off_list", grant="hosts"),
    Failure(FailureKind.RATE_LIMITED, "http:x", "later", seconds=1.5),
    Failure(FailureKind.TIMEOUT, "http:x", "slow", number=3),
    Failure(FailureKind.TOO_LARGE, "http:x", "large", number=-1),
    Failure(FailureKind.UNREACHABLE, "http:x", "gone"),
    Failure(FailureKind.UNDECODABLE, "http:x", "bytes"),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda one: getattr(one, "kind", "response"))
def test_an_outcome_reaches_the_guest_with_its_case(
    interface: ModuleType, outcome: Outcome
) -> None:
    # A result's case, then, eight bytes on, a response's status or an error's URL and case.
    status = "(i32.load16_u (i32.const 72))"
    case = "(i32.load8_u (i32.const 80))"
    cases = ("denied", "timeout", "rate-limited", "too-large", "unreachable", "undecodable")
    if isinstance(outcome, Response):
        check = f"(i32.and (i32.eqz (call $get (i32.const 2048) (i32.const 6))) (i32.eq {status} (i32.const 404)))"  # noqa: E501
    else:
        expected = cases.index(outcome.kind.value)
        check = f"(i32.and (call $get (i32.const 2048) (i32.const 6)) (i32.eq {case} (i32.const {expected})))"  # noqa: E501
    upstream = Upstream(outcome)
    asking = guest(f"(if (i32.eqz {check}) (then unreachable))", fetching=True, data=URL)
    assert Run(interface, asking, upstream.define).call() == (True, b"{}")
    assert [request.url for request in upstream.requests] == ["http:x"]


def test_a_list_beyond_the_budget_is_answered_with_none(interface: ModuleType) -> None:
    body = "(if (call $get_all (i32.const 131072) (i32.const 200)) (then (if (i32.load (i32.const 68)) (then unreachable))))"  # noqa: E501
    asking = guest("(drop (memory.grow (i32.const 4)))" + body, fetching=True)
    upstream = Upstream(limit=199)
    assert Run(interface, asking, upstream.define).call() == (True, b"{}")
    assert upstream.asked == [200]
    assert upstream.requests == []


def test_headers_beyond_the_first_are_not_read(interface: ModuleType) -> None:
    request = struct.pack("<B3xiiiiiiB3x", 0, 2048, 6, 131072, 500, 8, 0, 0)
    asking = guest(
        "(drop (memory.grow (i32.const 4))) (drop (call $get_all (i32.const 4096) (i32.const 1)))",
        fetching=True,
        data=URL + _data(4096, request),
    )
    upstream = Upstream()
    assert Run(interface, asking, upstream.define).call() == (True, b"{}")
    assert [len(one.headers) for one in upstream.requests] == [64]


def test_long_reports_of_a_guest_are_cut(interface: ModuleType) -> None:
    received: list[tuple[object, ...]] = []

    def define(root: Any) -> None:
        with root.add_instance(LOG) as log:
            log.add_function(
                "write",
                lambda *words: received.append(words),
                takes=("enum", "string"),
                most=MAX_WORDS,
            )
        with root.add_instance(PROGRESS) as progress:
            progress.add_function(
                "report",
                lambda *words: received.append(words),
                takes=("u64", "u64", "string"),
                most=MAX_WORDS,
            )
        with root.add_instance(CONFIG) as config:
            config.add_function(
                "get", lambda key: f"{key}\udc80", takes=("string",), gives="string", most=5
            )

    body = """
      (call $write (i32.const 2) (i32.const 2047) (i32.const 9001))
      (call $report (i64.const -1) (i64.const 7) (i32.const 2048) (i32.const 6))
      (call $setting (i32.const 2048) (i32.const 6) (i32.const 64))
      (if (i32.ne (i32.load (i32.const 68)) (i32.const 6)) (then unreachable))
      (if (i32.ne (i32.load8_u (i32.add (i32.const 5) (i32.load (i32.const 64))))
                  (i32.const 63)) (then unreachable))
    """
    long = '(data (i32.const 2047) "' + "x" + "é" * 5000 + '")'
    run = Run(interface, guest(body, reporting=True, data=long + URL), define)
    assert run.call() == (True, b"{}")
    [(level, words), report] = received
    assert level == "warn"
    assert isinstance(words, str)
    assert len(words.encode()) in {MAX_WORDS, MAX_WORDS - 1}
    assert report == (2**64 - 1, 7, "http:x")


@pytest.mark.parametrize("missing", ["fetch", "fetch-all"])
def test_a_missing_import_fails_at_instantiation(interface: ModuleType, missing: str) -> None:
    upstream = Upstream()

    def define(root: Any) -> None:
        with root.add_instance(HTTP) as http:
            other = "fetch-all" if missing == "fetch" else "fetch"
            http.add_fetch(
                other, upstream.fetch, may_fetch=upstream.may_fetch, many=other == "fetch-all"
            )

    with pytest.raises(wasmtime.WasmtimeError, match=missing):
        Run(interface, guest(fetching=True), define).call()


@pytest.mark.requirement("sandbox:apart:exceptions")
@pytest.mark.parametrize(
    ("declared", "changed"),
    [
        (
            '(func (param "key" string) (result string))',
            '(func (param "key" string) (result (list string)))',
        ),
        ('(param "message" string)))))', '(param "message" (list string))))))'),
        ('(export "report" (func (param "done" u64)', '(export "report" (func (param "done" s64)'),
    ],
    ids=["result", "list", "number"],
)
def test_an_import_of_another_type_fails_and_leaves_no_exception_to_other_calls(
    interface: ModuleType, declared: str, changed: str
) -> None:
    from wasmtime.component import _enter

    def define(root: Any) -> None:
        with root.add_instance(LOG) as log:
            log.add_function("write", lambda *_: None, takes=("enum", "string"))
        with root.add_instance(PROGRESS) as progress:
            progress.add_function("report", lambda *_: None, takes=("u64", "u64", "string"))
        with root.add_instance(CONFIG) as config:
            config.add_function("get", lambda key: key, takes=("string",), gives="string")

    body = """
      (call $write (i32.const 2) (i32.const 2048) (i32.const 0))
      (call $report (i64.const 1) (i64.const 7) (i32.const 2048) (i32.const 0))
      (call $setting (i32.const 2048) (i32.const 6) (i32.const 64))
    """
    wat = guest_wat(body, reporting=True)
    assert declared in wat
    run = Run(interface, assemble(wat.replace(declared, changed)), define)
    with pytest.raises(wasmtime.WasmtimeError, match=r"is not the contract's|type mismatch"):
        run.call()
    assert _enter.LAST_EXCEPTION is None


def test_a_host_function_that_raises_fails_its_call_only(interface: ModuleType) -> None:
    from wasmtime.component import _enter

    class Broken(Upstream):
        def fetch(self, requests: list[Request]) -> list[Outcome]:
            raise RuntimeError("secret detail")

    run = Run(interface, guest(GET, fetching=True, data=URL), Broken().define)
    with pytest.raises(wasmtime.WasmtimeError, match="RuntimeError") as caught:
        run.call()
    assert "secret detail" not in str(caught.value)
    assert _enter.LAST_EXCEPTION is None


def test_an_unclosed_linker_is_freed_with_its_functions(interface: ModuleType) -> None:
    upstream = Upstream()
    run = Run(interface, guest(GET, fetching=True, data=URL), upstream.define)
    run.call()
    linker = ref(run.linker)
    upstream.cycle = run  # as worker and linker refer to each other
    kept = ref(upstream)
    del run, upstream
    gc.collect()
    assert linker() is None
    assert kept() is None


@pytest.fixture
def flood() -> Guest:
    return guest(
        """
        (drop (memory.grow (i32.const 60)))
        (drop (call $get_all (i32.const 131072) (i32.const 100000)))
        """,
        fetching=True,
    )


@pytest.mark.requirement("sandbox:limits:fetches")
def test_a_flood_of_requests_is_not_converted(interface: ModuleType, flood: Guest) -> None:
    upstream = Upstream()
    run = Run(interface, flood, upstream.define)
    for _ in range(3):
        if interface.__name__.endswith("public"):
            with pytest.raises(wasmtime.WasmtimeError, match="too much data is being copied"):
                run.call()
        else:
            run.call()
    assert upstream.requests == []
    assert all(count > upstream.limit for count in upstream.asked)
    assert len(upstream.asked) == 3


class TestDocuments:
    """Tests binary documents through both interfaces."""

    def read(self, run: Run, document: bytes, memory_bytes: int = 256 * MIB) -> tuple[bool, bytes]:
        text, encoding = entry_arguments(document)
        arguments = (b"file", text.data, b"{}", encoding.data)
        return run.call(ENTRY, arguments, memory_bytes=memory_bytes)

    @pytest.mark.parametrize("ascii_only", [True, False], ids=["text", "bytes"])
    @pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 1000, 5 * MIB])
    def test_every_byte_reaches_the_guest(
        self, interface: ModuleType, size: int, ascii_only: bool
    ) -> None:
        run = Run(interface, entry_guest(CHECK_PATTERN))
        document = pattern(size, ascii_only=ascii_only)
        text, encoding = entry_arguments(document)
        options = b'{"a":1}' if ascii_only else b"{}"
        found = run.call(
            ENTRY, (b"file", text.data, options, encoding.data), memory_bytes=256 * MIB
        )
        assert found == (True, f'{{"size":"{size:08x}","wrong":"00000000"}}'.encode())

    @pytest.mark.parametrize(
        "body",
        [
            "unreachable",
            "(return (i32.const 3))",
            "(return (i32.const 0x7ffffff0))",
            "(i32.store8 (i32.const 0) (i32.const 7)) (return (i32.const 0))",
            "(i32.store (i32.const 4) (i32.const -1)) (return (i32.const 0))",
            "(i32.store (i32.const 8) (i32.const 0x7fffffff)) (return (i32.const 0))",
            "(i32.store8 (i32.const 1024) (i32.const 0xff))",
            "(drop (i32.load (i32.add (local.get $document) (i32.const 0x7ffffff0))))",
        ],
    )
    def test_a_guest_that_misbehaves_is_an_error(self, interface: ModuleType, body: str) -> None:
        with pytest.raises(wasmtime.WasmtimeError):
            self.read(Run(interface, entry_guest(body)), b"\xff")

    def test_a_document_that_does_not_fit_into_memory_is_an_error(
        self, interface: ModuleType
    ) -> None:
        with pytest.raises(wasmtime.WasmtimeError):
            self.read(Run(interface, entry_guest("")), b"\xff" * (8 * MIB), memory_bytes=4 * MIB)
