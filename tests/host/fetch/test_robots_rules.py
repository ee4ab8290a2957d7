"""Tests of the rules of `robots.txt`; quotations are of RFC 9309."""

from __future__ import annotations

import time

import pytest

from carrel.fetch.robots_rules import RobotsRules
from carrel.fetch.url import Target, parse_url

pytestmark = pytest.mark.requirement("sandbox:hosts:robots")


def allows(text: str, path: str) -> bool:
    target = parse_url(f"https://example.org{path}")
    assert isinstance(target, Target)
    return RobotsRules(text).allows(target)


FOR_ALL = "User-agent: *\n"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/x", True),
        ("Disallow:", "/x", True),
        ("Disallow: /", "/x", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /fish", "/fishheads/yummy.html", False),
        ("Disallow: /fish", "/Fish.asp", True),
        ("Disallow: /fish/", "/fish", True),
        ("Disallow: /*.php", "/folder/filename.php?parameters", False),
        ("Disallow: /*.php$", "/filename.php?parameters", True),
        ("Disallow: /*.php$", "/filename.php", False),
        ("Disallow: /a*b*c", "/aXbXXcX", False),
        ("Disallow: /a*b*c", "/acb", True),
        ("Disallow: /*?", "/x?y", False),
        ("Allow: /p\nDisallow: /", "/page", True),
        ("Allow: /folder\nDisallow: /folder", "/folder/page", True),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", False),
        ("Disallow: /%61bc", "/abc", False),
        ("Disallow: /a%3cd", "/a%3Cd", False),
        ("Disallow: /\u00e4", "/%C3%A4", False),
        ("Disallow: /x # a comment", "/x", False),
        ("  disallow :  /x  ", "/x", False),
        ("Crawl-delay: 10\nSitemap: https://example.org/s\nDisallow: /x", "/x", False),
    ],
)
def test_the_longest_rule_decides(rules: str, path: str, allowed: bool) -> None:
    assert allows(FOR_ALL + rules, path) == allowed


GROUPS = """\
User-agent: other
Disallow: /other
User-agent: *
Disallow: /all
User-agent: one
User-agent: Carrel/1.0
User-agent: two
Disallow: /ours

User-agent: CARREL
Disallow: /more
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/ours", False), ("/more", False), ("/all", True), ("/other", True)],
)
def test_the_groups_of_the_product_are_combined_and_replace_the_general_one(
    path: str, allowed: bool
) -> None:
    assert allows(GROUPS, path) == allowed


def test_an_empty_group_of_the_product_allows_everything() -> None:
    assert allows("User-agent: *\nDisallow: /\nUser-agent: carrel\nDisallow:\n", "/x")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_every_line_end_counts(end: str) -> None:
    assert not allows(f"\ufeffUser-agent: *{end}Disallow: /x{end}", "/x")


@pytest.mark.parametrize(
    "text",
    [
        "Disallow: /",
        "<!doctype html><html><body>Disallow: /</body></html>",
        "User-agent\nDisallow /",
        "\0\1\2: \ufffd",
        ":" * 1000,
    ],
)
def test_a_file_without_groups_allows_everything(text: str) -> None:
    assert allows(text, "/x")


def test_a_hostile_file_is_decided_in_time() -> None:
    stars = "Disallow: /" + "*a" * 200_000 + "b\n"
    many = "".join(f"Disallow: /*{'a*' * 10}{number}\n" for number in range(10_000))
    started = time.monotonic()
    assert allows(FOR_ALL + stars + many, "/" + "a" * 2000 + "!")
    assert time.monotonic() - started < 10
