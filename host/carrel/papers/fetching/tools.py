"""Defines `paper_fetch` and `paper_batch_fetch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.envelope import (
    ATTEMPTS,
    REF,
    PaperTool,
    Schema,
    envelope_schema,
    error_schema,
    paper_spec,
)
from carrel.tools.host_tool import host_limits

from .batch import BATCH_WALL_SECONDS, MAX_REFS, fetch_batch, summary
from .candidates import ORDER
from .plan import RATE_LIMIT_BUDGET, dry_run

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

    from .run import PaperFetcher

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "integer"}
_PREFER: Final[Schema] = {
    "description": "open: arXiv, repository, publisher; version_of_record: publisher first.",
    "enum": list(ORDER),
    "default": "open",
}
_DRY_RUN: Final[Schema] = {"type": "boolean", "default": False}

_FETCH: Final = """\
WHEN TO USE: Download the PDF of a paper.
INPUTS: ref, prefer, dry_run.
OUTPUTS: path, license, source, size_bytes, or ok:false with error (why there is no PDF).
COSTS: Seconds to minutes; may fail if the paper is not open access.
SIDE EFFECTS: Writes PDF and metadata to the store, rows to the provenance log; none with dry_run.
LIMITS: One ref, 100 MB, 5 downloads/s. For more refs use paper_batch_fetch."""

_BATCH: Final = f"""\
WHEN TO USE: Download the PDFs of several papers.
INPUTS: refs, prefer, dry_run.
OUTPUTS: results, a row per ref as paper_fetch answers; summary.
COSTS: Seconds to minutes per paper, five at once.
SIDE EFFECTS: As paper_fetch.
LIMITS: {MAX_REFS} refs."""

#: Members of a success of `paper_fetch`.
_MEMBERS: Final[dict[str, Schema]] = {
    "ref": {"type": ["string", "object"]},
    "source": _TEXT,
    "resolver_profile": _TEXT,
    "path": _TEXT,
    "license": _TEXT,
    "size_bytes": _NUMBER,
    "schema_version": _TEXT,
    "oa_status": _TEXT,
    "retracted": {"type": "boolean"},
    "pdf": {"type": "object"},
    "attempts": ATTEMPTS,
    "dry_run": {"type": "boolean"},
    "plan": {"type": "object"},
    "rate_limit_budget": {"type": "object"},
}


class FetchingTools:
    """Answers of the tools.

    Args:
        plugins: of the configuration.
        config: what the operator set.
        fetcher: fetches each paper.
    """

    def __init__(self, plugins: PluginSet, config: Config, fetcher: PaperFetcher) -> None:
        self._plugins = plugins
        self._config = config
        self._fetcher = fetcher

    def make(self) -> list[PaperTool]:
        """Returns the tools."""
        fetch = paper_spec(
            "paper_fetch",
            "Download a paper",
            _FETCH,
            {"ref": REF, "prefer": _PREFER, "dry_run": _DRY_RUN},
            envelope_schema(error_schema(remediation=True), **_MEMBERS),
            required=["ref"],
            writes=True,
            network=True,
        )
        batch = paper_spec(
            "paper_batch_fetch",
            "Download several papers",
            _BATCH,
            {
                "refs": {
                    "description": "As ref of paper_fetch.",
                    "type": "array",
                    "items": {key: value for key, value in REF.items() if key != "description"},
                    "minItems": 1,
                    "maxItems": MAX_REFS,
                },
                "prefer": _PREFER,
                "dry_run": _DRY_RUN,
            },
            envelope_schema(
                results={"type": "array", "items": {"type": "object", "required": ["ok", "ref"]}},
                summary={"type": "object"},
                dry_run={"type": "boolean"},
                rate_limit_budget={"type": "object"},
            ),
            required=["refs"],
            writes=True,
            network=True,
        )
        return [
            PaperTool(fetch, self.fetch, limits=self._fetcher.limits),
            PaperTool(batch, self.batch, limits=host_limits(self._config, BATCH_WALL_SECONDS)),
        ]

    def fetch(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Answers `paper_fetch`."""
        if arguments.get("dry_run", False):
            return self._plan(arguments["ref"])
        found = self._fetcher.fetch(arguments["ref"], call, prefer=arguments.get("prefer", "open"))
        return found.to_json()

    def batch(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Answers `paper_batch_fetch`."""
        if arguments.get("dry_run", False):
            plans = [{"ok": True, **self._plan(ref)} for ref in arguments["refs"]]
            return {"dry_run": True, "results": plans, "rate_limit_budget": RATE_LIMIT_BUDGET}
        prefer = arguments.get("prefer", "open")
        rows = fetch_batch(self._fetcher, arguments["refs"], call, prefer=prefer)
        return {"results": rows, "summary": summary(rows)}

    def _plan(self, ref: str) -> dict[str, Any]:
        return dry_run(ref, self._plugins, self._config, self._fetcher.accesses)
