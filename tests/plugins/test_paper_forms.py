"""The same paper read in each form that it comes in: sections and words of the Markdown agree."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.config import Config
from support.paper_forms import MADE, PAIRS, as_html, compare, programs, source, typeset

#: Share of the words of one form that the other has.
AGREE = 0.97
#: A PDF has the words of its formulas too, which the other forms have as TeX.
WITH_FORMULAS = 0.90
MISSING = programs()
#: Sample documents as LaTeX, and as the HTML that LaTeXML made of them.
SAMPLES = ("documents-sample2e", "documents-small2e", "basic-headings", "packages-report.cls")


@pytest.fixture(scope="module")
def library(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Carrel]:
    data = tmp_path_factory.mktemp("data")
    with Carrel(Config(cache_dir=code_folder, data_dir=data)) as opened:
        yield opened


@pytest.mark.parametrize("name", PAIRS)
def test_a_paper_agrees_as_pdf_and_as_tei(library: Carrel, corpus: Path, name: str) -> None:
    """The TEI was made of the PDF by a program: it cuts words at the ends of lines, joins headings
    ("2 Model 2.1 Overview"), and takes words at the beginning of a paragraph for one.
    """
    folder = corpus / "pdf" / "scholarly"
    pdf = library.read(folder / f"{name}.pdf").text
    tei = library.read(folder / f"{name}.tei.xml").text
    found = compare(tei, pdf)
    assert found.first_in_second >= AGREE
    assert found.second_in_first >= AGREE - 0.02
    assert len(found.headings_missing) <= 3, found.headings_missing


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_agrees_as_latex_and_as_latexml_html(
    library: Carrel, corpus: Path, name: str
) -> None:
    folder = corpus / "tex" / "engrafo"
    made = next(folder.glob(f"tests-integration-output-{name}.tex-index.html*")).read_bytes()
    page = library.read(gzip.decompress(made) if made.startswith(b"\x1f\x8b") else made).text
    latex = library.read(folder / f"tests-integration-{name}.tex").text
    found = compare(latex, page)
    assert min(found.first_in_second, found.second_in_first) >= AGREE
    assert found.headings_missing == []


@pytest.mark.long("corpus")
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("name", MADE)
def test_a_paper_agrees_as_latex_and_as_latexml_html(
    library: Carrel, corpus: Path, tmp_path: Path, name: str
) -> None:
    page = as_html(corpus, name, tmp_path)
    if page is None:
        pytest.skip("LaTeXML makes no HTML of it within a quarter of an hour")
    found = compare(library.read(source(corpus, name)).text, library.read(page).text)
    assert min(found.first_in_second, found.second_in_first) >= AGREE
    assert found.headings_missing == []


@pytest.mark.long("corpus")
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("name", MADE)
def test_a_paper_agrees_as_latex_and_as_pdf(
    library: Carrel, corpus: Path, tmp_path: Path, name: str
) -> None:
    pdf = typeset(corpus, name, tmp_path)
    if pdf is None:
        pytest.skip("pdfTeX lacks a class or font of it")
    found = compare(library.read(source(corpus, name)).text, library.read(pdf).text)
    shares = (found.first_in_second, found.second_in_first)
    # The PDF has formulas as words, and lacks captions where pdfTeX has no picture to place.
    assert max(shares) >= AGREE
    assert min(shares) >= WITH_FORMULAS
    assert len(found.headings_missing) <= 3, found.headings_missing
