"""CSL-JSON as programs write it."""

from __future__ import annotations

import json

import pytest

from carrel.bibliography import BibliographyError, read_bibliography, write_bibliography

BOOK = {"id": "b", "type": "book", "title": "Desks", "custom": {"uuid": "1"}, "x-unknown": [1]}


@pytest.mark.parametrize("value", [[BOOK], {"items": [BOOK]}, {"b": BOOK}, BOOK])
def test_items_come_in_a_list_under_items_by_id_or_alone(value: object) -> None:
    found = read_bibliography(json.dumps(value))
    assert found.format == "csl-json"
    assert [one.item for one in found.entries] == [BOOK]


def test_an_item_gets_the_id_that_it_is_listed_under() -> None:
    found = read_bibliography('{"desks2020": {"type": "book", "year": 1}}', "csl-json")
    assert [(one.label, one.item["id"]) for one in found.entries] == [("desks2020", "desks2020")]


def test_ids_become_text_and_parts_of_dates_numbers() -> None:
    text = '[{"id": 7, "type": "book", "issued": {"date-parts": [["2019", "3"]]}, "volume": 2}]'
    [entry] = read_bibliography(text).entries
    assert entry.item["id"] == "7"
    assert entry.item["issued"] == {"date-parts": [[2019, 3]]}
    assert entry.item["volume"] == 2


def test_a_bad_item_does_not_lose_the_others() -> None:
    found = read_bibliography(json.dumps(["text", BOOK, None, 4]))
    assert [one.label for one in found.entries] == ["b"]
    assert [one.label for one in found.unread] == ["record 1", "record 3", "record 4"]


def test_items_of_zotero_are_no_items_of_csl() -> None:
    found = read_bibliography('{"items": [{"itemType": "book", "title": "Desks"}]}')
    assert found.entries == ()
    assert "Zotero's own format" in found.unread[0].problem


@pytest.mark.parametrize("text", ["[1, 2", '"text"', "[" * 100_000, "[NaN]", "12"])
def test_what_is_no_list_of_items_is_malformed(text: str) -> None:
    with pytest.raises(BibliographyError) as raised:
        read_bibliography(text, "csl-json")
    assert raised.value.bibliography_code == "MALFORMED"


def test_deep_nesting_is_an_unread_item() -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    found = read_bibliography(f'[{{"id": "a", "custom": {deep}}}, {{"id": "b"}}]')
    assert [one.label for one in found.entries] == ["b"]
    assert "deeper than 200" in found.unread[0].problem


def test_what_is_written_is_read_again() -> None:
    assert json.loads(write_bibliography([BOOK], "csl-json")) == [BOOK]
    write_bibliography([{"id": "\ud800"}], "csl-json").encode()
