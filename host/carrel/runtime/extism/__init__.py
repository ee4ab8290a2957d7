"""Runs Extism modules, core modules with Extism's interface, as components.

`outline` reads a module's imports and exports, `wrap` builds a component around it from the WAT
files here, and `services` implements the host functions. Limits, compiling, the code cache, worker
threads and traps are those of every component. See docs/decisions/0017-extism-modules.md.
"""
