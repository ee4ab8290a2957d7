"""Checks the arguments of `web_search`, and brings them into one spelling."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import ArgumentError
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.text.printable import printable

from .addresses import ascii_host
from .schema import DEFAULT_RESULTS, DEFAULT_SAFE, FILTERS, INPUT_SCHEMA, MAX_RESULTS, NAME

if TYPE_CHECKING:
    import jsonschema_rs

#: Part of the cache key; to be changed with the shape of what is cached.
VERSION: Final = 1

_HOST: Final = re.compile(r"(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The checked arguments of one search.

    Attributes:
        arguments: by the names of the input schema, in one spelling; defaults included.
        requested: the number of results that was asked for, if it was clamped.
    """

    arguments: Mapping[str, Any]
    requested: int | None = None

    @property
    def text(self) -> str:
        """The words to search for."""
        return str(self.arguments["query"])

    @property
    def count(self) -> int:
        """Results wanted."""
        return int(self.arguments["num_results"])

    def get(self, name: str) -> str | None:
        """Returns an argument that is text; None if it was not given."""
        value = self.arguments.get(name)
        return None if value is None else str(value)

    @property
    def filters(self) -> dict[str, str]:
        """The filters that may leave results out, with their values."""
        return {name: str(self.arguments[name]) for name in FILTERS if name in self.arguments}

    @property
    def key(self) -> str:
        """The cache key: SHA-256 of the version and of every argument.

        It is made of whatever arguments there are, so that a new one is part of it.
        """
        text = json.dumps([NAME, VERSION, dict(self.arguments)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def read_query(arguments: Mapping[str, Any]) -> SearchQuery:
    """Returns the checked arguments.

    Raises:
        ArgumentError: with every fault.
    """
    provided = {name: value for name, value in arguments.items() if value is not None}
    faults = validation_faults(_validator(), provided)
    if faults:
        raise ArgumentError(faults, tool=NAME)
    texts = {name: _clean(value) for name, value in provided.items() if isinstance(value, str)}
    checked: dict[str, Any] = {"safe": DEFAULT_SAFE, **{key: v for key, v in texts.items() if v}}
    if "query" not in checked:
        raise ArgumentError(["query: expected words"], tool=NAME)
    for name in ("language", "lens", "provider"):
        if name in checked:
            checked[name] = checked[name].lower()
    if "country" in checked:
        checked["country"] = checked["country"].upper()
    if "site" in checked and "lens" in checked:
        faults.append("site, lens: a lens is a list of sites; give one of the two")
    if "site" in checked:
        host = _site(checked["site"])
        if host is None:
            shown = printable(checked["site"], 60)
            faults.append(f"site: expected a host such as example.org but found {shown!r}")
        checked["site"] = host
    if faults:
        raise ArgumentError(faults, tool=NAME)
    requested = int(provided.get("num_results", DEFAULT_RESULTS))
    checked["num_results"] = min(max(requested, 1), MAX_RESULTS)
    return SearchQuery(checked, requested if requested != checked["num_results"] else None)


def _clean(text: str) -> str:
    """Returns a text on one line without hidden characters, and without half characters."""
    whole = text.encode("utf-8", "replace").decode()
    return " ".join(printable(whole, len(whole)).split())


def _site(text: str) -> str | None:
    """Returns the host of a site that was given as one, or as a URL without path."""
    bare = re.sub(r"^(?:https?://|site:)", "", text.strip(), flags=re.IGNORECASE).rstrip("/")
    host = ascii_host(bare.removeprefix("*.").removesuffix("."))
    if host is None or "." not in host or not _HOST.fullmatch(host):
        return None
    return host


@lru_cache(maxsize=1)
def _validator() -> jsonschema_rs.Validator:
    return compile_schema(INPUT_SCHEMA)
