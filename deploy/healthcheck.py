"""Exits with 0 if a URL answers with 200: the container's health check, where there is no curl.

python healthcheck.py http://127.0.0.1:8000/healthz
"""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

#: Seconds that the server may take.
PATIENCE = 4


def main(url: str) -> int:
    """Asks once; prints why it failed."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        connection.request("GET", parts.path or "/")
        response = connection.getresponse()
        text = response.read(4096).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as fault:
        print(f"{url}: {fault}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    if response.status != http.client.OK:
        print(f"{url}: {response.status} {text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
