"""Wraps wasmtime's machine code, linkers, stores and calls behind one interface.

Two packages have the same names. `direct` calls wasmtime's C interface through wasmtime-py's
private bindings. `public` uses wasmtime-py's public component API; it is slower, and runs when the
private bindings are not those in `symbols`. Nothing else in Carrel uses private names of
wasmtime-py, and nothing else imports these two packages (docs/decisions/0036-wasmtime-bindings.md).
"""

from typing import TYPE_CHECKING

from .bounds import MAX_WORDS, MismatchError, OutputError
from .choice import VALUES, VARIABLE, choose
from .introspection import items_of

#: The interface that this process uses.
INTERFACE = choose()

if TYPE_CHECKING or INTERFACE.name == "direct":
    from .direct import Code, Export, Linker, LinkerInstance, Store, call_text, set_pool
else:
    try:
        from .public import Code, Export, Linker, LinkerInstance, Store, call_text, set_pool
    except (AttributeError, ImportError) as error:
        from carrel.errors import LoadError

        raise LoadError(
            f"this version of wasmtime-py has neither the private bindings nor the component API "
            f"that plugins run with ({error}); install the one that Carrel's constraints.txt names"
        ) from error

__all__ = [
    "INTERFACE",
    "MAX_WORDS",
    "VALUES",
    "VARIABLE",
    "Code",
    "Export",
    "Linker",
    "LinkerInstance",
    "MismatchError",
    "OutputError",
    "Store",
    "call_text",
    "items_of",
    "set_pool",
]
