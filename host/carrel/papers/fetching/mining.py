"""Publishers' interfaces for text and data mining, for those who have an agreement and a key.

Both are needed, and each alone is an error of the configuration: a key without the agreement would
be used by accident, an agreement without a key does nothing. The agreement is given by environment
variable only, so that no shared configuration file gives it for somebody else. Each interface is
asked for DOIs of its publisher only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from carrel.config import AGREEMENTS
from carrel.errors import ConfigError
from carrel.plugins.grants.downloads import AttachedKey, find_key, key_variable

MiningKey = Literal["tdm-elsevier", "tdm-aps", "tdm-springer"]

_TRUE: Final = frozenset({"1", "true", "yes"})


@dataclass(frozen=True, slots=True)
class MiningInterface:
    """One publisher's interface.

    Attributes:
        key: its name as a source and as the capability of a row of the log.
        prefixes: of the DOIs that it is asked for.
        url: of a PDF; `{doi}` is replaced.
        hosts: that it answers from; the key is attached to requests to the first.
        header: the header that carries the key; None for the query parameter `api_key`.
        scheme: the word before the key in that header.
    """

    key: MiningKey
    prefixes: tuple[str, ...]
    url: str
    hosts: tuple[str, ...]
    header: str | None = None
    scheme: str | None = None

    @property
    def publisher(self) -> str:
        """The publisher, as in the names of variables."""
        return self.key.removeprefix("tdm-")

    @property
    def agreement_variable(self) -> str:
        """The environment variable that says that the operator has agreed to the terms."""
        return AGREEMENTS[self.publisher]

    def covers(self, doi: str) -> bool:
        """Whether a DOI is one of the publisher's."""
        return doi.partition("/")[0] in self.prefixes

    def address(self, doi: str) -> str:
        """Returns the URL of the PDF of a DOI."""
        return self.url.replace("{doi}", quote(doi, safe="/()"))


INTERFACES: Final = (
    MiningInterface(
        "tdm-elsevier",
        ("10.1016", "10.1006", "10.1053"),
        "https://api.elsevier.com/content/article/doi/{doi}?httpAccept=application%2Fpdf",
        ("api.elsevier.com",),
        header="X-ELS-APIKey",
    ),
    MiningInterface(
        "tdm-aps",
        ("10.1103",),
        "https://harvest.aps.org/v2/journals/articles/{doi}",
        ("harvest.aps.org",),
        header="Authorization",
        scheme="Bearer",
    ),
    MiningInterface(
        "tdm-springer",
        ("10.1007", "10.1038", "10.1057", "10.1140"),
        "https://link.springer.com/content/pdf/{doi}.pdf",
        ("link.springer.com", "www.nature.com"),
    ),
)


@dataclass(frozen=True, slots=True)
class MiningAccess:
    """An interface that may be used.

    Attributes:
        interface: which.
        key: of the operator, attached to requests.
    """

    interface: MiningInterface
    key: AttachedKey


def mining_accesses(env: Mapping[str, str] | None = None) -> dict[MiningKey, MiningAccess]:
    """Returns the interfaces that the operator may use: those with agreement and key.

    Args:
        env: the environment; that of the process when None.

    Raises:
        ConfigError: an agreement without a key, or a key without an agreement.
    """
    environment = os.environ if env is None else env
    found: dict[MiningKey, MiningAccess] = {}
    faults: list[str] = []
    for interface in INTERFACES:
        agreed = environment.get(interface.agreement_variable, "").strip().lower() in _TRUE
        key = find_key("tdm", f"{interface.publisher}_key", env=env)
        named = key_variable("tdm", f"{interface.publisher}_key")
        if agreed and not key:
            faults.append(
                f"{interface.agreement_variable} is set but {named} is not; set both or none"
            )
        elif key and not agreed:
            faults.append(
                f"{named} is set but {interface.agreement_variable} is not; set it to 1 if you "
                "have agreed to the publisher's terms for text mining"
            )
        elif key:
            query = "api_key" if interface.header is None else None
            attached = AttachedKey(
                f"{interface.publisher}_key",
                key,
                interface.hosts[:1],
                interface.header,
                interface.scheme,
                query,
            )
            found[interface.key] = MiningAccess(interface, attached)
    if faults:
        raise ConfigError(faults)
    return found
