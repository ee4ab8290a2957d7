"""Creates plugin projects, builds components and runs fixtures.

Not used in calls; `carrel plugin new`, `build` and `test` and `carrel record --fixture` are its
only users. `toolchain` is also loaded by `scripts/build-wasm`, by its path and without the rest of
the package.
"""
