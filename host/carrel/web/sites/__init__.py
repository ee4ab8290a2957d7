"""Knows sites: which of them a plugin reads, and what kind of source a page is.

`routes` finds the reader of an address by `routes.toml`; `classify` names the kind of source, its
authority and its subject by `sources.toml` and by what the page states.
"""
