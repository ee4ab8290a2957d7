"""Finds copies of a paper's text: those that plugins with the role `full_text` name, and the stored
PDF.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from carrel.errors import CarrelError
from carrel.papers.resolve.full_texts import ROLE, ask_full_texts
from carrel.plugins.roles import FullTextCopy, RoleSource, role_sources

from .forms import FORMS, STORE

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.store import PaperStore
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

    from .trace import Trace

#: Copies of one source that are tried.
_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class PaperCopy:
    """A copy of a paper's text.

    Attributes:
        source: the plugin that names it, or `store`.
        form: one of `FORMS`.
        url: where it is; the address that a stored PDF came from, if the store knows it.
        path: of a stored PDF; None for other copies.
        version: such as `publishedVersion`, as the source says.
        license: as the source says.
        landing_url: the page about it.
    """

    source: str
    form: str
    url: str | None = None
    path: Path | None = None
    version: str | None = None
    license: str | None = None
    landing_url: str | None = None


def offered_copies(
    plugins: PluginSet,
    config: Config,
    identifiers: Sequence[Id],
    trace: Trace,
    call: Call,
    *,
    form: str | None = None,
) -> list[PaperCopy]:
    """Asks every plugin with the role that knows an identifier; returns its copies, unordered.

    A reference to one version of an e-print is asked only of sources of e-prints, because what
    others have is another version.

    Args:
        plugins: of the configuration.
        config: the operator's.
        identifiers: of the paper; the requested one first.
        trace: receives the outcome of each source.
        call: of the reading.
        form: the only form to ask for.

    Raises:
        Cancelled: the call was cancelled.
    """
    sources, notices = role_sources(plugins, config, ROLE)
    for notice in notices:
        trace.add("plugins", "not_consulted_disabled", notice)
    version = identifiers[0] if identifiers and identifiers[0].is_version else None
    targets: list[tuple[RoleSource, Id]] = []
    for source in sources:
        identifier = _identifier_for(source, identifiers, version)
        if identifier is not None:
            targets.append((source, identifier))
        else:
            detail = f"has other versions than {version}" if version is not None else None
            trace.add(source.name, "not_consulted_not_applicable", detail)
    copies: list[PaperCopy] = []
    for source, named in ask_full_texts(plugins, targets, call):
        if isinstance(named, CarrelError):
            trace.add_failure(source.name, named)
        else:
            copies += _copies_to_try(source.name, named, trace, form)
    return copies


def _identifier_for(source: RoleSource, identifiers: Sequence[Id], version: Id | None) -> Id | None:
    """Returns the identifier to ask a source for; None if it knows none of them."""
    if version is not None:
        return version if version.type in source.spec.identifiers else None
    return source.identifier_among(identifiers)


def _copies_to_try(
    source: str, named: Iterable[FullTextCopy], trace: Trace, form: str | None
) -> list[PaperCopy]:
    """Returns the copies to try: of the requested form, and not too many of one source."""
    fitting = ordered(
        PaperCopy(
            source,
            copy.format,
            copy.url,
            version=copy.version,
            license=copy.license,
            landing_url=copy.landing_url,
        )
        for copy in named
        if form in (None, copy.format)
    )
    if not fitting:
        what = "no full text" if form is None else f"no full text as {form}"
        trace.add(source, "consulted_no_record", what)
    if len(fitting) > _MOST:
        detail = f"{len(fitting) - _MOST:,} more copies were not tried; {_MOST} of a source are"
        trace.add(source, "not_consulted_not_needed", detail)
    return fitting[:_MOST]


def stored_copy(store: PaperStore, identifiers: Sequence[Id]) -> PaperCopy | None:
    """Returns the stored PDF of a paper; None if there is none.

    For one version of an e-print only the PDF of that version.

    Raises:
        PaperError: `STORE_ERROR`; the store cannot be read.
    """
    version = identifiers[0] if identifiers and identifiers[0].is_version else None
    for identifier in identifiers if version is None else [version]:
        find = store.find if identifier is version else store.find_any_version
        found = find(identifier)
        path = None if found is None else store.pdf_path(found.key)
        if found is None or path is None:
            continue
        fetched, own = found.entry.fetched, found.entry.own
        return PaperCopy(
            STORE,
            "pdf",
            url=_text(own.get("copy_url")),
            path=path,
            version=_text(own.get("version")),
            license=_text(fetched.get("license")),
        )
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def ordered(copies: Iterable[PaperCopy]) -> list[PaperCopy]:
    """Returns copies in the order in which they are tried.

    By form, a stored PDF before others, and then as the sources are configured and order theirs.
    """
    return sorted(copies, key=lambda copy: (FORMS.index(copy.form), copy.path is None))
