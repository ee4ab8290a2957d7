"""Tests the error (code, action, retryable) for every fault of the three sources.

The action must fit the fault: faults of the request advise changing arguments or identifiers,
faults of a server advise a later retry, and a blocked client is a matter for the operator. A call
that can succeed unchanged never advises a change.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from carrel.errors import CODES, CarrelError, SourceError
from carrel.tools import Toolbox
from support.pubmed import BASE
from support.toolboxes import MakeToolbox
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("matrix")

Row = tuple[str, str, bool]
Make = Callable[..., Toolbox]

#: Tool, arguments and path; one for each kind of request to a source.
ARXIV = ("arxiv_query", {"search_query": "all:oak", "verify_source_url": False})
ARXIV_IDS = ("arxiv_query", {"id_list": "2301.00001", "verify_source_url": False})
WORKS = ("crossref_works", {"query": "oak"})
WORK = ("crossref_work", {"doi": "10.5555/x"})
UPDATES = ("crossref_updates", {"doi": "10.5555/x"})
MATCH = ("crossref_citation_match", {"citation": "Reader 2024"})
SEARCH = ("pubmed_search", {"query_term": "oak"})
FETCH = ("pubmed_fetch", {"pmids": ["1"]})
RELATED = ("pubmed_related", {"source_pmid": "1"})
EVERY = (ARXIV, ARXIV_IDS, WORKS, WORK, UPDATES, MATCH, SEARCH, FETCH, RELATED)
OF_NCBI = (SEARCH, FETCH, RELATED)
SEARCHES = (ARXIV, ARXIV_IDS, WORKS, MATCH, SEARCH, FETCH, RELATED)

ARGUMENTS: Row = ("upstream_error", "fix_arguments", False)
OPERATOR: Row = ("upstream_error", "ask_operator", False)
BROKEN: Row = ("upstream_error", "retry_later", True)
UNREADABLE: Row = ("upstream_invalid", "retry_later", True)
UNAVAILABLE: Row = ("upstream_unavailable", "retry_later", True)
PAUSE: Row = ("rate_limited", "retry_after_delay", True)
DENIED: Row = ("denied", "ask_operator", False)
MISSING: Row = ("not_found", "check_identifier", False)
TOO_LARGE: Row = ("too_large", "narrow_request", False)
BUG: Row = ("upstream_error", "report_bug", False)


def reply_with(status: int, body: object, *headers: tuple[str, str]) -> Reply:
    data = body if isinstance(body, str) else json.dumps(body)
    return Reply(status, list(headers), body=data.encode())


def crossref(status: int, kind: str, message: object) -> Reply:
    return reply_with(status, {"status": "failed", "message-type": kind, "message": message})


def failing(words: str, root: str) -> Reply:
    return reply_with(200, f"<{root}><ERROR>{words}</ERROR></{root}>")


ARXIV_ERROR = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>https://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>
<summary>incorrect id format for 1</summary></entry></feed>"""
HTML = "<html><body>Service</body></html>"
ROOTS = {"pubmed_search": "eSearchResult", "pubmed_related": "eLinkResult"}

#: Name → requests, response, error.
TABLE: dict[str, tuple[tuple[Any, ...], Reply, Row]] = {
    # Every source, by status alone.
    "400": (EVERY, Reply(400), ARGUMENTS),
    "401": (EVERY, Reply(401), OPERATOR),
    "403": (EVERY, Reply(403), OPERATOR),
    "403-page": (EVERY, reply_with(403, HTML), OPERATOR),
    "404-to-a-search": (SEARCHES, Reply(404), UNAVAILABLE),
    "404-to-a-doi": ((WORK,), Reply(404), MISSING),
    "405": (EVERY, Reply(405), BUG),
    "406": (EVERY, Reply(406), UNAVAILABLE),
    "414": (EVERY, Reply(414), TOO_LARGE),
    "429": (EVERY, Reply(429, [("Retry-After", "900")]), PAUSE),
    "500": (EVERY, Reply(500), UNAVAILABLE),
    "503": (EVERY, Reply(503), UNAVAILABLE),
    "503-page": (EVERY, reply_with(503, HTML), UNAVAILABLE),
    "redirect-off-the-list": (EVERY, Reply(302, [("Location", "https://evil.example/")]), DENIED),
    # Every source, with status 200.
    "page": (EVERY, reply_with(200, HTML), UNREADABLE),
    "empty": (EVERY, reply_with(200, ""), UNREADABLE),
    "cut": (EVERY, reply_with(200, '<?xml version="1.0"?><feed'), UNREADABLE),
    "other-json": (EVERY, reply_with(200, {"hello": "world"}), UNREADABLE),
    "not-text": (EVERY, Reply(body=b"\xff\xfe nonsense"), UNREADABLE),
    # arXiv.
    "arxiv-error": ((ARXIV, ARXIV_IDS), reply_with(400, ARXIV_ERROR), ARGUMENTS),
    "arxiv-error-200": ((ARXIV, ARXIV_IDS), reply_with(200, ARXIV_ERROR), ARGUMENTS),
    # Crossref.
    "crossref-validation": (
        (WORKS, WORK, UPDATES, MATCH),
        crossref(400, "validation-failure", [{"type": "parameter-not-found", "message": "No"}]),
        ARGUMENTS,
    ),
    "crossref-exception": (
        (WORKS, WORK, UPDATES, MATCH),
        crossref(200, "exception", {"name": "class java.lang.Exception", "message": "x"}),
        BROKEN,
    ),
    "crossref-gateway": (
        (WORKS, WORK, UPDATES, MATCH),
        reply_with(200, {"message": "no healthy upstream"}),
        UNREADABLE,
    ),
    "crossref-missing": (
        (WORK,),
        crossref(404, "resource-failure", [{"type": "resource-not-found", "message": "No"}]),
        MISSING,
    ),
    "crossref-missing-to-a-search": (
        (WORKS, MATCH),
        crossref(404, "resource-failure", [{"type": "resource-not-found", "message": "No"}]),
        ARGUMENTS,
    ),
    "crossref-error-as-a-work": (
        (WORK, UPDATES, WORKS),
        reply_with(200, {"type": "error", "title": "Internal error", "status": 500}),
        UNREADABLE,
    ),
    # NCBI: the gateway's JSON, then the utilities' reports.
    "ncbi-bad-key": (
        OF_NCBI,
        reply_with(400, {"error": "API key invalid", "api-key": "x", "type": "client"}),
        OPERATOR,
    ),
    "ncbi-bad-key-200": (OF_NCBI, reply_with(200, {"error": "API key invalid"}), OPERATOR),
    "ncbi-too-fast": (
        OF_NCBI,
        reply_with(200, {"error": "API rate limit exceeded", "limit": "3"}),
        PAUSE,
    ),
    "ncbi-gateway": (OF_NCBI, reply_with(200, {"error": "error forwarding request"}), BROKEN),
    "ncbi-backend": (OF_NCBI, failing("Search Backend failed: timed out", "{root}"), BROKEN),
    "ncbi-connection": (
        OF_NCBI,
        failing("Read failed: EOF (the other side has unexpectedly closed connection)", "{root}"),
        BROKEN,
    ),
    "ncbi-arguments": (OF_NCBI, failing("Invalid db name specified: x", "{root}"), ARGUMENTS),
}
CASES = [
    pytest.param(question, reply, row, id=f"{name}-{question[0]}-{at}")
    for name, (questions, reply, row) in TABLE.items()
    for at, question in enumerate(questions)
]


@pytest.mark.requirement("result:typed:action-fits-the-fault")
@pytest.mark.parametrize(("question", "reply", "row"), CASES)
def test_the_action_fits_the_fault(
    make_toolbox: MakeToolbox, upstream: Upstream, question: Any, reply: Reply, row: Row
) -> None:
    tool, arguments = question
    plugin = {"arxiv": "arxiv", "crossref": "crossref", "pubmed": "eutils"}[tool.split("_")[0]]
    root = ROOTS.get(tool, "PubmedArticleSet").encode()
    upstream.on("*", Reply(reply.status, reply.headers, body=reply.body.replace(b"{root}", root)))
    with pytest.raises(CarrelError) as caught:
        make_toolbox(plugin).call_sync(tool, arguments)
    error = caught.value
    assert (error.error_code, error.action, error.retryable) == row, error.message
    assert str(BASE) not in error.message


@pytest.mark.requirement("result:typed:action-fits-the-fault")
def test_no_fault_is_retryable_beside_the_advice_to_change_the_call() -> None:
    change = {"fix_arguments", "check_identifier", "check_document"}
    assert not [row for _, _, row in TABLE.values() if row[2] and row[1] in change]
    assert not [
        code for code, (retryable, action) in CODES.items() if retryable and action in change
    ]
    for code in ("upstream_error", "invalid_arguments", "not_found"):
        error = SourceError(code, "x", plugin="p", tool="t", retryable=True)
        assert error.action == "retry_later"
        later = SourceError(
            code, "x", plugin="p", tool="t", retryable=True, extra={"retry_after_seconds": 3}
        )
        assert later.action == "retry_after_delay"
