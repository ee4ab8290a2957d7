"""Tests the surface `doiget` against its document, sentence by sentence, with the official client.

`requirements_of_surfaces.py` lists the sentences. The server has a store as doiget leaves it, and
answers from recorded exchanges of invented papers.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

import carrel
from carrel.config.model import BUILTIN_PLUGINS
from carrel.errors import SourceError
from carrel.papers.errors import PAPER_CODES, PaperError
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.surfaces import find_surface
from carrel.surfaces.doiget import shapes
from support.stdio_client import StdioClient
from support.surfaces import Answers, ask, recording, serve_command

pytestmark = pytest.mark.long("surfaces")

PACKAGE = Path(carrel.__file__).parent
STORE = Path(__file__).parents[1] / "host" / "papers" / "doiget_store"
STORED, PAPER, UNKNOWN, E_PRINT = "10.1234/desks", "10.1234/desk-1", "10.1234/none", "2401.12345"
CLOSED, ELSEWHERE = "10.1234/closed", "10.1234/elsewhere"
PDF = b"%PDF-1.7\n% one desk\n"
#: References that the document's pattern refuses.
REFUSED = ["desks", "10.1234", "10.1234/a b", "hep-ex/0307015", "https://doi.org/10.1234/desks"]

TOOLS: Final = [
    "doiget_resolve_paper",
    "doiget_fetch_paper",
    "doiget_metadata_only",
    "doiget_batch_fetch",
    "doiget_info",
    "doiget_search_local",
    "doiget_list_recent",
    "doiget_paper_pdf_path",
    "doiget_capability_profile",
    "doiget_health",
    "doiget_expand_citation_graph",
    "doiget_bibtex_export",
    "doiget_csl_export",
]
EXCLUDED: Final = [
    "doiget_delete_paper",
    "doiget_set_credentials",
    "doiget_run_shell",
    "doiget_fetch_url",
]
WITHOUT_DRY_RUN: Final = {
    "doiget_info": {"ref": STORED},
    "doiget_search_local": {"query": "desks"},
    "doiget_list_recent": {},
    "doiget_paper_pdf_path": {"ref": STORED},
    "doiget_capability_profile": {},
    "doiget_health": {},
    "doiget_resolve_paper": {"ref": PAPER},
}
SECTIONS: Final = ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]

#: Sections 4 and 11, verbatim.
REF: Final = {
    "type": "string",
    "minLength": 7,
    "maxLength": 256,
    "pattern": r"^(10\.\d{4,9}/[A-Za-z0-9._/()-]+|arXiv:\d{4}\.\d{4,5}|\d{4}\.\d{4,5})$",
}
FETCH_DESCRIPTION: Final = (
    "WHEN TO USE: User wants to download a paper PDF given a DOI or arXiv id.\n"
    "INPUTS: ref: DOI ('10.1234/abc') or arXiv id ('2401.12345').\n"
    "OUTPUTS: { ok: true, ref, source, path, license, size_bytes } "
    "or { ok: false, error: { code, message } }.\n"
    "COSTS: 1-3 s network call. May fail if not Open Access.\n"
    "SIDE EFFECTS: Writes PDF to the store. Appends a row to the provenance log.\n"
    "LIMITS: Max 5 fetches/sec. Use doiget_batch_fetch for >5 refs."
)
METADATA_DESCRIPTION: Final = (
    "WHEN TO USE: User wants metadata for a DOI / arXiv id without paying for or being noticed by "
    "a PDF download.\n"
    "INPUTS: ref (DOI or arXiv id), dry_run (optional bool).\n"
    "OUTPUTS: { ok: true, ref, source, license?, oa_url:string|null, metadata } "
    "or { ok:false, error }.\n"
    "COSTS: 1-2 s metadata round-trip. No publisher fetch.\n"
    "SIDE EFFECTS: Appends a provenance row tagged 'metadata-only' (unless dry_run). "
    "Writes the metadata TOML to the store.\n"
    "LIMITS: Subject to the same rate cap as fetch_paper (5/sec). "
    "The OA URL is reported but never followed."
)


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns the schema of an object with these members and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


TEXT: Final = {"type": "string", "minLength": 1}
TEXT_OR_NULL: Final = {"type": ["string", "null"]}
YES: Final = {"const": True}
NO: Final = {"const": False}
NUMBER: Final = {"type": "integer"}
TEXTS: Final = {"type": "array", "items": TEXT}
DENIAL: Final = closed(
    {"reason": {"enum": list(shapes.DENIAL_REASONS)}},
    {
        "source": TEXT,
        "attempted": TEXT,
        "expected": TEXTS,
        "hop_index": NUMBER,
        "cap": NUMBER,
        "actual": NUMBER,
    },
)
ERROR: Final = closed(
    {"code": {"enum": list(PAPER_CODES)}, "message": TEXT}, {"denial_context": DENIAL}
)
ROW_ERROR: Final = closed(
    {
        "code": {"enum": list(PAPER_CODES)},
        "message": TEXT,
        "denial_context": {"anyOf": [DENIAL, {"type": "null"}]},
    }
)
FAILURE: Final = closed({"ok": NO, "ref": {"type": "string"}, "error": ERROR})
PLAN: Final = closed(
    {
        "metadata_sources": TEXTS,
        "pdf_sources": {
            "type": "array",
            "items": closed({"key": TEXT, "candidate_hosts": TEXTS}),
        },
        "redirect_allowlists_loaded": TEXTS,
        "candidate_hosts_are_upper_bound": YES,
        "target_pdf_path": TEXT,
        "target_metadata_path": TEXT,
        "would_append_provenance": {"type": "boolean"},
    }
)
BUDGET: Final = closed({"global_per_sec": {"const": 5.0}, "per_source_min_gap_ms": {"const": 200}})
REF_SHAPE: Final = {"anyOf": [closed({"doi": TEXT}), closed({"arxiv": TEXT})]}
DRY_RUN: Final = closed(
    {"ok": YES, "dry_run": YES, "ref": REF_SHAPE, "plan": PLAN, "rate_limit_budget": BUDGET}
)
FETCHED: Final = closed(
    {
        "ok": YES,
        "ref": TEXT,
        "source": {"enum": list(shapes.COPY_SOURCES)},
        "resolver_profile": TEXT,
        "path": TEXT,
        "license": TEXT,
        "size_bytes": NUMBER,
        "schema_version": TEXT,
    }
)
METADATA: Final = closed(
    {
        "ok": YES,
        "ref": TEXT,
        "source": {"enum": list(shapes.METADATA_SOURCES)},
        "resolver_profile": TEXT,
        "license": TEXT,
        "oa_url": TEXT_OR_NULL,
        "metadata": {"type": "object"},
        "schema_version": TEXT,
    }
)
PROFILE: Final = closed(
    {
        "ok": YES,
        "oa_enabled": YES,
        "metadata_sources": TEXTS,
        "tdm_enabled": {"type": "boolean"},
        "tdm_elsevier": {"type": "boolean"},
        "tdm_aps": {"type": "boolean"},
        "tdm_springer": {"type": "boolean"},
        "rate_limit_per_sec": {"const": 5.0},
    }
)
HEALTH: Final = closed(
    {
        "ok": YES,
        "version": TEXT,
        "schema_version": TEXT,
        "store_writable": {"type": "boolean"},
    }
)
SUMMARY: Final = closed(
    {
        "safekey": TEXT,
        "title": TEXT,
        "year": {"type": ["integer", "null"]},
        "fetched_at": TEXT_OR_NULL,
    }
)


def log_rows(folder: Path) -> list[dict[str, Any]]:
    """Returns the rows of the provenance log."""
    log = (folder / "data" / "provenance" / "access.log").read_text("utf-8")
    return [json.loads(line) for line in log.splitlines()]


def conforms(schema: dict[str, Any], value: Any) -> bool:
    """Returns whether a value satisfies a schema; shows the faults."""
    faults = validation_faults(compile_schema(schema), value)
    assert faults == [], value
    return True


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "resolve": ("doiget_resolve_paper", {"ref": PAPER}),
    "resolve e-print": ("doiget_resolve_paper", {"ref": f"arXiv:{E_PRINT}"}),
    "resolve unknown": ("doiget_resolve_paper", {"ref": UNKNOWN}),
    "resolve unreachable": ("doiget_resolve_paper", {"ref": "10.1234/unrecorded"}),
    "info before": ("doiget_info", {"ref": PAPER}),
    "metadata": ("doiget_metadata_only", {"ref": PAPER, "dry_run": False}),
    "metadata e-print": ("doiget_metadata_only", {"ref": E_PRINT}),
    "metadata unknown": ("doiget_metadata_only", {"ref": UNKNOWN}),
    "path before": ("doiget_paper_pdf_path", {"ref": PAPER}),
    "info after": ("doiget_info", {"ref": PAPER}),
    "info stored": ("doiget_info", {"ref": STORED}),
    "info unknown": ("doiget_info", {"ref": UNKNOWN}),
    "search": ("doiget_search_local", {"query": "muller", "limit": 5}),
    "search nothing": ("doiget_search_local", {"query": "qwzx"}),
    "recent": ("doiget_list_recent", {"limit": 1}),
    "recent zero": ("doiget_list_recent", {"limit": 0}),
    "recent many": ("doiget_list_recent", {"limit": 5000}),
    "path": ("doiget_paper_pdf_path", {"ref": STORED}),
    "path unknown": ("doiget_paper_pdf_path", {"ref": UNKNOWN}),
    "bibtex": ("doiget_bibtex_export", {"refs": [STORED, UNKNOWN, "desks"]}),
    "csl": ("doiget_csl_export", {"refs": [STORED, UNKNOWN, "desks"]}),
    "bibtex many": ("doiget_bibtex_export", {"refs": [STORED] * 201}),
    "profile": ("doiget_capability_profile", {}),
    "health": ("doiget_health", {}),
    "plan": ("doiget_fetch_paper", {"ref": "10.1234/planned", "dry_run": True}),
    "plan e-print": ("doiget_fetch_paper", {"ref": "arXiv:2401.00001", "dry_run": True}),
    "plan metadata": ("doiget_metadata_only", {"ref": "10.1234/planned", "dry_run": True}),
    "plan batch": (
        "doiget_batch_fetch",
        {"refs": ["10.1234/planned", "2401.00001"], "dry_run": True},
    ),
    "fetch": ("doiget_fetch_paper", {"ref": PAPER, "dry_run": False}),
    "fetch again": ("doiget_fetch_paper", {"ref": PAPER}),
    "fetch stored": ("doiget_fetch_paper", {"ref": STORED}),
    "fetch unknown": ("doiget_fetch_paper", {"ref": UNKNOWN}),
    "fetch closed": ("doiget_fetch_paper", {"ref": CLOSED}),
    "fetch denied": ("doiget_fetch_paper", {"ref": ELSEWHERE}),
    "batch": (
        "doiget_batch_fetch",
        {"refs": [PAPER, UNKNOWN, CLOSED, ELSEWHERE, E_PRINT], "dry_run": False},
    ),
    "batch of too many": ("doiget_batch_fetch", {"refs": [PAPER] * 101}),
    "batch with a fault": ("doiget_batch_fetch", {"refs": [PAPER, "desks"]}),
    "graph": (
        "doiget_expand_citation_graph",
        {"ref": PAPER, "depth": 1, "total": 10, "per_paper": 2},
    ),
    "graph above the caps": (
        "doiget_expand_citation_graph",
        {"ref": CLOSED, "depth": 9, "total": 1000, "per_paper": 100},
    ),
    "graph of an e-print": ("doiget_expand_citation_graph", {"ref": E_PRINT}),
    "no ref": ("doiget_info", {}),
    "ref of another type": ("doiget_fetch_paper", {"ref": 7}),
    "other argument": ("doiget_list_recent", {"limt": 3}),
    **{f"refused {ref}": ("doiget_resolve_paper", {"ref": ref}) for ref in REFUSED},
    **{
        f"dry {tool}": (tool, {**arguments, "dry_run": True})
        for tool, arguments in WITHOUT_DRY_RUN.items()
    },
}
WORK = {
    "DOI": PAPER,
    "type": "journal-article",
    "title": ["A desk for one"],
    "author": [{"given": "Anna", "family": "Müller", "sequence": "first", "affiliation": []}],
    "container-title": ["Annals of Desks"],
    "issued": {"date-parts": [[2024, 5]]},
    "license": [
        {
            "URL": "https://creativecommons.org/licenses/by/4.0/",
            "start": {"date-parts": [[2024, 5, 1]]},
            "delay-in-days": 0,
            "content-version": "vor",
        }
    ],
}
COPY = "https://repository.example.org/desk-1.pdf"
PDFS = {PAPER: COPY, ELSEWHERE: "https://elsewhere.example.net/desk.pdf", CLOSED: None}


def crossref(doi: str) -> bytes:
    """Returns Crossref's record of a paper."""
    message = {**WORK, "DOI": doi}
    if doi == PAPER:
        cited = [STORED, "10.1234/desk-2", "10.1234/desk-3"]
        message["reference"] = [{"key": one, "DOI": one} for one in cited]
    return json.dumps({"status": "ok", "message-type": "work", "message": message}).encode()


def works(dois: Iterable[str]) -> bytes:
    """Returns Crossref's list of papers."""
    items = [{**WORK, "DOI": doi} for doi in dois]
    message = {"total-results": len(items), "items-per-page": 4, "items": items}
    return json.dumps({"status": "ok", "message-type": "work-list", "message": message}).encode()


def unpaywall(doi: str) -> bytes:
    """Returns Unpaywall's record of a paper, with its copy in `PDFS`."""
    url = PDFS[doi]
    location = {
        "url": url,
        "url_for_pdf": url,
        "url_for_landing_page": None,
        "license": "cc-by",
        "version": "publishedVersion",
        "host_type": "repository",
    }
    return json.dumps(
        {
            "doi": doi,
            "doi_url": f"https://doi.org/{doi}",
            "title": "A desk for one",
            "genre": "journal-article",
            "is_oa": url is not None,
            "oa_status": "green" if url else "closed",
            "best_oa_location": location if url else None,
            "first_oa_location": location if url else None,
            "oa_locations": [location] if url else [],
            "journal_name": "Annals of Desks",
            "year": 2024,
            "z_authors": [],
        }
    ).encode()


FEED = f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<title>arXiv Query</title><opensearch:totalResults>1</opensearch:totalResults>
<opensearch:startIndex>0</opensearch:startIndex><opensearch:itemsPerPage>1</opensearch:itemsPerPage>
<entry><id>http://arxiv.org/abs/{E_PRINT}v1</id><title>A desk in advance</title>
<summary>Short.</summary><published>2024-01-20T00:00:00Z</published>
<updated>2024-01-20T00:00:00Z</updated><author><name>A. Reader</name></author>
<link href="http://arxiv.org/abs/{E_PRINT}v1" rel="alternate" type="text/html"/>
<link href="http://arxiv.org/pdf/{E_PRINT}v1" rel="related" title="pdf"/>
<arxiv:primary_category term="cs.DL"/><category term="cs.DL"/></entry></feed>"""
API = "https://api.crossref.org/works/10.1234%2F"
BATCH_URL = (
    f"https://api.crossref.org/works?filter=doi:{UNKNOWN},doi:{CLOSED},doi:{ELSEWHERE}&rows=3"
)
EXCHANGES = [
    *((f"{API}{doi.partition('/')[2]}", "application/json", crossref(doi)) for doi in PDFS),
    (f"{API}none", "", b"Resource not found."),
    (BATCH_URL, "application/json", works(PDFS)),
    (
        f"https://export.arxiv.org/api/query?id_list={E_PRINT}&start=0&max_results=1",
        "application/atom+xml",
        FEED.encode(),
    ),
    *((f"https://api.unpaywall.org/v2/{doi}", "application/json", unpaywall(doi)) for doi in PDFS),
]
FILES = {COPY: PDF, f"https://export.arxiv.org/pdf/{E_PRINT}v1": PDF}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doiget")


def settings_of(folder: Path, code_folder: Path) -> dict[str, Any]:
    """Returns a configuration with the surface and three sources, whose files are in a folder."""
    used = ("crossref", "arxiv", "unpaywall")
    return {
        "cache_dir": str(code_folder),
        "data_dir": str(folder / "data"),
        "papers": {
            "folder": str(folder / "store"),
            "repository_hosts": ["repository.example.org"],
        },
        "fetch": {"contact": "reader@example.org"},
        "server": {"surface": "doiget"},
        "plugins": {name: {"enabled": name in used} for name in BUILTIN_PLUGINS},
    }


@pytest.fixture(scope="module")
def answers(code_folder: Path, folder: Path) -> Answers:
    replay = recording(folder / "recording", EXCHANGES, files=FILES)
    shutil.copytree(STORE, folder / "store")
    command = serve_command(folder, settings_of(folder, code_folder), "--replay", str(replay))
    return ask(command, CALLS)


@pytest.mark.requirement("doiget:tools")
def test_exactly_the_thirteen_tools_are_listed(answers: Answers) -> None:
    assert list(answers.tools) == TOOLS
    assert (answers.listed, answers.prompts) == ({}, False)


@pytest.mark.requirement("doiget:excluded")
def test_excluded_tools_are_never_listed(answers: Answers) -> None:
    assert not set(EXCLUDED) & set(answers.tools)
    words = ("delete", "remove", "credential", "shell", "url", "secret", "key")
    assert not [tool for tool in TOOLS for word in words if word in tool]
    for tool in find_surface("doiget").tools.values():
        assert not tool.spec.destructive
        names = set(tool.spec.input_schema["properties"])
        assert not names & {"url", "uri", "path", "command", "host"}, tool.spec.name


@pytest.mark.requirement("doiget:names")
def test_names_are_in_snake_case_with_the_prefix() -> None:
    assert all(re.fullmatch("doiget(_[a-z]+)+", tool) for tool in TOOLS)


@pytest.mark.requirement("doiget:descriptions")
@pytest.mark.parametrize("tool", TOOLS)
def test_descriptions_have_six_sections(answers: Answers, tool: str) -> None:
    lines = answers.tools[tool].description.split("\n")
    assert [line.partition(": ")[0] for line in lines] == SECTIONS
    assert all(line.partition(": ")[2].strip() for line in lines)


@pytest.mark.requirement("doiget:fetch-spec")
def test_the_fetch_tool_is_as_in_the_document(answers: Answers) -> None:
    tool = answers.tools["doiget_fetch_paper"]
    assert tool.description == FETCH_DESCRIPTION
    schema = tool.input_schema
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == (
        "object",
        ["ref"],
        False,
    )
    assert schema["properties"]["ref"] == REF


@pytest.mark.requirement("doiget:metadata-spec")
@pytest.mark.requirement("doiget:dry-run-default")
def test_the_metadata_tool_is_as_in_the_document(answers: Answers) -> None:
    tool = answers.tools["doiget_metadata_only"]
    assert tool.description == METADATA_DESCRIPTION
    assert tool.input_schema == {
        "type": "object",
        "required": ["ref"],
        "properties": {"ref": REF, "dry_run": {"type": "boolean", "default": False}},
        "additionalProperties": False,
    }
    for name in ("doiget_fetch_paper", "doiget_batch_fetch"):
        schema = answers.tools[name].input_schema
        assert schema["properties"]["dry_run"] == {"type": "boolean", "default": False}
        assert "dry_run" not in schema["required"]


@pytest.mark.requirement("doiget:input-schemas")
def test_arguments_are_validated_by_the_input_schema(answers: Answers) -> None:
    for tool in answers.tools.values():
        assert tool.input_schema["additionalProperties"] is False
    for name in ("no ref", "ref of another type", "other argument", "bibtex many"):
        assert answers.data(name)["error"]["code"] == "INVALID_REF", name
    for ref in REFUSED:
        refused = answers.data(f"refused {ref}")
        assert (refused["ok"], refused["ref"], refused["error"]["code"]) == (
            False,
            ref,
            "INVALID_REF",
        )


@pytest.mark.requirement("doiget:envelopes")
@pytest.mark.requirement("doiget:no-throw")
@pytest.mark.requirement("doiget:error-codes")
def test_every_call_is_answered_in_an_envelope(answers: Answers) -> None:
    assert set(answers.results) == set(CALLS)
    for name in CALLS:
        envelope = answers.data(name)  # no protocol error, and `isError` is not set
        if envelope["ok"]:
            assert "error" not in envelope
        else:
            assert envelope["error"]["code"] in PAPER_CODES
            assert envelope["error"]["message"]


@pytest.mark.requirement("doiget:error-codes")
def test_every_code_is_reported_unchanged() -> None:
    for code in PAPER_CODES:
        failure = shapes.failed_single({"ref": PAPER}, PaperError(code, "what happened"))
        assert conforms(FAILURE, failure)
        assert failure["error"]["code"] == code
    other = shapes.failed_single(
        {"ref": PAPER}, SourceError("upstream_error", "down", plugin="x", tool="y")
    )
    assert (conforms(FAILURE, other), other["error"]["code"]) == (True, "NETWORK_ERROR")


@pytest.mark.requirement("doiget:resolve-paper")
def test_a_reference_is_resolved_to_metadata(answers: Answers, folder: Path) -> None:
    resolved = answers.data("resolve")
    assert conforms(METADATA, resolved)
    assert (resolved["ref"], resolved["source"], resolved["resolver_profile"]) == (
        PAPER,
        "crossref",
        "crossref",
    )
    assert resolved["metadata"]["title"] == "A desk for one"
    assert resolved["license"] == "https://creativecommons.org/licenses/by/4.0/"
    e_print = answers.data("resolve e-print")
    assert conforms(METADATA, e_print)
    assert (e_print["source"], e_print["license"]) == ("arxiv", "unknown")
    assert answers.data("info before")["metadata"] is None, "nothing is kept"


@pytest.mark.requirement("doiget:fetch-failure")
@pytest.mark.requirement("doiget:denial-single")
def test_failures_of_single_papers_have_no_denial_context_unless_denied(answers: Answers) -> None:
    for name, code in (
        ("resolve unknown", "NOT_FOUND"),
        ("resolve unreachable", "NETWORK_ERROR"),
        ("metadata unknown", "NOT_FOUND"),
    ):
        failure = answers.data(name)
        assert conforms(FAILURE, failure)
        assert failure["error"]["code"] == code
        assert "denial_context" not in failure["error"]
    denied = {"reason": "insecure_scheme", "attempted": "http://a.example/", "expected": ["https"]}
    found = {"ok": False, "error": {"code": "CAPABILITY_DENIED", "message": "no", "attempts": []}}
    found["error"]["denial_context"] = denied  # type: ignore[index]
    for shape in (shapes.resolved, shapes.metadata, shapes.fetched):
        failure = shape({"ref": PAPER}, found)
        assert conforms(FAILURE, failure)
        assert failure["error"]["denial_context"] == denied


@pytest.mark.requirement("doiget:denial-context")
@pytest.mark.parametrize(
    ("reason", "reported"),
    [
        ("host_not_granted", "redirect_not_in_allowlist"),
        ("host_not_declared", "redirect_not_in_allowlist"),
        ("private_address", "ssrf_private_address"),
        ("ip_literal", "ssrf_private_address"),
        ("insecure_scheme", "insecure_scheme"),
        ("offline", "capability_not_granted"),
        ("size_cap_exceeded", "size_cap_exceeded"),
    ],
)
def test_reasons_of_a_denial_are_those_of_the_document(reason: str, reported: str) -> None:
    context = {"reason": reason, "url": "https://a.example/x", "grant": "plugins.x", "cap": 5}
    found = shapes.denial(context)
    assert conforms(DENIAL, found)
    assert found == {"reason": reported, "cap": 5, "attempted": "https://a.example/x"}


@pytest.mark.requirement("doiget:denial-expected")
@pytest.mark.requirement("doiget:denial-written")
def test_an_empty_allowlist_is_reported_and_an_absent_one_is_not() -> None:
    plain = {"reason": "redirect_not_in_allowlist"}
    assert shapes.denial(plain) == plain
    for written in ({**plain, "expected": []}, {**plain, "expected": ["a.example"]}):
        assert json.loads(json.dumps(shapes.denial(written))) == written


@pytest.mark.requirement("doiget:info")
def test_the_stores_metadata_is_returned(answers: Answers) -> None:
    schema = closed({"ok": YES, "ref": TEXT, "safekey": TEXT, "metadata": {}})
    stored = answers.data("info stored")
    assert conforms(schema, stored)
    assert stored["safekey"] == "doi_10.1234_desks"
    assert stored["metadata"]["title"] == "How many desks? An inventory"
    assert stored["metadata"]["doiget"]["license"] == "CC-BY-4.0"
    unknown = answers.data("info unknown")
    assert conforms(schema, unknown)
    assert (unknown["safekey"], unknown["metadata"]) == ("doi_10.1234_none", None)


@pytest.mark.requirement("doiget:search-local")
def test_titles_authors_and_venues_are_searched(answers: Answers) -> None:
    rows = {"type": "array", "items": SUMMARY}
    schema = closed(
        {"ok": YES, "scope": {"const": "local"}, "query": TEXT, "count": NUMBER, "results": rows}
    )
    found = answers.data("search")
    assert conforms(schema, found)
    assert {"doi_10.1234_desks"} <= {one["safekey"] for one in found["results"]}
    assert found["count"] == len(found["results"])
    assert answers.data("search nothing")["results"] == []


@pytest.mark.requirement("doiget:list-recent")
def test_the_last_entries_are_listed(answers: Answers) -> None:
    rows = {"type": "array", "items": SUMMARY}
    schema = closed({"ok": YES, "count": NUMBER, "entries": rows})
    for name in ("recent", "recent zero", "recent many"):
        assert conforms(schema, answers.data(name))
    assert answers.data("recent")["count"] == 1
    assert answers.data("recent zero") == answers.data("recent many")
    times = [one["fetched_at"] or "" for one in answers.data("recent many")["entries"]]
    assert times == sorted(times, reverse=True)


@pytest.mark.requirement("doiget:pdf-path")
def test_the_path_of_a_stored_pdf_is_returned(answers: Answers, folder: Path) -> None:
    found = answers.data("path")
    assert found == {
        "ok": True,
        "ref": STORED,
        "safekey": "doi_10.1234_desks",
        "path": str(folder / "store" / "doi_10.1234_desks.pdf"),
        "pdf_exists": True,
    }
    assert answers.data("path unknown")["path"] is None
    assert answers.data("path unknown")["pdf_exists"] is False


@pytest.mark.requirement("doiget:bibtex-export")
def test_entries_are_exported_as_bibtex(answers: Answers) -> None:
    stored, unknown, refused = answers.data("bibtex")["entries"]
    assert stored["bibtex"].startswith("@article{")
    assert "10.1234/desks" in stored["bibtex"]
    assert unknown == {"ref": UNKNOWN, "safekey": "doi_10.1234_none", "bibtex": None}
    assert (refused["ref"], refused["error"]["code"]) == ("desks", "INVALID_REF")


@pytest.mark.requirement("doiget:csl-export")
def test_entries_are_exported_as_csl_json(answers: Answers) -> None:
    stored, unknown, refused = answers.data("csl")["entries"]
    [item] = stored["csl"]
    assert (item["type"], item["DOI"]) == ("article-journal", STORED)
    assert unknown["csl"] is None
    assert refused["error"]["code"] == "INVALID_REF"


@pytest.mark.requirement("doiget:metadata-only")
@pytest.mark.requirement("doiget:metadata-success")
@pytest.mark.requirement("doiget:metadata-sources")
@pytest.mark.requirement("doiget:resolver-profile")
def test_metadata_has_the_members_of_the_document(answers: Answers) -> None:
    metadata = answers.data("metadata")
    assert conforms(METADATA, metadata)
    assert (metadata["source"], metadata["resolver_profile"]) == ("crossref", "crossref")
    assert metadata["schema_version"] == "1.0"
    assert answers.data("metadata e-print")["source"] == "arxiv"


@pytest.mark.requirement("doiget:metadata-oa-url")
@pytest.mark.requirement("doiget:metadata-no-pdf")
def test_the_open_copy_is_named_and_never_followed(answers: Answers, folder: Path) -> None:
    metadata = answers.data("metadata")
    assert (metadata["ok"], metadata["oa_url"], metadata["license"]) == (True, COPY, "cc-by")
    # The store had no PDF when metadata was all that had been asked for.
    assert answers.data("path before")["path"] is None
    rows = log_rows(folder)
    before = rows[: [row["event"] for row in rows].index("fetch")]
    assert {row["capability"] for row in before if row.get("ref") == PAPER} == {"metadata"}


@pytest.mark.requirement("doiget:metadata-posture")
def test_no_code_of_metadata_reaches_a_download() -> None:
    for path in (PACKAGE / "papers" / "resolve").rglob("*.py"):
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names |= {str(node.module), *(one.name for one in node.names)}
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
        assert not [one for one in names if "fetching" in one or "download" in one.lower()], path


@pytest.mark.requirement("doiget:metadata-written")
def test_metadata_is_kept_with_a_row_in_the_log(answers: Answers, folder: Path) -> None:
    assert answers.data("info after")["metadata"]["title"] == "A desk for one"
    assert (folder / "store" / ".metadata" / "doi_10.1234_desk-1.toml").is_file()
    row = next(row for row in log_rows(folder) if row.get("ref") == PAPER)
    assert row["capability"] == "metadata"
    assert row["store_path"] == ".metadata/doi_10.1234_desk-1.toml"


@pytest.mark.requirement("doiget:dry-run-refused")
@pytest.mark.parametrize("tool", WITHOUT_DRY_RUN)
def test_dry_run_is_refused_where_it_does_not_apply(answers: Answers, tool: str) -> None:
    refused = answers.data(f"dry {tool}")
    assert (refused["ok"], refused["error"]["code"]) == (False, "INVALID_REF")
    assert "dry_run" in refused["error"]["message"]


@pytest.mark.requirement("doiget:fetch-paper")
@pytest.mark.requirement("doiget:fetch-success")
@pytest.mark.requirement("doiget:resolver-profile")
def test_a_paper_is_downloaded_to_the_store(answers: Answers, folder: Path) -> None:
    fetched = answers.data("fetch")
    assert conforms(FETCHED, fetched)
    path = folder / "store" / "doi_10.1234_desk-1.pdf"
    assert fetched == {
        "ok": True,
        "ref": PAPER,
        "source": "unpaywall",
        "resolver_profile": "unpaywall",
        "path": str(path),
        "license": "cc-by",
        "size_bytes": len(PDF),
        "schema_version": "1.0",
    }
    assert path.read_bytes() == PDF
    assert answers.data("fetch again") == fetched
    stored = answers.data("fetch stored")
    assert conforms(FETCHED, stored)
    assert (stored["source"], stored["license"]) == ("unpaywall", "CC-BY-4.0")
    assert {"fetch", "store_write"} <= {row["event"] for row in log_rows(folder)}


@pytest.mark.requirement("doiget:fetch-failure")
@pytest.mark.requirement("doiget:denial-context")
def test_a_paper_that_cannot_be_downloaded_is_a_failure(answers: Answers) -> None:
    for name, code in (
        ("fetch unknown", "NOT_FOUND"),
        ("fetch closed", "NO_OA_AVAILABLE"),
        ("fetch denied", "CAPABILITY_DENIED"),
    ):
        failure = answers.data(name)
        assert conforms(FAILURE, failure)
        assert failure["error"]["code"] == code
    denial = answers.data("fetch denied")["error"]["denial_context"]
    assert denial["reason"] == "redirect_not_in_allowlist"
    assert denial["attempted"] == "elsewhere.example.net"
    assert "denial_context" not in answers.data("fetch closed")["error"]


@pytest.mark.requirement("doiget:batch-fetch")
@pytest.mark.requirement("doiget:denial-batch")
def test_a_batch_has_a_row_for_each_reference(answers: Answers, folder: Path) -> None:
    batch = answers.data("batch")
    assert set(batch) == {"ok", "results"}
    refs = CALLS["batch"][1]["refs"]
    assert [row["ref"] for row in batch["results"]] == refs
    codes = [row["error"]["code"] if not row["ok"] else None for row in batch["results"]]
    assert codes == [None, "NOT_FOUND", "NO_OA_AVAILABLE", "CAPABILITY_DENIED", None]
    for row in batch["results"]:
        if row["ok"]:
            assert conforms(FETCHED, row)
        else:
            assert conforms(closed({"ref": TEXT, "ok": NO, "error": ROW_ERROR}), row)
            denied = row["error"]["code"] == "CAPABILITY_DENIED"
            assert (row["error"]["denial_context"] is not None) == denied
    assert (folder / "store" / "arxiv_2401.12345v1.pdf").read_bytes() == PDF


@pytest.mark.requirement("doiget:batch-fetch")
def test_a_batch_of_too_many_or_with_a_fault_is_refused_as_a_whole(answers: Answers) -> None:
    schema = answers.tools["doiget_batch_fetch"].input_schema["properties"]["refs"]
    assert (schema["maxItems"], schema["items"]) == (100, REF)
    for name in ("batch of too many", "batch with a fault"):
        refused = answers.data(name)
        assert (refused["ok"], refused["error"]["code"]) == (False, "INVALID_REF")
        assert "results" not in refused


@pytest.mark.requirement("doiget:dry-run-envelope")
@pytest.mark.requirement("doiget:dry-run-upper-bound")
def test_a_dry_run_is_a_plan_in_its_envelope(answers: Answers, folder: Path) -> None:
    for name in ("plan", "plan e-print", "plan metadata"):
        assert conforms(DRY_RUN, answers.data(name))
    envelope = answers.data("plan")
    assert envelope["ref"] == {"doi": "10.1234/planned"}
    assert answers.data("plan e-print")["ref"] == {"arxiv": "2401.00001"}
    assert envelope["plan"]["metadata_sources"] == ["arxiv", "crossref", "unpaywall"]
    assert envelope["plan"]["target_pdf_path"] == str(folder / "store" / "doi_10.1234_planned.pdf")
    batch = answers.data("plan batch")
    row = closed({"ref": REF_SHAPE, "plan": PLAN, "rate_limit_budget": BUDGET})
    plans = {"type": "array", "minItems": 2, "items": row}
    assert conforms(closed({"ok": YES, "dry_run": YES, "plans": plans}), batch)


@pytest.mark.requirement("doiget:dry-run-hosts")
def test_candidate_hosts_are_the_static_allowlists(answers: Answers) -> None:
    sources = answers.data("plan")["plan"]["pdf_sources"]
    by_key = {one["key"]: one["candidate_hosts"] for one in sources}
    assert {"arxiv", "oa-publisher"} <= set(by_key)
    assert "*.springeropen.com" in by_key["oa-publisher"]
    # The lists are the same whatever the paper: no host is predicted.
    assert sources == answers.data("plan e-print")["plan"]["pdf_sources"]
    assert answers.data("plan metadata")["plan"]["pdf_sources"] == []


@pytest.mark.requirement("doiget:dry-run-untouched")
def test_a_dry_run_touches_neither_network_nor_disk_nor_log(
    code_folder: Path, tmp_path: Path
) -> None:
    calls = {name: CALLS[name] for name in ("plan", "plan metadata", "plan batch")}
    found = ask(
        serve_command(
            tmp_path, settings_of(tmp_path, code_folder), "--record", str(tmp_path / "asked")
        ),
        calls,
    )
    assert all(found.data(name)["ok"] for name in calls)
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "data" / "provenance").exists()
    asked = tmp_path / "asked"
    assert not asked.exists() or list(asked.iterdir()) == []


@pytest.mark.requirement("doiget:capability-profile")
@pytest.mark.requirement("doiget:capability-shape")
@pytest.mark.requirement("doiget:capability-redacted")
def test_the_capability_profile_names_sources_and_no_keys(answers: Answers) -> None:
    profile = answers.data("profile")
    assert conforms(PROFILE, profile)
    assert profile["metadata_sources"] == ["arxiv", "crossref"]
    assert not any(profile[name] for name in profile if name.startswith("tdm_"))
    assert "reader@example.org" not in json.dumps(profile)


@pytest.mark.requirement("doiget:capability-tdm")
def test_tdm_is_enabled_by_any_grant(code_folder: Path, tmp_path: Path) -> None:
    env = {"CARREL_TDM_APS_AGREED": "1", "CARREL_SECRET_TDM_APS_KEY": "s3cret-key"}
    command = serve_command(tmp_path, settings_of(tmp_path, code_folder))
    profile = ask(command, {"profile": CALLS["profile"]}, env=env).data("profile")
    assert conforms(PROFILE, profile)
    granted = {name: profile[name] for name in profile if name.startswith("tdm_")}
    assert granted == {
        "tdm_enabled": True,
        "tdm_elsevier": False,
        "tdm_aps": True,
        "tdm_springer": False,
    }
    assert "s3cret-key" not in json.dumps(profile)


@pytest.mark.requirement("doiget:health")
def test_health_says_whether_the_store_can_be_written(answers: Answers) -> None:
    health = answers.data("health")
    assert conforms(HEALTH, health)
    assert (health["schema_version"], health["store_writable"]) == ("1.0", True)


@pytest.mark.requirement("doiget:serve")
@pytest.mark.requirement("doiget:smoke")
@pytest.mark.requirement("doiget:stdout")
@pytest.mark.requirement("doiget:stderr")
@pytest.mark.requirement("doiget:shutdown")
def test_the_smoke_test_finds_frames_alone_on_stdout(code_folder: Path, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, code_folder)
    settings["plugins"]["lost"] = {"url": (tmp_path / "lost.wasm").as_uri()}
    with StdioClient(serve_command(tmp_path, settings)) as client:
        client.open()
        listed = client.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in listed] == TOOLS
        health = client.result("doiget_health")["structuredContent"]
        assert conforms(HEALTH, health)
        start = time.monotonic()
        assert client.finish() == 0
        assert time.monotonic() - start < 5
    for line in client.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert b"lost.wasm" in client.stderr


@pytest.mark.requirement("doiget:citation-graph")
def test_a_citation_graph_has_nodes_and_edges_within_its_caps(answers: Answers) -> None:
    schema = closed(
        {
            "ok": YES,
            "ref": TEXT,
            "seed_work_id": TEXT,
            "nodes": {"type": "array", "items": closed({"id": TEXT, "depth": NUMBER})},
            "edges": {"type": "array", "items": closed({"from": TEXT, "to": TEXT})},
            "truncated": {"type": "boolean"},
            "total_visited": NUMBER,
        }
    )
    graph = answers.data("graph")
    assert conforms(schema, graph)
    assert graph["nodes"][0] == {"id": "doi:10.1234/desk-1", "depth": 0}
    assert [one["depth"] for one in graph["nodes"][1:]] == [1, 1]
    assert {one["from"] for one in graph["edges"]} == {graph["seed_work_id"]}
    assert (graph["truncated"], graph["total_visited"]) == (True, 3)
    assert conforms(schema, answers.data("graph above the caps"))
    assert answers.data("graph of an e-print")["error"]["code"] == "INVALID_REF"


@pytest.mark.requirement("surface:arguments:doiget")
def test_every_argument_is_used(answers: Answers) -> None:
    used: dict[str, set[str]] = {}
    for tool, arguments in CALLS.values():
        used.setdefault(tool, set()).update(arguments)
    for name, tool in answers.tools.items():
        assert set(tool.input_schema["properties"]) <= used[name], name


@pytest.mark.requirement("doiget:shutdown-finishes")
def test_a_fetch_is_completed_after_the_end_of_stdin(code_folder: Path, tmp_path: Path) -> None:
    replay = recording(tmp_path / "recording", EXCHANGES, files=FILES)
    command = serve_command(tmp_path, settings_of(tmp_path, code_folder), "--replay", str(replay))
    with StdioClient(command) as client:
        client.open()
        client.result("doiget_health")
        fetching = client.start_call("doiget_fetch_paper", ref=PAPER)
        assert client.finish() == 0
        answer = client.answer(fetching)["result"]["structuredContent"]
    assert conforms(FETCHED, answer)
    assert Path(answer["path"]).read_bytes() == PDF
    # The store's lock is free: another server writes the same entry.
    again = ask(command, {"metadata": CALLS["metadata"]}).data("metadata")
    assert again["ok"]


@pytest.mark.requirement("doiget:citation-graph")
def test_the_graphs_arguments_are_clamped_and_its_edges_go_to_the_cited_paper() -> None:
    assert shapes.graph_arguments({"ref": PAPER, "depth": 9, "total": 5000, "per_paper": 99}) == {
        "ref": PAPER,
        "direction": "references",
        "depth": 3,
        "max_nodes": 100,
        "per_paper": 20,
    }
    found = {
        "ok": True,
        "root": "doi:10.1234/desk-1",
        "nodes": [{"id": "doi:10.1234/desk-1", "depth": 0, "title": "A desk for one"}],
        "edges": [{"citing": "doi:10.1234/desk-1", "cited": "doi:10.1234/desks", "sources": ["x"]}],
        "truncated": False,
        "total_visited": 1,
        "attempts": [],
    }
    assert shapes.graph({"ref": PAPER}, found) == {
        "ok": True,
        "ref": PAPER,
        "seed_work_id": "doi:10.1234/desk-1",
        "nodes": [{"id": "doi:10.1234/desk-1", "depth": 0}],
        "edges": [{"from": "doi:10.1234/desk-1", "to": "doi:10.1234/desks"}],
        "truncated": False,
        "total_visited": 1,
    }
