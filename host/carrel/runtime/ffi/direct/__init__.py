"""The fast path: wasmtime's C interface through wasmtime-py's private bindings.

Every private name that is used here is in `symbols`, which is compared with the installed
wasmtime-py before this package is imported.
"""

from .calls import call_text
from .linking import Code, Export, Linker, LinkerInstance
from .pool import set_pool
from .store import Store

__all__ = ["Code", "Export", "Linker", "LinkerInstance", "Store", "call_text", "set_pool"]
