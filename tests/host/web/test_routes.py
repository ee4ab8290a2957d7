"""Tests which addresses a plugin reads in place of their pages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import carrel.web.sites
from carrel.config import BUILTIN_PLUGINS
from carrel.web.sites.routes import find_route

READ = {
    "https://www.youtube.com/watch?v=desks_walls": ("youtube", "desks_walls"),
    "https://www.youtube.com/watch?app=desktop&v=desks_walls&t=42s": ("youtube", "desks_walls"),
    "https://youtube.com/watch?v=desks-walls": ("youtube", "desks-walls"),
    "https://m.youtube.com/watch?v=desks_walls": ("youtube", "desks_walls"),
    "https://music.youtube.com/watch?v=desks_walls": ("youtube", "desks_walls"),
    "https://www.youtube.com/shorts/desks_walls": ("youtube", "desks_walls"),
    "https://www.youtube.com/live/desks_walls?si=x": ("youtube", "desks_walls"),
    "https://www.youtube-nocookie.com/embed/desks_walls?start=1": ("youtube", "desks_walls"),
    "https://youtu.be/desks_walls": ("youtube", "desks_walls"),
    "https://youtu.be/desks_walls?t=3": ("youtube", "desks_walls"),
    "https://news.ycombinator.com/item?id=8863": ("hackernews", 8863),
    "https://news.ycombinator.com/item?x=1&id=8863&p=2": ("hackernews", 8863),
    "https://www.reddit.com/r/desks/comments/1abc9z/walls_and_lamps/": ("reddit", "1abc9z"),
    "https://www.reddit.com/r/desks/comments/1abc9z/walls/k2x/?context=3": ("reddit", "1abc9z/k2x"),
    "https://www.reddit.com/comments/1abc9z/comment/k2x": ("reddit", "1abc9z/k2x"),
    "https://old.reddit.com/r/desks/comments/1abc9z": ("reddit", "1abc9z"),
    "https://reddit.com/comments/1abc9z.json": ("reddit", "1abc9z"),
    "https://www.reddit.com/user/ada/comments/1abc9z/x/?sort=new": ("reddit", "1abc9z"),
    "https://redd.it/1abc9z": ("reddit", "1abc9z"),
    "https://arxiv.org/abs/2301.00001": ("arxiv", "arXiv:2301.00001"),
    "https://arxiv.org/abs/2301.00001v2": ("arxiv", "arXiv:2301.00001v2"),
    "https://arxiv.org/abs/hep-th/9901001": ("arxiv", "arXiv:hep-th/9901001"),
    "https://arxiv.org/abs/math.GT/0309136?context=math": ("arxiv", "arXiv:math.GT/0309136"),
    "https://pubmed.ncbi.nlm.nih.gov/12345678/": ("pubmed", "PMID:12345678"),
    "https://www.ncbi.nlm.nih.gov/pubmed/12345678": ("pubmed", "PMID:12345678"),
    "https://pmc.ncbi.nlm.nih.gov/articles/PMC123456/": ("pmc", "PMC123456"),
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123456": ("pmc", "PMC123456"),
    "https://doi.org/10.5555/desks.1": ("crossref", "10.5555/desks.1"),
    "https://dx.doi.org/10.5555/a%28b%29c": ("crossref", "10.5555/a(b)c"),
    "https://api.crossref.org/works/10.5555/desks": ("crossref", "10.5555/desks"),
}  # fmt: skip
UNREAD = [
    "https://www.youtube.com/", "https://www.youtube.com/@channel", "https://www.youtube.com/watch?v=short",
    "https://www.youtube.com/watch?v=longer_than_11", "https://youtube.com.evil.example/watch?v=desks_walls",
    "https://notyoutube.com/watch?v=desks_walls", "https://evil.example/?u=https://youtu.be/desks_walls",
    "https://www.youtube.com:8443/watch?v=desks_walls", "https://user@youtu.be/desks_walls",
    "https://news.ycombinator.com/", "https://news.ycombinator.com/item?id=x",
    "https://news.ycombinator.com/user?id=8863", "https://www.reddit.com/r/desks/",
    "https://reddit.com.evil.example/comments/1abc", "https://arxiv.org/pdf/2301.00001",
    "https://arxiv.org/list/cs.CL/recent", "https://arxiv.org/html/2301.00001",
    "https://pubmed.ncbi.nlm.nih.gov/?term=desks", "https://pubmed.ncbi.nlm.nih.gov/advanced/",
    "https://doi.org/", "https://doi.org/the-identifier", "https://example.org/10.5555/desks",
    "https://doi.org/10.5555/" + "x" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("url", READ)
def test_an_address_has_its_reader(url: str) -> None:
    route = find_route(url)
    assert route is not None
    name, wanted = READ[url]
    assert route.name == name
    assert wanted in {route.reference, *(value for _, value in route.arguments)}


@pytest.mark.parametrize("url", UNREAD)
def test_another_address_is_read_as_a_page(url: str) -> None:
    assert find_route(url) is None


def test_every_route_names_a_built_in_plugin_and_a_known_reader() -> None:
    path = Path(carrel.web.sites.__file__).with_name("routes.toml")
    for one in tomllib.loads(path.read_text("utf-8"))["route"]:
        assert one["plugin"] in BUILTIN_PLUGINS
        assert one["reader"] in {"plugin", "record", "paper"}
        assert ("tool" in one) == (one["reader"] == "plugin")
        assert any(find_route(url).name == one["name"] for url in READ if find_route(url))  # type: ignore[union-attr]
