"""Every captured answer of Unpaywall is a typed error or says what its JSON says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import SourceError
from conftest import CORPUS, ROOT
from plugins.agreement import differences
from plugins.unpaywall_oracle import read

pytestmark = pytest.mark.long("corpus")

ANSWERS = sorted((CORPUS / "unpaywall").glob("*.*")) if CORPUS.is_dir() else []
RECORD = json.loads((ROOT / "contract" / "v1" / "record.schema.json").read_text("utf-8"))
#: A piece of a file's name → code, for those that hold none; `invalid_document` for the others.
CODES = {"404": "not_found"}


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("unpaywall"),)))


def test_the_captured_answers_are_there(corpus: Path) -> None:
    assert len(list((corpus / "unpaywall").glob("*.*"))) >= 40


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_a_captured_answer_says_what_its_json_says(api: Carrel, path: Path) -> None:
    document = path.read_text("utf-8")
    expected = read(document)
    if expected is None:
        for document_format in ("record", "search"):
            with pytest.raises(SourceError) as caught:
                api.parse("unpaywall", document_format, document)
            codes = [code for piece, code in CODES.items() if piece in path.name]
            assert caught.value.error_code == (codes or ["invalid_document"])[0]
        return
    document_format, result = expected
    found = api.parse("unpaywall", document_format, document)
    assert list(differences("", result, found)) == []


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_record_satisfies_the_contract(api: Carrel, path: Path) -> None:
    import jsonschema_rs

    document = path.read_text("utf-8")
    expected = read(document)
    if expected is None:
        return
    document_format, _ = expected
    found = api.parse("unpaywall", document_format, document)
    validator = jsonschema_rs.validator_for(RECORD, validate_formats=True)
    for work in [one["work"] for one in found.get("records", [found])]:
        assert [error.message for error in validator.iter_errors(work)] == []
