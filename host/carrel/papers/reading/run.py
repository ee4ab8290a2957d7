"""Reads a paper: tries the copies of its text, best form first, until one is its own words."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from carrel.documents import DocumentReader, ReadDocument
from carrel.documents.reading import read_file
from carrel.documents.recent import RecentDocuments
from carrel.errors import Cancelled, CarrelError
from carrel.exchange import Call, Limits
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.resolve import PaperResolver
from carrel.plugins.concurrent_calls import require_patience
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .copies import PaperCopy, offered_copies, ordered, stored_copy
from .download import NoCopyError, received_copy
from .forms import STORE
from .judging import require_text
from .trace import Trace

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.papers.store import PaperStore
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id, Work

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise: several copies
#: at arXiv's pace, and compiling the readers.
WALL_SECONDS: Final = 180.0
#: Copies that are tried.
_MOST: Final = 12
#: Seconds that a text which was read is returned again.
_FRESH_SECONDS: Final = 3600.0
#: Seconds for the sources of metadata, and again for those of full texts: one that hangs costs so
#: much and no more.
_ASKING_SECONDS: Final = 30.0
#: Names of the metadata of a document that say its licence, the best first.
_LICENCES: Final = ("licence_url", "license", "licence", "rights")
#: Failures of the resolver after which the identifier alone may still lead to a text.
_UNSURE: Final = frozenset({"NETWORK_ERROR", "RATE_LIMITED", "FETCH_TIMEOUT", "CAPABILITY_DENIED"})


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper that was read.

    Attributes:
        reference: as it was given.
        id: the identifier that it was found by; None for a citation whose work has none.
        document: its text.
        copy: where the text is from.
        url: the address after redirects; None of a stored PDF whose origin is unknown.
        attempts: what became of each attempt, as JSON.
    """

    reference: str
    id: Id | None
    document: ReadDocument
    copy: PaperCopy
    url: str | None
    attempts: Sequence[dict[str, Any]] = ()
    read_at: float = field(default_factory=time.monotonic)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.document.text

    @property
    def license(self) -> str:
        """The licence: as the source says, else as the document says, else `unknown`."""
        if self.copy.license:
            return self.copy.license
        stated = {
            entry.get("name"): entry.get("value")
            for entry in self.document.document.get("metadata", ())
        }
        licences = (stated[name] for name in _LICENCES if isinstance(stated.get(name), str))
        return printable(next(licences, "unknown"), 300)


_Key = tuple["Id | str", "str | None", bool]


class PaperReader:
    """Reads papers over all plugins with the role `full_text`, and the store. Thread-safe.

    The papers that were read last are kept in memory for an hour, so that a call for the next part
    makes no request and finds the same text.

    Args:
        plugins: of the configuration.
        config: the operator's.
        opened_store: returns the paper store.
    """

    def __init__(
        self, plugins: PluginSet, config: Config, opened_store: Callable[[], PaperStore]
    ) -> None:
        self._plugins = plugins
        self._config = config
        self._store = opened_store
        self._resolver = PaperResolver(plugins, config)
        self._documents = DocumentReader(plugins, config)
        self._recent: RecentDocuments[_Key, ReadPaper] = RecentDocuments()

    @property
    def limits(self) -> Limits:
        """The limits of one reading."""
        return host_limits(self._config, WALL_SECONDS)

    def new_call(self, name: str, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a call that starts its clocks now."""
        return Call(HOST, name, self.limits, on_progress)

    def read(
        self, reference: str, call: Call, *, form: str | None = None, plain: bool = False
    ) -> ReadPaper:
        """Reads a paper.

        Args:
            reference: an identifier in any form, or a citation.
            call: of the reading.
            form: the only form that is wanted, one of `FORMS`.
            plain: plain text in place of Markdown.

        Raises:
            PaperError: `TEXT_UNAVAILABLE` when there is no text; `NETWORK_ERROR`, `RATE_LIMITED` or
                `FETCH_TIMEOUT` when there may be one; with the attempts. As `PaperResolver.resolve`
                when there is no such paper.
            Cancelled: the call was cancelled.
        """
        identifier = _identifier(reference)
        key: _Key = (identifier or " ".join(reference.split()), form, plain)
        recent = None if call.refresh else self._recent.get(key)
        if recent is not None and time.monotonic() - recent.read_at < _FRESH_SECONDS:
            return replace(recent, reference=reference)
        reading = _Reading(reference, form, plain, [identifier] if identifier is not None else [])
        read = self._read(reading, call)
        self._recent.put(key, read)
        return read

    def _read(self, reading: _Reading, call: Call) -> ReadPaper:
        trace = reading.trace
        if reading.form == "pdf" and reading.ids:
            found = self._first([*self._stored(reading)], reading, call)
            if found is not None:
                return found
        missing = self._identify(reading, call)
        stored = [] if reading.has_tried_store else self._stored(reading)
        if missing is not None and missing.paper_code not in _UNSURE and not stored:
            raise missing
        offered: list[PaperCopy] = []
        if missing is None or missing.paper_code in _UNSURE:
            with call.part(min(call.remaining / 2, _ASKING_SECONDS)) as part:
                offered = offered_copies(
                    self._plugins, self._config, reading.ids, trace, part, form=reading.form
                )
        found = self._first(ordered([*stored, *offered]), reading, call)
        if found is None:
            call.check()
            raise trace.no_text(reading.reference)
        return found

    def _identify(self, reading: _Reading, call: Call) -> PaperError | None:
        """Learns the paper's identifiers and title; returns why they are not known."""
        try:
            with call.part(min(call.remaining / 2, _ASKING_SECONDS)) as part:
                resolution = self._resolver.resolve(reading.reference, part)
        except PaperError as error:
            if not reading.ids:
                raise
            reading.trace.add_unresolved(error.attempts, error.paper_code)
            return error
        reading.trace.add_unresolved(resolution.attempts, None)
        reading.work = resolution.merged.work
        first = [resolution.id] if resolution.id is not None else []
        reading.ids = list(dict.fromkeys([*reading.ids, *first, *reading.work.ids.known()]))
        return None

    def _stored(self, reading: _Reading) -> list[PaperCopy]:
        """Returns the stored PDF, if that form is wanted and there is one."""
        if reading.form not in (None, "pdf"):
            return []
        try:
            copy = stored_copy(self._store(), reading.ids)
        except PaperError as error:
            reading.trace.add_failure(STORE, error, form="pdf")
            return []
        return [] if copy is None else [copy]

    def _first(
        self, copies: Sequence[PaperCopy], reading: _Reading, call: Call
    ) -> ReadPaper | None:
        """Returns the first text that is complete, else the first one of which a part was read."""
        partial: ReadPaper | None = None
        for number, copy in enumerate(copies):
            require_patience(call)
            late = not call.remaining
            if late or number >= _MOST:
                left = len(copies) - number
                why = "the time was up" if late else f"{_MOST} copies were tried"
                detail = f"{left} more copies were not tried: {why}"
                code = "timeout" if late else ""
                reading.trace.add(copy.source, "not_consulted_not_needed", detail, code=code)
                break
            found = self._try(copy, reading, call)
            if found is not None and found.document.quality == "complete":
                return reading.finished(found, copies[number + 1 :])
            partial = partial or found
        return None if partial is None else reading.finished(partial, ())

    def _try(self, copy: PaperCopy, reading: _Reading, call: Call) -> ReadPaper | None:
        """Reads one copy; returns None if it is not the paper's text, which the trace says."""
        call.explain(f"{copy.source}: reading the {copy.form.upper()}")
        more = {"form": copy.form} | ({"url": copy.url} if copy.url else {})
        if copy.path is not None:
            reading.has_tried_store = True
        try:
            with call.part(call.remaining / 2) as part:
                read, url = self._text(copy, reading, part)
        except NoCopyError as error:
            reading.trace.add(copy.source, error.outcome, str(error), code=error.code, **more)
        except Cancelled:
            raise
        except CarrelError as error:
            require_patience(call)
            reading.trace.add_failure(copy.source, error, **more)
        else:
            detail = None
            if read.quality != "complete":
                detail = f"{read.quality}: {read.document.get('quality_reason', 'incomplete')}"
            reading.trace.add(copy.source, "consulted_resolved", detail, **more)
            return ReadPaper(reading.reference, reading.first, read, copy, url)
        return None

    def _text(
        self, copy: PaperCopy, reading: _Reading, call: Call
    ) -> tuple[ReadDocument, str | None]:
        if copy.path is not None:
            return self._judged(self._stored_bytes(copy.path), copy, reading, call), copy.url
        with received_copy(self._plugins, copy, self._documents.max_bytes, call) as received:
            return self._judged(received.data, copy, reading, call), received.url

    def _stored_bytes(self, path: Path) -> bytes:
        try:
            return read_file(path, self._documents.max_bytes)
        except CarrelError as error:  # its message has the path, which is nobody's business
            raise NoCopyError(
                f"the stored PDF cannot be read ({error.error_code})", code=error.error_code
            ) from error

    def _judged(self, data: bytes, copy: PaperCopy, reading: _Reading, call: Call) -> ReadDocument:
        if not data.lstrip(b"\xef\xbb\xbf \t\r\n"):
            raise NoCopyError("the answer is empty")
        try:
            read = self._documents.read(data, call, plain=reading.plain)
        except CarrelError as error:
            if error.error_code != "invalid_document":
                raise
            raise NoCopyError(f"it cannot be read: {error.message}") from error
        require_text(read, copy.form, reading.work, reading.first)
        return read


@dataclass(slots=True)
class _Reading:
    """The identifiers and records of a paper that is being read.

    Attributes:
        ids: the identifiers; the requested one first.
        work: what sources say of it.
    """

    reference: str
    form: str | None
    plain: bool
    ids: list[Id]
    work: Work | None = None
    trace: Trace = field(default_factory=Trace)
    has_tried_store: bool = False

    @property
    def first(self) -> Id | None:
        """The identifier that was asked for; for a citation, that of the work that it means."""
        return self.ids[0] if self.ids else None

    def finished(self, read: ReadPaper, left: Sequence[PaperCopy]) -> ReadPaper:
        """Returns the paper with the attempts, and names the sources that were not needed."""
        tried = {attempt["source"] for attempt in self.trace.attempts}
        for source in dict.fromkeys(copy.source for copy in left):
            if source not in tried:
                self.trace.add(source, "not_consulted_not_needed")
        return replace(read, attempts=tuple(self.trace.attempts))


def _identifier(reference: str) -> Id | None:
    """Returns the identifier that a reference is; None for a citation, or for what is neither."""
    try:
        return parse_reference(reference)
    except PaperError:
        return None
