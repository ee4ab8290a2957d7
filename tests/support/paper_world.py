"""Crossref, Unpaywall, arXiv, publishers and repositories on loopback, for tests of papers.

Papers are added by DOI or e-print number; each source answers of them in its own format, and each
copy is served by a reply that a test sets. Nothing else is known to anybody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .upstream import Handler, Reply, Seen

HOSTS = (
    "api.crossref.org", "api.unpaywall.org", "export.arxiv.org", "arxiv.org", "doi.org",
    "journals.plos.org", "www.mdpi.com", "zenodo.org", "hal.science", "elsewhere.example",
    "sub.elsewhere.example", "api.elsevier.com", "harvest.aps.org", "link.springer.com",
    "sci-hub.se", "www.nature.com",
)  # fmt: skip

PDF = b"%PDF-1.7\n% a paper\n" + b"0123456789abcdef" * 512 + b"\n%%EOF\n"
LANDING = b"""<!doctype html><html><head><title>On walled desks</title>
<meta name="citation_title" content="On walled desks"><meta name="citation_doi" content="10.5555/x">
</head><body><main><h1>On walled desks</h1><p>The abstract of the article is shown here, and a link
leads to its full text for those who have access to the journal in which it was published.</p>
</main></body></html>"""
CHALLENGE = b"""<!doctype html><html><head><title>Just a moment...</title></head><body>
<div class="cf-challenge">Checking your browser before accessing the site.</div>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1"></script>
<noscript>Enable JavaScript and cookies to continue</noscript></body></html>"""
LOGIN = b"""<!doctype html><html><head><title>Sign in</title></head><body><form action="/login"
method="post"><h1>Sign in</h1><label>User name <input name="username"></label><label>Password
<input type="password" name="password"></label><button>Sign in</button></form></body></html>"""
HTML = [("Content-Type", "text/html; charset=utf-8")]
PDF_TYPE = [("Content-Type", "application/pdf")]


def pdf_reply(body: bytes = PDF, **changes: Any) -> Reply:
    """Returns a PDF as servers send it."""
    return Reply(headers=PDF_TYPE, body=body, **changes)


def page_reply(body: bytes, status: int = 200) -> Reply:
    """Returns a web page."""
    return Reply(status, HTML, body)


@dataclass
class Paper:
    """A paper that Crossref knows.

    Attributes:
        copies: open copies as Unpaywall states them: URL → `repository` or `publisher`.
        updates: notices as Crossref states them, such as a retraction.
    """

    doi: str
    title: str = "On walled desks"
    copies: Mapping[str, str] = field(default_factory=dict)
    license: str | None = "cc-by"
    updates: Sequence[Mapping[str, Any]] = ()


class PaperWorld:
    """The upstreams, as one handler for `Upstream.on("*", …)`."""

    def __init__(self) -> None:
        self.papers: dict[str, Paper] = {}
        self.eprints: dict[str, str] = {}
        self.published: dict[str, str] = {}
        self.files: dict[str, Handler] = {}
        self.failing: dict[str, int] = {}

    def add(self, doi: str, *copies: tuple[str, Reply | Handler], **members: Any) -> str:
        """Adds a paper with open copies; a copy on a repository's host is one in a repository."""
        hosts = ("zenodo", "hal")
        kinds = {
            url: "repository" if any(host in url for host in hosts) else "publisher"
            for url, _ in copies
        }
        self.papers[doi.lower()] = Paper(doi, copies=kinds, **members)
        for url, reply in copies:
            self.serve(url, reply)
        return doi

    def add_eprint(
        self,
        number: str,
        *replies: Reply | Handler,
        title: str = "An e-print",
        doi: str | None = None,
    ) -> str:
        """Adds an e-print and its PDF; `doi` is that of the article it was published as."""
        self.eprints[number] = title
        if doi is not None:
            self.published[number] = doi
        for reply in replies:
            self.serve(f"https://export.arxiv.org/pdf/{number}v1", reply)
        return number

    def serve(self, url: str, *replies: Reply | Handler) -> None:
        """Sets what a URL answers with, in order; the last is repeated."""
        left = list(replies)

        def handler(seen: Seen) -> Reply:
            reply = left.pop(0) if len(left) > 1 else left[0]
            return reply if isinstance(reply, Reply) else reply(seen)

        parts = urlsplit(url)
        self.files[f"{parts.hostname}{parts.path}"] = handler

    def __call__(self, seen: Seen) -> Reply:
        """Answers one request."""
        if seen.host in self.failing:
            return Reply(self.failing[seen.host])
        parts = urlsplit(seen.path)
        query = parse_qs(parts.query)
        if seen.host == "api.crossref.org":
            return self._crossref(unquote(parts.path), query)
        if seen.host == "api.unpaywall.org":
            return self._unpaywall(unquote(parts.path))
        if seen.host == "export.arxiv.org" and parts.path == "/api/query":
            return self._arxiv(query)
        handler = self.files.get(f"{seen.host}{parts.path}")
        return handler(seen) if handler else page_reply(b"<h1>Not found</h1>", 404)

    def _crossref(self, path: str, query: Mapping[str, list[str]]) -> Reply:
        if path.startswith("/works/"):
            paper = self.papers.get(path.removeprefix("/works/").lower())
            if paper is None:
                return Reply(404, [("Content-Type", "text/plain")], b"Resource not found.")
            return _json({"status": "ok", "message-type": "work", "message": _work(paper)})
        asked = re.findall(r"doi:([^,]+)", query.get("filter", [""])[0])
        found = [self.papers[doi.lower()] for doi in asked if doi.lower() in self.papers]
        message = {"total-results": len(found), "items": [_work(paper) for paper in found]}
        return _json({"status": "ok", "message-type": "work-list", "message": message})

    def _unpaywall(self, path: str) -> Reply:
        doi = path.removeprefix("/v2/").lower()
        paper = self.papers.get(doi)
        if paper is None:
            message = f"'{doi}' is an invalid doi. See https://doi.org/{doi}"
            return _json({"HTTP_status_code": 404, "error": True, "message": message}, 404)
        locations = [
            {
                "url": url,
                "url_for_pdf": url,
                "url_for_landing_page": f"https://doi.org/{doi}",
                "host_type": kind,
                "license": paper.license,
                "version": "publishedVersion",
                "is_best": number == 0,
            }
            for number, (url, kind) in enumerate(paper.copies.items())
        ]
        return _json({
            "doi": doi,
            "doi_url": f"https://doi.org/{doi}",
            "title": paper.title,
            "genre": "journal-article",
            "is_oa": bool(locations),
            "oa_status": "gold" if locations else "closed",
            "best_oa_location": locations[0] if locations else None,
            "oa_locations": locations,
            "year": 2020,
        })  # fmt: skip

    def _published(self, number: str) -> str:
        doi = self.published.get(number)
        return "" if doi is None else f"<arxiv:doi>{doi}</arxiv:doi>"

    def _arxiv(self, query: Mapping[str, list[str]]) -> Reply:
        asked = [one for one in query.get("id_list", [""])[0].split(",") if one]
        plain = {one: re.sub(r"v\d+$", "", one) for one in asked}
        found = [one for one in asked if plain[one] in self.eprints]
        named = {one: one if one != plain[one] else f"{one}v1" for one in found}
        entries = "".join(
            f"""<entry><id>http://arxiv.org/abs/{named[one]}</id>
            <updated>2020-01-02T00:00:00Z</updated><published>2020-01-02T00:00:00Z</published>
            <title>{self.eprints[plain[one]]}</title><summary>About {one}.</summary>
            <author><name>Ada Reader</name></author>{self._published(plain[one])}
            <link href="http://arxiv.org/abs/{named[one]}" rel="alternate" type="text/html"/>
            <link title="pdf" href="http://arxiv.org/pdf/{named[one]}" rel="related"
             type="application/pdf"/>
            <arxiv:primary_category term="cs.DL"/><category term="cs.DL"/></entry>"""
            for one in found
        )
        feed = f"""<?xml version="1.0" encoding="UTF-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
            xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
            <title>arXiv Query</title><id>http://arxiv.org/api/x</id>
            <updated>2020-01-02T00:00:00Z</updated>
            <opensearch:totalResults>{len(found)}</opensearch:totalResults>
            <opensearch:startIndex>0</opensearch:startIndex>
            <opensearch:itemsPerPage>{len(found)}</opensearch:itemsPerPage>{entries}</feed>"""
        return Reply(headers=[("Content-Type", "application/atom+xml")], body=feed.encode())


def _work(paper: Paper) -> dict[str, Any]:
    return {
        "DOI": paper.doi,
        "type": "journal-article",
        "title": [paper.title],
        "author": [{"family": "Müller", "given": "Anna", "sequence": "first"}],
        "container-title": ["Annals of Reading"],
        "publisher": "Desk Press",
        "issued": {"date-parts": [[2020, 1, 2]]},
        "URL": f"https://doi.org/{paper.doi}",
        **({"updated-by": list(paper.updates)} if paper.updates else {}),
    }


def _json(value: object, status: int = 200) -> Reply:
    return Reply(status, [("Content-Type", "application/json")], json.dumps(value).encode())
