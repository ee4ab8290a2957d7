"""Every captured answer of Semantic Scholar is a typed error or says what its JSON says."""

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
from plugins.semanticscholar_oracle import read

pytestmark = pytest.mark.long("corpus")

ANSWERS = sorted((CORPUS / "s2").glob("*.*")) if CORPUS.is_dir() else []
RECORD = json.loads((ROOT / "contract" / "v1" / "record.schema.json").read_text("utf-8"))
#: A piece of a file's name → code, for those that hold none; `invalid_document` for the others.
CODES = {
    "not_found_404": "not_found",
    "bad_query_parameters": "upstream_error",
    "negative_only_400": "upstream_error",
    "debug_403": "upstream_error",
}


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("semanticscholar"),)))


def test_the_captured_answers_are_there(corpus: Path) -> None:
    assert len(list((corpus / "s2").glob("*.*"))) >= 60


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_a_captured_answer_says_what_its_json_says(api: Carrel, path: Path) -> None:
    document = path.read_text("utf-8")
    expected = read(document)
    if expected is None:
        for document_format in ("paper", "papers", "citations", "references"):
            with pytest.raises(SourceError) as caught:
                api.parse("semanticscholar", document_format, document)
            codes = [code for piece, code in CODES.items() if piece in path.name]
            assert caught.value.error_code == (codes or ["invalid_document"])[0]
        return
    document_format, result = expected
    found = api.parse("semanticscholar", document_format, document)
    assert list(differences("", result, found)) == []


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_record_satisfies_the_contract(api: Carrel, path: Path) -> None:
    import jsonschema_rs

    document = path.read_text("utf-8")
    expected = read(document)
    if expected is None:
        return
    document_format, _ = expected
    found = api.parse("semanticscholar", document_format, document)
    of_links = {"contexts", "intents", "influential"}
    validator = jsonschema_rs.validator_for(RECORD, validate_formats=True)
    for work in [found["work"]] if "work" in found else found["works"]:
        record = {key: value for key, value in work.items() if key not in of_links}
        assert [error.message for error in validator.iter_errors(record)] == []
