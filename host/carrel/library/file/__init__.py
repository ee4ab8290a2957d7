"""Reads and writes the library file.

`library_file.py` reads the file and replaces it atomically under a lock; `csl_json.py` and
`bibtex.py` edit its text entry by entry; `json_edit.py` edits one entry; `merging.py` joins what
two sides changed; `backups.py` keeps earlier contents; `watching.py` reports changes.
"""
