"""Tests `library_add` with every kind of input, over recorded exchanges with invented works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.errors import CODES, SourceError
from carrel.library.adding.outcome import InputOutcome
from support.library_world import (
    ISBN,
    Exchange,
    arxiv,
    crossref,
    crossref_search,
    crossref_work,
    in_pmc,
    item,
    no_eprints,
    not_in_pmc,
    not_in_pubmed,
    open_library_api,
    openlibrary,
    pubmed,
    write_library,
)

FIXTURES = Path(__file__).parents[2] / "fixtures"
DOI = "10.5555/tidy.2019"
CITATION = "Marlow Ada. The tidy desk and its drawers"
WORDS = "%20AND%20".join(
    f"all:{word}" for word in ["Marlow", "Ada", "The", "tidy", "desk", "and", "its", "drawers"]
)
BIBTEX = "@article{desk1, title={One desk}, author={Marlow, Ada}, year={2001}, doi={10.5555/one}}"
RIS = "TY  - JOUR\nTI  - Two desks\nAU  - Reyes, Lea\nPY  - 2002\nDO  - 10.5555/two\nER  - \n"
NBIB = "PMID- 777\nTI  - Three desks\nFAU - Holm, Greta\nDP  - 2003\nPT  - Journal Article\n"
CSL = json.dumps([{"id": "four", "type": "book", "title": "Four desks"}])
ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?><xml><records><record><ref-type name="Book">6
</ref-type><contributors><authors><author>Abara, Kim</author></authors></contributors><titles>
<title>Five desks</title></titles><dates><year>2005</year></dates></record></records></xml>"""


def add(
    config: Config,
    tmp_path: Path,
    inputs: Any,
    exchanges: list[Exchange] | None = None,
    **more: Any,
) -> dict[str, Any]:
    with open_library_api(config, tmp_path, exchanges or [], **more) as api:
        found: dict[str, Any] = api.call("library_add", {"inputs": inputs}).data
    return found


def stored(tmp_path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((tmp_path / "library.json").read_text("utf-8"))
    return found


@pytest.mark.requirement("reference-manager:summary:added")
@pytest.mark.parametrize(
    ("text", "exchanges", "kind", "title", "key"),
    [
        pytest.param(
            f"https://doi.org/{DOI}", crossref(DOI, crossref_work(DOI)), "doi",
            "The tidy desk and its drawers", "marlow-2019", id="doi",
        ),
        pytest.param(
            "arXiv:2307.90101", [arxiv("2307.90101")], "arxiv",
            "Drawers of infinite depth", "abara-2023", id="arxiv",
        ),
        pytest.param(
            "PMID: 99000777", [pubmed("99000777")], "pmid",
            "Posture at sloped desks", "reyes-2021", id="pmid",
        ),
        pytest.param(
            "PMC9900777", [*in_pmc("PMC9900777", "99000777"), pubmed("99000777")], "pmcid",
            "Posture at sloped desks", "reyes-2021", id="pmcid",
        ),
        pytest.param(
            "ISBN 0-306-40615-2", [openlibrary()], "isbn",
            "A history of shelves", "holm-2019", id="isbn",
        ),
        pytest.param(
            CITATION,
            [*crossref_search(CITATION, crossref_work(DOI)), no_eprints(WORDS)], "citation",
            "The tidy desk and its drawers", "marlow-2019", id="citation",
        ),
    ],
)  # fmt: skip
def test_a_work_is_added_by_what_names_it(  # noqa: PLR0917 - parameters of a table
    config: Config,
    tmp_path: Path,
    text: str,
    exchanges: list[Exchange],
    kind: str,
    title: str,
    key: str,
) -> None:
    result = add(config, tmp_path, text, exchanges)
    [outcome] = result["outcomes"]
    assert (outcome["status"], outcome["kind"]) == ("added", kind), outcome
    assert (outcome["id"], outcome["title"]) == (key, title)
    assert result["summary"] == {"total": 1, "added": 1, "skipped": 0, "failed": 0}
    [kept] = stored(tmp_path)
    assert (kept["id"], kept["title"]) == (key, title)
    assert kept["custom"]["uuid"]


@pytest.mark.parametrize(
    ("text", "kind", "title"),
    [
        (BIBTEX, "bibtex", "One desk"),
        (RIS, "ris", "Two desks"),
        (NBIB, "nbib", "Three desks"),
        (CSL, "csl-json", "Four desks"),
        (ENDNOTE, "endnote", "Five desks"),
    ],
    ids=["bibtex", "ris", "nbib", "csl-json", "endnote"],
)
@pytest.mark.parametrize("as_file", [False, True], ids=["text", "file"])
def test_a_bibliography_is_added_without_a_request(  # noqa: PLR0917 - of a table
    config: Config, tmp_path: Path, text: str, kind: str, title: str, as_file: bool
) -> None:
    given, folders = text, tuple[Path, ...]()
    if as_file:
        endings = {"bibtex": "bib", "csl-json": "json", "endnote": "xml"}
        path = tmp_path / f"refs.{endings.get(kind, kind)}"
        path.write_text(text, "utf-8")
        given, folders = str(path), (tmp_path,)
    [outcome] = add(config, tmp_path, given, folders=folders)["outcomes"]
    assert (outcome["status"], outcome["kind"], outcome["title"]) == ("added", kind, title), outcome


def test_a_pdf_is_added_by_the_doi_that_it_states(config: Config, tmp_path: Path) -> None:
    pdf = FIXTURES / "pdf" / "paper" / "document.pdf"
    doi = json.loads((pdf.parent / "expected.json").read_text("utf-8"))["identifiers"]["doi"]
    result = add(
        config, tmp_path, str(pdf), crossref(doi, crossref_work(doi)), folders=(FIXTURES / "pdf",)
    )
    [outcome] = result["outcomes"]
    assert (outcome["status"], outcome["kind"]) == ("added", "pdf"), outcome
    assert stored(tmp_path)[0]["DOI"] == doi


@pytest.mark.requirement("library:adding:granted")
def test_a_file_outside_the_granted_folders_is_refused(config: Config, tmp_path: Path) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (tmp_path / "refs.bib").write_text(BIBTEX, "utf-8")
    (granted / "link.bib").symlink_to(tmp_path / "refs.bib")
    inputs = [
        str(tmp_path / "refs.bib"),
        str(granted / "link.bib"),
        str(granted / ".." / "refs.bib"),
    ]
    result = add(config, tmp_path, inputs, folders=(granted,))
    assert [one["reason"] for one in result["outcomes"]] == ["validation_error"] * 3
    assert not (tmp_path / "library.json").exists()


@pytest.mark.requirement("reference-manager:summary:mix")
@pytest.mark.requirement("library:adding:outcomes")
def test_each_input_of_a_mix_has_its_own_outcome(config: Config, tmp_path: Path) -> None:
    """Added, skipped and failed inputs of one call, in their order, with the reasons."""
    write_library(tmp_path / "library.json", item("old-2019", DOI="10.5555/TIDY.2019"))
    exchanges = [
        crossref("10.5555/new", crossref_work("10.5555/new", title=["Chairs"]))[0],
        crossref("10.5555/nobody", None)[0],
        *not_in_pmc("10.5555/new", "10.5555/nobody"),
        not_in_pubmed(24, "10.5555/new", "10.5555/nobody"),
        openlibrary(title=None),
    ]
    inputs = [f"{DOI}\n10.5555/new\n10.5555/nobody", f"ISBN {ISBN}", BIBTEX + "\n@misc{broken", "?"]
    result = add(config, tmp_path, inputs, exchanges)
    outcomes = result["outcomes"]
    assert [(one["status"], one.get("reason")) for one in outcomes][:5] == [
        ("skipped", "duplicate"),
        ("added", None),
        ("failed", "not_found"),
        ("failed", "not_found"),
        ("added", None),
    ]
    assert (outcomes[0]["existing_id"], outcomes[0]["duplicate_type"]) == ("old-2019", "doi")
    assert outcomes[-1]["reason"] == "validation_error"
    assert {one.get("reason") for one in outcomes[5:-1]} == {"parse_error"}
    assert result["summary"]["added"] == 2


@pytest.mark.requirement("reference-manager:summary:skipped")
def test_what_is_there_is_skipped_without_a_request(config: Config, tmp_path: Path) -> None:
    write_library(tmp_path / "library.json", item("old-2019", PMID="31452104", PMCID="PMC9900777"))
    result = add(config, tmp_path, "10.5555/TIDY.2019\nPMID: 31452104\nPMC9900777")
    assert [(one["status"], one["existing_id"]) for one in result["outcomes"]] == [
        ("skipped", "old-2019")
    ] * 3
    assert [one["duplicate_type"] for one in result["outcomes"]] == ["doi", "pmid", "pmcid"]


@pytest.mark.requirement("reference-manager:reasons:network")
def test_a_dead_network_fails_the_input_and_says_so(config: Config, tmp_path: Path) -> None:
    result = add(config, tmp_path, [DOI, BIBTEX])
    first, second = result["outcomes"]
    assert (first["status"], first["reason"]) == ("failed", "fetch_error")
    assert "crossref" in first["message"]
    assert second["status"] == "added"


@pytest.mark.requirement("reference-manager:reasons")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("not_found", "not_found"), ("invalid_document", "parse_error"),
        ("upstream_invalid", "parse_error"), ("invalid_arguments", "validation_error"),
        ("denied", "validation_error"), ("too_large", "validation_error"),
        ("timeout", "fetch_error"), ("rate_limited", "fetch_error"),
        ("upstream_error", "fetch_error"), ("plugin_unavailable", "fetch_error"),
        ("internal", "unknown"), ("storage", "unknown"),
    ],
)  # fmt: skip
def test_a_failure_has_one_of_five_reasons(code: str, reason: str) -> None:
    assert code in CODES
    error = SourceError(code, "it failed", plugin="crossref", tool="crossref_work")
    outcome = InputOutcome.of_error("10.5555/a", "doi", error).to_json()
    assert (outcome["status"], outcome["reason"], outcome["message"]) == (
        "failed",
        reason,
        error.message,
    )


@pytest.mark.requirement("reference-manager:arxiv-doi:own")
def test_a_preprint_has_its_arxiv_id_and_a_doi(config: Config, tmp_path: Path) -> None:
    add(config, tmp_path, "2307.90101", [arxiv("2307.90101", 2)])
    [kept] = stored(tmp_path)
    assert kept["DOI"] == "10.48550/arXiv.2307.90101"
    assert kept["custom"]["arxiv_id"] == "2307.90101"


@pytest.mark.requirement("reference-manager:arxiv-doi:journal")
def test_a_published_eprint_is_kept_without_its_archive(config: Config, tmp_path: Path) -> None:
    work = crossref_work(DOI, title=["Drawers of infinite depth"])
    exchanges = [arxiv("2307.90101", doi=DOI), *crossref(DOI, work), not_in_pubmed(22, DOI)]
    add(config, tmp_path, "arXiv:2307.90101", exchanges)
    [kept] = stored(tmp_path)
    assert (kept["DOI"], kept["custom"]["arxiv_id"]) == (DOI, "2307.90101")
    assert not [name for name in kept if name.startswith("archive")]


def test_a_key_of_a_bibliography_is_kept_and_a_number_is_none(
    config: Config, tmp_path: Path
) -> None:
    result = add(config, tmp_path, [BIBTEX, RIS])
    assert [one["id"] for one in result["outcomes"]] == ["desk1", "reyes-2002"]


def test_too_many_inputs_are_refused_one_by_one(config: Config, tmp_path: Path) -> None:
    result = add(config, tmp_path, "\n\n".join(["?"] * 501))
    assert result["summary"]["failed"] == 501
    assert "more than 500 inputs" in result["outcomes"][-1]["message"]
