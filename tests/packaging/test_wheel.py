"""Tests the wheel's files and metadata."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from support.packages import Packages

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long("builds")


@pytest.fixture
def wheel(packages: Packages) -> Iterator[ZipFile]:
    with ZipFile(packages.wheel) as archive:
        yield archive


def metadata(wheel: ZipFile, name: str) -> Message:
    [path] = [path for path in wheel.namelist() if path.endswith(f".dist-info/{name}")]
    return BytesParser().parsebytes(wheel.read(path))


def test_wheel_is_for_every_platform(packages: Packages, wheel: ZipFile) -> None:
    assert packages.wheel.name == "carrel-0.1.0-py3-none-any.whl"
    assert metadata(wheel, "WHEEL")["Root-Is-Purelib"] == "true"


def test_wheel_contains_exactly_the_files_of_the_package(wheel: ZipFile) -> None:
    package = ROOT / "host" / "carrel"
    expected = {
        f"carrel/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    contract = {f"carrel/contract/v1/{path.name}" for path in (ROOT / "contract/v1").iterdir()}
    kit = {f"carrel/authoring/kit/{name}" for name in ("Cargo.lock", "Cargo.toml", "LICENSE")}
    kit |= {
        f"carrel/authoring/kit/{path.relative_to(ROOT).as_posix()}"
        for crate in ("componentize", "plugins/pdk")
        for path in (ROOT / crate).rglob("*")
        if path.is_file()
    }
    info = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    expected |= contract | kit | {f"carrel-0.1.0.dist-info/{name}" for name in info}
    assert set(wheel.namelist()) == expected
    assert {"carrel/py.typed", "carrel/contract/v1/plugin.wit"} <= expected


def test_wheel_holds_the_contract_as_it_is_in_the_checkout(wheel: ZipFile) -> None:
    for path in (ROOT / "contract" / "v1").iterdir():
        assert wheel.read(f"carrel/contract/v1/{path.name}") == path.read_bytes(), path.name


@pytest.mark.requirement("plugin:pinned:wheel")
def test_wheel_holds_the_components_that_its_lock_names(wheel: ZipFile) -> None:
    lock = json.loads(wheel.read("carrel/components/components.lock"))
    for name, component in lock["components"].items():
        found = hashlib.sha256(wheel.read(f"carrel/components/{name}.wasm")).hexdigest()
        assert component["digest"] == f"sha256:{found}", name
    assert "arxiv" in lock["components"]


def test_metadata_has_the_fields_for_installers_and_readers(wheel: ZipFile) -> None:
    found = metadata(wheel, "METADATA")
    assert (found["Name"], found["Version"]) == ("carrel", "0.1.0")
    assert found["Requires-Python"] == ">=3.11"
    assert found["License-Expression"] == "Apache-2.0"
    assert found["License-File"] == "LICENSE"
    assert found["Description-Content-Type"] == "text/markdown"
    assert found["Summary"]
    assert found["Author"]
    assert found["Keywords"]
    classifiers = set(found.get_all("Classifier") or ())
    assert {
        "Typing :: Typed",
        "Programming Language :: Python :: 3.11",
        "Operating System :: POSIX :: Linux",
        "Operating System :: MacOS",
        "Operating System :: Microsoft :: Windows",
    } <= classifiers
    assert not any(classifier.startswith("License ::") for classifier in classifiers)


def test_development_tools_are_no_dependencies(wheel: ZipFile) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = metadata(wheel, "METADATA").get_all("Requires-Dist") or []
    unconditional = {Requirement(one) for one in required if "extra ==" not in one}
    assert unconditional == {Requirement(one) for one in project["dependencies"]}


def test_the_command_carrel_is_installed(wheel: ZipFile) -> None:
    entry_points = wheel.read("carrel-0.1.0.dist-info/entry_points.txt").decode()
    assert "[console_scripts]\ncarrel = carrel.__main__:main" in entry_points
