"""Extism modules: core modules with Extism's interface, run as components of the contract's shape.

`outline` reads what a module imports and exports, `wrap` builds a component around it out of the
WAT files here, and `services` is the host's side. Everything else (limits, compiling, the code
cache, worker threads, traps) is what every component gets. See
docs/decisions/0017-extism-modules.md.
"""
