"""Tests that the parts of a long page joined are the page, in every mode and format."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from carrel.web.schema import PREVIEW_LENGTH
from support.upstream import Upstream

from .conftest import Web
from .test_read import URL, page, requests, serve

#: Words of several scripts; of some a character has several bytes, and some have no blanks.
_WORDS = (
    "A desk with walls. ", "Ein Tisch mit W\u00e4nden. ", "\u684c\u5b50\u6709\u5899\u58c1\u3002",
    "\u0421\u0442\u043e\u043b \u0441\u043e \u0441\u0442\u0435\u043d\u0430\u043c\u0438. ",
    "\u05e9\u05d5\u05dc\u05d7\u05df \u05e2\u05dd \u05e7\u05d9\u05e8\u05d5\u05ea. ",
    "\u0645\u06a9\u062a\u0628 \u0644\u0647 \u062c\u062f\u0631\u0627\u0646. ",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 ", "e\u0301\u0323 ", "\u0915\u094d\u200d\u0937 ",
)  # fmt: skip


def _text(numbers: random.Random, most: int) -> str:
    return "".join(numbers.choice(_WORDS) for _ in range(numbers.randrange(1, most))).strip()


def html(numbers: random.Random) -> bytes:
    pieces = []
    for number in range(30):
        pieces.append(f"<h2>Part {number}</h2>" if number % 5 == 0 else "")
        kind = numbers.randrange(4)
        text = _text(numbers, 60)
        if kind == 0:
            lines = "\n\n".join(_text(numbers, 5) for _ in range(4))
            pieces.append(f"<pre><code>{lines}</code></pre>")
        elif kind == 1:
            pieces.append(f"<ul><li>{text}</li><li>{text}</li></ul>")
        else:
            pieces.append(f"<p>{text}</p>")
    body = "".join(pieces)
    return f"<!doctype html><html><head><title>D</title></head><body><main>{body}</main>".encode()


def markdown(numbers: random.Random) -> bytes:
    texts = [f"{'## ' if n % 6 == 0 else ''}{_text(numbers, 40)}" for n in range(40)]
    return "\n\n".join([*texts, "```\na\n\nb\n\n```", "> quoted\n>\n> more"]).encode()


def plain(numbers: random.Random) -> bytes:
    return "\n\n".join(_text(numbers, 80) for _ in range(30)).encode()


def one_line(numbers: random.Random) -> bytes:
    return ("\u684c\u5b50\u6709\u5899\u58c1" * numbers.randrange(900, 1200)).encode()


FORMS: list[dict[str, Any]] = [{}, {"format": "text"}, {"mode": "raw"}, {"mode": "preview"}]


@pytest.mark.requirement("web:parts:joined")
@pytest.mark.parametrize("form", FORMS, ids=["markdown", "text", "raw", "preview"])
@pytest.mark.parametrize(
    ("make", "media_type"),
    [(html, "text/html"), (markdown, "text/markdown"), (plain, "text/plain"),
     (one_line, "text/plain")],
    ids=["html", "markdown", "plain", "one line"],
)  # fmt: skip
def test_parts_joined_are_the_page(
    web: Web,
    upstream: Upstream,
    form: dict[str, Any],
    make: Callable[[random.Random], bytes],
    media_type: str,
) -> None:
    numbers = random.Random(f"{form}{media_type}")
    for most in (200, 333, 1000, 7919):
        url = f"{URL}?{most}"
        serve(upstream, page(make(numbers), media_type=f"{media_type}; charset=utf-8"))
        arguments = {name: value for name, value in form.items() if value != "preview"}
        whole = web.read(url, max_length=1_000_000, **arguments)
        longest = PREVIEW_LENGTH if form.get("mode") == "preview" else most
        parts, start = [], 0
        while True:
            part = web.read(url, max_length=most, **form, **{"from": start})
            assert part["from"] == start
            assert part["text"]
            assert len(part["text"]) <= longest + 1
            assert part["length"] == len(whole["text"])
            parts.append(part["text"])
            if "next" not in part:
                break
            start = part["next"]
        assert "".join(parts) == whole["text"]
        assert len(parts) > 1 or longest >= len(whole["text"]) - 1
    assert len(requests(upstream)) == 4


def test_parts_end_between_paragraphs(web: Web, upstream: Upstream) -> None:
    numbers = random.Random(5)
    paragraphs = [_text(numbers, 12) for _ in range(60)]
    serve(upstream, page("\n\n".join(paragraphs).encode(), media_type="text/plain"))
    part = web.read(URL, max_length=800, **{"from": 0})
    while "next" in part:
        assert part["text"].endswith("\n\n")
        part = web.read(URL, max_length=800, **{"from": part["next"]})
        assert part["text"].split("\n\n")[0] in paragraphs


def test_a_page_in_parts_has_its_outline_first(web: Web, upstream: Upstream) -> None:
    serve(upstream, page(html(random.Random(6))))
    first = web.read(URL, max_length=500)
    assert [one["heading"] for one in first["outline"]] == [f"Part {n}" for n in range(0, 30, 5)]
    for one in first["outline"]:
        part = web.read(URL, **{"from": one["from"]}, max_length=500)
        assert part["text"].startswith(f"## {one['heading']}\n")
