"""Selects the locale files that the rendering of a style may need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from carrel.errors import ArgumentError

_FOLDER: Final = Path(__file__).parent / "locales"
#: The locale that every other one falls back to.
FALLBACK: Final = "en-US"
_TAG: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def list_locales() -> tuple[str, ...]:
    """Returns the names of all locales, such as `de-DE`."""
    return tuple(sorted(path.stem.removeprefix("locales-") for path in _FOLDER.glob("*.xml")))


def find_locale(name: str) -> str:
    """Returns the locale for a language tag: itself, or the language's main one.

    Args:
        name: such as `de-AT`, `de`, `pt_BR` or `DE-de`.

    Raises:
        ArgumentError: CSL has no locale of that language.
    """
    tag = name.strip().replace("_", "-")
    locales = {locale.lower(): locale for locale in list_locales()}
    exact = locales.get(tag.lower())
    if exact:
        return exact
    main = _primary().get(tag.partition("-")[0].lower()) if _TAG.fullmatch(tag) else None
    if main is None:
        raise ArgumentError([f"no locale {name!r}; there are {', '.join(list_locales())}"])
    return main


def locale_texts(name: str | None) -> Mapping[str, str]:
    """Returns the files for a locale: its own, that of its language, and the fallback.

    Args:
        name: as `find_locale` returns it; a name that CSL does not have has no file.
    """
    names = {FALLBACK}
    if name is not None:
        names |= {name, _primary().get(name.partition("-")[0].lower(), FALLBACK)}
    return {locale: _text(locale) for locale in sorted(names & set(list_locales()))}


@cache
def _text(name: str) -> str:
    return (_FOLDER / f"locales-{name}.xml").read_text("utf-8")


@cache
def _primary() -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads((_FOLDER / "index.json").read_text("utf-8"))["primary"]
    return found
