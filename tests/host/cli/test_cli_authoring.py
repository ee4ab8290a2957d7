"""`carrel plugin new`, `build`, `test` and `carrel record --fixture` as whole processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.lookups import LOOP
from support.manifests import manifest_text
from support.projects import component, fixture, project


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


def answering(result: object, *, failed: bool = False) -> bytes:
    """A component that resolves DOIs and has a resource, and answers so to whatever it is asked."""
    text = json.dumps(result)
    stats = {"uri": "sample-data://stats", "name": "stats", "description": "How much there is."}
    manifest = manifest_text(
        lookup={"identifiers": ["doi"]},
        resources=[{**stats, "output_schema": {"type": "object", "required": ["n"]}}],
    )
    return component(manifest=manifest, result=text, failed=failed)


class TestNew:
    def test_it_tells_a_pipe_what_was_made(self, carrel: CommandLine, tmp_path: Path) -> None:
        done = carrel("plugin", "new", "lists", "--into", "here")
        assert done.code == 0, done.err
        told = json.loads(done.out)
        assert (told["name"], told["folder"]) == ("lists", str(tmp_path / "here"))
        assert all((tmp_path / "here" / name).is_file() for name in told["files"])

    @pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
    def test_it_tells_a_person_what_comes_next(self, carrel: CommandLine) -> None:
        done = carrel.on_terminal("plugin", "new", "lists")
        assert done.code == 0
        assert "carrel plugin build lists" in done.out

    def test_misuse_exits_with_two_and_writes_nothing(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        for words in (("My Lists",), ("lists", "--language", "cobol"), ()):
            done = carrel("plugin", "new", *words)
            assert (done.code, done.out) == (2, "")
        assert list(tmp_path.iterdir()) == []


class TestTest:
    def test_a_pipe_gets_json_and_a_person_the_difference(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        fixture(folder, "right", document_txt="x", expected_json={"n": 1})
        fixture(folder, "wrong", document_txt="x", expected_json={"n": 2})
        done = carrel("plugin", "test", "sample")
        told = json.loads(done.out)
        assert (done.code, told["passed"], told["failed"]) == (1, 1, 1)
        assert told["cases"][0] == {"case": "right", "state": "passed"}
        assert "failed   wrong: the result is not what is expected\n" in done.err
        assert '    +  "n": 1' in done.err
        assert carrel("plugin", "test", "sample", "--case", "right").code == 0

    def test_a_file_and_a_configured_plugin_need_their_fixtures_named(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        fixture(folder, "right", document_txt="x", expected_json={"n": 1})
        file = "sample/dist/sample.wasm"
        config = carrel.write(
            "carrel.toml", f'[plugins.mine]\nurl = "{(tmp_path / file).as_uri()}"\n'
        )
        for subject in (file, "mine"):
            words = ("--config", config, "plugin", "test", subject)
            done = carrel(*words)
            assert done.code == 2
            assert "--fixtures DIR" in done.err
            assert carrel(*words, "--fixtures", "sample/fixtures").code == 0

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("nowhere.wasm",), "there is no such file or folder"),
            (("some/where",), "there is no such file or folder"),
            (("crosref",), "did you mean 'crossref'?"),
            (("sample", "--case", "rihgt"), "did you mean 'right'?"),
            (("sample/dist/sample.wasm", "--build"), "only a project's folder can be built"),
        ],
    )
    def test_misuse_is_told_apart_and_exits_with_two(
        self, carrel: CommandLine, tmp_path: Path, words: tuple[str, ...], says: str
    ) -> None:
        fixture(project(tmp_path / "sample"), "right", document_txt="x", expected_json={"n": 1})
        done = carrel("plugin", "test", *words)
        assert (done.code, done.out) == (2, "")
        assert says in done.err

    def test_a_source_younger_than_the_component_is_mentioned(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        fixture(folder, "right", document_txt="x", expected_json={"n": 1})
        assert "younger" not in carrel("plugin", "test", "sample").err
        (folder / "src").mkdir()
        (folder / "src" / "lib.rs").touch()
        assert "--build builds it first" in carrel("plugin", "test", "sample").err

    def test_skipped_files_are_told_on_stderr_and_in_the_json(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        case = fixture(folder, "right", document_txt="x", expected_json={"n": 1})
        (case / "expected.jsn").touch()
        (folder / "fixtures" / "stray.json").touch()
        done = carrel("plugin", "test", "sample")
        assert done.code == 0
        assert done.err.splitlines() == [
            "skipped  stray.json: a case is a folder",
            "skipped  right/expected.jsn: it is no part of a case; did you mean 'expected.json'?",
        ]
        told = json.loads(done.out)
        assert [one["file"] for one in told["skipped"]] == ["stray.json"]
        assert [one["file"] for one in told["cases"][0]["skipped"]] == ["expected.jsn"]

    def test_a_replay_warns_of_files_that_answer_nothing(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        (tmp_path / "recording").mkdir()
        (tmp_path / "recording" / "answer.json").write_text("[]", "utf-8")
        done = carrel("--replay", "recording", "call", "arxiv_query", "search_query=ti:x")
        assert done.code == 1
        assert "recording: answer.json was skipped: it is no exchange" in done.err


class TestBuild:
    def test_a_build_error_says_what_to_do(self, carrel: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "package.json").write_text("{}", "utf-8")
        (tmp_path / "plugin.js").touch()
        done = carrel("plugin", "build")
        assert (done.code, done.out) == (1, "")
        assert "what to do: install Node.js and run 'npm ci' in the project's folder" in done.err


class TestRecord:
    def test_one_folder_has_to_be_named(self, carrel: CommandLine) -> None:
        for words in ((), ("--into", "a", "--fixture", "b")):
            done = carrel("record", "arxiv_query", *words)
            assert done.code == 2
            assert "either --into DIR or --fixture DIR" in done.err

    def test_an_existing_fixture_is_left_alone(self, carrel: CommandLine, tmp_path: Path) -> None:
        folder = project(tmp_path / "sample")
        case = fixture(folder, "right", document_txt="x")
        done = carrel("record", "echo", "--fixture", "sample/fixtures/right")
        assert done.code == 2
        assert "exists already" in done.err
        assert [path.name for path in case.iterdir()] == ["document.txt"]

    def test_a_call_of_the_projects_component_becomes_a_fixture_that_passes(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        done = carrel("record", "echo", "count=3", "--fixture", "sample/fixtures/three")
        assert (done.code, done.out) == (0, '{"n":1}\n'), done.err
        case = folder / "fixtures" / "three"
        told = json.loads((case / "case.json").read_text("utf-8"))
        assert told == {"tool": "echo", "arguments": {"count": 3}}
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_plugins_own_error_becomes_a_fixture_too(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        report = '{"code":"not_found","message":"no such item"}'
        project(tmp_path / "sample", component(result=report, failed=True))
        done = carrel("record", "sample_echo", "--fixture", "sample/fixtures/none")
        assert done.code == 1
        assert "no such item" in done.err
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_failed_call_leaves_nothing_behind(self, carrel: CommandLine, tmp_path: Path) -> None:
        folder = project(tmp_path / "sample", component(body="unreachable"))
        done = carrel("record", "echo", "--fixture", "sample/fixtures/trap")
        assert done.code == 1
        assert list((folder / "fixtures").iterdir()) == []

    @pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
    def test_an_interrupt_leaves_nothing_behind(self, carrel: CommandLine, tmp_path: Path) -> None:
        folder = project(tmp_path / "sample", component(body=LOOP + " unreachable"))
        with carrel.start("record", "echo", "--fixture", "sample/fixtures/loop") as process:
            deadline = time.monotonic() + 30
            while not (folder / "fixtures" / "loop" / "exchanges").exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        assert list((folder / "fixtures").iterdir()) == []

    def test_a_lookup_becomes_a_fixture_that_passes(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        answer = {"works": [], "not_found": [{"type": "doi", "id": "10.1000/Desk.1"}]}
        folder = project(tmp_path / "sample", answering(answer))
        words = ("https://doi.org/10.1000/Desk.1", "--fixture", "sample/fixtures/desk")
        done = carrel("record", "lookup", *words)
        assert done.code == 0, done.err
        assert json.loads(done.out) == answer
        case = folder / "fixtures" / "desk"
        assert (case / "exchanges").is_dir()  # where its fetches would have been written
        told = json.loads((case / "case.json").read_text("utf-8"))
        assert told == {"tool": "lookup", "arguments": {"ids": answer["not_found"]}}
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_resource_becomes_a_fixture_that_passes(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample", answering({"n": 1}))
        words = ("sample-data://stats", "--fixture", "sample/fixtures/stats")
        done = carrel("record", "sample_resource", *words)
        assert (done.code, done.out) == (0, '{"n": 1}\n'), done.err
        told = json.loads((folder / "fixtures" / "stats" / "case.json").read_text("utf-8"))
        assert told == {"tool": "resource", "arguments": {"uri": "sample-data://stats"}}
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_lookups_own_error_becomes_a_fixture_too(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        report = {"code": "upstream_unavailable", "message": "no answer"}
        project(tmp_path / "sample", answering(report, failed=True))
        done = carrel("record", "lookup", "10.1000/1", "--fixture", "sample/fixtures/down")
        assert done.code == 1
        assert "no answer" in done.err
        assert carrel("plugin", "test", "sample").code == 0

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("lookup",), "lookup: expected identifiers"),
            (("lookup", "desk"), "expected a DOI such as"),
            (("lookup", "2301.00001"), "resolves no arxiv, only doi"),
            (("resource",), "expected one URI"),
            (("resource", "sample-data://stat"), "it has: sample-data://stats"),
        ],
    )
    def test_what_no_host_would_ask_is_misuse_and_leaves_nothing_behind(
        self, carrel: CommandLine, tmp_path: Path, words: tuple[str, ...], says: str
    ) -> None:
        folder = project(tmp_path / "sample", answering({"n": 1}))
        done = carrel("record", *words, "--fixture", "sample/fixtures/odd")
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert list((folder / "fixtures").iterdir()) == []

    def test_which_plugin_is_asked_is_said_where_several_offer_it(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        done = carrel("record", "lookup", "10.1000/1", "--fixture", "odd")
        assert done.code == 2
        assert "name one: arxiv_lookup, crossref_lookup, pubmed_lookup" in done.err
        project(tmp_path / "sample")
        done = carrel("record", "resource", "a://b", "--fixture", "sample/fixtures/odd")
        assert done.code == 2
        assert "resource: no plugin's manifest offers it" in done.err

    def test_a_project_that_was_not_built_says_how_to(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        (folder / "dist" / "sample.wasm").unlink()
        done = carrel("record", "echo", "--fixture", "sample/fixtures/one")
        assert done.code == 2
        assert "run 'carrel plugin build' first" in done.err
