"""One invented paper in the forms that papers come in, and recorded answers that carry it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from carrel.exchange import Failure, FailureKind, Request, Response
from carrel.fetch.recording import Recordings
from support.guests import Guest, guest
from support.manifests import manifest_text
from support.office_files import eprint
from support.pdf_files import PdfFile, lines

Raw = dict[str, Any]

HOST = "copies.example.org"
BASE = f"https://{HOST}"
DOI = "10.5555/desk.1"
TITLE = "On walled desks in reading rooms"
ABSTRACT = "We measure how walls around desks change what readers hear in large rooms."
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
#: Sections of the body, each with a word that only it has.
SECTIONS = {
    "Introduction": "Desks have had walls since monks copied books, and readers prefer firstword.",
    "Methods": "Forty readers sat at forty desks for forty days while we wrote secondword.",
    "Results": "Readers behind walls heard half as much and read a third more than thirdword.",
}
_FILLER = "Every reader could choose a desk, and none had to stay at it for the whole of a day. "
WORK = {
    "title": TITLE,
    "authors": [{"family": "Reader", "given": "Ada"}],
    "issued": "2019",
    "ids": {"doi": DOI},
    "type": "article-journal",
    "abstract": ABSTRACT,
}


def paragraphs(count: int = 3, **sections: str) -> dict[str, str]:
    """Returns heading → text of the body, each text with `count` sentences more."""
    return {
        name: f"{text} {_FILLER * count}".strip() for name, text in (sections or SECTIONS).items()
    }


def jats(*, body: bool = True, title: str = TITLE, doi: str = DOI, encoding: str = "UTF-8") -> str:
    """Returns the paper as JATS; without `body` only its front and back matter."""
    sections = "".join(
        f"<sec><title>{name}</title><p>{text}</p></sec>" for name, text in paragraphs().items()
    )
    return (
        f'<?xml version="1.0" encoding="{encoding}"?>'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "JATS-archivearticle1.dtd">'
        '<article article-type="research-article"><front><article-meta>'
        f'<article-id pub-id-type="doi">{doi}</article-id>'
        f"<title-group><article-title>{escape(title)}</article-title></title-group>"
        '<permissions><license license-type="open-access">'
        '<ali:license_ref xmlns:ali="http://www.niso.org/schemas/ali/1.0/">'
        f"{LICENCE}</ali:license_ref></license></permissions>"
        f"<abstract><p>{ABSTRACT}</p></abstract></article-meta></front>"
        f"{f'<body>{sections}</body>' if body else ''}"
        "<back><ack><p>We thank the readers of all rooms, who sat still for so long.</p></ack>"
        "<ref-list><ref><mixed-citation>C. Clerk. Lamps of oak. 1999.</mixed-citation></ref>"
        "</ref-list></back></article>"
    )


def page(*, title: str = TITLE) -> str:
    """Returns the paper as a page."""
    sections = "".join(
        f"<section><h2>{number}. {name}</h2><p>{text}</p></section>"
        for number, (name, text) in enumerate(paragraphs(6).items(), 1)
    )
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
        f"<section><h2>Abstract</h2><p>{ABSTRACT}</p></section>{sections}</article></body></html>"
    )


def landing_page() -> str:
    """Returns a page about the paper, with its abstract."""
    return (
        f"<!DOCTYPE html><html><head><title>{TITLE}</title>"
        f'<meta name="citation_title" content="{TITLE}">'
        f'<meta name="citation_doi" content="{DOI}"></head><body><main><h1>{TITLE}</h1>'
        f"<h2>Abstract</h2><p>{ABSTRACT * 3}</p><h2>Submission history</h2>"
        f"<p>{_FILLER * 4}</p><h2>Related articles</h2><p>{_FILLER * 4}</p></main></body></html>"
    )


def challenge_page() -> str:
    """Returns a page that tests whether a person reads."""
    return (
        "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>"
        "<h1>Checking your browser before accessing the site</h1>"
        "<p>Please enable JavaScript and cookies to continue</p>"
        '<form id="challenge-form" action="/cdn-cgi/l/chk_jschl"></form></body></html>'
    )


def login_page() -> str:
    """Returns a page that asks for a password."""
    return (
        "<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1>"
        '<form action="/login"><input name="user"><input type="password" name="password">'
        "<button>Log in</button></form></body></html>"
    )


def source(**files: str) -> bytes:
    """Returns the paper as an e-print's source."""
    sections = "\n".join(f"\\section{{{name}}}\n{text}" for name, text in paragraphs().items())
    main = (
        f"\\documentclass{{article}}\n\\title{{{TITLE}}}\n\\author{{Ada Reader}}\n"
        f"\\begin{{document}}\n\\maketitle\n\\begin{{abstract}}{ABSTRACT}\\end{{abstract}}\n"
        f"{sections}\n\\end{{document}}\n"
    )
    return eprint({"main.tex": main, **files})


def pdf(*, stamp: str = "", body: bool = True) -> bytes:
    """Returns the paper as a PDF, optionally with a stamp such as `arXiv:2301.00001v1`."""
    file = PdfFile()
    content = lines("F2", 18, 72, 735, [TITLE]) + lines("F1", 11, 72, 710, ["Ada Reader"])
    content += lines("F2", 11, 72, 680, ["Abstract"]) + lines("F1", 10, 72, 662, [ABSTRACT])
    if stamp:
        content += lines("F1", 20, 30, 30, [stamp])
    height = 620
    for name, text in paragraphs(2).items() if body else ():
        words = text.split()
        rows = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
        content += lines("F2", 13, 72, height, [name])
        content += lines("F1", 10, 72, height - 20, rows)
        height -= 40 + 14 * len(rows)
    file.add_page(content)
    return file.save()


class RecordedCopies:
    """A folder of recorded answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._recordings = Recordings(folder, create=True)

    def text(self, path: str, body: str, status: int = 200) -> str:
        """Records the answer to a request for a text; returns its address."""
        url = path if "://" in path else f"{BASE}{path}"
        size = len(body.encode())
        answer = Response(status, url, (("content-type", "text/html"),), body, size)
        for accept in ("*/*", "text/html"):
            self._recordings.keep(Request("GET", url, (("accept", accept),)), answer)
        return url

    def file(self, path: str, data: bytes, status: int = 200) -> str:
        """Records the answer to a download; returns its address."""
        url = path if "://" in path else f"{BASE}{path}"
        answer = Response(status, url, (("content-type", "application/pdf"),), "")
        self._recordings.keep(Request("GET", url, (("accept", "*/*"),)), answer, data)
        return url

    def failure(self, path: str, kind: FailureKind) -> str:
        """Records a failure of a request; returns its address."""
        url = f"{BASE}{path}"
        request = Request("GET", url, (("accept", "*/*"),))
        self._recordings.keep(request, Failure(kind, url, f"{HOST}: {kind}"))
        return url


def copy(url: str, form: str, **members: str) -> Raw:
    """Returns a copy as a plugin names it."""
    return {"url": url, "format": form, **members}


def texts(
    copies: Sequence[Raw] = (),
    *kinds: str,
    body: str = "",
    failed: bool = False,
    result: str | None = None,
) -> Guest:
    """Returns a plugin that knows texts of papers by these kinds of identifiers."""
    manifest = manifest_text(
        hosts=[{"host": HOST, "methods": ["GET"]}],
        contract="1.1",
        roles={"full_text": {"identifiers": list(kinds or ("doi",))}},
    )
    answer = json.dumps({"copies": list(copies)}) if result is None else result
    return guest(body, result=answer, failed=failed, manifest=manifest)
