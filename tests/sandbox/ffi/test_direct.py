"""Tests features of the direct interface: results that are not copied, and the pool."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from carrel.runtime.ffi import INTERFACE
from carrel.runtime.pool import pooled_engine
from sandbox.conftest import Load
from sandbox.test_results import parsed
from support.guests import guest

pytestmark = pytest.mark.skipif(INTERFACE.name != "direct", reason=INTERFACE.reason)


def test_keeping_many_results_costs_no_more_for_each() -> None:
    from carrel.runtime.ffi.direct.lifting import _Finalizers

    looks = 0

    class Living:
        def __call__(self) -> object:
            nonlocal looks
            looks += 1
            return self

    finalizers = _Finalizers()
    for _ in range(5_000):
        finalizers.keep(Living())  # type: ignore[arg-type]
    assert len(finalizers) == 5_000
    assert looks < 3 * 5_000


def test_finalizers_of_freed_results_are_removed(load: Load) -> None:
    from carrel.runtime.ffi.direct.lifting import _finalizers

    component = load(guest())
    for _ in range(500):
        assert bytes(parsed(component)) == b"{}"
    gc.collect()
    assert len(_finalizers) < 200
    component.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on addresses there")
def test_there_is_a_pool_where_addresses_are_free() -> None:
    assert pooled_engine(2**20) is not None


def test_the_fast_path_imports_no_classes_of_the_component_api() -> None:
    code = "import sys, carrel.runtime.loader; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "carrel.runtime.ffi.direct" in loaded
    assert not {"wasmtime.component", "carrel.runtime.ffi.public"} & set(loaded)
