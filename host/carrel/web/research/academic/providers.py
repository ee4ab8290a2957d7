"""Names who answers a search for papers, and which papers are of a publisher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.records import Work

#: Provider → the built-in plugin that asks it; the others keep their names.
PLUGINS: Final[Mapping[str, str]] = {
    "openalex": "openalex",
    "crossref": "crossref",
    "pubmed": "eutils",
    "semanticscholar": "semanticscholar",
    "arxiv": "arxiv",
    "europepmc": "europepmc",
    "datacite": "datacite",
    "doaj": "doaj",
}
#: Providers that other servers have and for which there is no plugin.
WITHOUT_PLUGIN: Final = ("core", "scholarapi")
SOURCES: Final = ("all", "arxiv", "pubmed", "ieee", "nature", "springer")
#: Source → the plugins that have it; those of publishers are filtered from all.
_REGISTRIES: Final[Mapping[str, tuple[str, ...]]] = {
    "arxiv": ("arxiv",),
    "pubmed": ("eutils",),
}
#: Publisher → prefixes of its DOIs, https://www.doi.org/the-identifier/resources/handbook.
_PREFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "ieee": ("10.1109/",),
    "nature": ("10.1038/",),
    "springer": ("10.1007/", "10.1186/", "10.1140/", "10.1057/", "10.1023/"),
}
#: Source → the site where its papers are.
_SITES: Final[Mapping[str, str]] = {
    "arxiv": "arxiv.org",
    "pubmed": "pubmed.ncbi.nlm.nih.gov",
    "ieee": "ieeexplore.ieee.org",
    "nature": "nature.com",
    "springer": "link.springer.com",
}


def provider_of(plugin: str) -> str:
    """Returns the provider's name for a plugin."""
    return next((name for name, candidate in PLUGINS.items() if candidate == plugin), plugin)


def plugins_of(source: str) -> tuple[str, ...] | None:
    """Returns the plugins to ask for a source; None for all."""
    return _REGISTRIES.get(source)


def site_of(source: str) -> str | None:
    """Returns the site of a source; None for all."""
    return _SITES.get(source)


def is_of(source: str, work: Work) -> bool:
    """Returns whether a work is of a source."""
    if source == "arxiv":
        return work.ids.arxiv is not None
    if source == "pubmed":
        return work.ids.pmid is not None or work.ids.pmcid is not None
    prefixes = _PREFIXES.get(source)
    if prefixes is None:
        return True
    doi = (work.ids.doi or "").lower()
    if doi:
        return doi.startswith(prefixes)
    return source in f"{work.publisher or ''} {work.container_title or ''}".lower()
