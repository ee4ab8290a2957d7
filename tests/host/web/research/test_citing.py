"""Tests of evidence about citations: what is confirmed, what is not, and what is only unknown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config
from carrel.errors import ArgumentError, SourceError
from carrel.exchange import Call, Limits
from carrel.records import Agent, Work
from carrel.web.research.citing.auditing import FLAGS, MAX_ENTRIES, audit
from carrel.web.research.citing.entries import given_entries, read_entries
from carrel.web.research.citing.titles import compare_title
from carrel.web.research.citing.verifying import CitationVerifier
from support.guests import Guest
from support.research_doubles import FakeWeb
from support.role_guests import role_guest

Raw = dict[str, Any]
DOI, GONE = "10.5555/desk.1", "10.5555/gone.1"
WORK: Raw = {
    "ids": {"doi": DOI},
    "type": "article-journal",
    "title": "On walled desks and their lamps",
    "authors": [{"family": "Green", "given": "Ada"}],
    "container_title": "Desk Review",
    "issued": "2020-01-01",
    "abstract": "Walls keep noise from readers.",
    "source": "self-styled",
}
RETRACTION = {"type": "retraction", "doi": "10.5555/notice.1", "date": "2021-05-01"}


def knowing(*found: Raw, works: list[Raw] | None = None) -> Guest:
    """Returns a source that has `WORK` and not `GONE`, and that finds works."""
    payload = {
        "works": [{"id": {"type": "doi", "id": DOI}, "work": one} for one in found],
        "not_found": [{"type": "doi", "id": GONE}],
    }
    return role_guest(
        {"lookup": json.dumps(payload), "role:search": json.dumps({"works": works or []})},
        lookup={"identifiers": ["doi"], "batch": 10},
        roles={"search": {"max": 50, "filters": []}},
    )


def broken() -> Guest:
    return role_guest(
        {},
        lookup={"identifiers": ["doi"], "batch": 10},
        roles={"search": {"max": 50, "filters": []}},
    )


Opened = Callable[..., CitationVerifier]


@pytest.fixture
def opened(configure: Callable[..., Config]) -> Iterator[Opened]:
    carrels: list[Carrel] = []

    def make(web: FakeWeb | None = None, **guests: Guest) -> CitationVerifier:
        api = Carrel(configure(**guests))
        carrels.append(api)
        return CitationVerifier(api.toolbox.plugin_set, api.toolbox.config, web)

    yield make
    for one in carrels:
        one.close()


def call() -> Call:
    return Call("carrel", "citation_verify", Limits(wall_seconds=60))


def verify(verifier: CitationVerifier, citation: str, claim: str = "") -> Raw:
    return verifier.verify(citation, claim, call())


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("citation", "kind"),
        [
            (DOI, "doi"),
            (f"doi:{DOI}", "doi"),
            (f"https://doi.org/{DOI}", "url"),
            (f"Green, A. (2020). On walled desks and their lamps. {DOI}.", "doi"),
        ],
    )
    def test_a_doi_that_a_source_has_is_confirmed(
        self, opened: Opened, citation: str, kind: str
    ) -> None:
        result = verify(opened(one=knowing(WORK)), citation)
        assert (result["input_type"], result["exists"]) == (kind, True)
        assert (result["verification_status"], result["match_confidence"]) == ("confirmed", "high")
        assert result["matched_record"]["title"] == WORK["title"]
        assert "retraction_status" not in result
        assert result["claim_check_skipped"] is True
        assert result["trust"] == "untrusted-external-content"

    def test_a_doi_that_no_source_has_is_not_found(self, opened: Opened) -> None:
        result = verify(opened(one=knowing(WORK)), GONE)
        assert (result["exists"], result["verification_status"]) == (False, "not_found")
        assert result["match_confidence"] == "none"

    @pytest.mark.requirement("web:evidence:silence")
    def test_a_doi_is_uncertain_where_a_source_did_not_answer(self, opened: Opened) -> None:
        result = verify(opened(one=knowing(WORK), two=broken()), GONE)
        assert result["verification_status"] == "uncertain"
        assert "not every source answered" in result["reason"]

    def test_another_title_beside_a_doi_is_a_mismatch(self, opened: Opened) -> None:
        result = verify(opened(one=knowing(WORK)), f"Brown, B. Volcanoes of the north. {DOI}")
        assert result["title_match"] == "mismatch"
        assert result["exists"] is True  # the work is there; it is another one
        assert result["match_confidence"] == "low"
        title = "the identifier is that of another title: On walled desks and their lamps"
        assert result["reason"] == title
        assert title in result["provenance"]

    @pytest.mark.parametrize(
        ("text", "differs"),
        [
            ("Green, A. (2019). On walled desks and their lamps.", "2019"),
            ("Green 1998, On walled desks and their lamps, 2nd ed. 1999", "1998 and 1999"),
            ("Green, A. (2020). On walled desks and their lamps.", None),
            ("Green 2019, On walled desks and their lamps, Desk Review 2020", None),
            ("Green. On walled desks and their lamps. Desk Review 3, pp. 1999-2005.", None),
            ("On walled desks and their lamps 20201", None),
        ],
    )
    def test_another_year_beside_a_doi_is_reported_and_no_verdict(
        self, opened: Opened, text: str, differs: str | None
    ) -> None:
        result = verify(opened(one=knowing(WORK)), f"{text} https://doi.org/{DOI}")
        reason = f"the citation has the year {differs}, the record 2020" if differs else None
        assert result.get("reason") == reason
        assert (result["verification_status"], result["match_confidence"]) == ("confirmed", "high")
        assert result["title_match"] == "match"

    @pytest.mark.requirement("web-researcher:verify-notice")
    def test_a_retraction_is_reported_with_its_notice(self, opened: Opened) -> None:
        result = verify(opened(one=knowing({**WORK, "updated_by": [RETRACTION]})), DOI)
        assert result["retraction_status"] == {
            "retracted": True,
            "kind": "retraction",
            "date": "2021-05-01",
            "notice_doi": "10.5555/notice.1",
            "source": "one",
        }


class TestReferences:
    REFERENCE = "Green, A. (2020). On walled desks and their lamps. Desk Review."

    @pytest.mark.requirement("web-researcher:verify-match:record")
    def test_a_reference_that_one_work_matches_is_confirmed(self, opened: Opened) -> None:
        result = verify(opened(one=knowing(WORK, works=[WORK])), self.REFERENCE)
        assert (result["input_type"], result["verification_status"]) == ("reference", "confirmed")
        assert result["matched_record"]["doi"] == DOI

    @pytest.mark.requirement("web-researcher:verify-match:possible")
    def test_a_work_that_only_resembles_is_a_possible_match(self, opened: Opened) -> None:
        reference = "Brown, B. (1987). On walled desks and their lamps. Other Press."
        result = verify(opened(one=knowing(WORK, works=[WORK])), reference)
        assert (result["exists"], result["verification_status"]) == (False, "uncertain")
        assert result["match_confidence"] in {"low", "medium"}
        assert "matched_record" not in result
        assert result["possible_match"]["doi"] == DOI

    def test_a_reference_that_nothing_matches_is_not_found(self, opened: Opened) -> None:
        result = verify(opened(one=knowing()), "Nobody, N. (2031). A work that was never written.")
        assert result["verification_status"] == "not_found"

    def test_a_reference_is_uncertain_where_no_source_answered(self, opened: Opened) -> None:
        result = verify(opened(one=broken()), self.REFERENCE)
        assert result["verification_status"] == "uncertain"
        assert "no answer from one" in result["provenance"]


class TestAddresses:
    URL = "https://example.org/desks"

    def test_a_page_that_answers_is_confirmed(self, opened: Opened) -> None:
        result = verify(opened(FakeWeb({self.URL: "Walls."}), one=knowing()), self.URL)
        assert (result["input_type"], result["exists"], result["http_status"]) == ("url", True, 200)

    def test_a_page_that_is_not_there_is_not_found(self, opened: Opened) -> None:
        result = verify(opened(FakeWeb(), one=knowing()), self.URL)
        assert result["verification_status"] == "not_found"

    def test_a_page_that_refuses_programs_is_uncertain(self, opened: Opened) -> None:
        refused = SourceError(
            "invalid_document", "no", plugin="", tool="web_read", extra={"status": 403}
        )
        result = verify(opened(FakeWeb({self.URL: refused}), one=knowing()), self.URL)
        assert (result["verification_status"], result["http_status"]) == ("uncertain", 403)

    def test_without_a_grant_nothing_is_claimed_of_a_page(self, opened: Opened) -> None:
        result = verify(opened(one=knowing()), self.URL)
        assert result["verification_status"] == "uncertain"
        assert "web.hosts" in result["reason"]


class TestClaims:
    @pytest.mark.requirement("web-researcher:verify-claim:page")
    def test_the_sentences_of_a_page_are_the_evidence(self, opened: Opened) -> None:
        url = "https://example.org/desks"
        web = FakeWeb({url: "Walls do not keep noise out. Rain fell."})
        result = verify(opened(web, one=knowing()), url, "walls keep noise out")
        assert result["claim_support"] == "addressed"
        assert result["claim_evidence"] == ["Walls do not keep noise out."]
        assert result["contrast_signal"] is True
        assert result["claim_source_url"] == url

    def test_the_abstract_is_read_where_there_is_no_text(self, opened: Opened) -> None:
        result = verify(opened(one=knowing(WORK)), DOI, "walls keep noise from readers")
        assert result["claim_support"] == "addressed"
        assert "the claim was compared with the abstract only" in result["provenance"]

    @pytest.mark.requirement("web-researcher:verify-claim:silent")
    def test_a_source_that_cannot_be_read_says_nothing(self, opened: Opened) -> None:
        result = verify(opened(one=knowing()), GONE, "walls")
        assert result["claim_support"] == "source_unavailable"
        assert not any("verdict" in str(one) for one in result.values())


class TestTitles:
    KNOWN = Work(
        type="article",
        title="On walled desks and their lamps",
        authors=(Agent(family="Green", given="Ada"),),
        container_title="Desk Review",
        source="one",
    )

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("On walled desks and their lamps", "match"),
            ("Green A. On Walled Desks and their Lamps. Desk Review 3 (2020): 1-9", "match"),
            ("Green, A. (2020). Desk Review, vol. 3", "not_checked"),
            ("Volcanoes", "not_checked"),
            ("Volcanoes erupting", "mismatch"),
            ("", "not_checked"),
        ],
    )
    @pytest.mark.requirement("web-researcher:verify-title")
    def test_two_words_that_are_nowhere_make_a_mismatch(self, text: str, match: str) -> None:
        assert compare_title(text, self.KNOWN) == match


BIBTEX = f"@article{{a, title={{On walled desks and their lamps}}, doi={{{DOI}}}, year={{2020}}}}"
RIS = f"TY  - JOUR\nTI  - On walled desks and their lamps\nDO  - {DOI}\nER  - \n"
CSL = json.dumps([{"id": "a", "type": "article-journal", "title": "T", "DOI": DOI}])


class TestAudits:
    def audit(self, verifier: CitationVerifier, *entries: Raw) -> Raw:
        return audit(given_entries(entries), "entries", verifier, call())

    @pytest.mark.parametrize(
        ("text", "format_"), [(BIBTEX, "bibtex"), (RIS, "ris"), (CSL, "csl-json")]
    )
    @pytest.mark.requirement("web-researcher:audit-formats")
    def test_formats_are_detected(self, text: str, format_: str) -> None:
        [entry], detected, unread = read_entries(text, "auto")
        assert (detected, unread) == (format_, [])
        assert entry.identifier is not None
        assert entry.identifier.id == DOI

    def test_an_invalid_bibliography_is_refused(self) -> None:
        with pytest.raises(ArgumentError, match="bibliography"):
            read_entries("just a text", "auto")
        assert read_entries("[]", "auto") == ([], "csl-json", [])

    def test_an_identifier_of_another_work_has_no_flag_and_is_not_ok(self, opened: Opened) -> None:
        report = self.audit(
            opened(one=knowing(WORK)),
            {"doi": DOI, "title": "Volcanoes of the north", "date": "1999-05"},
            {"doi": DOI, "title": WORK["title"], "date": "2019"},
            {"doi": DOI, "title": WORK["title"], "date": "2020-07-01"},
            {"doi": DOI},
        )
        assert [one["flags"] for one in report["entries"]] == [[], [], [], []]
        assert report["summary"]["ok"] == 3
        year = "the citation has the year {}, the record 2020"
        assert [one.get("reason") for one in report["entries"]] == [
            f"the identifier is that of another title: {WORK['title']}; {year.format(1999)}",
            year.format(2019),
            None,
            None,
        ]

    @pytest.mark.requirement("web-researcher:audit-flags")
    def test_each_entry_has_its_flags_and_the_summary_counts_them(self, opened: Opened) -> None:
        dead, refused = "https://example.org/dead", "https://example.org/refused"
        robots = SourceError("denied", "robots", plugin="", tool="web_read")
        web = FakeWeb({refused: robots, "https://example.org/rain": "Rain fell on hills."})
        verifier = opened(web, one=knowing({**WORK, "updated_by": [RETRACTION]}))
        report = self.audit(
            verifier,
            {"doi": DOI, "title": WORK["title"]},
            {"url": dead},
            {"doi": GONE},
            {"title": "A book that is in no index at all"},
            {"url": "https://example.org/rain", "claim": "volcanoes erupt"},
            {"url": refused},
            {"url": "https://example.org/rain"},
        )
        assert [one["flags"] for one in report["entries"]] == [
            ["retracted"],
            ["dead_link"],
            ["not_found"],
            ["unchecked"],
            ["mischaracterized"],
            ["unchecked"],
            [],
        ]
        assert report["summary"] == {
            "total": 7,
            "retracted": 1,
            "dead_link": 1,
            "not_found": 1,
            "unchecked": 2,
            "mischaracterized": 1,
            "ok": 1,
        }
        assert set(FLAGS) == set(report["summary"]) - {"total", "ok"}
        assert report["entries"][1]["link_live"] is False
        assert report["trust"] == "untrusted-external-content"

    def test_a_doi_is_unchecked_and_not_missing_where_a_source_is_silent(
        self, opened: Opened
    ) -> None:
        report = self.audit(opened(one=knowing(), two=broken()), {"doi": GONE})
        assert report["entries"][0]["flags"] == ["unchecked"]
        assert "exists" not in report["entries"][0]

    @pytest.mark.requirement("web-researcher:audit-most")
    def test_entries_beyond_two_hundred_are_counted(self, opened: Opened) -> None:
        entries = [{"title": ""} for _ in range(203)]
        report = self.audit(opened(one=knowing()), *entries)
        assert MAX_ENTRIES == 200
        assert (report["entry_count"], report["skipped"]) == (200, 3)
        assert "the other 3" in report["skipped_note"]

    def test_entries_keep_their_order(self, opened: Opened) -> None:
        report = self.audit(opened(one=knowing(WORK)), *({"title": f"t{n}"} for n in range(12)))
        assert [one["title"] for one in report["entries"]] == [f"t{n}" for n in range(12)]

    def test_two_hundred_identifiers_are_looked_up(self, opened: Opened) -> None:
        report = self.audit(
            opened(one=knowing(WORK)), *({"doi": f"10.5555/{n}"} for n in range(200))
        )
        assert report["summary"]["total"] == 200


BOOK: Raw = {
    "ids": {"isbn": ["9780000000002"]},
    "type": "book",
    "title": "The book of walls",
    "issued": "2020",
    "source": "self-styled",
}


def library(*, has: bool = True) -> Guest:
    """Returns a source that looks up books by ISBN, and finds no work by its words."""
    one = {"type": "isbn", "id": "9780000000002"}
    payload = {"works": [{"id": one, "work": BOOK}], "not_found": []}
    return role_guest(
        {"lookup": json.dumps(payload if has else {"works": [], "not_found": [one]}),
         "role:search": json.dumps({"works": []})},
        lookup={"identifiers": ["isbn"], "batch": 10},
        roles={"search": {"max": 50, "filters": []}},
    )  # fmt: skip


class TestBooks:
    BIBTEX = "@book{{b, title={{{}}}, isbn={{{}}}, year={{2020}}}}"

    def entry(self, verifier: CitationVerifier, text: str) -> Raw:
        entries, _, _ = read_entries(text, "bibtex")
        [entry] = audit(entries, "bibliography", verifier, call())["entries"]
        return dict(entry)

    @pytest.mark.parametrize(
        "isbn", ["9780000000002", "978-0-00-000000-2", "0-00-000000-0", "1234, 978-0-00-000000-2"]
    )
    @pytest.mark.parametrize("title", ["The book of walls", ""])
    def test_a_book_is_looked_up_by_its_isbn(self, opened: Opened, isbn: str, title: str) -> None:
        entry = self.entry(opened(books=library()), self.BIBTEX.format(title, isbn))
        assert (entry["exists"], entry["flags"]) == (True, [])

    def test_another_title_beside_an_isbn_is_a_mismatch(self, opened: Opened) -> None:
        text = self.BIBTEX.format("Volcanoes of the north", "9780000000002")
        assert self.entry(opened(books=library()), text)["title_match"] == "mismatch"

    @pytest.mark.parametrize("title", ["The book of walls", ""])
    def test_a_book_that_a_source_lacks_is_unchecked_and_not_missing(
        self, opened: Opened, title: str
    ) -> None:
        text = self.BIBTEX.format(title, "9780000000002")
        assert self.entry(opened(books=library(has=False)), text)["flags"] == ["unchecked"]

    def test_a_chapter_is_not_its_book(self, opened: Opened) -> None:
        text = self.BIBTEX.format("A chapter", "9780000000002").replace("@book", "@incollection")
        assert self.entry(opened(books=library()), text)["flags"] == ["unchecked"]

    def test_a_book_is_searched_by_its_title_where_no_source_knows_isbns(
        self, opened: Opened
    ) -> None:
        known = {**WORK, "title": "The book of walls and lamps", "type": "book"}
        text = self.BIBTEX.format("The book of walls and lamps", "9780000000002")
        assert self.entry(opened(one=knowing(works=[known])), text).get("exists") is True
