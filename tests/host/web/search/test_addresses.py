"""Addresses of results: one spelling, duplicates, and what a person sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.web.search.addresses import canonical_url, display_link, host_of, same_page


@pytest.mark.parametrize(
    ("given_url", "canonical"),
    [
        ("HTTPS://Example.ORG:443", "https://example.org/"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org/a?utm_source=x&id=1&fbclid=2#top", "https://example.org/a?id=1#top"),
        ("https://example.org/?gclid=1", "https://example.org/"),
        ("https://example.org/a#:~:text=desk", "https://example.org/a"),
        ("https://example.org/a#part:~:text=desk", "https://example.org/a#part"),
        ("https://möbel.example/t", "https://xn--mbel-5qa.example/t"),
        ("https://ПРИМЕР.example/", "https://xn--e1afmkfd.example/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
    ],
)
def test_an_address_has_one_spelling(given_url: str, canonical: str) -> None:
    assert canonical_url(given_url) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "javascript:alert(1)", "data:text/html,x", "/relative", "",
        "https://user@example.org/", "https://localhost/", "https://intranet/", "https://a.local/",
        "http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "https://169.254.169.254/",
        "https://2130706433/", "https://example.org:99999/", "https://exa mple.org/",
        "https://[bad/", "https://0x7f.1/",
    ],
)  # fmt: skip
def test_what_is_no_public_web_address_is_left_out(url: str) -> None:
    assert canonical_url(url) is None


@pytest.mark.parametrize(
    "other",
    [
        "http://www.example.org/a/?b=2&a=1",
        "https://example.org/a?a=1&b=2#part",
        "https://example.org/a/?a=1&b=2&utm_medium=x",
    ],
)
def test_addresses_of_one_page_are_one(other: str) -> None:
    canonical = canonical_url(other)
    assert canonical is not None
    assert same_page(canonical) == same_page("https://example.org/a?a=1&b=2")


def test_other_parameters_are_other_pages() -> None:
    assert same_page("https://example.org/?id=1") != same_page("https://example.org/?id=2")


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("example.org", "example.org"),
        ("möbel.example", "möbel.example"),
        ("пример.рф", "пример.рф"),
        ("日本語.jp", "日本語.jp"),
        ("ニュース2日.jp", "ニュース2日.jp"),
        # One Cyrillic letter among Latin ones.
        ("ex\u0430mple.org", "xn--exmple-4nf.org"),
        # Cyrillic letters that all look like Latin ones, under a Latin name.
        ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),
        ("\u03bf\u03b1.com", "xn--mxa1a.com"),
        # Latin and Greek.
        ("de\u03c3k.com", "xn--dek-rzc.com"),
    ],
)
def test_mixed_scripts_are_shown_in_punycode(host: str, shown: str) -> None:
    url = canonical_url(f"https://{host}/")
    assert url is not None
    assert host_of(url).isascii()
    assert display_link(host_of(url)) == shown


def test_broken_punycode_is_shown_as_it_is() -> None:
    assert display_link("xn--zzzzzzz9999.example") == "xn--zzzzzzz9999.example"


@given(st.text(max_size=60))
def test_no_text_raises_and_a_result_is_stable(text: str) -> None:
    for url in (text, f"https://{text}", f"https://example.org/{text}"):
        canonical = canonical_url(url)
        if canonical is not None:
            assert canonical_url(canonical) == canonical
            assert display_link(host_of(canonical))
