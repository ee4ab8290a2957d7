"""Checks the Host and Origin headers, against DNS rebinding.

A page of another site can make a browser send requests to a loopback address, but the browser
then names that site in `Host` or `Origin`.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Final

from .refusals import REFUSALS, Refusal

_PORT: Final = re.compile(r":[0-9]{1,5}$")
#: An address as `Host` has it: of IPv6 only in brackets, without a zone.
_ADDRESS: Final = re.compile(r"\[([0-9a-f:.]*:[0-9a-f:.]*)\]|([0-9.]+)")

#: Characters of the longest address, in brackets.
_LONGEST_ADDRESS: Final = 47


class OriginCheck:
    """Accepts this server's own names.

    Args:
        hosts: further values of `Host`, with or without a port.
        origins: further values of `Origin`.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)

    def refusal(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """Returns why a request is refused, or None."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self.is_own(host):
            return REFUSALS["wrong-host"]
        origin = headers.get(b"origin")
        if origin is None:
            return None
        text = origin.decode("latin-1").lower()
        if text in self._origins or text in {f"http://{host}", f"https://{host}"}:
            return None
        return REFUSALS["wrong-origin"]

    def page(self, headers: Mapping[bytes, bytes]) -> bytes | None:
        """Returns the origin of the allowed page that sends a request; None for other clients."""
        origin = headers.get(b"origin")
        is_page = origin is not None and origin.decode("latin-1").lower() in self._origins
        return origin if is_page else None

    def is_own(self, host: str) -> bool:
        """Returns whether a value of `Host`, in lower case, names this server."""
        name = _PORT.sub("", host)
        if host in self._hosts or name in self._hosts or name == "localhost":
            return True
        return len(name) <= _LONGEST_ADDRESS and _is_loopback(name)


@functools.lru_cache(maxsize=16)
def _is_loopback(name: str) -> bool:
    found = _ADDRESS.fullmatch(name)
    try:
        return found is not None and ipaddress.ip_address(found[1] or found[2]).is_loopback
    except ValueError:
        return False
