"""Making plugins: a new project, its component, its fixtures.

Nothing here takes part in a call; `carrel plugin new`, `build` and `test` and `carrel record
--fixture` are its only users. `toolchain` is also loaded by `scripts/build-wasm`, by its path and
without the rest of the package.
"""
