"""The functions that an Extism module imports behave as Extism's own, and never worse."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence

import pytest

from carrel.errors import (
    Cancelled,
    CarrelError,
    ContractViolation,
    DeadlineExceeded,
    LimitExceeded,
    SourceError,
    Trap,
)
from carrel.exchange import Call, Failure, FailureKind, Fetcher, Limits, Outcome, Request, Response
from carrel.runtime.component import PluginReport
from carrel.runtime.extism.services import ModuleContext
from carrel.runtime.loader import Runtime
from support.guests import Guest
from support.modules import module, text_at

Run = Callable[..., str]


class Answers:
    """Answers every request alike and keeps what was asked."""

    def __init__(self, outcome: Outcome | None = None) -> None:
        self.outcome = outcome
        self.requests: list[Request] = []

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        self.requests += requests
        return [
            self.outcome
            or Response(200, one.url, (("content-type", "a/b"), ("x", "1"), ("x", "2")), "höre")
            for one in requests
        ]


@pytest.fixture
def run(runtime: Runtime) -> Run:
    """Loads a module, calls an export once and returns its output."""

    def run(
        guest: Guest,
        text: str = "",
        *,
        export: str = "call_tool",
        limits: Limits | None = None,
        fetcher: Fetcher | None = None,
        config: dict[str, str] | None = None,
        context: ModuleContext | None = None,
        call: Call | None = None,
    ) -> str:
        loaded = runtime.load_module("guest", guest.wasm, guest.digest)
        try:
            return loaded.submit(
                export,
                text,
                call or Call("guest", export, limits or Limits()),
                config=config or {},
                context=context or ModuleContext(),
                fetcher=fetcher,
            ).result(timeout=30)
        finally:
            loaded.close()

    return run


def numbers(run: Run, *expressions: str) -> list[int]:
    """What i64 expressions give, each in an instance of its own."""
    return [int(run(module(f"(call $number {one})"))) for one in expressions]


ECHO = "(call $output_set (call $input_offset) (call $input_length))"


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "a", "seven77", "eightyyy", "Grüße, 図書館 🏛", "x" * 300_000])
def test_the_input_is_what_was_given_and_the_output_what_was_set(run: Run, text: str) -> None:
    assert run(module(ECHO), text) == text


def test_the_input_can_be_read_by_bytes_and_by_words(run: Run) -> None:
    body = """
    (local.set $h (call $alloc (i64.const 16)))
    (call $store_u64 (local.get $h) (call $input_load_u64 (i64.const 0)))
    (call $store_u64 (i64.add (local.get $h) (i64.const 8)) (call $input_load_u64 (i64.const 8)))
    (call $store_u8 (local.get $h) (call $input_load_u8 (i64.const 15)))
    (call $say (local.get $h))
    """
    assert run(module(body), "0123456789abcdef") == "f123456789abcdef"


def test_a_block_has_the_length_that_was_asked_for(run: Run) -> None:
    assert numbers(
        run,
        "(call $length (call $alloc (i64.const 1)))",
        "(call $length_unsafe (call $alloc (i64.const 12345)))",
        "(call $alloc (i64.const 0))",
    ) == [1, 12345, 0]


def test_what_is_no_handle_has_no_length(run: Run) -> None:
    assert numbers(
        run,
        "(call $length (i64.add (call $alloc (i64.const 40)) (i64.const 8)))",
        "(call $length (i64.const 0))",
        "(call $length (i64.const 0xffffffffffffffff))",
        "(call $length (i64.const 0x100000110))",
        "(call $length_unsafe (i64.const 8))",
    ) == [0, 0, 0, 0, 0]


def test_a_freed_block_has_no_length_and_is_used_again(run: Run) -> None:
    free = "(local.set $h (call $alloc (i64.const 100))) (call $free (local.get $h))"
    assert int(run(module(free + "(call $number (call $length (local.get $h)))"))) == 0
    again = (
        free
        + """
    (call $number (i64.sub (call $alloc (i64.const 50)) (local.get $h)))
    """
    )
    assert int(run(module(again))) == 0


def test_freeing_and_allocating_for_long_takes_no_more_memory(run: Run) -> None:
    body = """
    (loop $again
      (call $free (call $alloc (i64.extend_i32_u (i32.add (i32.const 1)
        (i32.rem_u (i32.mul (local.get $i) (i32.const 7919)) (i32.const 5000))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 20000))))
    (call $number (call $memory_bytes))
    """
    assert int(run(module(body))) <= 2 * 65536


def test_freeing_what_is_no_handle_or_twice_changes_nothing(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 5)))
    (call $free (i64.const 0)) (call $free (i64.const 7)) (call $free (i64.const -1))
    (call $free (i64.add (local.get $h) (i64.const 1)))
    (local.set $i (i32.wrap_i64 (call $alloc (i64.const 9))))
    (call $free (i64.extend_i32_u (local.get $i))) (call $free (i64.extend_i32_u (local.get $i)))
    (call $say (local.get $h))
    """
    assert run(module(body, data=text_at(0, "there"))) == "there"


def test_reset_forgets_input_output_and_error(run: Run) -> None:
    body = """
    (call $error_set (call $put (i32.const 0) (i32.const 5)))
    (call $reset)
    (call $number (i64.add (call $input_length) (i64.add (call $output_length) (call $error_get))))
    """
    assert int(run(module(body, data=text_at(0, "there")), "input")) == 0


def test_blocks_that_lie_next_to_each_other_do_not_overlap(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 3)))
    (drop (call $put (i32.const 3) (i32.const 3)))
    (call $free (call $put (i32.const 0) (i32.const 200)))
    (drop (call $put (i32.const 3) (i32.const 40)))
    (drop (call $put (i32.const 3) (i32.const 40)))
    (call $say (local.get $h))
    """
    assert run(module(body, data=text_at(0, "onetwo" * 40))) == "one"


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(drop (call $load_u8 (i64.const 0x7fffffff)))",
        "(drop (call $load_u64 (i64.const 0xffffffffffffffff)))",
        "(drop (call $load_u8 (i64.const 0x100000100)))",
        "(call $store_u64 (i64.const 0xfffffff0) (i64.const 1))",
        "(call $store_u8 (i64.const 0x7fffffffffffffff) (i32.const 1))",
        "(drop (call $input_load_u64 (i64.const 0x10000000)))",
    ],
)
def test_an_address_outside_the_memory_traps(run: Run, body: str) -> None:
    with pytest.raises(Trap) as caught:
        run(module(body), "input")
    assert caught.value.kind == "memory_out_of_bounds"


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(call $output_set (i64.const 0x7fffffff) (i64.const 10))",
        "(call $output_set (i64.const 256) (i64.const 0xfffffffe))",
        "(call $output_set (i64.const 256) (i64.const 0x100000001))",
        "(call $output_set (i64.const 0) (i64.const -1))",
        "(call $output_set (call $input_offset) (i64.const 0x10000000))",
    ],
)
def test_a_forged_output_reads_nothing_outside_the_kernels_memory(run: Run, body: str) -> None:
    with pytest.raises(ContractViolation, match="outside its memory"):
        run(module(body), "input")


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(drop (call $config_get (i64.const 0xdeadbeef)))",
        "(drop (call $config_get (i64.const -1)))",
        "(call $var_set (i64.const 99) (i64.const -5))",
        "(drop (call $var_get (i64.const 0x123456789abcdef)))",
        "(call $log_error (i64.const 0x7ffffff0))",
        "(drop (call $create_message (i64.const 0xffffffff)))",
        "(call $notify_progress (i64.const -1))",
    ],
)
def test_a_forged_handle_is_an_empty_text(run: Run, body: str) -> None:
    assert run(module(body + ECHO), "still here") == "still here"


@pytest.mark.requirement("sandbox:parse:handles")
def test_overwritten_headers_spoil_only_the_modules_own_call(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 5)))
    (loop $again
      (call $store_u8 (i64.extend_i32_u (i32.add (i32.const 256) (local.get $i))) (i32.const 255))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 400))))
    (drop (call $alloc (i64.const 10)))
    (call $free (local.get $h))
    (call $output_set (local.get $h) (call $length_unsafe (local.get $h)))
    """
    with pytest.raises((ContractViolation, Trap, LimitExceeded)):
        run(module(body), "input", limits=Limits(cpu_seconds=1.0))


@pytest.mark.requirement("sandbox:limits:memory")
def test_the_kernels_memory_counts(run: Run) -> None:
    body = "(loop $again (drop (call $alloc (i64.const 100000))) (br $again))"
    with pytest.raises(LimitExceeded) as caught:
        run(module(body), limits=Limits(memory_bytes=8 * 2**20))
    assert caught.value.limit == "memory"


@pytest.mark.requirement("sandbox:limits:memory")
def test_the_modules_memory_and_the_kernels_stay_below_the_limit_together(run: Run) -> None:
    body = """
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (loop $more (local.set $h (call $memory_bytes))
      (br_if $more (call $grown)))
    (call $number (i64.add (call $memory_bytes)
      (i64.mul (i64.extend_i32_u (memory.size)) (i64.const 65536))))
    """
    grown = """
    (func $grown (result i32)
      (if (i64.gt_u (call $memory_bytes) (i64.const 1900000)) (then (return (i32.const 0))))
      (drop (call $alloc (i64.const 30000))) (i32.const 1))
    """
    total = int(run(module(body, functions=grown), limits=Limits(memory_bytes=4 * 2**20)))
    assert 3 * 2**20 < total <= 4 * 2**20


@pytest.mark.requirement("sandbox:limits:memory")
def test_an_input_that_does_not_fit_is_a_typed_error(run: Run) -> None:
    with pytest.raises(LimitExceeded) as caught:
        run(module(ECHO), "x" * 6_000_000, limits=Limits(memory_bytes=8 * 2**20))
    assert caught.value.limit == "memory"


# -- ends of a call --------------------------------------------------------------------------------


def test_a_text_set_as_error_is_the_modules_report(run: Run) -> None:
    body = "(call $error_set (call $put (i32.const 0) (i32.const 5))) (return (i32.const 1))"
    with pytest.raises(PluginReport) as caught:
        run(module(body, data=text_at(0, "alas!")))
    assert caught.value.text == "alas!"


def test_a_text_set_as_error_is_a_failure_even_when_zero_is_returned(run: Run) -> None:
    body = "(call $error_set (call $put (i32.const 0) (i32.const 5)))"
    with pytest.raises(PluginReport):
        run(module(body, data=text_at(0, "alas!")))


def test_a_code_without_a_text_is_a_failure_too(run: Run) -> None:
    with pytest.raises(PluginReport) as caught:
        run(module("(return (i32.const 7))"))
    assert caught.value.text == ""


def test_an_export_may_return_nothing(run: Run) -> None:
    quiet = module(exports=f'(func (export "call_tool") {ECHO})', export="unused")
    assert run(quiet, "text") == "text"


@pytest.mark.parametrize("name", ["_initialize", "__wasm_call_ctors"])
def test_a_reactor_is_initialised_once_before_the_call(run: Run, name: str) -> None:
    started = f"""
    (global $started (mut i64) (i64.const 0))
    (func (export "{name}") (global.set $started (i64.add (global.get $started) (i64.const 1))))
    """
    assert int(run(module("(call $number (global.get $started))", functions=started))) == 1


def test_a_haskell_runtime_is_started_after_the_reactor(run: Run) -> None:
    started = """
    (global $order (mut i64) (i64.const 0))
    (func (export "_initialize") (global.set $order (i64.const 1)))
    (func (export "hs_init") (param i32 i32)
      (global.set $order (i64.add (i64.mul (global.get $order) (i64.const 10)) (i64.const 2))))
    """
    assert int(run(module("(call $number (global.get $order))", functions=started))) == 12


@pytest.mark.requirement("sandbox:fresh:module")
def test_nothing_of_one_call_is_there_in_the_next(runtime: Runtime) -> None:
    guest = module(
        """
        (if (i32.load (i32.const 100)) (then unreachable))
        (i32.store (i32.const 100) (i32.const 1))
        (if (i64.ne (call $var_get (call $put (i32.const 0) (i32.const 1))) (i64.const 0))
          (then unreachable))
        (local.set $h (call $put (i32.const 0) (i32.const 1)))
        (call $var_set (local.get $h) (call $put (i32.const 0) (i32.const 1)))
        """,
        data=text_at(0, "k"),
    )
    loaded = runtime.load_module("guest", guest.wasm, guest.digest)
    for _ in range(20):
        call = Call("guest", "call_tool")
        pending = loaded.submit("call_tool", "", call, config={}, context=ModuleContext())
        assert pending.result(timeout=5) == ""
    loaded.close()


# -- config, variables, log ------------------------------------------------------------------------


def test_configuration_is_read_by_key(run: Run) -> None:
    asks = module(
        "(call $say (call $config_get (call $put (i32.const 0) (i32.const 4))))",
        data=text_at(0, "lang"),
    )
    assert run(asks, config={"lang": "español"}) == "español"
    assert run(asks, config={"other": "x"}) == ""


VARIABLES = text_at(0, "key1key2value")


def test_a_variable_lives_within_the_call(run: Run) -> None:
    body = """
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $put (i32.const 8) (i32.const 5)))
    (call $var_set (call $put (i32.const 4) (i32.const 4)) (call $put (i32.const 8) (i32.const 3)))
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $put (i32.const 8) (i32.const 2)))
    (call $say (call $var_get (call $put (i32.const {key}) (i32.const 4))))
    """
    assert run(module(body.format(key=0), data=VARIABLES)) == "va"
    assert run(module(body.format(key=4), data=VARIABLES)) == "val"


def test_a_variable_set_to_nothing_is_gone(run: Run) -> None:
    body = """
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $put (i32.const 8) (i32.const 5)))
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (i64.const 0))
    (call $number (call $var_get (call $put (i32.const 0) (i32.const 4))))
    """
    assert int(run(module(body, data=VARIABLES))) == 0


@pytest.mark.requirement("sandbox:limits:variables")
def test_variables_over_one_mebibyte_end_the_call(run: Run) -> None:
    body = "(call $var_set (call $put (i32.const 0) (i32.const 4)) (call $alloc (i64.const {})))"
    assert run(module(body.format(2**20), data=VARIABLES)) == ""
    with pytest.raises(Trap, match="1 MiB"):
        run(module(body.format(2**20 + 1), data=VARIABLES))


def test_setting_a_variable_again_counts_it_once(run: Run) -> None:
    body = """
    (loop $again
      (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $alloc (i64.const 1000000)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 50))))
    """
    assert run(module(body, data=VARIABLES)) == ""


def test_log_lines_reach_the_host_in_their_levels(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    lines = " ".join(
        f"(call $log_{level} (call $put (i32.const 0) (i32.const 6)))"
        for level in ("trace", "debug", "info", "warn", "error")
    )
    with caplog.at_level(logging.DEBUG, logger="carrel.plugin"):
        run(module(lines, data=text_at(0, b"a\x1b\xff\xc3\xb6b")))
    told = [(one.levelname, one.message) for one in caplog.records if "guest:" in one.message]
    assert told == [
        (level, "guest: a  \ufffd\xf6b".replace("  ", " "))
        for level in ("DEBUG", "DEBUG", "INFO", "WARNING", "ERROR")
    ]


def test_the_log_level_is_the_hosts(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    asks = module("(call $number (i64.extend_i32_u (call $get_log_level)))")
    for level, number in ((logging.DEBUG, 1), (logging.WARNING, 3), (logging.CRITICAL, 4)):
        with caplog.at_level(level, logger="carrel.plugin"):
            assert int(run(asks)) == number


# -- http ------------------------------------------------------------------------------------------


def asking(request: object, body: str = "", then: str = "") -> Guest:
    raw = request if isinstance(request, str) else json.dumps(request)
    size, length = len(raw.encode()), len(body.encode())
    sent = f"(call $put (i32.const {size}) (i32.const {length}))" if body else "(i64.const 0)"
    return module(
        f"(local.set $h (call $http_request (call $put (i32.const 0) (i32.const {size})) {sent}))"
        f"{then or '(call $say (local.get $h))'}",
        data=text_at(0, raw + body),
    )


def test_a_request_reaches_the_fetcher_and_its_answer_the_module(run: Run) -> None:
    fetcher = Answers()
    headers = {"Accept": "text/plain", "User-Agent": "mine", "Host": "elsewhere"}
    asked = {"url": "https://example.org/a?b", "headers": headers, "method": None}
    assert run(asking(asked), fetcher=fetcher) == "höre"
    assert fetcher.requests == [
        Request("GET", "https://example.org/a?b", (("accept", "text/plain"),))
    ]


def test_a_post_carries_its_body(run: Run) -> None:
    fetcher = Answers()
    run(asking({"url": "https://example.org/", "method": "post"}, body="körper"), fetcher=fetcher)
    assert (fetcher.requests[0].method, fetcher.requests[0].body) == ("POST", "körper")


def test_status_and_headers_are_those_of_the_last_answer(run: Run) -> None:
    asked = {"url": "https://example.org/"}
    status = asking(asked, then="(call $number (i64.extend_i32_u (call $http_status_code)))")
    assert int(run(status, fetcher=Answers(Response(404, "", (), "")))) == 404
    headers = asking(asked, then="(call $say (call $http_headers))")
    assert json.loads(run(headers, fetcher=Answers())) == {"content-type": "a/b", "x": "1, 2"}


def test_an_empty_body_is_the_handle_zero(run: Run) -> None:
    asked = asking({"url": "https://example.org/"}, then="(call $number (local.get $h))")
    assert int(run(asked, fetcher=Answers(Response(204, "", (), "")))) == 0


@pytest.mark.requirement("result:typed:module-fetch")
@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Failure(FailureKind.DENIED, "u", "refused", "host_not_granted", "a grant"), "denied"),
        (Failure(FailureKind.TIMEOUT, "u", "late"), "timeout"),
        (Failure(FailureKind.RATE_LIMITED, "u", "busy", seconds=7.0), "rate_limited"),
        (Failure(FailureKind.TOO_LARGE, "u", "large"), "too_large"),
        (Failure(FailureKind.UNREACHABLE, "u", "down"), "upstream_unavailable"),
        (Failure(FailureKind.UNDECODABLE, "u", "bytes"), "upstream_invalid"),
    ],
)
def test_a_request_without_an_answer_ends_the_call_and_says_why(
    run: Run, failure: Failure, code: str
) -> None:
    goes_on = asking({"url": "https://example.org/"}, then=ECHO)
    with pytest.raises(SourceError) as caught:
        run(goes_on, "went on", fetcher=Answers(failure))
    assert caught.value.error_code == code
    told = caught.value.to_dict()
    assert failure.message in told["message"]
    if code == "denied":
        assert told["denial_context"] == {
            "reason": "host_not_granted",
            "url": "u",
            "grant": "a grant",
        }
    if code == "rate_limited":
        assert told["retry_after_seconds"] == 7.0


@pytest.mark.requirement("sandbox:hosts:module-method")
@pytest.mark.parametrize(
    ("request_json", "body"),
    [
        ({"url": "https://example.org/", "method": "DELETE"}, ""),
        ({"url": "https://example.org/", "method": "CONNECT"}, ""),
        ({"url": "https://example.org/", "method": "GET"}, "body"),
    ],
)
def test_other_methods_are_refused_before_the_fetcher(
    run: Run, request_json: dict[str, str], body: str
) -> None:
    fetcher = Answers()
    with pytest.raises(SourceError) as caught:
        run(asking(request_json, body), fetcher=fetcher)
    assert caught.value.error_code == "denied"
    assert caught.value.to_dict()["denial_context"]["reason"] == "method_not_allowed"
    assert fetcher.requests == []


@pytest.mark.parametrize(
    "request_json",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"url": 3}',
        '{"url": "u", "headers": [1]}',
        '{"url": "u", "headers": {"a": 1}}',
        '{"url": "u", "method": 1}',
        "[" * 300,
    ],
)
def test_what_is_no_request_is_a_contract_violation(run: Run, request_json: str) -> None:
    with pytest.raises(ContractViolation, match="no HTTP request"):
        run(asking(request_json), fetcher=Answers())


def test_a_body_larger_than_the_memory_is_a_memory_limit(run: Run) -> None:
    with pytest.raises(LimitExceeded) as caught:
        run(
            asking({"url": "https://example.org/"}),
            fetcher=Answers(Response(200, "", (), "x" * 6_000_000)),
            limits=Limits(memory_bytes=8 * 2**20),
        )
    assert caught.value.limit == "memory"


# -- hyper-mcp's functions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("create_elicitation", {"action": "decline"}),
        ("create_message", {"stopReason": "error", "role": "assistant"}),
        ("get_access_token", None),
        ("list_roots", {"roots": []}),
    ],
)
def test_what_is_not_offered_is_refused_in_hyper_mcps_own_way(
    run: Run, name: str, answer: dict[str, object] | None
) -> None:
    argument = "" if name == "list_roots" else "(call $put (i32.const 0) (i32.const 2))"
    said = json.loads(run(module(f"(call $say (call ${name} {argument}))", data=text_at(0, "{}"))))
    if answer is None:
        assert said is None
    else:
        assert answer.items() <= said.items()


@pytest.mark.requirement("sandbox:secrets:keyring")
def test_a_keyring_entry_is_given_only_if_it_is_granted(run: Run) -> None:
    asked = json.dumps({"service": "papers", "user": "me"})
    asks = module(
        f"(local.set $h (call $put (i32.const 0) (i32.const {len(asked)})))"
        "(call $say (call $get_keyring_secret (local.get $h)))",
        data=text_at(0, asked),
    )
    granted = {("papers", "me"): "s3cret"}
    lookup = lambda service, user: granted.get((service, user))  # noqa: E731
    assert run(asks, context=ModuleContext(secret=lookup)) == "s3cret"
    granted.clear()
    assert run(asks, context=ModuleContext(secret=lookup)) == ""


def test_progress_reaches_the_client(run: Run) -> None:
    told: list[object] = []
    asked = json.dumps({"progress": 2, "total": 5, "progressToken": "t", "message": "two"})
    call = Call("guest", "call_tool", on_progress=lambda *news: told.append(news))
    tells = module(
        f"(call $notify_progress (call $put (i32.const 0) (i32.const {len(asked)})))",
        data=text_at(0, asked),
    )
    run(tells, call=call)
    assert told == [(2.0, 5.0, "two")]


def test_lists_that_changed_are_passed_on(run: Run) -> None:
    told: list[str] = []
    run(
        module(
            "(call $notify_tool_list_changed) (call $notify_prompt_list_changed) "
            "(call $notify_resource_list_changed)"
        ),
        context=ModuleContext(changed=told.append),
    )
    assert told == ["tools", "prompts", "resources"]


@pytest.mark.parametrize(
    "name", ["notify_progress", "notify_logging_message", "notify_resource_updated"]
)
@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"progress": "x", "level": 3}'])
def test_a_notification_that_makes_no_sense_is_dropped(run: Run, name: str, text: str) -> None:
    tells = module(
        f"(call ${name} (call $put (i32.const 0) (i32.const {len(text)})))" + ECHO,
        data=text_at(0, text),
    )
    assert run(tells, "went on") == "went on"


# -- WASI ------------------------------------------------------------------------------------------


def test_there_are_no_arguments_no_environment_no_files_and_no_sockets(run: Run) -> None:
    body = """
    (drop (call $args_sizes_get (i32.const 0) (i32.const 4)))
    (drop (call $environ_sizes_get (i32.const 8) (i32.const 12)))
    (call $number (i64.extend_i32_u (i32.add
      (i32.add (i32.load (i32.const 0)) (i32.load (i32.const 8)))
      (i32.add (i32.mul (i32.const 10000) (call $fd_prestat_get (i32.const 3) (i32.const 16)))
        (i32.add (i32.mul (i32.const 100) (call $path_open (i32.const 3) (i32.const 0) (i32.const 0)
          (i32.const 1) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 20)))
          (call $sock_send (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0)
            (i32.const 20)))))))
    """
    assert int(run(module(body))) == 8_00_00 + 76_00 + 52


def test_what_is_written_to_stdout_and_stderr_is_logged(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    body = """
    (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 7))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (if (i32.ne (call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8))
      (i32.const 8)) (then unreachable))
    (call $number (i64.extend_i32_u (i32.load (i32.const 8))))
    """
    with caplog.at_level(logging.INFO, logger="carrel.plugin"):
        assert int(run(module(body, data=text_at(100, b"h\xc3\xb6r\x1b!\n")))) == 7
    assert caplog.text.count("guest: output: hör !") == 2


def test_clocks_tell_the_time_and_random_numbers_differ(run: Run) -> None:
    clock = """
    (drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 0)))
    (call $number (i64.load (i32.const 0)))
    """
    assert abs(int(run(module(clock))) - time.time_ns()) < 60e9
    dice = """
    (drop (call $random_get (i32.const 0) (i32.const 13)))
    (call $number (i64.load (i32.const 0)))
    """
    assert run(module(dice)) != run(module(dice))


SLEEP = """
(i64.store (i32.const 0) (i64.const 42)) (i32.store (i32.const 16) (i32.const 1))
(i64.store (i32.const 24) (i64.const {nanoseconds}))
(drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 100)))
(call $number (i64.add (i64.load (i32.const 64)) (i64.extend_i32_u (i32.load (i32.const 100)))))
"""


def test_a_module_can_sleep_and_it_costs_no_processor_time(run: Run) -> None:
    started = time.monotonic()
    sleeps = module(SLEEP.format(nanoseconds=300_000_000))
    assert int(run(sleeps, limits=Limits(cpu_seconds=0.2))) == 43
    assert time.monotonic() - started >= 0.3


@pytest.mark.requirement("sandbox:limits:sleep")
def test_sleeping_ends_at_the_deadline_and_when_the_client_gives_up(runtime: Runtime) -> None:
    guest = module(SLEEP.format(nanoseconds=3_600_000_000_000))
    loaded = runtime.load_module("guest", guest.wasm, guest.digest)

    def start(limits: Limits) -> tuple[Call, Callable[[], str]]:
        call = Call("guest", "call_tool", limits)
        pending = loaded.submit("call_tool", "", call, config={}, context=ModuleContext())
        return call, lambda: pending.result(timeout=5)

    _, late = start(Limits(wall_seconds=0.3))
    with pytest.raises(DeadlineExceeded):
        late()
    call, cancelled = start(Limits())
    time.sleep(0.1)
    call.cancel()
    with pytest.raises(Cancelled):
        cancelled()
    loaded.close()


def test_leaving_is_a_trap_that_names_the_status(run: Run) -> None:
    with pytest.raises(Trap, match="status 3") as caught:
        run(module("(call $proc_exit (i32.const 3))"))
    assert caught.value.kind == "exit"


def test_a_failing_host_function_is_an_internal_error_without_its_words(run: Run) -> None:
    def broken(_what: str) -> None:
        raise RuntimeError("secret detail")

    with pytest.raises(CarrelError) as caught:
        run(module("(call $notify_tool_list_changed)"), context=ModuleContext(changed=broken))
    assert caught.value.error_code == "internal"
    assert "secret" not in caught.value.message
