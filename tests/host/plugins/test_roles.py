"""Tests roles of plugins: declarations in manifests, and validation of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.errors import ContractViolation, LoadError
from carrel.plugins.manifests.manifest import parse_manifest
from carrel.plugins.roles import (
    read_full_text,
    read_links,
    read_search,
    role_arguments_faults,
)

WORK = {"ids": {"doi": "10.5555/x"}, "type": "article", "source": "another"}
ROLES = {
    "search": {"max": 50, "filters": ["year"]},
    "open_copies": {"identifiers": ["doi"], "batch": 20},
    "citations": {"identifiers": ["openalex", "doi"], "max": 200},
}


def manifest(**members: Any) -> str:
    whole = {
        "contract": "1.1",
        "name": "lists",
        "version": "1.0.0",
        "description": "Lists.",
        "licence": "MIT",
        "hosts": [],
        "tools": [],
        "formats": [],
    }
    return json.dumps(whole | members)


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_manifest_s_roles_are_read() -> None:
    roles = parse_manifest(manifest(roles=ROLES), "lists").roles
    assert list(roles) == ["search", "open_copies", "citations"]
    assert (roles["search"].tool, roles["search"].most) == ("role:search", 50)
    assert roles["search"].filters == ("year",)
    assert (roles["open_copies"].identifiers, roles["open_copies"].batch) == (("doi",), 20)
    assert parse_manifest(manifest(), "lists").roles == {}


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"roles": {"rank": {}}}, "rank"),
        ({"roles": {}}, "roles"),
        ({"roles": {"citations": {"identifiers": ["issn"], "max": 5}}}, "issn"),
        ({"roles": ROLES, "contract": "1.0"}, "roles need contract 1.1, but found 1.0"),
    ],
)
def test_a_role_that_the_contract_does_not_know_is_refused(
    members: dict[str, Any], fault: str
) -> None:
    with pytest.raises(LoadError, match=fault):
        parse_manifest(manifest(**members), "lists")


def test_a_plugin_cannot_answer_for_another_source() -> None:
    answer = read_search(text({"works": [WORK], "total": 9, "next_cursor": "c"}), "lists")
    assert [work.source for work in answer.works] == ["lists"]
    assert (answer.total, answer.next_cursor, answer.refused) == (9, "c", ())


def test_a_record_that_the_contract_refuses_costs_itself_alone() -> None:
    bad = WORK | {"title": ""}
    assert [len(answer) for answer in _searched([WORK, bad, WORK])] == [2, 1]
    links = text({"links": [{"work": bad}, {"work": WORK, "contexts": ["As in [1]."]}]})
    answer = read_links(links, "lists", "citations")
    assert [link.contexts for link in answer.links] == [("As in [1].",)]
    assert len(answer.refused) == 1


def _searched(works: list[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    answer = read_search(text({"works": works}), "lists")
    return answer.works, answer.refused


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"copies": [{"url": "http://example.org/x.pdf", "format": "pdf"}]},
        {"copies": [{"url": "https://example.org/x.doc", "format": "doc"}]},
        {"copies": [], "more": 1},
    ],
)
def test_a_wrong_envelope_fails_the_call(answer: Any) -> None:
    with pytest.raises(ContractViolation, match="role:full_text"):
        read_full_text(text(answer), "lists")


def test_a_full_text_s_copies_are_read() -> None:
    copies = [{"url": "https://example.org/x.xml", "format": "jats", "license": "cc-by"}]
    (copy,) = read_full_text(text({"copies": copies}), "lists")
    assert (copy.url, copy.format, copy.license) == ("https://example.org/x.xml", "jats", "cc-by")


@pytest.mark.parametrize(
    ("role", "arguments", "faults"),
    [
        ("search", {"query": "desks", "limit": 5, "year_from": 1990}, 0),
        ("search", {"query": "", "limit": 0}, 2),
        ("open_copies", {"ids": [{"type": "doi", "id": "10.5555/x"}]}, 0),
        ("references", {"id": {"type": "s2", "id": "0"}, "limit": 5}, 0),
        ("citations", {"id": {"type": "isbn", "id": "0"}, "limit": 5}, 1),
        ("full_text", {}, 1),
    ],
)
def test_arguments_are_those_of_the_contract(role: str, arguments: Any, faults: int) -> None:
    assert len(role_arguments_faults(role, arguments)) == faults
