"""Tests that `constraints.txt` pins all development dependencies and names no registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINES = (ROOT / "constraints.txt").read_text("utf-8").splitlines()


def wanted() -> list[Requirement]:
    project = PROJECT["project"]
    lists = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        PROJECT["dependency-groups"]["dev"],
    ]
    return [Requirement(text) for requirements in lists for text in requirements]


def test_every_requirement_is_pinned_to_a_version_it_allows() -> None:
    environment = {key: str(text) for key, text in default_environment().items()}
    pins = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in (Requirement(line) for line in LINES if not line.startswith("#"))
        if pin.marker is None or pin.marker.evaluate(environment)
    }
    faults = [
        str(requirement)
        for requirement in wanted()
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert faults == [], "run `just pin`"


def test_a_pin_is_a_name_a_version_and_perhaps_a_marker() -> None:
    pin = re.compile(r"[a-z0-9.-]+==[A-Za-z0-9.+!]+( ; .+)?")
    assert [line for line in LINES if not (line.startswith("#") or pin.fullmatch(line))] == []
    assert not any("://" in line for line in LINES)
