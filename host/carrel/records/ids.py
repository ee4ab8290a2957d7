"""Parses identifiers of works into a canonical form.

The rules are those of `carrel_pdk::id` in the guest kit.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, unquote

from carrel.text.printable import printable

Kind = Literal["doi", "arxiv", "pmid", "pmcid", "openalex", "s2", "isbn"]

#: The kinds of identifiers of which a work has its own, in the order in which they are shown. An
#: ISBN is none of them: it names a book, and every chapter has that of its book.
KINDS: Final[tuple[Kind, ...]] = ("doi", "arxiv", "pmid", "pmcid", "openalex", "s2")
#: The kinds by which works are looked up.
LOOKED_UP: Final[tuple[Kind, ...]] = (*KINDS, "isbn")

#: Maximum length of an identifier; longer texts are refused.
MAX_LENGTH: Final = 2048

_EXPECTED: Final = (
    "a DOI such as 10.1000/182, an arXiv id such as 2301.00001 or hep-ex/0307015, a PubMed id such "
    "as 31452104, or a PubMed Central id such as PMC7096803"
)

_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\x00-\x1f\x7f-\x9f]+")
_ARXIV = re.compile(
    r"(?P<base>[0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{4,5}"
    r"|(?P<archive>[A-Za-z](?:[A-Za-z-]{0,18}[A-Za-z])?)(?:\.[A-Za-z]{2})?"
    r"/(?P<number>[0-9]{2}(?:0[1-9]|1[0-2])[0-9]{3}))(?:[vV](?P<version>[1-9][0-9]{0,8}))?"
)
_PMID = re.compile(r"0*([1-9][0-9]{0,7})")
_PMCID = re.compile(r"(?:pmc)0*([1-9][0-9]{0,8})(?:\.[1-9][0-9]{0,3})?", re.IGNORECASE)

_OPENALEX = re.compile(r"[wW]([1-9][0-9]{0,11})")
_S2 = re.compile(r"[0-9a-fA-F]{40}")

_ISBN10 = re.compile(r"[0-9]{9}[0-9X]")
_ISBN13 = re.compile(r"97[89][0-9]{10}")
_ISBN13_WEIGHTS: Final = (1, 3) * 7
_ISBN_PREFIX = re.compile(r"(?:urn:isbn:|isbn(?:-?1[03])?\s*[:=]?)\s*", re.IGNORECASE)
_ISBN_SEPARATORS = re.compile(r"[\s\u2010-\u2013-]")
_ISBN_URL = re.compile(
    r"https?://(?:(?:www\.)?openlibrary\.org/isbn/|(?:[a-z]+\.)?worldcat\.org/isbn/"
    r"|books\.google\.[a-z.]+/books\?(?:[^#]*&)?vid=isbn:?|isbnsearch\.org/isbn/)"
    r"([0-9xX-]{10,17})(?:[/?#&.].*)?",
    re.IGNORECASE,
)

_URL = re.compile(r"https?://([^/?#]+)/([^?#]*)", re.IGNORECASE)
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org", "www.doi.org", "doi.acm.org", "hdl.handle.net"})
_ARXIV_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
_ARXIV_PAGE = re.compile(r"(?:abs|pdf|html|e-print|src|format)/(.+?)/?")
_NCBI = "www.ncbi.nlm.nih.gov"
#: ASCII letters, the only ones that the DOI handbook folds.
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class IdFault(ValueError):
    """The text is not an identifier of a work; the message says what was expected."""

    def __init__(self, text: str, expected: str = _EXPECTED) -> None:
        self.text = text
        super().__init__(f"expected {expected} but found {printable(text, 80)!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Id:
    """An identifier of a work. Two are equal if both name the same item.

    Attributes:
        type: the kind.
        id: canonical: a DOI without resolver and in the case it was given, an arXiv identifier with
            its version if one is meant, digits of a PMID, `PMC` and digits of a PMCID, `W` and
            digits of an OpenAlex identifier, 40 hexadecimal digits of Semantic Scholar's, thirteen
            digits of an ISBN.
    """

    type: Kind
    id: str

    @property
    def folded(self) -> str:
        """Returns the form for comparison and storage: a DOI in lower case, others unchanged."""
        return self.id.translate(_LOWER) if self.type == "doi" else self.id

    @property
    def work(self) -> tuple[Kind, str]:
        """Returns the identifier of the work without a version, because versions of an e-print are
        one work.
        """
        if self.type == "arxiv":
            return self.type, without_version(self.id)
        return self.type, self.folded

    @property
    def is_version(self) -> bool:
        """Whether this names one version of an e-print."""
        return self.type == "arxiv" and without_version(self.id) != self.id

    @property
    def url(self) -> str:
        """Returns the URL of the work's page."""
        if self.type == "doi":
            return "https://doi.org/" + quote(self.id, safe="/:;(),.-_~!$&'*+=@")
        return {
            "arxiv": "https://arxiv.org/abs/",
            "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
            "pmcid": "https://pmc.ncbi.nlm.nih.gov/articles/",
            "openalex": "https://openalex.org/",
            "s2": "https://www.semanticscholar.org/paper/",
            "isbn": "https://openlibrary.org/isbn/",
        }[self.type] + self.id

    def to_json(self) -> dict[str, str]:
        """Returns the form of `contract/v1/lookup.schema.json`."""
        return {"type": self.type, "id": self.id}

    def __str__(self) -> str:
        return self.id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Id):
            return NotImplemented
        return (self.type, self.folded) == (other.type, other.folded)

    def __hash__(self) -> int:
        return hash((self.type, self.folded))


def parse_id(text: str) -> Id:
    """Returns the identifier in `text`, of any kind.

    Accepts bare identifiers, the prefixes `doi:`, `arXiv:`, `PMID:` and `PMCID:`, and URLs of
    resolvers, arXiv, PubMed, PubMed Central, OpenAlex and Semantic Scholar. Digits alone are a
    PMID. arXiv's own DOIs are arXiv identifiers; a subject class (`math.GT/0309136`) and the
    version of a PMCID are dropped, because the registries' records omit them.

    Raises:
        IdFault: the text does not have the form of an identifier. Only a source knows whether the
            work exists.
    """
    if len(text) <= MAX_LENGTH and _is_text(text):
        trimmed = text.strip()
        for read in (_arxiv, _doi, _pmcid, _pmid, _openalex, _s2):
            found = read(trimmed)
            if found is not None:
                return found
    raise IdFault(text)


def parse_isbn(text: str) -> Id:
    """Returns the ISBN in `text`, in thirteen digits.

    Accepts ten or thirteen digits, with or without hyphens, blanks, the prefixes `ISBN` and
    `urn:isbn:`, and URLs of Open Library, WorldCat and Google Books that name one. `parse_id` reads
    no ISBN, because ten digits may be a PMID with leading zeros.

    Raises:
        IdFault: the text is no ISBN, or its check digit is wrong.
    """
    if len(text) <= MAX_LENGTH and _is_text(text):
        found = _ISBN_URL.fullmatch(text.strip())
        bare = found[1] if found else _ISBN_PREFIX.sub("", text.strip())
        digits = _ISBN_SEPARATORS.sub("", bare).upper()
        if _ISBN10.fullmatch(digits) and _weighted(digits, range(10, 0, -1)) % 11 == 0:
            body = f"978{digits[:9]}"
            return Id("isbn", f"{body}{-_weighted(body, _ISBN13_WEIGHTS) % 10}")
        if _ISBN13.fullmatch(digits) and _weighted(digits, _ISBN13_WEIGHTS) % 10 == 0:
            return Id("isbn", digits)
    raise IdFault(text, "an ISBN such as 978-0-306-40615-7, with its check digit")


def _weighted(digits: str, weights: Iterable[int]) -> int:
    """Returns the sum of digits, each times its weight; an X counts as 10."""
    values = (10 if digit == "X" else int(digit) for digit in digits)
    return sum(value * weight for value, weight in zip(values, weights, strict=False))


def _is_text(text: str) -> bool:
    """Returns whether a text has no lone surrogates, as undecodable file names do."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fold_doi(text: str) -> str:
    """Returns a text in lower case if it is a DOI, else unchanged."""
    return text.translate(_LOWER) if _DOI.fullmatch(text) else text


def without_version(arxiv: str) -> str:
    """Returns an arXiv identifier without version and subject class."""
    match = _ARXIV.fullmatch(arxiv)
    return _arxiv_base(match) if match else arxiv


def arxiv_version(arxiv: str) -> int | None:
    """Returns the version that an arXiv identifier names."""
    match = _ARXIV.fullmatch(arxiv)
    return int(match["version"]) if match and match["version"] else None


def _arxiv(text: str) -> Id | None:
    host, path = _url(text)
    if host in _ARXIV_HOSTS:
        page = _ARXIV_PAGE.fullmatch(path)
        bare = page[1].removesuffix(".pdf") if page else ""
    else:
        bare = path if host in _DOI_HOSTS else _without(text, "doi:")
        bare = _without(bare, "10.48550/arxiv.", "arxiv:")
    match = _ARXIV.fullmatch(bare)
    if match is None:
        return None
    version = f"v{match['version']}" if match["version"] else ""
    return Id("arxiv", _arxiv_base(match) + version)


def _arxiv_base(match: re.Match[str]) -> str:
    if match["archive"] is None:
        return match["base"]
    return f"{match['archive'].lower()}/{match['number']}"


def _doi(text: str) -> Id | None:
    host, path = _url(text)
    if host in _DOI_HOSTS:
        bare = _decoded(path)
    elif (short := _without(text, "doi.org/", "dx.doi.org/", "www.doi.org/")) != text:
        bare = _decoded(short)
    else:
        bare = _without(text, "doi:", "info:doi/", "urn:doi:")
    return Id("doi", bare) if _DOI.fullmatch(bare) else None


def _pmcid(text: str) -> Id | None:
    host, path = _url(text)
    bare = _without(text, "pmcid:")
    if host == "pmc.ncbi.nlm.nih.gov":
        bare = _without(path, "articles/").rstrip("/")
    elif host == _NCBI:
        bare = _without(path, "pmc/articles/").rstrip("/")
    match = _PMCID.fullmatch(bare)
    return Id("pmcid", f"PMC{match[1]}") if match else None


def _pmid(text: str) -> Id | None:
    host, path = _url(text)
    bare = _without(text, "pmid:")
    if host == "pubmed.ncbi.nlm.nih.gov":
        bare = path.rstrip("/")
    elif host == _NCBI:
        bare = _without(path, "pubmed/").rstrip("/") if path.startswith("pubmed/") else ""
    match = _PMID.fullmatch(bare)
    return Id("pmid", match[1]) if match else None


def _openalex(text: str) -> Id | None:
    host, path = _url(text)
    bare = _without(text, "openalex:")
    if host in ("openalex.org", "api.openalex.org"):
        bare = _without(path, "works/").rstrip("/")
    match = _OPENALEX.fullmatch(bare)
    return Id("openalex", f"W{match[1]}") if match else None


def _s2(text: str) -> Id | None:
    host, path = _url(text)
    bare = _without(text, "s2:")
    if host in ("www.semanticscholar.org", "semanticscholar.org"):
        # /paper/TITLE/ID, or without the title; the last segment is the identifier.
        bare = path.rstrip("/").rpartition("/")[2] if path.startswith("paper/") else ""
    return Id("s2", bare.lower()) if _S2.fullmatch(bare) else None


def _url(text: str) -> tuple[str, str]:
    """Returns host and path of a URL; two empty strings for anything else."""
    match = _URL.match(text)
    return (match[1].lower(), match[2]) if match else ("", "")


def _without(text: str, *prefixes: str) -> str:
    """Removes the first matching prefix from `text`, ignoring case."""
    for prefix in prefixes:
        if text[: len(prefix)].lower() == prefix:
            return text[len(prefix) :].strip()
    return text


def _decoded(path: str) -> str:
    """Returns a path with its percent-encoding decoded; unchanged if it is not UTF-8."""
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        return path
