"""Keeps large results for half an hour, so that a client reads them as resources when it wants to.

`sealing` encrypts what is kept, `store` keeps it for one principal, `resources` offers it as
`research://artifact/{id}`. `carrel.tools.linked` decides which results are kept. A tool allows it
by returning a `HostAnswer` with a `LinkOffer`:

    >>> HostAnswer(data, link=LinkOffer("Source of https://example.org/", {"contentSizeBytes": 9}))
"""

from __future__ import annotations
