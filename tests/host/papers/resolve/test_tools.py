"""`paper_resolve`, `paper_metadata` and `paper_search` over scripted plugins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PapersConfig, PluginConfig
from carrel.features import FEATURES
from carrel.papers.opening import log_path, open_log, open_store
from carrel.tools import Toolbox
from support.checked_results import checked_result
from support.guests import Guest, guest
from support.lookups import found, record, says
from support.manifests import manifest_text

Raw = dict[str, Any]
DOI = {"type": "doi", "id": "10.5555/desk"}
COPIES = [
    {"url": "https://publisher.example/a.pdf", "kind": "pdf", "host_type": "publisher"},
    {
        "url": "https://repository.example/b.pdf",
        "kind": "pdf",
        "host_type": "repository",
        "license": "cc-by",
    },
    {"url": "https://repository.example/b.html", "kind": "html", "host_type": "repository"},
]
WORK = {
    "title": "On walled desks",
    "authors": [{"family": "Müller", "given": "Anna"}],
    "issued": "2019",
    "ids": {"doi": "10.5555/desk"},
    "type": "article-journal",
}


def plugin(
    result: str, *, lookup: bool = True, roles: Raw | None = None, body: str = "", **more: Any
) -> Guest:
    changes: Raw = {"hosts": [], "contract": "1.1", **more}
    if lookup:
        changes["lookup"] = {"identifiers": ["doi"], "batch": 10}
    if roles:
        changes["roles"] = roles
    return guest(body, result=result, manifest=manifest_text(**changes))


#: A source that refuses requests without a key.
NEEDY: Raw = {
    "hosts": [{"host": "api.example.org", "methods": ["GET"]}],
    "secrets": [
        {
            "name": "api_key",
            "required": True,
            "hosts": ["api.example.org"],
            "attach": {"header": "x-api-key"},
        }
    ],
}
OPEN = {"open_copies": {"identifiers": ["doi"], "batch": 10}}
SEARCH = {"search": {"max": 50, "filters": []}}
Call = Callable[..., Raw]
Make = Callable[..., Call]


@pytest.fixture
def make(tmp_path: Path, code_folder: Path) -> Iterator[Make]:
    opened: list[Toolbox] = []

    def one(**guests: Guest) -> Call:
        plugins = []
        for name, made in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(made.wasm)
            plugins.append(PluginConfig(name, path.as_uri()))
        config = configuration(tmp_path, code_folder, tuple(plugins))
        toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "papers"])
        opened.append(toolbox)

        def call(name: str, **arguments: Any) -> Raw:
            return checked_result(toolbox, name, **arguments)

        return call

    yield one
    for toolbox in opened:
        toolbox.close()


def configuration(
    folder: Path, code_folder: Path, plugins: tuple[PluginConfig, ...] = ()
) -> Config:
    return Config(
        cache_dir=code_folder,
        data_dir=folder,
        plugins=plugins,
        papers=PapersConfig(folder=folder / "store"),
    )


def test_a_reference_in_any_form_becomes_a_work(make: Make) -> None:
    call = make(one=plugin(says([found("doi", "10.5555/desk", **WORK)])))
    for ref in (
        "10.5555/desk",
        "doi:10.5555/desk",
        "https://doi.org/10.5555/DESK",
        "<doi.org/10.5555%2Fdesk>",
        "DOI 10.5555/desk",
    ):
        result = call("paper_resolve", ref=ref)
        assert (result["ok"], result["source"], result["sources"]) == (True, "one", ["one"])
    assert result["metadata"]["title"] == "On walled desks"
    assert result["attempts"] == [
        {"source": "one", "outcome": "consulted_resolved", "consulted": True}
    ]


@pytest.mark.requirement("result:typed:papers")
def test_not_found_only_when_every_source_says_so(make: Make) -> None:
    lacking = plugin(says(not_found=[DOI]))
    result = make(one=lacking, two=lacking)("paper_resolve", ref="10.5555/desk")
    assert result["error"]["code"] == "NOT_FOUND"
    assert [one["outcome"] for one in result["error"]["attempts"]] == ["consulted_no_record"] * 2
    result = make(one=lacking, two=plugin("{}", body="unreachable"))(
        "paper_resolve", ref="10.5555/desk"
    )
    assert result["error"]["code"] == "NETWORK_ERROR"
    assert "two" in result["error"]["message"]
    assert result["error"]["attempts"][1]["outcome"] == "consulted_failed"


def test_a_source_that_lacks_its_key_is_not_consulted_and_says_what_to_set(make: Make) -> None:
    lacking = plugin(says(not_found=[DOI]))
    needy = plugin("{}", roles={**SEARCH, **OPEN}, body="unreachable", **NEEDY)
    result = make(one=lacking, two=needy)("paper_resolve", ref="10.5555/desk")
    assert result["error"]["code"] == "NOT_FOUND"
    second = result["error"]["attempts"][1]
    assert (second["outcome"], second["consulted"]) == ("not_consulted_disabled", False)
    assert "CARREL_SECRET_TWO_API_KEY" in second["detail"]
    result = make(two=needy)("paper_resolve", ref="10.5555/desk")
    assert result["error"]["code"] == "CAPABILITY_DENIED"
    assert "CARREL_SECRET_TWO_API_KEY" in result["error"]["message"]


def test_open_copies_and_searches_go_without_a_source_that_lacks_its_key(make: Make) -> None:
    has = plugin(says([found("doi", "10.5555/desk", **WORK)]))
    needy = plugin("{}", lookup=False, roles={**SEARCH, **OPEN}, body="unreachable", **NEEDY)
    call = make(one=has, two=needy)
    result = call("paper_metadata", ref="10.5555/desk")
    assert result["attempts"][-1]["outcome"] == "not_consulted_disabled"
    assert "CARREL_SECRET_TWO_API_KEY" in result["attempts"][-1]["detail"]
    assert call("paper_metadata", ref="10.5555/desk", dry_run=True)["plan"]["metadata_sources"] == [
        "one"
    ]
    result = call("paper_search", query="desks")
    assert result["error"]["code"] == "CAPABILITY_DENIED"
    assert "CARREL_SECRET_TWO_API_KEY" in result["error"]["message"]
    works = json.dumps({"works": [record(**WORK)]})
    call = make(one=has, two=needy, three=plugin(works, lookup=False, roles=SEARCH))
    result = call("paper_search", query="desks")
    assert [one["outcome"] for one in result["sources"]] == ["not_configured", "found"]
    assert "CARREL_SECRET_TWO_API_KEY" in result["sources"][0]["message"]
    result = call("paper_resolve", ref="Müller, A. (2019). On walled desks. Annals of Reading.")
    assert [one["outcome"] for one in result["attempts"]] == [
        "not_consulted_disabled",
        "consulted_resolved",
    ]


def test_an_unknown_work_is_not_found_beside_a_source_that_is_rate_limited_without_a_key(
    make: Make,
) -> None:
    failed = [{"id": DOI, "code": "rate_limited", "message": "too many requests"}]
    optional = {**NEEDY, "secrets": [{**NEEDY["secrets"][0], "required": False}]}
    call = make(one=plugin(says(not_found=[DOI])), two=plugin(says(failed=failed), **optional))
    error = call("paper_resolve", ref="10.5555/desk")["error"]
    assert error["code"] == "NOT_FOUND"
    assert "two: too many requests" in error["message"]
    assert error["attempts"][1]["outcome"] == "consulted_failed"


def test_what_is_no_reference_is_refused(make: Make) -> None:
    call = make(one=plugin(says()))
    for text in ("desks", "", "10.5555"):
        assert call("paper_resolve", ref=text)["error"]["code"] == "INVALID_REF"
    assert call("paper_resolve", ref="10.5555/x", dry_run=True)["error"]["code"] == "INVALID_REF"


def test_a_citation_is_searched_and_matched(make: Make) -> None:
    works = json.dumps({"works": [record(**WORK)]})
    call = make(one=plugin(says()), two=plugin(works, lookup=False, roles=SEARCH))
    result = call("paper_resolve", ref="Müller, A. (2019). On walled desks. Annals of Reading.")
    assert (result["ok"], result["metadata"]["ids"]) == (True, {"doi": "10.5555/desk"})
    result = call("paper_resolve", ref="Anna Müller wrote about walled desks")
    assert result["error"]["code"] == "AMBIGUOUS"
    assert "10.5555/desk" in result["error"]["message"]
    result = call("paper_resolve", ref="Sitter, B. (2001). Standing at windows.")
    assert result["error"]["code"] == "NOT_FOUND"


def test_metadata_names_the_best_open_copy_and_keeps_the_record(
    make: Make, tmp_path: Path, code_folder: Path
) -> None:
    call = make(
        one=plugin(says([found("doi", "10.5555/desk", **WORK)])),
        two=plugin(
            says([found("doi", "10.5555/desk", **WORK, open_copies=COPIES, oa_status="green")]),
            lookup=False,
            roles=OPEN,
        ),
    )
    metadata = call("paper_metadata", ref="10.5555/desk")
    assert metadata["oa_url"] == "https://repository.example/b.pdf"
    assert (metadata["license"], metadata["source"]) == ("cc-by", "one")
    assert [one["source"] for one in metadata["attempts"]] == ["one", "two"]
    config = configuration(tmp_path, code_folder)
    entry = open_store(config).read("doi_10.5555_desk")
    assert entry is not None
    assert (entry.title, entry.fetched["oa_status"]) == ("On walled desks", "green")
    report = open_log(config).verify()
    assert report.rows == 1
    assert not report.faults
    row = json.loads(log_path(config).read_text("utf-8").splitlines()[0])
    assert (row["event"], row["capability"], row["result"]) == ("resolve", "metadata", "ok")


def test_metadata_without_a_copy_has_a_null_address(make: Make) -> None:
    call = make(one=plugin(says([found("doi", "10.5555/desk", **WORK)])))
    metadata = call("paper_metadata", ref="10.5555/desk")
    assert (metadata["oa_url"], metadata["license"]) == (None, "unknown")


def test_a_dry_run_touches_neither_network_nor_disk_nor_log(make: Make, tmp_path: Path) -> None:
    call = make(
        one=plugin("{}", body="unreachable"), two=plugin("{}", lookup=False, roles=OPEN, body="")
    )
    result = call("paper_metadata", ref="10.5555/desk", dry_run=True)
    assert result["plan"]["metadata_sources"] == ["one", "two"]
    assert result["plan"]["pdf_sources"] == []
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "provenance").exists()


def test_nothing_is_kept_that_the_log_does_not_hold(
    make: Make, tmp_path: Path, code_folder: Path
) -> None:
    (tmp_path / "provenance").write_text("a file in the place of the folder")
    call = make(one=plugin(says([found("doi", "10.5555/desk", **WORK)])))
    assert call("paper_metadata", ref="10.5555/desk")["error"]["code"] == "LOG_ERROR"
    assert open_store(configuration(tmp_path, code_folder)).read("doi_10.5555_desk") is None


def test_a_search_answers_in_an_envelope(make: Make) -> None:
    works = json.dumps({"works": [record(**WORK, abstract="About desks.")]})
    call = make(one=plugin(works, lookup=False, roles=SEARCH))
    result = call("paper_search", query="desks", abstracts=False)
    assert result["ok"] is True
    assert "abstract" not in result["works"][0]["work"]
    assert result["sources"] == [{"source": "one", "outcome": "found", "count": 1}]
    assert call("paper_search", query="desks", sort="year")["error"]["code"] == "INVALID_REF"
    assert call("paper_search", query=" ")["error"]["code"] == "INVALID_REF"
    failing = make(one=plugin("{}", lookup=False, roles=SEARCH, body="unreachable"))
    assert failing("paper_search", query="desks")["error"]["code"] == "NETWORK_ERROR"
