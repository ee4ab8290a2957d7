"""The name of a plugin in a registry, as a person writes it: `oci://HOST[:PORT]/NAME[:TAG][@DIGEST]`.

The grammar is the OCI distribution specification's. Neither a registry nor `library/` is added to a
name without one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.errors import RegistryError
from carrel.text.printable import printable

#: The tag if neither tag nor digest is written, as in other clients.
DEFAULT_TAG = "latest"

SCHEME = "oci://"
MAX_NAME = 255

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]{{2,45}}\])(?::([0-9]{{1,5}}))?")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_PART}(?:/{_PART})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ImageReference:
    """A plugin, or a repository of plugins, in a registry.

    Attributes:
        host: the registry, lower case, with its port where one is written.
        repository: the name within the registry.
        tag: as written; None when there is none.
        digest: `sha256:` and 64 hex digits; None when there is none. It wins over the tag.
    """

    host: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    @property
    def wanted(self) -> str:
        """The digest, else the tag, else `latest`."""
        return self.digest or self.tag or DEFAULT_TAG

    @property
    def name(self) -> str:
        """The reference without `oci://`, as other registry tools take it."""
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.host}/{self.repository}{tag}{digest}"

    def __str__(self) -> str:
        return SCHEME + self.name


def is_digest(text: object) -> bool:
    """Whether `text` is `sha256:` and 64 lower-case hex digits."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def parse_reference(text: str) -> ImageReference:
    """Parses a reference, with or without `oci://`.

    Raises:
        RegistryError: it is not one; names the wrong part, and what to write.
    """
    explicit = text[: len(SCHEME)].lower() == SCHEME
    rest = text[len(SCHEME) :] if explicit else text
    if "://" in rest:
        raise _fault(text, "another scheme than oci")
    rest, at, digest = rest.partition("@")
    host, slash, name = rest.partition("/")
    if at and not slash:
        raise _fault(text, "a user name or password; credentials come from Docker's configuration")
    if at and not _DIGEST.fullmatch(digest):
        raise _fault(text, "a digest that is not sha256: and 64 lower-case hex digits")
    repository, colon, tag = name.partition(":")
    if not slash or not _is_host(host, explicit=explicit):
        raise _fault(text, "no registry host; none is assumed, write it out (ghcr.io/owner/name)")
    if colon and not _TAG.fullmatch(tag):
        raise _fault(text, "a tag that is not 1 to 128 of A-Z a-z 0-9 _ . -")
    if not _REPOSITORY.fullmatch(repository):
        raise _fault(text, "a name that is not lower-case words parted by / . _ or -")
    if len(host) + 1 + len(repository) > MAX_NAME:
        raise _fault(text, f"a name of more than {MAX_NAME} characters")
    return ImageReference(host.lower(), repository, tag or None, digest or None)


def _is_host(host: str, *, explicit: bool) -> bool:
    """Whether this is a registry's host; a bare word counts only after `oci://`."""
    found = _HOST.fullmatch(host)
    if found is None or (found[1] and not 0 < int(found[1]) < 65_536):
        return False
    return explicit or "." in host or ":" in host or host.lower() == "localhost"


def _fault(text: str, what: str) -> RegistryError:
    return RegistryError(
        f"{printable(text, 200)!r} is not a reference to a plugin: it has {what}; "
        "write oci://REGISTRY[:PORT]/NAME with :TAG or @sha256:DIGEST"
    )
