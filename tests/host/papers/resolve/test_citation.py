"""Matching a pasted citation with works."""

from __future__ import annotations

import pytest

from carrel.papers.resolve.citation import match_citation
from carrel.records import Agent, Work

DESKS = Work(
    type="article-journal",
    title="On walled desks: a survey",
    authors=(Agent(family="Müller", given="Anna"),),
    issued="2019-03-01",
    source="one",
)
OTHER = Work(type="article-journal", title="Lamps and chairs", issued="2019", source="one")


@pytest.mark.parametrize(
    "citation",
    [
        "Müller, A. (2019). On walled desks: a survey. Annals of Reading 3, 1-9.",
        "A. MULLER, “On Walled Desks: A Survey”, Ann. Read. 3 (2019) 1",
        "Müller A. On walled desks: a survey. Ann Read.",
        "On walled desks: a survey (2018)",  # the preprint's year
    ],
)
def test_a_citation_finds_its_work(citation: str) -> None:
    best = match_citation(citation, [OTHER, DESKS])[0]
    assert (best.place, best.sure) == (1, True)


@pytest.mark.parametrize(
    "citation",
    [
        "Müller, A. (1999). On walled desks: a survey.",  # another year: another edition
        "On walled desks: a survey",  # a title alone
        "Müller (2019), walled desks survey of many",  # not the title in one piece
    ],
)
def test_a_citation_that_does_not_say_enough_is_not_sure(citation: str) -> None:
    best = match_citation(citation, [OTHER, DESKS])[0]
    assert (best.place, best.sure) == (1, False)


def test_another_work_does_not_match() -> None:
    assert match_citation("Sitter, B. (2001). Standing at windows.", [OTHER, DESKS]) == []
    assert match_citation("anything", [Work(type="article", source="one")]) == []


def test_a_short_title_is_never_sure() -> None:
    short = Work(type="article", title="Desks", issued="2019", source="one")
    assert not match_citation("Desks and more, 2019", [short])[0].sure
