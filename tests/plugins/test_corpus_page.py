"""Tests captured pages: documents satisfy the schema, paywalls are detected, tags are read."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.tags import of_document, statements

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.plugins.schemas.schema import compile_schema
from conftest import CORPUS

PAGES = sorted(CORPUS.glob("html/*/*.html*")) if CORPUS.is_dir() else []
SCHEMA = json.loads(contract_file("document.schema.json").read_text("utf-8"))
#: Captures of challenge software that are ordinary pages.
ORDINARY = {"page_with_emails", "page_with_recaptcha", "requested_page"}


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("page"),)))


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def read(api: Carrel, path: Path) -> dict[str, Any]:
    return api.parse("page", "html", content(path))


def test_the_captured_pages_are_there(corpus: Path) -> None:
    assert len(list(corpus.glob("html/*/*.html*"))) >= 400


def test_every_captured_page_is_a_document(api: Carrel, corpus: Path) -> None:
    schema = compile_schema(SCHEMA)
    assert [path.name for path in PAGES if not schema.is_valid(read(api, path))] == []


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.parent.name == "challenge"], ids=lambda path: path.stem
)
def test_a_captured_challenge_is_reported_and_has_no_text(api: Carrel, path: Path) -> None:
    found = read(api, path)
    assert (found["kind"] == "challenge") == (path.stem not in ORDINARY)
    assert (found["sections"] == []) == (path.stem not in ORDINARY)


def test_no_captured_article_page_is_classified_as_a_paywall(api: Carrel, corpus: Path) -> None:
    walls = {"challenge", "login", "consent", "not_found", "paywall"}
    folders = {"aeb", "readability", "trafilatura", "wcxb", "scholarly"}
    pages = [
        path
        for path in PAGES
        if path.parent.name in folders and not path.name.endswith(".expected.html.gz")
    ]
    kinds = {path.name: read(api, path).get("kind") for path in pages}
    assert {name: kind for name, kind in kinds.items() if kind in walls} == {}


def test_meta_tags_are_read_as_metadata(api: Carrel, corpus: Path) -> None:
    """At least 98 % of the values that lxml reads in landing pages' tags; no false DOI."""
    stated = kept = 0
    for path in PAGES:
        if path.parent.name not in {"meta", "scholarly"}:
            continue
        found, tags = read(api, path), statements(content(path))
        stated, kept = stated + len(tags), kept + len(tags & of_document(found))
        doi = found["identifiers"].get("doi")
        assert doi is None or any(doi in one for one in tags), path.name
    assert stated >= 700
    assert kept >= 0.98 * stated
