"""Tests that hostile documents are typed errors with a position, and unusual ones are read."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.config import Config
from carrel.errors import CarrelError, LimitExceeded, SourceError
from support.hostile_documents import MALFORMED, ODD, UNDECODABLE, feed, huge_text, large_feed

pytestmark = pytest.mark.long("corpus")

BAD: dict[str, bytes] = {
    **{name: text.encode() for name, text in MALFORMED.items()},
    **UNDECODABLE,
}


def parse_file(config: Config, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs `carrel parse` on a file; returns the exit code and the error as JSON."""
    command = [sys.executable, "-m", "carrel", "--json-errors", "parse", "arxiv", "feed", str(path)]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={"CARREL_CACHE_DIR": str(config.cache_dir), "HOME": str(config.data_dir)},
    )


@pytest.mark.requirement("sandbox:parse:hostile")
@pytest.mark.requirement("result:typed:document")
@pytest.mark.parametrize("name", BAD)
def test_a_hostile_document_is_a_typed_error_with_its_place(
    config: Config, tmp_path: Path, name: str
) -> None:
    path = tmp_path / f"{name}.xml"
    path.write_bytes(BAD[name])
    done = parse_file(config, path)
    assert done.returncode == 1, done
    assert done.stdout == ""
    error = json.loads(done.stderr)["error"]
    assert error["code"] in {"invalid_document", "limit_exceeded", "too_large"}
    assert "Traceback" not in done.stderr
    assert "root:" not in done.stderr  # text of the file that an entity names


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_documents_error_has_a_position(config: Config, name: str) -> None:
    document = MALFORMED[name]
    with pytest.raises(SourceError) as caught:
        Carrel(config).parse("arxiv", "feed", document)
    position = caught.value.to_dict()["position"]
    assert 0 <= position["offset"] <= len(document.encode())


@pytest.mark.requirement("serve:alive:documents")
def test_hostile_documents_do_not_affect_other_calls(config: Config) -> None:
    api = Carrel(config)
    good = feed("caf\u00e9")
    expected = api.parse_text("arxiv", "feed", good)
    for document in BAD.values():
        try:
            api.parse_text("arxiv", "feed", document.decode("utf-8", "replace"))
        except CarrelError:
            pass
        assert api.parse_text("arxiv", "feed", good) == expected


@pytest.mark.parametrize("name", ODD)
def test_an_unusual_but_valid_document_is_read(config: Config, tmp_path: Path, name: str) -> None:
    document, title = ODD[name]
    path = tmp_path / f"{name}.xml"
    path.write_bytes(document)
    done = parse_file(config, path)
    assert done.returncode == 0, done.stderr
    entries = json.loads(done.stdout)["entries"]
    if title is not None:
        assert entries[0]["title"] == title


@pytest.mark.parametrize("make", [large_feed, huge_text])
def test_ten_megabytes_are_no_trouble(
    config: Config, tmp_path: Path, make: Callable[[], bytes]
) -> None:
    path = tmp_path / "large.xml"
    path.write_bytes(make())
    done = parse_file(config, path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entries"][0]["id"] == "2001.00001v1"


def test_a_document_over_the_cap_is_too_large(config: Config) -> None:
    with pytest.raises(SourceError) as caught:
        Carrel(config).parse("arxiv", "feed", "x" * (65 * 2**20))
    assert caught.value.error_code == "too_large"


#: Nestable constructs: the opening and closing text, the depth, and the content.
NESTED: dict[str, Callable[[str], str]] = {
    "elements": lambda inner: inner,
    "feed": feed,
    "article": lambda inner: (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>"
        f"{inner}</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    ),
    "relation": lambda inner: '{"message": {"DOI": "10.1/a", "relation": ' + inner + "}}",
    "work": lambda inner: json.dumps({"message": {"DOI": "10.1/a", "title": [inner]}}),
    "works": lambda inner: json.dumps(
        {"message": {"items": [{"DOI": "10.1/a", "abstract": inner}]}}
    ),
}


@pytest.mark.requirement("serve:alive:nesting")
@pytest.mark.parametrize("name", NESTED)
def test_nesting_of_any_depth_is_read_or_refused_and_never_a_trap(
    config: Config, name: str
) -> None:
    """The parsers' stack is 64 KiB, see `scripts/build-wasm`."""
    api = Carrel(config)
    formats = [
        (plugin.name, known.name)
        for plugin in api.plugins()
        if plugin.manifest is not None
        for known in plugin.manifest.formats
    ]
    outcomes = set()
    for depth in (60, 64, 126, 127, 128, 130, 5_000):
        for before, behind in (
            ("<i>", "</i>"),
            ("<sub><mml:mrow>", "</mml:mrow></sub>"),
            ("&lt;sup&gt;", "&lt;/sup&gt;"),
            ("[", "]"),
            ('{"a":', "}"),
        ):
            document = NESTED[name](before * depth + "1" + behind * depth)
            for plugin, document_format in formats:
                try:
                    api.parse_utf8(plugin, document_format, document)
                    outcomes.add("read")
                except SourceError as error:
                    outcomes.add(error.error_code)
    assert outcomes <= {"read", "invalid_document", "not_found", "upstream_error"}


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda size: feed(count=size), id="entries"),
        pytest.param(lambda size: feed("&amp; " * size), id="references"),
        pytest.param(lambda size: feed("<i>x</i>" * size), id="markup"),
        pytest.param(lambda size: feed("x<!-- -->" * size), id="comments"),
        pytest.param(lambda size: feed("$x_1$\n" * size), id="lines"),
        pytest.param(lambda size: feed("&amp;lt;i&amp;gt;" * size), id="twice-escaped"),
    ],
)
def test_nothing_is_quadratic(config: Config, make: Callable[[int], str]) -> None:
    """16 times the input may take 16 times the CPU time, not 256 times."""
    api = Carrel(config)
    small, large = make(4_000), make(64_000)
    api.parse_text("arxiv", "feed", small)

    def seconds(document: str) -> float:
        started = time.process_time()
        api.parse_text("arxiv", "feed", document)
        return time.process_time() - started

    base = max(min(seconds(small) for _ in range(3)), 0.001)
    assert min(seconds(large) for _ in range(2)) < 64 * base


@pytest.mark.requirement("sandbox:limits:memory")
@pytest.mark.parametrize("count", [1_500, 2_500, 3_500, 8_000])
def test_a_real_parser_out_of_memory_reports_the_limit(config: Config, count: int) -> None:
    """The limit is reached during parsing, or when the document is copied into memory."""
    api = Carrel(replace(config, limits={"memory_bytes": 4 * 2**20}))
    document = feed("A title of some length. " * 40, count=count)
    with pytest.raises(LimitExceeded) as caught:
        api.parse_text("arxiv", "feed", document)
    assert caught.value.limit == "memory"
