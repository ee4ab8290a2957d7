"""Writes the fixtures of Office documents, books and LaTeX sources: the same bytes in every run.

    python3 tests/support/document_cases.py      from the root of the repository

What is expected of them, `expected.json`, is written and read by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from support.office_files import archive, docx, eprint, epub, odt, paragraph, pptx, relations, shape

FIXTURES = Path(__file__).parents[1] / "fixtures"


class DocumentCase(NamedTuple):
    """A document and the format to read it in, which is the ending of its file as well."""

    format: str
    content: bytes


_STYLES = (
    '<w:root><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="C"><w:name w:val="caption"/></w:style></w:root>'
)
_NOTES = (
    '<w:root><w:footnote w:id="2"><w:p><w:r><w:t>A note of the author.</w:t></w:r></w:p>'
    "</w:footnote></w:root>"
)
_CELL = "<w:tc>{}<w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
_TABLE = (
    "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{}{}</w:tr><w:tr>{}{}</w:tr><w:tr>{}</w:tr></w:tbl>"
).format(
    _CELL.format("", "Species"),
    _CELL.format("", "Count"),
    _CELL.format("", "Heron"),
    _CELL.format("", "12"),
    _CELL.format('<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>', "none in winter"),
)
_FORMULA = (
    "<w:p><w:r><w:t>where </w:t></w:r><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
    "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>"
)
_REPORT = (
    paragraph("Herons of the lower river", "T")
    + paragraph("Introduction", "H1")
    + "<w:p><w:r><w:t>Herons were counted</w:t></w:r>"
    '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t> in spring.</w:t></w:r></w:p>'
    + paragraph("Sites", "H2")
    + paragraph("Table 1. Birds by season", "C")
    + _TABLE
    + _FORMULA
    + paragraph("References", "H1")
    + paragraph("[1] Doe J. Wading birds. J Birds 2020. doi:10.5555/heron.1")
)
_CHANGES = (
    "<w:p><w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>added</w:t></w:r></w:ins>"
    "<w:del><w:r><w:delText>removed</w:delText></w:r></w:del>"
    "<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r></w:p>"
)
_PICTURE = (
    '<w:p><w:r><w:drawing><a:blip r:link="r1"/></w:drawing></w:r><w:r><w:t>words</w:t></w:r></w:p>'
)
_OUTSIDE = (
    '<Relationships><Relationship Id="r1" Type="urn:x/image" '
    'Target="http://tracker.example/pixel.png" TargetMode="External"/></Relationships>'
)
_CHAPTER = '<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
_BULLET = '<a:p><a:pPr lvl="0"><a:buChar char="-"/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>'
_ODT = (
    '<text:h text:outline-level="1">Methods</text:h>'
    "<text:p>Traps were set<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    "<text:p>At dusk.</text:p></text:note-body></text:note> every night.</text:p>"
    "<text:list><text:list-item><text:p>first</text:p></text:list-item><text:list-item>"
    "<text:p>second</text:p></text:list-item></text:list>"
    "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
    "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
)
_PARTS = relations(("r1", "styles", "styles.xml"), ("r2", "footnotes", "footnotes.xml"))
_WORD = docx(_REPORT, _PARTS, word_styles_xml=_STYLES, word_footnotes_xml=_NOTES)

OFFICE: Mapping[str, DocumentCase] = {
    "word_report": DocumentCase("docx", _WORD),
    "word_changes": DocumentCase("docx", docx(_CHANGES)),
    "word_outside_relation": DocumentCase("docx", docx(_PICTURE, _OUTSIDE)),
    "word_without_directory": DocumentCase("docx", _WORD[: _WORD.rindex(b"PK\x01\x02") - 400]),
    "word_declares_entities": DocumentCase(
        "docx",
        archive({"word/document.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}),
    ),
    "slides_read_as_word": DocumentCase("docx", pptx(shape("A title", kind="title"))),
    "old_word": DocumentCase("docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)),
    "not_an_archive": DocumentCase("docx", b"words and nothing else"),
    "zip_bomb": DocumentCase(
        "docx", archive({"word/document.xml": b"<document>" + bytes(70 << 20)})
    ),
    "slides": DocumentCase(
        "pptx",
        pptx(
            shape("Results", kind="title") + shape(_BULLET.format("one"), _BULLET.format("two")),
            shape("Marsh birds", kind="ctrTitle") + shape("A talk of ours", kind="subTitle"),
        ),
    ),
    "slides_without_slides": DocumentCase("pptx", pptx()),
    "open_document": DocumentCase("odt", odt(_ODT)),
    "open_document_repeats": DocumentCase(
        "odt",
        odt(
            '<table:table><table:table-row table:number-rows-repeated="999999999"><table:table-cell'
            ' table:number-columns-repeated="2"><text:p>c</text:p></table:table-cell>'
            "</table:table-row></table:table>"
        ),
    ),
    "book": DocumentCase(
        "epub",
        epub(
            {
                "one": _CHAPTER.format(
                    "<h1>The pond</h1><p>It froze.</p><ul><li>ice<ol><li>thin</li></ol></li></ul>"
                ),
                "two": _CHAPTER.format("<h1>The thaw</h1><p>Water<sub>2</sub> came.</p>"),
            },
            "<dc:title>Winters</dc:title><dc:creator>Ada Example</dc:creator>"
            "<dc:language>en</dc:language>",
        ),
    ),
    "book_malformed_chapter": DocumentCase(
        "epub", epub({"one": "<html><body><p>Unclosed <b>words</p></body></html>"})
    ),
}

_CLASS = "\\documentclass{article}\n"
_PAPER = (
    _CLASS
    + r"""\newcommand{\R}{\mathbb{R}}
\title{Counting Birds}
\author{Jane Doe \and John Roe}
\begin{document}
\maketitle
\begin{abstract}We count. % not this
\end{abstract}
\section{Introduction}\label{sec:intro}
Words---with ``quotes'' and $x \in \R$, after \cite{doe};
see Section~\ref{sec:intro}.\footnote{A note.}
\begin{equation} y = x^2 \end{equation}
\begin{itemize}\item one \item two\end{itemize}
\begin{thebibliography}{9}
\bibitem{doe} J. Doe. \emph{A Title}. Journal 1 (2019). doi:10.5555/abc.
\end{thebibliography}
\end{document}
"""
)
_BIB = "@article{a, author={Doe, Jane and Roe, J.}, title={On {B}irds}, year=2021, doi={10.5555/b}}"

TEX: Mapping[str, DocumentCase] = {
    "paper": DocumentCase("tex", _PAPER.encode()),
    "truncated": DocumentCase("tex", _PAPER.encode()[:420]),
    "latin_1": DocumentCase(
        "tex",
        (_CLASS + "\\usepackage[latin1]{inputenc}\\begin{document}Café\\end{document}").encode(
            "latin-1"
        ),
    ),
    "macro_loop": DocumentCase(
        "tex",
        (_CLASS + "\\def\\a{\\a\\a}\\begin{document}One \\a two\\end{document}").encode(),
    ),
    "deep_groups": DocumentCase(
        "tex",
        (
            _CLASS
            + "\\begin{document}"
            + "\\begin{itemize}\\item " * 400
            + "word"
            + "\\end{itemize}" * 400
            + "\\end{document}"
        ).encode(),
    ),
    "conditions": DocumentCase(
        "tex",
        (
            _CLASS
            + "\\newif\\ifdraft\\begin{document}One \\ifdraft left out\\else kept\\fi{} "
            + "and \\ifnum 1<2 smaller\\fi.\\end{document}"
        ).encode(),
    ),
    "not_latex": DocumentCase("tex", b"%PDF-1.4 nothing of TeX"),
    "e_print": DocumentCase(
        "tar",
        eprint(
            {
                "main.tex": _CLASS
                + "\\title{Split}\\begin{document}\\maketitle\\input{part}\\input{gone}"
                + "\\cite{a}\\bibliography{refs}\\end{document}",
                "part.tex": "\\section{A part}Its words.\n",
                "refs.bib": _BIB,
            }
        ),
    ),
    "e_print_loop": DocumentCase(
        "tar",
        eprint(
            {
                "main.tex": _CLASS + "\\begin{document}Start \\input{a} end\\end{document}",
                "a.tex": "A \\input{b}",
                "b.tex": "B \\input{a}",
            }
        ),
    ),
    "e_print_cut": DocumentCase(
        "tar",
        eprint(
            {"main.tex": _CLASS + "\\begin{document}Whole.\\end{document}", "b.tex": "x" * 4000},
            packed=False,
        )[:3000],
    ),
    "e_print_of_pdf": DocumentCase("tar", eprint({"paper.pdf": b"%PDF-1.5 nothing"})),
}
CASES: Mapping[str, Mapping[str, DocumentCase]] = {"office": OFFICE, "tex": TEX}


def main() -> None:
    """Writes the files, without their expected results."""
    for plugin, cases in CASES.items():
        for name, case in cases.items():
            folder = FIXTURES / plugin / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"document.{case.format}").write_bytes(case.content)
            if case.format != plugin:
                (folder / "format").write_text(f"{case.format}\n", "utf-8")


if __name__ == "__main__":
    main()
