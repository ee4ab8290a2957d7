"""The page in a browser: mouse, keyboard, search, hostile texts, and no request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.papers.graph.formats import WRITERS
from support.chromium import Tab, open_tab
from support.citations import invented_graph

from .test_formats import HOSTILE, hostile

pytestmark = pytest.mark.long("programs")

__all__ = ["hostile"]

TITLE = "document.querySelector('#detail h3').textContent"
FOCUSED = "document.activeElement.dataset.n"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_tab(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture
def page(tab: Tab, tmp_path: Path) -> Tab:
    file = tmp_path / "graph.html"
    file.write_text(WRITERS["html"](invented_graph()), "utf-8")
    tab.media(prefers_color_scheme="light")
    tab.size(1440, 1000)
    tab.open(file)
    return tab


def test_a_click_shows_the_abstract_and_the_citations(page: Tab) -> None:
    [first] = page.value("[document.querySelector('.node.references').dataset.n]")
    page.click(".node.references circle")
    shown = page.value(TITLE)
    assert shown == page.value(f"document.querySelector('#p{first} h3').textContent")
    assert page.value("document.querySelector('#detail details').open") is True
    assert len(page.value("document.querySelector('#detail .abstract').textContent")) > 300
    assert page.value("document.querySelectorAll('.node.chosen').length") == 1
    marked = page.value("document.querySelectorAll('.edge.in, .edge.out').length")
    linked = page.value(f"document.querySelectorAll('#p{first} .links a').length")
    assert marked == linked > 0
    page.press("Escape")
    assert page.value("document.querySelectorAll('.node.chosen').length") == 0


def test_a_link_to_a_paper_selects_it(page: Tab) -> None:
    target = page.value("document.querySelector('#detail .links a').hash.slice(2)")
    page.click("#detail .links a")
    assert page.value(FOCUSED) == target


def test_the_keyboard_reaches_every_paper(page: Tab) -> None:
    for _ in range(8):
        page.press("Tab")
        if page.value(FOCUSED) is not None:
            break
    assert page.value(FOCUSED) == "0"
    count = page.value("document.querySelectorAll('.node').length")
    seen = set()
    for _ in range(count):
        page.press("ArrowRight")
        seen.add(page.value(FOCUSED))
    assert len(seen) == count
    assert page.value(FOCUSED) == "0"
    page.press("ArrowDown")
    linked = page.value(FOCUSED)
    assert page.value(f"document.querySelector('.edge[data-from=\"0\"][data-to=\"{linked}\"],"
                      f".edge[data-to=\"0\"][data-from=\"{linked}\"]') !== null")  # fmt: skip
    page.press("ArrowUp")
    page.press("Enter")
    assert page.value(TITLE) is not None
    # One tab stop: the next one is outside the drawing.
    page.press("Tab")
    assert page.value(FOCUSED) is None


def test_papers_are_found_by_words_without_accents(page: Tab) -> None:
    page.click("#find")
    page.type("dvorak")
    found = page.value("document.querySelectorAll('li.paper:not([hidden])').length")
    assert 0 < found < 60
    assert page.value("document.getElementById('count').textContent") == f"{found} of 60"
    assert page.value("document.querySelectorAll('.node.found').length") == found
    page.press("Escape")
    assert page.value("document.querySelectorAll('li.paper:not([hidden])').length") == 60


def test_a_screen_reader_has_names_and_a_list(page: Tab) -> None:
    names = page.value("[...document.querySelectorAll('.node title')].map(one => one.textContent)")
    assert len(names) == 60
    assert all(name.strip() for name in names)
    assert page.value("document.getElementById('detail').getAttribute('aria-live')") == "polite"
    assert page.value("document.querySelectorAll('#papers li article h3').length") == 60
    tree = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = [one.get("role", {}).get("value") for one in tree]
    assert roles.count("listitem") >= 60
    assert {"main", "banner", "contentinfo", "searchbox"} <= set(roles)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(page: Tab, scheme: str) -> None:
    page.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    luminance = """(() => {
      const part = (value) => value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
      const light = (color) => {
        const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map((one) => part(one / 255));
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const ground = (one) => {
        for (let at = one; at; at = at.parentElement) {
          const color = getComputedStyle(at).backgroundColor;
          if (!/, 0\\)$/.test(color)) return light(color);
        }
        return 1;
      };
      return ['h1', '.facts', '.by', 'figcaption', '.links a', '.badge', 'footer'].map((name) => {
        const one = document.querySelector(name);
        const pair = [light(getComputedStyle(one).color), ground(one)].sort((a, b) => b - a);
        return (pair[0] + .05) / (pair[1] + .05);
      });
    })()"""
    assert min(page.value(luminance)) >= 4.5
    ground = page.value("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(20, 23, 30)") is (scheme == "dark")


def test_a_narrow_window_has_no_overflow(page: Tab) -> None:
    page.size(420, 900)
    assert page.value("document.documentElement.scrollWidth") <= 420


@pytest.mark.requirement("papers:graph:page")
def test_the_page_makes_no_request_and_breaks_no_policy(page: Tab) -> None:
    page.click(".node.citations circle")
    assert [url.partition(":")[0] for url in page.requests()] == ["file"]
    assert page.complaints() == []


@pytest.mark.requirement("papers:graph:page")
def test_hostile_texts_run_nothing(tab: Tab, tmp_path: Path, hostile: object) -> None:
    file = tmp_path / "hostile.html"
    file.write_text(WRITERS["html"](hostile), "utf-8")  # type: ignore[arg-type]
    tab.open(file)
    assert tab.value("typeof window.owned") == "undefined"
    assert tab.value("document.querySelectorAll('script').length") == 1
    titles = tab.value("[...document.querySelectorAll('#papers h3')].map(one => one.textContent)")
    assert set(HOSTILE[:4]) <= set(titles)
    tab.click(".node.references circle")
    assert tab.value("document.querySelectorAll('script, img').length") == 1
    assert [url.partition(":")[0] for url in tab.requests()] == ["file"]
    assert tab.complaints() == []


@pytest.mark.requirement("papers:graph:page")
def test_a_script_that_gets_into_the_page_is_refused(tab: Tab, tmp_path: Path) -> None:
    """The policy holds even where escaping would fail."""
    text = WRITERS["html"](invented_graph())
    added = "<script>window.owned = 1</script><img src=https://evil.example/x>"
    file = tmp_path / "injected.html"
    file.write_text(text.replace("<main>", f"<main>{added}"), "utf-8")
    tab.open(file)
    assert tab.value("typeof window.owned") == "undefined"
    assert [url.partition(":")[0] for url in tab.requests() if "evil" not in url] == ["file"]
    assert not any(name == "Network.responseReceived" and "evil" in params["response"]["url"]
                   for name, params in tab.events)  # fmt: skip
    assert any("Content Security Policy" in str(complaint) for complaint in tab.complaints())


def test_without_its_script_the_page_is_a_drawing_and_a_list(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "plain.html"
    file.write_text(WRITERS["html"](invented_graph()), "utf-8")
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.load(file)
        root = tab.send("DOM.getDocument")["root"]["nodeId"]
        text = tab.send("DOM.getOuterHTML", nodeId=root)["outerHTML"]
        circles = tab.send("DOM.querySelectorAll", nodeId=root, selector=".node circle")["nodeIds"]
        boxes = [tab.send("DOM.getBoxModel", nodeId=one)["model"] for one in circles]
    finally:
        tab.send("Emulation.setScriptExecutionDisabled", value=False)
    assert "data-ready=" not in text
    assert text.count('<li id="p') == len(boxes) == 60
    assert all(box["width"] > 0 and box["height"] > 0 for box in boxes)
