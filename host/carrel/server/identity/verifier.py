"""Verifies bearer tokens: returns the principal of a token, or why it is refused."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from .claims import Claims, audiences_of, read_claims
from .clock import SteadyClock
from .keys import Key
from .tokens import TokenError, UnverifiedToken, parse_token, read_object

#: Verified tokens that are remembered, so that each request need not verify a signature.
_REMEMBERED: Final = 4096


class Keys(Protocol):
    """The keys that tokens are signed with."""

    @property
    def current(self) -> Sequence[Key]:
        """The keys, without waiting."""
        ...

    async def find(self, token: UnverifiedToken) -> Key | None:
        """Returns the key of a token; None if there is none."""
        ...


class FixedKey:
    """The key of an operator's secret."""

    def __init__(self, key: Key) -> None:
        self.current: Sequence[Key] = (key,)

    async def find(self, token: UnverifiedToken) -> Key | None:
        """Returns the key, whatever the token names."""
        del token
        return self.current[0]


class Verifier:
    """Verifies tokens.

    Args:
        keys: that tokens are signed with.
        issuer: of the tokens; None accepts any.
        audiences: names of this server; a token must be for one of them.
        leeway: seconds that clocks may differ.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        keys: Keys,
        *,
        issuer: str | None,
        audiences: Collection[str],
        leeway: float,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audiences = audiences_of(audiences)
        self._leeway = leeway
        self._clock = clock or SteadyClock()
        #: Digest of a token → its claims and the key that it was verified with.
        self._verified: OrderedDict[bytes, tuple[Claims, Key]] = OrderedDict()

    async def verify(self, text: str) -> Claims:
        """Returns the claims of a token.

        Raises:
            TokenError: it is refused.
            KeysUnavailableError: it cannot be verified now.
        """
        digest = hashlib.sha256(text.encode()).digest()
        claims = self._remembered(digest)
        if claims is None:
            token = parse_token(text)
            key = await self._keys.find(token)
            if key is None:
                raise TokenError("no key of the issuer fits the token's kid and alg")
            key.verify(token)
            claims = read_claims(
                read_object(token.payload, "payload"),
                issuer=self._issuer,
                audiences=self._audiences,
            )
            self._remember(digest, claims, key)
        claims.check_time(self._clock(), self._leeway)
        return claims

    def seconds_left(self, claims: Claims) -> float:
        """Returns after how many seconds a token that was verified is refused."""
        return max(0.0, claims.expires + self._leeway - self._clock())

    def _remembered(self, digest: bytes) -> Claims | None:
        """Returns the claims of a token that was verified with a key that is still the issuer's."""
        claims, key = self._verified.get(digest, (None, None))
        if claims is None or key not in self._keys.current:
            self._verified.pop(digest, None)
            return None
        self._verified.move_to_end(digest)
        return claims

    def _remember(self, digest: bytes, claims: Claims, key: Key) -> None:
        self._verified[digest] = claims, key
        if len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)
