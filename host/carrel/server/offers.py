"""Prompts, resource templates and completion: what only some configurations offer.

A capability is advertised when some plugin has it. Plugins are loaded behind the first answer, so
with a plugin that may be an Extism module the first answer waits for them, and with others it does
not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.context import HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    PromptArgument,
    ResourceTemplate,
)
from mcp_types import Prompt as WirePrompt

from carrel.errors import ArgumentError, CarrelError, UnknownNameError
from carrel.printable import printable

from .answers import CONTENT_LABEL, UNTRUSTED
from .calls import Context, ToolCalls
from .listing import only_page
from .loader import ToolboxLoader
from .toolbox import Offers, Prompt, Template

logger = logging.getLogger(__name__)

#: Seconds that the first answer waits for plugins that may have prompts.
_PATIENCE: Final = 10.0
_OPENING: Final = frozenset({"initialize", "server/discover"})
#: The handshake's first revision knows no completion capability.
_NO_COMPLETIONS: Final = "2024-11-05"


class OfferHandlers:
    """The handlers, and the capabilities that go with them.

    Args:
        sdk: gets the handlers once it is known that they are needed.
        loader: gives the toolbox.
        calls: runs what plugins are asked.
        changed: is told which list changed, on the event loop.
    """

    def __init__(
        self,
        sdk: Server[Any],
        loader: ToolboxLoader,
        calls: ToolCalls,
        changed: Callable[[str], Awaitable[None]],
    ) -> None:
        self._sdk = sdk
        self._loader = loader
        self._calls = calls
        self._changed = changed
        self._known = False
        self._telling: set[asyncio.Future[None]] = set()

    async def before(self, method: str) -> None:
        """Learns what is offered before the request that opens a connection is answered."""
        if method not in _OPENING or self._known or not self._loader.may_offer():
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                toolbox = await self._loader.get()
        except TimeoutError:
            logger.warning("plugins are not loaded yet; their prompts are not advertised")
            return
        except CarrelError:
            return  # there is nothing to offer, and the request that needs it says why
        self._known = True
        offers = toolbox.offers
        if offers.prompts():
            self._sdk.add_request_handler("prompts/list", PaginatedRequestParams, self._list)
            self._sdk.add_request_handler("prompts/get", GetPromptRequestParams, self._get)
        if offers.completes:
            self._sdk.add_request_handler(
                "completion/complete", CompleteRequestParams, self._complete
            )
        loop = asyncio.get_running_loop()
        toolbox.on_list_changed(lambda what: self._tell(loop, what))

    def after(self, method: str, result: HandlerResult) -> HandlerResult:
        """The answer to `initialize` with what was learnt; the SDK made it before that."""
        if method != "initialize" or not self._known or not isinstance(result, dict):
            return result
        capabilities = self._sdk.get_capabilities(
            NotificationOptions(tools_changed=True, prompts_changed=True, resources_changed=True)
        ).model_dump(by_alias=True, mode="json", exclude_none=True)
        if result.get("protocolVersion") == _NO_COMPLETIONS:
            capabilities.pop("completions", None)
        return {**result, "capabilities": capabilities}

    async def list_templates(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """`resources/templates/list`, which is always served."""
        only_page(params)
        try:
            offers = await self._offers()
        except MCPError:  # then health says why
            return ListResourceTemplatesResult(resource_templates=[])
        templates = [_wire_template(one) for one in offers.templates()]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def _list(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        only_page(params)
        offers = await self._offers()
        return ListPromptsResult(prompts=[_wire_prompt(one) for one in offers.prompts()])

    async def _get(self, _ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        arguments = params.arguments or {}
        with _as_protocol_errors():
            prompt = await self._calls.ask(
                lambda toolbox, started: toolbox.offers.get_prompt(
                    params.name, arguments, call_started=started
                )
            )
        return GetPromptResult.model_validate({**prompt, "_meta": {CONTENT_LABEL: UNTRUSTED}})

    async def _complete(self, _ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        reference = params.ref.model_dump(by_alias=True, exclude_none=True)
        argument = {"name": params.argument.name, "value": params.argument.value}
        known = (params.context.arguments if params.context else None) or {}
        with _as_protocol_errors():
            completion = await self._calls.ask(
                lambda toolbox, started: toolbox.offers.complete(
                    reference, argument, known, call_started=started
                )
            )
        return CompleteResult.model_validate({"completion": completion})

    async def _offers(self) -> Offers:
        with _as_protocol_errors():
            return (await self._loader.get()).offers

    def _tell(self, loop: asyncio.AbstractEventLoop, what: str) -> None:
        """Takes news from a worker thread to the event loop."""

        def tell() -> None:
            telling = asyncio.ensure_future(self._changed(what))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

        try:
            loop.call_soon_threadsafe(tell)
        except RuntimeError:
            pass  # the loop has ended; nobody listens


class _as_protocol_errors:  # noqa: N801 - reads as a statement
    """Turns failures of plugins into the protocol's errors: these requests have no other."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, CarrelError):
            fault = isinstance(error, UnknownNameError | ArgumentError)
            raise MCPError(
                INVALID_PARAMS if fault else INTERNAL_ERROR,
                printable(error.message, 2000),
                {"error": error.to_dict()},
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
            name=one.name,
            title=one.title,
            description=one.description or None,
            required=one.required,
        )
        for one in prompt.spec.arguments
    ]
    return WirePrompt(
        name=prompt.name,
        title=prompt.spec.title,
        description=prompt.spec.description or None,
        arguments=arguments or None,
    )
