"""Tests the typed view of a record: conversion both ways, and validation."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from carrel.contract import contract_file
from carrel.errors import ContractViolation
from carrel.records import (
    Agent,
    Funder,
    Ids,
    Licence,
    Link,
    OpenCopy,
    RawResult,
    Reference,
    Relation,
    Update,
    Work,
    checked_work,
    work_faults,
)

SCHEMA = json.loads(contract_file("record.schema.json").read_text("utf-8"))

WHOLE: dict[str, Any] = {
    "ids": {
        "doi": "10.1000/A(1):2<3>",
        "arxiv": "math/0309136v2",
        "pmid": "1",
        "pmcid": "PMC2",
        "openalex": "W7",
        "s2": "0123456789abcdef0123456789abcdef01234567",
        "isbn": ["9780000000002"],
        "issn": ["1234-567X"],
    },
    "type": "article-journal",
    "source_type": "journal-article",
    "title": "Title",
    "subtitle": "Subtitle",
    "abstract": "Abstract",
    "authors": [{"family": "Müller", "given": "A."}],
    "editors": [{"literal": "The Editors", "affiliations": ["Somewhere"]}],
    "container_title": "Journal",
    "publisher": "Publisher",
    "issued": "2020-02",
    "volume": "1",
    "issue": "2",
    "pages": "737-8",
    "article_number": "e1",
    "language": "en",
    "subjects": ["desks"],
    "url": "https://example.org/",
    "links": [{"url": "https://example.org/pdf", "content_type": "application/pdf"}],
    "open_copies": [
        {"url": "https://example.org/open.pdf", "kind": "pdf", "version": "publishedVersion"}
    ],
    "is_oa": False,
    "oa_status": "bronze",
    "licenses": [{"url": "https://example.org/licence", "start": "2020-02-01"}],
    "funding": [
        {"name": "Fund"},
        {"name": "Other", "doi": "10.1/f", "awards": ["1"]},
    ],
    "references": [{"key": "1", "unstructured": "A book."}, {}],
    "references_count": 2,
    "cited_by_count": 0,
    "updates": [{"type": "correction", "doi": "10.1000/b"}],
    "updated_by": [{"type": "retraction", "doi": "10.1000/c", "source": "publisher"}],
    "relations": [{"type": "is-preprint-of", "id_type": "doi", "id": "10.1000/d"}],
    "source": "crossref",
}


def members(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["properties"]
    return found


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Work, SCHEMA),
        (Ids, members(SCHEMA)["ids"]),
        (Agent, SCHEMA["$defs"]["agent"]),
        (Update, SCHEMA["$defs"]["update"]),
        (Link, members(SCHEMA)["links"]["items"]),
        (OpenCopy, members(SCHEMA)["open_copies"]["items"]),
        (Licence, members(SCHEMA)["licenses"]["items"]),
        (Funder, members(SCHEMA)["funding"]["items"]),
        (Reference, members(SCHEMA)["references"]["items"]),
        (Relation, members(SCHEMA)["relations"]["items"]),
    ],
)
def test_the_view_has_exactly_the_members_of_the_contract(
    kind: type[Any], schema: dict[str, Any]
) -> None:
    assert [member.name for member in fields(kind)] == list(members(schema))


def test_a_record_with_every_member_is_converted_both_ways() -> None:
    assert set(WHOLE) == set(members(SCHEMA))
    assert work_faults(RawResult(WHOLE)) == []
    assert Work.from_json(WHOLE).to_json() == WHOLE


def test_unknown_members_are_omitted_from_the_json() -> None:
    bare = {"ids": {}, "type": "article", "source": "arxiv"}
    assert Work.from_json(bare).to_json() == bare
    assert Work.from_json({**bare, "authors": [], "updates": []}).to_json() == bare


def test_records_are_values() -> None:
    assert Work.from_json(WHOLE) == Work.from_json(json.loads(json.dumps(WHOLE)))
    assert len({Work.from_json(WHOLE), Work.from_json(WHOLE)}) == 1


@pytest.mark.requirement("result:typed:record")
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"title": ""}, "title"),
        ({"ids": {"doi": "https://doi.org/10.1000/x"}}, "ids.doi"),
        ({"authors": [{"affiliations": []}]}, "authors.0"),
        ({"issued": "2020-02-30T00"}, "issued"),
        ({"surprise": 1}, "surprise"),
        ({"url": "no address"}, "url"),
    ],
)
def test_a_record_that_the_contract_refuses_names_the_place(
    change: dict[str, Any], place: str
) -> None:
    with pytest.raises(ContractViolation, match=place) as caught:
        checked_work(RawResult({**WHOLE, **change}), plugin="crossref", tool="lookup")
    assert caught.value.plugin == "crossref"


def test_the_identifiers_of_a_record_are_canonical() -> None:
    ids = Ids(doi="10.48550/arXiv.2001.00001", arxiv="math.GT/0309136v2", pmid="7", issn=("1",))
    assert [(one.type, one.id) for one in ids.known()] == [
        ("arxiv", "2001.00001"),
        ("arxiv", "math/0309136v2"),
        ("pmid", "7"),
    ]
