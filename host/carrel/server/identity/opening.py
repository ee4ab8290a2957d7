"""Opens the identity that a configuration and the environment name, or reports what is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from carrel.config import Config, IdentityConfig
from carrel.config.identity_rules import is_loopback
from carrel.errors import ConfigError

if TYPE_CHECKING:
    from carrel.server.http.identity import TokenIdentifier

    from .allowances import Allowances, Counters
    from .grants import Grants
    from .issuer import Download

#: The variable with the secret that tokens are signed with; the pubmed-mcp-server has the same.
SECRET_VARIABLE: Final = "MCP_AUTH_SECRET_KEY"  # noqa: S105 - its name
#: Bytes of the shortest secret: those of the hash (RFC 7518, section 3.2).
MIN_SECRET: Final = 32


@dataclass(frozen=True, slots=True)
class TokenIdentity:
    """Who may use the server over HTTP, and how much.

    Attributes:
        settings: the table `identity`.
        resource: the public URL of the endpoint.
        secret: that tokens are signed with; None if an issuer signs them.
        download: downloads documents of the issuer.
        counters: makes what keeps the calls of a day.
    """

    settings: IdentityConfig
    resource: str
    secret: bytes | None = field(repr=False)
    download: Download
    counters: Callable[[], Counters]

    def at(self, url: str) -> TokenIdentity:
        """Returns the identity of a server whose endpoint is at `url`, unless `resource` is set."""
        return self if self.settings.resource is not None else replace(self, resource=url)

    @property
    def host(self) -> str:
        """The value of `Host` of requests to the public URL."""
        return urlsplit(self.resource).netloc.lower()

    @property
    def grants(self) -> Grants:
        """The toolsets and plugins that scopes grant."""
        from .grants import Grants

        return Grants(self.settings.scopes, self.settings.required_scopes)

    def identifier(self, grants: Grants) -> TokenIdentifier:
        """Returns what identifies principals; imports PyJWT."""
        from carrel.server.http.identity import TokenIdentifier

        from .challenges import Challenges
        from .issuer import IssuerKeys
        from .keys import secret_key
        from .verifier import FixedKey, Keys, Verifier

        settings = self.settings
        keys: Keys
        if self.secret is not None:
            keys = FixedKey(secret_key(self.secret))
        else:
            keys = IssuerKeys(settings, self.download)
        verifier = Verifier(
            keys,
            issuer=settings.issuer,
            audiences=settings.audience or (self.resource,),
            leeway=settings.leeway_seconds,
        )
        issuer = None if self.secret is not None else settings.issuer
        challenges = Challenges(self.resource, issuer, grants.required, grants.supported)
        return TokenIdentifier(verifier, grants, challenges)

    def find_faults(self) -> list[str]:
        """Downloads the issuer's keys; returns why its tokens could not be verified."""
        if self.secret is not None:
            return []
        from .issuer import IssuerKeys

        settings = self.settings
        problem = IssuerKeys(settings, self.download).problem()
        name = "issuer" if settings.jwks_url is None else "jwks_url"
        url = settings.jwks_url or settings.issuer
        return [] if problem is None else [f"identity.{name}: {url}: {problem}"]

    def allowances(self, patience: float) -> Allowances:
        """Returns the limits of principals."""
        from .allowances import Allowances

        counters = None if self.settings.calls_per_day is None else self.counters()
        return Allowances(self.settings, patience, counters=counters)


def open_identity(
    config: Config,
    env: Mapping[str, str],
    *,
    address: str,
    is_local: bool,
    toolsets: Collection[str],
    download: Download,
    counters: Callable[[], Counters],
) -> TokenIdentity | None:
    """Returns the identity that is configured; None if none is, which only loopback allows.

    Args:
        config: with the table `identity`.
        env: may have `MCP_AUTH_SECRET_KEY`.
        address: the URL of the endpoint on the address that is listened on.
        is_local: whether that is a loopback address.
        toolsets: the names of the host's toolsets.
        download: as of `TokenIdentity`.
        counters: likewise.

    Raises:
        ConfigError: with everything that is missing or contradictory.
    """
    settings = config.identity
    secret = env.get(SECRET_VARIABLE, "").strip().encode()
    if not secret and settings.issuer is None:
        if settings != IdentityConfig():
            raise ConfigError([f"identity: expected an issuer, or {SECRET_VARIABLE} to be set"])
        if not is_local:
            raise ConfigError([_REQUIRED.format(address=address)])
        return None
    faults = _faults(config, secret, is_local=is_local, toolsets=toolsets)
    if faults:
        raise ConfigError(faults, path=str(config.source_path) if config.source_path else None)
    return TokenIdentity(settings, settings.resource or address, secret or None, download, counters)


_REQUIRED: Final = (
    "--http: serving {address} to other machines requires identity: set identity.issuer and "
    "identity.resource, or the environment variable MCP_AUTH_SECRET_KEY and identity.resource; "
    "or use a loopback address such as 127.0.0.1:8000"
)


def _faults(
    config: Config, secret: bytes, *, is_local: bool, toolsets: Collection[str]
) -> list[str]:
    settings = config.identity
    faults = []
    if secret and len(secret) < MIN_SECRET:
        faults.append(
            f"{SECRET_VARIABLE} (environment): expected at least {MIN_SECRET} bytes but found "
            f"{len(secret)}; to make one: openssl rand -base64 48"
        )
    faults += [
        f"identity.{name}, {SECRET_VARIABLE} (environment): exclude each other; tokens are signed "
        "with the issuer's keys or with the secret"
        for name in ("issuer", "jwks_url")
        if secret and getattr(settings, name) is not None
    ]
    if settings.resource is None and not is_local:
        faults.append(
            "identity.resource: expected the public URL of the endpoint, such as "
            "https://carrel.example.org/mcp; a token must be for it"
        )
    for name in ("issuer", "jwks_url", "resource"):
        url = getattr(settings, name) or ""
        own = name == "resource" and is_loopback(urlsplit(url).hostname)
        if url.startswith("http:") and not settings.plain_http and not own:
            faults.append(
                f"identity.{name}: expected https, because http does not protect tokens; "
                "identity.plain_http = true allows it in a network of your own"
            )
    faults += _unknown_names(config, toolsets)
    if settings.keys_keep_seconds < settings.keys_refresh_seconds:
        faults.append("identity.keys_keep_seconds: expected at least identity.keys_refresh_seconds")
    return faults


def _unknown_names(config: Config, toolsets: Collection[str]) -> list[str]:
    faults = []
    plugins = [*(plugin.name for plugin in config.plugins), *config.unlisted_providers]
    for scope, grant in config.identity.scopes.items():
        for what, names, known in (
            ("toolsets", grant.toolsets, list(toolsets)),
            ("plugins", grant.plugins, plugins),
        ):
            faults += [
                f"identity.scopes[{scope!r}].{what}: no {what[:-1]} is called {name!r};"
                f"{_nearest(name, known)} expected * or some of {', '.join(known)}"
                for name in names
                if name != "*" and name not in known
            ]
    return faults


def _nearest(name: str, known: Collection[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    return f" did you mean {near[0]!r}?" if near else ""
