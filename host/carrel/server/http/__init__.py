"""Serves the toolbox over streamable HTTP, on the SDK's session manager and uvicorn.

A request passes through `connection` (uvicorn's protocol with timeouts) → `gate` (checks in the
order of `gate.Gate`) → the SDK's session manager → `carrel.server.app` → `carrel.server.calls`.
Importing this package is cheap; uvicorn, starlette and the SDK are imported when a server starts.
"""

from __future__ import annotations

from .address import Address, parse_address

__all__ = ["Address", "parse_address"]
