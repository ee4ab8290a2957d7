"""Host entries of manifests and grants: which are accepted, and what they match."""

from __future__ import annotations

from .url import UrlFault, normalise_host
from .words import words

#: Names that mean something on the local network only.
_LOCAL_TLDS = words("""
    arpa corp home internal intranet invalid lan local localdomain localhost onion private
""")

# Second-level labels under which two-letter countries register names: `*.co.uk` is no
# organisation's. A full public suffix list is 300 KB of data that ages; a wildcard under a country
# needs one label more than these, and the table below has the shared hosting that matters.
_REGISTRY_LABELS = words("""
    ac asso co com edu gob gok gov gouv go gv id info k12 lg ltd me mil ne net nhs nic nom
    or org plc police res sch school web
""")

_SHARED_SUFFIXES = words("""
    amazonaws.com appspot.com azureedge.net azurewebsites.net blogspot.com cloudapp.net
    cloudflare.net cloudfront.net cloudfunctions.net digitaloceanspaces.com duckdns.org
    dyndns.org firebaseapp.com fly.dev github.io gitlab.io glitch.me googleapis.com
    googleusercontent.com herokuapp.com lambda-url.us-east-1.on.aws netlify.app ngrok.app
    ngrok.io ngrok-free.app nip.io on.aws onrender.com pages.dev readthedocs.io repl.co
    run.app sslip.io s3.amazonaws.com storage.googleapis.com surge.sh vercel.app web.app
    windows.net workers.dev xip.io
""")


def parse_host_entry(entry: str) -> str:
    """A host entry in the spelling that is compared: a DNS name, or `*.name`.

    Raises:
        ValueError: what is wrong with the entry, for a person.
    """
    wildcard = entry.startswith("*.")
    name = entry[2:] if wildcard else entry
    if not name or name.endswith("."):
        raise ValueError("a host entry is a DNS name or *.name, without trailing dot")
    if "*" in name:
        raise ValueError("a star stands only for the whole first label, as in *.example.org")
    host = normalise_host(name) if name.isascii() else UrlFault("", "the host is not ASCII")
    if isinstance(host, UrlFault):
        hint = "; no scheme, port, path or user name" if set(name) & set("/:@") else ""
        raise ValueError(host.message + hint)  # noqa: TRY004 -- the value is wrong, not its type
    labels = host.split(".")
    if len(labels) < 2:
        raise ValueError("a host entry has at least two labels")
    if labels[-1] in _LOCAL_TLDS:
        raise ValueError(f"names under .{labels[-1]} belong to a local network")
    if wildcard and _is_public_suffix(labels):
        raise ValueError(f"*.{host} covers names of many organisations")
    return f"*.{host}" if wildcard else host


def matches(entry: str, host: str) -> bool:
    """Whether a parsed entry covers a normalised host; a star is exactly one label."""
    if entry.startswith("*."):
        label, dot, rest = host.partition(".")
        # A punycode label can look like any other; whoever means one names it.
        return bool(label and dot) and rest == entry[2:] and not label.startswith("xn--")
    return entry == host


def _is_public_suffix(labels: list[str]) -> bool:
    if len(labels) < 2 or ".".join(labels) in _SHARED_SUFFIXES:
        return True
    if len(labels) == 2:
        return len(labels[1]) == 2 and labels[0] in _REGISTRY_LABELS
    # k12.ca.us and the like: a registry label in front of a region of a country.
    return (
        len(labels) == 3
        and len(labels[2]) == 2
        and len(labels[1]) == 2
        and labels[0] in _REGISTRY_LABELS
    )
