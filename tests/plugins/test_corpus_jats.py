"""Tests that captured articles become documents with all text that lxml reads."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.errors import SourceError
from carrel.plugins.schemas.schema import compile_schema
from conftest import CORPUS
from plugins import jats_oracle as oracle

pytestmark = pytest.mark.long("corpus")

ARTICLES = sorted((CORPUS / "jats").glob("*/*.gz")) if CORPUS.is_dir() else []
#: A PubMed record among the captured articles.
NOT_AN_ARTICLE = "pubmed-29768149.xml.gz"
SCHEMA = json.loads(contract_file("document.schema.json").read_text("utf-8"))


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("jats"),)))


def format_of(path: Path) -> str:
    return "tei" if path.parent.name == "tei" else "jats"


def test_the_captured_articles_are_there(corpus: Path) -> None:
    assert len(list((corpus / "jats").glob("*/*.gz"))) >= 50


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.name.split(".")[0])
def test_a_captured_article_has_everything_that_lxml_sees(api: Carrel, path: Path) -> None:
    content = gzip.decompress(path.read_bytes())
    if path.name == NOT_AN_ARTICLE:
        with pytest.raises(SourceError) as caught:
            api.parse("jats", "jats", content)
        assert caught.value.error_code == "invalid_document"
        return
    document = api.parse("jats", format_of(path), content)
    assert compile_schema(SCHEMA).is_valid(document)
    read = oracle.read_tei if format_of(path) == "tei" else oracle.read_jats
    missing = oracle.missing(read(content), document)
    assert {kind: lost for kind, lost in missing.items() if lost} == {}


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.name.split(".")[0])
def test_no_text_of_a_captured_article_is_lost(api: Carrel, path: Path) -> None:
    """At least 99.5 % of all texts, also of unknown elements, are in the result."""
    if path.name == NOT_AN_ARTICLE:
        return
    content = gzip.decompress(path.read_bytes())
    document = api.parse("jats", format_of(path), content)
    found = "\n".join(oracle.letters(text) for text in _strings(document))
    texts = [oracle.letters(text) for text in oracle.root_of(content).itertext("*")]
    # An ORCID is returned without its URL.
    texts = [re.sub("^https?orcidorg", "", text) for text in texts if text]
    lost = [text for text in texts if text not in found]
    assert len(lost) <= len(texts) * 0.005, lost


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _strings(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.name.split(".")[0])
def test_the_markdown_of_a_captured_article_is_read_as_its_text(path: Path) -> None:
    """An independent Markdown parser finds all words, and no unintended markup."""
    native = pytest.importorskip("carrel_native", reason="the native module is not built")
    if not hasattr(native, "markdown"):
        pytest.skip("the native module is older than the rendering of documents (just native)")
    if path.name == NOT_AN_ARTICLE:
        return
    content = gzip.decompress(path.read_bytes()).decode("utf-8")
    document = json.loads(native.parse("jats", format_of(path), content))
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = markdown.parse(native.markdown(format_of(path), content))
    kinds: set[str] = set()
    words = oracle.letters(_plain(tokens, kinds))
    assert kinds & {"html_block", "link_open", "image", "code_inline", "code_block"} == set()
    texts = oracle.texts(document["sections"], "heading", "text", "caption", "rows")
    lines = [line for text in texts if "$" not in text for line in text.split("\n")]
    assert [line for line in lines if oracle.letters(line) not in words] == []


def _plain(tokens: list[Token], kinds: set[str]) -> str:
    out = []
    for token in tokens:
        # The only tag that is written is a line break in a cell.
        if token.type != "html_inline" or token.content != "<br>":
            kinds.add(token.type)
            out.append(token.content if token.type in {"text", "fence"} else "\n")
        out.append(_plain(token.children or [], kinds))
    return "".join(out)
