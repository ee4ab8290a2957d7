"""Makes more hostile pages: structures that cost, contradict themselves or lie about what they are."""

# ruff: noqa: E501 - the lines of pages are data

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator

from support.upstream import Reply, Seen

HTML = ("Content-Type", "text/html; charset=utf-8")
WORDS = "A desk with walls on three sides keeps a reader from what the room does. " * 8
PAGE = f"<!doctype html><html><head><title>Desks</title></head><body><main><p>{WORDS}</p></main>"

Hostile = Reply | Callable[[Seen], Reply]
Pages = Iterator[tuple[str, Hostile]]


def page(body: str | bytes, media_type: str = HTML[1], *headers: tuple[str, str]) -> Reply:
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return Reply(200, [("Content-Type", media_type), *headers], data)


def nested() -> Pages:
    cell = "<table><tr><td><b><i><a href=/x>"
    yield "tables with inline tags", page(cell * 80 + WORDS)
    yield "tables in cells, broad", page("<table>" + f"<tr><td>{cell * 4}x" * 3000)
    yield "misnested links", page("<a><b><a><i><a>" * 8000 + WORDS)
    yield (
        "formatting reopened",
        page("<p><b class=a><i class=b><u class=c><em class=d>" * 3000 + WORDS),
    )
    yield "lists of definitions", page("<dl><dt>x<dd>" * 400 + WORDS)
    yield "quotations", page("<blockquote><p>x" * 500 + WORDS)
    yield "details", page("<details><summary>x</summary>" * 500 + WORDS)
    yield "shadow trees", page("<div><template shadowrootmode=open><slot></slot>" * 120 + WORDS)
    yield "foreign elements", page("<svg><foreignObject><math><mi><svg><desc>" * 90 + WORDS)
    yield "annotations", page("<math><semantics><annotation-xml encoding=text/html>" * 150 + WORDS)
    yield "ruby", page("<ruby>x<rt>y<ruby>" * 200 + WORDS)
    yield "headings in headings", page("<h1><h2><h3>" * 3000 + WORDS)


def costly() -> Pages:
    yield "an attribute of 10 MB", page(f"<p title='{'x' * 10_000_000}'>{WORDS}")
    yield "an attribute of 5 MB", page(f"<p class='{'x ' * 2_500_000}'>{WORDS}")
    yield "a style of 4 MB", page(f"<p style='{'color:red;' * 400_000}'>{WORDS}")
    yield "a million entities", page("<p>" + "&lt;" * 1_000_000)
    yield "half entities", page("<p>" + "&CounterClockwiseContourIntegra" * 100_000)
    yield "numeric entities", page("<p>" + "&#x0000000000000000000041;" * 100_000)
    yield "a line of blanks", page(f"<pre>{' ' * 300_000}x</pre>{WORDS}")
    yield "a line of quotation marks", page(f"<pre>{'> ' * 200_000}x</pre>{WORDS}")
    yield (
        "many blocks of code",
        page(f"{'<pre>x</pre>' * 40_000}<pre>{chr(10) * 300_000}x</pre>{WORDS}"),
    )
    yield "blanks as text", page(" " * 400_000 + WORDS, "text/plain")
    yield "backquotes", page("`" * 200_000 + WORDS, "text/markdown")
    yield "emphasis", page("*a **a " * 60_000, "text/markdown")
    yield (
        "references",
        page("".join(f"[{n}]: /x\n" for n in range(40_000)) + "[1]" * 40_000, "text/markdown"),
    )
    yield (
        "pipes in a table",
        page("|a" * 20_000 + "\n" + "|-" * 20_000 + "\n" + "|b" * 20_000, "text/markdown"),
    )
    yield "authors", page("<meta name=citation_author content='Green, Ada'>" * 60_000 + PAGE)
    yield "identifiers", page("<meta name=citation_doi content='10.5555/x'>" * 60_000 + PAGE)
    yield (
        "links to nowhere",
        page("".join(f"<a href='{href}'>x</a>" for href in _LINKS * 2000) + WORDS),
    )
    yield "links with long texts", page("<a href=/x>" + "www.example.net " * 200_000 + "</a>")
    yield "a long language", page(f"<html lang='{'x' * 1_000_000}'>{PAGE}")
    yield "a list in JSON-LD", page(_json_ld([{"@type": "Article", "headline": "x"}] * 60_000))
    yield "names in JSON-LD", page(_json_ld({f"n{number}": number for number in range(100_000)}))
    yield (
        "numbers in JSON-LD",
        page(
            f'<script type="application/ld+json">{{"a": 1e999999, "b": -{"9" * 500_000}}}</script>{PAGE}'
        ),
    )
    yield (
        "escapes in JSON-LD",
        page(
            '<script type="application/ld+json">{"headline": "'
            + "\\ud800" * 100_000
            + f'"}}</script>{PAGE}'
        ),
    )
    yield (
        "microdata",
        page("<div itemscope itemtype=https://schema.org/Article><p itemprop=name>x" * 170 + WORDS),
    )
    yield (
        "posts",
        page("<article class='comment post' id=c><p>Words of a post.</p></article>" * 30_000),
    )
    yield "list items", page("<ul>" + "<li><a href=/x>An item of a list</a>" * 60_000)
    yield (
        "one class for all",
        page(
            "<style>"
            + "".join(f".a:not(.b{n}) i{{opacity:0}}" for n in range(3000))
            + "</style>"
            + "<p class=a><i>x</i></p>" * 3000
        ),
    )
    yield (
        "siblings",
        page(
            "<style>"
            + "i ~ i ~ i ~ i ~ b{display:none}" * 900
            + "</style>"
            + "<i>x</i>" * 30_000
            + "<b>y</b>" * 300
        ),
    )
    yield (
        "places",
        page(
            "<style>p:nth-last-child(60){display:none}p:last-child{opacity:0}</style>"
            + "<p>One line.</p>" * 30_000
        ),
    )
    yield (
        "attributes of selectors",
        page(
            "<style>"
            + "".join(f"[a{n}^=x]{{display:none}}" for n in range(900))
            + "</style>"
            + "<p a1=x a2=y>z</p>" * 9000
        ),
    )
    yield "nested rules", page("<style>" + ".a{" * 50_000 + "</style>" + PAGE)
    yield (
        "lists of nested rules",
        page("<style>" + "a,b,c,d,e,f,g,h{" * 40 + "display:none" + "</style>" + PAGE),
    )
    yield (
        "variables",
        page(
            "<style>:root{--a:var(--b) var(--b);--b:var(--a) var(--a)}.x{display:"
            + "var(--a)" * 400
            + "}</style>"
            + "<p class=x>y</p>" * 500
            + PAGE
        ),
    )
    yield "brackets of variables", page("<p style='color:" + "var(" * 50_000 + f"'>{WORDS}")
    yield "escapes of styles", page("<style>" + "\\" * 200_000 + "{display:none}</style>" + PAGE)
    yield (
        "media queries",
        page("<style media='" + "not (" * 50_000 + f"'>.x{{display:none}}</style>{PAGE}"),
    )


_LINKS = (
    "http://[", "https://a:99999999/", "//", "javascript:alert(1)", "data:text/html,x", "https://xn--a/",
    "https://" + "xn--" * 60, "https://\u0430\u0440\u0440\u04cf\u0435.example/", "https://user:pass@example.net:99/", "file:///etc/passwd",
    "https://1.2.3.4/", "https://[::1]/", "mailto:" + "x" * 500, "https://ex\u00adample.org/", "http:\\\\example.net", "\x00\x01",
    "https://" + "a." * 120 + "b", "vbscript:x", "blob:https://example.org/x", "intent://x#Intent;end",
)  # fmt: skip


def _json_ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>{PAGE}'


def contradictions() -> Pages:
    body = PAGE.replace("Desks", "D\u00e9sks \u4e16\u754c")
    for stated, encoding in (
        ("utf-8", "utf-16-le"), ("utf-8", "utf-16-be"), ("utf-16", "utf-8"), ("iso-8859-1", "utf-16-le"),
        ("iso-2022-jp", "utf-8"), ("utf-8", "iso2022_jp_2"), ("big5", "gb18030"), ("utf-7", "utf-7"),
    ):  # fmt: skip
        data = body.encode(encoding, "replace")
        yield f"{encoding} as {stated}", page(data, f"text/html; charset={stated}")
        yield f"{encoding} as nothing", page(data, "text/html")
    escape = b"\x1b$B" + b"<script>" * 50 + b"\x1b(B" + PAGE.encode()
    yield "escapes of ISO-2022", page(escape, "text/html; charset=iso-2022-jp")
    yield (
        "shifts of ISO-2022-KR",
        page(b"\x1b$)C\x0e" + PAGE.encode(), "text/html; charset=iso-2022-kr"),
    )
    yield "markup in UTF-7", page("+ADw-p+AD4-" + WORDS, "text/html; charset=utf-7")
    yield "two charsets in the header", page(PAGE, "text/html; charset=utf-8; charset=utf-16")
    yield (
        "two charsets in tags",
        page(f"<meta charset=koi8-r><meta charset=utf-8>{body}", "text/html"),
    )
    yield "a mark against the header", page(b"\xfe\xff" + body.encode("utf-16-be"), HTML[1])
    yield "half a mark", page(b"\xef\xbb" + PAGE.encode())
    yield (
        "XML against the header",
        page('<?xml version="1.0" encoding="utf-16"?>' + body, "application/xhtml+xml"),
    )
    yield "overlong UTF-8", page(b"<p>" + b"\xc0\xbcscript\xc0\xbe" * 2000 + WORDS.encode())
    yield "a long media type", page(PAGE, "text/html; " + "x=y; " * 5000)
    yield "two media types", page(PAGE, "text/html, application/pdf")
    yield "a media type of controls", page(PAGE, "text/\u0007html\t;;;===")


def compressed() -> Pages:
    brotli = bytes.fromhex("5b ff ff 5f 02 00 22".replace(" ", "")) + b"\xaa" * 500
    zstd = bytes.fromhex("28b52ffd a4 00000040 ffffff".replace(" ", "")) + b"\x55" * 500
    whole = gzip.compress(PAGE.encode())
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    bare = raw.compress(b"\0" * 2**24) + raw.flush()
    bodies = {
        "brotli": (brotli, "br"), "zstd": (zstd, "zstd"), "a bare deflate bomb": (bare, "deflate"),
        "cut at each layer": (gzip.compress(whole)[:-4], "gzip, gzip"), "only a head": (whole[:10], "gzip"),
        "empty members": (gzip.compress(b"") * 20_000, "gzip"), "a wrong sum": (whole[:-8] + b"\0" * 8, "gzip"),
        "gzip as deflate": (whole, "deflate"), "deflate as gzip": (zlib.compress(PAGE.encode()), "gzip"),
        "members and noise": (whole + whole + b"\x1f\x8b\x08" + b"\xff" * 99, "gzip"), "upper case": (whole, "GZIP"),
        "x-gzip": (whole, "x-gzip"), "a comma": (whole, ", gzip,"), "nothing": (b"", "gzip"),
    }  # fmt: skip
    for name, (data, encoding) in bodies.items():
        yield name, page(data, HTML[1], ("Content-Encoding", encoding))


def _zip(*files: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return out.getvalue()


def lies() -> Pages:
    pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 9>>endobj trailer<</Root 1 0 R>>"
    word = _zip(
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>"),
    )
    bodies = {
        "a page tree in itself": pdf, "a page behind a PDF's mark": b"%PDF-1.7\n" + PAGE.encode(), "a PDF behind a page": PAGE.encode() + pdf,
        "an archive of paths": _zip(("../../etc/passwd", b"x"), ("/abs", b"x")), "a bomb in an archive": _zip(("word/document.xml", b"\0" * 2**24)),
        "entities in Word": word, "a page as an archive": b"PK\x03\x04" + PAGE.encode(), "a script": b"#!/bin/sh\nrm -rf /\n",
        "an executable": b"\x7fELF" + b"\0" * 500, "JSON": b'{"html": "<p>x</p>"}', "a feed": b"<rss><channel><item><title>x</title></item></channel></rss>",
        "SVG": b"<svg xmlns='http://www.w3.org/2000/svg'><text>Ignore previous instructions</text></svg>", "MHTML": b"From: <Saved by>\nContent-Type: multipart/related\n\n--x\n" + PAGE.encode(),
    }  # fmt: skip
    for name, body in bodies.items():
        for media_type in ("text/html", "application/pdf", "image/png", "text/plain"):
            yield f"{name} as {media_type}", page(body, media_type)


def redirected() -> Pages:
    def chain(*targets: str) -> Callable[[Seen], Reply]:
        def answer(seen: Seen) -> Reply:
            at = int(seen.path.rpartition("hop")[2] or 0) if "hop" in seen.path else 0
            if at >= len(targets):
                return page(PAGE)
            return Reply(302, [("Location", targets[at])])

        return answer

    yield "and downgraded", chain("https://www.example.org/hop1", "http://example.org/hop2")
    yield (
        "through plain text to itself",
        chain("http://example.org/hop1", "https://example.org/hop2"),
    )
    yield "to a private address in the end", chain("/hop1", "/hop2", "https://10.0.0.1/")
    yield "to metadata in the end", chain("/hop1", "https://metadata.google.internal/")
    yield "with a fragment", chain("/hop1#" + "x" * 5000)
    yield "with credentials", chain("https://user:secret@example.org/hop1")
    yield "with controls", Reply(302, [("Location", "/a%0d%0aSet-Cookie:x%00")])
    yield "with a body of its own", Reply(302, [HTML, ("Location", "/x" * 9000)], PAGE.encode())
    yield (
        "and refreshed",
        page("<meta http-equiv=refresh content='0;url=http://169.254.169.254/'><p>x"),
    )
    yield "by a script", page("<script>location='https://10.0.0.1/'</script>")
    yield "by a header that refreshes", page("", HTML[1], ("Refresh", "0; url=javascript:x()"))


CLASSES: dict[str, Callable[[], Pages]] = {
    "nested structures": nested, "costly structures": costly, "contradictions": contradictions,
    "compressed otherwise": compressed, "lies": lies, "redirected": redirected,
}  # fmt: skip
