"""`paper_retractions` over Crossref, PubMed, Europe PMC and OpenAlex as they answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.paper_copies import DOI, TITLE
from support.toolboxes import MakeToolbox
from support.upstream import Reply, Seen, Upstream

Raw = dict[str, Any]
SOURCES = ("crossref", "eutils", "europepmc", "openalex")
NOTICE = "10.5555/notice.1"
PUBMED = f"""<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID>
<Article><ArticleTitle>{TITLE}</ArticleTitle></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn">
<RefSource>Rooms. 2021;9(1):1. doi: {NOTICE}</RefSource><PMID>77</PMID></CommentsCorrections>
<CommentsCorrections RefType="ExpressionOfConcernIn"><RefSource>Rooms. 2020</RefSource>
<PMID>70</PMID></CommentsCorrections></CommentsCorrectionsList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="doi">{DOI}</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>"""
WORK = {"DOI": DOI, "title": [TITLE], "type": "journal-article"}
UPDATE = {
    "DOI": DOI,
    "type": "retraction",
    "source": "retraction-watch",
    "updated": {"date-parts": [[2021, 5, 1]]},
}
EUROPE = {
    "id": "7", "source": "MED", "pmid": "7", "doi": DOI, "title": TITLE,
    "commentCorrectionList": {
        "commentCorrection": [{"id": "77", "source": "MED", "type": "Retraction in"}]
    },
}  # fmt: skip
OPENALEX = {
    "id": "https://openalex.org/W1", "doi": f"https://doi.org/{DOI}", "title": TITLE,
    "type": "article", "is_retracted": True, "ids": {"openalex": "https://openalex.org/W1"},
}  # fmt: skip


class Answers:
    """What each source answers; a test changes members."""

    def __init__(self) -> None:
        self.work: Raw = dict(WORK)
        self.notices: list[Raw] = []
        self.pubmed = PUBMED
        self.europe: Raw = dict(EUROPE)
        self.openalex: Raw = dict(OPENALEX)
        self.dead: set[str] = set()

    def __call__(self, seen: Seen) -> Reply:
        if seen.host in self.dead:
            return Reply(503, body=b"busy")
        return self._text(seen) if "efetch" in seen.path else _json(self._object(seen))

    def _text(self, seen: Seen) -> Reply:
        assert "db=pubmed" in seen.path, seen
        return Reply(body=self.pubmed.encode(), headers=[("content-type", "text/xml")])

    def _object(self, seen: Seen) -> Raw:
        if "idconv" in seen.path:
            return {"status": "ok", "records": [{"requested-id": DOI, "pmid": "7", "doi": DOI}]}
        if seen.host == "www.ebi.ac.uk":
            return {"hitCount": 1, "resultList": {"result": [self.europe]}}
        if seen.host == "api.openalex.org":
            return self.openalex
        if "updates" in seen.path:
            return _message(
                "work-list", {"total-results": len(self.notices), "items": self.notices}
            )
        return _message("work", self.work)


def _message(kind: str, message: Raw) -> Raw:
    return {"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message}


def _json(value: Raw) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers=[("content-type", "application/json")])


@pytest.fixture
def answers(upstream: Upstream) -> Answers:
    replies = Answers()
    upstream.on("*", replies)
    return replies


@pytest.fixture
def check(make_toolbox: MakeToolbox) -> Any:
    toolbox = make_toolbox(*SOURCES)

    def one(ref: str = DOI) -> Raw:
        result: Raw = toolbox.call_sync("paper_retractions", {"ref": ref}).data
        return result

    return one


def outcomes(result: Raw) -> Raw:
    return {one["source"]: one["outcome"] for one in result["sources"]}


def test_four_sources_say_who_states_what(answers: Answers, check: Any) -> None:
    answers.work["updated-by"] = [{**UPDATE, "DOI": NOTICE}]
    result = check()
    assert (result["ok"], result["status"], result["complete"]) == (True, "retracted", True), result
    stated = [
        (one["source"], one["kind"], one.get("doi") or one.get("pmid"))
        for one in result["statements"]
    ]
    assert stated == [
        ("crossref", "retraction", NOTICE),
        ("eutils", "retraction", NOTICE),
        ("eutils", "expression_of_concern", "70"),
        ("europepmc", "retraction", "77"),
        ("openalex", "retraction", None),
    ]
    assert result["statements"][0]["stated_by"] == "retraction-watch"
    assert result["disagreements"] == []
    assert outcomes(result) == dict.fromkeys(SOURCES, "states")


def test_a_notice_that_names_the_paper_is_crossref_s_statement(
    answers: Answers, check: Any
) -> None:
    answers.notices = [{**WORK, "DOI": NOTICE, "title": ["Retraction"], "update-to": [UPDATE]}]
    result = check()
    assert result["statements"][0] == {
        "source": "crossref", "kind": "retraction", "doi": NOTICE, "date": "2021-05-01",
        "stated_by": "retraction-watch",
    }  # fmt: skip


def test_sources_that_disagree_are_shown(answers: Answers, check: Any) -> None:
    answers.europe.pop("commentCorrectionList")
    answers.openalex["is_retracted"] = False
    result = check()
    assert result["status"] == "retracted"
    assert result["disagreements"] == [
        "retracted according to eutils; crossref, europepmc, openalex: no such notice"
    ]


def test_silence_of_some_and_failure_of_one_is_unknown(answers: Answers, check: Any) -> None:
    answers.pubmed = PUBMED.replace("CommentsCorrections", "Removed")
    answers.europe.pop("commentCorrectionList")
    answers.dead = {"api.openalex.org"}
    result = check()
    assert (result["status"], result["complete"]) == ("unknown", False), result
    assert result["summary"].startswith("no source that answered says so: ")
    assert "openalex" in result["summary"].partition("no whole answer from")[2]


def test_nothing_stated_requires_an_answer_of_every_source(answers: Answers, check: Any) -> None:
    answers.pubmed = PUBMED.replace("CommentsCorrections", "Removed")
    answers.europe.pop("commentCorrectionList")
    answers.openalex["is_retracted"] = False
    result = check()
    assert (result["status"], result["complete"]) == ("nothing_stated", True)
    assert outcomes(result) == dict.fromkeys(SOURCES, "silent")
