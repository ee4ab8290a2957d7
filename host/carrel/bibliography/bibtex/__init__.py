"""Reads, writes and edits BibTeX and BibLaTeX.

`scan` splits a text into blocks, `inheritance` gives entries their parents' fields, `latex` and
`names` decode values, `reading` makes items; `reader` uses them. `escapes` encodes values, `writer`
makes entries. `in_place` edits a text. `fields` says which field is which variable of CSL.
"""
