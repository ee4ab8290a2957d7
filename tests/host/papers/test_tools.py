"""The tools of the paper store: envelopes, closed codes, annotations; nothing is raised."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PapersConfig
from carrel.errors import CarrelError, SourceError
from carrel.features import FEATURES
from carrel.papers.envelope import as_paper_error, failure
from carrel.papers.errors import PAPER_CODES, PaperError
from carrel.papers.store import PaperStore
from carrel.papers.store.tools import make_store_tools
from carrel.tools import Toolbox
from support.checked_results import checked_result

from .conftest import PDF, add

NAMES = ["paper_info", "paper_search_local", "paper_list_recent", "paper_pdf_path", "paper_export"]
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(tmp_path: Path, folder: Path, store: PaperStore) -> Iterator[Call]:
    add(store, "10.1234/desks", pdf=PDF, authors=("Jürgen Müller",), venue="Annals")
    add(store, "2401.12345v2", title="An e-print")
    config = Config(
        cache_dir=tmp_path / "cache",
        data_dir=tmp_path / "data",
        papers=PapersConfig(folder=folder),
    )
    toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "papers"])

    def one(name: str, **arguments: Any) -> dict[str, Any]:
        return checked_result(toolbox, name, **arguments)

    yield one
    toolbox.close()


def test_info_says_what_is_stored(call: Call) -> None:
    info = call("paper_info", ref="https://doi.org/10.1234/DESKS")
    assert info["ok"] is True
    assert info["key"] == "doi_10.1234_desks"
    assert info["has_pdf"] is True
    assert info["schema_version"] == "1.0"
    assert info["metadata"]["authors"] == ["Jürgen Müller"]
    assert info["metadata"]["doiget"]["source"] == "unpaywall"


def test_an_unknown_paper_is_no_error(call: Call) -> None:
    assert call("paper_info", ref="10.1234/none") == {
        "ok": True, "ref": "10.1234/none", "metadata": None, "schema_version": "1.0",
    }  # fmt: skip
    assert call("paper_pdf_path", ref="10.1234/none")["path"] is None


def test_an_e_print_is_found_without_its_version(call: Call) -> None:
    assert call("paper_info", ref="arXiv:2401.12345")["key"] == "arxiv_2401.12345v2"


def test_the_path_of_a_pdf_is_returned(call: Call, folder: Path) -> None:
    result = call("paper_pdf_path", ref="10.1234/desks")
    assert result == {
        "ok": True, "ref": "10.1234/desks", "path": str(folder / "doi_10.1234_desks.pdf"),
    }  # fmt: skip
    assert call("paper_pdf_path", ref="2401.12345v2")["path"] is None


def test_papers_are_searched_and_listed(call: Call) -> None:
    [found] = call("paper_search_local", query="muller")["entries"]
    assert found["doi"] == "10.1234/desks"
    assert len(call("paper_list_recent")["entries"]) == 2
    assert len(call("paper_list_recent", limit=1)["entries"]) == 1


@pytest.mark.parametrize("kind", ["bibtex", "csl-json", "ris"])
def test_an_export_has_a_row_for_each_reference(call: Call, kind: str) -> None:
    refs = ["10.1234/desks", "no reference", "10.1234/none", "10.1234/DESKS"]
    export = call("paper_export", refs=refs, format=kind)
    first, wrong, missing, again = export["entries"]
    assert [one["ref"] for one in export["entries"]] == refs
    assert first["ok"] is True
    if kind == "csl-json":
        assert [item["DOI"] for item in first["payload"]] == ["10.1234/desks"]
    else:
        assert "10.1234/desks" in first["payload"]
    assert first["payload"] == again["payload"]
    assert (wrong["ok"], wrong["error"]["code"]) == (False, "INVALID_REF")
    assert (missing["ok"], missing["payload"]) == (True, None)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("paper_info", {"ref": "no reference"}),
        ("paper_info", {}),
        ("paper_info", {"ref": 1}),
        ("paper_info", {"ref": "10.1234/desks", "dry_run": True}),
        ("paper_pdf_path", {"ref": "../../etc/passwd"}),
        ("paper_pdf_path", {"ref": "10.1234/desks", "dry_run": False}),
        ("paper_list_recent", {"limit": 201}),
        ("paper_list_recent", {"limit": 0}),
        ("paper_list_recent", {"dry_run": True}),
        ("paper_search_local", {"query": "x", "limit": "many"}),
        ("paper_search_local", {"query": "x", "dry_run": True}),
        ("paper_export", {"refs": ["10.1/x"] * 201}),
        ("paper_export", {"refs": []}),
        ("paper_export", {"refs": ["10.1/x"], "format": "docx"}),
    ],
)
def test_wrong_arguments_are_an_envelope_with_a_closed_code(
    call: Call, name: str, arguments: dict[str, Any]
) -> None:
    result = call(name, **arguments)
    assert result["ok"] is False
    assert result["error"]["code"] == "INVALID_REF"
    assert result["error"]["message"]
    assert "denial_context" not in result["error"]


def test_a_damaged_store_is_an_envelope_without_local_paths(call: Call, folder: Path) -> None:
    (folder / ".metadata" / "doi_10.1234_desks.toml").write_text("no toml")
    result = call("paper_info", ref="10.1234/desks")
    assert result["error"]["code"] == "STORE_ERROR"
    assert str(folder) not in json.dumps(result)
    assert len(call("paper_list_recent")["entries"]) == 1


def test_the_tools_change_nothing_and_say_so(store: PaperStore) -> None:
    tools = make_store_tools(lambda: store)
    assert [one.spec.name for one in tools] == NAMES
    for one in tools:
        spec = one.spec
        assert (spec.read_only, spec.destructive, spec.idempotent) == (True, False, True)
        assert spec.open_world is False
        headings = ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
        assert [line.partition(":")[0] for line in spec.description.splitlines()] == headings


def test_nothing_is_created_by_asking(tmp_path: Path, config: Config) -> None:
    toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "papers"])
    try:
        assert toolbox.call_sync("paper_list_recent", {}).data == {"ok": True, "entries": []}
        assert not (config.data_dir / "papers").exists()
    finally:
        toolbox.close()


class TestErrors:
    def test_every_closed_code_is_one_of_the_contract_s(self) -> None:
        assert len(PAPER_CODES) == 15
        for code in PAPER_CODES:
            error = PaperError(code, "x")
            assert error.to_dict()["code"] == PAPER_CODES[code]
            assert error.to_dict()["paper_code"] == code
            assert isinstance(error.retryable, bool)

    def test_a_denial_is_reported_and_nothing_else(self) -> None:
        denial = {"reason": "size_cap_exceeded", "cap": 1, "actual": 2}
        error = PaperError("NETWORK_ERROR", "too large", denial=denial)
        assert failure(error) == {
            "ok": False,
            "error": {
                "code": "NETWORK_ERROR", "message": "too large", "denial_context": denial,
            },
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("code", "closed"),
        [
            ("not_found", "NOT_FOUND"),
            ("rate_limited", "RATE_LIMITED"),
            ("denied", "CAPABILITY_DENIED"),
            ("timeout", "FETCH_TIMEOUT"),
            ("upstream_unavailable", "NETWORK_ERROR"),
            ("plugin_failed", "INTERNAL_ERROR"),
        ],
    )
    def test_errors_of_other_layers_get_a_closed_code(self, code: str, closed: str) -> None:
        error: CarrelError = SourceError(code, "x", plugin="p", tool="t")
        assert as_paper_error(error).paper_code == closed
