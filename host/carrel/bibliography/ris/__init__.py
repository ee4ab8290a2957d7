"""Reads and writes RIS; reads the tagged formats beside it: MEDLINE (nbib) and Web of Science's.

`tagged` splits a text into records of tags and values; `reader`, `nbib` and `web_of_science` make
items of them. `writer` writes RIS.
"""
