"""Tests that links are shown as hosts that a person can judge."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.web.links import named_host, page_links, shown_host

PAGE = "https://example.org/a/b"


def link(href: str, text: str = "here") -> dict[str, Any] | None:
    fields = page_links({"links": [{"href": href, "text": text}]}, PAGE, wanted=True)
    return fields["links"][0] if "links" in fields else None


def notes(href: str, text: str = "here") -> list[str]:
    found = link(href, text)
    assert found is not None
    return list(found.get("notes", []))


class TestHosts:
    def test_hosts_are_counted_most_first(self) -> None:
        document = {"links": [{"href": "/x"}, {"href": "c"}, {"href": "https://other.example/"}]}
        fields = page_links(document, PAGE, wanted=False)
        assert fields == {
            "link_hosts": [
                {"host": "example.org", "links": 2}, {"host": "other.example", "links": 1}
            ]
        }  # fmt: skip

    @pytest.mark.parametrize(
        "href",
        ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x",
         "java\nscript:alert(1)", "https://[::1", "about:blank"],
    )  # fmt: skip
    def test_what_no_reader_may_follow_is_left_out(self, href: str) -> None:
        assert link(href) is None

    def test_an_address_for_mail_is_its_host(self) -> None:
        found = link("mailto:ada@desks.example?subject=x")
        assert found is not None
        assert found["host"] == "desks.example"


class TestPretence:
    @pytest.mark.parametrize(
        ("href", "text"),
        [
            ("https://evil.example/", "https://bank.example.com/login"),
            ("https://evil.example/", "www.paypal.com"),
            ("https://evil.example/", "Go to paypal.com now"),
            ("https://paypal.com.evil.example/", "paypal.com"),
            ("https://evil.example/paypal.com", "paypal.com"),
            ("https://xn--pypal-4ve.com/", "paypal.com"),
        ],
    )
    def test_a_text_that_names_another_host_is_noted(self, href: str, text: str) -> None:
        assert "text_names_another_host" in notes(href, text)

    @pytest.mark.parametrize(
        ("href", "text"),
        [
            ("https://www.paypal.com/", "paypal.com"),
            ("https://paypal.com/", "https://www.paypal.com/x"),
            ("https://docs.example.com/", "example.com"),
            ("https://a.example.co.uk/", "b.example.co.uk"),
            ("https://other.example/", "read the README.md"),
            ("https://other.example/", "index.html"),
            ("https://other.example/", "e.g. this"),
            ("https://other.example/", "Version 2.0"),
            ("/relative", "example.org"),
        ],
    )
    def test_a_text_that_names_its_own_host_or_none_is_not(self, href: str, text: str) -> None:
        assert notes(href, text) == []

    @pytest.mark.parametrize(
        ("href", "note"),
        [
            ("https://paypal.com@evil.example/", "user_name_before_host"),
            ("https://evil.example:8080/", "other_port"),
            ("http://192.0.2.1/", "address_in_place_of_a_name"),
            ("https://[2001:db8::1]/", "address_in_place_of_a_name"),
            ("https://p\u0430ypal.com/", "letters_that_look_alike"),
            ("https://xn--pypal-4ve.com/", "letters_that_look_alike"),
            ("https://\u0430\u0440\u0440\u04cf\u0435.com/", "other_letters"),
        ],
    )
    def test_a_host_that_pretends_is_noted(self, href: str, note: str) -> None:
        assert note in notes(href)
        fields = page_links({"links": [{"href": href}]}, PAGE, wanted=False)
        assert note in fields["suspect_links"][0]["notes"]

    def test_a_host_of_another_script_is_shown_in_ascii_and_not_called_alike(self) -> None:
        assert shown_host("b\u00fccher.example") == ("xn--bcher-kva.example", ["other_letters"])
        assert shown_host("\u4f8b\u3048.jp")[1] == ["other_letters"]
        assert shown_host("example.org") == ("example.org", [])

    def test_the_text_of_a_link_has_no_hidden_characters(self) -> None:
        found = link("https://a.example/", "pay\u200bpal\u202e.com")
        assert found is not None
        assert found["text"] == "paypal.com"


def test_a_named_host_is_found_in_words() -> None:
    assert named_host("(see https://A.example.org/x)") == "a.example.org"
    assert named_host("nothing here") is None
