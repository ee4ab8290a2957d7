"""Carrel's version, importable from every layer without the package's public names."""

__version__ = "0.1.0"
