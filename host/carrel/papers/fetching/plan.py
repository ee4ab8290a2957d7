"""Says what a fetch would do, without network, disk and log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.lookup.sources import ready_sources
from carrel.papers.errors import PaperError
from carrel.papers.opening import store_folder
from carrel.papers.references import parse_reference
from carrel.papers.store.paper_store import METADATA
from carrel.papers.store.safekey import safekey
from carrel.plugins.roles import role_sources

from .host_lists import GAP_SECONDS, GLOBAL_PER_SECOND, KEYS, hosts_of
from .mining import INTERFACES, MiningAccess, MiningKey

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

#: The rates of downloads, which no setting changes.
RATE_LIMIT_BUDGET: Final = {
    "global_per_sec": GLOBAL_PER_SECOND,
    "per_source_min_gap_ms": round(GAP_SECONDS * 1000),
}


def dry_run(
    reference: str,
    plugins: PluginSet,
    config: Config,
    accesses: Mapping[MiningKey, MiningAccess] | None,
) -> dict[str, Any]:
    """Returns the members of a dry run's result beside `ok`.

    The hosts are the static lists, so an upper bound: which host has a copy is known only after a
    source was asked.

    Args:
        reference: an identifier; a citation cannot be planned, because it must be searched first.
        plugins: of the configuration.
        config: what the operator set.
        accesses: the interfaces for text mining that may be used; None plans metadata alone.

    Raises:
        PaperError: `INVALID_REF`; it is no identifier.
    """
    try:
        identifier = parse_reference(reference)
    except PaperError as error:
        raise PaperError("INVALID_REF", f"{error.message}; a dry run takes identifiers") from None
    metadata = ready_sources(plugins)
    copies, _ = role_sources(plugins, config, "open_copies")
    pdfs: list[dict[str, Any]] = []
    if accesses is not None:
        pdfs = [{"key": key, "candidate_hosts": list(hosts_of(key, config))} for key in KEYS]
        doi = identifier.id if identifier.type == "doi" else ""
        pdfs += [
            {"key": interface.key, "candidate_hosts": list(interface.hosts)}
            for interface in INTERFACES
            if interface.key in accesses and interface.covers(doi)
        ]
    sources = list(dict.fromkeys([*metadata, *(source.name for source in copies)]))
    folder, key = store_folder(config), safekey(identifier)
    return {
        "dry_run": True,
        "ref": {identifier.type: identifier.id},
        "plan": {
            "metadata_sources": sources,
            "pdf_sources": pdfs,
            "redirect_allowlists_loaded": [*sources, *(pdf["key"] for pdf in pdfs)],
            "candidate_hosts_are_upper_bound": True,
            "target_pdf_path": str(folder / f"{key}.pdf"),
            "target_metadata_path": str(folder / METADATA / f"{key}.toml"),
            "would_append_provenance": True,
        },
        "rate_limit_budget": RATE_LIMIT_BUDGET,
    }
