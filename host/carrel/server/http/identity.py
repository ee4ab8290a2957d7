"""Determines who sends a request.

The server listens on loopback only, so every request is the local user's. This is the one place
that decides; everything else passes the principal on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .refusals import Refusal


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request.

    Attributes:
        name: identifies the principal in sessions and logs; never a secret.
    """

    name: str


LOCAL: Final = Principal("local")


def identify(headers: Mapping[bytes, bytes]) -> Principal | Refusal:  # noqa: ARG001 - the seam
    """Returns the principal of a request with these headers, or why it is refused."""
    return LOCAL
