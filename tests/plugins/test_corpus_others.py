"""Every captured answer of Europe PMC, DataCite, DOAJ and OpenCitations is a typed error or says
what its JSON says.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import SourceError
from conftest import CORPUS, ROOT
from plugins import datacite_oracle, doaj_oracle, europepmc_oracle, opencitations_oracle
from plugins.agreement import differences

pytestmark = pytest.mark.long("corpus")

#: Plugin → its formats, and the captures that there are at least.
FORMATS = {
    "europepmc": (("search", "citations", "references"), 23),
    "datacite": (("dois", "doi"), 58),
    "doaj": (("articles",), 6),
    "opencitations": (("citations", "references"), 5),
}
#: A file without a result that is no invalid document → its code.
CODES = {"bolognese__DOI_not_found_404": "not_found", "rdatacite__dc_cn_fail_404": "not_found"}
CAPTURES = [
    pytest.param(plugin, path, id=f"{plugin}-{path.stem}")
    for plugin in FORMATS
    for path in (sorted((CORPUS / plugin).glob("*.*")) if CORPUS.is_dir() else [])
]
#: Answers of doi.org and its mirrors, which are no answers of these four.
OTHERS = sorted((CORPUS / "doi").glob("*.*")) if CORPUS.is_dir() else []
RECORD = json.loads((ROOT / "contract" / "v1" / "record.schema.json").read_text("utf-8"))
Parse = Callable[[str, str, str], Any]


@pytest.fixture
def parse(config: Config) -> Parse:
    plugins = tuple(builtin(name) for name in FORMATS)
    return Carrel(replace(config, plugins=plugins)).parse


def expected_of(plugin: str, document: str) -> tuple[tuple[str, ...], Any]:
    """Returns the formats for a document and their expected results; none if there are none."""
    if plugin == "europepmc":
        found = europepmc_oracle.read(document)
        return ((found[0],), found[1]) if found else ((), None)
    if plugin == "datacite":
        work = datacite_oracle.read(document)
        return (("dois",), {"total_results": 1, "works": [work]}) if work else ((), None)
    oracle = {"doaj": doaj_oracle, "opencitations": opencitations_oracle}[plugin]
    page = oracle.read(document)
    return (FORMATS[plugin][0], page) if page is not None else ((), None)


@pytest.mark.parametrize("plugin", FORMATS)
def test_the_captured_answers_are_there(corpus: Path, plugin: str) -> None:
    assert len(list((corpus / plugin).glob("*.*"))) >= FORMATS[plugin][1]


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(("plugin", "path"), CAPTURES)
def test_a_captured_answer_says_what_its_json_says(parse: Parse, plugin: str, path: Path) -> None:
    document = path.read_text("utf-8")
    readable, expected = expected_of(plugin, document)
    for document_format in FORMATS[plugin][0]:
        if document_format in readable:
            found = parse(plugin, document_format, document)
            assert list(differences("", expected, found)) == []
        elif document_format == "doi" and expected is not None:
            assert parse(plugin, "doi", document) == {
                "work": parse(plugin, "dois", document)["works"][0]
            }
        else:
            with pytest.raises(SourceError) as caught:
                parse(plugin, document_format, document)
            assert caught.value.error_code == CODES.get(path.stem, "invalid_document")


@pytest.mark.parametrize("plugin", FORMATS)
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_an_answer_of_doi_org_is_a_typed_error(parse: Parse, plugin: str, path: Path) -> None:
    for document_format in FORMATS[plugin][0]:
        with pytest.raises(SourceError) as caught:
            parse(plugin, document_format, path.read_text("utf-8"))
        known = CODES.get(path.stem) if plugin == "datacite" else None
        assert caught.value.error_code == (known or "invalid_document")


@pytest.mark.parametrize(("plugin", "path"), CAPTURES)
def test_every_record_satisfies_the_contract(parse: Parse, plugin: str, path: Path) -> None:
    import jsonschema_rs

    document = path.read_text("utf-8")
    readable, _ = expected_of(plugin, document)
    validator = jsonschema_rs.validator_for(RECORD, validate_formats=True)
    for document_format in readable:
        found = parse(plugin, document_format, document)
        for work in found.get("works", []):
            assert [error.message for error in validator.iter_errors(work)] == []
            for key in ("title", "subtitle", "abstract", "container_title"):
                text = work.get(key, "")
                assert [mark for mark in ("</", "&lt;", "&amp;") if mark in text] == []
