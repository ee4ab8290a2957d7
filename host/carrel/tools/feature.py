"""Defines an entry of the table of features: the location of its tools, resources and commands.

A feature is a package with domain code, host tools, host resources and commands, which uses several
plugins or none. `carrel.features` lists all features. Entries name objects by text, so the table
imports nothing; a feature's modules are imported when they are first used.
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
    """An entry of the table.

    Attributes:
        name: of its package.
        tools: a `HostToolMaker` as `MODULE:NAME`; None for a feature without tools.
        resources: a `HostResourceMaker` as `MODULE:NAME`; None for a feature without resources.
        extends: a `HostToolExtender` as `MODULE:NAME`; None for a feature that leaves the tools of
            others as they are.
        commands: name of a command of `carrel` → the command as `MODULE:NAME`.
    """

    name: str
    tools: str | None = None
    commands: Mapping[str, str] = {}
    resources: str | None = None
    extends: str | None = None


class HostToolMaker(Protocol):
    """Makes the tools of a feature for one configuration."""

    def __call__(
        self, plugins: PluginSet, config: Config, manifests: Sequence[Manifest], /
    ) -> Sequence[HostTool]:
        """Returns the tools; none if the feature's requirements are not met.

        Args:
            plugins: the configuration's plugins.
            config: the configuration.
            manifests: of the enabled plugins whose manifests can be read.
        """
        ...


class HostToolExtender(Protocol):
    """Adds something of a feature to tools of other features, such as an argument."""

    def __call__(self, tools: Sequence[HostTool], config: Config, /) -> Sequence[HostTool]:
        """Returns the tools of all features in their order; most of them as they are.

        Args:
            tools: of all features.
            config: the configuration.
        """
        ...
