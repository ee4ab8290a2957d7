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
    revised = answers.data("revision")
    assert revised["isComplete"] is True
    assert revised["steps"][0]["supersededBy"] == 2
    assert revised["gaps"] == [{"description": "lamps", "foundInStep": 2}]
    assert revised["depth"] == "standard"
    assert revised["refinementQueries"][0] == "lamps"
    assert set(revised["coverage"]) >= {"sourceCount", "uniqueDomains", "domainSpread", "gaps"}


@pytest.mark.requirement("web-researcher:session")
@pytest.mark.requirement("web-researcher:step-range")
def test_a_session_is_found_again_with_its_sources(answers: Session) -> None:
    session = answers.data("session")
    assert session["stepCount"] == 2
    assert [one["stepNumber"] for one in session["lastSteps"]] == [1, 2]
    [source] = session["sources"]
    assert (source["url"], source["title"], source["foundInStep"]) == (PAGE, "On walled desks", 2)
    assert answers.data("step")["step"]["description"] == "look"
    line, error = answers.error("no step")
    assert "step 9 is not in the session, which has 2 steps" in line
    assert error["kind"] == "validation"


@pytest.mark.requirement("web-researcher:search-session")
def test_results_and_failures_of_searches_are_added_to_the_session(answers: Session) -> None:
    assert answers.data("linked search")["urls"] == [one["url"] for one in FOUND]
    session = answers.data("searched session")
    assert [one["url"] for one in session["sources"]] == [one["url"] for one in FOUND]
    assert session["providerStats"]["web_search"] == {"attempts": 2, "successes": 1}
    answers.error("failed search")


@pytest.mark.requirement("web-researcher:export")
def test_a_session_is_exported(answers: Session) -> None:
    export = answers.data("export")
    assert export["document"].startswith("# Walls?")
    assert "live, status 200" in export["document"]
    assert (export["stepCount"], export["sourceCount"]) == (2, 1)
    document = answers.data("export json")["document"]
    assert [one["stepNumber"] for one in document["steps"]] == [1, 2]


@pytest.mark.requirement("web-researcher:format")
def test_bibliographies_are_formatted(answers: Session) -> None:
    formatted = answers.data("bibliography")
    assert (formatted["style"], formatted["entryCount"]) == ("ris", 1)
    assert formatted["bibliography"].startswith("TY  - ELEC\n")
    assert answers.data("empty")["bibliography"] == "[]"
    assert "sessionId" in answers.data("own bibliography")


@pytest.mark.requirement("web-researcher:verify")
def test_a_citation_is_verified(answers: Session) -> None:
    verification = answers.data("verify")
    assert (verification["inputType"], verification["exists"]) == ("doi", True)
    assert (verification["verificationStatus"], verification["matchConfidence"]) == (
        "confirmed",
        "high",
    )
    assert verification["matchedRecord"]["doi"] == DOI
    assert verification["claimSupport"] in {
        "addressed", "partially_addressed", "not_addressed", "source_unavailable",
    }  # fmt: skip


@pytest.mark.requirement("web-researcher:audit")
def test_a_bibliography_is_audited(answers: Session) -> None:
    audit = answers.data("audit")
    assert audit["source"] == "bibliography:bibtex"
    assert set(audit["summary"]) == {
        "total", "retracted", "deadLink", "notFound", "unchecked", "mischaracterized", "ok",
    }  # fmt: skip
    assert audit["entries"][0]["exists"] is True
