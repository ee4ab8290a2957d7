"""Tests `carrel.cli.results`, which formats results for people."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.missing import find_missing
from carrel.cli.results import show_result
from support.command_line import CommandLine

RECORDINGS = Path(__file__).parents[3] / "examples" / "recordings"


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def shown(capsys: pytest.CaptureFixture[str], data: dict[str, Any]) -> str:
    show_result(data)
    return capsys.readouterr().out


class TestWorks:
    def test_a_search_is_a_list_of_title_authors_date_venue_identifier_and_totals(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        entry = {
            "id": "cond-mat/0011267v1",
            "title": "On [bold]lattices[/bold]",
            "summary": "Not in a list.",
            "published": "2000-11-15T16:19:15Z",
            "authors": [{"name": f"Author {number}"} for number in range(6)],
            "primary_category": "cond-mat.supr-con",
            "dois": [{"doi": "10.5555/l"}],
            "abstract_url": "https://arxiv.org/abs/cond-mat/0011267v1",
        }
        page = {
            "total_results": 182239,
            "start_index": 10,
            "items_per_page": 1,
            "entries": [entry],
            "next_start": 11,
            "notices": [{"message": "source links were not verified"}],
        }
        assert shown(capsys, page).splitlines() == [
            " 11  On [bold]lattices[/bold]",
            "     Author 0, Author 1, Author 2, Author 3 and 2 more",
            "     2000-11-15 · cond-mat.supr-con · cond-mat/0011267v1 · doi:10.5555/l",
            "     https://arxiv.org/abs/cond-mat/0011267v1",
            "1 of 182,239 results",
            "next page: start=11",
            "notice: source links were not verified",
        ]

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (
                {
                    "works": [
                        {
                            "title": "A work",
                            "ids": {"doi": "10.1000/x", "pmcid": "PMC1"},
                            "authors": [
                                {"family": "Lovelace", "given": "Ada"},
                                {"family": "Shelf", "given": "Jan, Jr"},
                                {"literal": "A Group"},
                            ],
                            "issued": "1843-10",
                            "container_title": "Memoirs",
                            "volume": "3",
                            "issue": "1",
                            "pages": "666-731",
                            "source": "crossref",
                        }
                    ]
                },
                [
                    "A work",
                    "Ada Lovelace, Jan Shelf Jr, A Group",
                    "1843-10 · Memoirs 3(1):666-731 · doi:10.1000/x · PMC1",
                    "1 result\n",
                ],
            ),
            (
                {
                    "articles": [
                        {
                            "pmid": "1",
                            "title": "An article",
                            "authors": [{"last_name": "Curie", "initials": "M"}],
                            "journal_info": {"title": "Ann Desks", "pages": "e1"},
                        }
                    ]
                },
                ["An article", "M Curie", "Ann Desks e1 · pmid:1"],
            ),
            ({"work": {"title": "Alone", "subtitle": "But not lonely"}}, ["Alone: But not lonely"]),
            ({"works": [{"work": {"title": "Merged"}, "sources": ["a"]}]}, ["Merged"]),
            ({"total_results": 0, "entries": []}, ["0 of 0 results"]),
            ({"total_found": 0, "related_articles": [], "citations": {}}, ["0 of 0 results"]),
            ({"entries": [{"title": "", "authors": []}]}, ["(no title)"]),
            ({"entries": [{"id": "2301.1v9"}, {"title": "B"}]}, ["1  2301.1v9", "2  B"]),
            (
                {"pmids": ["7", "8"], "total_found": 9, "brief_summaries": [{"pmid": "7"}]},
                ["1  pmid:7", "2  pmid:8", "2 of 9 results"],
            ),
            (
                {
                    "brief_summaries": [
                        {"pmid": "7", "title": "T", "authors": "Desk A", "source": "J"}
                    ]
                },
                ["1  T", "Desk A", "J · pmid:7"],
            ),
            (
                {"related_articles": [{"pmid": "7", "title": "T", "score": 31200412}]},
                ["pmid:7 · score 31,200,412"],
            ),
            (
                {"candidates": [{"doi": "10.5555/x", "score": 0.5, "agreed": ["year"]}]},
                ["1  doi:10.5555/x", "score 0.5 (year)"],
            ),
            (
                {
                    "works": [],
                    "total_results": 30,
                    "facets": [{"name": "type", "values": [{"value": "Chapter", "count": 1000}]}],
                },
                ["0 of 30 results", "type: Chapter 1,000"],
            ),
        ],
    )
    def test_every_sources_items_are_a_list(
        self, capsys: pytest.CaptureFixture[str], data: dict[str, Any], words: list[str]
    ) -> None:
        out = shown(capsys, data)
        for word in words:
            assert word in out

    @pytest.mark.parametrize(
        "item",
        [
            {"abstract": "A desk."},
            {"summary": "A desk."},
            {"abstract_text": "A desk."},
            {"abstract_sections": [{"text": "A desk."}]},
        ],
    )
    def test_a_complete_list_of_few_works_is_shown_with_abstracts(
        self, capsys: pytest.CaptureFixture[str], item: dict[str, Any]
    ) -> None:
        work = {"title": "T", **item}
        assert "\n\n     A desk.\n" in shown(capsys, {"works": [work]})
        assert "A desk." in shown(capsys, {"work": work})
        assert "A desk." in shown(capsys, {"articles": [work] * 9})
        assert "A desk." not in shown(capsys, {"works": [work] * 9})
        assert "A desk." not in shown(capsys, {"works": [work], "total_results": 2})

    @pytest.mark.parametrize(
        "abstract",
        ["word " * 200_000, "w" * 200_000, "図書館の机" * 500, "شولوم " * 500, "e\u0301" * 900],
        ids=["huge", "without-blanks", "chinese", "arabic", "combining"],
    )
    def test_an_abstract_is_wrapped_to_the_terminal(
        self, capsys: pytest.CaptureFixture[str], abstract: str
    ) -> None:
        from rich.cells import cell_len

        out = shown(capsys, {"work": {"title": "机" * 100, "abstract": abstract}})
        assert len(out) < 60_000
        assert max(cell_len(line) for line in out.splitlines()) <= 80
        assert all(line == line.rstrip() for line in out.splitlines())
        assert all(line.startswith("     ") for line in out.splitlines()[1:] if line)


ODD: list[Any] = [None, 5, True, "x", [], [None], [5], {}, {"a": 1}, [["x"]], [{"a": None}]]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_no_value_of_another_plugin_ends_in_an_exception(
    odd: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    item = dict.fromkeys(
        (
            *("title", "subtitle", "authors", "author", "published", "container_title", "volume"),
            *("issue", "journal_info", "book_info", "source", "ids", "id", "doi", "pmid", "dois"),
            *("url", "abstract", "abstract_sections", "score", "agreed", "is_retracted"),
            *("updated_by", "updates", "notice_of", "comments_corrections", "work"),
        ),
        "x",
    )
    page = {
        **dict.fromkeys(("total_results", "start_index", "offset", "next_start", "pmids"), 1),
        **dict.fromkeys(("facets", "notices", "citations", "documents", "content"), ()),
        **dict.fromkeys(("contents", "work", "items", "not_found", "records"), ()),
    }
    for name in item:
        show_result({"entries": [{**item, name: odd}]})
        show_result({**item, name: odd})
    for name in page:
        show_result({"works": [item], **page, name: odd})
        find_missing({"works": [item], **page, name: odd})
    for name in ("citations", "documents", "content", "contents", "facets", "entries"):
        show_result({name: odd})
        show_result({name: [odd]})
        show_result({name: {"a": odd}})
    assert capsys.readouterr().out


NOTICE = {"type": "retraction", "doi": "10.5555/n", "pmid": "99"}


class TestFate:
    @pytest.mark.parametrize(
        ("item", "mark", "line"),
        [
            ({"updated_by": [NOTICE]}, "[Retracted] ", "Retraction: doi:10.5555/n"),
            (
                {"updated_by": [{"type": "withdrawal", "pmid": "99"}]},
                "[Retracted] ",
                "Withdrawal: pmid:99",
            ),
            (
                {"updated_by": [{"type": "retraction", "source": "pubmed"}]},
                "[Retracted] ",
                "Retraction (pubmed)",
            ),
            ({"is_retracted": True}, "[Retracted] ", None),
            (
                {
                    "is_retracted": True,
                    "comments_corrections": [
                        {"ref_type": "RetractionIn", "ref_source": "Ann. 2025", "pmid": "9"},
                        {"ref_type": "Cites", "pmid": "10"},
                        {"ref_type": "CommentIn", "pmid": "11"},
                    ],
                },
                "[Retracted] ",
                "Retraction in: Ann. 2025 (pmid:9)",
            ),
            ({"is_of_concern": True}, "[Expression of concern] ", None),
            (
                {"updated_by": [{"type": "partial_retraction", "doi": "10.5555/p"}]},
                "[Partially retracted] ",
                "Partial retraction: doi:10.5555/p",
            ),
            (
                {
                    "updated_by": [
                        {"type": "correction", "doi": "10.5555/c", "date": "2024", "source": "a"},
                        {"type": "correction", "doi": "10.5555/c", "source": "b"},
                    ]
                },
                "",
                "Correction: doi:10.5555/c (2024, a; b)",
            ),
            (
                {"comments_corrections": [{"ref_type": "ErratumIn", "ref_source": "Ann. 2024"}]},
                "",
                "Erratum in: Ann. 2024",
            ),
            # A retraction notice names the work that it retracts.
            ({"updates": [NOTICE]}, "", "Notice of retraction: doi:10.5555/n"),
        ],
    )
    def test_a_retracted_work_is_marked_first_and_lists_every_notice(
        self,
        capsys: pytest.CaptureFixture[str],
        item: dict[str, Any],
        mark: str,
        line: str | None,
    ) -> None:
        out = shown(capsys, {"works": [{"title": "A work", **item}]}).splitlines()
        assert out[:-1] == [f"  1  {mark}A work"] + [f"     {line}"] * (line is not None)

    def test_the_fate_of_a_doi_is_shown_as_of_a_work(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        update = {"type": "retraction", "notice_doi": "10.5555/n", "found_in": ["update-to"]}
        fate = {"doi": "10.5555/x", "title": "T", "is_retracted": True, "updates": [update]}
        assert shown(capsys, fate).splitlines() == [
            "  1  [Retracted] T",
            "     doi:10.5555/x",
            "     Retraction: doi:10.5555/n",
        ]
        sound = {"doi": "10.5555/x", "is_retracted": False, "updates": []}
        assert "no retraction, correction or concern is on record" in shown(capsys, sound)

    def test_a_result_that_is_not_a_list_begins_with_its_retractions(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = {"parts": [{"pmid": "1", "is_retracted": True, "updated_by": [NOTICE]}]}
        assert shown(capsys, found).splitlines()[0] == "RETRACTED: doi:10.5555/n: 1"
        cited = {"citations": {"ris": "TY  - JOUR"}, "is_retracted": True}
        assert shown(capsys, cited).splitlines() == ["RETRACTED", "TY  - JOUR"]


class TestTexts:
    def test_a_citation_is_shown_as_its_text_only(self, capsys: pytest.CaptureFixture[str]) -> None:
        ris = "TY  - JOUR\nAB  - " + "long " * 100 + "end\nER  - \n"
        data = {"source_pmid": "1", "related_articles": [], "citations": {"ris": ris}}
        assert shown(capsys, data) == ris

    def test_several_citations_are_grouped_by_style(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data = {"citations": {"apa_string": "Desk, A.", "bibtex": "@article{x,\n}\n"}}
        assert shown(capsys, data) == "apa_string\nDesk, A.\n\nbibtex\n@article{x,\n}\n"

    def test_documents_are_their_texts(self, capsys: pytest.CaptureFixture[str]) -> None:
        one = {"pmid": "1", "media_type": "text/plain", "text": "PMID- 1\nTI  - T\x1b[2J"}
        assert shown(capsys, {"documents": [one]}) == "PMID- 1\nTI  - T [2J\n"
        two = shown(capsys, {"documents": [one, {**one, "pmid": "2"}]})
        assert two.startswith("pmid:1 text/plain\nPMID- 1\n")
        assert "\n\npmid:2 text/plain\n" in two

    def test_a_modules_content_is_text_and_json_has_indents(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        blocks = [
            {"type": "text", "text": "one\ntwo"},
            {"type": "text", "text": '{"a":1}'},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "x://y", "text": "inner"}},
        ]
        assert shown(capsys, {"content": blocks}) == (
            'one\ntwo\n{\n  "a": 1\n}\n[image/png of 3 bytes; --json has it]\ninner\n'
        )

    def test_anything_else_is_shown_as_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        data = {"ids": ["1", "2"], "count": 2, "results": [], "odd": "\x1b[2J\u202e"}
        del data["count"]
        out = shown(capsys, data)
        assert json.loads(out) == data
        assert "\x1b" not in out
        assert "\u202e" not in out


class TestMissing:
    @pytest.mark.parametrize(
        ("result", "reasons", "is_all"),
        [
            ({"articles": [{}], "not_found_pmids": ["9"]}, [("9", "not found")], False),
            ({"articles": [], "not_found_pmids": ["9"]}, [("9", "not found")], True),
            (
                {"records": [], "not_found": ["9"], "invalid": ["x"]},
                [("9", "not found"), ("x", "not an identifier")],
                True,
            ),
            (
                {
                    "works": [{}],
                    "items": [
                        {"given": "1", "outcome": "found"},
                        {"given": "2", "outcome": "not_found"},
                    ],
                },
                [("2", "not found")],
                False,
            ),
            (
                {
                    "works": [],
                    "items": [
                        {"given": "2", "outcome": "failed", "error": {"message": "down"}},
                        {"given": "3", "outcome": "not_asked"},
                        {
                            "given": "4",
                            "outcome": "not_found",
                            "trace": [{"source": "crossref", "outcome": "not_found"}],
                        },
                    ],
                },
                [
                    ("2", "down"),
                    ("3", "no source on offer resolves it"),
                    ("4", "not found by crossref"),
                ],
                True,
            ),
            (
                {"total_results": 0, "entries": [], "not_found": ["1"]},
                [("1", "not found")],
                True,
            ),
            (
                {"total_results": 1, "entries": [], "not_found": ["1"]},
                [("1", "not found")],
                False,
            ),
            ({"entries": [], "not_found": []}, [], False),
            ({"entries": []}, [], False),
            ({"related_articles": [], "total_found": 0}, [], False),
            ({"items": [{"title": "T"}], "not_found": "x"}, [], False),
        ],
    )
    def test_missing_identifiers_are_read_from_a_result(
        self,
        result: dict[str, Any],
        reasons: list[tuple[str, str]],
        is_all: bool,
    ) -> None:
        missing = find_missing(result)
        assert missing.reasons == reasons
        assert missing.is_all is is_all


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


class TestRecordedCalls:
    def test_missing_articles_are_named_and_the_others_shown(self, carrel: CommandLine) -> None:
        words = ["call", "pubmed_fetch", "pmids=99000101", "pmids=99000102", "pmids=99000999"]
        words += ["include_grant_info=true", "--replay", str(RECORDINGS / "pubmed")]
        piped = carrel(*words)
        assert piped.code == 0
        assert piped.err == "carrel: 99000999: not found\n"
        assert json.loads(piped.out)["not_found_pmids"] == ["99000999"]
        if os.name != "posix":
            return
        done = carrel.on_terminal(*words, env={"NO_COLOR": "1"}, columns=80)
        assert done.code == 0
        for text in (
            "  1  Reading at a sloped desk",
            "     BACKGROUND: Slopes of 10⁻³ rad are felt.",
            "  2  [Retracted] Effects of lamp light on reading: a review\n",
            "     Retraction in: Furnit Rev. 2023 Jan;9(1):e1 (pmid:99000104)\n",
            "carrel: 99000999: not found\n",
        ):
            assert text in done.out
        assert max(map(len, done.out.split("\r")[-1].splitlines())) <= 80

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_a_search_and_related_articles_are_lists(self, carrel: CommandLine) -> None:
        start = ("--replay", str(RECORDINGS / "pubmed"), "call")
        env = {"NO_COLOR": "1"}
        related = carrel.on_terminal(
            *start, "pubmed_related", "source_pmid=99000101", "max_related_results=2", env=env
        )
        assert "  2  Shelves within reach\n     Shelf B, Plank P" in related.out
        assert "2 of 4 results" in related.out
        search = carrel.on_terminal(
            *start, "pubmed_search", "query_term=the desk AND qwzxdesk", "max_results=1", env=env
        )
        assert "  1  pmid:99000105\n1 of 1 result\n" in search.out
        assert 'notice: PubMed ignored "the"' in search.out
        nothing = carrel.on_terminal(
            *start,
            "pubmed_search",
            "query_term=qwzxdesk[tiab]",
            "fetch_brief_summaries=5",
            env=env,
        )
        assert nothing.code == 0
        assert "0 of 0 results" in nothing.out

    @pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
    def test_a_citation_can_be_copied(self, carrel: CommandLine) -> None:
        words = ["call", "pubmed_related", "source_pmid=99000102"]
        words += ["relationship_type=citation_formats", "--replay", str(RECORDINGS / "pubmed")]
        result = json.loads(carrel(*words).out)
        done = carrel.on_terminal(*words, env={"NO_COLOR": "1"}, columns=40)
        assert done.out.endswith(f"RETRACTED: pmid:99000104\n{result['citations']['ris']}")
