"""Tests that damaged documents have the same result in the sandbox and in native code.

The two builds differ: the component scans sixteen bytes at a time, native code byte by byte.
Documents of every reader are damaged as bytes (`tests/support/damage.py`): each gives a document or
one typed error, and memory does not grow.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.errors import SourceError
from carrel.plugins.schemas.schema import compile_schema
from carrel.text.printable import printable
from support.damage import READERS
from support.damage import damaged as damaged_documents

FIXTURES = Path(__file__).parents[1] / "fixtures"
#: Longer documents take long and contain no further constructs.
LARGEST = 20_000
SOURCES = {
    "arxiv": ("feed", "response.xml"),
    "crossref": ("works", "response.json"),
    "eutils": ("efetch", "response.xml"),
    "jats": ("jats", "response.xml"),
}
DOCUMENTS = [
    (plugin, document_format, text)
    for plugin, (document_format, name) in SOURCES.items()
    for path in sorted((FIXTURES / plugin).glob(f"*/{name}"))
    if not (path.parent / "format").exists()
    and len(text := path.read_bytes().decode("utf-8")) <= LARGEST
]
#: Inserted pieces: all delimiters and escapes, and characters of one to four bytes.
PIECES = [
    *'<>&;"=/:-!?x \n\t\\{}[],.0',
    "'",
    "  ",
    "é",
    "名",
    "😀",
    "\u00a0",
    "\u3000",
    "\x01",
    "\x7f",
    "\ufffe",
    "</",
    "/>",
    "<é ö='ü'>",
    "<a:b-c.d_e>",
    "&amp;",
    "&#xe9;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "\\u00e9",
    "\\ud83d",
    "a text of more than sixty-four bytes, which is looked at in more than one step",
]


#: A feed with one of each element.
SMALL = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="http://arxiv.org/schemas/atom"><entry>\n  '
    "<id>http://arxiv.org/abs/1</id><title>A  b &amp; c</title>"
    '<link href="http://a.org/b" rel="alternate"/><author><name>Ö</name></author>'
    '<x:comment>1 page, with a text of more than thirty-two bytes</x:comment><other a="b"/>'
    "</entry></feed>"
)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str, str]:
    """Returns a fixture's document with a few pieces inserted, deleted or repeated."""
    plugin, document_format, text = draw(st.sampled_from(DOCUMENTS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 40))
        kind = draw(st.sampled_from(["put in", "leave out", "repeat", "cut"]))
        if kind == "put in":
            text = text[:at] + draw(st.sampled_from(PIECES)) + text[at:]
        elif kind == "leave out":
            text = text[:at] + text[at + length :]
        elif kind == "repeat":
            text = text[: at + length] + text[at:]
        else:
            text = text[:at]
    return plugin, document_format, text


@pytest.fixture(scope="module")
def api(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrel]:
    plugins = tuple(builtin(name) for name in SOURCES)
    data = tmp_path_factory.mktemp("data")
    with Carrel(Config(cache_dir=code_folder, data_dir=data, plugins=plugins)) as opened:
        yield opened


@pytest.fixture(scope="module")
def native() -> ModuleType:
    module: ModuleType = pytest.importorskip(
        "carrel_native", reason="the native module is not built (just native)"
    )
    return module


def assert_read_alike(
    api: Carrel, native: ModuleType, plugin: str, document_format: str, text: str
) -> None:
    try:
        expected, reported = native.parse(plugin, document_format, text), None
    except ValueError as error:
        expected, reported = None, json.loads(str(error))
    try:
        found, raised = api.parse_text(plugin, document_format, text), None
    except SourceError as error:
        found, raised = None, error.to_dict()
    assert found == expected
    assert (raised is None) == (reported is None)
    if raised is not None and reported is not None:
        # The host removes hidden characters from quoted text.
        reported["message"] = printable(reported["message"], 2000)
        same = ("code", "message", "position")
        assert [raised.get(key) for key in same] == [reported.get(key) for key in same]


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_a_damaged_document_is_read_alike_in_the_sandbox_and_natively(
    api: Carrel, native: ModuleType, document: tuple[str, str, str]
) -> None:
    assert_read_alike(api, native, *document)


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_every_piece_is_read_alike_in_every_place(
    api: Carrel, native: ModuleType, piece: str
) -> None:
    for at in range(len(SMALL)):
        assert_read_alike(api, native, "arxiv", "feed", SMALL[:at] + piece + SMALL[at:])


SCHEMA = compile_schema(json.loads(contract_file("document.schema.json").read_text("utf-8")))
#: The errors that a reader may return for an unreadable document.
REFUSALS = {"invalid_document", "too_large"}
#: Of each format in every run, and with `--all`.
SAMPLE, ALL = 40, 2000
#: Bytes that the process may hold more after all documents than after the first quarter.
GROWTH = 24 << 20


@pytest.fixture(scope="module")
def readers(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrel]:
    plugins = tuple(builtin(name) for name in sorted(set(READERS.values())))
    data = tmp_path_factory.mktemp("data")
    with Carrel(Config(cache_dir=code_folder, data_dir=data, plugins=plugins)) as opened:
        yield opened


def outcome(readers: Carrel, document_format: str, document: bytes) -> dict[str, Any]:
    """The document, or the error that its reader reports; a limit of the sandbox raises."""
    try:
        return readers.parse(READERS[document_format], document_format, document)
    except SourceError as error:
        return {"error": error.to_dict()}


def natively(native: ModuleType, document_format: str, document: bytes) -> dict[str, Any]:
    plugin = READERS[document_format]
    try:
        if plugin == "jats":
            # The host decodes a format of text.
            read = native.parse(plugin, document_format, document.decode("utf-8"))
        else:
            read = native.parse_bytes(plugin, document_format, document)
        found: dict[str, Any] = json.loads(read)
    except ValueError as error:
        return {"error": json.loads(str(error))}
    return found


def assert_in_order(found: dict[str, Any]) -> None:
    if "error" in found:
        assert found["error"]["code"] in REFUSALS, found
        assert found["error"]["message"]
    else:
        assert SCHEMA.is_valid(found)


@pytest.mark.parametrize("document_format", READERS)
def test_a_sample_of_mutated_documents_is_read_alike_in_the_sandbox_and_natively(
    readers: Carrel, native: ModuleType, document_format: str
) -> None:
    for document in damaged_documents(document_format, SAMPLE):
        found = outcome(readers, document_format, document)
        assert_in_order(found)
        if READERS[document_format] == "jats" and not is_utf8(document):
            continue
        expected = natively(native, document_format, document)
        if "error" in expected:
            assert found["error"]["code"] == expected["error"]["code"]
        else:
            assert found == expected


def is_utf8(document: bytes) -> bool:
    try:
        document.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.long("flood")
@pytest.mark.parametrize("document_format", READERS)
def test_two_thousand_mutated_documents_are_documents_or_one_typed_error_without_growth(
    readers: Carrel, document_format: str
) -> None:
    documents = 0
    for document in damaged_documents(document_format, ALL):
        found = outcome(readers, document_format, document)
        assert_in_order(found)
        documents += "error" not in found
    assert documents > 0  # pages and plain texts are read however damaged they are
    gc.collect()
    held = psutil.Process().memory_info().rss
    # Again: the memory for the largest document is allocated by now, so growth is a leak.
    for document in damaged_documents(document_format, ALL):
        outcome(readers, document_format, document)
    gc.collect()
    assert psutil.Process().memory_info().rss - held < GROWTH
