"""Finds entries: `query.py` parses the query language, `folding.py` says when texts match,
`fields.py` has an entry's texts, `index.py` holds them in SQLite.
"""
