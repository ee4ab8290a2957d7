"""Tests `plugin test`: fixtures in the sandbox that pass and fail, and the reports."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from carrel.authoring.check import Outcome, Report, check_plugin
from carrel.authoring.sections import with_sections
from carrel.config import Config
from carrel.errors import ArgumentError, LoadError, UnknownNameError
from carrel.fetch.recording import Skipped
from carrel.plugins.sources.source import read_source
from support.guests import guest
from support.manifests import manifest, manifest_text, with_tool
from support.projects import FETCHES, URL, component, exchange, fixture, project

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "sample")


def check(folder: Path, config: Config, wasm: bytes | None = None, **options: Any) -> Report:
    return check_plugin(
        component() if wasm is None else wasm, "sample", folder / "fixtures", config, **options
    )


def only(report: Report) -> Outcome:
    [outcome] = report.outcomes
    return outcome


def test_a_document_with_the_expected_result_passes(folder: Path, config: Config) -> None:
    fixture(folder, "note", document_txt="x", expected_json={"n": 1})
    report = check(folder, config)
    assert (report.plugin, only(report)) == ("sample", Outcome("note", "passed"))


def test_a_difference_is_shown_with_its_place(folder: Path, config: Config) -> None:
    fixture(folder, "note", document_txt="x", expected_json={"n": 2})
    outcome = only(check(folder, config))
    assert outcome.state == "failed"
    assert {'-  "n": 2', '+  "n": 1'} <= set(outcome.diff)


def test_true_is_not_one_and_a_fraction_of_zero_is_shown(folder: Path, config: Config) -> None:
    fixture(folder, "boolean", document_txt="x", expected_json={"n": True})
    fixture(folder, "fraction", document_txt="x", expected_json={"n": 1.0})
    assert [one.state for one in check(folder, config).outcomes] == ["failed", "failed"]


def test_an_error_that_is_expected_passes(folder: Path, config: Config) -> None:
    report = '{"code":"invalid_document","message":"no","position":{"offset":3,"path":"a"}}'
    wasm = component(result=report, failed=True)
    error = {"code": "invalid_document", "message": "no", "position": {"offset": 3, "path": "a"}}
    fixture(folder, "wrong", document_txt="x", expected_json={"error": error})
    fixture(folder, "other", document_txt="x", expected_json={"error": {**error, "message": "?"}})
    assert [one.state for one in check(folder, config, wasm).outcomes] == ["failed", "passed"]


def test_a_tool_is_called_with_its_recorded_exchanges(folder: Path, config: Config) -> None:
    case = fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    exchange(case)
    assert only(check(folder, config, component(body=FETCHES))).state == "passed"


def test_an_unrecorded_request_is_named_with_the_command_to_record_it(
    folder: Path, config: Config
) -> None:
    fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    outcome = only(check(folder, config, component(body=FETCHES)))
    assert outcome.state == "failed"
    assert f"no exchange of GET {URL} is recorded" in outcome.reason
    assert "carrel record" in outcome.reason


def test_an_exchange_with_any_name_answers_and_no_other_file_is_passed_over(
    folder: Path, config: Config
) -> None:
    case = fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    exchange(case)
    (case / "exchanges" / "001-GET-api.json").rename(case / "exchanges" / "answer.json")
    (case / "exchanges" / "other.json").write_text('{"status": 200}', "utf-8")
    (case / "exepcted.json").write_text("{}", "utf-8")
    (case / "notes.md").write_text("for people", "utf-8")
    (folder / "fixtures" / "stray.json").write_text("{}", "utf-8")
    report = check(folder, config, component(body=FETCHES))
    assert only(report).state == "passed"
    assert [str(one) for one in only(report).skipped] == [
        "exepcted.json was skipped: it is not part of a case; did you mean 'expected.json'?",
        (
            "exchanges/other.json was skipped: it is not an exchange: "
            'it has no "format" and no "request"'
        ),
    ]
    assert [one.name for one in report.skipped] == ["stray.json"]


def test_a_case_of_a_removed_tool_names_the_folder_to_remove(folder: Path, config: Config) -> None:
    tool = fixture(folder, "a", case_json={"tool": "search"}, expected_json={"n": 1})
    named = fixture(folder, "b", document_txt="x", case_json={"format": "works"})
    for case, outcome in zip((tool, named), check(folder, config).outcomes, strict=True):
        assert outcome.reason.endswith(f"is gone, remove {case}")
    bare = component(manifest=manifest_text(formats=[]))
    fixture(folder, "c", document_txt="x")
    reason = check(folder, config, bare).outcomes[2].reason
    assert "the plugin has no document format any more; if the format is gone, remove" in reason


def test_a_misspelt_folder_of_exchanges_is_named(folder: Path, config: Config) -> None:
    case = fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    exchange(case)
    (case / "exchanges").rename(case / "exchange")
    outcome = only(check(folder, config, component(body=FETCHES)))
    assert outcome.state == "failed"
    [skipped] = outcome.skipped
    assert skipped.reason == "it is not part of a case; did you mean 'exchanges'?"


def test_exchanges_of_a_document_are_named_as_skipped(folder: Path, config: Config) -> None:
    exchange(fixture(folder, "note", document_txt="x", expected_json={"n": 1}))
    outcome = only(check(folder, config))
    assert outcome.state == "passed"
    assert [str(one) for one in outcome.skipped] == [
        "exchanges was skipped: a document is parsed without a network"
    ]


def test_a_request_that_misses_names_the_requests_that_are_recorded(
    folder: Path, config: Config
) -> None:
    case = fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    exchange(case, f"{URL}?page=1")
    outcome = only(check(folder, config, component(body=FETCHES)))
    assert f"recorded are GET {URL}?page=1; 'carrel record" in outcome.reason


@pytest.mark.requirement("sandbox:hosts:fixtures")
def test_an_undeclared_host_is_refused_though_its_answer_is_recorded(
    folder: Path, config: Config
) -> None:
    url = "https://evil.example.org/items/1"
    case = fixture(folder, "echo", case_json={"tool": "echo"}, expected_json={"n": 1})
    exchange(case, url)
    outcome = only(check(folder, config, component(body=FETCHES, url=url)))
    assert outcome.state == "failed"
    assert "the plugin failed" in outcome.reason  # its guest traps when a fetch fails


def test_arguments_are_validated_against_the_tools_schema(folder: Path, config: Config) -> None:
    fixture(folder, "echo", case_json={"tool": "echo", "arguments": {"count": 99}})
    assert "99" in only(check(folder, config)).reason
    fixture(folder, "more", case_json={"tool": "echo", "arguments": {"cuont": 1}})
    assert "did you mean 'count'" in check(folder, config).outcomes[1].reason


def test_a_result_that_violates_its_schema_fails(folder: Path, config: Config) -> None:
    wasm = component(result='{"n":"text"}')
    fixture(folder, "note", document_txt="x", expected_json={"n": "text"})
    assert "own schema refuses" in only(check(folder, config, wasm)).reason


def test_update_writes_the_results_and_then_all_cases_pass(folder: Path, config: Config) -> None:
    wrong = fixture(folder, "wrong", document_txt="x", expected_json={"n": 2})
    new = fixture(folder, "new", document_txt="x")
    fixture(folder, "right", document_txt="x", expected_json={"n": 1})
    states = [one.state for one in check(folder, config, update=True).outcomes]
    assert states == ["updated", "passed", "updated"]
    for case in (wrong, new):
        assert json.loads((case / "expected.json").read_text("utf-8")) == {"n": 1}
    assert check(folder, config).count("passed") == 3


def test_update_never_writes_a_failure_of_the_plugin(folder: Path, config: Config) -> None:
    case = fixture(folder, "note", document_txt="x")
    assert only(check(folder, config, component(body="unreachable"), update=True)).state == "failed"
    assert not (case / "expected.json").exists()


def test_without_expected_json_a_case_fails_and_names_the_option(
    folder: Path, config: Config
) -> None:
    fixture(folder, "note", document_txt="x")
    assert "--update" in only(check(folder, config)).reason


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no document.*, no response.* and no case.json"),
        ({"document_txt": "x", "document_xml": "x"}, "several documents"),
        ({"case_json": "{"}, "not JSON"),
        ({"case_json": "[]"}, "expected a JSON object"),
        ({"case_json": {"tol": "echo"}}, "unknown key 'tol'"),
        ({"case_json": {"tool": "ehco"}}, "no tool 'ehco'; there are: echo"),
        ({"case_json": {"tool": "echo"}, "document_txt": "x"}, "no document and no format"),
        ({"case_json": {"tool": "echo", "arguments": []}}, "arguments is not an object"),
        ({"case_json": {"format": "nose"}, "document_txt": "x"}, "no format 'nose'"),
        ({"document_txt": "x", "expected_json": "nothing"}, "expected.json: not JSON"),
    ],
)
def test_a_broken_fixture_fails_with_its_reason_and_others_run(
    folder: Path, config: Config, files: dict[str, object], says: str
) -> None:
    fixture(folder, "broken", **files)
    fixture(folder, "whole", document_txt="x", expected_json={"n": 1})
    broken, whole = check(folder, config).outcomes
    assert (broken.state, whole.state) == ("failed", "passed")
    assert says in broken.reason


def test_a_document_that_is_no_text_fails_by_itself(folder: Path, config: Config) -> None:
    case = fixture(folder, "note", expected_json={"n": 1})
    (case / "document.txt").write_bytes(b"\xff\xff\xff")
    assert "cannot be decoded" in only(check(folder, config)).reason


class TestBytes:
    """Tests cases of a binary format: the unchanged file, and its options."""

    FORMAT: ClassVar[dict[str, Any]] = {
        "name": "file",
        "description": "A file.",
        "bytes": True,
        "output_schema": {"type": "object"},
    }
    #: Returns the options; traps unless the document is the two bytes FF 00.
    READ = """
      (if (i32.ne (local.get $length) (i32.const 2)) (then unreachable))
      (if (i32.ne (i32.load16_u (local.get $document)) (i32.const 0x00ff)) (then unreachable))
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (local.get $options))
      (i32.store (i32.const 8) (local.get $options_length))
      (return (i32.const 0))
    """

    def reader(self) -> bytes:
        text = json.dumps(manifest(contract="1.1", formats=[self.FORMAT]))
        return with_sections(
            guest(manifest=text, reading=self.READ).wasm, contract="1.1", manifest=text
        )

    def test_a_document_is_handed_over_as_its_file_is(self, folder: Path, config: Config) -> None:
        case = fixture(folder, "plain", expected_json={})
        (case / "document.bin").write_bytes(b"\xff\0")
        outcome = only(check(folder, config, self.reader()))
        assert (outcome.state, outcome.reason) == ("passed", "")

    def test_a_case_has_options(self, folder: Path, config: Config) -> None:
        options = {"pages": "3-7"}
        case = fixture(folder, "some", expected_json=options, case_json={"options": options})
        (case / "document.pdf").write_bytes(b"\xff\0")
        outcome = only(check(folder, config, self.reader()))
        assert (outcome.state, outcome.reason) == ("passed", "")

    def test_options_of_text_or_of_a_tool_are_refused(self, folder: Path, config: Config) -> None:
        case = {"options": {"pages": "3-7"}}
        fixture(folder, "text", document_txt="a", expected_json={}, case_json=case)
        fixture(folder, "tool", expected_json={}, case_json={**case, "tool": "echo"})
        reasons = [outcome.reason for outcome in check(folder, config).outcomes]
        assert "note is a text format, which takes no options" in reasons[0]
        assert "options are a document's; a tool has arguments" in reasons[1]


def test_a_case_names_its_format_if_there_are_several(folder: Path, config: Config) -> None:
    one = {"name": "note", "description": "A note.", "output_schema": {"type": "object"}}
    wasm = component(manifest=manifest_text(formats=[one, {**one, "name": "letter"}]))
    fixture(folder, "a", document_txt="x", expected_json={"n": 1})
    fixture(folder, "b", document_txt="x", case_json={"format": "letter"}, expected_json={"n": 1})
    unnamed, named = check(folder, config, wasm).outcomes
    assert (unnamed.state, named.state) == ("failed", "passed")
    assert "there are: note, letter" in unnamed.reason


@pytest.mark.parametrize(
    ("case_files", "says"),
    [
        ({"document_txt": "x", "format": "letter\n"}, ""),
        ({"response_xml": "<x/>", "format": "letter"}, ""),
        ({"response_xml": "<x/>"}, ""),
        (
            {"response_xml": "<x/>", "format": "leter"},
            "the plugin has no format 'leter'; there are",
        ),
        (
            {"document_txt": "x", "format": "letter", "case_json": {"format": "letter"}},
            "the format is named in case.json and in the file format; remove one",
        ),
        ({"document_txt": "x", "response_txt": "y"}, "holds several documents"),
    ],
)
def test_the_file_of_a_document_and_that_of_its_format_are_read(
    folder: Path, config: Config, case_files: dict[str, Any], says: str
) -> None:
    one = {"name": "note", "description": "A note.", "output_schema": {"type": "object"}}
    wasm = component(manifest=manifest_text(formats=[one, {**one, "name": "letter"}]))
    fixture(folder, "a", expected_json={"n": 1}, **case_files)
    outcome = only(check(folder, config, wasm, usual_format="note"))
    assert (outcome.state, outcome.skipped) == ("failed" if says else "passed", ())
    assert says in outcome.reason


def test_a_response_fixture_is_utf_8_and_a_document_has_its_declared_charset(
    folder: Path, config: Config
) -> None:
    declared = '<?xml version="1.0" encoding="us-ascii"?><a>é</a>'
    fixture(folder, "document", document_xml=declared, expected_json={"n": 1})
    fixture(folder, "response", response_xml=declared, expected_json={"n": 1})
    document, response = check(folder, config).outcomes
    assert (document.state, response.state) == ("failed", "passed")


def test_of_an_error_whatever_the_expectation_names_is_compared(
    folder: Path, config: Config
) -> None:
    report = '{"code":"upstream_error","message":"no","action":"retry_later"}'
    wasm = component(result=report, failed=True)
    error = {"code": "upstream_error", "message": "no"}
    right, wrong = ({"error": {**error, "action": one}} for one in ("retry_later", "report"))
    fixture(folder, "right", document_txt="x", expected_json=right)
    fixture(folder, "wrong", document_txt="x", expected_json=wrong)
    assert [one.state for one in check(folder, config, wasm).outcomes] == ["passed", "failed"]


def test_recorded_exchanges_without_a_case_are_named_as_skipped(
    folder: Path, config: Config
) -> None:
    fixture(folder, "note", document_txt="x", expected_json={"n": 1})
    shutil.copytree(ROOT / "examples" / "recordings" / "arxiv-query", folder / "fixtures" / "kept")
    report = check(folder, config)
    assert only(report).state == "passed"
    reason = "recorded exchanges without a case.json; --replay answers from them"
    assert report.skipped == [Skipped("kept", reason)]


#: Every folder of fixtures in this project: its plugin, and the default format of its cases.
LAYOUTS = {
    "tests/fixtures/arxiv": ("arxiv", "feed"),
    "tests/fixtures/brave": ("brave", "results"),
    "tests/fixtures/crossref": ("crossref", "works"),
    "tests/fixtures/csl": ("csl", "process"),
    "tests/fixtures/datacite": ("datacite", "dois"),
    "tests/fixtures/doaj": ("doaj", "articles"),
    "tests/fixtures/duckduckgo": ("duckduckgo", "results"),
    "tests/fixtures/europepmc": ("europepmc", "search"),
    "tests/fixtures/eutils": ("eutils", None),
    "tests/fixtures/exa": ("exa", "results"),
    "tests/fixtures/google": ("google", "results"),
    "tests/fixtures/hackernews": ("hackernews", "item"),
    "tests/fixtures/jats": ("jats", "jats"),
    "tests/fixtures/office": ("office", "docx"),
    "tests/fixtures/openalex": ("openalex", "works"),
    "tests/fixtures/opencitations": ("opencitations", "citations"),
    "tests/fixtures/openlibrary": ("openlibrary", "books"),
    "tests/fixtures/page": ("page", "html"),
    "tests/fixtures/pdf": ("pdf", "pdf"),
    "tests/fixtures/searxng": ("searxng", "results"),
    "tests/fixtures/reddit": ("reddit", "post"),
    "tests/fixtures/semanticscholar": ("semanticscholar", "papers"),
    "tests/fixtures/serper": ("serper", "results"),
    "tests/fixtures/tavily": ("tavily", "results"),
    "tests/fixtures/tex": ("tex", "tex"),
    "tests/fixtures/unpaywall": ("unpaywall", "record"),
    "tests/fixtures/youtube": ("youtube", "watch"),
}
#: Those whose plugin must be built; `test_new.py` and `tests/plugins/test_examples.py` build them.
BUILT = {
    "examples/python-plugin/fixtures",
    "examples/javascript-plugin/fixtures",
    "host/carrel/authoring/templates/rust/fixtures",
    "host/carrel/authoring/templates/rust-bytes/fixtures",
    "host/carrel/authoring/templates/rust-web/fixtures",
}


def test_every_folder_of_fixtures_is_known() -> None:
    skipped = {"target", "node_modules", ".venv", ".git", "dist"}
    found = {
        path.parent.parent.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("expected.json")
        if not skipped & set(path.relative_to(ROOT).parts)
    }
    assert found == {*LAYOUTS, *BUILT}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_projects_own_fixtures_pass(layout: str, config: Config) -> None:
    plugin, usual_format = LAYOUTS[layout]
    wasm = read_source(plugin, f"builtin:{plugin}").wasm
    report = check_plugin(wasm, plugin, ROOT / layout, config, usual_format=usual_format)
    assert [one for one in report.outcomes if one.state != "passed" or one.skipped] == []
    assert len(report.outcomes) == sum(path.is_dir() for path in (ROOT / layout).iterdir())
    assert report.skipped == []


def test_a_folder_of_recordings_holds_no_case(config: Config) -> None:
    wasm = read_source("arxiv", "builtin:arxiv").wasm
    with pytest.raises(ArgumentError, match="holds no case: arxiv-query: recorded exchanges"):
        check_plugin(wasm, "arxiv", ROOT / "examples" / "recordings", config)


def test_only_the_cases_that_were_named_run(folder: Path, config: Config) -> None:
    for name in ("one", "two"):
        fixture(folder, name, document_txt="x", expected_json={"n": 1})
    assert [one.name for one in check(folder, config, only=["two"]).outcomes] == ["two"]
    with pytest.raises(UnknownNameError, match="did you mean 'two'"):
        check(folder, config, only=["tow"])


def test_no_fixtures_are_an_error_and_not_a_success(folder: Path, config: Config) -> None:
    with pytest.raises(ArgumentError, match="holds no fixture"):
        check(folder, config)
    (folder / "fixtures").rmdir()
    with pytest.raises(ArgumentError, match="no folder of fixtures"):
        check(folder, config)


class TestLint:
    def test_a_component_that_a_host_refuses_fails_before_any_case(
        self, folder: Path, config: Config
    ) -> None:
        fixture(folder, "note", document_txt="x", expected_json={"n": 1})
        refused = json.dumps(with_tool(name="lookup"))
        with pytest.raises(LoadError, match="the host keeps for itself"):
            check(folder, config, guest(manifest=refused).wasm)
        wasm = component(imports='(import "wasi:sockets/tcp@0.2.0" (instance))')
        with pytest.raises(LoadError, match="imports what no plugin may have: wasi:sockets/tcp"):
            check(folder, config, wasm)

    def test_an_embedded_manifest_that_is_not_the_plugins_is_refused(
        self, folder: Path, config: Config
    ) -> None:
        from carrel.authoring.sections import with_sections

        fixture(folder, "note", document_txt="x", expected_json={"n": 1})
        bare = guest(manifest=manifest_text(), result='{"n":1}').wasm
        forged = with_sections(bare, contract="1.0", manifest=manifest_text(version="9.9.9"))
        with pytest.raises(LoadError, match="not what describe"):
            check(folder, config, forged)


def test_dozens_of_fixtures_take_less_than_a_second(folder: Path, config: Config) -> None:
    for number in range(60):
        fixture(folder, f"case_{number}", document_txt="x", expected_json={"n": 1})
    check(folder, config)  # compiles
    started = time.monotonic()
    assert check(folder, config).count("passed") == 60
    assert time.monotonic() - started < 1.0
