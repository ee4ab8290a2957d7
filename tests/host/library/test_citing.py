"""Tests `library_cite` with a double of the plugin: blocks, styles, locales, files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from carrel.config import Config, LibraryConfig
from carrel.documents.folders import read_granted
from carrel.errors import CarrelError
from carrel.exchange import Call, Limits
from carrel.library.library import Library
from carrel.library.tools.citing import LibraryCiter
from citations.doubles import FakeCsl
from support.library_world import item, write_library

CSL = '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text"/>'


class Citing:
    """A library of two references, and what cites them."""

    def __init__(self, config: Config, folder: Path, settings: LibraryConfig) -> None:
        self.csl = FakeCsl()
        path = write_library(folder / "library.json", item(), item("holm", DOI="10.5555/h"))
        self.library = Library.open(path, cache_folder=folder, backup_folder=folder / "b")
        self.citer = LibraryCiter(
            cast("Any", self.csl),
            replace(config, library=settings),
            lambda path: read_granted(path, (folder / "granted",), 10_000),
        )

    def __call__(self, **arguments: Any) -> dict[str, Any]:
        call = Call("carrel", "library_cite", Limits())
        return self.citer.cite(self.library, arguments, call)


@pytest.fixture
def citing(config: Config, tmp_path: Path) -> Any:
    made = Citing(config, tmp_path, LibraryConfig())
    yield made
    made.library.close()


@pytest.mark.requirement("reference-manager:cite:order")
def test_each_id_has_a_citation_in_the_order_of_the_call(citing: Citing) -> None:
    result = citing(ids=["marlow-2019", "nobody", "holm"])
    assert [one["id"] for one in result["citations"]] == ["marlow-2019", "nobody", "holm"]
    first, second, third = result["citations"]
    assert first["text"].startswith("marlow-2019, The tidy desk")
    assert "nobody" in second["error"]
    assert third["text"].startswith("holm")
    assert (result["style"], result["format"]) == ("apa", "text")
    assert len(citing.csl.requests) == 1


def test_only_missing_ids_need_no_plugin(citing: Citing) -> None:
    assert "error" in citing(ids=["nobody"])["citations"][0]
    assert citing.csl.requests == []


@pytest.mark.requirement("reference-manager:cite:plugin")
def test_style_format_and_locale_reach_the_plugin(citing: Citing) -> None:
    result = citing(ids=["holm"], style="ieee", format="html", locale="de-DE")
    asked = citing.csl.requests[-1]
    assert (result["style"], result["format"], result["locale"]) == ("ieee", "html", "de-DE")
    assert (asked["format"], asked["locale"]) == ("html", "de-DE")


def test_an_in_text_citation_is_asked_for_each_id(citing: Citing) -> None:
    result = citing(ids=["holm", "marlow-2019"], in_text=True)
    assert [one["text"] for one in result["citations"]] == ["(holm)", "(marlow-2019)"]


@pytest.mark.requirement("reference-manager:cite-styles:settings")
def test_the_settings_choose_style_and_locale(config: Config, tmp_path: Path) -> None:
    style = tmp_path / "own.csl"
    style.write_text(CSL, "utf-8")
    made = Citing(config, tmp_path, LibraryConfig(style=str(style), locale="fr-FR"))
    result = made(ids=["holm"])
    assert (result["style"], result["locale"]) == ("own", "fr-FR")
    assert made.csl.requests[-1]["style"] == CSL
    made.library.close()


@pytest.mark.requirement("reference-manager:cite-styles:file")
def test_a_client_names_only_styles_of_granted_folders(citing: Citing, tmp_path: Path) -> None:
    (tmp_path / "granted").mkdir()
    for folder in ("granted", "."):
        (tmp_path / folder / "own.csl").write_text(CSL, "utf-8")
    result = citing(ids=["holm"], style=str(tmp_path / "granted" / "own.csl"))
    assert (result["style"], citing.csl.requests[-1]["style"]) == ("own", CSL)
    with pytest.raises(CarrelError) as caught:
        citing(ids=["holm"], style=str(tmp_path / "own.csl"))
    assert caught.value.error_code == "denied"
    with pytest.raises(CarrelError, match="no style"):
        citing(ids=["holm"], style="no-such-style")
