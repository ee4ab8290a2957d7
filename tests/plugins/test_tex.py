"""Tests the plugin for LaTeX sources, in native code and in the sandbox."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.contract import contract_file
from carrel.errors import CarrelError
from carrel.plugins.schemas.schema import compile_schema
from support.office_files import archive, eprint

SCHEMA = json.loads(contract_file("document.schema.json").read_text("utf-8"))
PAPER = (Path(__file__).parents[2] / "plugins/tex/tests/paper.tex").read_text("utf-8")


@pytest.fixture
def library(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("tex"),)))


def read(library: Carrel, document_format: str, content: bytes) -> dict[str, Any]:
    """Returns the sandbox's result, after checking that native code returns the same."""
    document = library.parse("tex", document_format, content)
    assert compile_schema(SCHEMA).is_valid(document)
    reason = "the native module is not built (just native)"
    native = pytest.importorskip("carrel_native", reason=reason)
    assert json.loads(native.parse_bytes("tex", document_format, content)) == document
    return document


def blocks(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for section in document["sections"] for block in section["blocks"]]


def texts(library: Carrel, source: str) -> list[str]:
    return [
        block["text"] for block in blocks(read(library, "tex", source.encode())) if "text" in block
    ]


def test_a_paper_is_read_whole(library: Carrel) -> None:
    document = read(library, "tex", PAPER.encode())
    assert document["title"] == "A Paper with an Accent: Café, naïve"
    assert document["authors"] == [
        {"literal": "Jane Doe"},
        {
            "literal": "John Roe",
            "email": "john@roe.example",
            "affiliations": ["University of Nowhere"],
        },
    ]
    assert document["language"] == "en"
    assert document["abstract"] == "We read Carrel sources."
    sections = [
        (one.get("label"), one.get("heading"), one["level"]) for one in document["sections"]
    ]
    assert sections == [
        ("1", "Introduction", 1),
        ("2", "Method", 1),
        (None, "Unnumbered", 2),
        (None, None, 1),
    ]
    assert document["sections"][-1]["kind"] == "references"
    found = blocks(document)
    assert found[0]["text"] == (
        "Words—with “quotes” and 10 % of (one, two) things [1]. See Figure 1, Section 2 and (1).¹ "
        "This is kept."
    )
    assert found[1] == {"kind": "footnote", "label": "1", "text": "A note with bold text."}
    inner = {"kind": "list", "ordered": True, "items": [{"text": "inner"}]}
    assert found[2]["items"] == [{"text": "one"}, {"text": "two", "blocks": [inner]}]
    assert found[3]["items"] == [{"label": "Term", "text": "means this."}]
    assert [one["tex"] for one in found if one["kind"] == "equation"] == [
        "y = \\operatorname{arg\\,max}_{x \\in\\mathbb{R}} f(x)",
        "\\begin{aligned}a &= b \\\\ c &= d\\end{aligned}",
    ]
    theorem, proof = [one for one in found if one["kind"] == "quote"][:2]
    assert (theorem["label"], theorem["caption"]) == ("Theorem 1", "Main")
    assert proof["label"] == "Proof"
    (figure,) = [one for one in found if one["kind"] == "figure"]
    assert figure == {
        "kind": "figure",
        "label": "Figure 1",
        "caption": "A plot of $f$.",
        "href": "plot.pdf",
    }
    (table,) = [one for one in found if one["kind"] == "table"]
    assert (table["label"], table["caption"], table["header_rows"]) == ("Table 1", "Numbers", 1)
    assert table["rows"] == [["Name", "Values", ""], ["a", "1", "2"], ["b", "3", "4"]]
    assert table["spans"] == [{"row": 0, "column": 1, "rows": 1, "columns": 2}]
    (code,) = [one for one in found if one["kind"] == "code"]
    assert code["text"] == "if x < 2:\n    % no comment"
    assert document["links"] == [{"href": "https://a.example/x%20y_z"}]
    first, second = document["references"]
    assert (first["id"], first["label"], first["doi"], first["year"]) == (
        "doe",
        "1",
        "10.5555/abc",
        "2019",
    )
    assert (second["arxiv"], second["year"]) == ("1901.00001", "2020")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("\\newcommand{\\x}[2][z]{#1#2}\\x{a} \\x[b]{c}", "za bc"),
        ("\\def\\x#1;{<#1>}\\x ab;c", "<ab>c"),
        ("\\let\\y\\x\\def\\x{a}\\let\\y\\x\\def\\x{b}\\y", "a"),
        ("\\iffalse a\\iftrue b\\fi\\else c\\fi d", "cd"),
        ("\\newif\\ifdraft\\drafttrue\\ifdraft a\\else b\\fi", "a"),
        ("{\\bf a} \\emph{b} \\textcolor{red}{c} \\vspace{1cm} d", "a b c d"),
        (
            "G\\\"odel, Erd\\H{o}s, \\v{S}, \\'{\\i}, \\c{c}, \\aa, \\ss",
            "Gödel, Erdős, Š, í, ç, å, ß",
        ),
        ("a % b\n  c", "a c"),
        ("\\verb|%{$| a", "%{$ a"),
        ("H\\textsubscript{2}O and $x^2$", "H₂O and $x^2$"),
        ("\\parskip=2pt plus 1pt a", "a"),
        ("costs \\$5", "costs $5"),
    ],
)
def test_text_is_the_visible_text(library: Carrel, source: str, text: str) -> None:
    assert " ".join(texts(library, source)) == text


def test_an_e_print_is_flattened_from_its_main_file(library: Carrel) -> None:
    main = (
        "\\documentclass{article}\\usepackage{own}\\begin{document}\\title{T}"
        "\\section{One}\\input{parts/one}\\include{parts/two}\\input{absent}"
        "\\bibliography{refs}\\end{document}"
    )
    files: dict[str, str | bytes] = {
        "paper.tex": main,
        "parts/one.tex": "First \\own. \\input{parts/one}",
        "parts/two.tex": "Second \\cite{doe}.",
        "own.sty": "\\newcommand{\\own}{macro}",
        "refs.bib": (
            "@article{doe, author={Doe, Jane and Roe, John}, title={A {T}itle}, year=2019,"
            ' journal="J", doi={10.5555/abc}}\n@book{unused, title={Not cited}}'
        ),
        "picture.pdf": b"%PDF-1.5\0",
    }
    for packed in (True, False):
        document = read(library, "tar", eprint(files, packed=packed))
        found = [one["text"] for one in blocks(document)]
        assert found == ["First macro.", "Second [doe]."]
        codes = sorted(one["code"] for one in document["warnings"])
        assert codes == ["input_loop", "missing_input"]
        (reference,) = document["references"]
        assert reference["authors"] == ["Jane Doe", "John Roe"]
        assert (reference["title"], reference["doi"]) == ("A Title", "10.5555/abc")


def test_the_bbl_is_preferred_and_names_its_authors_and_years(library: Carrel) -> None:
    bbl = (
        "\\begin{thebibliography}{1}\\expandafter\\ifx\\csname natexlab\\endcsname\\relax"
        "\\def\\natexlab#1{#1}\\fi\\bibitem[{Doe(2019)}]{doe}Jane Doe. \\newblock Title."
        "\\newblock \\href{https://doi.org/10.5555/x}{Journal}, 2019.\\end{thebibliography}"
    )
    main = (
        "\\documentclass{article}\\begin{document}\\citet{doe} and \\citep[p.~3]{doe}"
        "\\bibliography{refs}\\end{document}"
    )
    document = read(library, "tar", eprint({"ms.tex": main, "ms.bbl": bbl}))
    assert blocks(document)[0]["text"] == "Doe (2019) and (Doe, 2019, p. 3)"
    (reference,) = document["references"]
    assert (reference["doi"], reference["year"]) == ("10.5555/x", "2019")
    assert "label" not in reference, "natbib prints none"
    assert reference["text"] == "Jane Doe. Title. Journal, 2019."


def test_one_file_in_gzip_is_an_e_print(library: Carrel) -> None:
    document = read(library, "tar", gzip.compress(PAPER.encode(), mtime=0))
    assert document["title"] == "A Paper with an Accent: Café, naïve"


def test_a_charset_is_read_as_stated(library: Carrel) -> None:
    source = "\\usepackage[latin2]{inputenc}\\begin{document}łódź\\end{document}"
    document = read(library, "tex", source.encode("iso-8859-2"))
    assert blocks(document)[0]["text"] == "łódź"


HOSTILE: dict[str, tuple[str, Callable[[], bytes], set[str]]] = {
    "bomb": ("tar", lambda: gzip.compress(b"\\" * (300 << 20), 9), {"too_large"}),
    "pdf": ("tar", lambda: b"%PDF-1.5", {"invalid_document"}),
    "zip": ("tar", lambda: archive({"a.tex": "x"}), {"invalid_document"}),
    "no-source": ("tar", lambda: eprint({"a.png": b"\0"}), {"invalid_document"}),
    "binary": ("tex", lambda: bytes(1000), {"invalid_document"}),
    "many-files": ("tar", lambda: eprint({f"{n}.txt": "" for n in range(10_001)}), {"too_large"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_e_print_is_one_typed_error(library: Carrel, name: str) -> None:
    document_format, make, codes = HOSTILE[name]
    with pytest.raises(CarrelError) as caught:
        library.parse("tex", document_format, make())
    assert caught.value.to_dict()["code"] in codes


@pytest.mark.parametrize(
    "source",
    [
        "\\def\\a{\\b\\b}\\def\\b{\\a\\a}\\a",
        "\\def\\a{x\\a}\\a",
        "\\newcommand{\\a}[1]{\\a{#1#1}}\\a{xxxxxxxx}",
        "\\newenvironment{e}{\\begin{e}}{\\end{e}}\\begin{e}",
    ],
)
def test_macros_that_never_end_are_bounded(library: Carrel, source: str) -> None:
    document = read(library, "tex", f"words {source}".encode())
    assert "expansion_limit" in {one["code"] for one in document["warnings"]}


def test_notes_to_the_authors_are_no_text(library: Carrel) -> None:
    source = (
        "\\documentclass{elsarticle}\\begin{document}\\begin{frontmatter}\\title{A}\\author{B\\fnref{f}}"
        "\\fntext[f]{Institute of Nowhere}\\cortext[c]{Corresponding author}\\end{frontmatter}"
        "Words.\\end{document}"
    )
    document = read(library, "tex", source.encode())
    assert [block["text"] for block in blocks(document)] == ["Words."]
    notes = [one["value"] for one in document["metadata"] if one["name"] == "author_note"]
    assert notes == ["Institute of Nowhere", "Corresponding author"]


def test_a_document_without_an_end_is_truncated(library: Carrel) -> None:
    document = read(library, "tex", b"\\documentclass{article}\\begin{document}Half of")
    assert (document["quality"], document["quality_reason"]) == ("partial", "truncated")
    assert document["warnings"][0]["code"] == "truncated_source"


def test_a_loop_over_the_lines_of_a_file_ends(library: Carrel) -> None:
    """A file that TeX would open for reading is at its end: no line is read for ever."""
    loop = "\\def\\next{\\ifeof\\file end\\else\\read\\file to \\line line \\next\\fi}"
    assert texts(library, f"{loop}\\openin\\file=gone \\next") == ["end"]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("{", "}"),
        ("\\footnote{a", "}"),
        ("\\begin{itemize}\\item ", "\\end{itemize}"),
        ("\\begin{tabular}{l}", "\\end{tabular}"),
        ("\\section{", "}"),
        ("\\caption{", "}"),
    ],
)
@pytest.mark.parametrize("depth", [10, 200])
def test_what_is_nested_does_not_use_up_the_stack(
    library: Carrel, before: str, behind: str, depth: int
) -> None:
    source = f"start {before * depth}word{behind * depth}"
    assert "word" in json.dumps(read(library, "tex", source.encode()))
