"""Lists the sentences of web-researcher-mcp's document of tools, and facts about further ones."""

from __future__ import annotations

#: The sentences of web-researcher-mcp's document of tools that a client can see, as far as the
#: document goes (it ends within tool 2), and the facts about its further tools.
WEB_RESEARCHER: dict[str, str] = {
    "web-researcher:real-sources": "Tools: they always return real, verifiable sources.",
    "web-researcher:input-schemas": "Note: input schemas are JSON Schema, of typed inputs.",
    "web-researcher:output-schemas": "Note: output schemas describe the JSON of each tool.",
    # Cache-Key Contract
    "web-researcher:cache-key": "Cache: every result-affecting parameter is in the cache key.",
    "web-researcher:cache-version": "Cache: each key has a version segment.",
    "web-researcher:cache-length": (
        "Cache: a smaller max_length never cuts the body of a later, larger request."
    ),
    # Large-Payload Linking
    "web-researcher:link": "Linking: from the threshold on a summary and a resource_link.",
    "web-researcher:link-summary": (
        "Linking: {resource, bytes, mimeType, summary, expiresAt, linked: true}."
    ),
    "web-researcher:link-inline": "Linking: below the threshold, results are inline.",
    "web-researcher:link-threshold": "Linking: the threshold is 24 KiB, inclusive.",
    "web-researcher:link-tools": "Linking: scrape_page raw, search_and_scrape, research_export.",
    "web-researcher:link-store": "Linking: bodies are kept encrypted, under their own hash.",
    "web-researcher:link-template": "Linking: the resource template research://artifact/{id}.",
    "web-researcher:link-id": "Linking: the id is the SHA-256 of the body.",
    "web-researcher:link-same": (
        "Linking: identical payloads have one artifact, and its URI is stable."
    ),
    "web-researcher:link-expiry": "Linking: after expiry not found, never another caller's data.",
    "web-researcher:link-life": "Linking: artifacts last 30 minutes.",
    "web-researcher:link-caller": "Linking: an artifact is never another caller's data.",
    "web-researcher:link-no-store": "Linking: with no cache, large payloads are inline.",
    "web-researcher:link-meta": "Linking: _meta is on either shape.",
    # Tool 1
    "web-researcher:search-input": "web_search: its thirteen inputs, defaults and ranges.",
    "web-researcher:search-query": (
        "web_search: a query has 1 to 500 characters; language and country are codes."
    ),
    "web-researcher:search-count": "web_search: 5 results unless the call says otherwise, 1 to 10.",
    "web-researcher:search-filters": (
        "web_search: safe, language, country, exact_terms, exclude_terms are applied."
    ),
    "web-researcher:search-site": "web_search: site restricts results to a domain.",
    "web-researcher:search-lenses": (
        "web_search: lenses are files of a folder; an unknown one lists them."
    ),
    "web-researcher:search-output": "web_search: urls, query, resultCount, results, hints, trust.",
    "web-researcher:search-urls": (
        "web_search: urls are those of the results, resultCount is their number."
    ),
    "web-researcher:search-result": "web_search: title, url, snippet, displayLink.",
    "web-researcher:search-reputation": (
        "web_search: sourceReputation has tier and basis; absent for unknown hosts."
    ),
    "web-researcher:search-claim": (
        "web_search: claimSignal is on every result when claim is set, empty without a match."
    ),
    "web-researcher:search-hints": (
        "web_search: hints only on a zero-result response: reason, filtersApplied, actions."
    ),
    "web-researcher:search-constraints": (
        "web_search: filtersApplied names each of the seven constraints."
    ),
    "web-researcher:search-actions": (
        "web_search: suggestedActions remove a filter or try another provider."
    ),
    "web-researcher:search-warning": (
        "web_search: epistemicWarning says what an empty answer does not prove."
    ),
    "web-researcher:search-empty": "web_search: no results are an empty urls array, no error.",
    "web-researcher:search-alternatives": (
        "web_search: suggested providers are configured and healthy ones only."
    ),
    "web-researcher:search-provider": (
        "web_search: an unknown provider is an error that lists all, without duplicates."
    ),
    "web-researcher:search-setup": "web_search: a missing key is an error that says what to set.",
    "web-researcher:search-wait": (
        "web_search: a rate limit suggests to wait 60 s, or another provider."
    ),
    "web-researcher:search-routing": (
        "web_search: several providers are asked by priority, with a circuit breaker for each."
    ),
    "web-researcher:search-lens-engine": "web_search: a lens with a cx asks that engine.",
    "web-researcher:search-lens-sites": "web_search: a lens without one names its sites.",
    "web-researcher:search-lens-site": "web_search: site cannot be combined with lens.",
    "web-researcher:search-time-range": "web_search: time_range restricts the date.",
    "web-researcher:search-unique": "web_search: URLs are there once.",
    "web-researcher:search-cached": "web_search: answers are cached for 30 minutes.",
    "web-researcher:search-key": "web_search: the cache key is a SHA-256 of all parameters.",
    "web-researcher:search-session": "web_search: sessionId adds the results to a session.",
    "web-researcher:search-errors": (
        "web_search: unknown provider, missing key, rate limit are structured errors."
    ),
    # Tool 2
    "web-researcher:scrape-input": "scrape_page: url, mode, max_length, sessionId.",
    "web-researcher:scrape-url": (
        "scrape_page: url is a valid HTTP(S) URL; another is a validation error."
    ),
    "web-researcher:scrape-natively": "scrape_page: YouTube and Hacker News are read natively.",
    "web-researcher:scrape-length": "scrape_page: max_length is in bytes; 5000 in preview.",
    "web-researcher:scrape-cap": "scrape_page: max_length is capped at 5,000,000 in all modes.",
    "web-researcher:scrape-bytes": (
        "scrape_page: in raw mode max_length caps the bytes of the source."
    ),
    "web-researcher:scrape-links": (
        "scrape_page: only a large raw source is linked; a text is inline."
    ),
    "web-researcher:scrape-output": "scrape_page: the members that are always present.",
    "web-researcher:scrape-types": (
        "scrape_page: contentType is html, markdown, youtube, pdf, docx, pptx."
    ),
    "web-researcher:scrape-tier": (
        "scrape_page: extractedBy is a tier, omitted when unknown and in raw mode."
    ),
    "web-researcher:scrape-forum": (
        "scrape_page: forumSignals has platform, upvotes and comments, a note below 20."
    ),
    "web-researcher:scrape-citation": "scrape_page: citation is always present.",
    "web-researcher:scrape-raw": "scrape_page: raw is true only in raw mode, without quality.",
    "web-researcher:scrape-quality": "scrape_page: extractionQuality complete or partial.",
    "web-researcher:scrape-metadata": "scrape_page: metadata only when there is a title.",
    "web-researcher:scrape-structured": "scrape_page: structuredData only when it was found.",
    "web-researcher:scrape-class": "scrape_page: sourceType, authorityTier, domainCategory.",
    "web-researcher:scrape-doi": "scrape_page: detectedDoi, omitted when none.",
    "web-researcher:scrape-doi-kind": "scrape_page: detectedDoi only for peer-reviewed pages.",
    "web-researcher:scrape-retraction": (
        "scrape_page: retractionStatus: retracted, kind, date, noticeDoi, source."
    ),
    "web-researcher:scrape-clean": (
        "scrape_page: retractionStatus is omitted when clean or unresolved, no guess."
    ),
    # Cross-cutting
    "web-researcher:errors": "Errors: one text, prose and JSON {error}; isError, no structure.",
    "web-researcher:error-kinds": "Errors: eleven kinds.",
    "web-researcher:error-actions": (
        "Errors: each kind has one of six actions, and whether to try again."
    ),
    "web-researcher:error-order": "Errors: of several the gravest kind is shown.",
    "web-researcher:clamped": "Counts: a clamped count is reported as requestedNumResults.",
    "web-researcher:tokens": "Sizes: tokens are characters / 4; four size categories.",
    "web-researcher:sizes": (
        "Sizes: small below 5,000 tokens, medium below 20,000, large below 50,000."
    ),
    "web-researcher:trust": "Trust: every external text is marked untrusted-external-content.",
    "web-researcher:annotations": "Annotations: the table of read-only, idempotent, open world.",
    "web-researcher:freshness": "Metadata: cached, ageSeconds, maxAgeSeconds, freshness; routing.",
    "web-researcher:academic": "academic_search: inputs, members of a paper, fallback, 1 h.",
    "web-researcher:academic-count": "academic_search: 5 papers unless the call says otherwise.",
    "web-researcher:academic-years": "academic_search: years from 1900 to 2030.",
    "web-researcher:academic-sources": (
        "academic_search: source arxiv, pubmed, ieee, nature or springer."
    ),
    "web-researcher:academic-sort": "academic_search: sorted by relevance or date.",
    "web-researcher:academic-always": "academic_search: a paper always has title, url and source.",
    "web-researcher:academic-abstract": "academic_search: an abstract has 500 characters at most.",
    "web-researcher:academic-copies": (
        "academic_search: open copies are looked for before pdf_only filters."
    ),
    "web-researcher:academic-provider": "academic_search: a named provider is the only one asked.",
    "web-researcher:academic-doubt": (
        "academic_search: lowConfidenceDomain beside a title with ten times the citations."
    ),
    "web-researcher:academic-hints": (
        "academic_search: hints of the same shape as those of web_search."
    ),
    "web-researcher:together": "search_and_scrape: limits, scores, status, deduplication.",
    "web-researcher:together-count": "search_and_scrape: 3 pages unless the call says otherwise.",
    "web-researcher:together-bytes": "search_and_scrape: 50 KB of a page, 300 KB of all.",
    "web-researcher:together-at-once": "search_and_scrape: 5 pages are read at a time.",
    "web-researcher:sequential": "sequential_search: steps, revisions, branches, gaps, limits.",
    "web-researcher:sequential-session": "sequential_search: sessionId is required from step 2.",
    "web-researcher:sequential-superseded": (
        "sequential_search: supersededBy is derived from revisions."
    ),
    "web-researcher:sequential-branch": "sequential_search: branches.",
    "web-researcher:sequential-gaps": "sequential_search: knowledge gaps.",
    "web-researcher:sequential-echo": (
        "sequential_search: up to 8 steps are echoed, then a summary."
    ),
    "web-researcher:sequential-idle": (
        "sequential_search: a session ends 4 hours after its last use."
    ),
    "web-researcher:sequential-sessions": "sequential_search: 50 sessions of one tenant.",
    "web-researcher:sequential-steps": "sequential_search: 200 steps of one session.",
    "web-researcher:depth": "sequential_search: quick, standard, thorough (up to 3 queries).",
    "web-researcher:session": "get_research_session: last 3 steps, repeated failures from 3.",
    "web-researcher:session-last": "get_research_session: the last 3 steps.",
    "web-researcher:session-failures": "get_research_session: repeated failures from 3 on.",
    "web-researcher:step-range": "get_research_session: an absent step has its own message.",
    "web-researcher:export": "research_export: Markdown or JSON, deterministic, verify_links.",
    "web-researcher:export-same": "research_export: the same but for exportedAt.",
    "web-researcher:export-links": "research_export: verify_links marks each source.",
    "web-researcher:format": "format_bibliography: five styles, keys, one record per source.",
    "web-researcher:format-once": "format_bibliography: one entry for each URL.",
    "web-researcher:format-key": (
        "format_bibliography: key of surname, year, first word of the title, a or b."
    ),
    "web-researcher:format-ris": "format_bibliography: RIS is JOUR with a DOI, else ELEC.",
    "web-researcher:format-lines": "format_bibliography: a field cannot inject a record.",
    "web-researcher:format-empty": "format_bibliography: an empty CSL is an empty array.",
    "web-researcher:graph": "citation_graph: DOI or title, three directions, 1-25, one hop.",
    "web-researcher:graph-count": (
        "citation_graph: 10 works unless the call says otherwise, 1 to 25."
    ),
    "web-researcher:fulltext": "paper_fulltext: identifier of 2048 bytes, 1,000-200,000.",
    "web-researcher:fulltext-length": "paper_fulltext: max_length 50,000, from 1,000 to 200,000.",
    "web-researcher:verify": "verify_citation: status, match, confidence, title, claim support.",
    "web-researcher:verify-match": "verify_citation: a matched record or a possible match.",
    "web-researcher:verify-title": (
        "verify_citation: a mismatch where two or more words are absent."
    ),
    "web-researcher:verify-notice": "verify_citation: retraction status.",
    "web-researcher:verify-claim": "verify_citation: claim support is evidence, never a verdict.",
    "web-researcher:audit": "audit_bibliography: three formats, 200 entries, five flags.",
    "web-researcher:audit-formats": "audit_bibliography: CSL-JSON, RIS and BibTeX are detected.",
    "web-researcher:audit-most": "audit_bibliography: 200 entries.",
    "web-researcher:audit-flags": (
        "audit_bibliography: retracted, dead_link, not_found, unchecked, mischaracterized."
    ),
}
