"""Makes pages that try to exhaust, confuse or mislead their reader. Each is a server's response."""

# ruff: noqa: E501 - the lines of pages are data

from __future__ import annotations

import gzip
import io
import random
import zipfile
import zlib
from collections.abc import Callable, Iterator

from support.upstream import Reply, Seen

from . import hostile_structures

HTML = ("Content-Type", "text/html; charset=utf-8")
WORDS = "A desk with walls on three sides keeps a reader from what the room does. " * 8
PAGE = f"<!doctype html><html><head><title>Desks</title></head><body><main><p>{WORDS}</p></main>"

Hostile = Reply | Callable[[Seen], Reply]


def page(body: str | bytes, media_type: str = HTML[1], *headers: tuple[str, str]) -> Reply:
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return Reply(200, [("Content-Type", media_type), *headers], data)


def all_pages() -> dict[str, dict[str, Hostile]]:
    """Returns the pages by their class and name."""
    classes = {
        "deep": _deep, "huge": _huge, "charsets": _charsets, "declared charsets": _declared,
        "compression": _compression, "redirects": _redirects, "lengths": _lengths,
        "refreshes": _refreshes, "media types": _media_types, "markup": _markup, "styles": _styles,
        "mutations": _mutations, "slow": _slow, **hostile_structures.CLASSES,
    }  # fmt: skip
    return {name: dict(make()) for name, make in classes.items()}


Pages = Iterator[tuple[str, Hostile]]


def _deep() -> Pages:
    for tag in ("div", "span", "b", "a", "font", "table", "ul", "blockquote", "svg", "math", "sup"):
        for depth in (500, 520, 20_000):
            yield f"{tag} {depth}", page(f"<body>{f'<{tag}>' * depth}{WORDS}")
    yield "items", page("<ul><li>" * 5000 + WORDS)
    yield "cells", page("<table><tr><td>" * 3000 + WORDS)
    yield "forms", page("<form><button>" * 3000 + WORDS)
    yield "Markdown", page("> " * 5000 + WORDS, "text/markdown")
    yield "lists of Markdown", page("# x\n\n" + "".join("  " * n + "- x\n" for n in range(500)))
    yield "brackets of Markdown", page("# x\n\n" + "[" * 20_000, "text/markdown")
    yield "JSON-LD", page(f'<script type="application/ld+json">{"[" * 20_000}</script>{PAGE}')


def _huge() -> Pages:
    yield "one text", page(f"<p>{'x' * 3_000_000}")
    yield "words", page(f"<body><p>{WORDS * 4000}")
    yield "paragraphs", page("<body>" + "<p>One short line.</p>" * 40_000)
    yield "breaks", page("<body>" + "x<br>" * 100_000)
    yield "links", page("<body>" + "<a href=/x>link</a> " * 40_000)
    yield "headings", page("<body>" + f"<h2>x</h2><p>{WORDS}</p>" * 1500)
    yield "attributes", page("<p " + "a=1 " * 200_000 + ">x")
    yield "one attribute", page(f"<p title='{'x' * 2_000_000}'>{WORDS}")
    yield "a title", page(f"<title>{'x' * 1_000_000}</title>{WORDS}")
    yield "tags", page("<meta name=a content=b>" * 50_000 + PAGE)
    yield "a table", page("<table>" + ("<tr>" + "<td>x" * 300) * 300)
    yield "spans", page("<table><tr><td rowspan=65534 colspan=1000>x" * 500)
    yield "entities", page("<p>" + "&amp;&lt;&#x41;&nosuch;" * 50_000)
    yield "more than allowed", page(b"x" * 3_500_000 * 2)


_CHARSETS = (
    "utf-8", "utf-16", "utf-16be", "utf-32", "utf-7", "koi8-r", "shift_jis", "gb18030", "iso-2022-jp",
    "euc-kr", "big5", "windows-1252", "x-user-defined", "replacement", "hz-gb-2312", "zip", "", "x" * 500,
)  # fmt: skip


def _charsets() -> Pages:
    noise = random.Random(1).randbytes(2000)
    for charset in _CHARSETS:
        kind = f"text/html; charset={charset}"
        yield f"{charset[:20]} utf-8", page(PAGE + "\u4e16\u754c\u00e9", kind)
        yield f"{charset[:20]} noise", page(PAGE.encode() + noise, kind)
        yield f"{charset[:20]} half", page(PAGE.encode("utf-16") + b"\xd8", kind)


def _declared() -> Pages:
    for charset in (
        "utf-16",
        "utf-7",
        "iso-2022-kr",
        "nosuch",
        "utf-8;charset=koi8-r",
        "x-mac-cyrillic",
    ):
        yield f"meta {charset}", page(f'<meta charset="{charset}">{PAGE}', "text/html")
        kind = f"text/html; charset={charset}"
        yield (
            f"http-equiv {charset}",
            page(f'<meta http-equiv=content-type content="{kind}">{PAGE}', "text/html"),
        )
    for mark in (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff"):
        yield f"mark {mark!r}", page(mark + PAGE.encode())
    yield "declared late", page(" " * 5000 + "<meta charset=utf-16>" + PAGE, "text/html")


def _compressed(data: bytes, encoding: str) -> Reply:
    return page(data, HTML[1], ("Content-Encoding", encoding))


def _compression() -> Pages:
    bomb = gzip.compress(b"<p>x</p>" * 2**20)
    yield "a gzip bomb", _compressed(bomb, "gzip")
    yield "twice", _compressed(gzip.compress(bomb), "gzip, gzip")
    yield "many times", _compressed(bomb, ", ".join(["gzip"] * 50))
    yield "a deflate bomb", _compressed(zlib.compress(b"\0" * 2**23), "deflate")
    yield "not compressed", _compressed(PAGE.encode(), "gzip")
    yield "cut", _compressed(gzip.compress(PAGE.encode())[:50], "gzip")
    yield "damaged", _compressed(gzip.compress(PAGE.encode())[:-6] + b"damage", "gzip")
    yield "behind the end", _compressed(gzip.compress(PAGE.encode()) + b"x" * 1000, "gzip")
    for encoding in ("br", "zstd", "compress", "identity, gzip", "nosuch", "gzip\t", ""):
        yield f"as {encoding!r}", _compressed(bomb, encoding)
    yield "a file of a bomb", page(gzip.compress(b"\0" * 2**24), "application/gzip")
    yield "a file of files", page(gzip.compress(gzip.compress(PAGE.encode())), "text/html")


def _redirects() -> Pages:
    targets = {
        "itself": "", "data": "data:text/html,x", "file": "file:///etc/passwd", "ftp": "ftp://example.org/",
        "a script": "javascript:alert(1)", "plain text": "http://example.org/", "a port": "https://example.org:22/",
        "a user": "https://a@example.org/", "an address": "https://127.0.0.1/", "metadata": "https://169.254.169.254/",
        "a number": "https://2130706433/", "a local name": "https://localhost/", "a backslash": "https:\\\\example.org",
        "a long one": "https://example.org/" + "x" * 20_000, "letters": "https://ex\u0430mple.org/", "nothing": "//",
    }  # fmt: skip
    for name, target in targets.items():
        yield f"to {name}", Reply(302, [("Location", target.encode().decode("latin-1"))])

    def onwards(seen: Seen) -> Reply:
        return Reply(302, [("Location", seen.path + "x")])

    yield "without end", onwards
    yield "without a target", Reply(301)
    yield "to two targets", Reply(302, [("Location", "/a"), ("Location", "/b")])
    for status in (300, 304, 305, 399):
        yield f"status {status}", Reply(status, [("Location", "/elsewhere"), HTML], PAGE.encode())


def _lengths() -> Pages:
    body = PAGE.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    yield "cut", Reply(200, [HTML], body, cut=100)
    yield "cut at once", Reply(200, [HTML], body, cut=0)
    for length in (
        b"-1",
        b"1e3",
        b"99999999999999999999",
        b"0x10",
        b"5, 6",
        b"",
        b"+5",
        b"5\r\nContent-Length: 6",
    ):
        yield (
            f"length {length!r}",
            Reply(raw=head + b"Content-Length: " + length + b"\r\n\r\n" + body),
        )
    for size in (b"-1", b"ffffffffffffffffff", b"g", b"5;" + b"x" * 100_000, b"", b"1"):
        raw = head + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n" + body
        yield f"chunk {size[:20]!r}", Reply(raw=raw)
    yield "no head", Reply(raw=b"\0\1\2\3")
    yield "an endless head", Reply(raw=head + b"X: y\r\n" * 50_000 + b"\r\n")
    yield "an endless line", Reply(raw=b"HTTP/1.1 200 " + b"x" * 1_000_000)
    yield "another protocol", Reply(raw=b"SSH-2.0-OpenSSH_9.0\r\n")
    yield (
        "both lengths",
        Reply(raw=head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    )
    yield "a part", Reply(206, [HTML, ("Content-Range", "bytes 5-9/10")], b"xxxxx")
    yield "no content", Reply(204)


def _refreshes() -> Pages:
    for target in (
        "",
        "0",
        "0;url=/same",
        "0;url=javascript:x()",
        "0;url=data:text/html,x",
        "-1;url=//",
        "x" * 9000,
    ):
        yield f"to {target[:20]!r}", page(f'<meta http-equiv=refresh content="{target}">')
    yield "many", page("<meta http-equiv=refresh content='0;url=/x'>" * 5000)
    yield "in the header", page(PAGE, HTML[1], ("Refresh", "0;url=/x"))


def _archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, b"<a>" * 100_000)
    return out.getvalue()


def _media_types() -> Pages:
    bodies = {
        "pdf": b"%PDF-1.7\nnothing", "zip": b"PK\x03\x04nothing", "png": b"\x89PNG\r\n\x1a\n" + b"\0" * 99,
        "rtf": b"{\\rtf1 x}", "ole": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "zeros": b"\0" * 9999,
        "noise": random.Random(2).randbytes(5000), "blank": b" \n" * 999, "nothing": b"",
        "word": _archive("[Content_Types].xml", "word/document.xml"),
        "slides": _archive("[Content_Types].xml", "ppt/presentation.xml"),
        "many files": _archive(*(f"{number}.xml" for number in range(300))),
        "json": b'{"a": ' * 5000, "a feed": b"<?xml version='1.0'?><feed><entry/></feed>",
        "tex": b"\\documentclass{article}\\begin{document}" + b"\\def\\a{\\a\\a}\\a" * 50,
        "entities": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "bb"><!ENTITY c "&a;&a;">]><x>&c;</x>',
        "an article": b'<!DOCTYPE article PUBLIC "-//NLM//DTD" "x"><article><front>' + b"<p>" * 3000,
    }  # fmt: skip
    for name, body in bodies.items():
        for media_type in ("text/html", "application/octet-stream"):
            yield f"{name} as {media_type}", page(body, media_type)


def _markup() -> Pages:
    pieces = {
        "an open tag": "<p>" + "<" * 100_000, "an open comment": PAGE + "<!--" + "x" * 99_999,
        "comments": "<!-->" * 30_000, "an open quote": f"<p title='{PAGE}", "an open script": f"<script>{PAGE}",
        "an open title": f"<title>{PAGE}", "plain text": f"<plaintext>{PAGE}", "frames": "<frameset>" * 3000 + PAGE,
        "declarations": "<!DOCTYPE x [<!ENTITY a 'b'>]>" * 2000 + PAGE, "sections": "<![CDATA[" * 9000 + PAGE,
        "zeros": PAGE.replace(" ", "\0"), "controls": PAGE + "".join(map(chr, range(1, 32))) * 500,
        "surrogates": PAGE + "\ud800" * 1000, "private letters": PAGE + "\ue000\uffff\U0010ffff" * 1000,
        "combining marks": f"<p>a{chr(0x301) * 50_000}", "right to left": f"<p>{chr(0x202E) * 20_000}{WORDS}",
        "misnested": "<b><p><i></b><table><div>" * 2000 + WORDS, "rows in rows": "<table><tr><td><tr>" * 3000 + WORDS,
        "templates": "<template>" * 3000 + WORDS, "selects": "<select><option>" * 3000 + WORDS,
        "formulas": "<math><mfrac><mi>" * 2000 + WORDS, "dollars": "<p>" + "$x$$" * 20_000,
        "pipes": "<table><tr><td>" + "|" * 50_000, "bad references": "<p>" + "&#x110000;&#0;&#xD800;" * 9000,
        "end tags": "</p></div></body>" * 20_000 + PAGE, "bases": "<base href='//evil.example'>" * 999 + PAGE,
    }  # fmt: skip
    for name, piece in pieces.items():
        yield name, page(piece)


def _styles() -> Pages:
    rules = "".join(f".a{number} .b{number} > i{{display:none}}" for number in range(6000))
    yield "rules", page(f"<style>{rules}</style>{PAGE}")
    classes = " ".join(f"a{number}" for number in range(2000))
    yield "classes", page(f"<style>{rules}</style>" + f"<p class='{classes}'>x</p>" * 200 + PAGE)
    yield "every element", page("<style>" + "*{opacity:0}" * 4000 + "</style>" + "<p>x</p>" * 2000)
    yield "long selectors", page("<style>" + "div " * 100_000 + "{display:none}</style>" + PAGE)
    yield (
        "descendants",
        page(
            "<style>"
            + "div div div div div b{display:none}" * 999
            + "</style>"
            + "<div>" * 500
            + "<b>x" * 99
        ),
    )
    yield "open blocks", page("<style>" + "@media screen{" * 30_000 + "</style>" + PAGE)
    yield "open comments", page("<style>" + "/*" * 50_000 + "</style>" + PAGE)
    yield "declarations", page("<p style='" + "color:red;" * 50_000 + f"'>{WORDS}")
    yield "numbers", page(f"<p style='opacity:1e999;left:-1e99px;font-size:.{'0' * 9999}'>{WORDS}")


def _mutations() -> Pages:
    numbers = random.Random(3)
    whole = (PAGE + f"<table><tr><td>{WORDS}</table><ul><li>x<li>y</ul><pre>z</pre>").encode()
    for number in range(24):
        data = bytearray(whole)
        for _ in range(numbers.randrange(1, 60)):
            at = numbers.randrange(len(data))
            data[at : at + numbers.randrange(9)] = numbers.randbytes(numbers.randrange(9))
        yield str(number), page(bytes(data))


def _slow() -> Pages:
    yield "silent", Reply(silent=True)
    yield "dripping", Reply(200, [HTML], PAGE.encode() * 40, drip=0.2)
