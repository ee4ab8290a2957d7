"""Defines the entry of the paper store: what one metadata file says about one paper.

Names and meanings of the members are those of doiget's store format, version 1.0. What this version
does not know is kept in `others` and written back unchanged.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Self

from carrel.papers.errors import PaperError
from carrel.records import Id, IdFault, parse_id

from .toml_text import toml_text

#: The version that is written, and the newest one that may be written to.
SCHEMA_VERSION: Final = "1.0"

#: Bytes of the largest metadata file that is read.
MAX_BYTES: Final = 4 * 2**20

#: The tables of tools: doiget's, which both programs write, and the one for what it has no name
#: for.
FETCHED, OWN = "doiget", "carrel"

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})")
_YEAR = re.compile(r"(-?\d{1,4})(?:-.*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperEntry:
    """One paper of the store. An unknown member is None or empty.

    Attributes:
        title: empty only if no source knows it.
        authors: names as `Given Family`, in the order of the paper.
        year: of publication. A file without a year says so in `[carrel]` (`year_unknown`).
        type: Crossref's word, such as journal-article.
        pdf_path: the PDF relative to the store's folder; set by the store.
        fetched: the table `[doiget]`: `fetched_at`, `source`, `license`, `size_bytes`,
            `mcp_call_id`, `oa_status`, `tags`, `collections`, `annotation`.
        own: the table `[carrel]`: `pmid`, `pmcid`, `openalex`, `s2`, `sha256`, `copy_url`,
            `version`, `year_unknown`.
        schema_version: of the file; a newer one than `SCHEMA_VERSION` is read and not written.
        others: keys and tables that this version does not know.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    arxiv_categories: tuple[str, ...] = ()
    abstract: str | None = None
    venue: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    keywords: tuple[str, ...] = ()
    type: str | None = None
    publisher: str | None = None
    issn: str | None = None
    isbn: str | None = None
    url: str | None = None
    pdf_path: str | None = None
    fetched: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    schema_version: str = SCHEMA_VERSION
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[Id, ...]:
        """The identifiers of the paper, the DOI first; those that cannot be parsed are left out."""
        own = [self.own.get("pmid"), self.own.get("pmcid")]
        found = []
        for text in (self.doi, self.arxiv_id, *own):
            if isinstance(text, str) and text:
                try:
                    found.append(parse_id(text))
                except IdFault:
                    continue
        return tuple(found)

    @property
    def is_newer(self) -> bool:
        """Whether the file's schema is newer than this version's, so that it is only read."""
        return _version(self.schema_version) > _version(SCHEMA_VERSION)

    def changed(self, **members: Any) -> PaperEntry:
        """Returns the entry with members replaced."""
        return replace(self, **members)

    def to_dict(self) -> dict[str, Any]:
        """Returns the members of the file; without unknown ones."""
        members = dict(self.others)
        for name in RESERVED:
            value = getattr(self, name)
            if value is not None and value != ():
                members[name] = list(value) if isinstance(value, tuple) else value
        members["authors"] = list(self.authors)
        own = dict(self.own)
        if self.year is None:
            own["year_unknown"] = True
        else:
            own.pop("year_unknown", None)
        if self.fetched:
            members[FETCHED] = dict(self.fetched)
        if own:
            members[OWN] = own
        return members

    def to_toml(self) -> str:
        """Returns the metadata file's text, in canonical form."""
        return toml_text(self.to_dict())

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Self:
        """Reads the members of a file, and keeps what it does not know.

        Raises:
            PaperError: `STORE_ERROR`; a required member is missing or of another type.
        """
        missing = [name for name in ("schema_version", "title", "authors") if name not in raw]
        year = _year(raw)
        own = raw.get(OWN, {})
        unknown = isinstance(own, Mapping) and own.get("year_unknown") is True
        if year is None and not unknown:
            missing.append("year")
        if missing:
            raise PaperError("STORE_ERROR", f"the metadata lacks {', '.join(missing)}")
        members: dict[str, Any] = {"others": {}}
        for key, value in raw.items():
            kind = _KINDS.get(key)
            if kind is None:
                members["others"][key] = value
            else:
                member = {FETCHED: "fetched", OWN: "own"}.get(key, key)
                members[member] = _checked(key, value, kind)
        if not _VERSION.fullmatch(members["schema_version"]):
            raise PaperError(
                "STORE_ERROR",
                "schema_version: expected MAJOR.MINOR "
                f"but found {members['schema_version'][:40]!r}",
            )
        return cls(**{**members, "year": year})

    @classmethod
    def from_toml(cls, data: bytes) -> Self:
        """Reads a metadata file.

        Raises:
            PaperError: `STORE_ERROR`; it is not TOML in UTF-8, too large, or lacks a member.
        """
        if len(data) > MAX_BYTES:
            raise PaperError("STORE_ERROR", f"the metadata has more than {MAX_BYTES:,} bytes")
        try:
            raw = tomllib.loads(data.decode("utf-8-sig"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            raise PaperError("STORE_ERROR", f"the metadata is not TOML: {error}") from None
        return cls.from_dict(raw)


#: Reserved names of the file's top level.
RESERVED: Final = tuple(
    member.name for member in fields(PaperEntry) if member.name not in {"fetched", "own", "others"}
)

_LISTS: Final = frozenset({"authors", "arxiv_categories", "keywords"})
#: Key of the file → type of its value.
_KINDS: Final[Mapping[str, type]] = {
    **{name: list if name in _LISTS else str for name in RESERVED},
    "year": int,
    FETCHED: dict,
    OWN: dict,
}
_NAMES: Final[Mapping[type, str]] = {str: "a text", list: "a list of texts", dict: "a table"}


def _version(text: str) -> tuple[int, int]:
    found = _VERSION.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _year(raw: Mapping[str, Any]) -> int | None:
    """Returns the year, which some tools write as a text or as a date."""
    value = raw.get("year")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and (found := _YEAR.fullmatch(value.strip())):
        return int(found[1])
    return None


def _checked(key: str, value: Any, kind: type) -> Any:
    if key == "year":
        return value
    if kind is list and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if kind is not list and isinstance(value, kind):
        return value
    raise PaperError("STORE_ERROR", f"{key}: expected {_NAMES[kind]}")
