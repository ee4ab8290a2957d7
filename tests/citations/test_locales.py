"""Compares bibliographies in other languages with citeproc-js, over a part of the works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.citations import CitationEngine, find_style
from carrel.citations.locales import find_locale
from carrel.config import Config
from citations import oracle
from citations.differences import compare, listing, summary
from citations.works import works

pytestmark = pytest.mark.long("programs")

#: The share of entries that must agree; over all works and styles it is 99.4 % at least.
BAR = 0.98
#: Every n-th work, and of the fifteen styles those with the most terms and dates.
STEP = 4
STYLES = (
    "apa",
    "chicago-author-date",
    "ieee",
    "modern-language-association",
    "nlm-citation-sequence",
)
LANGUAGES = ("ar", "de", "en-GB", "es", "fr", "ja", "pt-BR", "zh")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> Iterator[CitationEngine]:
    data = tmp_path_factory.mktemp("data")
    with Carrel(Config(cache_dir=code_folder, data_dir=data)) as host:
        yield host.citation_engine()


@pytest.mark.requirement("citations:agreement:languages")
@pytest.mark.parametrize("language", LANGUAGES)
def test_entries_in_a_language_are_those_of_citeproc_js(
    engine: CitationEngine, language: str
) -> None:
    items = works()[::STEP]
    locale = find_locale(language)
    asked = [oracle.request(style, items, locale=locale) for style in STYLES]
    found = []
    for style, result in zip(STYLES, oracle.run(asked), strict=True):
        entries = engine.bibliography(items, find_style(style), locale=locale).entries
        ours = [{"id": entry.id, "text": entry.text} for entry in entries]
        found.append(compare(style, ours, result["bibliography"]))
    total = sum(one.total for one in found)
    assert total == len(STYLES) * len(items)
    shown = f"{summary(found)}\n\n{listing([one for each in found for one in each.differences])}"
    assert sum(one.agreeing for one in found) >= BAR * total, shown
