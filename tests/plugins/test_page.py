"""Tests the plugin for web pages: hostile pages end with a document or one typed error."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import carrel
from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import CarrelError
from support.neighbours import builtin_manifest

COMPONENTS = Path(carrel.__file__).parent / "components"


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("page"),)))


READ: dict[str, Callable[[], bytes]] = {
    "deep": lambda: b"<div>" * 200_000 + b"word",
    "deep-formatting": lambda: b"<b>" * 200_000 + b"word",
    "deep-tables": lambda: b"<table><tr><td>" * 50_000 + b"word",
    "deep-lists": lambda: b"<ul><li>" * 250 + b"word",
    "deep-quotes": lambda: b"<blockquote>" * 400 + b"word",
    "deep-formulas": lambda: b"<math>" + b"<msup><mi>" * 200 + b"word",
    "attributes": lambda: b"<p " + b" ".join(b"a%d=''" % n for n in range(20_000)) + b">word",
    "one-long-line": lambda: b"word " * 2_000_000,
    "entities": lambda: b"&amp;" * 1_000_000 + b" word",
    "spans": lambda: b"<table><tr>" + b"<td rowspan=65534 colspan=1000>word" * 2_000,
    "json-ld": lambda: b"<script type=application/ld+json>" + b"[" * 500_000 + b"</script>word",
    "open-comment": lambda: b"word<!--" + b"<p>" * 500_000,
    "broken-utf-8": lambda: b"word \xff\xfe\x80 " * 1_000,
    "zeros": lambda: b"word" + bytes(1_000_000),
}


@pytest.mark.parametrize("name", READ)
def test_a_hostile_page_is_read(api: Carrel, name: str) -> None:
    assert "word" in api.parse_text("page", "html", READ[name]())


REFUSED: dict[str, Callable[[], bytes]] = {
    "tags": lambda: b"<p/>" * 3_000_000,
    "texts": lambda: b"<p>x" * 2_000_000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_page_of_too_many_elements_is_refused(api: Carrel, name: str) -> None:
    with pytest.raises(CarrelError) as caught:
        api.parse_text("page", "html", REFUSED[name]())
    assert caught.value.to_dict()["code"] == "too_large"


@pytest.mark.parametrize("prefix", [b"> ", b"- ", b"[", b"*", b"1. ", b"|"])
def test_deep_markdown_is_read(api: Carrel, prefix: bytes) -> None:
    assert "word" in api.parse_text("page", "markdown", prefix * 20_000 + b"word\n")


CHALLENGES = {
    "javascript": "<title>Just a moment...</title><body>Enable JavaScript and cookies to continue"
    "<script>window._cf_chl_opt={}</script>",
    "captcha": "<title>Robot check</title><p>Complete the captcha.<div class='g-recaptcha'></div>",
    "denied": "<title>Access Denied</title><h1>Access Denied</h1><p>You have been blocked.</p>",
    "redirect": "<title>You are being redirected</title><script>sucuri_cloudproxy_js=''</script>",
}


@pytest.mark.parametrize("name", CHALLENGES)
def test_a_challenge_is_never_text(api: Carrel, name: str) -> None:
    found = api.parse("page", "html", CHALLENGES[name].encode())
    assert found["kind"] == "challenge"
    assert found["sections"] == []
    assert found["quality"] == "none"
    assert [one["code"] for one in found["warnings"]] == ["challenge"]


def test_an_article_about_challenges_is_an_article(api: Carrel) -> None:
    words = (
        "<p>Sites say just a moment and set _cf_chl_opt before they give a page, or a captcha.</p>"
    )
    page = (
        f"<title>Just a moment, or: captcha</title><article><h1>Captcha</h1>{words * 40}</article>"
    )
    found = api.parse("page", "html", page.encode())
    assert found["kind"] not in {"challenge", "not_found"}
    assert found["quality"] == "complete"


KINDS = {
    "not_found": [
        "<title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found here.",
        "<title>Oops</title><h1>This page doesn't exist</h1><p>It may have moved.",
        "<title>Page introuvable</title><h1>Erreur</h1><p>La page demandée n'existe pas.",
    ],
    "consent": [
        "<h1>We use cookies</h1><p>Accept all, or manage options of our partners. Your consent.",
        "<p>Mit Cookies und Ihrer Zustimmung weiter. Datenschutz.<button>Alle akzeptieren</button>",
    ],
    "paywall": [
        "<p>The first lines are free.</p><p>Subscribe to continue reading. Already a subscriber?",
        "<p>Le début.</p><p>Article réservé aux abonnés. Abonnez-vous pour lire la suite.</p>",
    ],
    "login": [
        "<title>Log in</title><form><input name=u><input type=password></form><p>Log in to go on",
    ],
    "empty": ["<div id=app></div><script>run()</script>", "", "   \n"],
}


@pytest.mark.parametrize(
    ("kind", "page"), [(kind, page) for kind, pages in KINDS.items() for page in pages]
)
def test_a_page_that_is_not_an_article_has_its_kind(api: Carrel, kind: str, page: str) -> None:
    found = api.parse("page", "html", page.encode())
    assert found["kind"] == kind
    assert found["quality"] != "complete"


def test_tags_win_in_the_order_of_preference(api: Carrel) -> None:
    tags = {
        "og:title": '<meta property="og:title" content="og">',
        "dc.title": '<meta name="dc.title" content="dc">',
        "prism.title": '<meta name="prism.title" content="prism">',
        "json-ld": '<script type="application/ld+json">{"@type":"Book","headline":"ld"}</script>',
        "citation_title": '<meta name="citation_title" content="citation">',
    }
    page, winners = "<p>A text of some words that stands here.</p>", []
    for tag in tags.values():
        page = tag + page
        winners.append(api.parse("page", "html", page.encode())["title"])
    assert winners == ["og", "dc", "prism", "ld", "citation"]


def test_a_doi_in_the_text_is_not_the_pages(api: Carrel) -> None:
    page = b'<p>See <a href="https://doi.org/10.5555/other">10.5555/other</a> for more of it.</p>'
    found = api.parse("page", "html", page)
    assert found["identifiers"] == {}


def test_hidden_text_is_left_out_and_counted(api: Carrel) -> None:
    page = b"<p>Seen by all.</p><p style='display: none'>secret</p><p hidden>more</p>"
    found = api.parse("page", "html", page)
    assert "secret" not in json.dumps(found)
    assert [one["code"] for one in found["warnings"]] == ["hidden_text"]


ARTICLE = '<meta property="og:type" content="article"><title>A walk</title><article>'
SENTENCE = "We walked along the river, past the mill, and came home late in the evening. "


def test_a_form_for_comments_below_a_short_text_is_left_out(api: Carrel) -> None:
    form = "<div id=respond><p>Your address is not published. Fields with a star must be filled."
    page = f"{ARTICLE}<p>{SENTENCE * 3}</p>{form}</div></article>"
    found = json.dumps(api.parse("page", "html", page.encode())["sections"])
    assert "past the mill" in found
    assert "Fields with a star" not in found


def test_a_short_paragraph_behind_the_last_one_is_kept(api: Carrel) -> None:
    page = f"{ARTICLE}<p>{SENTENCE * 5}</p><p>{SENTENCE * 5}</p><p>Yours, Ada</p></article>"
    assert "Yours, Ada" in json.dumps(api.parse("page", "html", page.encode())["sections"])


ENDINGS = {
    "blog footer": "<p>This entry was posted on May 6, 2014 and is filed under Linux.</p>",
    "German blog footer": "<p>Erstellt am Dienstag 6. Mai 2014 und abgelegt unter Linux.</p>",
    "empty rating": "<p>(No ratings yet)</p><p>Loading...</p>",
    "more pages": "<p>Load more content ...</p>",
    "teaser": "<p>Summer is the time to travel, says a singer to our reporter. Read more</p>",
    "heading without text": "<h3>Further topics</h3>",
    "copyright": "<p>Copyright 2019 by Desk Press. All rights reserved.</p>",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_what_a_template_adds_below_an_article_is_left_out(api: Carrel, name: str) -> None:
    page = f"{ARTICLE}<p>{SENTENCE * 9}</p><p>{SENTENCE * 9}</p>{ENDINGS[name]}</article>"
    text = json.dumps(api.parse("page", "html", page.encode())["sections"])
    for words in ("posted on", "Erstellt", "ratings", "Loading", "Load", "singer", "Further",
                  "Copyright"):  # fmt: skip
        assert words not in text
    assert text.count("past the mill") == 18


@pytest.mark.parametrize(
    ("times", "line"), [(9, "Copyright is what this is about."), (1, "Copyright 2019 by Desks.")]
)
def test_a_last_line_that_may_be_the_article_s_is_kept(api: Carrel, times: int, line: str) -> None:
    page = f"{ARTICLE}<p>{SENTENCE * times}</p><p>{line}</p></article>"
    assert line in json.dumps(api.parse("page", "html", page.encode())["sections"])


def test_a_formula_of_mathjax_with_its_menu_is_kept(api: Carrel) -> None:
    formula = (
        '<mjx-container class="MathJax CtxtMenu_Attached_0"><math><mi>a</mi><mo>=</mo><mn>3</mn>'
        "</math></mjx-container>"
    )
    page = f"{ARTICLE}<p>{SENTENCE * 5}</p><p>Here {formula} holds.</p><p>{SENTENCE * 5}</p>"
    assert "a=3" in json.dumps(api.parse("page", "html", page.encode())["sections"])


def test_the_component_is_small() -> None:
    assert (COMPONENTS / "page.wasm").stat().st_size <= 6_000_000


def test_the_plugin_declares_only_formats() -> None:
    manifest = builtin_manifest("page")
    assert manifest.tools == ()
    assert [one.name for one in manifest.formats] == ["html", "markdown", "text"]
    assert all(one.takes_bytes for one in manifest.formats)
