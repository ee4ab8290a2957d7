from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.fetch.url import MAX_URL, Target, UrlFault, parse_url, resolve_redirect

BASE = Target("export.arxiv.org", "/a/b", "x=1")


def reason(text: str) -> str:
    fault = parse_url(text)
    assert isinstance(fault, UrlFault), fault
    return fault.reason


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("https://export.arxiv.org", "https://export.arxiv.org/"),
        ("HTTPS://Export.ArXiv.ORG:443/api?q=1#part", "https://export.arxiv.org/api?q=1"),
        ("https://export.arxiv.org./api", "https://export.arxiv.org/api"),
        ("https://export.arxiv.org?q=a/../b", "https://export.arxiv.org/?q=a/../b"),
        (
            "https://export.arxiv.org/works/10.1000%2Fx",
            "https://export.arxiv.org/works/10.1000%2Fx",
        ),
        ("https://export.arxiv.org/a/./b/../c", "https://export.arxiv.org/a/c"),
        ("https://export.arxiv.org/a/%2E%2e/c/..", "https://export.arxiv.org/"),
        ("https://export.arxiv.org/../../x", "https://export.arxiv.org/x"),
        ("https://export.arxiv.org/a?", "https://export.arxiv.org/a?"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_an_ordinary_url_is_normalised(text: str, normalised: str) -> None:
    target = parse_url(text)
    assert isinstance(target, Target)
    assert target.url == normalised
    assert parse_url(target.url) == target


@pytest.mark.requirement("sandbox:hosts:url-grammar")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "malformed_url"),
        ("export.arxiv.org", "malformed_url"),
        ("https:/export.arxiv.org/", "malformed_url"),
        ("https://", "malformed_url"),
        ("https://export.arxiv.org:/", "malformed_url"),
        ("https://export.arxiv.org:0443/", "port_not_allowed"),
        ("https://export.arxiv.org:8443/", "port_not_allowed"),
        ("https://export.arxiv.org:443:443/", "malformed_url"),
        ("http://export.arxiv.org/", "insecure_scheme"),
        ("wss://export.arxiv.org/", "insecure_scheme"),
        ("https://@export.arxiv.org/", "userinfo_in_url"),
        ("https://a:b@export.arxiv.org/", "userinfo_in_url"),
        ("https://export%2earxiv.org/", "malformed_url"),
        ("https://-export.arxiv.org/", "malformed_url"),
        ("https://export-.arxiv.org/", "malformed_url"),
        ("https://export.arxiv.org../", "malformed_url"),
        ("https://./", "malformed_url"),
        (" https://export.arxiv.org/", "malformed_url"),
        ("https://export.arxiv.org/a b", "malformed_url"),
        ("https://export.arxiv.org/\x7f", "malformed_url"),
        ("https://export.arxiv.org/\u00fc", "malformed_url"),
        ("https://export.arxiv.org/a\\b", "malformed_url"),
        ("https://[::1]/", "ip_literal"),
        ("https://[::1%25eth0]/", "ip_literal"),
        ("https://[::1]:443/", "ip_literal"),
        ("https://10.0.0.1/", "ip_literal"),
        ("https://1.1.1.1/", "ip_literal"),
        ("https://0x/", "ip_literal"),
        ("https://arxiv.org.0x7f/", "ip_literal"),
        ("https://export.arxiv.org/" + "a" * MAX_URL, "malformed_url"),
    ],
)
def test_a_url_that_parsers_could_read_in_two_ways_is_refused(text: str, expected: str) -> None:
    assert reason(text) == expected


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://export.arxiv.org/b"),
        ("c", "https://export.arxiv.org/a/c"),
        ("../c?y=2", "https://export.arxiv.org/c?y=2"),
        ("?y=2#f", "https://export.arxiv.org/a/b?y=2"),
        ("#f", "https://export.arxiv.org/a/b?x=1"),
        ("//arxiv.org/d", "https://arxiv.org/d"),
        ("https://arxiv.org", "https://arxiv.org/"),
    ],
)
def test_a_relative_redirect_is_resolved_against_its_url(location: str, url: str) -> None:
    target = resolve_redirect(BASE, location)
    assert isinstance(target, Target)
    assert target.url == url


@pytest.mark.requirement("sandbox:hosts:redirect-grammar")
@pytest.mark.parametrize(
    "location",
    ["https:d", "http:d", "\\\\evil.example", "//a@evil.example/", "//10.0.0.1/", "a b", "x:y"],
)
def test_a_redirect_that_is_no_plain_reference_is_refused(location: str) -> None:
    assert isinstance(resolve_redirect(BASE, location), UrlFault)


@pytest.mark.property
@given(st.text())
def test_no_text_breaks_the_parser_and_what_it_accepts_is_stable(text: str) -> None:
    for candidate in (text, f"https://{text}", f"https://export.arxiv.org/{text}"):
        target = parse_url(candidate)
        if isinstance(target, Target):
            assert parse_url(target.url) == target
            assert target.url.isascii()
            assert "@" not in target.host
