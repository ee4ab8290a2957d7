"""Tests `library_check`: notices, published versions and drifted metadata, with who says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.library.checking.findings import checked_days_ago
from carrel.library.checking.similarity import authors_alike, titles_alike
from support.library_world import (
    Exchange,
    arxiv,
    crossref,
    crossref_work,
    item,
    no_notices,
    not_in_pubmed,
    open_library_api,
    write_library,
)

DOI = "10.5555/tidy.2019"
NOTICE = {
    "DOI": "10.5555/tidy.2019.r",
    "type": "retraction",
    "label": "Retraction",
    "source": "publisher",
    "updated": {"date-parts": [[2020, 6, 1]]},
}


def known(**members: Any) -> list[Exchange]:
    """Returns the exchanges of a DOI that Crossref has."""
    return [
        *crossref(DOI, crossref_work(DOI, **members)),
        not_in_pubmed(22, DOI),
        no_notices(DOI),
    ]


def check(
    config: Config,
    tmp_path: Path,
    exchanges: list[Exchange],
    *items: dict[str, Any],
    **arguments: Any,
) -> dict[str, Any]:
    if items:
        write_library(tmp_path / "library.json", *items)
    given = {"ids": [one["id"] for one in items], **arguments}
    with open_library_api(config, tmp_path, exchanges) as api:
        found: dict[str, Any] = api.call("library_check", given).data
    return found


def kept(tmp_path: Path) -> dict[str, Any]:
    [one] = json.loads((tmp_path / "library.json").read_text("utf-8"))
    found: dict[str, Any] = one.get("custom", {}).get("check", {})
    return found


def test_a_reference_that_agrees_is_ok_and_the_result_is_kept(
    config: Config, tmp_path: Path
) -> None:
    report = check(config, tmp_path, known(), item())
    [one] = report["results"]
    assert one["status"] == "ok", one
    assert "crossref" in one["sources"]
    assert report["summary"] == {"total": 1, "ok": 1}
    assert kept(tmp_path)["status"] == "ok"
    assert checked_days_ago(kept(tmp_path), datetime.now(UTC).timestamp()) == pytest.approx(
        0, abs=0.01
    )


@pytest.mark.requirement("library:checking:who")
def test_a_retraction_is_found_with_its_notice_and_who_says_so(
    config: Config, tmp_path: Path
) -> None:
    report = check(config, tmp_path, known(**{"updated-by": [NOTICE]}), item())
    [one] = report["results"]
    assert one["status"] == "retracted"
    [finding] = one["findings"]
    assert finding["sources"] == ["crossref"]
    assert finding["details"]["retraction_doi"] == "10.5555/tidy.2019.r"
    assert "2020-06-01" in finding["message"]
    assert kept(tmp_path)["findings"][0]["type"] == "retracted"


@pytest.mark.requirement("reference-manager:check")
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("expression_of_concern", "concern"),
        ("correction", "corrected"),
        ("erratum", "corrected"),
        ("new_version", "version_changed"),
        ("withdrawal", "retracted"),
    ],
)
def test_each_kind_of_notice_has_its_finding(
    config: Config, tmp_path: Path, kind: str, status: str
) -> None:
    notices = {"updated-by": [{**NOTICE, "type": kind}]}
    [one] = check(config, tmp_path, known(**notices), item())["results"]
    assert one["status"] == status, one


@pytest.mark.requirement("reference-manager:check:mismatch")
def test_the_identifier_of_another_work_is_a_mismatch(config: Config, tmp_path: Path) -> None:
    other = item(title="On the colour of pigeons", author=[{"family": "Quill"}])
    [one] = check(config, tmp_path, known(), other)["results"]
    assert one["status"] == "metadata_mismatch"
    fields = {one["field"] for one in one["findings"][0]["details"]["fields"]}
    assert fields == {"title", "author"}


@pytest.mark.requirement("reference-manager:check:outdated")
def test_drifted_members_are_listed_with_both_values(config: Config, tmp_path: Path) -> None:
    [one] = check(config, tmp_path, known(), item(volume="11", page="737\u2013748"))["results"]
    assert one["status"] == "metadata_outdated"
    [field] = one["findings"][0]["details"]["fields"]
    assert field == {"field": "volume", "yours": "11", "theirs": "12", "sources": ["crossref"]}


def test_a_preprint_that_was_published_names_the_publication(
    config: Config, tmp_path: Path
) -> None:
    preprint = {
        "id": "abara-2023",
        "type": "article",
        "title": "Drawers of infinite depth",
        "author": [{"family": "Abara", "given": "Kim"}],
        "issued": {"date-parts": [[2023]]},
        "DOI": "10.48550/arXiv.2307.90101",
        "custom": {"arxiv_id": "2307.90101"},
    }
    work = crossref_work(
        DOI, title=["Drawers of infinite depth"], author=[{"given": "Kim", "family": "Abara"}]
    )
    exchanges = [arxiv("2307.90101", doi=DOI), *crossref(DOI, work), not_in_pubmed(22, DOI)]
    [one] = check(config, tmp_path, exchanges, preprint)["results"]
    assert one["status"] == "version_changed", one
    assert one["findings"][0]["details"]["new_doi"] == DOI
    assert one["findings"][0]["sources"]


@pytest.mark.requirement("library:checking:silence")
def test_a_source_that_did_not_answer_is_not_ok(config: Config, tmp_path: Path) -> None:
    [one] = check(config, tmp_path, [], item())["results"]
    assert one["status"] == "unknown"
    assert "crossref" in one["message"]


@pytest.mark.requirement("reference-manager:check-week")
def test_what_was_checked_within_a_week_is_skipped_unless_forced(
    config: Config, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    recent = {"check": {"checked_at": (now - timedelta(days=3)).isoformat(), "status": "ok"}}
    old = {"check": {"checked_at": (now - timedelta(days=8)).isoformat(), "status": "ok"}}
    [one] = check(config, tmp_path, known(), item(custom=recent))["results"]
    assert (one["status"], "force" in one["message"]) == ("skipped", True)
    [one] = check(config, tmp_path, known(), item(custom=recent), force=True)["results"]
    assert one["status"] == "ok"
    [one] = check(config, tmp_path, known(), item(custom=old))["results"]
    assert one["status"] == "ok"


def test_nothing_is_kept_with_save_false_and_unknown_ids_are_reported(
    config: Config, tmp_path: Path
) -> None:
    report = check(config, tmp_path, known(), item(), ids=["marlow-2019", "nobody"], save=False)
    assert [one["status"] for one in report["results"]] == ["ok", "not_found"]
    assert report["summary"] == {"total": 2, "ok": 1, "not_found": 1}
    assert kept(tmp_path) == {}


def test_a_reference_without_identifier_is_skipped(config: Config, tmp_path: Path) -> None:
    book = {"id": "holm-2019", "type": "book", "title": "Shelves"}
    [one] = check(config, tmp_path, [], book)["results"]
    assert (one["status"], "no DOI" in one["message"]) == ("skipped", True)


@pytest.mark.requirement("reference-manager:check-alike")
@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("The tidy desk", "Tidy desk", True),
        ("The tidy desk", "The tidy desk: a history of its drawers and their contents", True),
        ("<i>The</i> tidy désk", "The tidy desk", True),
        ("The tidy desk", "On pigeons", False),
        ("桌子的历史", "桌子的歷史", True),
        ("", "Anything", True),
    ],
)
def test_titles_are_compared_by_words(first: str, second: str, alike: bool) -> None:
    assert titles_alike(first, second) == alike


@pytest.mark.requirement("reference-manager:check-alike:authors")
def test_authors_are_compared_by_family_name() -> None:
    assert authors_alike(["Marlow, Ada", "Okafor, Jan"], ["Ada Marlow", "Quill, P."])
    assert not authors_alike(["Marlow, Ada"], ["Quill, Pat"])
    assert authors_alike([], ["Quill, Pat"])
