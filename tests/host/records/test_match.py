"""Tests which records are grouped into one work."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.records import Agent, Work, group, same_work
from support.works import TITLE, person, work

LIKE: dict[str, Any] = {"title": TITLE, "authors": (person("Reader", "A."),), "issued": "2020"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doi": "10.1000/A"}, {"doi": "10.1000/a"}),
        ({"arxiv": "2001.00001v1"}, {"arxiv": "2001.00001v3"}),
        ({"arxiv": "math.GT/0309136"}, {"arxiv": "math/0309136v1"}),
        ({"arxiv": "2001.00001"}, {"doi": "10.48550/arXiv.2001.00001"}),
        ({"pmid": "1"}, {"pmid": "1"}),
        ({"pmcid": "PMC1"}, {"pmcid": "PMC1"}),
        ({"doi": "10.1000/a", "pmid": "1"}, {"doi": "10.1000/b", "pmid": "1"}),
        (LIKE, {**LIKE, "title": TITLE.upper() + "."}),
        ({**LIKE, "doi": "10.1000/a"}, {**LIKE, "pmid": "1"}),
        (LIKE, {**LIKE, "issued": "2020-03-04"}),
        (LIKE, {**LIKE, "authors": (Agent(literal="Anna Reader"),)}),
        (LIKE, {**LIKE, "authors": (Agent(literal="Reader, Anna"), person("Other"))}),
        (
            {**LIKE, "title": "Über Lesepulte der Neuzeit"},
            {**LIKE, "title": "Uber Lesepulte der Neuzeit"},
        ),
        ({**LIKE, "title": TITLE, "subtitle": "Part 1"}, {**LIKE, "title": f"{TITLE}: Part 1"}),
        ({**LIKE, "type": "article"}, {**LIKE, "type": "paper-conference"}),
        ({**LIKE, "title": "図書館の閲覧机について"}, {**LIKE, "title": "図書館の閲覧机について"}),
    ],
)
def test_one_work(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert same_work(work("crossref", **one), work("eutils", **other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"doi": "10.1000/a"}, {"doi": "10.1000/b"}),
        ({"pmid": "1"}, {"pmcid": "PMC1"}),
        ({**LIKE, "doi": "10.1000/a"}, {**LIKE, "doi": "10.1000/b"}),
        ({**LIKE, "pmid": "1"}, {**LIKE, "pmid": "2"}),
        (LIKE, {**LIKE, "issued": "2021"}),
        (LIKE, {**LIKE, "authors": (person("Writer"),)}),
        (LIKE, {**LIKE, "authors": ()}),
        (LIKE, {**LIKE, "issued": None}),
        (LIKE, {**LIKE, "title": None}),
        ({**LIKE, "title": "Editorial"}, {**LIKE, "title": "Editorial"}),
        ({**LIKE, "title": "Table of Contents"}, {**LIKE, "title": "Table of Contents"}),
        ({**LIKE, "subtitle": "Part 1"}, {**LIKE, "subtitle": "Part 2"}),
        (LIKE, {**LIKE, "type": "dataset"}),
    ],
)
def test_two_works(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not same_work(work("crossref", **one), work("eutils", **other))


def sets(records: list[Work]) -> list[set[str]]:
    """Returns the groups, each as the set of its records' publishers, which serve as names."""
    return [{str(record.publisher) for record in one.records} for one in group(records)]


def test_identifiers_join_from_one_to_the_next() -> None:
    chain = [
        work("arxiv", arxiv="2001.00001", doi="10.1000/a", publisher="1"),
        work("crossref", doi="10.1000/A", publisher="2"),
        work("eutils", doi="10.1000/a", pmid="7", publisher="3"),
        work("other", pmid="7", pmcid="PMC9", publisher="4"),
        work("another", pmcid="PMC8", publisher="5"),
    ]
    assert sorted(map(sorted, sets(chain))) == [["1", "2", "3", "4"], ["5"]]


@pytest.mark.parametrize("source", ["openalex", "semanticscholar", "stranger"])
def test_an_index_s_identifiers_do_not_join_works_of_two_dois(source: str) -> None:
    works = [
        work("crossref", doi="10.1000/a", publisher="1"),
        work("crossref", doi="10.1000/b", publisher="2"),
        work("eutils", doi="10.1000/b", pmid="9", publisher="3"),
    ]
    wrong = work(source, doi="10.1000/a", pmid="9", publisher="4")
    assert sorted(map(sorted, sets([*works, wrong]))) == [["1", "4"], ["2", "3"]]
    bare = work(source, pmid="9", arxiv="2001.00001", publisher="5")
    e_print = work("arxiv", arxiv="2001.00001", doi="10.1000/a", publisher="6")
    assert sorted(map(sorted, sets([*works, bare, e_print]))) == [["1", "6"], ["2", "3"], ["5"]]
    assert sorted(map(sorted, sets([*works[1:], bare]))) == [["2", "3", "5"]]


def groups_of_answers(*answers: list[Work]) -> list[list[str]]:
    """Returns the publishers of each group of the answers to several identifiers."""
    merged = group([one for answer in answers for one in answer], same=answers)
    return sorted(sorted(str(record.publisher) for record in one.records) for one in merged)


def test_a_doi_that_only_an_index_names_is_kept_and_joins_nothing() -> None:
    article = work("eutils", pmid="9", title="On lamps", publisher="1")
    wrong = work("openalex", pmid="9", doi="10.1000/a", publisher="2")
    other = work("crossref", doi="10.1000/a", publisher="3")
    assert groups_of_answers([article, wrong], [other]) == [["1", "2"], ["3"]]
    assert groups_of_answers([wrong], [other]) == [["2", "3"]], "no primary source has it"


def test_one_record_for_every_identifier_joins_no_works() -> None:
    first = work("crossref", doi="10.1000/a", publisher="1")
    second = work("crossref", doi="10.1000/b", publisher="2")
    same = work("stranger", title="Buy desks", publisher="3")
    assert groups_of_answers([first, same], [second, same]) == [["1"], ["2"], ["3"]]
    wrong = work("stranger", doi="10.1000/c", publisher="3")
    assert groups_of_answers([first, wrong], [second, wrong]) == [["1"], ["2"], ["3"]]


def test_an_answer_with_the_doi_of_another_work_joins_nothing() -> None:
    first = work("crossref", doi="10.1000/a", publisher="1")
    second = work("crossref", doi="10.1000/b", publisher="2")
    wrong = work("stranger", doi="10.1000/b", pmid="9", publisher="3")
    third = work("eutils", pmid="9", publisher="4")
    assert groups_of_answers([first, wrong], [second], [third]) == [["1", "3"], ["2"], ["4"]]
    [merged, _] = group([first, wrong, second], same=[[first, wrong], [second]])
    assert merged.work.ids.doi == "10.1000/a"
    assert merged.alternatives["ids.doi"][0].sources == ("stranger",)


def test_a_record_without_doi_that_answers_two_identifiers_of_one_work_is_of_it() -> None:
    article = work("eutils", pmid="1", pmcid="PMC1", publisher="1")
    other = work("europepmc", pmid="1", publisher="2")
    assert groups_of_answers([article, other], [article]) == [["1", "2"]]


def test_a_record_that_two_works_could_claim_joins_neither() -> None:
    alike = [
        work("crossref", **LIKE, doi="10.1000/a", publisher="1"),
        work("crossref", **LIKE, doi="10.1000/b", publisher="2"),
        work("arxiv", **LIKE, publisher="3"),
    ]
    assert sorted(map(sorted, sets(alike))) == [["1"], ["2"], ["3"]]
    assert sorted(map(sorted, sets([alike[0], alike[2]]))) == [["1", "3"]]


def test_titles_join_works_that_identifiers_joined() -> None:
    records = [
        work("eutils", pmid="1", pmcid="PMC1", publisher="1"),
        work("other", **LIKE, pmcid="PMC1", publisher="2"),
        work("crossref", **LIKE, doi="10.1000/a", publisher="3"),
    ]
    assert sets(records) == [{"1", "2", "3"}]


def test_records_known_to_be_one_work_are_joined_regardless_of_content() -> None:
    alias, canonical = work("arxiv", doi="10.1000/old"), work("crossref", doi="10.1000/new")
    assert len(group([alias, canonical])) == 2
    [merged] = group([alias, canonical], same=[[alias, canonical]])
    assert merged.work.ids.doi == "10.1000/new"
    assert merged.alternatives["ids.doi"][0].value == "10.1000/old"
