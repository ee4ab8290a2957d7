"""Plugins: manifests, sources, approval, grants and calls.

`plugin_set` has the plugins of a configuration, `plugin_loader` makes them, `plugin` is one plugin.
The packages: `sources` (where bytes come from), `manifests` (what plugins declare), `schemas`,
`approval` (`carrel.lock`), `grants` (what plugins may do), `compiling`, `calls`, `extism`.
"""
