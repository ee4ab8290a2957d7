"""Runs WebAssembly components of the contract in a sandbox, under limits.

The only package that imports wasmtime and knows the ABI. It does not know manifests or MCP, and
does not import `fetch`: callers pass a `Fetcher`.
"""
