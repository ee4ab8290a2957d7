"""Reads a bibliography as references that can be resolved.

Of each entry the first identifier of DOI, arXiv, PMID, PMCID is taken; an entry without one becomes
a citation, if it has a title. An entry that cannot be read does not keep the others from being
read; a file that is no text does.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any, Final

from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference

#: Bytes of the largest bibliography.
MAX_BYTES: Final = 16 * 2**20

_BIBTEX = re.compile(r"^\s*@\s*[a-z]+\s*[{(]", re.IGNORECASE | re.MULTILINE)
_RIS = re.compile(r"^\ufeff?\s*TY {2}- ", re.MULTILINE)
_ARXIV = re.compile(r"arxiv[:\s]\s*([a-z-]+/\d{7}|\d{4}\.\d{4,5})(v\d+)?", re.IGNORECASE)
#: LaTeX's escapes in identifiers: `10.5555/a\_b`.
_ESCAPE = re.compile(r"\\([_%&#$~^{}])")


@dataclass(frozen=True, slots=True)
class ListedReference:
    """One entry of a bibliography.

    Attributes:
        label: what names it in the bibliography: a key, or a number.
        reference: to resolve; empty when there is none.
        problem: why there is none.
    """

    label: str
    reference: str = ""
    problem: str = ""


def read_bibliography(data: bytes) -> list[ListedReference]:
    """Returns the references of a bibliography, in its order.

    Raises:
        PaperError: `INVALID_REF`; it is not UTF-8, too large, or no bibliography.
    """
    if len(data) > MAX_BYTES:
        raise PaperError("INVALID_REF", f"the bibliography has more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PaperError(
            "INVALID_REF", f"the bibliography is not UTF-8: byte {error.start} is invalid"
        ) from None
    if text.lstrip()[:1] in {"[", "{"}:
        return list(_read_csl(text))
    if _RIS.search(text):
        return list(_read_ris(text))
    if _BIBTEX.search(text):
        return list(_read_bibtex(text))
    lines = (line.strip() for line in text.splitlines())
    return [
        ListedReference(f"line {number}", line)
        for number, line in enumerate(lines, 1)
        if line and not line.startswith(("#", "%"))
    ]


def _read_csl(text: str) -> Iterator[ListedReference]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PaperError("INVALID_REF", f"the bibliography is not JSON: {error}") from None
    if isinstance(items, dict):
        items = items.get("items", [items])
    if not isinstance(items, list):
        raise PaperError("INVALID_REF", "the bibliography is JSON, but no list of CSL items")
    for number, item in enumerate(items, 1):
        label = f"item {number}"
        if not isinstance(item, dict):
            yield ListedReference(label, problem="it is not an object")
            continue
        known = {str(key).lower(): value for key, value in item.items()}
        authors = [
            str(one.get("family") or one.get("literal") or "")
            for one in known.get("author", ())
            if isinstance(one, dict)
        ] if isinstance(known.get("author"), list) else []  # fmt: skip
        known["author"] = ", ".join(filter(None, authors))
        yield _entry(str(known.get("id") or label), known, _csl_year(known.get("issued")))


def _csl_year(issued: object) -> str:
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    found = re.search(r"\d{4}", json.dumps(parts if parts is not None else issued, default=str))
    return found[0] if found else ""


def _read_ris(text: str) -> Iterator[ListedReference]:
    import rispy

    try:
        records: Iterable[Mapping[str, Any]] = rispy.loads(text, skip_unknown_tags=True)
    except Exception as error:  # noqa: BLE001 - the library raises what it likes for odd files
        raise PaperError("INVALID_REF", f"the bibliography is not RIS: {error}") from None
    for number, record in enumerate(records, 1):
        known = dict(record)
        known["author"] = ", ".join(
            map(str, known.get("authors") or known.get("first_authors") or ())
        )
        known["title"] = known.get("title") or known.get("primary_title")
        note = known.get("notes") or ()
        known["note"] = " ".join(map(str, note)) if isinstance(note, list) else str(note)
        known["url"] = " ".join(map(str, known.get("urls") or ()))
        yield _entry(
            str(known.get("id") or f"record {number}"), known, str(known.get("year") or "")
        )


def _read_bibtex(text: str) -> Iterator[ListedReference]:
    import logging

    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    with redirect_stderr(io.StringIO()):
        library = parse_string(text)
    placed: list[tuple[int, ListedReference]] = []
    for entry in library.entries:
        known = {field.key.lower(): str(field.value) for field in entry.fields}
        if known.get("archiveprefix", known.get("eprinttype", "")).lower() == "arxiv":
            known.setdefault("arxiv", known.get("eprint", ""))
        placed.append((entry.start_line or 0, _entry(entry.key, known, known.get("year", ""))))
    for block in library.failed_blocks:
        label = str(getattr(block.ignore_error_block, "key", "") or f"line {block.start_line}")
        told = getattr(block.error, "abort_reason", "") or str(block.error)
        problem = " ".join(str(told).split())[:200] or "it cannot be read"
        placed.append((block.start_line or 0, ListedReference(label, problem=problem)))
    yield from (one for _, one in sorted(placed, key=lambda pair: pair[0]))


def _entry(label: str, known: Mapping[str, Any], year: str) -> ListedReference:
    for candidate in _identifiers(known):
        try:
            parse_reference(candidate)
        except PaperError:
            continue
        return ListedReference(label, candidate)
    title = _plain(known.get("title"))
    if not title:
        return ListedReference(label, problem="it has neither an identifier nor a title")
    words = (_plain(known.get("author")), f"({year})" if year else "", title)
    return ListedReference(label, ". ".join(filter(None, words)))


def _identifiers(known: Mapping[str, Any]) -> Iterator[str]:
    """Yields what may be an identifier, the preferred kind first."""
    doi = _plain(known.get("doi"))
    if doi:
        yield doi
        yield f"doi:{doi}"
    arxiv = _plain(known.get("arxiv") or known.get("arxiv_id"))
    if arxiv:
        yield arxiv if arxiv.lower().startswith("arxiv") else f"arXiv:{arxiv}"
    for name in ("note", "number", "journal", "container-title", "howpublished", "publisher"):
        found = _ARXIV.search(_plain(known.get(name)))
        if found:
            yield f"arXiv:{found[1]}{found[2] or ''}"
    for name, prefix in (("pmid", "pmid:"), ("pmcid", "")):
        value = _plain(known.get(name))
        if value:
            yield f"{prefix}{value}"
    yield from re.findall(r"https?://\S+", _plain(known.get("url")))


def _plain(value: object) -> str:
    if not isinstance(value, str | int):
        return ""
    text = _ESCAPE.sub(r"\1", str(value))
    return " ".join(text.replace("{", "").replace("}", "").split())
