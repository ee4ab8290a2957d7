"""Host entries of manifests and grants: which are accepted, and what they match.

An exact name is checked by its form alone. A wildcard is also checked against the Public Suffix
List: it is refused if anyone can register a name that it matches, at the suffix or below it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from carrel.fetch.url import UrlFault, normalise_host

#: Top-level names that no registry has delegated: reserved ones (RFC 2606, 6761, 6762, 7686, 8375,
#: 9476), and those by which clusters, container engines and local networks call their own.
_LOCAL_TLDS = frozenset(
    str.split("""
    alt arpa cluster consul corp default docker home internal intra intranet invalid
    k8s kube kube-system kubernetes lan local localdomain localhost lxd mesos minikube nomad
    onion pod podman private rancher service svc swarm vagrant
""")
)

# Second-level labels of countries' registries, under any country: someone may register a name below
# one before the list has it.
_REGISTRY_LABELS = frozenset(
    str.split("""
    ac asso co com edu gob gok gov gouv go gv id info k12 lg ltd me mil ne net nhs nic nom
    or org plc police res sch school web
""")
)

# Not in the Public Suffix List, because their owners did not request it: services whose names
# resolve to the address that the name spells, tunnels to any machine, collectors of requests, and
# storage or pages under a name of the customer's choice.
_SHARED_NAMES = frozenset(
    str.split("""
    1u.ms backname.io localtest.me lvh.me nip.io rbndr.us sslip.io traefik.me xip.io
    bore.pub devtunnels.ms github.dev lhr.life loca.lt localhost.run localtunnel.me pinggy.io
    pinggy.link playit.gg serveo.net serveousercontent.com zrok.io
    beeceptor.com interact.sh oast.fun oast.live oast.me oast.online oast.pro oast.site
    pipedream.net requestrepo.com webhook.site
    aliyuncs.com azurecontainerapps.io b-cdn.net backblazeb2.com cloudapp.azure.com
    cloudflarestorage.com cloudworkstations.dev firebaseio.com glitch.me googleusercontent.com
    gradio.live koyeb.app modal.run myqcloud.com neocities.org objectstorage.oraclecloud.com
    storage.googleapis.com wasabisys.com wordpress.com
""")
)

#: In place of a host entry in a grant: every host with a public name, see `public_web`.
PUBLIC_WEB: Final = "public-web"

_INSTEAD = "write out each host that is meant, without a star"


def parse_host_entry(entry: str) -> str:
    """Returns a host entry in the spelling that is compared: a DNS name, or `*.name`.

    Raises:
        ValueError: what is wrong with the entry, for a person.
    """
    wildcard = entry.startswith("*.")
    name = entry[2:] if wildcard else entry
    if not name or name.endswith("."):
        raise ValueError("a host entry is a DNS name or *.name, without trailing dot")
    if "*" in name:
        raise ValueError("a star may only replace the whole first label, as in *.example.org")
    host = normalise_host(name) if name.isascii() else UrlFault("", "the host is not ASCII")
    if isinstance(host, UrlFault):
        hint = "; no scheme, port, path or user name" if set(name) & set("/:@") else ""
        raise ValueError(host.message + hint)  # noqa: TRY004 -- the value is wrong, not its type
    labels = host.split(".")
    if labels[-1] in _LOCAL_TLDS:
        raise ValueError(
            f"names under .{labels[-1]} are those of a cluster or a local network; "
            "write the public name of a host on the internet"
        )
    if len(labels) < 2:
        raise ValueError(
            "a host entry has at least two labels: a single one is a top-level domain, or a name "
            "of a cluster or a local network"
        )
    if wildcard:
        fault = _wildcard_fault(host, labels)
        if fault is not None:
            raise ValueError(f"*.{host} covers names of many organisations: {fault}; {_INSTEAD}")
    return f"*.{host}" if wildcard else host


def parse_declared_host(entry: str) -> str:
    """As `parse_host_entry`, for a manifest, which may also declare the operator's own server.

    Raises:
        ValueError: what is wrong with the entry, for a person.
    """
    from .endpoint import ENDPOINT

    return entry if entry == ENDPOINT else parse_host_entry(entry)


def matches(entry: str, host: str) -> bool:
    """Whether a parsed entry covers a normalised host; a star is exactly one label."""
    if entry.startswith("*."):
        label, dot, rest = host.partition(".")
        # A punycode label can look like any other, so a wildcard does not cover it.
        return bool(label and dot) and rest == entry[2:] and not label.startswith("xn--")
    return entry == host


def common_host(left: str, right: str) -> str | None:
    """Returns the narrower of two host entries that overlap; None if they do not."""
    if left == right or (not left.startswith("*") and matches(right, left)):
        return left
    return right if not right.startswith("*") and matches(left, right) else None


def _wildcard_fault(host: str, labels: list[str]) -> str | None:
    """Returns why names under `host` are not those of one organisation; None when they may be."""
    if _is_registry_name(labels):
        return f"{host} is a country's registry"
    for shared in _SHARED_NAMES:
        if f".{host}".endswith(f".{shared}") or shared.endswith(f".{host}"):
            return f"anyone can open a name under {shared}"
    suffix = _public_suffix(host, labels)
    return suffix and f"{suffix} is on the Public Suffix List, so anyone can open a name under it"


def _is_registry_name(labels: list[str]) -> bool:
    if len(labels) == 2:
        return len(labels[1]) == 2 and labels[0] in _REGISTRY_LABELS
    # k12.ca.us and the like: a registry label in front of a region of a country.
    return (
        len(labels) == 3
        and len(labels[2]) == 2
        and len(labels[1]) == 2
        and labels[0] in _REGISTRY_LABELS
    )


def _public_suffix(host: str, labels: list[str]) -> str | None:
    """Returns the public suffix that `host` is, or one that lies below it; None for neither.

    Both sections of the list count: suffixes of registries and of companies.
    """
    rules = _suffix_rules()
    name = _as_listed(host)
    below: str | None = None
    # A search for the name finds every rule that is the name or lies below it.
    for found in re.finditer(re.escape(name) + rb"(?=\s)", rules):
        rule = rules[rules.rfind(b"\n", 0, found.start()) + 1 : found.end()]
        if rule == b"!" + name:
            return None  # an exception: a registered name amid suffixes
        if rule in (name, b"*." + name):  # the list means `*.name` to cover `name`
            return host
        if rule.endswith(b"." + name) and not rule.startswith(b"//"):
            below = below or rule.removeprefix(b"*.").removeprefix(b"!").decode()
    if b"\n*." + _as_listed(".".join(labels[1:])) + b"\n" in rules:
        return host
    return below


@lru_cache(maxsize=1)
def _suffix_rules() -> bytes:
    """Returns the text of the list, a rule or a comment a line.

    Read for the first wildcard. The package's own parser takes 80 ms for the whole list; a search
    in its text takes less than one.
    """
    from publicsuffixlist import PSLFILE

    return b"\n" + Path(PSLFILE).read_bytes().replace(b"\r\n", b"\n") + b"\n"


def _as_listed(host: str) -> bytes:
    """Returns a name as the list spells it, which is not in punycode."""
    if "xn--" in host:
        try:
            return host.encode("ascii").decode("idna").encode()
        except UnicodeError:
            pass  # no registry's name: such a spelling is in no rule
    return host.encode("ascii")
