"""Tests fixtures of reserved tools: lookups and resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.authoring.check import Outcome, check_plugin
from carrel.config import Config
from support.manifests import manifest_text
from support.projects import FETCHES, component, exchange, fixture, project
from support.works import work

STATS = "sample-data://stats/sample"
MANIFEST = manifest_text(
    lookup={"identifiers": ["doi", "pmid"], "batch": 2},
    secrets=[{"name": "contact", "hosts": ["api.example.org"], "attach": {"query": "mailto"}}],
    resources=[
        {
            "uri": STATS,
            "name": "stats",
            "description": "How much there is.",
            "output_schema": {
                "type": "object",
                "required": ["n"],
                "properties": {"n": {"type": "integer"}},
            },
        }
    ],
)
#: Returns its arguments unchanged: a pointer and a length.
ECHO = (
    "(i32.store8 (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (local.get $text)) "
    "(i32.store (i32.const 8) (local.get $text_length)) (return (i32.const 0))"
)
DOI = {"type": "doi", "id": "10.1000/Desk.1"}
PMID = {"type": "pmid", "id": "31452104"}
WORK = work("sample", doi=DOI["id"], title="On desks").to_json()
FOUND: dict[str, Any] = {"works": [{"id": DOI, "work": WORK}], "not_found": [PMID]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "sample")


def wasm(result: object = None, **options: Any) -> bytes:
    """Returns a component that always returns this result."""
    text = result if isinstance(result, str) else json.dumps(result)
    return component(manifest=MANIFEST, result=text, **options)


def lookup(*ids: object) -> dict[str, object]:
    return {"tool": "lookup", "arguments": {"ids": list(ids)}}


def resource(uri: object = STATS, **more: object) -> dict[str, object]:
    return {"tool": "resource", "arguments": {"uri": uri, **more}}


def outcome(folder: Path, config: Config, wasm: bytes, **options: Any) -> Outcome:
    [only] = check_plugin(wasm, "sample", folder / "fixtures", config, **options).outcomes
    return only


class TestLookup:
    def test_a_plugins_result_is_compared_with_the_expected_one(
        self, folder: Path, config: Config
    ) -> None:
        fixture(folder, "both", case_json=lookup(DOI, PMID), expected_json=FOUND)
        assert outcome(folder, config, wasm(FOUND)) == Outcome("both", "passed")
        other = {**FOUND, "works": [{"id": DOI, "work": {**WORK, "title": "On lamps"}}]}
        failed = outcome(folder, config, wasm(other))
        assert failed.state == "failed"
        assert {'-        "title": "On desks",', '+        "title": "On lamps",'} <= set(
            failed.diff
        )

    def test_it_is_answered_with_recorded_exchanges(self, folder: Path, config: Config) -> None:
        case = fixture(folder, "both", case_json=lookup(DOI, PMID), expected_json=FOUND)
        fetching = wasm(FOUND, body=FETCHES)
        assert "is recorded; 'carrel record" in outcome(folder, config, fetching).reason
        exchange(case)
        assert outcome(folder, config, fetching).state == "passed"

    def test_update_writes_the_answer(self, folder: Path, config: Config) -> None:
        case = fixture(folder, "both", case_json=lookup(DOI, PMID))
        assert "--update" in outcome(folder, config, wasm(FOUND)).reason
        assert outcome(folder, config, wasm(FOUND), update=True).state == "updated"
        assert json.loads((case / "expected.json").read_text("utf-8")) == FOUND

    def test_the_plugins_own_error_is_an_answer_too(self, folder: Path, config: Config) -> None:
        error = {"code": "upstream_unavailable", "message": "no answer"}
        fixture(folder, "down", case_json=lookup(DOI), expected_json={"error": error})
        assert outcome(folder, config, wasm(error, failed=True)).state == "passed"

    @pytest.mark.requirement("result:typed:lookup-fixture")
    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ({"works": []}, 'what the contract refuses: "not_found" is a required property'),
            ("nonsense", "text that is not JSON"),
            (
                {"works": [{"id": DOI, "work": {"title": "On desks"}}], "not_found": [PMID]},
                "doi 10.1000/Desk.1: sample: lookup returned a record that the contract refuses",
            ),
            (
                {"works": [{"id": DOI, "work": WORK}], "not_found": []},
                "pmid 31452104: sample: lookup did not answer about this identifier",
            ),
            (
                {**FOUND, "not_found": [], "failed": [{"id": PMID, "code": "odd", "message": "?"}]},
                "pmid 31452104: sample: lookup reported an unknown code 'odd'",
            ),
        ],
    )
    def test_an_answer_that_a_host_finds_fault_with_fails(
        self, folder: Path, config: Config, answer: object, says: str
    ) -> None:
        expected = {} if isinstance(answer, str) else answer
        case = fixture(folder, "both", case_json=lookup(DOI, PMID), expected_json=expected)
        failed = outcome(folder, config, wasm(answer), update=True)
        assert failed.state == "failed"
        assert says in failed.reason
        assert json.loads((case / "expected.json").read_text("utf-8")) == expected

    @pytest.mark.parametrize(
        ("case", "says"),
        [
            ({"tool": "lookup"}, '"ids" is a required property'),
            (lookup(), "ids: at least 1 ids, 0 given"),
            (lookup("10.1000/desk.1"), "ids.0: "),
            (lookup(DOI, PMID, DOI), "ids: 3 identifiers; the manifest's batch is 2"),
            (
                lookup({"type": "arxiv", "id": "2301.00001"}),
                "ids.0: the manifest resolves no arxiv, only doi, pmid",
            ),
            (
                lookup({"type": "doi", "id": "https://doi.org/10.1000/Desk.1"}),
                'ids.0: a host sends {"type": "doi", "id": "10.1000/Desk.1"}',
            ),
            (
                lookup({"type": "doi", "id": "10.48550/arXiv.2301.00001"}),
                'ids.0: a host sends {"type": "arxiv", "id": "2301.00001"}',
            ),
            (lookup({"type": "doi", "id": "desk"}), "ids.0: expected a DOI such as"),
        ],
    )
    def test_arguments_that_no_host_sends_fail(
        self, folder: Path, config: Config, case: object, says: str
    ) -> None:
        fixture(folder, "odd", case_json=case, expected_json=FOUND)
        failed = outcome(folder, config, wasm(FOUND))
        assert failed.state == "failed"
        assert says in failed.reason


class TestResource:
    def test_a_document_is_compared_with_its_expected_result(
        self, folder: Path, config: Config
    ) -> None:
        case = fixture(folder, "stats", case_json=resource(), expected_json={"n": 1})
        fetching = wasm({"n": 1}, body=FETCHES)
        assert "is recorded; 'carrel record" in outcome(folder, config, fetching).reason
        exchange(case)
        assert outcome(folder, config, fetching) == Outcome("stats", "passed")
        assert '+  "n": 2' in outcome(folder, config, wasm({"n": 2})).diff

    @pytest.mark.requirement("sandbox:secrets:resource")
    def test_the_plugin_gets_the_names_of_the_cases_secrets(
        self, folder: Path, config: Config
    ) -> None:
        manifest = json.loads(MANIFEST)
        manifest["resources"][0]["output_schema"] = {"type": "object"}
        echo = component(manifest=json.dumps(manifest), body=ECHO)
        case = resource(secrets=["contact"])
        fixture(folder, "set", case_json=case, expected_json=case["arguments"])
        assert outcome(folder, config, echo).state == "passed"
        other = fixture(folder, "unset", case_json=resource())
        report = check_plugin(echo, "sample", folder / "fixtures", config, update=True)
        assert report.count("failed") == 0
        expected = json.loads((other / "expected.json").read_text("utf-8"))
        assert expected == {"uri": STATS, "secrets": []}

    @pytest.mark.parametrize(
        ("case", "says"),
        [
            ({"tool": "resource"}, '"uri" is a required property'),
            (resource(STATS + "s"), f"it has: {STATS}"),
            (resource(secrets=["api_key"]), "names no 'api_key'; it names: contact"),
            (resource(secret=[]), "'secret' was unexpected"),
        ],
    )
    def test_arguments_that_no_host_sends_fail(
        self, folder: Path, config: Config, case: object, says: str
    ) -> None:
        fixture(folder, "odd", case_json=case, expected_json={"n": 1})
        failed = outcome(folder, config, wasm({"n": 1}))
        assert failed.state == "failed"
        assert says in failed.reason

    def test_a_resource_that_violates_its_schema_fails(self, folder: Path, config: Config) -> None:
        fixture(folder, "stats", case_json=resource(), expected_json={"n": "one"})
        assert "own schema refuses" in outcome(folder, config, wasm({"n": "one"})).reason


@pytest.mark.parametrize("tool", ["lookup", "resource"])
def test_a_reserved_name_that_the_manifest_does_not_offer_is_reported(
    folder: Path, config: Config, tool: str
) -> None:
    fixture(folder, "odd", case_json={"tool": tool, "arguments": {}}, expected_json={"n": 1})
    failed = outcome(folder, config, component())
    assert failed.reason == f"odd: case.json: the manifest offers no {tool}, so no host calls it"


def test_reserved_tools_are_listed_beside_the_tools(folder: Path, config: Config) -> None:
    fixture(folder, "odd", case_json={"tool": "lokup"})
    assert "there are: echo, lookup, resource" in outcome(folder, config, wasm({})).reason
