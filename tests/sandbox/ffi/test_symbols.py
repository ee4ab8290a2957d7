"""Tests that the list of private names is complete, fits the wheel, and selects the interface."""

from __future__ import annotations

import ast
import ctypes
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import wasmtime
from wasmtime import _bindings, _ffi

import carrel
from carrel.errors import LoadError
from carrel.runtime import engine
from carrel.runtime.ffi import INTERFACE, VARIABLE, symbols
from carrel.runtime.ffi.choice import choose
from carrel.runtime.pool import _ROOM

DIRECT = Path(symbols.__file__).parent / "direct"
CONSTRAINTS = Path(carrel.__file__).parents[2] / "constraints.txt"
FITS = not list(symbols.differences())
fits = pytest.mark.skipif(not FITS, reason=f"runs on another version: {INTERFACE.reason}")

_PARSE = """
import json, sys
import wasmtime._bindings
{change}
import carrel
from carrel.runtime.ffi import INTERFACE
feed = '<feed xmlns="http://www.w3.org/2005/Atom"><totalResults>3</totalResults></feed>'
print(INTERFACE.name, carrel.Carrel().parse("arxiv", "feed", feed))
print(INTERFACE.reason, file=sys.stderr)
"""


def used_names() -> set[str]:
    """Returns the names of wasmtime-py's bindings in the source of `direct`."""
    found = {f"wasmtime_pooling_allocation_config_{name}_set" for name in _ROOM}
    found.add("wasmtime_pooling_allocation_config_linear_memory_keep_resident_set")
    for path in DIRECT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found |= {node.attr} if node.value.id == "c" else set()
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "holding_gil":
                found.add(ast.literal_eval(node.args[0]))
            elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
                first, second = node.elts
                if isinstance(first, ast.Constant) and ast.unparse(second) == "c.dll":
                    found.add(first.value)  # type: ignore[arg-type]
    return found - {"dll"}


def parts_of_structs(names: set[str]) -> set[str]:
    """Returns the structs that a struct contains by value, recursively."""
    found = set(names)
    for name in names:
        inner = {
            kind.__name__
            for _name, kind, *_ in getattr(_ffi, name)._fields_
            if issubclass(kind, ctypes.Structure | ctypes.Union)
        }
        found |= parts_of_structs(inner)
    return found


@fits
def test_the_list_has_every_name_that_is_used_and_no_other() -> None:
    used = used_names()
    structs = parts_of_structs(used & set(symbols.STRUCTS))
    listed = {
        *symbols.FUNCTIONS,
        *symbols.STRUCTS,
        *symbols.CONSTANTS,
        *symbols.TYPES,
        *symbols.OPAQUE,
    }
    assert listed == used | structs


def test_the_list_fits_the_pinned_wasmtime() -> None:
    installed = metadata.version("wasmtime")
    pinned = f"wasmtime=={installed}" in CONSTRAINTS.read_text("utf-8").splitlines()
    if not pinned:
        pytest.skip(f"wasmtime-py {installed} is not the pinned version")
    assert list(symbols.differences()) == []


def test_the_interface_is_direct_where_the_list_fits() -> None:
    if os.environ.get(VARIABLE):
        pytest.skip(f"{VARIABLE} is set")
    assert INTERFACE.name == ("direct" if FITS else "public")
    assert INTERFACE.differs is not FITS


@fits
@pytest.mark.parametrize("name", symbols.FUNCTIONS)
def test_a_missing_function_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_bindings, f"_{name}")
    assert list(symbols.differences()) == [f"{name} is missing"]


@fits
@pytest.mark.parametrize("name", symbols.FUNCTIONS)
def test_a_function_with_one_parameter_more_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changed:
        restype = getattr(_bindings, f"_{name}").restype
        argtypes = (*getattr(_bindings, f"_{name}").argtypes, ctypes.c_bool)

    monkeypatch.setattr(_bindings, f"_{name}", Changed)
    [words] = symbols.differences()
    assert words.startswith(f"{name} is (")
    assert "bool)" in words


@fits
@pytest.mark.parametrize("name", symbols.STRUCTS)
def test_a_struct_with_other_fields_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed(ctypes.Structure):
        _fields_ = (("first", ctypes.c_uint16), *getattr(_ffi, name)._fields_)

    monkeypatch.setattr(_ffi, name, Changed)
    [words] = symbols.differences()
    assert words.startswith(f"{name} is ")
    assert "0 first u16" in words


@fits
def test_a_struct_whose_fields_change_places_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed(ctypes.Structure):
        _fields_ = tuple(reversed(_ffi.wasm_byte_vec_t._fields_))

    monkeypatch.setattr(_ffi, "wasm_byte_vec_t", Changed)
    [words] = symbols.differences()
    assert "16: 0 data u8*, 8 size u64, not 16: 0 size u64, 8 data u8*" in words


@fits
@pytest.mark.parametrize("name", symbols.CONSTANTS)
def test_a_constant_of_another_value_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ffi, name, ctypes.c_uint8(200))
    assert list(symbols.differences()) == [f"{name} is 200, not {symbols.CONSTANTS[name]}"]


@fits
@pytest.mark.parametrize("name", [*symbols.TYPES, *symbols.OPAQUE])
def test_another_type_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ffi, name, ctypes.c_float)
    [words] = symbols.differences()
    assert words.startswith(f"{name} is ")


@fits
@pytest.mark.parametrize("name", symbols.ATTRIBUTES)
def test_a_missing_attribute_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = name.partition(".")[0]
    monkeypatch.setattr(wasmtime, owner, object)
    assert f"{name} is missing" in list(symbols.differences())


@pytest.mark.requirement("serve:alive:other-wasmtime")
@pytest.mark.parametrize(
    "change",
    [
        "del wasmtime._bindings._wasmtime_component_val_new",
        "wasmtime._bindings._wasmtime_component_val_new.argtypes = []",
    ],
    ids=["missing", "changed"],
)
def test_plugins_run_on_a_wasmtime_whose_bindings_differ(change: str, tmp_path: Path) -> None:
    environment = {**os.environ, "CARREL_CACHE_DIR": str(tmp_path)}
    environment.pop(VARIABLE, None)
    done = subprocess.run(
        [sys.executable, "-c", _PARSE.format(change=change)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.stdout == "public {'entries': []}\n", done.stderr[-1000:]
    assert "the private bindings of this wasmtime-py differ" in done.stderr


def test_the_variable_chooses_the_public_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " Public ")
    assert choose().name == "public"
    assert choose().reason == f"{VARIABLE} is public"
    monkeypatch.setenv(VARIABLE, "auto")
    assert choose().name == ("direct" if FITS else "public")


def test_a_wasmtime_without_an_option_of_guests_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(wasmtime.Config, "epoch_interruption")
    with pytest.raises(LoadError, match=r"sample: .* no option epoch_interruption"):
        engine.require_options("sample")
