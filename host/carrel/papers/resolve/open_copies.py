"""Finds copies of a work that are free to read, in every plugin with the role `open_copies`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from carrel.errors import CarrelError
from carrel.lookup.answer import read_answers
from carrel.plugins.concurrent_calls import Question, ask_all
from carrel.plugins.roles import all_role_sources

from .attempts import attempt

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import MergedWork, Work
    from carrel.records.work import OpenCopy

ROLE: Final = "open_copies"

#: The best first: arXiv, other repositories, publishers; what is unknown is last.
_HOSTS: Final = ("arxiv", "repository", "publisher")
#: The best first.
VERSIONS: Final = ("publishedVersion", "acceptedVersion", "submittedVersion")
_KINDS: Final = ("pdf", "xml", "html")
#: Last labels of names that are not of the public web.
_LOCAL: Final = ("local", "localhost", "internal", "lan", "home", "arpa", "onion")


@dataclass(frozen=True, slots=True)
class OpenCopies:
    """Copies of one work.

    Attributes:
        copies: each address once, the best first.
        is_oa: whether a source says that the work is free to read; None if none says anything.
        oa_status: of the first source that says one, such as gold.
        attempts: what each source was asked and answered, as JSON.
        named_by: address of a copy → the first source that names it.
    """

    copies: tuple[OpenCopy, ...]
    is_oa: bool | None
    oa_status: str | None
    attempts: tuple[dict[str, Any], ...] = ()
    named_by: Mapping[str, str] = field(default_factory=dict)


def find_open_copies(
    plugins: PluginSet, config: Config, merged: MergedWork, call: Call
) -> OpenCopies:
    """Asks every source that knows an identifier of the work.

    The records of the work count as well. A source that fails is in the attempts.

    Raises:
        Cancelled: the call was cancelled.
    """
    every, _ = all_role_sources(plugins, config, ROLE)
    sources = [source for source in every if source.remedy is None]
    ids = list(merged.work.ids.known())
    targets = [
        (source, identifier) for source in sources if (identifier := source.identifier_among(ids))
    ]
    attempts = [
        attempt(source.name, "not_consulted_not_applicable")
        for source in sources
        if source.identifier_among(ids) is None
    ]
    attempts += [
        attempt(source.name, "not_consulted_disabled", source.remedy)
        for source in every
        if source.remedy is not None
    ]
    questions = [
        Question(source.name, source.spec.tool, {"ids": [identifier.to_json()]})
        for source, identifier in targets
    ]
    records: list[Work] = list(merged.records)
    for (source, identifier), reply in zip(targets, ask_all(plugins, questions, call), strict=True):
        try:
            if isinstance(reply, CarrelError):
                raise reply
            answer = read_answers(reply.decode(), [identifier], source.name)[identifier]
        except CarrelError as error:
            attempts.append(attempt(source.name, "consulted_failed", error.message))
            continue
        if answer.problem is not None:
            attempts.append(attempt(source.name, "consulted_failed", answer.problem.message))
        elif answer.work is None:
            attempts.append(attempt(source.name, "consulted_no_record"))
        else:
            records.append(answer.work)
            outcome = "resolved" if answer.work.open_copies else "not_open_access"
            attempts.append(attempt(source.name, f"consulted_{outcome}"))
    return collect(records, attempts)


def collect(records: Iterable[Work], attempts: Iterable[dict[str, Any]] = ()) -> OpenCopies:
    """Returns the copies that records name, the best first."""
    copies: dict[str, OpenCopy] = {}
    named_by: dict[str, str] = {}
    is_oa: bool | None = None
    status: str | None = None
    for record in records:
        for copy in filter(_is_on_the_web, record.open_copies):
            copies.setdefault(copy.url, copy)
            named_by.setdefault(copy.url, record.source)
        if record.is_oa is not None:
            is_oa = bool(is_oa) or record.is_oa
        status = status or record.oa_status
    ordered = tuple(sorted(copies.values(), key=rank))
    free = True if ordered else is_oa
    return OpenCopies(ordered, free, status, tuple(attempts), named_by)


def rank(copy: OpenCopy) -> tuple[int, int, int, str]:
    """Returns a key that sorts the best copy first: PDF, then the host, then the version."""
    host = copy.host_type or ""
    if _host_of(copy.url) in ("arxiv.org", "www.arxiv.org", "export.arxiv.org"):
        host = "arxiv"
    return (
        _position(_KINDS, copy.kind),
        _position(_HOSTS, host),
        _position(VERSIONS, copy.version or ""),
        copy.url,
    )


def _is_on_the_web(copy: OpenCopy) -> bool:
    """Whether a copy's address is one of the public web, as far as the address itself says.

    An address of this machine or its network is no copy, whatever a source says, and so is none
    that a browser would run.
    """
    try:
        parts = urlsplit(copy.url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.username is not None:
        return False
    try:
        return ip_address(host).is_global
    except ValueError:
        name, _, last = host.rpartition(".")
        is_number = last[:1].isdigit()  # 127.1 and 10.0x1 are addresses in an older form
        return bool(name) and last.lower() not in _LOCAL and not is_number


def _position(order: tuple[str, ...], value: str) -> int:
    return order.index(value) if value in order else len(order)


def _host_of(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].lower()
