"""Tests captured Office documents against python-docx, python-pptx and lxml."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from bench.office_truth import SEEN_BY, STRICT, missing

from carrel.api import Carrel
from carrel.config import Config, builtin
from conftest import CORPUS

FILES = sorted((CORPUS / "office").glob("*/*")) if CORPUS.is_dir() else []
FILES = [path for path in FILES if path.suffix in {".docx", ".pptx", ".epub"}]


@pytest.fixture
def library(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("office"),)))


def test_the_captured_documents_are_there(corpus: Path) -> None:
    assert len(list((corpus / "office").glob("*/*.docx"))) >= 50


@pytest.mark.skipif(
    not all(find_spec(name) for name in ("docx", "pptx", "lxml")),
    reason="python-docx and python-pptx are not installed (pip install --group bench)",
)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_captured_document_has_everything_that_others_see(library: Carrel, path: Path) -> None:
    document = library.parse("office", path.suffix[1:], path.read_bytes())
    if path.name in STRICT:
        assert "Test" in str(document["sections"])
        return
    assert missing(document, list(SEEN_BY[path.suffix](path))) == []
