"""Tests captured LaTeX sources against LaTeXML's output, compared by words."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from carrel.api import Carrel
from carrel.config import Config, builtin
from conftest import CORPUS

PAIRS = sorted((CORPUS / "tex" / "latexml").glob("*.tex")) if CORPUS.is_dir() else []
PAPERS = sorted((CORPUS / "tex").glob("ckorzen/input*.tex")) if CORPUS.is_dir() else []
EPRINTS = sorted((CORPUS / "tex" / "arxiv").glob("*.gz")) if CORPUS.is_dir() else []
#: Elements that LaTeXML writes twice or that are not text: formulas, numbers, tables of contents.
_LEFT_OUT = {"Math", "resource", "ERROR", "picture", "tag", "tags", "toctitle", "toccaption", "TOC"}
#: Sources that are complete documents; each of the others tests one primitive of TeX.
DOCUMENTS = ("structure", "theorem", "slides", "complex", "alignment")


@pytest.fixture(scope="module")
def library(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrel]:
    data = tmp_path_factory.mktemp("data")
    config = Config(cache_dir=code_folder, data_dir=data)
    with Carrel(replace(config, plugins=(builtin("tex"),))) as opened:
        yield opened


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def truth(path: Path) -> Counter[str]:
    beside = path.with_suffix(".xml")
    if beside.exists():
        content = beside.read_bytes()
    else:
        content = gzip.decompress(Path(f"{beside}.gz").read_bytes())
    out: list[str] = []

    def inside(node: Any) -> None:
        if isinstance(node.tag, str) and etree.QName(node).localname not in _LEFT_OUT:
            out.append(node.text or "")
            for child in node:
                inside(child)
        out.append(f"{node.tail or ''}")

    inside(etree.fromstring(content))
    return words(" ".join(out) if len(out) > 1 else "".join(out))


_TEXTS = ("title", "heading", "text", "caption", "literal", "affiliations", "email", "value")


def found(document: dict[str, Any]) -> Counter[str]:
    out: list[str] = []

    def inside(value: Any, key: str) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name not in {"abstract", "links", "warnings"}:
                    inside(inner, name)
        elif isinstance(value, list):
            for inner in value:
                inside(inner, key)
        elif isinstance(value, str) and key in {*_TEXTS, "rows"}:
            out.append(value)

    inside(document, "")
    return words(re.sub(r"\$[^$]*\$", " ", " ".join(out)))


def f1(one: Counter[str], other: Counter[str]) -> float:
    shared = sum((one & other).values())
    total = sum(one.values()) + sum(other.values())
    return 2 * shared / total if total else 1.0


@pytest.mark.parametrize("path", [*PAIRS, *PAPERS], ids=lambda path: path.stem)
def test_a_captured_source_is_a_document(library: Carrel, path: Path) -> None:
    document = library.parse("tex", "tex", path.read_bytes())
    assert document["quality"] in {"complete", "partial", "none"}


def test_documents_have_the_words_of_latexmls_output(library: Carrel, corpus: Path) -> None:
    paths = [path for path in PAIRS if path.name.split("-")[0] in DOCUMENTS]
    scores = {
        path.name: f1(truth(path), found(library.parse("tex", "tex", path.read_bytes())))
        for path in paths
    }
    ordered = sorted(scores.values())
    assert len(ordered) >= 35
    assert sum(ordered) / len(ordered) >= 0.78, sorted(scores.items(), key=lambda item: item[1])
    assert ordered[len(ordered) // 2] >= 0.93


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_whole_paper_has_its_headings(library: Carrel, path: Path) -> None:
    """Compares the title and headings with those that the benchmark's parser finds."""
    document = library.parse("tex", "tex", path.read_bytes())
    table = path.with_name(path.name.replace("input", "expected")).with_suffix(".tsv")
    rows = [line.split("\t") for line in table.read_text("utf-8").splitlines()[1:]]
    plain = re.compile(r"\[[^\]]*\]|\W")
    known = [document.get("title", "")]
    known += [section.get("heading", "") for section in document["sections"]]
    have = " ".join(plain.sub("", re.sub(r"\$[^$]*\$", "", one)).lower() for one in known)
    wanted = [plain.sub("", row[4]).lower() for row in rows if row[0] == "heading" and len(row) > 4]
    assert wanted
    missing = [one for one in wanted if one not in have and "references" not in one]
    assert len(missing) <= len(wanted) * 0.1, missing


@pytest.mark.parametrize("path", EPRINTS, ids=lambda path: path.stem)
def test_a_captured_e_print_is_read_whole(library: Carrel, path: Path) -> None:
    document = library.parse("tex", "tar", path.read_bytes())
    assert document["quality"] == "complete"
    assert len(document["authors"]) >= 4
    assert len(document["abstract"]) > 500
    assert len(document["sections"]) > 10
    assert len(document["references"]) > 20
    assert "??" not in str(document["sections"])
