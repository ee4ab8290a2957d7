"""Authorization for one repository: Basic, or a bearer token from the registry's realm.

The realm comes from the response with status 401, so it is untrusted. It is requested over https,
at a checked address; credentials are sent there only if it is the registry's own site or a known
realm.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlencode

from carrel.errors import RegistryError
from carrel.fetch.registries.url import RegistryUrl, parse_location
from carrel.fetch.url import UrlFault
from carrel.text.printable import printable

from .challenge import Challenge
from .credentials import Credential
from .documents import read_object

#: Registries and realm hosts of the same owner.
KNOWN_REALMS = frozenset(
    {
        ("docker.io", "auth.docker.io"),
        ("index.docker.io", "auth.docker.io"),
        ("registry-1.docker.io", "auth.docker.io"),
        ("registry.gitlab.com", "gitlab.com"),
    }
)

_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")

#: Sends one request with these headers and this body; returns status and body.
Ask = Callable[[str, RegistryUrl, dict[str, str], bytes], tuple[int, bytes]]


class Authorizer:
    """Answers a registry's challenges with Authorization headers, and caches the last one.

    Args:
        host: the registry as references name it.
        base: the registry's own URL.
        repository: the scope of the tokens.
        credential: returns the credential; called at the first challenge.
        realm_hosts: pairs of registry and realm host that the operator added.
        ask: sends a request to the realm, redirects not followed.
    """

    def __init__(
        self,
        host: str,
        base: RegistryUrl,
        repository: str,
        *,
        credential: Callable[[], Credential | None],
        realm_hosts: frozenset[tuple[str, str]],
        ask: Ask,
    ) -> None:
        self._host = host
        self._base = base
        self._repository = repository
        self._credential = credential
        self._known = KNOWN_REALMS | realm_hosts
        self._ask = ask
        self._header = ""
        self._actions = ""
        self.withheld = ""

    def header(self, actions: str) -> str:
        """Returns the cached Authorization for these actions; empty when there is none."""
        return self._header if actions in {self._actions, "pull"} else ""

    def answer(self, challenge: Challenge, actions: str) -> str:
        """Returns the Authorization for a challenge; empty without a credential.

        Raises:
            RegistryError: the realm is refused, or returned no token.
        """
        credential = self._credential()
        if challenge.scheme == "basic":
            has_user = credential is not None and bool(credential.user)
            self._header = credential.basic if credential is not None and has_user else ""
        elif credential is not None and credential.registry_token:
            self._header = f"Bearer {credential.registry_token}"
        else:
            self._header = "Bearer " + self._fetch_token(challenge, actions, credential)
        if not re.fullmatch(r"[\x20-\x7e]*", self._header):
            raise RegistryError(f"the credentials for {self._host} cannot be sent in a header")
        self._actions = actions
        return self._header

    def _fetch_token(
        self, challenge: Challenge, actions: str, credential: Credential | None
    ) -> str:
        realm = self._realm(challenge.realm)
        if credential is not None and not self._is_ours(realm):
            self.withheld = realm.site.authority
            credential = None
        query = {"service": challenge.service, "scope": f"repository:{self._repository}:{actions}"}
        if not challenge.service:
            del query["service"]
        headers = {"Accept": "application/json"}
        if credential is not None and credential.identity_token:
            form = {
                "grant_type": "refresh_token",
                "refresh_token": credential.identity_token,
                "client_id": "carrel",
                **query,
            }
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            status, body = self._ask("POST", realm, headers, urlencode(form).encode())
        else:
            if credential is not None:
                headers["Authorization"] = credential.basic
            mark = "&" if "?" in realm.resource else "?"
            url = RegistryUrl(realm.site, f"{realm.resource}{mark}{urlencode(query)}")
            status, body = self._ask("GET", url, headers, b"")
        return self._read_token(realm, status, body, authenticated=credential is not None)

    def _read_token(
        self, realm: RegistryUrl, status: int, body: bytes, *, authenticated: bool
    ) -> str:
        where = f"the realm {realm.site.authority} of {self._host}"
        if status in {401, 403}:
            if authenticated:
                raise RegistryError(
                    f"{where} refuses the credentials of Docker's configuration; "
                    f"log in again with `docker login {self._host}`",
                    status=status,
                )
            raise RegistryError(
                f"{where} gives no token without credentials; {self.advice()}", status=status
            )
        if status != 200:
            raise RegistryError(
                f"{where} answered {status} to the request for a token", status=status
            )
        answer = read_object(body, f"the token of {where}")
        token = answer.get("token") or answer.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise RegistryError(f"{where} answered without a token")
        return token

    def advice(self) -> str:
        """Returns what to do when credentials are missing."""
        if self.withheld:
            return (
                f"credentials for {self._host} were not sent to {self.withheld}, which is another "
                "host; if it is its realm, add it to the registry's realm_hosts"
            )
        return f"log in with `docker login {self._host}`"

    def _realm(self, text: str) -> RegistryUrl:
        realm = parse_location(self._base, text)
        if isinstance(realm, UrlFault):
            raise RegistryError(f"{self._host} names a realm that is refused: {realm.message}")
        return realm

    def _is_ours(self, realm: RegistryUrl) -> bool:
        site = realm.site
        return site == self._base.site or (self._host, site.authority) in self._known


def shown_error(body: bytes) -> str:
    """Returns the code in a registry's error body, in brackets; empty when it has none."""
    try:
        code = read_object(body, "the answer")["errors"][0]["code"]
    except (RegistryError, KeyError, IndexError, TypeError):
        return ""
    return f" ({printable(code, 60)})" if isinstance(code, str) and code else ""
