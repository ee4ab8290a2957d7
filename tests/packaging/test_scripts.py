"""Tests the README's commands: what they install, and the errors when they cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: An installer that finds no package, so that every installation fails.
NO_REGISTRY = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}


def run_python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs code that can import the scripts."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r})\n{code}"
    environ = {**os.environ, **environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Makes a folder with the files of a checkout that decide its environment."""
    (tmp_path / "scripts").mkdir()
    for name in ("pyproject.toml", "constraints.txt", "scripts/environment.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def set_up(checkout: Path) -> subprocess.CompletedProcess[str]:
    # Without uv, because pip's output is tested.
    path = os.pathsep.join(
        folder
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if not shutil.which("uv", path=folder)
    )
    return subprocess.run(
        [sys.executable, checkout / "scripts" / "environment.py"],
        env={**os.environ, **NO_REGISTRY, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_failed_live_query_names_the_offline_flag() -> None:
    done = run_python(
        "from importlib import import_module\n"
        "fails = [sys.executable, '-c', 'raise SystemExit(3)']\n"
        "sys.exit(import_module('try').run(fails, offline=False))"
    )
    assert done.returncode == 3
    assert "scripts/try.py --offline" in done.stderr
    assert done.stdout == ""


@pytest.mark.requirement("replay:exact:example")
def test_the_offline_query_is_the_live_one_answered_from_the_recording() -> None:
    done = run_python(
        "import json, pathlib; from importlib import import_module\n"
        "command = import_module('try').command\n"
        "python = pathlib.Path(sys.executable)\n"
        "print(json.dumps([command(python, offline=offline) for offline in (False, True)]))"
    )
    live, offline = json.loads(done.stdout)
    added = ["--replay", str(Path("examples", "recordings", "arxiv-query"))]
    assert offline == [*live[:3], *added, *live[3:]]
    answer = subprocess.run(offline, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert len(json.loads(answer.stdout)["entries"]) == 3


@pytest.fixture
def no_toolchain(tmp_path: Path) -> str:
    """Returns a PATH whose first cargo and rustc fail, as rustup's proxies do without a
    toolchain.
    """
    for name in ("cargo", "rustc"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'no default is configured' >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    return os.pathsep.join([str(tmp_path), os.environ["PATH"]])


@pytest.mark.skipif(os.name != "posix", reason="its programs are shell scripts")
def test_a_cargo_without_a_toolchain_is_reported_and_not_used(no_toolchain: str) -> None:
    code = "import native, pathlib; print(native.build(pathlib.Path(sys.executable)))"
    done = run_python(code, PATH=no_toolchain)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
    assert f"{no_toolchain.partition(os.pathsep)[0]}/cargo starts no toolchain" in done.stderr


def test_checking_components_without_a_toolchain_is_left_out_and_not_failed() -> None:
    done = run_python(
        "import runpy; script = runpy.run_path('scripts/build-wasm', run_name='script')\n"
        "script['rust'].native_toolchain = lambda: None\n"
        "script['rust'].find_toolchain = lambda say, install: None\n"
        "sys.argv[1:] = ['--check']; sys.exit(script['main']())"
    )
    assert done.returncode == 77
    assert "no Rust toolchain here compiles for this machine" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="its programs are shell scripts")
def test_tests_that_need_cargo_are_skipped_where_it_has_no_toolchain(no_toolchain: str) -> None:
    tests = ("tests/docs/test_guest_kit.py", "tests/host/authoring/test_build.py")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests),
            *("-k", "every_example or cannot_become_a_module or cargos_message"),
        ],
        cwd=ROOT,
        env={**os.environ, "PATH": no_toolchain},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 skipped" in done.stdout.splitlines()[-1]
    assert "cargo starts no toolchain" in done.stdout


@pytest.mark.long("builds")
def test_without_a_package_registry_setup_names_what_is_missing(checkout: Path) -> None:
    done = set_up(checkout)
    assert done.returncode == 1
    assert "A package registry must be reachable" in done.stderr
    assert not list((checkout / ".venv").glob("*.installed"))


@pytest.mark.long("builds")
def test_an_environment_is_reused_until_its_inputs_change(checkout: Path) -> None:
    venv = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    code = f"sys.path[0] = {str(checkout / 'scripts')!r}; import environment as e\n"
    stamp = run_python(code + "e._stamp('use').write_text(e._digest())")
    assert stamp.returncode == 0, stamp.stderr

    kept = set_up(checkout)
    assert (kept.returncode, kept.stderr) == (0, "")

    with (checkout / "constraints.txt").open("a") as constraints:
        constraints.write("# changed\n")
    assert set_up(checkout).returncode == 1
