"""The sandbox: the only package that imports wasmtime and knows an ABI.

It runs components of the contract under limits and hands their texts over. It knows nothing of
plugins' manifests, of MCP, or of how a fetch is made: a `Fetcher` is handed in.
"""
