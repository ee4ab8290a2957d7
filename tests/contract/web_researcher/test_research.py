"""Tests the sentences about sessions of research, bibliographies and citations."""

from __future__ import annotations

import pytest

from .conftest import DOI, FOUND, PAGE, Session

pytestmark = pytest.mark.long("surfaces")


@pytest.mark.requirement("web-researcher:sequential")
@pytest.mark.requirement("web-researcher:depth")
def test_steps_are_recorded_and_revised(answers: Session) -> None:
    line, error = answers.error("lost")
    assert error["kind"] == "validation"
    assert "sessionId" in line
    first = answers.data("first")
    assert (first["currentStep"], first["isComplete"]) == (1, False)
    assert first["responseMode"] == "full"
    assert not {"depth", "coverage", "refinementQueries"} & first.keys()
    told = answers.data("revision")
    assert told["isComplete"] is True
    assert told["steps"][0]["supersededBy"] == 2
    assert told["gaps"] == [{"description": "lamps", "foundInStep": 2}]
    assert told["depth"] == "standard"
    assert told["refinementQueries"][0] == "lamps"
    assert set(told["coverage"]) >= {"sourceCount", "uniqueDomains", "domainSpread", "gaps"}


@pytest.mark.requirement("web-researcher:session")
@pytest.mark.requirement("web-researcher:step-range")
def test_a_session_is_found_again_with_its_sources(answers: Session) -> None:
    told = answers.data("session")
    assert told["stepCount"] == 2
    assert [one["stepNumber"] for one in told["lastSteps"]] == [1, 2]
    [source] = told["sources"]
    assert (source["url"], source["title"], source["foundInStep"]) == (PAGE, "On walled desks", 2)
    assert answers.data("step")["step"]["description"] == "look"
    line, error = answers.error("no step")
    assert "step 9 is not in the session, which has 2 steps" in line
    assert error["kind"] == "validation"


@pytest.mark.requirement("web-researcher:search-session")
def test_results_and_failures_of_searches_are_added_to_the_session(answers: Session) -> None:
    assert answers.data("linked search")["urls"] == [one["url"] for one in FOUND]
    told = answers.data("searched session")
    assert [one["url"] for one in told["sources"]] == [one["url"] for one in FOUND]
    assert told["providerStats"]["web_search"] == {"attempts": 2, "successes": 1}
    answers.error("failed search")


@pytest.mark.requirement("web-researcher:export")
def test_a_session_is_exported(answers: Session) -> None:
    told = answers.data("export")
    assert told["document"].startswith("# Walls?")
    assert "live, status 200" in told["document"]
    assert (told["stepCount"], told["sourceCount"]) == (2, 1)
    document = answers.data("export json")["document"]
    assert [one["stepNumber"] for one in document["steps"]] == [1, 2]


@pytest.mark.requirement("web-researcher:format")
def test_bibliographies_are_formatted(answers: Session) -> None:
    told = answers.data("bibliography")
    assert (told["style"], told["entryCount"]) == ("ris", 1)
    assert told["bibliography"].startswith("TY  - ELEC\n")
    assert answers.data("empty")["bibliography"] == "[]"
    assert "sessionId" in answers.data("own bibliography")


@pytest.mark.requirement("web-researcher:verify")
def test_a_citation_is_verified(answers: Session) -> None:
    told = answers.data("verify")
    assert (told["inputType"], told["exists"]) == ("doi", True)
    assert (told["verificationStatus"], told["matchConfidence"]) == ("confirmed", "high")
    assert told["matchedRecord"]["doi"] == DOI
    assert told["claimSupport"] in {
        "addressed", "partially_addressed", "not_addressed", "source_unavailable",
    }  # fmt: skip


@pytest.mark.requirement("web-researcher:audit")
def test_a_bibliography_is_audited(answers: Session) -> None:
    told = answers.data("audit")
    assert told["source"] == "bibliography:bibtex"
    assert set(told["summary"]) == {
        "total", "retracted", "deadLink", "notFound", "unchecked", "mischaracterized", "ok",
    }  # fmt: skip
    assert told["entries"][0]["exists"] is True
