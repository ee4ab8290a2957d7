"""Chooses between the fast path and the public interface, once per process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice

from .symbols import differences

#: The variable that chooses; `public` keeps to wasmtime-py's public component API.
VARIABLE = "CARREL_WASMTIME_API"
VALUES = ("auto", "public")


@dataclass(frozen=True, slots=True)
class Interface:
    """Which of wasmtime-py's interfaces runs guests.

    Attributes:
        name: `direct`, through private bindings, or `public`, through the component API.
        reason: why, as a sentence without its end.
        differs: whether the private bindings are not those that this release knows.
    """

    name: str
    reason: str
    differs: bool = False


def choose() -> Interface:
    """Returns the interface that the variable and the installed wasmtime-py allow."""
    wish = os.environ.get(VARIABLE, "").strip().lower()
    if wish == "public":
        return Interface("public", f"{VARIABLE} is {wish}")
    found = list(islice(differences(), 3))
    if found:
        return Interface(
            "public",
            "the private bindings of this wasmtime-py differ from those that this release knows: "
            + "; ".join(found),
            differs=True,
        )
    return Interface("direct", "the private bindings are those that this release knows")
