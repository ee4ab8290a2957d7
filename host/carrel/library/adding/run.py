"""Adds inputs to a library: detects what they are, resolves them, and reports on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from carrel.bibliography import BibliographyError, Item, read_bibliography
from carrel.documents import DocumentReader
from carrel.errors import Cancelled, CarrelError
from carrel.records.ids import Id, fold_doi
from carrel.tools.host_tool import host_limits

from .detect import BIBLIOGRAPHY_SUFFIXES, PDF_SUFFIX, Input, detect
from .files import ReadFile, identifier_of_pdf, is_pdf
from .outcome import InputOutcome
from .resolve import ResolvedItem, WorkFinder

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call, Limits
    from carrel.library.library import Library
    from carrel.plugins.plugin_set import PluginSet

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 180.0
#: Inputs of one call, entries of bibliographies not counted.
MAX_INPUTS: Final = 500


class LibraryAdder:
    """Adds inputs to libraries. Thread-safe.

    Args:
        plugins: they are asked for works.
        config: says how.
        read_file: opens files that the operator granted.
    """

    def __init__(self, plugins: PluginSet, config: Config, read_file: ReadFile) -> None:
        self._finder = WorkFinder(plugins, config)
        self._reader = DocumentReader(plugins, config)
        self._read_file = read_file
        self._config = config

    @property
    def limits(self) -> Limits:
        """The limits of one call."""
        return host_limits(self._config, WALL_SECONDS)

    def run(self, library: Library, texts: Sequence[str], call: Call) -> list[InputOutcome]:
        """Adds what the texts name, and returns an outcome for each input, in their order.

        All works are resolved before the library is changed, and then added in one change.

        Raises:
            LibraryError: the library cannot be read or written.
            Cancelled: the call was cancelled.
        """
        inputs = detect(texts)
        jobs = [_Job(detected) for detected in inputs[:MAX_INPUTS]]
        call.explain(f"{len(jobs)} inputs")
        for job in jobs:
            self._prepare(job, call)
            job.skip_known(library)
        ids = [job.id for job in jobs if job.id is not None]
        found = self._finder.by_identifier(ids, call) if ids else {}
        for job in jobs:
            if job.id is not None:
                job.take(found[job.id])
            elif job.citation is not None:
                call.check()
                self._resolve_citation(job, call)
        outcomes = _added(library, jobs)
        outcomes += [
            InputOutcome.failed(
                detected.source,
                detected.kind,
                "validation_error",
                f"more than {MAX_INPUTS} inputs; give the rest in another call",
            )
            for detected in inputs[MAX_INPUTS:]
        ]
        return outcomes

    def _prepare(self, job: _Job, call: Call) -> None:
        """Reads files and bibliographies; leaves identifiers and citations to be resolved."""
        detected = job.input
        try:
            if detected.kind == "bibliography":
                job.take_bibliography(detected.text)
            elif detected.kind == "file":
                call.check()
                self._read(job, call)
            elif detected.kind == "unknown":
                job.fail(
                    "validation_error",
                    "expected an identifier (DOI, arXiv, PMID, PMCID, ISBN) or its URL, a "
                    "citation, a bibliography (BibTeX, RIS, nbib, CSL-JSON, EndNote XML) or the "
                    f"path of a file ({', '.join((PDF_SUFFIX, *BIBLIOGRAPHY_SUFFIXES))})",
                )
            elif detected.kind == "identifier":
                job.id = detected.id
            else:
                job.citation = detected.text
        except Cancelled:
            raise
        except CarrelError as error:
            job.entries.append(InputOutcome.of_error(detected.source, job.kind, error))

    def _read(self, job: _Job, call: Call) -> None:
        path = job.input.text
        data = self._read_file(path)
        if is_pdf(path, data):
            job.kind = "pdf"
            job.id = identifier_of_pdf(data, self._reader, call)
            return
        job.take_bibliography(data)

    def _resolve_citation(self, job: _Job, call: Call) -> None:
        try:
            assert job.citation is not None
            job.take(self._finder.by_citation(job.citation, call))
        except Cancelled:
            raise
        except CarrelError as error:
            job.take(error)


class _Job:
    """One input on its way, with the entries that it consists of.

    Attributes:
        input: as detected.
        kind: what it was taken for.
        id: the identifier to look up.
        citation: to resolve.
        entries: items to add, each with the name that its outcome has, and outcomes of those that
            will not be added, in their order.
    """

    def __init__(self, detected: Input) -> None:
        self.input = detected
        self.kind: str = detected.id.type if detected.id is not None else detected.kind
        self.id = detected.id if detected.kind == "identifier" else None
        self.citation: str | None = None
        self.entries: list[InputOutcome | tuple[str, Item]] = []

    def skip_known(self, library: Library) -> None:
        """Skips a work whose identifier a reference has, so that no source is queried for it."""
        existing = None if self.id is None else _reference_with(library, self.id)
        if self.id is None or existing is None:
            return
        key = str(existing["id"])
        title = str(existing.get("title") or "")
        self.entries.append(
            InputOutcome(
                self.input.source,
                "skipped",
                self.kind,
                title=title,
                reason="duplicate",
                existing_id=key,
                duplicate_type=self.id.type,
            )
        )
        self.id = None

    def take(self, found: ResolvedItem | CarrelError) -> None:
        """Takes the work of an identifier or citation, or the reason why there is none."""
        if isinstance(found, CarrelError):
            self.entries.append(InputOutcome.of_error(self.input.source, self.kind, found))
        else:
            self.entries.append((self.input.source, found.item))

    def take_bibliography(self, data: bytes | str) -> None:
        """Takes the entries of a bibliography.

        Raises:
            BibliographyError: it cannot be read at all.
        """
        name = self.input.text if self.input.kind == "file" else ""
        read = read_bibliography(data, name=name)
        self.kind = read.format
        if not read.entries and not read.unread:
            raise BibliographyError("MALFORMED", "the bibliography has no entries")
        self.entries += [(entry.label, _keyed(entry.item, read.format)) for entry in read.entries]
        self.entries += [
            InputOutcome.failed(
                unread.label, self.kind, "parse_error", _with_line(unread.line, unread.problem)
            )
            for unread in read.unread
        ]

    def fail(self, reason: str, message: str) -> None:
        """Records that the input cannot be added."""
        self.entries.append(
            InputOutcome.failed(self.input.source, self.kind, reason, message)  # type: ignore[arg-type]
        )


def _reference_with(library: Library, identifier: Id) -> Item | None:
    """Returns the reference that has an identifier; None for kinds that are not searched for."""
    member = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID"}.get(identifier.type)
    if member is None or '"' in identifier.id:
        return None
    for item in library.search(f'{identifier.type}:"{identifier.id}"', limit=5).items:
        if fold_doi(str(item.get(member) or "")) == identifier.folded:
            return item
    return None


def _keyed(item: Item, format: str) -> Item:  # noqa: A002
    """Returns an item with its key; without one if its format has none, or it has none.

    The ids of RIS, nbib and EndNote are numbers of other programs' databases.
    """
    has_keys = format in {"bibtex", "biblatex", "csl-json"}
    if has_keys and str(item.get("id") or "").strip():
        return item
    return {name: value for name, value in item.items() if name != "id"}


def _with_line(line: int | None, problem: str) -> str:
    return problem if line is None else f"line {line}: {problem}"


def _added(library: Library, jobs: Sequence[_Job]) -> list[InputOutcome]:
    """Adds the items of all jobs in one change, and returns the outcomes in order."""
    items = [
        (job.kind, entry)
        for job in jobs
        for entry in job.entries
        if not isinstance(entry, InputOutcome)
    ]
    additions = iter(library.add([item for _, (_, item) in items]) if items else ())
    outcomes: list[InputOutcome] = []
    for job in jobs:
        for entry in job.entries:
            if isinstance(entry, InputOutcome):
                outcomes.append(entry)
                continue
            source, _ = entry
            addition = next(additions)
            if addition.status == "added":
                outcomes.append(
                    InputOutcome(source, "added", job.kind, id=addition.id, title=addition.title)
                )
            else:
                outcomes.append(
                    InputOutcome(
                        source,
                        "skipped",
                        job.kind,
                        title=addition.title,
                        reason="duplicate",
                        existing_id=addition.existing_id,
                        duplicate_type=addition.duplicate_type,
                    )
                )
    return outcomes
