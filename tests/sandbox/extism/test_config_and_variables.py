"""Tests a module's configuration and variables."""

from __future__ import annotations

import pytest

from carrel.errors import Trap
from support.modules import module, text_at

from .conftest import Run

VARIABLES = text_at(0, "key1key2value")


def test_configuration_is_read_by_key(run: Run) -> None:
    asks = module(
        "(call $say (call $config_get (call $put (i32.const 0) (i32.const 4))))",
        data=text_at(0, "lang"),
    )
    assert run(asks, config={"lang": "español"}) == "español"
    assert run(asks, config={"other": "x"}) == ""


def test_a_variable_exists_only_within_the_call(run: Run) -> None:
    body = """
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $put (i32.const 8) (i32.const 5)))
    (call $var_set (call $put (i32.const 4) (i32.const 4)) (call $put (i32.const 8) (i32.const 3)))
    (call $var_set (call $put (i32.const 0) (i32.const 4)) (call $put (i32.const 8) (i32.const 2)))
    (call $say (call $var_get (call $put (i32.const {key}) (i32.const 4))))
    """
    assert run(module(body.format(key=0), data=VARIABLES)) == "va"
    assert run(module(body.format(key=4), data=VARIABLES)) == "val"


def test_an_empty_variable_is_deleted(run: Run) -> None:
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
