from __future__ import annotations

import pytest

from carrel.fetch.hosts import matches, parse_host_entry


@pytest.mark.parametrize(
    ("entry", "parsed"),
    [
        ("export.arxiv.org", "export.arxiv.org"),
        ("API.Crossref.ORG", "api.crossref.org"),
        ("*.ncbi.nlm.nih.gov", "*.ncbi.nlm.nih.gov"),
        ("*.arxiv.org", "*.arxiv.org"),
        ("*.ox.ac.uk", "*.ox.ac.uk"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_name_or_a_one_label_wildcard_is_accepted(entry: str, parsed: str) -> None:
    assert parse_host_entry(entry) == parsed


@pytest.mark.requirement("sandbox:hosts:entry")
@pytest.mark.parametrize(
    "entry",
    [
        "", " ", "*", "*.", "*.*", "**.arxiv.org", "*.*.arxiv.org", "a.*.org", "exp*.arxiv.org",
        "arxiv.*", "*arxiv.org", "*.org", "*.co.uk", "*.com.au", "*.ac.jp", "*.github.io",
        "*.s3.amazonaws.com", "*.k12.ca.us", "localhost", "metadata", "*.localhost", "db.internal",
        "printer.local", "router.home.arpa", "127.0.0.1", "*.0.0.1", "0x7f.1", "2130706433",
        "[::1]", "::1", "10.0.0.0/8", "https://arxiv.org", "arxiv.org/path", "arxiv.org:443",
        "user@arxiv.org", "arxiv.org.", ".arxiv.org", "arxiv..org", "arxiv_x.org", "arxiv.org\0",
        "arxiv.org\n", "\u0430rxiv.org", "a" * 64 + ".org", "arxiv.org evil.example", "\u212a.org",
    ],
)  # fmt: skip
def test_an_entry_that_could_cover_more_than_it_says_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_host_entry(entry)


@pytest.mark.requirement("sandbox:hosts:wildcard")
def test_a_star_stands_for_exactly_one_label() -> None:
    entry = "*.ncbi.nlm.nih.gov"
    assert matches(entry, "eutils.ncbi.nlm.nih.gov")
    assert not matches(entry, "ncbi.nlm.nih.gov")
    assert not matches(entry, "a.b.ncbi.nlm.nih.gov")
    assert not matches(entry, "notncbi.nlm.nih.gov")
    assert not matches(entry, ".ncbi.nlm.nih.gov")
    assert not matches(entry, "xn--eutls-7ua.ncbi.nlm.nih.gov"), "a look-alike has to be named"
    assert matches("xn--eutls-7ua.ncbi.nlm.nih.gov", "xn--eutls-7ua.ncbi.nlm.nih.gov")
    assert not matches("arxiv.org", "export.arxiv.org")
    assert not matches("export.arxiv.org", "arxiv.org")
