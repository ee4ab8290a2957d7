"""`carrel.cli.render`: results as a person reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.cli.render import show_result


def shown(capsys: pytest.CaptureFixture[str], data: dict[str, Any]) -> str:
    show_result(data)
    return capsys.readouterr().out


def test_an_arxiv_result_shows_title_authors_id_date_and_totals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = shown(
        capsys,
        {
            "total_results": 182239,
            "start_index": 10,
            "items_per_page": 1,
            "entries": [
                {
                    "id": "cond-mat/0011267v1",
                    "title": "On [bold]lattices[/bold]",
                    "published": "2000-11-15T16:19:15Z",
                    "authors": [{"name": f"Author {number}"} for number in range(6)],
                    "primary_category": "cond-mat.supr-con",
                    "abstract_url": "https://arxiv.org/abs/cond-mat/0011267v1",
                }
            ],
            "notices": [{"message": "source links were not verified"}],
        },
    )
    assert "11  On [bold]lattices[/bold]" in out
    assert "Author 0, Author 1, Author 2, Author 3 and 2 more" in out
    assert "cond-mat/0011267v1 · 2000-11-15 · cond-mat.supr-con" in out
    assert "https://arxiv.org/abs/cond-mat/0011267v1" in out
    assert "1 of 182,239 results" in out
    assert "notice: source links were not verified" in out


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {
                "works": [
                    {
                        "title": "A work",
                        "ids": {"doi": "10.1000/x"},
                        "authors": [{"family": "Lovelace", "given": "Ada"}, {"literal": "A Group"}],
                        "issued": "1843-10",
                        "source": "crossref",
                    }
                ]
            },
            ["A work", "Ada Lovelace, A Group", "doi:10.1000/x · 1843-10 · crossref", "1 results"],
        ),
        (
            {
                "articles": [
                    {
                        "pmid": "1",
                        "title": "An article",
                        "authors": [{"last_name": "Curie", "initials": "M"}],
                    }
                ]
            },
            ["An article", "M Curie", "pmid:1"],
        ),
        ({"work": {"title": "Alone"}}, ["Alone"]),
        ({"total_results": 0, "entries": []}, ["0 of 0 results"]),
        ({"entries": [{"title": "", "authors": []}]}, ["(no title)"]),
    ],
)
def test_every_sources_items_are_a_list(
    capsys: pytest.CaptureFixture[str], data: dict[str, Any], words: list[str]
) -> None:
    out = shown(capsys, data)
    for word in words:
        assert word in out


NOTICE = {"type": "retraction", "doi": "10.5555/n", "pmid": "99"}


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ({"updated_by": [NOTICE]}, "RETRACTED: doi:10.5555/n"),
        ({"updated_by": [{"type": "withdrawal", "pmid": "99"}]}, "RETRACTED: pmid:99"),
        ({"updated_by": [{"type": "retraction", "source": "pubmed"}]}, "RETRACTED"),
        ({"is_retracted": True}, "RETRACTED"),
        (
            {
                "is_retracted": True,
                "comments_corrections": [{"ref_type": "RetractionIn", "ref_source": "Ann. 2025"}],
            },
            "RETRACTED: Ann. 2025",
        ),
        ({"is_of_concern": True}, "EXPRESSION OF CONCERN"),
        (
            {"updated_by": [{"type": "partial_retraction", "doi": "10.5555/p"}]},
            "PARTIALLY RETRACTED: doi:10.5555/p",
        ),
        ({"updated_by": [{"type": "correction", "doi": "10.5555/c"}]}, ""),
        # What a notice of a retraction itself says: it takes another work back.
        ({"updates": [NOTICE]}, ""),
    ],
)
def test_a_retracted_work_says_so_in_its_first_line(
    capsys: pytest.CaptureFixture[str], item: dict[str, Any], line: str
) -> None:
    out = shown(capsys, {"works": [{"title": "A work", **item}]})
    first = out.splitlines()[0].removeprefix("  1").strip()
    assert first == (line or "A work")


def test_a_result_that_is_shown_as_json_begins_with_its_retractions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {"brief_summaries": [{"pmid": "1", "is_retracted": True, "updated_by": [NOTICE]}]}
    assert shown(capsys, found).splitlines()[0] == "RETRACTED: doi:10.5555/n: 1"
    fate = {"is_retracted": True, "updates": [{"type": "retraction", "notice_doi": "10.5555/n"}]}
    assert shown(capsys, fate).splitlines()[0] == "RETRACTED: doi:10.5555/n"
    cited = {"citations": {"ris": "TY  - JOUR"}, "is_retracted": True}
    assert shown(capsys, cited).splitlines()[0] == "RETRACTED"


def test_anything_else_is_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"pmids": ["1", "2"], "count": 2, "odd": "\x1b[2J\u202e"}
    out = shown(capsys, data)
    assert json.loads(out) == data
    assert "\x1b" not in out
    assert "\u202e" not in out
