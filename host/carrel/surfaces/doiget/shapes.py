"""Translates doiget's thirteen tools to Carrel's tools for papers.

Results have exactly the members of doiget's document. What Carrel's tools say beyond them, such as
the attempts at each source, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from carrel.errors import ArgumentError, CarrelError
from carrel.papers.envelope import failure
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.store.entry import SCHEMA_VERSION
from carrel.papers.store.safekey import safekey
from carrel.surfaces.shape import Arguments, Json, Shape, TargetMissingError

#: Characters of a refused reference that are repeated.
_SHOWN: Final = 2048
#: Caps of lists and of the citation graph; a higher value is taken as the cap.
MAX_LISTED: Final = 200
DEFAULT_LISTED: Final = 50
MAX_DEPTH, MAX_NODES, MAX_PER_PAPER = 3, 100, 20

#: A plugin → its name in the document, where that is another one.
_SOURCES: Final = {"semanticscholar": "s2"}
#: The document's names of sources, for copies and for metadata.
COPY_SOURCES: Final = (
    "crossref",
    "unpaywall",
    "arxiv",
    "openalex",
    "s2",
    "doaj",
    "oa-publisher",
    "tdm-elsevier",
    "tdm-aps",
    "tdm-springer",
)
METADATA_SOURCES: Final = ("crossref", "unpaywall", "arxiv")

#: Members of `denial_context`, and the closed list of its reasons.
_DENIAL: Final = (
    "reason", "source", "attempted", "expected", "hop_index", "cap", "actual",
)  # fmt: skip
DENIAL_REASONS: Final = (
    "redirect_not_in_allowlist",
    "insecure_scheme",
    "host_in_block_list",
    "size_cap_exceeded",
    "schema_drift",
    "capability_not_granted",
    "rate_limit_window",
    "ssrf_private_address",
    "content_type_mismatch",
)
#: Carrel's reason of a refused request → the document's.
_REASONS: Final = {
    "host_not_declared": "redirect_not_in_allowlist",
    "host_not_granted": "redirect_not_in_allowlist",
    "too_many_redirects": "redirect_not_in_allowlist",
    "malformed_url": "redirect_not_in_allowlist",
    "userinfo_in_url": "redirect_not_in_allowlist",
    "port_not_allowed": "redirect_not_in_allowlist",
    "private_address": "ssrf_private_address",
    "ip_literal": "ssrf_private_address",
}
#: Members of a plan.
_PLAN: Final = (
    "metadata_sources",
    "pdf_sources",
    "redirect_allowlists_loaded",
    "candidate_hosts_are_upper_bound",
    "target_pdf_path",
    "target_metadata_path",
    "would_append_provenance",
)


def resolved(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_resolve_paper`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    work = found["metadata"]
    licences, copies = work.get("licenses", []), work.get("open_copies", [])
    return {
        "ok": True,
        "ref": arguments["ref"],
        **_record_source(found),
        "license": licences[0]["url"] if licences else "unknown",
        "oa_url": copies[0]["url"] if copies else None,
        "metadata": work,
        "schema_version": SCHEMA_VERSION,
    }


def metadata(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_metadata_only`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    if found.get("dry_run"):
        return _planned(found)
    return {
        "ok": True,
        "ref": arguments["ref"],
        **_record_source(found),
        **_members(found, ("license", "oa_url", "metadata", "schema_version")),
    }


def fetched(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_fetch_paper`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    if found.get("dry_run"):
        return _planned(found)
    return {
        "ok": True,
        "ref": arguments["ref"],
        **_copy_source(found),
        **_members(found, ("path", "license", "size_bytes", "schema_version")),
    }


def batch(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_batch_fetch`: `denial_context` is in every failed row."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    if found.get("dry_run"):
        rows = [_planned(row) for row in found["results"]]
        return {
            "ok": True,
            "dry_run": True,
            "plans": [_members(row, ("ref", "plan", "rate_limit_budget")) for row in rows],
        }
    return {"ok": True, "results": [_row(row) for row in found["results"]]}


def _row(found: Json) -> Json:
    result = fetched({"ref": found["ref"]}, found)
    row = {"ref": result.pop("ref"), **result}
    if not row["ok"]:
        row["error"] = {**row["error"], "denial_context": row["error"].get("denial_context")}
    return row


def _planned(found: Json) -> Json:
    """Returns a plan in its envelope; `ref` is an object with the kind of identifier."""
    return {
        "ok": True,
        "dry_run": True,
        "ref": found["ref"],
        "plan": _members(found["plan"], _PLAN),
        "rate_limit_budget": found["rate_limit_budget"],
    }


def info(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_info`; `metadata` is null for a paper that is not stored."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    return {
        "ok": True,
        "ref": arguments["ref"],
        "safekey": found.get("key") or safekey(parse_reference(arguments["ref"])),
        "metadata": found["metadata"],
    }


def pdf_path(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_paper_pdf_path`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    return {
        "ok": True,
        "ref": arguments["ref"],
        "safekey": found.get("key") or safekey(parse_reference(arguments["ref"])),
        "path": found["path"],
        "pdf_exists": found["path"] is not None,
    }


def list_arguments(arguments: Arguments) -> Json:
    """Returns the arguments of a list, whose limit is between 1 and 200."""
    limit = min(arguments.get("limit") or DEFAULT_LISTED, MAX_LISTED)
    return {**arguments, "limit": limit}


def search(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_search_local`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    results = [_summary(entry) for entry in found["entries"]]
    return {
        "ok": True,
        "scope": "local",
        "query": arguments["query"],
        "count": len(results),
        "results": results,
    }


def recent(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_list_recent`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    entries = [_summary(entry) for entry in found["entries"]]
    return {"ok": True, "count": len(entries), "entries": entries}


def _summary(entry: Json) -> Json:
    return {
        "safekey": entry["key"],
        "title": entry["title"],
        "year": entry.get("year"),
        "fetched_at": entry.get("fetched_at"),
    }


def capabilities(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_capability_profile`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    return {
        "ok": True,
        "oa_enabled": True,
        "metadata_sources": [_SOURCES.get(source, source) for source in found["metadata_sources"]],
        **_members(found, ("tdm_enabled", "tdm_elsevier", "tdm_aps", "tdm_springer")),
        "rate_limit_per_sec": found["rate_limit_per_sec"],
    }


def health(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_health`."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    return _members(found, ("ok", "version", "schema_version", "store_writable"))


def graph_arguments(arguments: Arguments) -> Json:
    """Returns the arguments of the citation graph, within its caps."""
    return {
        "ref": arguments["ref"],
        "direction": "references",
        "depth": min(arguments.get("depth", MAX_DEPTH), MAX_DEPTH),
        "max_nodes": min(arguments.get("total", MAX_NODES), MAX_NODES),
        "per_paper": min(arguments.get("per_paper", MAX_PER_PAPER), MAX_PER_PAPER),
    }


def graph(arguments: Arguments, found: Json) -> Json:
    """Returns the result of `doiget_expand_citation_graph`; an edge goes to the cited paper."""
    if not found["ok"]:
        return _failed(arguments, found["error"])
    return {
        "ok": True,
        "ref": arguments["ref"],
        "seed_work_id": found["root"],
        "nodes": [_members(node, ("id", "depth")) for node in found["nodes"]],
        "edges": [{"from": edge["citing"], "to": edge["cited"]} for edge in found["edges"]],
        "truncated": found["truncated"],
        "total_visited": found["total_visited"],
    }


def export_arguments(kind: str) -> Callable[[Arguments], Json]:
    """Returns a function that adds the format of an export."""
    return lambda arguments: {**arguments, "format": kind}


def exported(member: str) -> Callable[[Arguments, Json], Json]:
    """Returns a function for the result of an export, whose records are in `member`."""

    def result(arguments: Arguments, found: Json) -> Json:
        if not found["ok"]:
            return _failed(arguments, found["error"])
        return {"ok": True, "entries": [_exported(entry, member) for entry in found["entries"]]}

    return result


def _exported(entry: Json, member: str) -> Json:
    if not entry["ok"]:
        return {"ref": entry["ref"], "error": _error(entry["error"])}
    key = entry.get("key") or safekey(parse_reference(entry["ref"]))
    return {"ref": entry["ref"], "safekey": key, member: entry["payload"]}


def failed(arguments: Arguments, error: CarrelError) -> Json:
    """Returns the envelope of a failure outside Carrel's tool, such as refused arguments."""
    if isinstance(error, ArgumentError):
        error = PaperError("INVALID_REF", error.message)
    elif isinstance(error, TargetMissingError):
        error = PaperError("CAPABILITY_DENIED", error.message)
    return _failed(arguments, failure(error)["error"])


def failed_single(arguments: Arguments, error: CarrelError) -> Json:
    """Returns the envelope of such a failure of a tool for one paper, always with `ref`."""
    return failed({"ref": "", **arguments}, error)


def _failed(arguments: Arguments, error: Json) -> Json:
    """Returns the envelope of a failure, with `ref` where the arguments have one."""
    envelope: Json = {"ok": False}
    if "ref" in arguments:
        envelope["ref"] = arguments["ref"][:_SHOWN] if isinstance(arguments["ref"], str) else ""
    return {**envelope, "error": _error(error)}


def _error(error: Json) -> Json:
    """Returns an error with the document's members; `denial_context` only if there is one."""
    members = _members(error, ("code", "message"))
    if error.get("denial_context") is not None:
        members["denial_context"] = denial(error["denial_context"])
    return members


def denial(context: Json) -> Json:
    """Returns a `denial_context` with the document's members and reasons."""
    reason = context.get("reason")
    if reason not in DENIAL_REASONS:
        reason = _REASONS.get(str(reason), "capability_not_granted")
    members = _members({**context, "reason": reason}, _DENIAL)
    if "attempted" not in members and "url" in context:
        members["attempted"] = context["url"]
    return members


def _copy_source(found: Json) -> Json:
    """Returns `source` and `resolver_profile` of a copy.

    `oa-publisher`, the document's name for copies at other hosts, is that of a source that the
    document does not know.
    """
    name = _SOURCES.get(found["source"], found["source"])
    name = name if name in COPY_SOURCES else "oa-publisher"
    return {"source": name, "resolver_profile": name}


def _record_source(found: Json) -> Json:
    """Returns `source` and `resolver_profile` of metadata: the first source that the document
    knows.

    If it knows none of those that have the work, it is the plugin's name.
    """
    attempts = found.get("attempts", [])
    having = [
        attempt["source"] for attempt in attempts if attempt["outcome"] == "consulted_resolved"
    ]
    candidates = [found["source"], *found.get("sources", []), *having]
    name = next(
        (candidate for candidate in candidates if candidate in METADATA_SOURCES), candidates[0]
    )
    return {"source": name, "resolver_profile": name}


def _members(value: Mapping[str, Any], names: Iterable[str]) -> Json:
    return {name: value[name] for name in names if name in value}


SHAPES: Final[Mapping[str, Shape]] = {
    "doiget_resolve_paper": Shape(result=resolved, failure=failed_single),
    "doiget_fetch_paper": Shape(result=fetched, failure=failed_single),
    "doiget_metadata_only": Shape(result=metadata, failure=failed_single),
    "doiget_batch_fetch": Shape(result=batch, failure=failed),
    "doiget_info": Shape(result=info, failure=failed_single),
    "doiget_search_local": Shape(list_arguments, search, failed),
    "doiget_list_recent": Shape(list_arguments, recent, failed),
    "doiget_paper_pdf_path": Shape(result=pdf_path, failure=failed_single),
    "doiget_capability_profile": Shape(result=capabilities, failure=failed),
    "doiget_health": Shape(result=health, failure=failed),
    "doiget_expand_citation_graph": Shape(graph_arguments, graph, failed_single),
    "doiget_bibtex_export": Shape(export_arguments("bibtex"), exported("bibtex"), failed),
    "doiget_csl_export": Shape(export_arguments("csl-json"), exported("csl"), failed),
}
