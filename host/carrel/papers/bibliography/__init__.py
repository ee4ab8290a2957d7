"""Reads the references of a bibliography: BibTeX, RIS, CSL-JSON, or one reference a line."""

from __future__ import annotations

from .read import ListedReference, read_bibliography

__all__ = ["ListedReference", "read_bibliography"]
