"""Measures the other sources' parsers against Python's and native code, and by size."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from bench import articles, works
from bench.measure import Bar, Row, time_in_turn
from bench.workbench import Workbench, why_no_native

from .scaling import SIZES, in_process

_MEGABYTE = 1_000_000


def against_python(bench: Workbench) -> Sequence[Row]:
    """Measures 1 MB of efetch against Biopython, and 1 MB of Crossref against only decoding it."""
    from Bio import Entrez

    efetch = articles.record_set_of_size(_MEGABYTE).encode()
    listing = works.answer_of_size(_MEGABYTE).encode()
    host = bench.host

    def ours(data: bytes) -> dict[str, Any]:
        return host.parse("eutils", "efetch", data)

    def biopython(data: bytes) -> Any:
        return Entrez.read(io.BytesIO(data), validate=False)  # type: ignore[no-untyped-call]

    theirs, parsed = biopython(efetch)["PubmedArticle"], ours(efetch)["articles"]
    assert [str(article["MedlineCitation"]["PMID"]) for article in theirs] == [
        article["pmid"] for article in parsed
    ]
    sandbox, slow = time_in_turn(ours, biopython, document=efetch, rounds=bench.rounds(9, 1))

    answer = json.loads(listing)
    found = host.parse("crossref", "works", listing)["works"]
    assert [work["ids"]["doi"] for work in found] == [
        item["DOI"] for item in answer["message"]["items"]
    ]
    checked, decoded = time_in_turn(
        lambda data: host.parse("crossref", "works", data),
        json.loads,
        document=listing,
        rounds=bench.rounds(20),
    )
    return [
        Row(
            "eutils-biopython",
            "parse 1 MB of efetch to checked objects in the sandbox : Biopython's Entrez.read",
            sandbox, slow, Bar(8, at_least=True),
        ),
        Row(
            "crossref-json",
            "parse 1 MB of Crossref to checked objects in the sandbox : json.loads alone",
            checked, decoded,
        ),
    ]  # fmt: skip


def against_native(bench: Workbench) -> Sequence[Row]:
    """Measures the crates in the sandbox against the same crates as a Python module."""
    return [
        _against_native(bench, "eutils", "efetch", articles.record_set_of_size(_MEGABYTE)),
        _against_native(bench, "crossref", "works", works.answer_of_size(_MEGABYTE)),
    ]


def _against_native(bench: Workbench, plugin: str, form: str, text: str) -> Row:
    case = f"{plugin}-native"
    what = f"parse 1 MB of {plugin} {form} to JSON text in the sandbox : the same code natively"
    bar = Bar(1.6)
    if missing := why_no_native(bench.quick):
        return Row(case, what, bar=bar, missing=missing)
    import carrel_native

    host = bench.host

    def ours(text: str) -> str:
        return host.parse_text(plugin, form, text)

    def native(text: str) -> str:
        return str(carrel_native.parse(plugin, form, text))

    assert ours(text) == native(text)
    sandbox, module = time_in_turn(ours, native, document=text, rounds=bench.rounds(30))
    return Row(case, what, sandbox, module, bar)


def against_size(bench: Workbench) -> Sequence[Row]:
    """Measures the time per byte of larger documents against smaller ones, to JSON text."""
    sizes = SIZES[:2] if bench.quick else SIZES
    sources: tuple[tuple[str, str, Callable[[int], str]], ...] = (
        ("eutils", "efetch", articles.record_set_of_size),
        ("crossref", "works", works.answer_of_size),
    )
    return [
        row
        for plugin, form, make in sources
        for row in in_process(
            bench,
            sizes,
            f"{plugin}-scaling",
            f"of {plugin} {form} parsed to JSON text",
            bench.host.parse_utf8,
            source=(plugin, form, cache(make)),
        )
    ]
