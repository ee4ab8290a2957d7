"""Tests that captured E-utilities responses are parsed as independent readers parse them.

`plugins/eutils/README.md` lists the accepted differences with their reasons.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from Bio import Entrez, Medline
from Bio.Entrez import Parser

from carrel.api import Carrel
from carrel.config import Config, builtin
from carrel.errors import SourceError
from conftest import CORPUS
from plugins import eutils_oracle as oracle

pytestmark = pytest.mark.long("corpus")

FILES = sorted((CORPUS / "eutils").iterdir()) if CORPUS.is_dir() else []
#: Members that repeat others in another form, and have separate tests.
DERIVED = {"abstract_text", "issued", "authors_complete", "number_of_references"}
_DOCTYPE = re.compile(rb'"http://(www\.ncbi\.nlm\.nih\.gov|dtd\.nlm\.nih\.gov)/')


def format_of(path: Path) -> str:
    """Returns the format of a captured file, by its root element."""
    head = path.read_text("utf-8")[:4000]
    root = re.search(r"<(e[A-Z][A-Za-z]+Result|Pubmed\w+)", head)
    if root is None:
        return "medline"
    return "efetch" if root[1].startswith("Pubmed") else root[1].removesuffix("Result").lower()


def files(*formats: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in FILES if format_of(path) in formats]


@pytest.fixture
def api(config: Config) -> Carrel:
    return Carrel(replace(config, plugins=(builtin("eutils"),)))


def agree(ours: Any, theirs: Any) -> bool:
    """Returns whether both agree; an empty list equals a missing one, a formula equals any
    text.
    """
    if isinstance(theirs, str) and oracle.FORMULA in theirs and isinstance(ours, str):
        parts = [re.escape(part.strip()) for part in theirs.split(oracle.FORMULA)]
        return re.fullmatch(r"\s*.*?\s*".join(parts), ours) is not None
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = {key for one in (ours, theirs) for key in one if one[key] != []}
        return all(agree(ours.get(key, []), theirs.get(key, [])) for key in keys)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    return bool(ours == theirs)


def test_the_captured_answers_are_there(corpus: Path) -> None:
    assert len(list((corpus / "eutils").iterdir())) >= 55
    assert {format_of(path) for path in FILES} == {
        "efetch", "esearch", "esummary", "elink", "einfo", "epost", "espell", "medline",
    }  # fmt: skip


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_captured_answer_is_a_result_or_a_typed_error(api: Carrel, path: Path) -> None:
    document = path.read_text("utf-8")
    reports = re.search(r"<ERROR>\s*[^<\s]", document)
    try:
        result = api.parse("eutils", format_of(path), document)
    except SourceError as error:
        assert reports is not None
        assert error.error_code == "upstream_error"
        return
    assert reports is None
    lists = [value for value in result.values() if isinstance(value, list) and value]
    if not re.search(r"<Count>0</Count>", document[:300]):
        assert lists or result.keys() & {"web_env", "corrected_query"}


@pytest.mark.parametrize("path", files("efetch"))
def test_captured_articles_read_as_lxml_reads_them(api: Carrel, path: Path) -> None:
    expected = oracle.read_efetch(path.read_bytes())
    articles = api.parse("eutils", "efetch", path.read_text("utf-8"))["articles"]
    assert len(articles) == len(expected) > 0
    for ours, theirs in zip(articles, expected, strict=True):
        compared = {key: value for key, value in ours.items() if key not in DERIVED}
        differing = [
            (key, compared.get(key), theirs.get(key))
            for key in {*compared, *theirs}
            if not agree(compared.get(key, []), theirs.get(key, []))
        ]
        assert differing == [], ours.get("pmid")


@pytest.mark.parametrize("path", files("efetch"))
def test_the_joined_abstract_has_every_section_after_its_label(api: Carrel, path: Path) -> None:
    for article in api.parse("eutils", "efetch", path.read_text("utf-8"))["articles"]:
        sections = article.get("abstract_sections", [])
        labelled = [
            f"{one['label'].rstrip(':')}: {one['text']}"
            if one.get("label", "UNLABELLED") != "UNLABELLED"
            else one["text"]
            for one in sections
        ]
        assert article.get("abstract_text", "") == " ".join(labelled)


def _biopython(path: Path) -> Any:
    """Returns Biopython's result; None if it does not support the document."""
    document = _DOCTYPE.sub(rb'"https://\1/', path.read_bytes())
    try:
        return Entrez.read(io.BytesIO(document), validate=False)  # type: ignore[no-untyped-call]
    except (
        Parser.NotXMLError,
        Parser.CorruptedXMLError,
        Parser.ValidationError,
        RuntimeError,
        ValueError,
        OSError,
    ):
        return None


def _plain(text: object) -> str:
    """Returns a text without tags, scripts and spaces, which readers write differently."""
    bare = re.sub(r"</?[a-z]+>", "", str(text))
    digits = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "01234567890123456789-+")
    return re.sub(r"[\s_^{}]", "", bare.translate(digits)).replace("\u2212", "-")


@pytest.mark.parametrize("path", files("efetch"))
def test_captured_articles_read_as_biopython_reads_them(api: Carrel, path: Path) -> None:
    theirs = _biopython(path)
    if theirs is None or "PubmedArticle" not in theirs:
        pytest.skip("Biopython has no definition of this document's type")
    document = path.read_text("utf-8")
    articles = api.parse("eutils", "efetch", document)["articles"]
    articles = [article for article in articles if "book_info" not in article]
    assert len(articles) == len(theirs["PubmedArticle"])
    for ours, record in zip(articles, theirs["PubmedArticle"], strict=True):
        citation = record["MedlineCitation"]
        article = citation["Article"]
        if "PMID" in citation:
            assert ours["pmid"] == str(citation["PMID"])
        assert _plain(ours.get("title", "")) == _plain(article["ArticleTitle"])
        assert ours["journal_info"]["title"] == str(article["Journal"]["Title"]).strip()
        authors = [one for one in article.get("AuthorList", []) if len(one) > 2 or one]
        assert len(ours.get("authors", [])) == len(authors)
        for mine, author in zip(ours.get("authors", []), authors, strict=True):
            if "LastName" in author:
                assert mine["last_name"] == author["LastName"].strip()
            if "CollectiveName" in author:
                assert mine["collective_name"] == " ".join(author["CollectiveName"].split())
            assert len(mine.get("affiliations", [])) == len(author["AffiliationInfo"])
        assert [one["descriptor_name"] for one in ours.get("mesh_terms", [])] == [
            str(one["DescriptorName"]) for one in citation.get("MeshHeadingList", [])
        ]
        assert [
            [qualifier["name"] for qualifier in one.get("qualifiers", [])]
            for one in ours.get("mesh_terms", [])
        ] == [
            [str(qualifier) for qualifier in one["QualifierName"]]
            for one in citation.get("MeshHeadingList", [])
        ]
        assert ours.get("languages", []) == [str(one) for one in article["Language"]]
        assert len(ours.get("grant_list", [])) == len(article.get("GrantList", []))
        assert len(ours.get("comments_corrections", [])) == len(
            citation.get("CommentsCorrectionsList", [])
        )
        if "<math" not in document and ":math" not in document:
            theirs_abstract = article.get("Abstract", {}).get("AbstractText", [])
            mine_abstract = [_plain(one["text"]) for one in ours.get("abstract_sections", [])]
            assert mine_abstract == [_plain(one) for one in theirs_abstract if _plain(one)]


def test_biopython_reads_enough_of_them_to_count(corpus: Path) -> None:
    read = [path for path in FILES if format_of(path) == "efetch" and _biopython(path) is not None]
    assert len(read) >= 20


@pytest.mark.parametrize("path", files("medline"))
def test_captured_medline_texts_read_as_biopython_reads_them(api: Carrel, path: Path) -> None:
    text = path.read_text("utf-8")
    theirs = list(Medline.parse(io.StringIO(text)))  # type: ignore[no-untyped-call]
    ours = api.parse("eutils", "medline", text)["records"]
    assert [one["pmid"] for one in ours] == [one["PMID"] for one in theirs]
    for mine, record in zip(ours, theirs, strict=True):
        for tag, values in mine["fields"].items():
            if tag in record:
                found = record[tag] if isinstance(record[tag], list) else [record[tag]]
                assert _plain("".join(values)) == _plain("".join(found)), tag


def _esearch(ours: dict[str, Any], document: bytes) -> None:
    theirs = oracle.read_esearch(document)
    kept = {key: value for key, value in ours.items() if key != "translations"}
    assert kept == theirs


def _esummary(ours: dict[str, Any], document: bytes) -> None:
    theirs = oracle.read_esummary(document)
    assert len(ours["summaries"]) == len(theirs) > 0
    for mine, expected in zip(ours["summaries"], theirs, strict=True):
        assert {key: mine[key] for key in expected if key in mine} == expected


def _elink(ours: dict[str, Any], document: bytes) -> None:
    found = [
        (one["link_name"], one["from"], [(to["pmid"], to.get("score", -1)) for to in one["to"]])
        for one in ours["links"]
    ]
    assert found == oracle.read_elink(document)


def _einfo(ours: dict[str, Any], document: bytes) -> None:
    theirs = oracle.read_einfo(document)
    if "fields" in theirs:
        ours = {
            **{key: ours[key] for key in ("db_name", "description", "count", "last_update")},
            "fields": [(one["name"], one["full_name"], one["is_date"]) for one in ours["fields"]],
            "links": [(one["name"], one["db_to"]) for one in ours["links"]],
        }
    assert ours == theirs


COMPARISONS: dict[str, Callable[[dict[str, Any], bytes], None]] = {
    "esearch": _esearch,
    "esummary": _esummary,
    "elink": _elink,
    "einfo": _einfo,
}


@pytest.mark.parametrize("path", files(*COMPARISONS))
def test_other_captured_answers_read_as_lxml_reads_them(api: Carrel, path: Path) -> None:
    document = path.read_bytes()
    if b"<ERROR>" in document:
        pytest.skip("a report of an error")
    kind = format_of(path)
    COMPARISONS[kind](api.parse("eutils", kind, document.decode("utf-8")), document)


@pytest.mark.parametrize("path", files("efetch"))
def test_every_captured_article_becomes_a_record_of_the_contract(api: Carrel, path: Path) -> None:
    """The host validates records; this test checks that no article is lost."""
    document = path.read_text("utf-8")
    articles = api.parse("eutils", "efetch", document)["articles"]
    works = api.parse("eutils", "works", document)["works"]
    assert len(works) == len(articles)
    for work, article in zip(works, articles, strict=True):
        assert work["ids"].get("pmid") == article.get("pmid")
        assert work["ids"].get("doi") == article.get("doi")
        assert len(work.get("authors", [])) == len(article.get("authors", []))
        assert work["type"] in {"article-journal", "article", "book", "chapter"}
