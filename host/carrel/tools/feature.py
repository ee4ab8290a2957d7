"""What the table of features says of each: where its tools and its commands are.

A feature is a package that answers from several plugins, or from none: its domain code, its host
tools and its commands. `carrel.features` lists all of them. They are named by text, so that the
table costs no import, and a feature's modules are imported when something of it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet

    from .host_tool import HostTool


class Feature(NamedTuple):
    """One line of the table.

    Attributes:
        name: of its package.
        tools: a `HostToolMaker` as `MODULE:NAME`; None for a feature without tools.
        commands: name of a command of `carrel` → the command as `MODULE:NAME`.
    """

    name: str
    tools: str | None = None
    commands: Mapping[str, str] = {}


class HostToolMaker(Protocol):
    """Makes the tools of a feature for one configuration."""

    def __call__(
        self, plugins: PluginSet, config: Config, manifests: Sequence[Manifest], /
    ) -> Sequence[HostTool]:
        """Returns the tools on offer; none where the feature has nothing to work with.

        Args:
            plugins: of the configuration.
            config: what the operator set.
            manifests: of the plugins that are on and can be read.
        """
        ...
