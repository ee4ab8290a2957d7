"""The one door to wasmtime's instances: machine code, linkers, stores, calls.

`direct` calls wasmtime's C interface through wasmtime-py's private bindings. Nothing else in Carrel
uses private names of wasmtime-py, and nothing else imports `direct`.
"""

from .bounds import MAX_WORDS, MismatchError, OutputError
from .direct import Code, Export, Linker, LinkerInstance, Store, call_text, set_pool
from .introspection import items_of

__all__ = [
    "MAX_WORDS",
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
