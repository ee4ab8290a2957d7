"""Reads and writes EndNote XML; `fields` says which element is which variable of CSL."""
