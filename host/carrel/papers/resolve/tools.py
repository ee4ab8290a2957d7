"""Defines the tools that resolve references: `paper_resolve` and `paper_metadata`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.envelope import ATTEMPTS, REF, PaperTool, Schema, envelope_schema, paper_spec
from carrel.papers.provenance import LogRow, canonical_digest
from carrel.papers.store.entry import SCHEMA_VERSION
from carrel.papers.store.works import entry_of

from .open_copies import OpenCopies, find_open_copies
from .run import PaperResolver, Resolution, stored_under

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.provenance import ProvenanceLog
    from carrel.papers.store import PaperStore, StoredPaper
    from carrel.plugins.plugin_set import PluginSet

#: What a file is licensed under when no source says.
_UNKNOWN: Final = "unknown"

_TEXT: Schema = {"type": "string"}
_RESOLVE: Final = """\
WHEN TO USE: Find the work that a reference means, whatever its form.
INPUTS: ref.
OUTPUTS: metadata, the merged record; source, sources, attempts; or ok:false with error.
COSTS: One or two requests per source.
SIDE EFFECTS: None.
LIMITS: One ref."""

_METADATA: Final = """\
WHEN TO USE: Get metadata and where a free copy is, without asking a publisher.
INPUTS: ref, dry_run.
OUTPUTS: metadata, oa_url (null if unknown), license, source; or ok:false with error.
COSTS: One or two requests per source. No publisher is contacted.
SIDE EFFECTS: Writes the metadata to the store and a row to the provenance log, unless dry_run.
LIMITS: One ref."""


class ResolvingTools:
    """Answers of the tools.

    Args:
        plugins: of the configuration.
        config: what the operator set.
        opened_store: returns the paper store.
        opened_log: returns the provenance log.
        plan: returns the members of a dry run of `paper_metadata` for a reference.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        opened_store: Callable[[], PaperStore],
        opened_log: Callable[[], ProvenanceLog],
        plan: Callable[[str], dict[str, Any]],
    ) -> None:
        self._plugins = plugins
        self._config = config
        self._resolver = PaperResolver(plugins, config)
        self._store = opened_store
        self._log = opened_log
        self._plan = plan

    def make(self) -> list[PaperTool]:
        """Returns the tools."""
        limits = self._resolver.limits
        resolve = paper_spec(
            "paper_resolve",
            "Resolve a reference",
            _RESOLVE,
            {"ref": REF},
            envelope_schema(
                ref=_TEXT,
                source=_TEXT,
                resolver_profile=_TEXT,
                metadata={"type": "object"},
                sources={"type": "array", "items": _TEXT},
                attempts=ATTEMPTS,
            ),
            required=["ref"],
            network=True,
        )
        metadata = paper_spec(
            "paper_metadata",
            "Get a paper's metadata",
            _METADATA,
            {"ref": REF, "dry_run": {"type": "boolean", "default": False}},
            envelope_schema(
                ref={},
                source=_TEXT,
                resolver_profile=_TEXT,
                license=_TEXT,
                oa_url={"type": ["string", "null"]},
                metadata={"type": "object"},
                schema_version=_TEXT,
                attempts=ATTEMPTS,
                dry_run={"type": "boolean"},
                plan={"type": "object"},
                rate_limit_budget={"type": "object"},
            ),
            required=["ref"],
            writes=True,
            network=True,
        )
        return [
            PaperTool(resolve, self.resolve, limits=limits),
            PaperTool(metadata, self.metadata, limits=limits),
        ]

    def resolve(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Answers `paper_resolve`."""
        found = self._resolver.resolve(arguments["ref"], call)
        return {
            "ref": arguments["ref"],
            "source": found.source,
            "resolver_profile": found.source,
            "metadata": found.merged.work.to_json(),
            "sources": list(found.merged.sources),
            "attempts": found.attempts,
        }

    def metadata(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Answers `paper_metadata`. It returns the URL of a copy and never fetches it."""
        if arguments.get("dry_run", False):
            return self._plan(arguments["ref"])
        found = self._resolver.resolve(arguments["ref"], call)
        copies = find_open_copies(self._plugins, self._config, found.merged, call)
        license_name = _license(found, copies)
        self._keep(found, license_name, copies)
        return {
            "ref": arguments["ref"],
            "source": found.source,
            "resolver_profile": found.source,
            "license": license_name,
            "oa_url": copies.copies[0].url if copies.copies else None,
            "metadata": found.merged.work.to_json(),
            "schema_version": SCHEMA_VERSION,
            "attempts": [*found.attempts, *copies.attempts],
        }

    def _keep(self, found: Resolution, license_name: str, copies: OpenCopies) -> None:
        """Writes the metadata to the store, and first the row to the log: without it, nothing."""
        identifier = stored_under(found)
        fetched: dict[str, Any] = {"source": found.source, "license": license_name}
        if copies.oa_status is not None:
            fetched["oa_status"] = copies.oa_status
        entry = entry_of(found.merged.work, fetched=fetched)

        def log(stored: StoredPaper) -> None:
            self._log().append(
                LogRow(
                    event="resolve",
                    capability="metadata",
                    ref=identifier.id,
                    source=found.source,
                    license=license_name,
                    store_path=f".metadata/{stored.key}.toml",
                    canonical_digest=canonical_digest(identifier, found.source),
                )
            )

        self._store().write(identifier, entry, before=log)


def _license(found: Resolution, copies: OpenCopies) -> str:
    """Returns the licence of the best copy, else that of the record, else `unknown`."""
    for copy in copies.copies[:1]:
        if copy.license:
            return copy.license
    licences = found.merged.work.licenses
    return licences[0].url if licences else _UNKNOWN
