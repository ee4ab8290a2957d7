"""Tests the end of a module's call: output, error, exit code, and no state for the next call."""

from __future__ import annotations

import pytest

from carrel.errors import CarrelError
from carrel.exchange import Call
from carrel.runtime.component import PluginReport
from carrel.runtime.extism.context import ModuleContext
from carrel.runtime.loader import Runtime
from support.modules import ECHO, module, text_at

from .conftest import Run


def test_a_text_set_as_error_is_the_modules_report(run: Run) -> None:
    body = "(call $error_set (call $put (i32.const 0) (i32.const 5))) (return (i32.const 1))"
    with pytest.raises(PluginReport) as caught:
        run(module(body, data=text_at(0, "alas!")))
    assert caught.value.text == "alas!"


def test_an_error_text_is_a_failure_even_with_return_code_zero(run: Run) -> None:
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


def test_a_failing_host_function_is_an_internal_error_without_its_message(run: Run) -> None:
    def broken(_what: str) -> None:
        raise RuntimeError("secret detail")

    with pytest.raises(CarrelError) as caught:
        run(module("(call $notify_tool_list_changed)"), context=ModuleContext(changed=broken))
    assert caught.value.error_code == "internal"
    assert "secret" not in caught.value.message
