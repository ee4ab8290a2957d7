"""Fixtures: see `support.paper_tools`."""

from __future__ import annotations

from support.paper_tools import configure, copies, make

__all__ = ["configure", "copies", "make"]
