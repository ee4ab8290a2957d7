"""Tests that the component and native code give the expected result for every fixture."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.errors import SourceError
from carrel.plugins.schemas.schema import compile_schema

FIXTURES = Path(__file__).parents[1] / "fixtures"
#: Source folder → (plugin, document format, name of the document). A case with another format names
#: it in a file `format`; the ending of a binary document is that format's.
SOURCES = {
    "arxiv": ("arxiv", "feed", "response.xml"),
    "brave": ("brave", "results", "response.json"),
    "crossref": ("crossref", "works", "response.json"),
    "csl": ("csl", "process", "response.json"),
    "datacite": ("datacite", "dois", "response.json"),
    "doaj": ("doaj", "articles", "response.json"),
    "duckduckgo": ("duckduckgo", "results", "response.txt"),
    "europepmc": ("europepmc", "search", "response.json"),
    "eutils": ("eutils", "efetch", "response.xml"),
    "exa": ("exa", "results", "response.json"),
    "google": ("google", "results", "response.json"),
    "hackernews": ("hackernews", "item", "response.json"),
    "jats": ("jats", "jats", "response.xml"),
    "office": ("office", "docx", "document.docx"),
    "openalex": ("openalex", "works", "response.json"),
    "opencitations": ("opencitations", "citations", "response.json"),
    "openlibrary": ("openlibrary", "books", "response.json"),
    "page": ("page", "html", "document.html"),
    "pdf": ("pdf", "pdf", "document.pdf"),
    "searxng": ("searxng", "results", "response.json"),
    "reddit": ("reddit", "post", "response.json"),
    "semanticscholar": ("semanticscholar", "papers", "response.json"),
    "serper": ("serper", "results", "response.json"),
    "tavily": ("tavily", "results", "response.json"),
    "tex": ("tex", "tex", "document.tex"),
    "unpaywall": ("unpaywall", "record", "response.json"),
    "youtube": ("youtube", "watch", "response.txt"),
}
CASES = [
    pytest.param(source, path, id=f"{source}-{path.name}")
    for source in SOURCES
    for path in sorted((FIXTURES / source).iterdir())
    if path.is_dir()
]


def format_of(source: str, path: Path) -> tuple[str, str]:
    """Returns the plugin and the format of a case."""
    plugin, document_format, _ = SOURCES[source]
    named = path / "format"
    return plugin, named.read_text("utf-8").strip() if named.exists() else document_format


def api(config: Config, plugin: str) -> Carrel:
    """Returns a host with one built-in plugin."""
    return Carrel(replace(config, plugins=(builtin(plugin),)))


def through_the_sandbox(config: Config, source: str, path: Path) -> dict[str, Any]:
    plugin, document_format = format_of(source, path)
    document, _ = read_case(source, path)
    try:
        if isinstance(document, bytes):
            return api(config, plugin).parse(
                plugin, document_format, document, options=options_of(path)
            )
        return api(config, plugin).parse(plugin, document_format, document)
    except SourceError as error:
        return {"error": error.to_dict()}


def natively(source: str, path: Path) -> dict[str, Any]:
    native = pytest.importorskip(
        "carrel_native", reason="the native module is not built (just native)"
    )
    plugin, document_format = format_of(source, path)
    document, _ = read_case(source, path)
    try:
        if isinstance(document, bytes):
            options = json.dumps(options_of(path))
            text = native.parse_bytes(plugin, document_format, document, options)
        else:
            text = native.parse(plugin, document_format, document)
        result: dict[str, Any] = json.loads(text)
    except ValueError as error:
        return {"error": json.loads(str(error))}
    return result


def options_of(path: Path) -> dict[str, Any]:
    """Returns the options of a binary document, from its `case.json`."""
    case = path / "case.json"
    fields = json.loads(case.read_text("utf-8")) if case.exists() else {}
    options: dict[str, Any] = fields.get("options", {})
    return options


def read_case(source: str, path: Path) -> tuple[str | bytes, dict[str, Any]]:
    """Returns the document, as bytes if its format is binary, and the expected result."""
    usual = path / SOURCES[source][2]
    if usual.name.startswith("document."):
        file = next(path.glob("document.*"))
        return file.read_bytes(), json.loads((path / "expected.json").read_text("utf-8"))
    # Some utilities respond with text or JSON.
    file = usual if usual.exists() else next(path.glob("response.*"))
    document = file.read_bytes().decode("utf-8")
    return document, json.loads((path / "expected.json").read_text("utf-8"))


def assert_matches(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compares results completely, and errors by the members that the expectation names."""
    if "error" not in expected:
        assert found == expected
        return
    assert "error" in found, found
    for key, value in expected["error"].items():
        assert found["error"].get(key) == value, key


@pytest.mark.parametrize(("source", "path"), CASES)
def test_a_fixture_gives_the_expected_result_in_the_sandbox(
    config: Config, source: str, path: Path
) -> None:
    _, expected = read_case(source, path)
    assert_matches(through_the_sandbox(config, source, path), expected)


@pytest.mark.parametrize(("source", "path"), CASES)
def test_the_native_parser_returns_the_same(config: Config, source: str, path: Path) -> None:
    expected = natively(source, path)
    found = through_the_sandbox(config, source, path)
    if "error" in expected:
        assert_matches(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("source", ["jats", "office", "page", "pdf", "tex"])
def test_the_expected_documents_conform_to_the_schema(source: str) -> None:
    schema = compile_schema(json.loads(contract_file("document.schema.json").read_text("utf-8")))
    expected = [read_case(source, path)[1] for path in (FIXTURES / source).iterdir()]
    assert [one for one in expected if "error" not in one and not schema.is_valid(one)] == []


def test_the_fixtures_are_not_empty_and_listed() -> None:
    listed = (FIXTURES / "README.md").read_text("utf-8")
    names = [path.values[1].name for path in CASES if isinstance(path.values[1], Path)]
    assert len(names) >= 20
    assert [name for name in names if f"`{name}`" not in listed] == []
