"""Tests the page for people in a browser: its tables, hostile texts, the token, the keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from carrel.principal import Principal, acting_as
from carrel.telemetry import Denial
from support.chromium import Tab, open_tab
from support.http_server import HttpServer
from support.operated_server import HOST, OperatedServer, eventually
from support.operations_page import HOSTILE, HUGE, PageServer, hostile_view, invented_view

pytestmark = pytest.mark.long("programs")

TOKEN = "a-token-of-a-person"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_tab(tmp_path_factory.mktemp("chromium")) as opened:
        opened.size(1280, 1000)
        yield opened


@pytest.fixture
def served() -> Iterator[PageServer]:
    with PageServer(invented_view()) as server:
        yield server


def shown(tab: Tab, table: str) -> list[list[str]]:
    """Returns the texts of a table's cells."""
    rows: list[list[str]] = tab.value(
        f"[...document.querySelectorAll('#{table} tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return rows


def everything(tab: Tab) -> str:
    """Returns the texts of all cells."""
    tables = ("plugins", "calls", "upstreams", "denials")
    return "".join(cell for table in tables for row in shown(tab, table) for cell in row)


def text(tab: Tab, selector: str) -> str:
    return str(tab.value(f"document.querySelector({json.dumps(selector)}).textContent"))


def wait(tab: Tab, expression: str) -> None:
    eventually(lambda: tab.value(expression) is True)


def test_the_page_of_a_real_server_shows_what_it_does(tab: Tab, server: OperatedServer) -> None:
    server.open(f"https://{HOST}/v1/paper", meta={"carrel/refresh": True})
    server.open("https://other.example.org/v1/x")
    tab.open(f"{server.root}/")
    assert text(tab, "#state") == "ready"
    [probe] = [row for row in shown(tab, "plugins") if row[0].startswith("probe")]
    assert probe[1:4] == ["ready", HOST, "not signed"]
    assert probe[4].startswith("sha256:")
    assert shown(tab, "upstreams")[0][:3] == ["example", "probe", "10 requests in 1 s"]
    assert "other.example.org" in [row[3] for row in shown(tab, "denials")]
    assert tab.complaints() == []


def test_every_request_goes_to_its_own_server(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    asked = tab.requests()
    assert asked
    assert all(url.startswith(served.url) for url in asked)
    assert tab.complaints() == []


def test_tables_show_plugins_calls_upstreams_and_denials(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    plugins = {row[0]: row for row in shown(tab, "plugins")}
    assert plugins["arxiv1.0.0"][1:4] == [
        "ready",
        "export.arxiv.orgarxiv.org",
        "comes with Carrel",
    ]
    assert plugins["preprints2.1.0"][3].startswith("identity:https://github.com/")
    assert plugins["theses0.4.0"][1].startswith("failedtheses: oci://registry.example.org")
    assert plugins["doaj1.0.0"][1] == "off"
    assert [row[:4] for row in shown(tab, "calls")] == [
        ["work_lookup", "host", "maria@example.org", "9f2c41aa…"],
        ["arxiv_query", "arxiv", "agent-reviews", "c07d7b31…"],
        ["pubmed_search", "eutils", "jun@example.org", "none"],
    ]
    upstreams = {row[0]: row for row in shown(tab, "upstreams")}
    assert upstreams["arxiv"][2:] == ["1 request in 3 s", "1", "7", "closed"]
    assert upstreams["api.preprints.example.org"][5] == "open for 41 s"
    denials = shown(tab, "denials")
    assert denials[1][1:] == [
        "3",
        "preprints",
        "files.preprints.example.org",
        "host_not_granted",
        'plugins.preprints.runtime_config.allowed_hosts += "files.preprints.example.org"Copy',
    ]
    assert denials[0][5] == "no grant can allow it"


@pytest.mark.requirement("operate:page:text-only")
def test_hostile_texts_are_shown_and_do_not_run(tab: Tab) -> None:
    with PageServer(hostile_view()) as served:
        tab.open(served.url)
        assert tab.value("document.title") == "Carrel"
        for table in ("plugins", "calls", "upstreams", "denials"):
            assert "<img src=x onerror=" in str(shown(tab, table))
            inside = f"#{table} tbody"
            for element in ("img", "script", "a", "iframe", "svg"):
                found = f"document.querySelectorAll('{inside} {element}').length"
                assert tab.value(found) == 0
        assert "\u202e" not in everything(tab)
        assert ["__proto__1.0.0", "ready", "constructor"] in [
            row[:3] for row in shown(tab, "plugins")
        ]
        assert all(url.startswith(served.url) for url in tab.requests())
        assert tab.complaints() == []
        assert tab.value("document.title") == "Carrel"
    assert HOSTILE


@pytest.mark.requirement("operate:page:text-only")
def test_huge_names_that_override_directions_are_cut_and_shown_in_order(tab: Tab) -> None:
    with PageServer(hostile_view(HUGE)) as served:
        tab.open(served.url)
        content = everything(tab)
        assert "gnp.exe" in content
        assert not set("\u202e\u2066\u200f\u2028\r\n\x1b") & set(content)
        for table in ("plugins", "calls", "upstreams", "denials"):
            assert max(len(cell) for row in shown(tab, table) for cell in row) < 1200
        assert tab.value("document.documentElement.scrollWidth") <= 1280
        assert tab.complaints() == []


def test_the_policy_refuses_scripts_and_other_sites(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    tab.value(
        "(() => { const one = document.createElement('img'); one.src = 'https://example.org/x';"
        "document.body.append(one); const two = document.createElement('style');"
        "two.textContent = 'body { display: none }'; document.body.append(two); })()"
    )
    evaluated = tab.send(
        "Runtime.evaluate",
        expression="try { eval('1'); 'ran' } catch (error) { error.name }",
        allowUnsafeEvalBlockedByCSP=False,
    )
    assert evaluated["result"]["value"] == "EvalError"
    handler = "document.querySelector('h1').setAttribute('onclick', 'x()')"
    assert tab.value(f"try {{ {handler}; 'ran' }} catch (error) {{ error.name }}") == "TypeError"
    assert tab.value("getComputedStyle(document.body).display") == "block"
    refused = "try { document.body.innerHTML = '<b>x</b>'; 'ran' } catch (error) { error.name }"
    assert tab.value(refused) == "TypeError"
    complaints = json.dumps(tab.complaints())
    for directive in ("img-src", "style-src", "TrustedScript", "TrustedHTML"):
        assert directive in complaints
    tab.value("window.fetch('https://example.org/').catch(() => { document.title = 'refused' })")
    wait(tab, "document.title === 'refused'")


@pytest.fixture
def guarded() -> Iterator[PageServer]:
    with PageServer(invented_view(), TOKEN) as server:
        yield server


def sign_in(tab: Tab, token: str) -> None:
    tab.type(token)
    tab.press("Enter")


@pytest.mark.requirement("operate:page:token-in-memory")
def test_a_token_is_asked_for_and_kept_in_memory_only(tab: Tab, guarded: PageServer) -> None:
    tab.open(guarded.url)
    assert tab.value("document.querySelector('#sign-in').hidden") is False
    assert tab.value("document.querySelector('#main').hidden") is True
    assert tab.value("document.activeElement.id") == "token"
    sign_in(tab, "wrong")
    wait(tab, "document.querySelector('#news').textContent === 'The server refused this token.'")
    sign_in(tab, TOKEN)
    wait(tab, "document.querySelector('#main').hidden === false")
    assert len(shown(tab, "plugins")) == 6
    assert guarded.tokens[:1] == [None]
    assert guarded.tokens[-1] == f"Bearer {TOKEN}"
    kept = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    assert tab.value(kept) == '[{},{},""]'
    assert TOKEN not in tab.value("document.documentElement.outerHTML")
    assert TOKEN not in tab.value("location.href")
    assert tab.value("document.querySelector('#token').value") == ""
    assert all(TOKEN not in url for url in tab.requests())
    tab.open(guarded.url)  # a reload forgets it
    assert tab.value("document.querySelector('#sign-in').hidden") is False


def test_a_token_that_expires_is_asked_for_again(tab: Tab, guarded: PageServer) -> None:
    tab.open(guarded.url)
    sign_in(tab, TOKEN)
    wait(tab, "document.querySelector('#main').hidden === false")
    guarded.token = "another"
    wait(tab, "document.querySelector('#sign-in').hidden === false")
    assert tab.value("document.querySelector('#main').hidden") is True


def test_a_new_denial_appears_and_its_grant_can_be_copied_with_the_keyboard(
    tab: Tab, served: PageServer
) -> None:
    tab.send(
        "Browser.grantPermissions",
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
        origin=served.url.rstrip("/"),
    )
    tab.open(served.url)
    with acting_as(Principal("maria")):
        served.view.denied(
            Denial("arxiv", "t", "https://new.example.org/", "host_not_granted", 'x += "new"')
        )
    wait(tab, "document.querySelector('#denials tbody code').textContent === 'x += \"new\"'")
    tab.value("document.querySelector('#denials tbody button').focus()")
    tab.press("Enter")
    wait(tab, "document.querySelector('#news').textContent.startsWith('The grant ')")
    # The focus stays where it is when the table is filled again.
    served.view.denied(
        Denial("arxiv", "t", "https://newer.example.org/", "host_not_granted", 'x += "newer"')
    )
    wait(tab, "document.querySelector('#denials tbody code').textContent === 'x += \"newer\"'")
    assert tab.value("document.activeElement.closest('tr').cells[3].textContent") == (
        "new.example.org"
    )


def test_updates_can_be_paused_with_the_keyboard(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    tab.value("document.querySelector('#pause').focus()")
    tab.press("Enter")
    assert tab.value("document.querySelector('#pause').getAttribute('aria-pressed')") == "true"
    assert text(tab, "#news") == "Updates are paused."
    tab.press("Enter")
    assert text(tab, "#pause") == "Pause updates"


def test_the_first_tab_stop_skips_to_the_tables(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    tab.press("Tab")
    assert tab.value("document.activeElement.textContent") == "Skip to the tables"
    assert tab.value("document.activeElement.getBoundingClientRect().left") >= 0
    tab.press("Enter")
    wait(tab, "document.activeElement.id === 'main'")


def test_a_server_that_is_gone_is_reported(tab: Tab) -> None:
    with PageServer(invented_view()) as served:
        tab.open(served.url)
    wait(tab, "document.querySelector('#state').textContent === 'no answer'")
    assert text(tab, "#news") == "No answer from the server; trying again."
    assert len(shown(tab, "plugins")) == 6


def test_the_page_has_landmarks_captions_and_headers(tab: Tab, served: PageServer) -> None:
    tab.open(served.url)
    assert tab.value("document.documentElement.lang") == "en"
    for landmark in ("header", "main", "h1"):
        assert tab.value(f"document.querySelectorAll('{landmark}').length") == 1
    tables = "[...document.querySelectorAll('table')]"
    assert tab.value(f"{tables}.every((one) => one.caption.textContent)") is True
    rows = f"{tables}.flatMap((one) => [...one.tHead.rows[0].cells])"
    assert tab.value(f"{rows}.every((one) => one.scope === 'col')") is True
    rows = f"{tables}.flatMap((one) => [...one.tBodies[0].rows])"
    assert tab.value(f"{rows}.every((one) => one.querySelector('th[scope=row]'))") is True
    tree = tab.send("Accessibility.getFullAXTree")["nodes"]
    nameless = [
        node
        for node in tree
        if node.get("role", {}).get("value") in {"button", "textbox", "table", "region", "link"}
        and not node.get("ignored")
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []


_CONTRAST = """
(() => {
  const channel = (c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const back = (one) => {
    for (; one; one = one.parentElement) {
      const found = numbers(getComputedStyle(one).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let lowest = 99;
  for (const one of document.querySelectorAll('body *')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !one.getClientRects().length) continue;
    const pair = [luminance(numbers(getComputedStyle(one).color)), luminance(back(one))].sort();
    const [dark, light] = pair[0] < pair[1] ? pair : [pair[1], pair[0]];
    lowest = Math.min(lowest, (light + .05) / (dark + .05));
  }
  return lowest;
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast_in_both_modes(
    tab: Tab, served: PageServer, scheme: str
) -> None:
    tab.media(prefers_color_scheme=scheme)
    try:
        tab.open(served.url)
        assert tab.value(_CONTRAST) >= 4.5
        is_dark = tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(21, 25, 27)"
        assert is_dark == (scheme == "dark")
    finally:
        tab.media(prefers_color_scheme="light")


@pytest.mark.parametrize("width", [320, 1280])
def test_a_narrow_window_scrolls_the_tables_and_not_the_page(
    tab: Tab, served: PageServer, width: int
) -> None:
    tab.size(width, 800)
    try:
        tab.open(served.url)
        assert tab.value("document.documentElement.scrollWidth") <= width
    finally:
        tab.size(1280, 1000)


def test_the_page_can_be_off() -> None:
    with HttpServer(http={"page": False}) as server:
        root = server.url.removesuffix("/mcp")
        for path, status in (
            ("/", 404),
            ("/page.js", 404),
            ("/status.json", 404),
            ("/metrics", 200),
        ):
            assert server.http.get(root + path).status_code == status
