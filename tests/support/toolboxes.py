"""Helpers for tests of plugins."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from carrel.config import PluginConfig
from carrel.tools import Toolbox

from .upstream import Seen

#: All hosts of the built-in plugins.
HOSTS = (
    "export.arxiv.org",
    "arxiv.org",
    "api.crossref.org",
    "api.openalex.org",
    "api.semanticscholar.org",
    "api.unpaywall.org",
    "eutils.ncbi.nlm.nih.gov",
    "pmc.ncbi.nlm.nih.gov",
    "www.ebi.ac.uk",
)


class MakeToolbox(Protocol):
    """Makes toolboxes with some of the built-in plugins; `changes` are fields of `Config`."""

    def __call__(self, *plugins: str | PluginConfig, keep: bool = False, **changes: Any) -> Toolbox:
        """Makes a toolbox; `keep` enables the cache on disk."""


def parameters(seen: Seen) -> dict[str, str]:
    """Returns the parameters of a request, from its query or its body."""
    text = seen.body.decode() if seen.method == "POST" else urlsplit(seen.path).query
    return {key: values[0] for key, values in parse_qs(text).items()}
