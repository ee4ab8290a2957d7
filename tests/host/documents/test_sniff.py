"""Tests detection of a file's format by its content."""

from __future__ import annotations

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.documents.sniff import sniff
from support.articles import archive, article, tar

OOXML = b"<Types/>"
TEI = b'<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><text/></TEI>'
TEX = b"% a comment\n\\documentclass{article}\n\\begin{document}x\\end{document}\n"
NLM = (
    b'<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.0//EN" "x.dtd" [<!ENTITY a "]>">]>'
    b"<!-- <html> --><article><front/></article>"
)

KNOWN = {
    "pdf": (b"%PDF-1.7\n1 0 obj", "pdf"),
    "pdf behind other bytes": (b"\r\n junk " * 20 + b"%PDF-1.4", "pdf"),
    "pdf with a broken header": (b"UPDF-1\x99\n1 0 obj\n<<>>\nendobj\n", "pdf"),
    "jats": (article(), "jats"),
    "jats by its declaration": (NLM, "jats"),
    "jats in an envelope": (b"<pmc-articleset>" + article()[21:] + b"</pmc-articleset>", "jats"),
    "jats in utf-16": (article().decode().encode("utf-16"), "jats"),
    "tei": (TEI, "tei"),
    "tei with a byte order mark": (b"\xef\xbb\xbf" + TEI, "tei"),
    "other xml": (b"<?xml version='1.0'?><feed/>", "xml"),
    "picture in xml": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "xml"),
    "html": (b"<!-- hello --><!DOCTYPE html><html><p>x", "html"),
    "html without a type": (b"  \n<HTML><BODY>x", "html"),
    "html, a piece": (b"<article class=post><h1>x</h1></article>", "html"),
    "xhtml": (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x' 'y'><html/>", "html"),
    "docx": (archive(**{"[Content_Types]$xml": OOXML, "word__document$xml": b"x"}), "docx"),
    "pptx": (archive(**{"[Content_Types]$xml": OOXML, "ppt__presentation$xml": b"x"}), "pptx"),
    "xlsx": (archive(**{"[Content_Types]$xml": OOXML, "xl__workbook$xml": b"x"}), "xlsx"),
    "epub": (archive(mimetype=b"application/epub+zip"), "epub"),
    "epub by its container": (archive(**{"META-INF__container$xml": b"x"}), "epub"),
    "odt": (archive(mimetype=b"application/vnd.oasis.opendocument.text"), "odt"),
    "ods": (archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet"), "ods"),
    "other archive": (archive(**{"a$txt": b"x"}), "zip"),
    "tex": (TEX, "tex"),
    "tex of a chapter": (b"\\section{One}\nwords\n", "tex"),
    "tex, packed alone": (gzip.compress(TEX), "tar"),
    "e-print": (tar("main.tex", TEX), "tar"),
    "e-print, packed": (gzip.compress(tar("main.tex", TEX)), "tar"),
    "packed page": (gzip.compress(b"<!doctype html><p>x"), "gzip"),
    "markdown": (b"# Title\n\nWords with a [link](https://example.org/).\n", "markdown"),
    "markdown with an underlined heading": (b"Title\n=====\n\nWords.\n", "markdown"),
    "markdown with code": (b"Try:\n\n```sh\nls\n```\n", "markdown"),
    "text": (b"Just words.\nAnd more of them.\n", "text"),
    "text with a script's comments": (b"#!/bin/sh\n# Title\n\n# More\n\nls\n", "text"),
    "text in latin-1": ("Déjà vu, naïveté".encode("latin-1"), "text"),
    "text cut inside a character": (("é" * 40_000).encode()[:-1], "text"),
    "rtf": (b"{\\rtf1 words}", "rtf"),
    "old word": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "ole"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(20), "png"),
    "program": (b"\x7fELF" + bytes(range(256)), "unknown"),
    "random bytes": (bytes((number * 167) % 251 + 1 for number in range(4000)), "unknown"),
}


@pytest.mark.parametrize(("data", "kind"), KNOWN.values(), ids=KNOWN)
def test_the_kind_is_found_by_the_content(data: bytes, kind: str) -> None:
    assert sniff(data).name == kind


@pytest.mark.parametrize("data", [KNOWN["docx"][0], KNOWN["epub"][0]], ids=["docx", "epub"])
def test_an_archive_without_its_directory_is_still_known(data: bytes) -> None:
    assert sniff(data[: data.rindex(b"PK\x01\x02")]).name == sniff(data).name


@given(st.binary(max_size=300), st.sampled_from([one for one, _ in KNOWN.values()]))
def test_no_bytes_are_too_much(noise: bytes, known: bytes) -> None:
    for data in (noise, known[:50] + noise, noise + known, known[: len(noise)]):
        assert sniff(data).what


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" * 500_000,
        b"<!--" * 500_000,
        b"<?x>" * 500_000,
        b"<" * 2_000_000,
        b"[a](" * 500_000,
        b"**a" * 500_000,
        b"\n\n# " * 500_000,
        gzip.compress(bytes(50_000_000), mtime=0),
        random.Random(1).randbytes(1000) * 2000,
    ],
    ids=lambda data: repr(data[:6]),
)
def test_a_hostile_file_costs_no_more_than_its_beginning(data: bytes) -> None:
    import time

    started = time.process_time()
    sniff(data)
    assert time.process_time() - started < 2
