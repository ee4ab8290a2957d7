"""Tests `scripts/test.py`: the tests that it runs and skips, and its summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.parts import ALL, LONG

pytestmark = pytest.mark.long("builds")

ROOT = Path(__file__).parents[2]

#: Runs `scripts/test.py` with pytest's runs replaced by given exit codes; prints the commands.
SCRIPT = """
import importlib.util, json, os, pathlib, sys
sys.path.insert(0, "scripts")
spec = importlib.util.spec_from_file_location("script", "scripts/test.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
codes, runs, got = json.loads(sys.argv[1]), [], []
failures = int(sys.argv[3])
script.environment.ready = lambda dev: pathlib.Path("python")
script.native.build = lambda python: True
script.peers.find = lambda name: None
script.peers.get = lambda name, patience: got.append(name) or "not today"
script.os.cpu_count = lambda: 2

def call(words, cwd):
    runs.append(words)
    code = codes.pop(0)
    for word in words:
        if word.startswith("--note="):
            failed = ["test_it.py::test"] * failures if code else []
            pathlib.Path(word[7:]).write_text(json.dumps({"failed": failed}), "utf-8")
    return code

script.subprocess.call = call
sys.argv[1:] = json.loads(sys.argv[2])
print(json.dumps([script.main(), got, runs]))
"""

TESTS = """
import pytest

@pytest.mark.requirement("a:b:c")
@pytest.mark.long("kills")
@pytest.mark.parametrize("n", range(3))
def test_long(n): pass

@pytest.mark.alone
def test_alone_fails(): assert False

@pytest.mark.alone
def test_alone(): pass

def test_short(): pass

@pytest.mark.long("corpus")
@pytest.mark.parametrize("n", range(7))
def test_cases(n): print("ran", n)

@pytest.mark.parametrize("n", range(5))
def test_many_cases(n): print("tried", n)

@pytest.mark.parametrize("n", range(3))
def test_few_cases(n): pass

def test_without():
    pytest.skip("crane is not here; `just peers crane` gets it or says why not")
"""


def script(
    *arguments: str, codes: tuple[int, ...] = (0, 0), failures: int = 1
) -> tuple[int, list[str], list[list[str]]]:
    """Returns the exit code of `scripts/test.py`, the programs that it installed, and its pytest
    commands. `failures` is how many tests fail in a run whose exit code is 1.
    """
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(codes), json.dumps(arguments), str(failures)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    code, got, runs = json.loads(done.stdout)
    assert [one for one in got if f"{one} cannot be installed: not today" not in done.stderr] == []
    return code, got, [run[3:] for run in runs]


def test_the_default_run_installs_quick_tools_and_leaves_out_long_tests() -> None:
    code, got, [alone, together] = script()
    assert code == 0
    assert got == [
        "docker-registry",
        "promtool",
        "redis-server",
        "haproxy",
        "citeproc-js",
        "mcp-conformance",
        "mcp-typescript",
        "mcp-inspector",
        "mcp-go",
        "mcp-registry",
        "mcpb",
        "oidc-provider",
        "referrers-registry",
        "crane",
        "oras",
    ]
    assert alone[:2] == ["-m", "alone"]
    assert together[:2] == ["-m", "not alone"]
    assert alone[2].removeprefix("--note=") == together[2].removeprefix("--noted=")
    assert together[4:8] == ["-n", "3", "--dist", "worksteal"]
    assert together[8:] == ["--quick", "-r", "fE"]
    assert alone[3:6] == together[8:]
    assert "tests/protocol/test_load.py" in alone[6:]
    assert "tests/packaging/test_wheel.py" not in alone[6:]


def test_all_runs_everything_and_gets_every_program() -> None:
    _, got, [alone, together] = script("--all", "-x")
    assert {"cosign2", "cosign3", "docker-registry"} <= set(got)
    assert (alone[3], together[8:]) == ("-x", ["-x"])


def test_named_tests_are_the_only_ones_that_run() -> None:
    _, _, [alone, together] = script("--all", "tests/host")
    assert alone[3:] == together[8:] == ["tests/host"]


def test_other_arguments_are_pytests() -> None:
    assert script("tests/host", "-k", "deny", codes=(1,)) == (1, [], [["tests/host", "-k", "deny"]])


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ((1, 0, 0), 0),
        ((0, 1, 0), 0),
        ((1, 1, 0), 0),
        ((1, 0, 1), 1),
        ((0, 1, 1), 1),
        ((2,), 2),
        ((4,), 4),
        ((0, 2), 2),
        ((1, 3), 1),
    ],
)
def test_failed_tests_run_again_and_decide(codes: tuple[int, ...], code: int) -> None:
    ended, _, called = script("--all", codes=codes)
    assert (ended, len(called)) == (code, len(codes))
    if len(codes) == 3:
        first, second = called[0][2], called[1][3]
        again = [one.replace("--note=", "--again=") for one in (first, second)]
        assert called[2] == again


@pytest.mark.parametrize(("failures", "runs"), [(0, 2), (10, 3), (11, 2)])
def test_nothing_runs_again_after_many_failures(failures: int, runs: int) -> None:
    ended, _, called = script(codes=(0, 1, 0), failures=failures)
    assert (ended, len(called)) == (0 if runs == 3 else 1, runs)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Returns a small suite that has the options and markers of this one."""
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  long(kind)\n  alone\n", "utf-8")
    return tmp_path


def run_suite(suite: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "support.parts", "-p", "no:cacheprovider", *options],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT / 'host'}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "xdist"])
def test_left_out_tests_are_reported_in_one_line_per_reason(suite: Path, workers: str) -> None:
    quick = ("--quick", "-r", "fE")
    alone = run_suite(suite, "-m", "alone", "--note", "note.json", *quick)
    assert alone.returncode == 1
    together = run_suite(suite, "-m", "not alone", "--noted", "note.json", "-n", workers, *quick)
    assert together.returncode == 0, together.stdout
    lines = together.stdout.splitlines()
    assert "1 failed, 1 passed" in lines
    assert "FAILED test_it.py::test_alone_fails" in lines
    assert [line for line in lines if ": " in line][-4:] == [
        f"7 tests: {LONG['corpus']}; to run them: {ALL}",
        f"3 tests: {LONG['kills']}; to run them: {ALL}",
        f"3 tests: further cases of tests with many, beyond a sample; to run them: {ALL}",
        "1 test: crane is not here; `just peers crane` gets it or says why not",
    ]
    assert "6 passed, 14 skipped" in lines[-1]


@pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "xdist"])
def test_a_sample_has_every_third_case_of_some_kinds(suite: Path, workers: str) -> None:
    done = run_suite(suite, "-m", "not alone", "--sample", "-n", workers, "-rP", "--note", "1.json")
    assert done.returncode == 0, done.stdout
    assert [n for n in range(7) if f"ran {n}" in done.stdout] == [0, 3, 6]
    noted = run_suite(suite, "-m", "not alone", "--sample", "--noted", "1.json")
    assert f"8 tests: {LONG['corpus']}, beyond a sample; to run them: {ALL}" in noted.stdout
    assert "15 passed, 5 skipped" in noted.stdout.splitlines()[-1]


@pytest.mark.parametrize("mended", [True, False])
def test_only_tests_that_failed_run_again(suite: Path, mended: bool) -> None:
    run_suite(suite, "-m", "alone", "--note", "1.json")
    run_suite(suite, "-m", "not alone", "--noted", "1.json", "--note", "2.json")
    if mended:
        text = (suite / "test_it.py").read_text("utf-8")
        (suite / "test_it.py").write_text(text.replace("assert False", "pass"), "utf-8")
    again = run_suite(suite, "--again", "1.json", "--again", "2.json")
    name = "test_it.py::test_alone_fails"
    if mended:
        assert again.returncode == 0
        assert f"UNSTABLE {name}: failed, then passed" in again.stdout
        assert "1 passed, 21 deselected" in again.stdout.splitlines()[-1]
    else:
        assert again.returncode == 1
        assert f"FAILED {name}: failed twice" in again.stdout
        assert "1 failed, 21 deselected" in again.stdout.splitlines()[-1]


def test_a_quick_run_has_every_third_case_of_tests_with_many(suite: Path) -> None:
    done = run_suite(suite, "-m", "not alone", "--quick", "-rP")
    assert [n for n in range(5) if f"tried {n}" in done.stdout] == [0, 3]


def test_without_quick_nothing_is_left_out(suite: Path) -> None:
    done = run_suite(suite, "-m", "not alone")
    assert "19 passed, 1 skipped" in done.stdout.splitlines()[-1]


def test_an_unknown_kind_of_long_test_is_refused(suite: Path) -> None:
    text = (suite / "test_it.py").read_text("utf-8")
    (suite / "test_it.py").write_text(text.replace('long("kills")', 'long("boring")'), "utf-8")
    done = run_suite(suite)
    assert done.returncode == 4
    assert "long('boring') is unknown; there are: builds, corpus" in done.stderr
