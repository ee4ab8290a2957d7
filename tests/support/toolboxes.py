"""What the tests of plugins share beyond fixtures."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from carrel.config import PluginConfig
from carrel.tools import Toolbox

from .upstream import Seen

#: Every host that a built-in plugin asks.
HOSTS = (
    "export.arxiv.org",
    "arxiv.org",
    "api.crossref.org",
    "api.openalex.org",
    "api.semanticscholar.org",
    "api.unpaywall.org",
    "eutils.ncbi.nlm.nih.gov",
    "pmc.ncbi.nlm.nih.gov",
)


class MakeToolbox(Protocol):
    """Makes toolboxes with some of the built-in plugins; `changes` are fields of `Config`."""

    def __call__(self, *plugins: str | PluginConfig, keep: bool = False, **changes: Any) -> Toolbox:
        """`keep`: answers are kept in a cache on disk."""


def parameters(seen: Seen) -> dict[str, str]:
    """Returns the parameters of a request, wherever they stand."""
    text = seen.body.decode() if seen.method == "POST" else urlsplit(seen.path).query
    return {key: values[0] for key, values in parse_qs(text).items()}
