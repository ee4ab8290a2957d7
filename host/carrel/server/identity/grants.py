"""Maps the scopes of a token to toolsets and plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from carrel.config import ScopeGrant
from carrel.principal import OPERATE, Principal

if TYPE_CHECKING:
    from carrel.tools.toolbox import Owner

#: In a list of toolsets or plugins: all of them.
ALL: Final = "*"


class Grants:
    """The table `identity.scopes`.

    Args:
        table: scope → what it grants; without it, every principal may use everything.
        required: scopes that every token must have.
    """

    def __init__(self, table: Mapping[str, ScopeGrant], required: Iterable[str]) -> None:
        self._table = dict(table)
        self.required = tuple(required)
        self._principal = lru_cache(4096)(self._made)

    @property
    def supported(self) -> tuple[str, ...]:
        """All scopes that have a meaning here."""
        return tuple(dict.fromkeys((*self.required, *self._table)))

    def principal(self, name: str, scopes: frozenset[str]) -> Principal:
        """Returns the principal of a token with these scopes."""
        return self._principal(name, scopes)

    def missing(self, scopes: frozenset[str]) -> tuple[str, ...]:
        """Returns the scopes that a token needs, if it may use nothing; else an empty tuple.

        An operator may need no tool. That scope is not reported to clients: they would ask for it.
        """
        if not scopes.issuperset(self.required):
            return self.required
        if self._table and scopes.isdisjoint(self._table) and OPERATE not in scopes:
            return self.supported
        return ()

    def needed(self, principal: Principal, owner: Owner) -> tuple[str, ...]:
        """Returns the scopes of a token that may use what `owner` has.

        Those are the scopes that the principal has, so that its next token has them too, and the
        one that grants the least of those that grant this. Returns nothing if the principal may use
        it already, or no scope grants it.
        """
        if _may_use(principal.toolsets, owner.toolset) or _may_use(principal.plugins, owner.plugin):
            return ()
        found = [
            (_breadth(grant), scope)
            for scope, grant in self._table.items()
            if _may_use(_set(grant.toolsets), owner.toolset)
            or _may_use(_set(grant.plugins), owner.plugin)
        ]
        if not found:
            return ()
        own = [scope for scope in self.supported if scope in principal.scopes]
        return tuple(dict.fromkeys((*own, min(found)[1])))

    def _made(self, name: str, scopes: frozenset[str]) -> Principal:
        if not self._table:
            return Principal(name, scopes)
        granted = [self._table[scope] for scope in scopes if scope in self._table]
        return Principal(
            name,
            scopes,
            _set(toolset for grant in granted for toolset in grant.toolsets),
            _set(plugin for grant in granted for plugin in grant.plugins),
        )


def _breadth(grant: ScopeGrant) -> tuple[bool, int]:
    """Returns how much a scope grants; everything is the most."""
    names = (*grant.toolsets, *grant.plugins)
    return ALL in names, len(names)


def _set(names: Iterable[str]) -> frozenset[str] | None:
    """Returns the names; None if all are meant."""
    found = frozenset(names)
    return None if ALL in found else found


def _may_use(granted: frozenset[str] | None, name: str | None) -> bool:
    return name is not None and (granted is None or name in granted)
