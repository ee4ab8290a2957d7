"""The table of features, in the order in which their tools and commands are listed.

A feature imports `carrel.tools` and packages below it, but never `runtime` or `fetch`; only its
`command` module imports `carrel.cli`.
"""

from __future__ import annotations

from typing import Final

from .tools.feature import Feature

FEATURES: Final = (
    Feature("lookup", "carrel.lookup.tool:make_tools", {"lookup": "carrel.lookup.command:lookup"}),
    Feature(
        "documents", "carrel.documents.tool:make_tools", {"read": "carrel.documents.command:read"}
    ),
    Feature("papers", "carrel.papers.tool:make_tools", {"papers": "carrel.papers.command:papers"}),
    Feature(
        "web",
        "carrel.web.tool:make_tools",
        {"web": "carrel.web.command:web"},
        resources="carrel.web.artifacts.resources:make_resources",
        extends="carrel.web.tool:extend_tools",
    ),
    Feature("citations", None, {"cite": "carrel.citations.command:cite"}),
    Feature(
        "library",
        "carrel.library.tool:make_tools",
        {"library": "carrel.library.command:library"},
        resources="carrel.library.resources:make_resources",
    ),
)
