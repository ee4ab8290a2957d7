"""Asks the sources for the works of identifiers and citations, many identifiers at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.bibliography import Item, item_from_work
from carrel.errors import CarrelError, SourceError
from carrel.lookup import Lookup
from carrel.lookup.run import MAX_IDS
from carrel.papers.resolve import PaperResolver
from carrel.papers.resolve.attempts import unresolved
from carrel.records import Id
from carrel.records.ids import without_version

from .people import with_divided_names

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.lookup.result import LookupItem
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import MergedWork


@dataclass(frozen=True, slots=True)
class ResolvedItem:
    """A work of the sources as an item, with the sources that have it."""

    item: Item
    sources: tuple[str, ...]


class WorkFinder:
    """Finds works in all plugins that look up or search works. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._lookup = Lookup(plugins, config)
        self._resolver = PaperResolver(plugins, config)

    def by_identifier(
        self, ids: Sequence[Id], call: Call
    ) -> Mapping[Id, ResolvedItem | CarrelError]:
        """Returns the work of each identifier, or why there is none.

        Raises:
            Cancelled: the call was cancelled.
        """
        found: dict[Id, ResolvedItem | CarrelError] = {}
        distinct = list(dict.fromkeys(ids))
        for start in range(0, len(distinct), MAX_IDS):
            part = distinct[start : start + MAX_IDS]
            result = self._lookup.run([_as_text(identifier) for identifier in part], call)
            for identifier, item in zip(part, result.items, strict=True):
                if item.work is None:
                    found[identifier] = _absent(identifier, item)
                else:
                    found[identifier] = _as_found(result.works[item.work], identifier)
        return found

    def by_citation(self, citation: str, call: Call) -> ResolvedItem:
        """Returns the work that a citation means.

        Raises:
            PaperError: as `PaperResolver.resolve`.
            Cancelled: the call was cancelled.
        """
        resolution = self._resolver.resolve(citation, call)
        return _as_found(resolution.merged, resolution.id)


def _as_text(identifier: Id) -> str:
    """Returns an identifier as text that is read as the same kind."""
    return (
        identifier.id
        if identifier.type in {"doi", "pmcid"}
        else f"{identifier.type}:{identifier.id}"
    )


def _as_found(merged: MergedWork, requested: Id | None) -> ResolvedItem:
    sources = merged.provenance.get("authors", ())
    item = with_divided_names(item_from_work(merged.work), sources)
    del item["id"]  # the library makes a key of author and year
    custom: dict[str, object] = {}
    if merged.work.ids.arxiv is not None:
        custom["arxiv_id"] = without_version(merged.work.ids.arxiv)
        # A preprint without a journal's DOI is cited by the one that arXiv registers for it.
        item.setdefault("DOI", f"10.48550/arXiv.{custom['arxiv_id']}")
        if item.get("container-title") and item.get("archive") == "arXiv":
            # A published article is cited without the archive of its e-print.
            item = {name: value for name, value in item.items() if not name.startswith("archive")}
    if requested is not None and requested.type == "isbn" and not item.get("ISBN"):
        item["ISBN"] = requested.id
    if custom:
        item["custom"] = {**item.get("custom", {}), **custom}
    return ResolvedItem(item, tuple(merged.sources))


def _absent(identifier: Id, item: LookupItem) -> CarrelError:
    if item.outcome == "not_asked":
        return SourceError(
            "not_found",
            f"no plugin that is on looks up {identifier.type} identifiers",
            plugin="",
            tool="library_add",
        )
    return unresolved(f"{identifier.type} {identifier.id}", item)
