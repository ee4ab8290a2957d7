"""Tests of `web_read` over sites on loopback."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config import Config, WebConfig
from carrel.errors import ArgumentError, CarrelError, SourceError, UnknownNameError
from carrel.web.answers import web_failure
from support.office_files import docx, paragraph, pptx, shape
from support.paper_world import CHALLENGE, LOGIN
from support.upstream import Reply, Seen, Upstream

from .conftest import OpenWeb, Web

URL = "https://example.org/desks"
PAPER = Path(__file__).parents[2] / "fixtures/pdf/paper/document.pdf"
HTML = [("Content-Type", "text/html; charset=utf-8")]
WORDS = "A desk with walls on three sides keeps a reader from what the room does. " * 12
PAGE = f"""<!doctype html><html lang="en"><head><title>On walled desks</title>
<meta name="citation_title" content="On walled desks">
<meta name="citation_author" content="Green, Ada"><meta name="citation_author" content="Brown, Bo">
<meta name="citation_publication_date" content="2021/06/05">
<meta name="citation_doi" content="10.5555/desks">
<meta property="og:site_name" content="The Desk Review">
<meta name="description" content="What walls do.">
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Article",
"headline": "On walled desks"}}</script></head>
<body><main><article><h1>On walled desks</h1><p>{WORDS}</p><h2>Walls</h2><p>{WORDS}</p>
<h2>Lamps</h2><p>{WORDS}</p></article></main></body></html>""".encode()


def page(body: bytes = PAGE, status: int = 200, media_type: str = HTML[0][1]) -> Reply:
    return Reply(status, [("Content-Type", media_type)], body)


def serve(upstream: Upstream, reply: Reply | Callable[[Seen], Reply], robots: bytes = b"") -> None:
    def answer(seen: Seen) -> Reply:
        if seen.path == "/robots.txt":
            return Reply(body=robots)
        return reply(seen) if callable(reply) else reply

    upstream.on("*", answer)


def error_of(web: Web, url: str = URL, **arguments: object) -> SourceError:
    with pytest.raises(SourceError) as caught:
        web.read(url, **arguments)
    return caught.value


def requests(upstream: Upstream) -> list[str]:
    return [seen.path for seen in upstream.seen if seen.path != "/robots.txt"]


class TestAnswer:
    @pytest.mark.requirement("sandbox:parse:web-pages")
    def test_a_page_is_its_text_with_its_citation(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page())
        result = web.read("http://example.org/desks#walls")
        assert result["url"] == URL
        assert result["content_type"] == "html"
        assert result["trust"] == "untrusted-external-content"
        assert result["quality"] == "complete"
        assert result["text"].startswith("# On walled desks")
        assert not result["truncated"]
        assert result["identifiers"]["doi"] == "10.5555/desks"
        assert result["size_category"] == "small"
        assert result["metadata"]["authors"] == ["Ada Green", "Bo Brown"]
        assert result["metadata"]["published"] == "2021-06-05"
        assert result["metadata"]["site"] == "The Desk Review"
        assert {"name": "doi", "value": "10.5555/desks"} in result["structured_data"]["citation"]
        assert "open_graph" in result["structured_data"]
        cited = result["citation"]
        assert cited["apa"] == (
            f"Green, A., & Brown, B. (2021, June 5). On walled desks. The Desk Review. {URL}"
        )
        assert cited["mla"].startswith(
            "Green, Ada, and Bo Brown. “On walled desks.” The Desk Review, 5 June 2021, "
            f"{URL}. Accessed "
        )
        assert "Green, Ada and Brown, Bo" in cited["bibtex"]

    def test_a_page_without_facts_is_cited_by_its_address(
        self, web: Web, upstream: Upstream
    ) -> None:
        serve(upstream, page(WORDS.encode(), media_type="text/plain"))
        result = web.read(URL)
        assert result["content_type"] == "text"
        assert result["citation"]["apa"] == f"{URL}. (n.d.). example.org. {URL}"

    def test_a_long_page_is_read_in_parts_between_paragraphs(
        self, web: Web, upstream: Upstream
    ) -> None:
        serve(upstream, page())
        first = web.read(URL, max_length=1200)
        assert [one["heading"] for one in first["outline"]] == ["Walls", "Lamps"]
        assert first["truncated"]
        parts, start = [], 0
        while True:
            part = web.read(URL, max_length=1200, **{"from": start})
            parts.append(part["text"])
            if "next" not in part:
                break
            start = part["next"]
        assert len(parts) == 3
        assert "\n".join(parts).split() == web.read(URL)["text"].split()
        section = web.read(URL, section="Lamps")
        assert section["text"].startswith("## Lamps")
        assert section["truncated"]
        assert requests(upstream) == ["/desks"]

    def test_a_preview_is_the_beginning(self, web: Web, upstream: Upstream) -> None:
        body = PAGE.replace(b"</article>", (f"<p>{WORDS}</p>" * 20).encode() + b"</article>")
        serve(upstream, page(body))
        preview = web.read(URL, mode="preview", max_length=100_000)
        assert "outline" not in preview
        assert len(preview["text"]) <= 5000
        assert preview["truncated"]

    def test_raw_is_the_source_as_it_came(self, web: Web, upstream: Upstream) -> None:
        serve(
            upstream,
            page("<p>gr\u00fcn</p>".encode("iso-8859-1"), 200, "text/html;charset=ISO-8859-1"),
        )
        result = web.read(URL, mode="raw")
        assert result["text"] == "<p>gr\u00fcn</p>"
        assert result["raw"]
        assert result["content_type"] == "text/html;charset=ISO-8859-1"
        assert "metadata" not in result
        with pytest.raises(ArgumentError, match="section"):
            web.read(URL, mode="raw", section="x")

    def test_a_raw_source_continues_where_it_ended(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page(b"x" * 250 + b"y" * 50))
        first = web.read(URL, mode="raw", max_length=200)
        assert (first["next"], first["truncated"]) == (200, True)
        rest = web.read(URL, mode="raw", **{"from": 200})
        assert rest["text"] == "x" * 50 + "y" * 50
        with pytest.raises(ArgumentError, match="behind the end"):
            web.read(URL, mode="raw", **{"from": 300})

    def test_the_charset_of_the_header_is_used(self, web: Web, upstream: Upstream) -> None:
        text = "<html><body><main><p>" + "\u0442\u0435\u043a\u0441\u0442 " * 60 + "</p></main>"
        serve(upstream, page(text.encode("koi8-r"), media_type="text/html; charset=koi8-r"))
        assert "\u0442\u0435\u043a\u0441\u0442" in web.read(URL)["text"]

    @pytest.mark.parametrize(
        ("body", "media_type", "kind"),
        [
            (b"# Desks\n\nWith *walls*.\n\n- one\n- two\n", "text/markdown", "markdown"),
            (WORDS.encode(), "application/octet-stream", "text"),
            (PAGE, "application/octet-stream", "html"),
            (docx(paragraph(WORDS)), "application/octet-stream", "docx"),
            (pptx(shape(WORDS)), "text/html", "pptx"),
            (PAPER.read_bytes(), "text/html", "pdf"),
        ],
        ids=["markdown", "text", "html", "docx", "pptx", "pdf"],
    )
    @pytest.mark.requirement("web-researcher:scrape-types")
    def test_a_document_is_known_by_its_content(
        self, web: Web, upstream: Upstream, body: bytes, media_type: str, kind: str
    ) -> None:
        serve(upstream, page(body, media_type=media_type))
        assert web.read(URL)["content_type"] == kind

    def test_an_address_with_other_letters_is_encoded(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page())
        assert web.read("https://example.org/gr\u00fcn?x=%41")["url"].endswith("/gr%C3%BCn?x=%41")


class TestWalls:
    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (CHALLENGE, "challenge"),
            (LOGIN, "login"),
            (b"<!doctype html><html><body><div id=root></div><script>x()</script></body></html>",
             "empty"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("status", [200, 403])
    def test_what_is_in_place_of_a_page_is_named(
        self, web: Web, upstream: Upstream, body: bytes, kind: str, status: int
    ) -> None:
        serve(upstream, page(body, status))
        error = error_of(web)
        assert error.error_code == "invalid_document"
        assert error.extra["page"] == kind
        assert not error.retryable
        error_of(web)
        assert len(requests(upstream)) == 2, "nothing is kept of it"

    def test_a_missing_page_with_status_200_is_not_found(
        self, web: Web, upstream: Upstream
    ) -> None:
        body = (
            b"<!doctype html><html><head><title>404 - Page not found</title></head><body><main>"
            b"<h1>Page not found</h1><p>The page you are looking for does not exist or was moved."
            b"</p></main></body></html>"
        )
        serve(upstream, page(body))
        assert error_of(web).error_code == "not_found"

    @pytest.mark.parametrize(
        ("status", "code"),
        [(404, "not_found"), (410, "not_found"), (403, "invalid_document"),
         (418, "invalid_document"), (500, "upstream_unavailable")],
    )  # fmt: skip
    def test_a_page_with_an_error_status_is_never_its_content(
        self, web: Web, upstream: Upstream, status: int, code: str
    ) -> None:
        serve(upstream, page(status=status))
        assert error_of(web).error_code == code
        assert error_of(web, mode="raw").error_code == code

    def test_an_empty_response_is_an_error(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page(b""))
        assert error_of(web).error_code == "invalid_document"


class TestGrant:
    def test_the_tool_is_off_by_default(self, open_web: OpenWeb, configuration: Config) -> None:
        with pytest.raises(UnknownNameError):
            open_web(web=WebConfig()).read(URL)

    @pytest.mark.requirement("sandbox:hosts:public-web")
    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            ("https://127.0.0.1/", "ip_literal"),
            ("https://localhost/", "local_name"),
            ("https://example.org:8443/", "port_not_allowed"),
            ("ftp://example.org/", "insecure_scheme"),
            ("https://user@example.org/", "userinfo_in_url"),
            ("https://ex\u00e4mple.org/", "malformed_url"),
            ("example.org", "malformed_url"),
            ("file:///etc/passwd", "insecure_scheme"),
            ("javascript:alert(1)", "insecure_scheme"),
            ("data:text/html,walls", "insecure_scheme"),
            ("https://", "malformed_url"),
        ],
    )
    @pytest.mark.requirement("web-researcher:scrape-url")
    def test_an_address_that_is_not_public_is_denied(
        self, web: Web, upstream: Upstream, url: str, reason: str
    ) -> None:
        error = error_of(web, url)
        assert error.error_code == "denied"
        assert error.extra["denial_context"]["reason"] == reason
        assert web_failure(error).kind == "validation"
        assert upstream.dialled == []

    @pytest.mark.requirement("sandbox:hosts:public-web")
    def test_a_page_that_redirects_inside_is_denied(self, web: Web, upstream: Upstream) -> None:
        upstream.names.table["www.example.org"] = ["10.0.0.1"]
        serve(upstream, Reply(302, [("Location", "https://www.example.org/")]))
        assert error_of(web).extra["denial_context"]["reason"] == "private_address"

    @pytest.mark.requirement("sandbox:hosts:robots")
    def test_robots_rules_hold_for_a_model_and_not_for_a_person(
        self, open_web: OpenWeb, upstream: Upstream
    ) -> None:
        serve(upstream, page(), robots=b"User-agent: *\nDisallow: /\n")
        error = error_of(open_web())
        assert error.extra["denial_context"]["reason"] == "robots_disallowed"
        assert requests(upstream) == []
        assert open_web(by_person=True).read(URL)["quality"] == "complete"

    def test_a_blocked_host_is_denied_with_the_setting(
        self, open_web: OpenWeb, configuration: Config
    ) -> None:
        web = configuration.web._replace(blocked_hosts=("example.org",))
        context = error_of(open_web(web=web)).extra["denial_context"]
        assert context["reason"] == "host_blocked"
        assert context["grant"] == 'web.blocked_hosts -= "example.org"'


class TestCache:
    def test_a_page_is_requested_once_for_all_its_parts(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page())
        assert not web.read(URL)["cached"]
        for arguments in ({"mode": "preview"}, {"section": "Walls"}, {"max_length": 300}):
            assert web.read(URL, **arguments)["cached"]
        assert requests(upstream) == ["/desks"]

    def test_another_form_of_a_page_is_another_entry(self, web: Web, upstream: Upstream) -> None:
        serve(upstream, page())
        texts = {
            web.read(URL, **arguments)["text"]
            for arguments in ({}, {"format": "text"}, {"mode": "raw"})
        }
        assert len(texts) == 3
        assert not web.read(URL + "?x=1")["cached"]

    def test_calls_at_once_request_a_page_once(self, web: Web, upstream: Upstream) -> None:
        hold = threading.Event()
        serve(upstream, replace(page(), hold=hold))
        cached: list[bool] = []
        threads = [
            threading.Thread(target=lambda: cached.append(web.read(URL)["cached"]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        hold.set()
        for thread in threads:
            thread.join()
        assert sorted(cached) == [False, True, True, True]
        assert requests(upstream) == ["/desks"]


BOMB = gzip.compress(b"<p>x</p>" * 2**20)
HOSTILE = {
    "redirects to itself": Reply(302, [("Location", "/desks")]),
    "redirects to http": Reply(302, [("Location", "http://example.org/")]),
    "redirects to data": Reply(302, [("Location", "data:text/html,x")]),
    "redirects to nowhere": Reply(302),
    "refreshes to itself": page(b"<meta http-equiv=refresh content='0;url=/desks'>"),
    "refreshes to a script": page(b"<meta http-equiv=refresh content='0;url=javascript:x()'>"),
    "a gzip bomb": Reply(200, [*HTML, ("Content-Encoding", "gzip")], BOMB),
    "two encodings": Reply(200, [*HTML, ("Content-Encoding", "gzip, gzip")], gzip.compress(BOMB)),
    "a false encoding": Reply(200, [*HTML, ("Content-Encoding", "gzip")], PAGE),
    "an unknown encoding": Reply(200, [*HTML, ("Content-Encoding", "br")], PAGE),
    "a gzip file of a bomb": page(gzip.compress(b"\0" * 2**24), media_type="application/gzip"),
    "deep": page(b"<div>" * 100_000 + b"x"),
    "many attributes": page(b"<p " + b"a=1 " * 50_000 + b">x"),
    "an open tag": page(b"<p>" + b"<" * 100_000),
    "zeros": page(b"\0" * 10_000),
    "a false charset": page(PAGE, media_type="text/html; charset=utf-16"),
    "an unknown charset": page(PAGE, media_type="text/html; charset=zip"),
    "half a character": page(PAGE + b"\xc3"),
    "utf-7": page(b"+ADw-script+AD4-", media_type="text/html; charset=utf-7"),
    "a false pdf": page(b"%PDF-1.7\nnothing", media_type="application/pdf"),
    "a false zip": page(b"PK\x03\x04nothing", media_type="application/zip"),
    "a picture": page(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, media_type="image/png"),
    "xml with entities": page(
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><x>&c;</x>',
        media_type="application/xml",
    ),
    "no content": Reply(204),
    "a part": Reply(206, [*HTML, ("Content-Range", "bytes 5-9/10")], b"xxxxx"),
    "cut": replace(page(), cut=100),
    "no http": Reply(raw=b"\0\1\2"),
}


@pytest.mark.requirement("sandbox:parse:web-pages")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("mode", ["full", "raw"])
def test_a_hostile_page_is_one_error_or_text(
    web: Web, upstream: Upstream, name: str, mode: str
) -> None:
    serve(upstream, HOSTILE[name])
    try:
        result = web.read(URL, mode=mode, max_length=1000)
    except CarrelError as error:
        assert error.error_code not in {"internal", "plugin_failed", "contract_violation"}
        assert error.message
    else:
        assert len(result["text"]) <= 1001
    serve(upstream, page())
    assert web.read(URL + "/next")["quality"] == "complete"
