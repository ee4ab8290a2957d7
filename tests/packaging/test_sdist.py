"""Tests that the sdist equals the checkout: it builds the same wheel and includes the tests."""

from __future__ import annotations

from zipfile import ZipFile

import pytest

from support.packages import Packages

pytestmark = pytest.mark.long("builds")


def test_sdist_builds_the_same_wheel(packages: Packages) -> None:
    with ZipFile(packages.wheel) as one, ZipFile(packages.wheel_of_sdist) as other:
        assert one.namelist() == other.namelist()
        for name in one.namelist():
            assert one.read(name) == other.read(name), name


@pytest.mark.parametrize(
    "path",
    [
        ".ci/run",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "constraints.txt",
        "contract/v1/plugin.wit",
        "examples/recordings/README.md",
        "host/carrel/components/components.lock",
        "justfile",
        "plugins/arxiv/src/lib.rs",
        "plugins/pdk/src/lib.rs",
        "pyproject.toml",
        "scripts/build-wasm",
        "scripts/test.py",
        "scripts/try.py",
        "tests/conftest.py",
        "xtask/src/main.rs",
    ],
)
def test_sdist_contains_all_files_for_building_and_testing(packages: Packages, path: str) -> None:
    assert (packages.unpacked / path).is_file()


def test_sdist_contains_no_built_or_cached_file(packages: Packages) -> None:
    names = {part for path in packages.unpacked.rglob("*") for part in path.parts}
    assert not names & {".git", ".venv", "__pycache__", "target", "dist", ".mypy_cache"}
