"""Plugins that are Extism modules, as hyper-mcp runs them: see docs/reference/extism.md."""
