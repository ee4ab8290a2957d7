"""Defines the tools that need only the paper store: info, search, recent, path and export."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.envelope import (
    PaperTool,
    Schema,
    envelope_schema,
    error_schema,
    failure,
    paper_spec,
)
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference

from .entry import SCHEMA_VERSION

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.records import Work

    from .paper_store import PaperStore, StoredPaper

#: Papers that a list has by default and at most, and references of one export.
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
MAX_EXPORTED: Final = 200

FORMATS: Final = ("bibtex", "csl-json", "ris")

_REF: Final[Schema] = {
    "description": "DOI, arXiv id, PMID or PMCID, as such or as a URL.",
    "type": "string",
    "minLength": 1,
    "maxLength": 2048,
}
_LIMIT: Final[Schema] = {
    "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT,
}  # fmt: skip
_SUMMARY: Final[Schema] = {
    "type": "object",
    "required": ["key", "title", "size_bytes", "has_pdf"],
    "properties": {
        "key": {"type": "string"},
        "title": {"type": "string"},
        "authors": {"type": "array", "items": {"type": "string"}},
        "year": {"type": "integer"},
        "venue": {"type": "string"},
        "doi": {"type": "string"},
        "arxiv_id": {"type": "string"},
        "fetched_at": {"type": "string"},
        "size_bytes": {"type": "integer"},
        "has_pdf": {"type": "boolean"},
    },
}
_SUMMARIES: Final[Schema] = {"type": "array", "items": _SUMMARY}
_ERROR: Final = error_schema(attempts=False)
_TEXT: Final[Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}


def _description(when: str, inputs: str, outputs: str, limits: str) -> str:
    return (
        f"WHEN TO USE: {when}\nINPUTS: {inputs}\nOUTPUTS: {outputs} or ok:false with error.\n"
        f"COSTS: None; no network.\nSIDE EFFECTS: None.\nLIMITS: {limits}"
    )


def make_store_tools(opened: Callable[[], PaperStore]) -> list[PaperTool]:
    """Returns the tools.

    Args:
        opened: returns the store; called with each call, so that a fault of it is a result.
    """
    tools = _StoreTools(opened)
    return [
        PaperTool(
            paper_spec(
                "paper_info",
                "Show a stored paper",
                _description(
                    "See what the paper store knows of a paper.",
                    "ref.",
                    "metadata, null if it is not stored; key; has_pdf",
                    "One ref.",
                ),
                {"ref": _REF},
                envelope_schema(
                    _ERROR,
                    ref=_TEXT,
                    key=_TEXT,
                    metadata={"type": ["object", "null"]},
                    has_pdf={"type": "boolean"},
                    schema_version=_TEXT,
                ),
                required=["ref"],
            ),
            tools.info,
        ),
        PaperTool(
            paper_spec(
                "paper_search_local",
                "Search stored papers",
                _description(
                    "Find stored papers by words of title, authors, venue or publisher.",
                    "query; every word must match, as a word's beginning, accents aside. limit.",
                    "entries, the best first",
                    f"{MAX_LIMIT} entries.",
                ),
                {"query": {"type": "string", "minLength": 1, "maxLength": 500}, "limit": _LIMIT},
                envelope_schema(_ERROR, entries=_SUMMARIES),
                required=["query"],
            ),
            tools.search,
        ),
        PaperTool(
            paper_spec(
                "paper_list_recent",
                "List recent papers",
                _description(
                    "See which papers were fetched last.",
                    "limit.",
                    "entries, the latest first",
                    f"{MAX_LIMIT} entries.",
                ),
                {"limit": _LIMIT},
                envelope_schema(_ERROR, entries=_SUMMARIES),
            ),
            tools.recent,
        ),
        PaperTool(
            paper_spec(
                "paper_pdf_path",
                "Find a stored PDF",
                _description(
                    "Get the local path of a stored PDF. Its content is not read.",
                    "ref.",
                    "path, null if none is stored",
                    "One ref.",
                ),
                {"ref": _REF},
                envelope_schema(_ERROR, ref=_TEXT, path=_TEXT_OR_NULL),
                required=["ref"],
            ),
            tools.pdf_path,
        ),
        PaperTool(
            paper_spec(
                "paper_export",
                "Export stored papers",
                _description(
                    "Cite stored papers: BibTeX, CSL-JSON or RIS.",
                    "refs; format.",
                    "entries: per ref its payload, null if it is not stored, or its error",
                    f"{MAX_EXPORTED} refs.",
                ),
                {
                    "refs": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": MAX_EXPORTED,
                        "items": {"type": "string", "maxLength": 2048},
                    },
                    "format": {"enum": list(FORMATS), "default": FORMATS[0]},
                },
                envelope_schema(
                    _ERROR,
                    format={"enum": list(FORMATS)},
                    entries={
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["ref", "ok"],
                            "properties": {
                                "ref": _TEXT,
                                "ok": {"type": "boolean"},
                                "key": _TEXT,
                                "payload": {"type": ["string", "array", "null"]},
                                "error": {"type": "object"},
                            },
                        },
                    },
                ),
                required=["refs"],
            ),
            tools.export,
        ),
    ]


class _StoreTools:
    def __init__(self, opened: Callable[[], PaperStore]) -> None:
        self._opened = opened

    def info(self, arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        ref = arguments["ref"]
        store = self._opened()
        found = store.find_any_version(parse_reference(ref))
        if found is None:
            return {"ref": ref, "metadata": None, "schema_version": SCHEMA_VERSION}
        return {
            "ref": ref,
            "key": found.key,
            "metadata": metadata_json(found),
            "has_pdf": store.pdf_path(found.key) is not None,
            "schema_version": found.entry.schema_version,
        }

    def search(self, arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        limit = int(arguments.get("limit", DEFAULT_LIMIT))
        found = self._opened().search(arguments["query"], limit)
        return {"entries": [summary.to_json() for summary in found]}

    def recent(self, arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        found = self._opened().recent(int(arguments.get("limit", DEFAULT_LIMIT)))
        return {"entries": [summary.to_json() for summary in found]}

    def pdf_path(self, arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        ref = arguments["ref"]
        store = self._opened()
        found = store.find_any_version(parse_reference(ref))
        path = None if found is None else store.pdf_path(found.key)
        return {"ref": ref, "path": None if path is None else str(path)}

    def export(self, arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        kind = arguments.get("format", FORMATS[0])
        entries = exported(self._opened(), arguments["refs"], kind)
        return {"format": kind, "entries": entries}


def exported(store: PaperStore, refs: Sequence[str], kind: str) -> list[dict[str, Any]]:
    """Returns for each reference its record in a format, null if it is not stored, or its error.

    Papers that are exported together have different citation keys. A paper that was named twice
    has one key.
    """
    from .works import work_of

    rows: list[dict[str, Any]] = []
    works: dict[str, Work] = {}
    for ref in refs:
        try:
            found = store.find_any_version(parse_reference(ref))
        except PaperError as error:
            rows.append({"ref": ref, **failure(error)})
            continue
        rows.append({"ref": ref, "ok": True, "payload": None})
        if found is not None:
            rows[-1]["key"] = found.key
            works.setdefault(found.key, work_of(found.entry))
    payloads = dict(zip(works, _payloads(list(works.values()), kind), strict=True))
    for row in rows:
        if "key" in row:
            row["payload"] = payloads[row["key"]]
    return rows


def _payloads(works: Sequence[Work], kind: str) -> list[Any]:
    from carrel.papers.export import bibtex_records, csl_items, ris_records

    if kind == "csl-json":
        return [[item] for item in csl_items(works)]
    return list(bibtex_records(works) if kind == "bibtex" else ris_records(works))


def metadata_json(paper: StoredPaper) -> dict[str, Any]:
    """Returns the members of an entry as JSON; moments as RFC 3339."""
    plain: dict[str, Any] = _plain(paper.entry.to_dict())
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such numbers
    return value
