"""Lists the copies of a work that may be downloaded, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.errors import CarrelError
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.resolve.attempts import attempt
from carrel.papers.resolve.full_texts import ROLE, ask_full_texts
from carrel.papers.resolve.open_copies import VERSIONS, collect, find_open_copies
from carrel.plugins.grants.downloads import host_of
from carrel.plugins.roles import role_sources

from .host_lists import ListKey, list_of
from .mining import INTERFACES, MiningAccess, MiningKey

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.resolve.run import Resolution
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id
    from carrel.records.work import OpenCopy

Preference = Literal["open", "version_of_record"]

#: The kinds of copies in the order in which they are tried, for each preference.
ORDER: Final[Mapping[Preference, tuple[str, ...]]] = {
    "open": (
        "arxiv", "oa-repository", "oa-publisher", "tdm-elsevier", "tdm-aps", "tdm-springer",
    ),
    "version_of_record": (
        "oa-publisher", "tdm-elsevier", "tdm-aps", "tdm-springer", "oa-repository", "arxiv",
    ),
}  # fmt: skip
#: Copies that are tried for one paper, so that a source that names thousands costs no more.
MAX_TRIED: Final = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A copy that may be downloaded.

    Attributes:
        url: of the PDF.
        source: the source that named it, or the interface for text mining.
        kind: the list of hosts or the interface that it belongs to; None for a host on no list.
        plugin: the plugin whose grants it is downloaded with; None for the lists of hosts.
        mining: the interface's access; None for open copies.
        stated: the kind of host that the source states.
    """

    url: str
    source: str
    kind: ListKey | MiningKey | None
    license: str | None = None
    version: str | None = None
    plugin: str | None = None
    mining: MiningAccess | None = None
    stated: str | None = None

    @property
    def capability(self) -> str:
        """The capability of its row in the log."""
        return self.mining.interface.key if self.mining is not None else "oa"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The copies of one work.

    Attributes:
        copies: the best first.
        oa_status: of the first source that states one, such as gold.
        attempts: what each source was asked and answered, as JSON.
        failed: whether a source that may know a copy did not answer.
    """

    copies: tuple[Candidate, ...]
    oa_status: str | None
    attempts: list[dict[str, Any]] = field(default_factory=list)
    failed: bool = False


def find_candidates(
    plugins: PluginSet,
    config: Config,
    found: Resolution,
    accesses: Mapping[MiningKey, MiningAccess],
    call: Call,
    *,
    prefer: Preference = "open",
) -> Candidates:
    """Asks every source with the role `full_text` or `open_copies` that knows the work.

    For one version of an e-print, only copies of that version are listed: those of sources with the
    role `full_text` that take its identifier, and those in the work's records under its address.

    Raises:
        Cancelled: the call was cancelled.
    """
    work = found.merged.work
    version = found.id if found.id is not None and found.id.is_version else None
    ids = list(work.ids.known()) if version is None else [version]
    named, attempts = _full_texts(plugins, config, ids, call)
    if version is None:
        copies = find_open_copies(plugins, config, found.merged, call)
    else:
        copies = collect(found.merged.records)
    attempts += copies.attempts
    named += [
        _of_open_copy(copy, copies.named_by[copy.url], config)
        for copy in copies.copies
        if copy.kind == "pdf" and (version is None or _names(copy.url, version))
    ]
    mined: list[Candidate] = []
    if version is None:
        mined, mining_attempts = _mining(work.ids.doi, accesses)
        attempts += mining_attempts
    best: dict[str, Candidate] = {}
    for candidate in sorted(
        [*named, *mined], key=lambda candidate: _rank(candidate, ORDER[prefer])
    ):
        best.setdefault(candidate.url, candidate)
    failed = any(entry["outcome"] == "consulted_failed" for entry in attempts)
    return Candidates(tuple(best.values())[:MAX_TRIED], copies.oa_status, attempts, failed)


def _names(url: str, version: Id) -> bool:
    """Whether a URL is a page or the PDF of one version of an e-print."""
    try:
        return parse_reference(url) == version
    except PaperError:
        return False


def _rank(candidate: Candidate, order: tuple[str, ...]) -> tuple[int, int]:
    kind = order.index(candidate.kind) if candidate.kind in order else len(order)
    version = candidate.version or ""
    return kind, VERSIONS.index(version) if version in VERSIONS else len(VERSIONS)


def _full_texts(
    plugins: PluginSet, config: Config, ids: list[Id], call: Call
) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """Asks the sources with the role `full_text` for PDFs, which their own grants cover."""
    sources, _ = role_sources(plugins, config, ROLE)
    targets = [
        (source, identifier)
        for source in sources
        if (identifier := source.identifier_among(ids)) is not None
    ]
    copies: list[Candidate] = []
    attempts: list[dict[str, Any]] = []
    for source, found in ask_full_texts(plugins, targets, call):
        if isinstance(found, CarrelError):
            attempts.append(attempt(source.name, "consulted_failed", found.message))
            continue
        for full_text in found:
            if full_text.format != "pdf":
                continue
            kind = list_of(host_of(full_text.url) or "", config) or "oa-repository"
            copies.append(
                Candidate(
                    full_text.url,
                    source.name,
                    kind,
                    full_text.license,
                    full_text.version,
                    source.name,
                )
            )
    return copies, attempts


def _of_open_copy(copy: OpenCopy, source: str, config: Config) -> Candidate:
    url = copy.url
    if url[:7].lower() == "http://":
        # Sources state many addresses as they were years ago; nothing is sent in the clear.
        url = f"https://{url[7:]}"
    kind = list_of(host_of(url) or "", config, copy.host_type)
    source = "arxiv" if kind == "arxiv" else source
    return Candidate(url, source, kind, copy.license, copy.version, stated=copy.host_type)


def _mining(
    doi: str | None, accesses: Mapping[MiningKey, MiningAccess]
) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """Returns the copies behind interfaces for mining, and why the others are not asked."""
    copies: list[Candidate] = []
    attempts: list[dict[str, Any]] = []
    for interface in INTERFACES:
        if doi is None or not interface.covers(doi):
            if interface.key in accesses:
                attempts.append(attempt(interface.key, "not_consulted_wrong_publisher"))
            continue
        access = accesses.get(interface.key)
        if access is None:
            attempts.append(attempt(interface.key, "not_consulted_disabled"))
        else:
            copies.append(
                Candidate(
                    interface.address(doi),
                    interface.key,
                    interface.key,
                    version="publishedVersion",
                    mining=access,
                )
            )
    return copies, attempts
