"""Fetches one paper: resolves it, downloads the first copy that is a PDF, and stores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from carrel.exchange import Call, Limits
from carrel.papers.errors import PaperCode, PaperError
from carrel.papers.provenance import LogRow, canonical_digest
from carrel.papers.references import parse_reference
from carrel.papers.resolve.attempts import attempt
from carrel.papers.resolve.run import PaperResolver, Resolution, stored_under
from carrel.papers.store.entry import SCHEMA_VERSION
from carrel.papers.store.works import entry_of
from carrel.records.work import RETRACTIONS
from carrel.tools.host_tool import host_limits

from .candidates import Candidate, Candidates, Preference, find_candidates
from .copies import CopyDownloader
from .denial import remediation
from .mining import MiningAccess, MiningKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.config import Config
    from carrel.papers.provenance import ProvenanceLog
    from carrel.papers.store import PaperStore, StoredPaper
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

#: Seconds for one paper, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 300.0
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class FetchedPaper:
    """A paper whose PDF is in the store.

    Attributes:
        reference: as it was given.
        paper: the entry.
        path: of the PDF.
        was_stored: whether the PDF was there before, so that nothing was downloaded.
        retracted: whether a source says that the work is retracted.
        attempts: what each source was asked, and each copy that was tried, as JSON.
    """

    reference: str
    paper: StoredPaper
    path: Path
    was_stored: bool = False
    retracted: bool = False
    attempts: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Returns the members of the result beside `ok`."""
        fetched = self.paper.entry.fetched
        members: dict[str, Any] = {
            "ref": self.reference,
            "source": fetched.get("source", _UNKNOWN),
            "resolver_profile": fetched.get("source", _UNKNOWN),
            "path": str(self.path),
            "license": fetched.get("license", _UNKNOWN),
            "size_bytes": fetched.get("size_bytes", 0),
            "schema_version": SCHEMA_VERSION,
            "pdf": {"status": "stored" if self.was_stored else "fetched"},
        }
        if fetched.get("oa_status"):
            members["oa_status"] = fetched["oa_status"]
        if self.retracted:
            members["retracted"] = True
        if self.attempts:
            members["attempts"] = self.attempts
        return members


class PaperFetcher:
    """Fetches papers over all plugins of a configuration. Thread-safe.

    Args:
        plugins: of the configuration.
        config: what the operator set.
        opened_store: returns the paper store.
        opened_log: returns the provenance log.
        accesses: the interfaces for text mining that may be used.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        opened_store: Callable[[], PaperStore],
        opened_log: Callable[[], ProvenanceLog],
        accesses: Mapping[MiningKey, MiningAccess],
    ) -> None:
        self.resolver = PaperResolver(plugins, config)
        self.accesses = accesses
        self._plugins = plugins
        self._config = config
        self._store = opened_store
        self._log = opened_log
        self.copies = CopyDownloader(plugins, config)

    @property
    def limits(self) -> Limits:
        """The limits of fetching one paper."""
        return host_limits(self._config, WALL_SECONDS)

    def fetch(
        self,
        reference: str,
        call: Call,
        *,
        prefer: Preference = "open",
        resolved: Resolution | None = None,
    ) -> FetchedPaper:
        """Fetches a paper, unless its PDF is in the store.

        Args:
            reference: in any form that `PaperResolver.resolve` takes.
            call: its deadline and its cancellation apply.
            prefer: which kind of copy is tried first.
            resolved: the work, if it was resolved before.

        Raises:
            PaperError: as `PaperResolver.resolve`. `NO_OA_AVAILABLE`: every source says that there
                is no open copy. `CAPABILITY_DENIED`, `NETWORK_ERROR`, `RATE_LIMITED`,
                `FETCH_TIMEOUT`: the best copy could not be downloaded, and no other. `LOG_ERROR`:
                the provenance could not be written, so nothing was stored. `STORE_ERROR`,
                `LOCK_TIMEOUT`, `SCHEMA_TOO_NEW`.
            Cancelled: the call was cancelled.
        """
        stored = self.stored(reference) if resolved is None else None
        if stored is not None:
            return stored
        found = resolved or self.resolver.resolve(reference, call)
        identifier = stored_under(found)
        stored = self._stored_as(identifier, reference)
        if stored is not None:
            return stored
        call.explain("looking for open copies")
        candidates = find_candidates(
            self._plugins, self._config, found, self.accesses, call, prefer=prefer
        )
        return _Fetching(self, found, candidates, call).run()

    def stored(self, reference: str) -> FetchedPaper | None:
        """Returns the paper that an identifier names if its PDF is in the store."""
        try:
            identifier = parse_reference(reference)
        except PaperError:
            return None
        return self._stored_as(identifier, reference)

    def _stored_as(self, identifier: Id, reference: str) -> FetchedPaper | None:
        store = self._store()
        paper = store.find_any_version(identifier)
        path = None if paper is None else store.pdf_path(paper.key)
        if paper is None or path is None:
            return None
        return FetchedPaper(reference, paper, path, was_stored=True)

    @property
    def store(self) -> PaperStore:
        """The paper store."""
        return self._store()

    @property
    def log(self) -> ProvenanceLog:
        """The provenance log."""
        return self._log()


class _Fetching:
    """The fetching of one paper whose copies are known."""

    def __init__(
        self, fetcher: PaperFetcher, found: Resolution, candidates: Candidates, call: Call
    ) -> None:
        self._fetcher = fetcher
        self._reference = found.reference
        self._found = found
        self._id = stored_under(found)
        self._candidates = candidates
        self._call = call
        self._attempts = [*found.attempts, *candidates.attempts]

    def run(self) -> FetchedPaper:
        """Tries the copies in order; stores the metadata in any case."""
        # Before any publisher is asked: without a log nothing is fetched.
        self._note("resolve", self._found.source, capability="metadata")
        first: PaperError | None = None
        for candidate in self._candidates.copies:
            self._call.check()
            try:
                return self._fetch(candidate)
            except PaperError as error:
                if error.paper_code in _FINAL:
                    raise
                detail = f"{candidate.url}: {error.message}"
                self._attempts.append(attempt(candidate.source, "consulted_failed", detail))
                if first is None or _weight(error) > _weight(first):
                    first = error
        self._store_metadata()
        raise self._failure(first)

    def _fetch(self, candidate: Candidate) -> FetchedPaper:
        store = self._fetcher.store
        key = store.key_for(self._id)
        with store.receive(key) as file:
            path = store.pdf_path(key)
            paper = None if path is None else store.find(self._id)
            if path is not None and paper is not None:  # by another process, meanwhile
                return FetchedPaper(self._reference, paper, path, was_stored=True)
            error = None
            try:
                self._fetcher.copies.receive(candidate, file, self._call)
                file.finish()
            except PaperError as fault:
                error = fault
            if error is not None:
                self._note("fetch", candidate.source, error=error, candidate=candidate)
                raise error
            stored = store.write(
                self._id,
                self._entry(candidate),
                file,
                before=lambda paper: self._note_stored(paper, candidate, file.size),
            )
        path = store.pdf_path(stored.key)
        assert path is not None, "it was renamed into place"
        self._attempts.append(attempt(candidate.source, "consulted_resolved", candidate.url))
        return FetchedPaper(
            self._reference, stored, path, retracted=self._retracted, attempts=self._attempts
        )

    def _entry(self, candidate: Candidate) -> Any:
        fetched = {"source": candidate.source, "license": self._license(candidate)}
        if self._candidates.oa_status is not None:
            fetched["oa_status"] = self._candidates.oa_status
        entry = entry_of(self._found.merged.work, fetched=fetched)
        own = {**entry.own, "copy_url": candidate.url}
        if candidate.version is not None:
            own["version"] = candidate.version
        return entry.changed(own=own)

    def _license(self, candidate: Candidate) -> str:
        licences = self._found.merged.work.licenses
        return candidate.license or (licences[0].url if licences else _UNKNOWN)

    @property
    def _retracted(self) -> bool:
        updates = self._found.merged.work.updated_by
        return any(update.type in RETRACTIONS for update in updates)

    def _store_metadata(self) -> None:
        fetched: dict[str, Any] = {"source": self._found.source, "license": _UNKNOWN}
        if self._candidates.oa_status is not None:
            fetched["oa_status"] = self._candidates.oa_status
        self._fetcher.store.write(
            self._id,
            entry_of(self._found.merged.work, fetched=fetched),
            before=lambda paper: self._note(
                "store_write",
                self._found.source,
                capability="metadata",
                store_path=f".metadata/{paper.key}.toml",
            ),
        )

    def _note_stored(self, paper: StoredPaper, candidate: Candidate, size: int) -> None:
        facts: dict[str, Any] = {
            "capability": candidate.capability,
            "license": self._license(candidate),
            "size_bytes": size,
            "store_path": f"{paper.key}.pdf",
        }
        self._note("fetch", candidate.source, **facts)
        self._note("store_write", candidate.source, **facts)

    def _note(
        self,
        event: Any,
        source: str,
        *,
        error: PaperError | None = None,
        candidate: Candidate | None = None,
        **facts: Any,
    ) -> None:
        """Appends a row to the log.

        Raises:
            PaperError: `LOG_ERROR`; it could not be written.
        """
        if error is not None:
            denied = error.paper_code == "CAPABILITY_DENIED"
            # A refused download is an error of the network in the log, as in doiget's.
            facts["result"] = "denied" if denied else "err"
            facts["error_code"] = "NETWORK_ERROR" if denied else error.paper_code
        if candidate is not None:
            facts["capability"] = candidate.capability
        self._fetcher.log.append(
            LogRow(
                event=event,
                ref=self._id.id,
                source=source,
                canonical_digest=canonical_digest(self._id, source),
                **facts,
            )
        )

    def _failure(self, first: PaperError | None) -> PaperError:
        if first is not None:
            return PaperError(
                first.paper_code,
                first.message,
                denial=first.denial,
                attempts=self._attempts,
                remediation=remediation(first),
            )
        failed = [entry for entry in self._attempts if entry["outcome"] == "consulted_failed"]
        if self._candidates.failed and failed:
            names = ", ".join(dict.fromkeys(entry["source"] for entry in failed))
            return PaperError(
                "NETWORK_ERROR",
                f"no open copy is known so far, and {names} did not answer; try again later",
                attempts=self._attempts,
            )
        return PaperError(
            "NO_OA_AVAILABLE",
            f"no source knows an open copy of {self._id}; its metadata is in the store",
            attempts=self._attempts,
        )


#: Failures that no other copy mends.
_FINAL: Final[frozenset[PaperCode]] = frozenset({
    "STORE_ERROR", "LOG_ERROR", "LOCK_TIMEOUT", "SCHEMA_TOO_NEW", "INVALID_REF", "INTERNAL_ERROR",
})  # fmt: skip


_WEIGHTS: Final[tuple[PaperCode, ...]] = (
    "NETWORK_ERROR", "CAPABILITY_DENIED", "FETCH_TIMEOUT", "RATE_LIMITED",
)  # fmt: skip


def _weight(error: PaperError) -> int:
    """Returns how much an error says to the reader: one that waiting mends comes first."""
    return _WEIGHTS.index(error.paper_code) if error.paper_code in _WEIGHTS else -1
