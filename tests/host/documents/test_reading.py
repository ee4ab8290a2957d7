"""Tests reading documents: the choice of the plugin, the text, and the errors."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.api import AsyncCarrel, Carrel
from carrel.config import Config, PluginConfig, builtin
from carrel.documents import DocumentReader
from carrel.errors import CarrelError
from support.articles import DOCUMENT, article, long_article, reader
from support.guests import guest
from support.lookups import LOOP
from support.manifests import manifest_text

from .conftest import Open

RTF = b"{\\rtf1 words}"


def failure(api: Carrel, data: bytes, **options: str) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        api.read(data, **options)  # type: ignore[arg-type]
    return caught.value


def test_an_article_is_read_without_any_configuration(api: Carrel) -> None:
    read = api.read(article())
    assert (read.format, read.plugin, read.title) == ("jats", "jats", "On stones")
    assert (read.quality, read.identifiers) == ("complete", {"doi": "10.5555/stones.1"})
    assert read.text.startswith("# On stones\n\nDOI: 10.5555/stones.1\n\n## Abstract\n\nIn short.")
    assert [one.heading for one in read.headings] == ["Abstract", "Methods"]
    assert read.document == api.parse("jats", "jats", article())


def test_the_text_is_what_the_renderer_shows_of_the_document(api: Carrel) -> None:
    read, plain = api.read(long_article()), api.read(long_article(), plain=True)
    document = api.parse_text("jats", "jats", long_article())
    assert read.text == api.parse("render", "document_markdown", document)["text"]
    assert plain.text == api.parse("render", "document_text", document)["text"]
    assert plain.text.startswith("On stones\n\n")
    for one in (read, plain):
        for heading in one.headings:
            line = one.text[heading.start :].partition("\n")[0]
            assert line.lstrip("# ").replace("\\", "") == heading.heading


def test_a_file_is_read_by_its_path(api: Carrel, tmp_path: Path) -> None:
    path = tmp_path / "misnamed.pdf"
    path.write_bytes(article())
    assert api.read(path) == api.read(str(path)) == api.read(article())
    assert failure_of(api, tmp_path).error_code == "invalid_arguments"
    assert failure_of(api, tmp_path / "none").error_code == "invalid_arguments"


def failure_of(api: Carrel, path: Path) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        api.read(path)
    return caught.value


def test_a_document_in_a_gzip_file_is_unpacked(api: Carrel, config: Config) -> None:
    assert api.read(gzip.compress(article())) == api.read(article())
    assert failure(api, gzip.compress(article())[:-30]).error_code == "invalid_document"
    small = Carrel(replace(config, limits={"response_bytes": 10_000}))
    with small:
        error = failure(small, gzip.compress(article() + b" " * 10**7))
        assert (error.error_code, "gzip" in error.message) == ("too_large", True)


@pytest.mark.parametrize("data", [b"", b"\x7fELF" + bytes(100)], ids=["empty", "a program"])
def test_what_is_no_document_is_an_error(api: Carrel, data: bytes) -> None:
    assert failure(api, data).error_code == "invalid_document"


def test_an_unknown_format_is_an_error_with_the_known_formats(api: Carrel) -> None:
    error = failure(api, RTF)
    assert error.message.startswith("found an RTF document, which no plugin reads; what can be")
    assert "jats, " in error.message
    assert error.details()["found"] == "rtf"


def test_a_damaged_document_is_an_error_with_its_place(api: Carrel) -> None:
    error = failure(api, article()[:-60])
    assert (error.error_code, error.plugin) == ("invalid_document", "jats")
    assert error.details()["position"]["offset"] > 300


@pytest.mark.parametrize("takes_bytes", [True, False])
def test_a_third_party_plugin_reads_its_formats_by_its_manifest(
    open_api: Open, takes_bytes: bool
) -> None:
    api = open_api(stranger=reader(takes_bytes=takes_bytes))
    read = api.read(RTF)
    assert (read.plugin, read.format, read.title) == ("stranger", "rtf", "A stranger's")
    assert read.text == "# A stranger's\n\nDOI: 10.5555/9\n\n## Words\n\nRich words.\n"
    assert read.document == DOCUMENT
    assert "jats" in failure(api, b"\x89PNG\r\n\x1a\n").message
    assert "rtf" in failure(api, b"\x89PNG\r\n\x1a\n").message


def test_a_format_whose_results_are_no_documents_reads_none(open_api: Open) -> None:
    form = {"name": "rtf", "description": "x", "output_schema": {"type": "object"}}
    other = guest(manifest=manifest_text(hosts=[], tools=[], formats=[form]))
    assert "no plugin reads" in failure(open_api(other=other), RTF).message


def test_a_built_in_reader_takes_precedence_unless_it_is_off(open_api: Open) -> None:
    stranger = reader("jats", takes_bytes=False)
    assert open_api(stranger=stranger).read(article()).plugin == "jats"
    off = PluginConfig("jats", "builtin:jats", enabled=False)
    assert open_api(entries=(off,), stranger=stranger).read(article()).plugin == "stranger"
    assert "no plugin reads" in failure(open_api(entries=(off,)), article()).message


def test_a_reader_that_cannot_be_loaded_is_passed_over(open_api: Open) -> None:
    broken = guest(manifest="nonsense")
    assert open_api(broken=broken, stranger=reader()).read(RTF).plugin == "stranger"


@pytest.mark.parametrize(
    "document",
    [
        {"sections": []},
        {**DOCUMENT, "quality": 5},
        {**DOCUMENT, "identifiers": []},
        {**DOCUMENT, "sections": [{"level": "one"}]},
        {**DOCUMENT, "quality": "splendid"},
    ],
)
def test_a_third_party_readers_result_is_validated_as_a_document(
    open_api: Open, document: object
) -> None:
    error = failure(open_api(stranger=reader(document=document)), RTF)
    assert (error.error_code, error.plugin) == ("contract_violation", "stranger")


def test_blocks_nest_as_deeply_as_readers_make_them(open_api: Open) -> None:
    block: dict[str, Any] = {"kind": "paragraph", "text": "deep"}
    for number in range(24):
        inner: dict[str, Any] = {"kind": "quote", "blocks": [block]}
        block = {"kind": "list", "items": [{"blocks": [inner]}]} if number % 2 else inner
    document = {**DOCUMENT, "sections": [{"level": 1, "blocks": [block]}]}
    read = open_api(stranger=reader(document=document)).read(RTF)
    assert read.text.rstrip().endswith("deep")


def test_pages_are_the_readers_own_option(open_api: Open, api: Carrel) -> None:
    assert open_api(stranger=reader()).read(RTF, pages="3-7").title == "A stranger's"
    error = failure(api, article(), pages="3-7")
    assert (error.error_code, "has no pages" in error.message) == ("invalid_arguments", True)


def test_the_renderer_is_carrels_own(open_api: Open) -> None:
    off = PluginConfig("render", "builtin:render", enabled=False)
    for api in (open_api(entries=(off,)), open_api(render=reader())):
        error = failure(api, article())
        assert (error.error_code, "plugins.render" in error.message) == ("plugin_unavailable", True)


def test_cancelling_interrupts_the_guest(open_api: Open) -> None:
    api = open_api(slow=reader(body=LOOP))
    documents = DocumentReader(api.toolbox.plugin_set, api.toolbox.config)
    call = documents.new_call()
    threading.Timer(0.3, call.cancel).start()
    started = time.monotonic()
    with pytest.raises(CarrelError) as caught:
        documents.read(RTF, call)
    assert caught.value.error_code == "cancelled"
    assert time.monotonic() - started < 8


def test_the_wall_clock_limit_applies_to_the_whole_reading(open_api: Open) -> None:
    api = open_api(slow=reader(body=LOOP))
    documents = DocumentReader(api.toolbox.plugin_set, api.toolbox.config)
    call = documents.new_call()
    call.deadline = time.monotonic() + 0.5
    with pytest.raises(CarrelError) as caught:
        documents.read(RTF, call)
    assert caught.value.error_code == "timeout"


def test_progress_names_the_current_step(api: Carrel) -> None:
    messages: list[str] = []
    api.read(article(), on_progress=lambda _done, _total, words: messages.append(words))
    assert messages[-2:] == ["reading as jats", "rendering"]


def test_it_can_be_awaited(config: Config) -> None:
    async def run() -> str:
        async with AsyncCarrel(config) as api:
            return (await api.read(article())).text

    assert asyncio.run(run()).startswith("# On stones")


def test_cancelling_the_task_cancels_the_reading(open_api: Open, config: Config) -> None:
    slow = open_api(slow=reader(body=LOOP)).toolbox.config

    async def run() -> None:
        async with AsyncCarrel(slow) as api:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(api.read(RTF), 0.5)

    started = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - started < 8


def test_a_reader_without_an_entry_is_not_listed_and_can_parse(api: Carrel) -> None:
    assert [state.name for state in api.plugins()] == []
    assert api.parse("jats", "jats", article())["title"] == "On stones"
    assert json.loads(api.parse_text("render", "document_text", json.dumps(DOCUMENT)))["text"]


def test_an_entry_that_is_off_stays_off(open_api: Open) -> None:
    off = replace(builtin("jats"), enabled=False)
    with pytest.raises(CarrelError) as caught:
        open_api(entries=(off,)).parse("jats", "jats", article())
    assert caught.value.error_code == "unknown_tool"


def test_reading_checks_no_schema(tmp_path: Path, code_folder: Path) -> None:
    """Importing the manifest checks would take longer than reading most documents."""
    path = tmp_path / "article.xml"
    path.write_bytes(article())
    code = (
        "import sys; from pathlib import Path; from carrel.api import Carrel; "
        "from carrel.config import Config; "
        "config = Config(cache_dir=Path(sys.argv[1]), data_dir=Path(sys.argv[1])); "
        "print(Carrel(config).read(sys.argv[2]).title, *sys.modules)"
    )
    words = [sys.executable, "-c", code, str(code_folder), str(path)]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("On stones ")
    assert not {"jsonschema_rs", "pydantic_core", "click", "mcp"} & set(run.stdout.split())
