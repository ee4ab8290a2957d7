"""`carrel plugin new`, `build`, `test` and `carrel record --fixture` as whole processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Self

import pytest

from carrel.cli.capture import record_fixture
from carrel.cli.session import Session
from carrel.config import Config
from carrel.errors import SourceError
from carrel.exchange import Failure, FailureKind, Request
from carrel.fetch.recording import Recordings
from carrel.plugins.calls.result import Result
from support.command_line import CommandLine
from support.lookups import LOOP
from support.manifests import manifest_text
from support.projects import URL, component, fixture, project


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, real=True)


def answering(result: object, *, failed: bool = False) -> bytes:
    """Returns a component that resolves DOIs and has a resource; every call returns the same
    result.
    """
    text = json.dumps(result)
    stats = {"uri": "sample-data://stats", "name": "stats", "description": "How much there is."}
    manifest = manifest_text(
        lookup={"identifiers": ["doi"]},
        resources=[{**stats, "output_schema": {"type": "object", "required": ["n"]}}],
    )
    return component(manifest=manifest, result=text, failed=failed)


class TestNew:
    def test_new_prints_json_in_a_pipe(self, carrel: CommandLine, tmp_path: Path) -> None:
        done = carrel("plugin", "new", "lists", "--into", "here")
        assert done.code == 0, done.err
        created = json.loads(done.out)
        assert (created["name"], created["folder"]) == ("lists", str(tmp_path / "here"))
        assert all((tmp_path / "here" / name).is_file() for name in created["files"])

    @pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
    def test_new_prints_the_next_commands_on_a_terminal(self, carrel: CommandLine) -> None:
        done = carrel.on_terminal("plugin", "new", "lists")
        assert done.code == 0
        assert "carrel plugin build lists" in done.out

    def test_misuse_exits_with_two_and_writes_nothing(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        for words in (("My Lists",), ("lists", "--language", "cobol"), ()):
            done = carrel("plugin", "new", *words)
            assert (done.code, done.out) == (2, "")
        assert {path.name for path in tmp_path.iterdir()} <= {".cache"}


class TestTest:
    def test_a_pipe_gets_json_and_a_person_the_difference(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        fixture(folder, "right", document_txt="x", expected_json={"n": 1})
        fixture(folder, "wrong", document_txt="x", expected_json={"n": 2})
        done = carrel("plugin", "test", "sample")
        report = json.loads(done.out)
        assert (done.code, report["passed"], report["failed"]) == (1, 1, 1)
        assert report["cases"][0] == {"case": "right", "state": "passed"}
        assert "failed   wrong: the result differs from expected.json\n" in done.err
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
    def test_misuse_exits_with_two(
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

    def test_skipped_files_are_listed_on_stderr_and_in_the_json(
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
            "skipped  right/expected.jsn: it is not part of a case; did you mean 'expected.json'?",
        ]
        report = json.loads(done.out)
        assert [one["file"] for one in report["skipped"]] == ["stray.json"]
        assert [one["file"] for one in report["cases"][0]["skipped"]] == ["expected.jsn"]

    def test_a_replay_warns_of_files_that_answer_nothing(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        (tmp_path / "recording").mkdir()
        (tmp_path / "recording" / "answer.json").write_text("[]", "utf-8")
        done = carrel("--replay", "recording", "call", "arxiv_query", "search_query=ti:x")
        assert done.code == 1
        assert "recording: answer.json was skipped: it is not an exchange" in done.err


class TestBuild:
    def test_a_build_error_says_what_to_do(self, carrel: CommandLine, tmp_path: Path) -> None:
        (tmp_path / "package.json").write_text("{}", "utf-8")
        (tmp_path / "plugin.js").touch()
        done = carrel("plugin", "build")
        assert (done.code, done.out) == (1, "")
        assert "what to do: install Node.js and run 'npm ci' in the project's folder" in done.err


class NoNetwork:
    """Makes a fake network whose only request fails."""

    def __init__(self, config: Config, ending: Exception | None = None) -> None:
        self._folder = config.record_dir
        self._ending = ending

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def tools(self) -> list[Any]:
        return []

    def plugins(self) -> list[Any]:
        return []

    def call(self, *_: object, **__: object) -> Result:
        assert self._folder is not None
        failure = Failure(FailureKind.UNREACHABLE, URL, "api.example.org cannot be reached")
        Recordings(self._folder, create=True).keep(Request("GET", URL), failure)
        if self._ending is not None:
            raise self._ending
        return Result(b'{"n":1}', {"n": 1})


def down(code: str) -> SourceError:
    return SourceError(code, "no answer", plugin="sample", tool="echo")


class TestOutage:
    """Tests that a failed request does not become a case that passes."""

    def record(self, folder: Path, ending: Exception | None = None, **options: bool) -> int:
        session = Session(opener=lambda config: NoNetwork(config, ending))  # type: ignore[arg-type,return-value]
        flags = {"replace": False, "keep_failure": False, **options}
        return record_fixture(session, "echo", (), folder, as_json=True, **flags)

    @pytest.mark.parametrize("code", ["upstream_unavailable", "not_found"])
    def test_responses_of_a_failed_call_are_not_cached_after_an_outage(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str
    ) -> None:
        folder = tmp_path / "fixtures" / "lamps"
        error = down(code)
        for _ in range(2):  # a second run works like the first
            with pytest.raises(SourceError):
                self.record(folder, error)
            assert not folder.parent.exists()
        stderr = capsys.readouterr().err
        assert f"{folder} was not written: a request had no answer" in stderr
        assert f"GET {URL}: api.example.org cannot be reached" in stderr
        assert "--keep-failure" in stderr

    def test_a_partial_result_is_returned_and_its_discarded_response_not_cached(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.record(tmp_path / "lamps") == 1
        out, err = capsys.readouterr()
        assert out == '{"n":1}\n'
        assert "lamps was not written: a request had no answer" in err
        assert list(tmp_path.iterdir()) == []

    def test_a_failed_replacement_keeps_the_old_fixture(self, tmp_path: Path) -> None:
        case = tmp_path / "lamps"
        assert self.record(case, keep_failure=True) == 0
        (case / "expected.json").write_text('{"n": 7}', "utf-8")
        assert self.record(case, replace=True) == 1
        assert json.loads((case / "expected.json").read_text("utf-8")) == {"n": 7}

    def test_keep_failure_records_a_failed_call(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SourceError):
            self.record(tmp_path / "down", down("upstream_unavailable"), keep_failure=True)
        assert "down holds this error as a fixture" in capsys.readouterr().err
        expected = json.loads((tmp_path / "down" / "expected.json").read_text("utf-8"))
        assert expected["error"]["code"] == "upstream_unavailable"
        assert len(Recordings(tmp_path / "down" / "exchanges").failures()) == 1


class TestRecord:
    def test_one_folder_has_to_be_named(self, carrel: CommandLine) -> None:
        for words in ((), ("--into", "a", "--fixture", "b")):
            done = carrel("record", "arxiv_query", *words)
            assert done.code == 2
            assert "either --into DIR or --fixture DIR" in done.err

    @pytest.mark.parametrize("flags", [(), ("--replace",)])
    def test_a_folder_that_is_no_call_fixture_is_never_replaced(
        self, carrel: CommandLine, tmp_path: Path, flags: tuple[str, ...]
    ) -> None:
        folder = project(tmp_path / "sample")
        case = fixture(folder, "right", document_txt="x")
        for name in ("sample/fixtures/right", "sample/fixtures", "sample/Cargo.toml"):
            done = carrel("record", "echo", "--fixture", name, *flags)
            assert done.code == 2
            assert f"{name}: exists already and is not a fixture of a call" in done.err
        assert [path.name for path in case.iterdir()] == ["document.txt"]

    def test_replace_records_a_fixture_again(self, carrel: CommandLine, tmp_path: Path) -> None:
        folder = project(tmp_path / "sample")
        words = ("record", "echo", "count=3", "--fixture", "sample/fixtures/three")
        assert carrel(*words).code == 0
        case = folder / "fixtures" / "three"
        recorded = json.loads((case / "case.json").read_text("utf-8"))
        (case / "case.json").write_text(json.dumps(recorded | {"settings": {"a": 1}}), "utf-8")
        (case / "notes.md").write_text("mine", "utf-8")
        (folder / "dist" / "sample.wasm").write_bytes(component(result='{"n":2}'))
        done = carrel(*words)
        assert done.code == 2
        assert "sample/fixtures/three: exists already; --replace records it again" in done.err
        assert carrel(*words, "--replace").code == 0
        assert json.loads((case / "expected.json").read_text("utf-8")) == {"n": 2}
        assert json.loads((case / "case.json").read_text("utf-8"))["settings"] == {"a": 1}
        assert (case / "notes.md").read_text("utf-8") == "mine"
        assert [path.name for path in case.parent.iterdir()] == ["three"]
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_failed_call_leaves_the_fixture_that_it_was_to_replace(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        words = ("record", "echo", "--fixture", "sample/fixtures/one")
        assert carrel(*words).code == 0
        before = {path: path.read_bytes() for path in folder.rglob("*.json")}
        (folder / "dist" / "sample.wasm").write_bytes(component(body="unreachable"))
        assert carrel(*words, "--replace").code == 1
        assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before

    def test_a_missing_folder_of_fixtures_is_made_for_a_fixture_only(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample", component(body="unreachable"))
        (folder / "fixtures").rmdir()
        words = ("record", "echo", "--fixture", "sample/fixtures/one")
        assert carrel(*words).code == 1
        assert not (folder / "fixtures").exists()
        (folder / "dist" / "sample.wasm").write_bytes(component())
        assert carrel(*words).code == 0

    def test_flags_of_a_fixture_are_misuse_without_one(self, carrel: CommandLine) -> None:
        for flag in ("--replace", "--keep-failure"):
            done = carrel("record", "arxiv_query", "--into", "a", flag)
            assert done.code == 2
            assert "belong to --fixture" in done.err

    def test_a_call_of_the_projects_component_becomes_a_fixture_that_passes(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        done = carrel("record", "echo", "count=3", "--fixture", "sample/fixtures/three")
        assert (done.code, done.out) == (0, '{"n":1}\n'), done.err
        case = folder / "fixtures" / "three"
        recorded = json.loads((case / "case.json").read_text("utf-8"))
        assert recorded == {"tool": "echo", "arguments": {"count": 3}}
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
            while not list((folder / "fixtures").glob(".loop-*/case/exchanges")):
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
        assert (case / "exchanges").is_dir()  # the folder of its recorded fetches
        recorded = json.loads((case / "case.json").read_text("utf-8"))
        assert recorded == {"tool": "lookup", "arguments": {"ids": answer["not_found"]}}
        assert carrel("plugin", "test", "sample").code == 0

    def test_a_resource_becomes_a_fixture_that_passes(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample", answering({"n": 1}))
        words = ("sample-data://stats", "--fixture", "sample/fixtures/stats")
        done = carrel("record", "sample_resource", *words)
        assert (done.code, done.out) == (0, '{"n": 1}\n'), done.err
        recorded = json.loads((folder / "fixtures" / "stats" / "case.json").read_text("utf-8"))
        assert recorded == {"tool": "resource", "arguments": {"uri": "sample-data://stats"}}
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
    def test_arguments_that_no_host_sends_are_misuse_and_are_not_recorded(
        self, carrel: CommandLine, tmp_path: Path, words: tuple[str, ...], says: str
    ) -> None:
        folder = project(tmp_path / "sample", answering({"n": 1}))
        done = carrel("record", *words, "--fixture", "sample/fixtures/odd")
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert list((folder / "fixtures").iterdir()) == []

    def test_a_reserved_tool_of_several_plugins_needs_a_namespace(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        done = carrel("record", "lookup", "10.1000/1", "--fixture", "odd")
        assert done.code == 2
        assert "name one: arxiv_lookup, crossref_lookup, pubmed_lookup" in done.err
        project(tmp_path / "sample")
        done = carrel("record", "resource", "a://b", "--fixture", "sample/fixtures/odd")
        assert done.code == 2
        assert "resource: no plugin's manifest offers it" in done.err

    def test_an_unbuilt_project_names_the_build_command(
        self, carrel: CommandLine, tmp_path: Path
    ) -> None:
        folder = project(tmp_path / "sample")
        (folder / "dist" / "sample.wasm").unlink()
        done = carrel("record", "echo", "--fixture", "sample/fixtures/one")
        assert done.code == 2
        assert "run 'carrel plugin build' first" in done.err
