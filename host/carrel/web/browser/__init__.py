"""Reads pages whose text scripts write: with a local Chromium, off without `web.browser`.

`process` starts the browser in a fresh profile and ends it, `protocol` speaks its DevTools protocol
over a pipe, `requests` answers each of its requests through Carrel's own fetch layer, and `reading`
opens a page and takes its HTML, which the sandboxed reader then reads as any other.

The browser has no network of its own: no name resolves, its proxy does not exist, and WebRTC may
not use UDP. What it asks for is intercepted, checked by the policy of the public web and answered,
or refused. Why: decision 0061.
"""
