"""Names the tools, prompts and resources of plugins for clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import Manifest

#: Used in place of a plugin's name for what the host itself offers.
HOST: Final = "carrel"


class Naming:
    """Carrel's own names: `<namespace>_<name>`; URIs are unchanged. Subclasses have others."""

    def tool(self, _plugin: str, manifest: Manifest, own: str) -> str:
        """Returns the name of a tool.

        Args:
            _plugin: the plugin's name in the configuration.
            manifest: the plugin's.
            own: the tool's name in the manifest.
        """
        return manifest.client_name(own)

    def prompt(self, _plugin: str, manifest: Manifest, own: str) -> str:
        """Returns the name of a prompt; the arguments are as for `tool`."""
        return f"{manifest.namespace}_{own}"

    def uri(self, _plugin: str, own: str) -> str:
        """Returns the URI of a resource, or its URI template.

        Args:
            _plugin: the plugin's name in the configuration.
            own: as the plugin has it.
        """
        return own
