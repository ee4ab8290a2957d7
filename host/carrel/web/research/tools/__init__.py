"""Offers the tools of research; `make` lists them, the other modules define them."""

from __future__ import annotations
