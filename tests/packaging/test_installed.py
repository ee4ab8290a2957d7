"""Tests the wheel installed by pip and uv, outside the checkout and the home directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.packages import Packages

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "examples" / "recordings" / "arxiv-query"
CALL = ("call", "arxiv_query", "search_query=ti:sandbox AND cat:cs.CR", "max_results=3")

INSTALLERS = {
    "pip": ("pip", "install", "--quiet", "--no-deps", "--no-index", "--target"),
    "uv": ("uv", "pip", "install", "--quiet", "--no-deps", "--offline", "--target"),
}

pytestmark = pytest.mark.long("builds")


class Installed:
    """A wheel installed in its own folder; its dependencies are this environment's."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self._home = home
        unwanted = ("CARREL_", "PYTHON", "XDG_")
        self._environ = {
            **{key: text for key, text in os.environ.items() if not key.startswith(unwanted)},
            **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home)),
            "PYTHONPATH": str(folder),
            "PYTHONUTF8": "1",
        }

    def python(self, *words: str | Path) -> str:
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(
            command, cwd=self._home, env=self._environ, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


@pytest.fixture(scope="module", params=sorted(INSTALLERS))
def installed(
    packages: Packages, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Installed:
    installer: str = request.param
    pytest.importorskip(installer, reason=f"{installer} is not in this environment")
    folder = tmp_path_factory.mktemp(f"by-{installer}")
    command = [sys.executable, "-m", *INSTALLERS[installer], str(folder), str(packages.wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Installed(folder, tmp_path_factory.mktemp("home"))


def test_the_installed_package_is_the_one_that_runs(installed: Installed) -> None:
    where = installed.python("-c", "import carrel; print(carrel.__file__)").strip()
    assert Path(where).is_relative_to(installed.folder)
    assert installed.python("-m", "carrel", "--version").strip() == "carrel 0.1.0"


def test_an_installed_carrel_parses_a_document(installed: Installed) -> None:
    [feed] = RECORDING.glob("*.xml")
    parsed = json.loads(installed.python("-m", "carrel", "parse", "arxiv", "feed", feed))
    assert [entry["id"] for entry in parsed["entries"]] == [
        "2507.90417v2",
        "2506.90233v1",
        "2503.90108v1",
    ]


@pytest.mark.requirement("replay:exact:installed")
def test_an_installed_carrel_replays_the_example_the_same_way_each_time(
    installed: Installed,
) -> None:
    once = installed.python("-m", "carrel", "--replay", RECORDING, *CALL)
    again = installed.python("-m", "carrel", "--replay", RECORDING, *CALL)
    assert once == again
    entries = json.loads(once)["entries"]
    assert [entry.get("source_url") for entry in entries] == [
        "https://arxiv.org/e-print/2507.90417v2",
        "https://arxiv.org/e-print/2506.90233v1",
        None,
    ]


def test_a_plugin_project_is_created_from_the_wheel_only(
    installed: Installed, tmp_path: Path
) -> None:
    """The files are the same as from the checkout: the wheel contains the guest kit."""
    from carrel.authoring.new import new_project

    made, expected = tmp_path / "made", tmp_path / "expected"
    installed.python("-m", "carrel", "plugin", "new", "lists", "--into", made)
    new_project("lists", expected)

    def files(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    assert files(made) == files(expected)
    assert "kit/plugins/pdk/src/lib.rs" in files(made)
    code = "from carrel.authoring.kit import kit_root; print(kit_root())"
    assert Path(installed.python("-c", code).strip()).is_relative_to(installed.folder)
