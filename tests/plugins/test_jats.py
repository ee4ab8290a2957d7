"""Tests the plugin for XML articles: hostile documents end with one typed error, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import carrel
from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import CarrelError, LimitExceeded, SourceError
from support.neighbours import builtin_manifest

COMPONENTS = Path(carrel.__file__).parent / "components"
_BODY = "<article><body>{}</body></article>"


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("jats"),)))


def article(inner: str) -> str:
    return _BODY.format(inner)


HOSTILE: dict[str, tuple[Callable[[], str | bytes], set[str]]] = {
    "entities": (
        lambda: '<!DOCTYPE article [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>' + article("&b;"),
        {"invalid_document"},
    ),
    "outside-entity": (
        lambda: '<!DOCTYPE article [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>' + article(""),
        {"invalid_document"},
    ),
    "deep": (lambda: article("<sec>" * 100_000), {"invalid_document"}),
    "broken-utf-8": (lambda: article("caf\u00e9").encode("latin-1"), {"invalid_document"}),
    "binary": (lambda: bytes(range(256)) * 100, {"invalid_document"}),
    "attributes": (
        lambda: article("<p " + " ".join(f"a{n}=''" for n in range(1000)) + "/>"),
        {"invalid_document"},
    ),
    "cut": (lambda: article("<p>text")[:-20], {"invalid_document"}),
    "tags": (lambda: article("<p/>" * 5_000_000), {"too_large"}),
    "open-tags": (lambda: "<article>" + "<p>" * 1_000_000, {"invalid_document"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_article_is_one_typed_error(api: Carrel, name: str) -> None:
    make, codes = HOSTILE[name]
    with pytest.raises(CarrelError) as caught:
        api.parse_text("jats", "jats", make())
    error = caught.value.to_dict()
    assert error["code"] in codes
    assert "root:" not in error["message"]


def test_an_article_of_64_mib_of_tags_is_refused_within_limits(api: Carrel) -> None:
    tags = "<x></x>" * (64 * 2**20 // 7 - 10)
    with pytest.raises((SourceError, LimitExceeded)) as caught:
        api.parse_text("jats", "jats", article(tags))
    assert caught.value.to_dict()["code"] in {"too_large", "limit_exceeded"}
    assert api.parse("jats", "jats", article("<p>still here</p>"))["quality"] == "complete"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("<sec><title>t</title>", "</sec>"),
        ("<list><list-item><p>x</p>", "</list-item></list>"),
        ("<boxed-text>", "</boxed-text>"),
        ("<p><fn><p>n", "</p></fn></p>"),
        ("<italic>", "</italic>"),
        ("<table-wrap><table><tr><td>", "</td></tr></table></table-wrap>"),
        ("<sub-article><body>", "</body></sub-article>"),
        ("<ref-list>", "</ref-list>"),
        ("<alternatives>", "</alternatives>"),
        ("<alternatives><table/>", "</alternatives>"),
        ("<inline-formula><alternatives>", "</alternatives></inline-formula>"),
        ("<fig><caption><p>", "</p></caption></fig>"),
        ("<disp-quote><p>", "</p></disp-quote>"),
        ("<fig>", "</fig>"),
        ("<figure>", "</figure>"),
        ("<list>", "</list>"),
        ("<table-wrap>", "</table-wrap>"),
        ("<fn-group><fn>", "</fn></fn-group>"),
        ("<alternatives><media/>", "</alternatives>"),
        ("<made-up><p/>", "</made-up>"),
        ("<def-list><def-item><def>", "</def></def-item></def-list>"),
        ("<figure><note>", "</note></figure>"),
        ("<div><head>h</head>", "</div>"),
    ],
)
def test_nesting_is_read_or_refused_and_never_a_trap(api: Carrel, before: str, behind: str) -> None:
    """The parsers' stack is 64 KiB, see `scripts/build-wasm`."""
    outcomes = set()
    for depth in (20, 24, 26, 30, 40, 60, 124, 5000):
        inner = before * depth + "word" + behind * depth
        for document_format, document in (
            ("jats", article(inner)),
            ("tei", f"<TEI><text>{inner}</text></TEI>"),
        ):
            try:
                found = api.parse_text("jats", document_format, document)
            except SourceError as error:
                outcomes.add(error.error_code)
            else:
                outcomes.add("read")
                assert "word" in found, (document_format, depth)
    assert outcomes <= {"read", "invalid_document"}


@pytest.mark.parametrize("rows", [1, 50])
def test_cells_that_span_the_earth_cost_no_more_than_their_tags(api: Carrel, rows: int) -> None:
    cell = '<td rowspan="4000000000" colspan="4000000000">x</td>'
    table = f"<table-wrap><table>{f'<tr>{cell * 40}</tr>' * rows}</table></table-wrap>"
    found = api.parse("jats", "jats", article(table))
    [block] = found["sections"][0]["blocks"]
    assert sum(cell == "x" for row in block["rows"] for cell in row) == 40 * rows
    assert len(api.parse_text("jats", "jats", article(table))) < 2_000_000


def test_the_component_is_small_and_declares_no_host() -> None:
    assert (COMPONENTS / "jats.wasm").stat().st_size <= 6 * 2**20
    manifest = builtin_manifest("jats")
    assert manifest.hosts == ()
    assert manifest.tools == ()
    assert [one.name for one in manifest.formats] == ["jats", "tei"]
