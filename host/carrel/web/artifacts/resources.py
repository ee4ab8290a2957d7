"""Offers large results as the resource template `research://artifact/{id}`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from carrel.errors import CarrelError, UnknownNameError
from carrel.tools.host_resources import HostResources, Kept
from carrel.tools.linked import MEDIA_TYPE
from carrel.tools.naming import HOST
from carrel.tools.resources import Resource, Template
from carrel.web.switched_on import is_on

from .store import ArtifactStore, open_artifacts

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

_log = logging.getLogger(__name__)

PREFIX: Final = "research://artifact/"
TEMPLATE: Final = "research://artifact/{id}"
_TEXT: Final = "A large result, for 30 minutes; id is the SHA-256 of its text. Only your own."


def make_resources(plugins: PluginSet, config: Config) -> ArtifactResources | None:
    """Returns the resources if the toolset is on; see `carrel.tools.feature`."""
    del plugins
    return ArtifactResources(open_artifacts(config)) if is_on(config) else None


class ArtifactResources(HostResources):
    """The large results of one store."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def resources(self) -> Sequence[Resource]:
        """Returns none: a result is announced by its link, and to its principal only."""
        return []

    def templates(self) -> Sequence[Template]:
        """Returns the template."""
        return [Template(TEMPLATE, "artifact", "Large result", _TEXT, MEDIA_TYPE, HOST)]

    def has(self, uri: str) -> bool:
        """Returns whether a URI has the form of one."""
        return uri.startswith(PREFIX)

    def read(self, uri: str) -> str:
        """Returns the text of a result.

        Raises:
            UnknownNameError: there is none: it has expired, or another principal has made it.
            CarrelError: the store cannot be used.
        """
        body = self._artifacts.get(uri.removeprefix(PREFIX))
        if body is None:
            raise UnknownNameError("resource", uri)
        return body.decode()

    def keep(self, body: bytes) -> Kept | None:
        """Keeps the text of a large result; None if the store cannot be used."""
        try:
            id_, until = self._artifacts.put(body)
        except CarrelError as error:
            _log.warning("a large result is returned inline: %s", error.message)
            return None
        return Kept(PREFIX + id_, until)

    def close(self) -> None:
        """Closes the store."""
        self._artifacts.close()
