"""Tests fixtures of the built-in components' lookups and resources, with recorded exchanges."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import carrel
from carrel.authoring.check import Outcome, check_plugin
from carrel.config import Config

RECORDINGS = Path(__file__).parents[2] / "examples" / "recordings"
LAMP = {"type": "doi", "id": "10.5555/LAMP(2021)102"}
NOBODY = {"type": "doi", "id": "10.5555/nobody"}
EINFO = """<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE eInfoResult PUBLIC "-//NLM//DTD einfo 20190110//EN"
 "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20190110/einfo.dtd">
<eInfoResult><DbInfo><DbName>pubmed</DbName><MenuName>PubMed</MenuName>
<Description>PubMed bibliographic record</Description><DbBuild>Build-2026.01.01.00.01</DbBuild>
<Count>40000000</Count><LastUpdate>2026/01/01 00:01</LastUpdate>
<FieldList></FieldList><LinkList></LinkList></DbInfo></eInfoResult>"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    folder = tmp_path / "fixtures" / "case"
    folder.mkdir(parents=True)
    return folder


def write(case: Path, tool: str, **arguments: object) -> None:
    (case / "case.json").write_text(json.dumps({"tool": tool, "arguments": arguments}), "utf-8")


def run(case: Path, name: str, config: Config, **options: Any) -> Outcome:
    wasm = (Path(carrel.__file__).parent / "components" / f"{name}.wasm").read_bytes()
    [outcome] = check_plugin(wasm, name, case.parent, config, **options).outcomes
    return outcome


def expected(case: Path) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads((case / "expected.json").read_text("utf-8"))
    return recorded


def test_a_lookup_is_answered_from_a_recording(case: Path, config: Config) -> None:
    write(case, "lookup", ids=[LAMP, NOBODY])
    assert "no exchange of GET https://api.crossref.org/" in run(case, "crossref", config).reason
    shutil.copytree(RECORDINGS / "lookup", case / "exchanges")
    assert run(case, "crossref", config, update=True).state == "updated"
    recorded = expected(case)
    assert [one["id"] for one in recorded["works"]] == [LAMP]
    assert recorded["works"][0]["work"]["source"] == "crossref"
    assert recorded["not_found"] == [NOBODY]
    assert run(case, "crossref", config).state == "passed"


def test_a_resource_is_answered_from_a_recording(case: Path, config: Config) -> None:
    write(case, "resource", uri="pubmed-connect://stats/pubmed")
    url = run(case, "eutils", config).reason.partition("exchange of GET ")[2].partition(" is")[0]
    assert url.startswith("https://eutils.ncbi.nlm.nih.gov/entrez/eutils/einfo.fcgi")
    exchange = {
        "format": 1,
        "request": {"method": "GET", "url": url},
        "response": {"status": 200, "url": url, "headers": [], "body": "001-GET.xml"},
    }
    (case / "exchanges").mkdir()
    (case / "exchanges" / "001-GET.json").write_text(json.dumps(exchange), "utf-8")
    (case / "exchanges" / "001-GET.xml").write_text(EINFO, "utf-8")
    assert run(case, "eutils", config, update=True).state == "updated"
    assert expected(case)["total_record_count"] == 40_000_000
    assert run(case, "eutils", config).state == "passed"
