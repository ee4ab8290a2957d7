"""Tests URI templates: which are refused, and which URIs they match."""

from __future__ import annotations

import pytest

from carrel.plugins.manifests.templates import covers, template_fault


@pytest.mark.parametrize(
    ("template", "uri", "covered"),
    [
        ("doi:{doi}", "doi:10.1000/182", True),
        ("doi:{doi}", "doi:", False),
        ("doi:{doi}", "arxiv:1", False),
        ("a://{x}/b/{y}", "a://1/b/2", True),
        ("a://{x}/b/{y}", "a:///b/2", False),
        ("a://{x}/b/{y}", "a://1/c/2", False),
        ("a://x{?q,r}", "a://x", True),
        ("a://x{?q,r}", "a://x?q=1", True),
        ("a://{+path}.pdf", "a://one/two.pdf", True),
        ("a://{+path}.pdf", "a://one/two.txt", False),
        ("a://{x}{y}", "a://1", False),
        ("a://{x}{y}", "a://12", True),
        ("a:plain", "a:plain", True),
        ("a:plain", "a:plain2", False),
        ("a:{x}aa", "a:aa", False),
        ("a:{x}aa", "a:aaa", True),
    ],
)
def test_a_template_covers_its_expansions(template: str, uri: str, covered: bool) -> None:
    assert template_fault(template) is None
    assert covers(template, uri) is covered


def test_matching_takes_time_in_proportion_to_the_uri() -> None:
    template = "a:" + "{x}a" * 60
    assert not covers(template, "a:" + "a" * 2000 + "b")
