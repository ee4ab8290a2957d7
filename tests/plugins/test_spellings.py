"""Tests that equivalent spellings of a document in XML or JSON give the same result.

Every fixture is rewritten in ways that are equivalent in XML: with comments and processing
instructions inside texts, with CDATA sections, with character references for non-ASCII characters,
in another encoding, with another prefix. New documents may use any of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import SourceError
from carrel.fetch.decode import decode_text
from conftest import ROOT

ATOM = "http://www.w3.org/2005/Atom"
Rewrite = Callable[[Any], bytes]
#: Fixtures that lxml or Python refuse: HTML's entities, and JSON with 100,000 levels.
UNREADABLE = {"entities", "deep_nesting_unread"}


def cases() -> list[Any]:
    """Returns the well-formed XML fixtures, with plugin and format."""
    found = []
    for plugin in ("arxiv", "eutils"):
        for folder in sorted((ROOT / "tests" / "fixtures" / plugin).iterdir()):
            file = folder / "response.xml"
            if folder.name in UNREADABLE or not file.exists():
                continue
            if '"error"' in (folder / "expected.json").read_text("utf-8"):
                continue
            name = folder / "format"
            format_ = name.read_text("utf-8").strip() if name.exists() else "feed"
            found.append(pytest.param(plugin, format_, file, id=f"{plugin}-{folder.name}"))
    return found


def leaves(root: Any) -> list[Any]:
    """Returns the elements that contain only text."""
    return [
        one
        for one in root.iter()
        if isinstance(one.tag, str) and len(one) == 0 and (one.text or "").strip()
    ]


def _split(root: Any, make: Callable[[str], Any]) -> bytes:
    for leaf in leaves(root):
        half = len(leaf.text) // 2
        node = make(" a <b> & ")
        leaf.text, node.tail = leaf.text[:half], leaf.text[half:]
        leaf.append(node)
    return etree.tostring(root, encoding="utf-8")


def with_comments(root: Any) -> bytes:
    return _split(root, etree.Comment)


def with_instructions(root: Any) -> bytes:
    return _split(root, lambda text: etree.ProcessingInstruction("pi", text))


def with_sections(root: Any) -> bytes:
    # A text that the upstream escaped twice is recognized by its references; CDATA has none.
    for leaf in leaves(root):
        if "&" not in leaf.text and "<" not in leaf.text:
            leaf.text = etree.CDATA(leaf.text)
    return etree.tostring(root, encoding="utf-8")


def with_references(root: Any) -> bytes:
    return etree.tostring(root, encoding="us-ascii")


def with_single_quotes(root: Any) -> bytes:
    text = str(etree.tostring(root, encoding="unicode"))
    quoted: str = re.sub(r'="([^"\']*)"', r"='\1'", text)
    return quoted.encode()


def with_a_prefix(root: Any) -> bytes:
    """Returns the feed with a prefix for Atom's namespace instead of the default namespace."""
    text = etree.tostring(root, encoding="unicode")
    text = str(re.sub(r"<(/?)([A-Za-z]\w*)(?=[\s>/])", r"<\1q:\2", text))
    return text.replace(f'xmlns="{ATOM}"', f'xmlns:q="{ATOM}"').encode()


def in_other_bytes(root: Any) -> bytes:
    declared = '<?xml version="1.0" encoding="utf-16"?>'
    return (declared + etree.tostring(root, encoding="unicode")).encode("utf-16")


REWRITES: list[Rewrite] = [
    with_comments,
    with_instructions,
    with_sections,
    with_references,
    with_single_quotes,
    with_a_prefix,
    in_other_bytes,
]


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(
        replace(config, plugins=(builtin("arxiv"), builtin("crossref"), builtin("eutils")))
    )


@pytest.mark.parametrize(("plugin", "format_", "file"), cases())
def test_equivalent_xml_gives_the_same_result(
    api: Carrel, plugin: str, format_: str, file: Path
) -> None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    text = file.read_text("utf-8")
    expected = api.parse(plugin, format_, text)
    # Without the declaration, which is wrong in one of them.
    plain = re.sub(r"^\ufeff?<\?xml [^>]*>", "", text).encode()
    for rewrite in REWRITES:
        root = etree.fromstring(plain, parser)
        if rewrite is with_a_prefix and root.nsmap.get(None) != ATOM:
            continue
        document = decode_text(rewrite(root), "application/xml")
        try:
            found = api.parse(plugin, format_, document)
        except SourceError as error:
            pytest.fail(f"{rewrite}: {error}\n{document[:500]}")
        assert found == expected, rewrite


def backwards(value: Any, name: str = "") -> Any:
    """Returns the members of every object in reverse order, except where their order has a
    meaning.
    """
    if isinstance(value, list):
        return [backwards(one, name) for one in value]
    if not isinstance(value, dict):
        return value
    members = [(key, backwards(one, key)) for key, one in value.items()]
    return dict(members if name in {"relation", "facets", "values"} else reversed(members))


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.parent.name)
        for file in sorted((ROOT / "tests" / "fixtures" / "crossref").glob("*/response.json"))
        if file.parent.name not in UNREADABLE
        and '"error"' not in (file.parent / "expected.json").read_text("utf-8")
    ],
)
def test_equivalent_json_gives_the_same_result(api: Carrel, file: Path) -> None:
    text = file.read_text("utf-8").removeprefix("\ufeff")
    expected = api.parse("crossref", "works", text)
    value = json.loads(text)
    for again in (
        json.dumps(value),
        json.dumps(value, indent="\t"),
        "\ufeff\r\n" + text,
        json.dumps(value).replace("/", "\\/"),
        json.dumps(backwards(value)),
    ):
        assert api.parse("crossref", "works", again) == expected, again[:200]
