"""Handles prompts, resource templates and completion.

Only Extism modules have prompts and completion. Plugins are loaded after the first response, so
that response declares both capabilities if some plugin may be a module; the lists may be empty.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    PromptArgument,
    ResourceTemplate,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types import Prompt as WirePrompt

from carrel.awaiting import run_in_thread
from carrel.errors import ArgumentError, CarrelError, UnknownNameError
from carrel.principal import LOCAL, Principal, current_principal
from carrel.text.printable import printable

from .answers import CONTENT_LABEL, UNTRUSTED, error_object, message_of
from .calls import Context, ToolCalls
from .clients import MAX_DOCUMENTS, Clients
from .listing import only_page
from .toolbox_loader import ToolboxLoader

if TYPE_CHECKING:
    from carrel.tools import Toolbox
    from carrel.tools.prompts import Prompt, Prompts
    from carrel.tools.resources import Template

logger = logging.getLogger(__name__)

#: The first protocol revision has no completion capability.
_NO_COMPLETIONS: Final = "2024-11-05"
#: Characters of the longest URI that a client may subscribe to.
_MAX_URI: Final = 4096
#: Methods whose answer opens a connection.
OPENING: Final = frozenset({"initialize", "server/discover"})

Notify = Callable[[str, Principal | None], Awaitable[None]]


class PromptHandlers:
    """The handlers and their capabilities.

    Args:
        sdk: gets the handlers if they may be needed.
        loader: creates the toolbox.
        calls: runs the plugins' calls.
        clients: those that used `initialize`.
        changed: called on the event loop with the name of a list that changed, and the principal
            whose list it is; None for all.
        updated: likewise with the URI of a document that changed.

    Attributes:
        may_update: whether changed documents may be reported, which only modules and the host's own
            resources do. A reload that adds the first of them sets it.
    """

    def __init__(
        self,
        sdk: Server[Any],
        loader: ToolboxLoader,
        calls: ToolCalls,
        clients: Clients,
        *,
        changed: Notify,
        updated: Notify,
    ) -> None:
        self._sdk = sdk
        self._loader = loader
        self._calls = calls
        self._clients = clients
        self._changed = changed
        self._updated = updated
        self.may_update = False
        self._has_modules = False
        self._notifying: set[asyncio.Future[None]] = set()
        loader.on_loaded = self._listen
        self._register()

    def _register(self) -> None:
        """Registers the handlers if some plugin may be a module; they stay registered.

        Documents that can change can be subscribed to in every revision: those before 2026-07-28
        have requests of their own for that.
        """
        add = self._sdk.add_request_handler
        if self._loader.may_offer() and not self._has_modules:
            self._has_modules = True
            add("prompts/list", PaginatedRequestParams, self._list)
            add("prompts/get", GetPromptRequestParams, self._get)
            add("completion/complete", CompleteRequestParams, self._complete)
        if self._has_modules or self._loader.watches():
            self.may_update = True
            add("resources/subscribe", SubscribeRequestParams, self._subscribe)
            add("resources/unsubscribe", UnsubscribeRequestParams, self._clients.unsubscribe)

    def after(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Returns the first response without capabilities that the revision or the plugins lack."""
        capabilities = dict(result["capabilities"])
        if result.get("protocolVersion") == _NO_COMPLETIONS:
            capabilities.pop("completions", None)
        if not self.may_update:
            resources = dict(capabilities["resources"])
            resources.pop("subscribe", None)
            capabilities["resources"] = resources
        if method == "initialize":
            self._clients.declared_prompts = "prompts" in capabilities
            for what in capabilities.keys() & {"tools", "prompts", "resources"}:
                capabilities[what] = {**capabilities[what], "listChanged": True}
        return {**result, "capabilities": capabilities}

    def _listen(self, toolbox: Toolbox, principal: Principal) -> None:
        """Announces changes of each new toolbox, and registers the handlers that it needs.

        What plugins report is of the server's toolbox, and for all. Documents of the host are a
        principal's own; with identity, nobody sees those of the server's toolbox.
        """
        self._register()
        loop = asyncio.get_running_loop()
        if principal is LOCAL:
            toolbox.on_list_changed(lambda what: self._schedule(loop, self._changed, what, None))
            toolbox.on_resource_updated(lambda uri: self._schedule(loop, self._updated, uri, None))
            if self._loader.is_shared_by_principals:
                return
        toolbox.watch_resources(
            lambda: self._schedule(loop, self._changed, "resources", principal),
            lambda uri: self._schedule(loop, self._updated, uri, principal),
        )

    async def _subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        if await self.visible([str(params.uri)]):
            return await self._clients.subscribe(ctx, params)
        raise MCPError(INVALID_PARAMS, "no such resource", {"uri": str(params.uri)[:1000]})

    async def visible(self, uris: Sequence[str]) -> list[str]:
        """Returns the documents whose changes the current principal may be notified of.

        Plugins report changes to the server's toolbox. A principal that may not use all of them is
        notified of documents that its own toolbox has. URIs beyond the limits are left out, because
        they are kept in memory as long as the client wants.
        """
        uris = [uri for uri in uris[:MAX_DOCUMENTS] if len(uri) <= _MAX_URI]
        principal = current_principal()
        if principal.plugins is None and principal.toolsets is None:
            return uris
        with _as_protocol_errors():
            toolbox = await self._loader.get()
        return await run_in_thread(lambda: [uri for uri in uris if toolbox.has_resource(uri)])

    async def list_templates(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """`resources/templates/list`, which is always served."""
        only_page(params)
        try:
            with _as_protocol_errors():
                toolbox = await self._loader.get()
        except MCPError:  # health gives the reason
            return ListResourceTemplatesResult(resource_templates=[])
        templates = [_wire_template(template) for template in toolbox.resource_templates()]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def _list(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        only_page(params)
        prompts = await self._prompts()
        return ListPromptsResult(prompts=[_wire_prompt(prompt) for prompt in prompts.listed()])

    async def _get(self, _ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        with _as_protocol_errors():
            prompt = await self._calls.ask(
                lambda toolbox, started: toolbox.prompts.get_prompt(
                    params.name, params.arguments, call_started=started
                )
            )
        return GetPromptResult.model_validate({**prompt, "_meta": {CONTENT_LABEL: UNTRUSTED}})

    async def _complete(self, _ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        reference = params.ref.model_dump(by_alias=True, exclude_none=True)
        argument = {"name": params.argument.name, "value": params.argument.value}
        resolved = (params.context.arguments if params.context else None) or {}
        with _as_protocol_errors():
            completion = await self._calls.ask(
                lambda toolbox, started: toolbox.prompts.complete(
                    reference, argument, resolved, call_started=started
                )
            )
        return CompleteResult.model_validate({"completion": completion})

    async def _prompts(self) -> Prompts:
        with _as_protocol_errors():
            return (await self._loader.get()).prompts

    def _schedule(
        self,
        loop: asyncio.AbstractEventLoop,
        notify: Notify,
        what: str,
        principal: Principal | None,
    ) -> None:
        """Passes a notification from a worker thread to the event loop."""

        async def run() -> None:
            await notify(what, principal)

        def start() -> None:
            sending = asyncio.ensure_future(run())
            self._notifying.add(sending)
            sending.add_done_callback(self._notifying.discard)

        try:
            loop.call_soon_threadsafe(start)
        except RuntimeError:
            pass  # the event loop has ended


class _as_protocol_errors:  # noqa: N801 - reads as a statement
    """Converts plugin failures to protocol errors, because these requests have no result for
    them.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, CarrelError):
            fault = isinstance(error, UnknownNameError | ArgumentError)
            raise MCPError(
                INVALID_PARAMS if fault else INTERNAL_ERROR,
                printable(message_of(error), 2000),
                {"error": error_object(error)},
            ) from None


def _wire_template(template: Template) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=template.uri_template,
        name=template.name,
        title=template.title,
        description=template.description or None,
        mime_type=template.mime_type,
    )


def _wire_prompt(prompt: Prompt) -> WirePrompt:
    arguments = [
        PromptArgument(
            name=argument.name,
            title=argument.title,
            description=argument.description or None,
            required=argument.required,
        )
        for argument in prompt.spec.arguments
    ]
    return WirePrompt(
        name=prompt.name,
        title=prompt.spec.title,
        description=prompt.spec.description or None,
        arguments=arguments or None,
    )
