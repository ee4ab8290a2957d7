"""The base class of resources that the host implements, such as those of the reference library.

Plugins' resources are read in a sandbox; these are read in a thread. A feature names the maker of
its resources in the table of features. Their URIs and names are the same under every surface.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from carrel.errors import CarrelError, InternalError
from carrel.exchange import Call, Limits
from carrel.plugins.calls.result import Result
from carrel.plugins.calls.running_call import RunningCall
from carrel.runtime.pending import Pending

from .naming import HOST
from .resources import RESOURCE, Resource, Template

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

_log = logging.getLogger(__name__)

#: Called from any thread: without arguments for a changed list, with the URI of a changed resource.
ListChanged = Callable[[], None]
Updated = Callable[[str], None]

_JSON: Final = "application/json"


class Kept(NamedTuple):
    """A large result that can be read as a resource.

    Attributes:
        uri: of the resource.
        expires_at: when it is removed, in RFC 3339.
    """

    uri: str
    expires_at: str


class HostResources(ABC):
    """Resources that the host implements; a subclass defines what they are. Thread-safe."""

    @abstractmethod
    def resources(self) -> Sequence[Resource]:
        """Returns the resources; opens nothing."""

    @abstractmethod
    def templates(self) -> Sequence[Template]:
        """Returns the templates; opens nothing."""

    @abstractmethod
    def has(self, uri: str) -> bool:
        """Returns whether a URI is that of a resource, or matches a template; opens nothing."""

    @abstractmethod
    def read(self, uri: str) -> str:
        """Returns the JSON text of a resource that `has` accepts. Runs in a thread.

        Raises:
            UnknownNameError: it matches a template, but there is no such resource.
            CarrelError: it cannot be read.
        """

    def keep(self, body: bytes) -> Kept | None:  # noqa: ARG002
        """Keeps the JSON text of a large result for the current principal.

        Returns None if these resources keep no results, or cannot keep this one.
        """
        return None

    def listen(  # noqa: B027 - some never change
        self, list_changed: ListChanged, updated: Updated
    ) -> None:
        """Starts to report changes; called at most once."""

    def close(self) -> None:  # noqa: B027 - some open nothing
        """Stops reporting changes, and closes what was opened."""

    def start_reading(self, uri: str) -> RunningCall[Result]:
        """Starts to read a resource in a thread."""
        call = Call(HOST, RESOURCE, Limits())
        pending = Pending()

        def work() -> None:
            try:
                pending.settle(self.read(uri).encode("utf-8", "replace"))
            except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                pending.settle(error=error)

        context = contextvars.copy_context()  # so that `read` knows the principal
        threading.Thread(
            target=context.run, args=(work,), name="carrel-resource", daemon=True
        ).start()

        def result(text: bytes) -> Result:
            content = {"uri": uri, "mimeType": _JSON, "text": text.decode()}
            return Result(text, None, (content,), structured=False)

        return RunningCall(call, pending, result, _as_error)


class HostResourceMaker(Protocol):
    """Makes the resources of a feature for one configuration."""

    def __call__(self, plugins: PluginSet, config: Config, /) -> HostResources | None:
        """Returns the resources; None if the feature's requirements are not met."""
        ...


def _as_error(error: Exception, _call: Call) -> CarrelError:
    _log.error("a resource of the host could not be read", exc_info=error)
    return InternalError()
