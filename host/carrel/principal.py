"""Defines who a call is made for, and passes it to the code that runs the call.

On stdio and in Python every call is the local user's. Over HTTP the server sets the principal of
each request. What belongs to one principal (sessions, artifacts, budgets) is keyed by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple


class Principal(NamedTuple):
    """Who makes a call.

    Attributes:
        name: identifies the principal in sessions and logs; never a secret.
        scopes: of the token that the request has.
        toolsets: names of the features whose tools and resources it may use; None for all.
        plugins: names of the plugins whose tools, resources and prompts it may use; None for all.
    """

    name: str
    scopes: frozenset[str] = frozenset()
    toolsets: frozenset[str] | None = None
    plugins: frozenset[str] | None = None


LOCAL: Final = Principal("local")

#: The scope of a principal that may see what others do.
OPERATE: Final = "carrel:operate"

_current: ContextVar[Principal] = ContextVar("carrel.principal", default=LOCAL)


def current_principal() -> Principal:
    """Returns the principal that the current call is made for."""
    return _current.get()


def current_owner() -> str:
    """Returns the name of the current principal; empty for the local user, who shares nothing."""
    principal = _current.get()
    return "" if principal is LOCAL else principal.name


def share_of(total: int) -> int:
    """Returns how many of `total` permits one principal may hold; the others have the rest."""
    return total if total < 2 else total - max(1, total // 4)


@contextmanager
def acting_as(principal: Principal) -> Iterator[None]:
    """Makes `principal` the current one, in this thread and in the threads of calls it starts."""
    token = _current.set(principal)
    try:
        yield
    finally:
        _current.reset(token)
