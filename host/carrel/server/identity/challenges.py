"""Writes the responses to a client without access: challenges and metadata (RFC 6750, RFC 9728).

A challenge has only what the standards require; the reason of a refusal is in the log only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


class Challenges:
    """The challenges of one server.

    Args:
        resource: the public URL of the endpoint.
        issuer: the authorization server; None if there is none, and then no metadata.
        required: scopes that every token must have.
        supported: all scopes that have a meaning here.
    """

    def __init__(
        self, resource: str, issuer: str | None, required: Sequence[str], supported: Sequence[str]
    ) -> None:
        parts = urlsplit(resource)
        self._resource = resource
        self._issuer = issuer
        self._required = tuple(required)
        self._supported = tuple(supported)
        #: The path of the metadata document; None without an authorization server.
        self.path = None if issuer is None else f"{_WELL_KNOWN}{parts.path.rstrip('/')}"
        self._url = f"{parts.scheme}://{parts.netloc}{self.path}"

    def metadata(self) -> bytes:
        """Returns the metadata of the protected resource."""
        document: dict[str, object] = {
            "resource": self._resource,
            "authorization_servers": [self._issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Carrel",
        }
        if self._supported:
            document["scopes_supported"] = list(self._supported)
        return json.dumps(document).encode()

    def without_token(self) -> str:
        """Returns the challenge for a request without a token."""
        return self._written(scopes=self._required)

    def malformed(self) -> str:
        """Returns the challenge for credentials that cannot be read."""
        return self._written("invalid_request")

    def invalid(self) -> str:
        """Returns the challenge for a token that is refused."""
        return self._written("invalid_token", scopes=self._required)

    def insufficient(self, scopes: Sequence[str]) -> str:
        """Returns the challenge for a token whose scopes do not suffice."""
        return self._written("insufficient_scope", scopes=scopes)

    def _written(self, error: str | None = None, *, scopes: Sequence[str] = ()) -> str:
        found = []
        if error is not None:
            found.append(f'error="{error}"')
        if scopes:
            found.append(f'scope="{" ".join(scopes)}"')
        if self.path is not None:
            found.append(f'resource_metadata="{self._url}"')
        return "Bearer " + ", ".join(found) if found else "Bearer"
