"""Tests that a hostile plugin for documents fails only its own call, with a typed error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.errors import CarrelError
from carrel.text.printable import printable
from carrel.tools import Toolbox

from .behaviours import CHEAP, Behaviour, hostile_document, hostile_reader
from .conftest import plugin, well_behaved

pytestmark = [pytest.mark.alone, pytest.mark.long("flood")]


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> Iterator[Toolbox]:
    folder = tmp_path_factory.mktemp("readers")
    entries = (
        plugin(folder, "good", well_behaved()),
        plugin(folder, "hostile", hostile_reader(), limits={"cpu_seconds": 0.4}),
    )
    opened = Toolbox(Config(cache_dir=code_folder, data_dir=folder, plugins=entries))
    yield opened
    opened.close()


#: Recurses through another function than `parse-bytes`.
_OF_CALLS_ONLY = frozenset({"recursion"})


@pytest.mark.requirement("result:typed:hostile")
@pytest.mark.requirement("serve:alive:readers")
@pytest.mark.parametrize(
    "behaviour",
    [one for one in CHEAP if one.name not in _OF_CALLS_ONLY],
    ids=lambda one: one.name,
)
def test_a_hostile_reader_costs_one_typed_error(toolbox: Toolbox, behaviour: Behaviour) -> None:
    with pytest.raises(CarrelError) as caught:
        toolbox.parse("hostile", "file", hostile_document(behaviour))
    shown = caught.value.to_dict()
    assert shown["code"] == behaviour.code, shown
    assert shown["source"] == "hostile"
    assert printable(caught.value.message, 3000) == caught.value.message
    assert len(json.dumps(shown, allow_nan=False)) < 8_000
    assert toolbox.call_sync("good_echo", {}).data == {"n": 1}
