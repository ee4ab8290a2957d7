"""Tests that styles and locales are found by name, and files only where they may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from carrel.citations.locales import find_locale, list_locales, locale_texts
from carrel.citations.styles import MAX_STYLE_BYTES, find_parent, find_style, list_styles
from carrel.errors import ArgumentError
from citations.oracle import FIFTEEN, LOCALES, STYLES

LICENSE = "creativecommons.org/licenses/by-sa/3.0"


@pytest.mark.parametrize("name", FIFTEEN)
def test_each_of_the_fifteen_styles_is_found_with_its_title(name: str) -> None:
    style = find_style(name)
    assert style.name == name
    assert style.title
    assert style.text.startswith("<?xml")


@pytest.mark.requirement("reference-manager:cite-styles:names")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("APA", "apa"),
        ("vancouver", "nlm-citation-sequence"),
        ("Harvard", "harvard-cite-them-right"),
        ("chicago", "chicago-author-date"),
        ("MLA", "modern-language-association"),
        ("ama", "american-medical-association"),
        ("acs", "american-chemical-society"),
        ("turabian", "turabian-author-date"),
        ("harvard1", "harvard-cite-them-right"),
        ("American Medical Association", "american-medical-association"),
        ("http://www.zotero.org/styles/ieee", "ieee"),
        ("ieee.csl", "ieee"),
    ],
)
def test_aliases_former_names_and_addresses_are_found(given: str, expected: str) -> None:
    assert find_style(given).name == expected


def test_a_journal_has_the_style_that_it_depends_on() -> None:
    journal = find_style("nature-communications")
    assert journal.name == "nature-communications"
    assert journal.text == find_style("nature").text


def test_a_journals_locale_replaces_that_of_its_parent() -> None:
    assert find_style("acta-otorrinolaringologica-espanola").own_locale == "es-ES"
    assert find_style("apa").own_locale is None


def test_the_dependent_style_of_the_fifteen_has_its_parents_text() -> None:
    parent = find_style("chicago-author-date-17th-edition")
    assert find_style("turabian-author-date").text == parent.text


def test_an_unknown_name_is_refused_with_similar_ones() -> None:
    with pytest.raises(ArgumentError, match="did you mean ieee"):
        find_style("ieeee")
    with pytest.raises(ArgumentError, match="there are american-chemical-society, "):
        find_style("qqqqqqqq")


@pytest.mark.requirement("citations:styles:no-files-for-clients")
def test_a_path_is_no_name_unless_files_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "mine.csl"
    path.write_text("<style/>")
    for name in (str(path), "/etc/passwd", "../mine.csl", "..%2fmine"):
        with pytest.raises(ArgumentError, match="no style"):
            find_style(name)
    assert find_style(str(path), files=True).text == "<style/>"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"x" * (MAX_STYLE_BYTES + 1), "is larger than 2,097,152 bytes"),
        (b"<style>\xff</style>", "is not UTF-8 at byte 7"),
    ],
)
def test_a_file_that_is_too_large_or_no_text_is_refused(
    tmp_path: Path, data: bytes, fault: str
) -> None:
    path = tmp_path / "mine.csl"
    path.write_bytes(data)
    with pytest.raises(ArgumentError, match=fault):
        find_style(str(path), files=True)
    with pytest.raises(ArgumentError, match="there is no such file"):
        find_style(str(tmp_path / "none.csl"), files=True)


@pytest.mark.requirement("citations:styles:not-parsed-here")
def test_a_file_that_is_no_style_is_text_for_the_sandbox(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csl"
    path.write_text('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;')
    assert find_style(str(path), files=True).text == path.read_text()


def test_a_parent_is_found_beside_the_file_before_the_vendored_one(tmp_path: Path) -> None:
    child = tmp_path / "child.csl"
    child.write_text("<style/>")
    style = find_style(str(child), files=True)
    assert find_parent("http://www.zotero.org/styles/apa", style).text == find_style("apa").text
    (tmp_path / "apa.csl").write_text("<style>own</style>")
    assert find_parent("http://www.zotero.org/styles/apa", style).text == "<style>own</style>"
    with pytest.raises(ArgumentError, match=r"put ghost\.csl into "):
        find_parent("http://www.zotero.org/styles/ghost", style)


def test_a_parents_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.csl").write_text("<style/>")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "child.csl").write_text("<style/>")
    style = find_style(str(inner / "child.csl"), files=True)
    for link in ("../secret", "..\\secret", "http://x/styles/..%2fsecret"):
        with pytest.raises(ArgumentError, match="which is missing"):
            find_parent(link, style)


@pytest.mark.parametrize("folder", [STYLES, LOCALES], ids=["styles", "locales"])
def test_every_vendored_file_states_its_licence_and_the_folder_too(folder: Path) -> None:
    assert LICENSE in (folder / "LICENSE.md").read_text("utf-8")
    files = [*folder.glob("*.csl"), *folder.glob("*.xml")]
    assert files
    for path in files:
        assert LICENSE in path.read_text("utf-8"), path.name


def test_the_index_lists_each_file() -> None:
    assert {style.name for style in list_styles()} == {path.stem for path in STYLES.glob("*.csl")}
    assert all(style.title and style.citation_format for style in list_styles())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("de-DE", "de-DE"),
        ("de", "de-DE"),
        ("de_AT", "de-AT"),
        ("DE-li", "de-DE"),
        ("pt", "pt-PT"),
        ("zh-HK", "zh-CN"),
        ("sr", "sr-Latn-RS"),
        ("en-AU", "en-US"),
        ("fr-ca", "fr-CA"),
    ],
)
def test_a_language_has_its_own_locale_or_its_main_one(given: str, expected: str) -> None:
    assert find_locale(given) == expected


@pytest.mark.parametrize("name", ["tlh", "", "../en-US", "german"])
def test_a_language_without_a_locale_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="there are af-ZA, "):
        find_locale(name)


def test_a_locale_comes_with_those_that_it_falls_back_to() -> None:
    assert list(locale_texts("de-AT")) == ["de-AT", "de-DE", "en-US"]
    assert list(locale_texts(None)) == ["en-US"]
    assert len(list_locales()) >= 60


def test_every_locale_is_of_its_name() -> None:
    for name in list_locales():
        text = locale_texts(name)[name]
        found = re.search(r'xml:lang="([^"]+)"', text)
        assert found
        assert found[1] == name
