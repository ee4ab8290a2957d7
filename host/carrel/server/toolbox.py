"""What the server needs of the layer below: tools, results, and a toolbox that runs them.

These are protocols, so that neither side imports the other; `carrel.tools.toolbox` has the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from carrel.exchange import Call, ProgressHandler


class Tool(Protocol):
    """A tool as a client sees it."""

    @property
    def name(self) -> str:
        """What clients call it by."""
        ...

    @property
    def title(self) -> str | None:
        """A name for people."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model that chooses."""
        ...

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        ...

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result; None when there is none."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        ...

    @property
    def destructive(self) -> bool:
        """Whether it may destroy something."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether a second call with the same arguments adds nothing."""
        ...

    @property
    def open_world(self) -> bool:
        """Whether results hold content from outside; such results are labelled."""
        ...

    @property
    def hints(self) -> Mapping[str, bool | str] | None:
        """The only annotations to list, by MCP's names; None lists what the four above say."""
        ...

    @property
    def plugin(self) -> str:
        """The plugin it belongs to."""
        ...


class Resource(Protocol):
    """A document that a plugin offers by URI."""

    @property
    def uri(self) -> str:
        """What it is read by."""
        ...

    @property
    def name(self) -> str:
        """A short name."""
        ...

    @property
    def title(self) -> str | None:
        """A name for people."""
        ...

    @property
    def description(self) -> str:
        """What it holds."""
        ...

    @property
    def mime_type(self) -> str | None:
        """What it is, when that is known."""
        ...

    @property
    def size(self) -> int | None:
        """In bytes, when that is known."""
        ...


class Result(Protocol):
    """What a call gave, checked against the tool's output schema."""

    @property
    def text(self) -> str:
        """The JSON text as the component returned it: strict JSON, no NaN, no half surrogates."""
        ...

    @property
    def utf8(self) -> bytes:
        """The same in UTF-8."""
        ...

    @property
    def data(self) -> dict[str, Any]:
        """The same, decoded."""
        ...

    @property
    def content(self) -> tuple[dict[str, Any], ...] | None:
        """MCP's content blocks, or a document's contents, where the plugin wrote them itself."""
        ...

    @property
    def structured(self) -> bool:
        """Whether `data` is structured content."""
        ...


class Template(Protocol):
    """A family of documents that a plugin offers by URI."""

    @property
    def uri_template(self) -> str:
        """RFC 6570."""
        ...

    @property
    def name(self) -> str:
        """A short name."""
        ...

    @property
    def title(self) -> str | None:
        """A name for people."""
        ...

    @property
    def description(self) -> str:
        """What the documents hold."""
        ...

    @property
    def mime_type(self) -> str | None:
        """What they are, when that is known."""
        ...


class PromptArgument(Protocol):
    """A text that a prompt is filled in with."""

    @property
    def name(self) -> str:
        """What it is given by."""
        ...

    @property
    def title(self) -> str | None:
        """A name for people."""
        ...

    @property
    def description(self) -> str:
        """What it means."""
        ...

    @property
    def required(self) -> bool:
        """Whether the prompt cannot do without."""
        ...


class PromptSpec(Protocol):
    """A prompt as its plugin lists it."""

    @property
    def title(self) -> str | None:
        """A name for people."""
        ...

    @property
    def description(self) -> str:
        """What it is for."""
        ...

    @property
    def arguments(self) -> Sequence[PromptArgument]:
        """What it is filled in with."""
        ...


class Prompt(Protocol):
    """A prompt that a plugin offers."""

    @property
    def name(self) -> str:
        """What clients get it by."""
        ...

    @property
    def spec(self) -> PromptSpec:
        """The rest of it."""
        ...


class Offers(Protocol):
    """What some plugins have beyond tools and documents. Listing is cheap."""

    @property
    def completes(self) -> bool:
        """Whether any plugin completes arguments."""
        ...

    def templates(self) -> Sequence[Template]:
        """The resource templates."""
        ...

    def prompts(self) -> Sequence[Prompt]:
        """The prompts."""
        ...

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None,
        *,
        call_started: Callable[[Call], None] | None = None,
    ) -> dict[str, Any]:
        """A prompt filled in, as MCP's result. Raises as `Toolbox.read_resource` does."""
        ...

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: Mapping[str, str],
        known: Mapping[str, str],
        *,
        call_started: Callable[[Call], None] | None = None,
    ) -> dict[str, Any]:
        """Values for an argument, as MCP's completion. Raises as `Toolbox.read_resource` does."""
        ...


class Started(Protocol):
    """A call that runs."""

    @property
    def call(self) -> Call:
        """To cancel it by."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether the call has ended."""
        ...

    def when_done(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once the call has ended, in whatever thread it ran in, or at once."""
        ...

    def result(self) -> Result:
        """What the call gave; waits for it.

        Raises:
            CarrelError: any failure that a client can be told of.
        """
        ...


class Toolbox(Protocol):
    """Everything on offer, and the way to call it."""

    def tools(self) -> Sequence[Tool]:
        """The tools, always in the same order; cheap, because it runs on the event loop."""
        ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        call_started: Callable[[Call], None] | None = None,
    ) -> Result:
        """Runs a tool. Cancelling the awaiting task cancels the call.

        Args:
            name: of the tool.
            arguments: as the client sent them, unchecked; None when it sent none.
            on_progress: may be called from any thread.
            call_started: is given the call as soon as there is one, so that it can be cancelled.

        Raises:
            UnknownNameError: no such tool.
            CarrelError: any other failure that a client can be told of.
        """
        ...

    def start(self, name: str, arguments: Mapping[str, Any] | None) -> Started | None:
        """Starts a tool without waiting; None for one that needs `call`.

        Raises:
            UnknownNameError: no such tool.
            CarrelError: the arguments are refused.
        """
        ...

    def resources(self) -> Sequence[Resource]:
        """The documents that plugins offer by URI and that can be read; may take a while."""
        ...

    async def read_resource(
        self, uri: str, *, call_started: Callable[[Call], None] | None = None
    ) -> Result:
        """Reads a document. Cancelling the awaiting task cancels the call.

        Raises:
            UnknownNameError: there is none.
            CarrelError: any other failure that a client can be told of.
        """
        ...

    @property
    def offers(self) -> Offers:
        """Prompts, resource templates and completion."""
        ...

    def on_list_changed(self, listener: Callable[[str], None]) -> None:
        """Calls `listener` with `tools`, `prompts` or `resources`, from any thread."""
        ...

    def on_resource_updated(self, listener: Callable[[str], None]) -> None:
        """Calls `listener` with the URI of a document that has changed, from any thread."""
        ...

    def health(self) -> dict[str, Any]:
        """The state of plugins and stores as JSON, nothing secret; may touch the disk."""
        ...

    def close(self) -> None:
        """Lets go of everything; running calls are over by then."""
        ...


class Renewal(Protocol):
    """Where a server's next toolbox comes from when the configuration changes."""

    def files(self) -> Sequence[Path]:
        """The files whose content is watched; none of them need exist."""
        ...

    def renew(self, toolbox: Toolbox) -> Toolbox:
        """A toolbox of the configuration as it is now, to take the place of `toolbox`.

        Raises:
            CarrelError: the configuration cannot be used.
        """
        ...

    def listen(self, wanted: Callable[[], None]) -> None:
        """Has `wanted` called, from any thread, when a renewal would bring something new."""
        ...
