"""Keeps a library of references in one file that editors, pandoc and Carrel share.

`library.py` has the class `Library`; `file/` reads and writes the file, `search/` finds entries,
`identity.py` recognises duplicates, `keys.py` makes citation keys. See docs/reference/library.md.
"""
