"""Finds, fetches and keeps papers, with their provenance.

`store` keeps entries and PDFs, `provenance` is the log of where each byte came from, `export`
writes bibliographies. `errors` has the closed codes, `envelope` the shape of the tools' results.
`references` parses references. `tool` offers the tools, `command` the commands `carrel papers`.
"""
