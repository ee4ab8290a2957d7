"""The fallback: instances through wasmtime-py's public component API.

It has the names of `direct` and gives the same results, errors and limits. What differs:

- wasmtime-py converts values of any type and copies strings, so that calls take longer.
- A guest's memory is not pooled: wasmtime-py has no option for that.
- A result that is longer than its limit is copied before it is refused.
- One call of `fetch`, `fetch-all` or `discard` may pass `counting.MAX_RECORDS` requests and headers
  in all. `direct` reads the first headers of any number.
- A component whose imports have other types than the contract's is refused when it is
  instantiated. `direct` refuses the call of such an import.
"""

from .calls import call_text
from .linking import Code, Export, Linker, LinkerInstance
from .pool import set_pool
from .store import Store

__all__ = ["Code", "Export", "Linker", "LinkerInstance", "Store", "call_text", "set_pool"]
