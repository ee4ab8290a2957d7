"""Checks references against the sources: notices, published versions, drifted metadata.

`run` asks, `findings` defines what is found, `notices` reads retractions and concerns, `versions`
finds what replaces a preprint, `drift` compares metadata.
"""
