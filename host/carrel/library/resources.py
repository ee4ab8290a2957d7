"""The resources of the library: all references, one reference, the citation styles.

`library://references` is the library as CSL-JSON, `library://reference/{id}` one reference by key
or uuid, `library://styles` what `library_cite` takes as style. Clients are notified when the
file changes, whichever program changed it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from carrel.errors import UnknownNameError
from carrel.tools.host_resources import HostResources, ListChanged, Updated
from carrel.tools.naming import HOST
from carrel.tools.resources import Resource, Template

from .errors import LibraryError
from .items import described
from .shared import SharedLibrary, shared_library

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

    from .answers import LibraryChanges

REFERENCES: Final = "library://references"
STYLES: Final = "library://styles"
REFERENCE: Final = "library://reference/"
TEMPLATE: Final = "library://reference/{id}"
#: References that the list of resources has, the last changed first.
LISTED: Final = 200
_JSON: Final = "application/json"


def make_resources(plugins: PluginSet, config: Config) -> LibraryResources | None:
    """Returns the resources if a library is set; see `carrel.tools.feature`."""
    if config.library.file is None:
        return None
    return LibraryResources(shared_library(plugins, config), config)


class LibraryResources(HostResources):
    """The resources of one library.

    Args:
        shared: the library.
        config: the default style.
    """

    def __init__(self, shared: SharedLibrary, config: Config) -> None:
        self._shared = shared
        self._config = config
        self._lock = threading.Lock()
        self._unsubscribe: Callable[[], None] | None = None

    def resources(self) -> Sequence[Resource]:
        """Returns the two lists, and the references that were changed last."""
        found = [
            Resource(REFERENCES, "references", None, "All references, as CSL-JSON.", HOST, _JSON),
            Resource(STYLES, "styles", None, "The citation styles.", HOST, _JSON),
        ]
        try:
            page = self._shared().list(limit=LISTED)
        except LibraryError:  # reading a resource reports it
            return found
        return found + [
            Resource(uri_of(str(item["id"])), str(item["id"]), None, described(item), HOST, _JSON)
            for item in page.items
        ]

    def templates(self) -> Sequence[Template]:
        """Returns the template of a reference."""
        text = "One reference by its key or uuid, as CSL-JSON."
        return [Template(TEMPLATE, "reference", None, text, _JSON, HOST)]

    def has(self, uri: str) -> bool:
        """Returns whether a URI is one of the library's."""
        return uri in {REFERENCES, STYLES} or (uri.startswith(REFERENCE) and uri != REFERENCE)

    def read(self, uri: str) -> str:
        """Returns the JSON of a resource.

        Raises:
            UnknownNameError: no such reference.
            LibraryError: the library cannot be read.
        """
        if uri == STYLES:
            return _text(self._styles())
        if uri == REFERENCES:
            return _text(list(self._shared().items()))
        try:
            return _text(self._shared().get(unquote(uri.removeprefix(REFERENCE))))
        except LibraryError as error:
            if error.library_code != "NOT_FOUND":
                raise
            raise UnknownNameError("resource", uri, known=[]) from None

    def _styles(self) -> dict[str, Any]:
        from carrel.citations.styles import list_styles

        styles = [
            {"name": style.name, "title": style.title, "citation_format": style.citation_format}
            for style in list_styles()
        ]
        return {
            "builtin": [style["name"] for style in styles],
            "default": self._config.library.style,
            "styles": styles,
        }

    def listen(self, list_changed: ListChanged, updated: Updated) -> None:
        """Watches the library from now on."""

        def changed(changes: LibraryChanges) -> None:
            if changes.added or changes.removed:
                list_changed()
            updated(REFERENCES)
            for id in (*changes.changed, *changes.removed, *changes.added):  # noqa: A001
                updated(uri_of(id))

        try:
            unsubscribe = self._shared().subscribe(changed)
        except LibraryError:
            return  # it cannot be read; the next toolbox tries again
        with self._lock:
            self._unsubscribe = unsubscribe

    def close(self) -> None:
        """Stops watching, and closes the library."""
        with self._lock:
            unsubscribe, self._unsubscribe = self._unsubscribe, None
        if unsubscribe is not None:
            unsubscribe()
        self._shared.close()


def uri_of(id: str) -> str:  # noqa: A002
    """Returns the URI of a reference."""
    return REFERENCE + quote(id, safe="-._~:@!$&'()*+,;=")


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
