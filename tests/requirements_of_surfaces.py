"""Lists what surfaces have to do, with ids: the sentences of the documents that they follow.

`requirements.py` has the promises of Carrel itself.
"""

from __future__ import annotations

SURFACES: dict[str, str] = {
    "surface:listed": (
        "With a surface exactly its tools, resources and prompts are listed; a surface is a folder."
    ),
    "surface:arguments": "A surface takes every argument of the original, with its limits.",
    "surface:results": "Results and failures of a surface have the shape of the original's.",
    "surface:resources": "Resources of a surface have the original's URIs, names and contents.",
}

#: The normative sentences of doiget's document of MCP tools, each with the number of its section.
DOIGET: dict[str, str] = {
    "doiget:serve": "It runs as a Model Context Protocol server, over stdio JSON-RPC only.",
    # 1. Tool list
    "doiget:tools": "1: the thirteen tools; renaming or removing one is a breaking change.",
    "doiget:resolve-paper": "1: resolve a DOI or arXiv id to authoritative metadata.",
    "doiget:fetch-paper": "1: resolve and download a single PDF to the store; accepts dry_run.",
    "doiget:metadata-only": "1: resolve to metadata; no PDF or publisher fetch; accepts dry_run.",
    "doiget:batch-fetch": "1: up to 100 refs in one call; accepts dry_run.",
    "doiget:info": "1: retrieve a store entry's metadata.",
    "doiget:search-local": "1: search store metadata: title, authors, venue.",
    "doiget:list-recent": "1: the last N fetched entries.",
    "doiget:pdf-path": "1: the local path of a cached PDF, which is not read or transmitted.",
    "doiget:capability-profile": "1: report which sources this instance is allowed to use.",
    "doiget:health": "1: operational sanity: store writable, version, schema.",
    "doiget:citation-graph": "1: breadth-first expansion of citations, hard-capped.",
    "doiget:bibtex-export": "1: BibTeX for one or many entries.",
    "doiget:csl-export": "1: CSL JSON for one or many entries.",
    # 2. Naming and convention
    "doiget:names": "2: all tools use snake_case with the doiget_ prefix.",
    "doiget:input-schemas": "2: inputs are validated by the JSON Schema of the tool's inputSchema.",
    "doiget:envelopes": "2: outputs are {ok: true, …} or {ok: false, error: {code, message}}.",
    "doiget:no-throw": "2: tools never throw across the JSON-RPC boundary.",
    "doiget:error-codes": "2: error codes are the closed set of the document on errors.",
    # 3. Tool description format
    "doiget:descriptions": "3: each description has the six sections, in their order.",
    # 4. Example tool spec
    "doiget:fetch-spec": "4: name, description and input schema of doiget_fetch_paper; its ref.",
    # 5. Output shape
    "doiget:fetch-success": "5: a success has ref, source, path, license, size, schema version.",
    "doiget:resolver-profile": "5: resolver_profile is equal to source.",
    "doiget:fetch-failure": "5: a failure has ref, and error with code and message.",
    "doiget:denial-context": "5: DenialContext has a closed reason and seven members at most.",
    "doiget:denial-expected": "5: an absent `expected` is not the same as an empty one.",
    "doiget:denial-single": "5.1: single-paper tools omit denial_context where there is none.",
    "doiget:denial-batch": "5.1: each failed row of a batch has denial_context, null for none.",
    "doiget:denial-written": "5.1: a denial context is never lost when it is written.",
    # 6. Excluded tools
    "doiget:excluded": "6: no tool deletes, sets credentials, runs a shell or fetches a URL.",
    # 7. Capability awareness
    "doiget:capability-redacted": "7: the capability profile has no API keys.",
    "doiget:capability-shape": "7: its members; oa_enabled is true and rate_limit_per_sec 5.0.",
    "doiget:capability-tdm": "7: tdm_enabled is the disjunction of the individual grants.",
    # 8. Server lifecycle
    "doiget:shutdown": "8: the end of stdin ends the server within five seconds.",
    "doiget:shutdown-finishes": "8: ongoing fetches are completed, and locks of the store freed.",
    "doiget:stdout": "8: stdout carries only JSON-RPC frames.",
    "doiget:stderr": "8: stderr carries the log.",
    # 9. Smoke test
    "doiget:smoke": "9: initialize, tools/list, doiget_health, and no stray bytes on stdout.",
    # 10. Dry-run preview
    "doiget:dry-run-default": "10: dry_run is optional and defaults to false.",
    "doiget:dry-run-untouched": "10: no network, no file system, no provenance row.",
    "doiget:dry-run-envelope": "10: {ok, dry_run, ref, plan, rate_limit_budget}.",
    "doiget:dry-run-hosts": "10: candidate_hosts is the static allowlist of the resolver.",
    "doiget:dry-run-upper-bound": "10: candidate_hosts_are_upper_bound is always true.",
    "doiget:dry-run-refused": "10: the other seven tools refuse dry_run as INVALID_REF.",
    # 11. doiget_metadata_only
    "doiget:metadata-sources": "11: it resolves through the configured metadata sources.",
    "doiget:metadata-no-pdf": "11: it never fetches from a publisher, even with an OA URL.",
    "doiget:metadata-posture": "11: no code of the tool reaches a download of a PDF.",
    "doiget:metadata-oa-url": "11: the OA URL, when known, is returned as oa_url.",
    "doiget:metadata-spec": "11: name, description and input schema of doiget_metadata_only.",
    "doiget:metadata-success": "11: a success has the members of MetadataOnlyResult.",
    "doiget:metadata-written": "11: it writes the metadata to the store and a provenance row.",
}

#: The sentences of reference-manager's document of its MCP server that a client can see, each with
#: its section, and the facts about its library, citations and formats.
REFERENCE_MANAGER: dict[str, str] = {
    "reference-manager:transport": "Framework: stdio (stdin/stdout), JSON-RPC 2.0.",
    "reference-manager:purpose": (
        "Purpose: search and retrieve, add from various sources, cite, manage full texts."
    ),
    "reference-manager:library-option": "Command: --library overrides the library file path.",
    "reference-manager:stdout": "Output: stdout has JSON-RPC messages only.",
    "reference-manager:stderr": "Output: all logging is on stderr.",
    "reference-manager:independent": "Architecture: it shares no state with another process.",
    "reference-manager:own-library": "Architecture: it uses its own library, opened at startup.",
    "reference-manager:own-config": (
        "Architecture: the configuration is shared with the commands, and loaded at startup."
    ),
    "reference-manager:tools": "Tools: the eight tools and their inputs.",
    "reference-manager:search": "Tools: search takes { query: string }.",
    "reference-manager:list": "Tools: list takes { format?: json | bibtex | pretty }.",
    "reference-manager:add": "Tools: add takes { input: string | string[] }.",
    "reference-manager:add-formats": "Behavior: add accepts PMID, DOI, BibTeX, RIS, or CSL-JSON.",
    "reference-manager:remove": "Tools: remove takes { id: string, force: boolean }.",
    "reference-manager:remove-force": "Behavior: remove requires force: true to execute.",
    "reference-manager:cite": "Tools: cite takes { ids: string[], style?, format?: text | html }.",
    "reference-manager:cite-defaults": "Behavior: cite defaults to APA style, text format.",
    "reference-manager:fulltext": "Tools: fulltext_attach { id, path }; _get and _detach { id }.",
    "reference-manager:resources": "Resources: three URIs of type application/json.",
    "reference-manager:template": "Resources: the template library://reference/{id}.",
    "reference-manager:references": "Resources: library://references is all references.",
    "reference-manager:reference": "Resources: library://reference/{id} is one reference by ID.",
    "reference-manager:styles": "Resources: library://styles is the available citation styles.",
    "reference-manager:pdf": "Full text: of a PDF the file path only, { path: string }.",
    "reference-manager:markdown": "Full text: Markdown as direct string content.",
    "reference-manager:watching": (
        "File watching: external changes are monitored, and the library is reloaded."
    ),
    "reference-manager:client-entry": (
        "Integration: a client starts it with and without a library of its own."
    ),
    "reference-manager:error-format": "Errors: {code, message}, such as Reference not found: ID.",
    "reference-manager:error-32600": "Errors: -32600 is an invalid request.",
    "reference-manager:error-32601": "Errors: -32601 is a method that is not found.",
    "reference-manager:error-32602": "Errors: -32602 is invalid params.",
    "reference-manager:error-32000": (
        "Errors: -32000 is an application error: not found, duplicate, and so on."
    ),
    # The library
    "reference-manager:paging": (
        "Lists: sort, order, limit (20, 0 for all), offset; total and next_offset."
    ),
    "reference-manager:superseded": "Lists hide superseded items; search and export do not.",
    "reference-manager:summary": "Additions: total, added, skipped, failed; why and as what.",
    "reference-manager:reasons": (
        "Additions: not_found, fetch_error, parse_error, validation_error or unknown."
    ),
    "reference-manager:detection": (
        "Detection: JSON, BibTeX, RIS, nbib; then DOI, arXiv, ISBN, PubMed URL, digits."
    ),
    "reference-manager:keys": (
        "Keys: author-year, 32 characters, title if one is missing, a to z, aa, case ignored."
    ),
    "reference-manager:duplicates": (
        "Duplicates: DOI, PMID, arXiv without version, ISBN (chapter with title), then the title."
    ),
    "reference-manager:unknown-fields": "Storage: unknown fields are kept.",
    "reference-manager:arxiv-doi": "Storage: of an e-print the journal's DOI, else arXiv's own.",
    "reference-manager:query": "Queries: terms, phrases, prefixes, exact identifiers, capitals.",
    "reference-manager:atomic": "Writes are atomic.",
    "reference-manager:backups": "Writes: 50 backups, for up to a year.",
    "reference-manager:merge": "Writes: three-way merge; a conflict ends with exit code 2.",
    "reference-manager:own-writes": "Watching: own writes are recognised by their hash.",
    "reference-manager:watch-again": "Watching: polled without events; a half-written file again.",
    "reference-manager:cite-styles": "Citations: apa, vancouver, harvard, a CSL file; a locale.",
    "reference-manager:check": "Checks: retracted, concern, version_changed, mismatch, outdated.",
    "reference-manager:check-alike": "Checks: titles and authors are compared by shares of words.",
    "reference-manager:check-week": "Checks: skipped if checked within 7 days.",
    # Parsers and citation processors
    "reference-manager:bibtex-names": "BibTeX: names are split before LaTeX is decoded.",
    "reference-manager:bibtex-read": "BibTeX: every entry that bibtexparser reads is read.",
    "reference-manager:ris-read": "RIS: records as rispy reads them.",
    "reference-manager:folding": "Search: muller finds Müller.",
    "reference-manager:processor": "Citations: as citeproc-js renders them, in each style.",
}
