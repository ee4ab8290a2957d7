"""Tests that every captured answer of Crossref is a typed error or works equal to the JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import SourceError
from conftest import CORPUS, ROOT
from plugins.agreement import differences
from plugins.crossref_oracle import read

pytestmark = pytest.mark.long("corpus")

ANSWERS = sorted((CORPUS / "crossref").glob("*.*")) if CORPUS.is_dir() else []
RECORD = json.loads((ROOT / "contract" / "v1" / "record.schema.json").read_text("utf-8"))
#: File → code, and a piece of the message, for those that hold no works.
REFUSED = {
    "habanero__funder-100000001.json": ("invalid_document", "National Science Foundation"),
    "habanero__funder-404.txt": ("not_found", "resource not found"),
    "habanero__funders-bad-filter.json": ("upstream_error", "has-assertion"),
    "habanero__funders-bad-rows.json": ("upstream_error", "positive integer"),
    "habanero__journal-1803-2427.json": ("invalid_document", "journal"),
    "habanero__member-98.json": ("invalid_document", "member"),
    "habanero__works-agency.json": ("invalid_document", "agency"),
    "habanero__works-bad-cursor.json": ("upstream_error", "cursor-invalid"),
    "rcrossref__members-500-exception.json": ("upstream_error", "Response Exception"),
    "rcrossref__types.json": ("invalid_document", "type-list"),
}


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("crossref"),)))


def test_the_captured_answers_are_there(corpus: Path) -> None:
    names = {path.name for path in (corpus / "crossref").glob("*.*")}
    assert len(names) >= 60
    assert set(REFUSED) <= names


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_compact_text_of_a_captured_response_equals_its_json(api: Carrel, path: Path) -> None:
    document = path.read_text("utf-8")
    expected = read(document)
    if path.name in REFUSED:
        assert expected is None
        code, message = REFUSED[path.name]
        with pytest.raises(SourceError, match=message) as caught:
            api.parse("crossref", "works", document)
        assert caught.value.error_code == code
        return
    assert expected is not None
    found = api.parse("crossref", "works", document)
    assert len(found["works"]) == len(expected["works"])
    for number, (one, other) in enumerate(zip(expected["works"], found["works"], strict=True)):
        assert list(differences(f"works[{number}]", one, other)) == []
    for key in ("total_results", "items_per_page", "next_cursor"):
        if key in expected:
            assert found[key] == expected[key]
    facets = [
        (facet["name"], facet["value_count"], [(v["value"], v["count"]) for v in facet["values"]])
        for facet in found.get("facets", [])
    ]
    assert facets == expected.get("facets", [])


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_record_satisfies_the_contract_and_has_no_markup_left(
    api: Carrel, path: Path
) -> None:
    import jsonschema_rs

    try:
        works = api.parse("crossref", "works", path.read_text("utf-8"))["works"]
    except SourceError:
        return
    validator = jsonschema_rs.validator_for(RECORD, validate_formats=True)
    for work in works:
        assert [error.message for error in validator.iter_errors(work)] == []
        # Titles and abstracts of the captured works have no brackets of their own.
        for key in ("title", "subtitle", "abstract", "container_title"):
            text = work.get(key, "")
            assert [mark for mark in ("</", "jats:", "mml:", "&lt;") if mark in text] == []


def test_a_single_work_is_the_same_in_both_formats(api: Carrel, corpus: Path) -> None:
    compared = 0
    for path in sorted((corpus / "crossref").glob("*.json")):
        document = path.read_text("utf-8")
        try:
            [work] = api.parse("crossref", "works", document)["works"]
            assert api.parse("crossref", "work", document) == {"work": work}
        except (SourceError, ValueError):
            continue
        compared += 1
    assert compared >= 30
