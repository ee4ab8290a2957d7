"""Determines who sends a request: the local user, or the principal of its token.

This is the one place that decides; everything else passes the principal on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from carrel.principal import LOCAL, Principal

from .refusals import REFUSALS, Refusal

if TYPE_CHECKING:
    from carrel.server.identity.challenges import Challenges
    from carrel.server.identity.grants import Grants
    from carrel.server.identity.verifier import Verifier

logger = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]


class Identifier(Protocol):
    """Decides who sends a request."""

    #: Path and content of the metadata that anyone may read; None without.
    metadata: tuple[str, bytes] | None

    async def identify(self, headers: Headers, query: bytes) -> Principal | Refusal:
        """Returns the principal of a request, or why it is refused."""
        ...

    async def seconds_left(self, headers: Headers, query: bytes) -> float | None:
        """Returns for how long a request that was identified is valid; None for ever."""
        ...

    def insufficient(self, scopes: Sequence[str]) -> Refusal:
        """Returns the refusal of a request that needs one of these scopes."""
        ...


class LocalIdentifier:
    """Without identity the server listens on loopback only: every request is the local user's."""

    metadata: tuple[str, bytes] | None = None

    async def identify(self, headers: Headers, query: bytes) -> Principal | Refusal:
        """Returns the local user."""
        del headers, query
        return LOCAL

    async def seconds_left(self, headers: Headers, query: bytes) -> float | None:
        """Returns None: nobody has a token."""
        del headers, query
        return None

    def insufficient(self, scopes: Sequence[str]) -> Refusal:
        """Not called: the local user may use everything."""
        raise AssertionError(scopes)


class TokenIdentifier:
    """Identifies principals by bearer tokens.

    Args:
        verifier: verifies them.
        grants: maps their scopes.
        challenges: states how clients get one.
    """

    def __init__(self, verifier: Verifier, grants: Grants, challenges: Challenges) -> None:
        self._verifier = verifier
        self._grants = grants
        self._challenges = challenges
        path = challenges.path
        self.metadata = None if path is None else (path, challenges.metadata())

    async def identify(self, headers: Headers, query: bytes) -> Principal | Refusal:
        """Returns the principal of a request, or why it is refused."""
        from carrel.server.identity.bearer import MalformedCredentialsError, bearer_token
        from carrel.server.identity.issuer import KeysUnavailableError
        from carrel.server.identity.tokens import TokenError

        try:
            token = bearer_token(headers, query)
        except MalformedCredentialsError as error:
            return _refused("malformed-credentials", self._challenges.malformed(), str(error))
        if token is None:
            return _refused("no-token", self._challenges.without_token())
        try:
            claims = await self._verifier.verify(token)
        except TokenError as error:
            return _refused("invalid-token", self._challenges.invalid(), error.reason)
        except KeysUnavailableError:
            return REFUSALS["identity-unavailable"]
        missing = self._grants.missing(claims.scopes)
        if missing:
            refusal = self.insufficient(missing)
            return replace(refusal, reason=f"{claims.subject} lacks {' '.join(missing)}")
        return self._grants.principal(claims.subject, claims.scopes)

    async def seconds_left(self, headers: Headers, query: bytes) -> float | None:
        """Returns for how long the token of a request that was identified is valid."""
        from carrel.server.identity.bearer import bearer_token
        from carrel.server.identity.issuer import KeysUnavailableError
        from carrel.server.identity.tokens import TokenError

        token = bearer_token(headers, query)
        assert token is not None, "identified before"
        try:
            return self._verifier.seconds_left(await self._verifier.verify(token))
        except (TokenError, KeysUnavailableError):
            return 0.0  # it has expired since, or its key was withdrawn

    def insufficient(self, scopes: Sequence[str]) -> Refusal:
        """Returns the refusal of a request that needs one of these scopes."""
        return _refused("insufficient-scope", self._challenges.insufficient(scopes))


def _refused(name: str, challenge: str, reason: str = "") -> Refusal:
    """Returns a refusal with its challenge; `reason` is for the log."""
    changes: dict[str, Any] = {"headers": {"WWW-Authenticate": challenge}, "reason": reason}
    return replace(REFUSALS[name], **changes)
