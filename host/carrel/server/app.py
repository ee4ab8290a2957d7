"""Handles tools, resources, logging and change notifications; `prompts` handles the rest.

`App` is the SDK's low-level `Server` with handlers and one middleware around them, which keeps
exception texts from clients. One `App` can serve several connections over any transport.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    EmptyResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    SetLevelRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Tool as WireTool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json

from carrel.awaiting import run_in_thread
from carrel.config import ServerConfig
from carrel.errors import BusyError, CarrelError, RequestRefusedError, UnknownNameError
from carrel.files.local_paths import without_paths_inside
from carrel.principal import LOCAL, Principal, acting_as, current_principal
from carrel.text.printable import escaped_json, printable
from carrel.version import __version__

from .announced import announced_schema
from .answers import CONTENT_LABEL, UNTRUSTED, error_object, message_of
from .calls import BUSY, Context, ToolCalls, session_id
from .clientlog import ClientLog
from .clients import Clients
from .fast_path import plain_call
from .instructions import NAMED, instructions
from .listing import ToolLists, only_page
from .prompts import OPENING, PromptHandlers
from .subscriptions import Subscriptions
from .toolbox_loader import ToolboxLoader

if TYPE_CHECKING:
    from carrel.tools import Tool, Toolbox
    from carrel.tools.resources import Resource as PluginResource

    from .identity.allowances import Allowances
    from .request_observer import RequestObserver

logger = logging.getLogger(__name__)

HEALTH_URI: Final = "carrel://health"
_JSON: Final = "application/json"
#: Error code of a missing resource in revisions before 2026-07-28.
_RESOURCE_NOT_FOUND: Final = -32002


class App:
    """The server's side of the protocol.

    Args:
        loader: creates the toolbox when it is first needed.
        settings: the limits.
        raw: whether the transport can write a component's JSON text unchanged.
        is_shared: whether there are several clients. Then log lines that belong to no request are
            not sent, and the number of requests is limited here.
        allowances: the limits of principals; None without identity.

    Attributes:
        sdk: the SDK's server, to be run on a transport.
        calls: the running tool calls.
        handling: the number of requests that run, those of vanished clients included.
        tool_lists: cached responses to `tools/list`.
        last_reload: returns the outcome of the last reload of the configuration.
    """

    def __init__(
        self,
        loader: ToolboxLoader,
        settings: ServerConfig,
        *,
        raw: bool,
        is_shared: bool = False,
        allowances: Allowances | None = None,
    ) -> None:
        self._loader = loader
        self._settings = settings
        self._subscriptions = Subscriptions(512 if is_shared else 64)
        self._clients = Clients()
        self._is_shared = is_shared
        self.handling = 0
        self._observer: RequestObserver | None = None
        self.sdk: Server[Any] = Server(
            "carrel",
            title="Carrel",
            version=__version__,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_subscriptions_listen=self._subscribe,
            get_tool_input_schema=self._input_schema,
        )
        # Registered here because the constructor's keyword warns: logging is deprecated since
        # 2026-07-28, but older clients use it.
        self.sdk.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_level)
        # Replaces the SDK's tracing, which creates an unused span per message.
        self.sdk.middleware[:] = [self._guard]
        self.tool_lists = ToolLists(raw=raw)
        self.calls = ToolCalls(
            loader, settings, self.sdk.server_info, raw=raw, allowances=allowances
        )
        self.prompts = PromptHandlers(
            self.sdk,
            loader,
            self.calls,
            self._clients,
            changed=self.notify_changed,
            updated=self.notify_updated,
        )
        self.sdk.add_request_handler(
            "resources/templates/list", PaginatedRequestParams, self.prompts.list_templates
        )
        self.log = ClientLog(is_shared=is_shared)
        self.last_reload: Callable[[], dict[str, Any] | None] = lambda: None

    def initialization_options(self) -> InitializationOptions:
        """Returns the response to `initialize`."""
        changes = NotificationOptions(
            tools_changed=True, prompts_changed=True, resources_changed=True
        )
        return self.sdk.create_initialization_options(changes)

    async def notify_changed(self, what: str, principal: Principal | None = None) -> None:
        """Notifies clients that the list of `tools`, `resources` or `prompts` has changed.

        Args:
            what: the list.
            principal: whose clients; None for all.
        """
        if what == "tools":
            self.calls.forget_tools()
            self.tool_lists.forget()
        await self._subscriptions.notify_changed(what, principal)
        self._clients.notify_changed(what, principal)

    async def notify_updated(self, uri: str, principal: Principal | None = None) -> None:
        """Notifies the subscribers of a document, of one principal or all, that it has changed."""
        await self._subscriptions.notify_updated(uri, principal)
        self._clients.notify_updated(uri, principal)

    def session_ended(self, id_: str) -> None:
        """Forgets a client whose session has ended."""
        self._clients.forget(id_)
        self.log.forget(id_)

    def plain_revision(self, session: str) -> str | None:
        """Returns the revision of a session whose plain calls need nothing of the SDK.

        None if the session is not initialised, or gets the log lines of its calls.
        """
        return None if self.log.listens(session) else self._clients.revision_of(session)

    def has_header_arguments(self, name: str) -> bool:
        """Returns whether a tool's schema asks for arguments in HTTP headers; true if there is no
        such tool.
        """
        return self.calls.has_header_arguments(name)

    def close_subscriptions(self) -> None:
        """Ends every subscription with its result, so that clients see an orderly end."""
        self._subscriptions.close()

    # Around every handler

    async def _guard(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Handles a request as its principal, and reports it to an operator's view.

        This is the only place that sets the principal of a request that the SDK handles: a
        session's tasks may have the context of another request, whose token had other scopes.
        """
        with acting_as(self._principal_of(ctx)):
            if self._observer is None:
                return await self._handled(ctx, call_next)
            headers = None if ctx.request is None else ctx.request.headers
            with self._observer.request(
                ctx.method,
                ctx.params,
                ctx.request_id,
                session_id(ctx),
                protocol=ctx.protocol_version,
                headers=headers,
            ):
                return await self._handled(ctx, call_next)

    def observe(self, observer: RequestObserver) -> None:
        """Reports requests and calls to an operator's view of this server."""
        self._observer = observer
        self.calls.observer = observer

    def _principal_of(self, ctx: Context) -> Principal:
        """Returns who sends a request.

        Raises:
            MCPError: it is not known, which a transport must prevent.
        """
        if ctx.request is not None:
            found = ctx.request.scope.get("state", {}).get("principal")
        else:
            found = current_principal()
        if isinstance(found, Principal) and not (
            found is LOCAL and self._loader.is_shared_by_principals
        ):
            return found
        logger.error("a request of %.100r has no principal; it is refused", ctx.method)
        raise MCPError(INTERNAL_ERROR, "internal error")

    async def _handled(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Runs tool calls without the SDK's validation where it may be skipped, and replaces
        exceptions by internal errors.
        """
        is_request = ctx.request_id is not None
        if is_request and self._is_shared and self.handling >= self._settings.max_in_flight:
            # Requests whose clients are gone count too, unlike in the transport.
            busy = BusyError(self._settings.max_in_flight)
            raise MCPError(BUSY, busy.message, {"error": busy.to_dict()})
        self.handling += 1
        try:
            if ctx.method == "tools/call":
                call = _call_without_validation(ctx)
                if call is not None:
                    with self.log.request(ctx):
                        return await self.calls.answer(ctx, *call, raw=True)
            if ctx.method == "tools/list" and _is_plain_list(ctx):
                return await self._listed(ctx, call_next)
            with self.log.request(ctx):
                result = await self._opened(ctx, await call_next(ctx))
            if ctx.method == "notifications/initialized" and ctx.request_id is None:
                self._clients.connected(ctx)
                self.log.connected(ctx)
        except (MCPError, ValidationError):
            raise  # these become protocol errors without a text of Carrel or pydantic
        except Exception:
            logger.exception("the handler of %.100r failed", ctx.method)
            raise MCPError(INTERNAL_ERROR, "internal error") from None
        finally:
            self.handling -= 1
        return result

    async def _opened(self, ctx: Context, result: HandlerResult) -> HandlerResult:
        """Returns the response that opens a connection, with instructions about the tools."""
        method = ctx.method
        if method not in OPENING or not isinstance(result, dict):
            return result
        if method == "initialize":
            self._clients.forget(session_id(ctx))  # the revision may be another one now
        toolbox = self._loader.loaded
        if toolbox is None and current_principal() is not LOCAL:
            # What the configuration lets expect is what the server has, not the principal.
            toolbox = await self._toolbox()
        other_tools = (
            [] if toolbox is None else [t.name for t in toolbox.tools() if t.name not in NAMED]
        )
        text = instructions(self._loader.is_offered, other_tools)
        return {**self.prompts.after(method, result), "instructions": text}

    async def _subscribe(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serves a subscription; the acknowledgement names only what this server sends."""
        notifications = params.notifications
        uris = notifications.resource_subscriptions
        if uris:
            visible = await self.prompts.visible(uris) if self.prompts.may_update else None
            notifications = notifications.model_copy(update={"resource_subscriptions": visible})
            params = params.model_copy(update={"notifications": notifications})
        return await self._subscriptions.serve(ctx, params)

    # Tools

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        """Returns a tool's input schema; None before the tools are loaded."""
        toolbox = self._loader.of_server
        tools = () if toolbox is None else toolbox.tools()
        return next((dict(tool.input_schema) for tool in tools if tool.name == name), None)

    async def _toolbox(self) -> Toolbox:
        try:
            return await self._loader.get()
        except CarrelError as error:
            logger.warning("the tools cannot be offered: %s", error)
            raise MCPError(
                INTERNAL_ERROR, printable(message_of(error), 2000), {"error": error_object(error)}
            ) from None

    async def _list_tools(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        only_page(params)
        toolbox = await self._toolbox()
        # In a thread, because shortening schemas takes milliseconds.
        is_compact = self._settings.text == "compact"
        tools = await run_in_thread(
            lambda: [_wire_tool(tool, is_compact=is_compact) for tool in toolbox.tools()]
        )
        return ListToolsResult(tools=tools)

    def known_list(self, revision: str) -> dict[str, Any] | None:
        """Returns the cached response to `tools/list` for a revision, or None."""
        toolbox = self._loader.loaded
        return None if toolbox is None else self.tool_lists.find(toolbox, revision)

    async def _listed(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Returns the response to `tools/list`, created once for each toolbox and revision."""
        toolbox = await self._toolbox()
        revision = ctx.protocol_version
        cached = self.tool_lists.find(toolbox, revision)
        if cached is not None:
            return cached
        with self.log.request(ctx):
            result = await call_next(ctx)
        if isinstance(result, dict) and self._loader.loaded is toolbox:
            return self.tool_lists.keep(toolbox, revision, result)
        return result

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> Any:
        """Runs a tool call that the fast path does not support; the SDK has validated it."""
        return await self.calls.answer(ctx, params.name, params.arguments, raw=False)

    # Resources

    async def _list_resources(
        self, _ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        only_page(params)
        if self._settings.surface is not None:
            toolbox = await self._toolbox()
            found = await run_in_thread(toolbox.resources)
            return ListResourcesResult(resources=[_wire_resource(resource) for resource in found])
        health = Resource(
            uri=HEALTH_URI,
            name="health",
            title="Health",
            description="Versions, plugins loaded and failed, and the state of the stores.",
            mime_type=_JSON,
        )
        try:
            toolbox = await self._loader.get()
        except CarrelError:  # then health is the only resource; it gives the reason
            return ListResourcesResult(resources=[health])
        offered = await run_in_thread(toolbox.resources)
        return ListResourcesResult(
            resources=[health, *(_wire_resource(resource) for resource in offered)]
        )

    async def _read_resource(
        self, ctx: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        if uri == HEALTH_URI and self._settings.surface is None:
            health = without_paths_inside(await self._health())
            text = to_json(health, inf_nan_mode="null", fallback=str).decode()
            contents = TextResourceContents(uri=uri, mime_type=_JSON, text=text)
            return ReadResourceResult(contents=[contents])
        try:
            result = await self.calls.read(uri)
        except UnknownNameError:
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = INVALID_PARAMS if modern else _RESOURCE_NOT_FOUND
            prefix = f"{HEALTH_URI} and " if self._settings.surface is None else ""
            message = f"no such resource; {prefix}those of resources/list exist"
            raise MCPError(code, message, {"uri": uri[:1000]}) from None
        except RequestRefusedError as error:
            raise MCPError(error.rpc_code, printable(message_of(error), 2000)) from None
        except CarrelError as error:
            raise MCPError(
                INTERNAL_ERROR, printable(message_of(error), 2000), {"error": error_object(error)}
            ) from None
        if result.content is not None:
            labelled = [{**item, "_meta": {CONTENT_LABEL: UNTRUSTED}} for item in result.content]
            return ReadResourceResult.model_validate({"contents": labelled})
        contents = TextResourceContents(
            uri=uri,
            mime_type=_JSON,
            text=escaped_json(result.utf8).decode(),
            _meta={CONTENT_LABEL: UNTRUSTED},
        )
        return ReadResourceResult(contents=[contents])

    async def _health(self) -> dict[str, Any]:
        about: dict[str, Any] = {"name": self.sdk.name, "version": self.sdk.version}
        report: dict[str, Any] = {"server": about}
        if current_principal() is LOCAL:  # what others do is none of a principal's business
            about["calls_running"] = self.calls.running
            about["calls_answered"] = self.calls.answered
            reload = self.last_reload()
            if reload is not None:
                report["reload"] = reload
        try:
            toolbox = await self._loader.get()
        except CarrelError as error:
            return {"ok": False, **report, "error": error_object(error)}
        # In a thread, because it reads from disk.
        return {**await run_in_thread(toolbox.health), **report}

    # Logging

    async def _set_level(self, ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
        self.log.set_level(ctx, params.level)
        return EmptyResult()


def _call_without_validation(ctx: Context) -> tuple[str, Mapping[str, Any] | None] | None:
    """Returns name and arguments of a call that the SDK need not validate, else None.

    Such a call is plain but for its `_meta`, on an initialised connection. The SDK's validation
    would walk its arguments twice and its result once.
    """
    params = ctx.params
    if not params or ctx.session.client_capabilities is None:
        return None
    if not isinstance(params.get("_meta", {}), dict) or ("_meta" in params and ctx.meta is None):
        return None
    return plain_call({key: value for key, value in params.items() if key != "_meta"})


def _is_plain_list(ctx: Context) -> bool:
    """Returns whether a request asks for the whole list, on an initialised connection."""
    params = ctx.params or {}
    ready = ctx.session.client_capabilities is not None
    return ready and params.keys() <= {"_meta"} and not ("_meta" in params and ctx.meta is None)


def _wire_resource(resource: PluginResource) -> Resource:
    return Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description or None,
        mime_type=resource.mime_type,
        size=resource.size,
    )


def _wire_tool(tool: Tool, *, is_compact: bool = False) -> WireTool:
    """Returns the tool in MCP's form.

    Args:
        tool: the toolbox's.
        is_compact: whether results are compact text; then tools of components have no structured
            content and no output schema. Modules write their results themselves.
    """
    output = tool.output_schema
    if is_compact and tool.hints is None:
        output = None
    return WireTool(
        name=tool.name,
        title=tool.title,
        description=tool.description or None,
        input_schema=tool.input_schema,
        output_schema=None if output is None else announced_schema(output, tool.input_schema),
        annotations=_annotations(tool),
        _meta={"carrel/plugin": tool.plugin},
    )


def _annotations(tool: Tool) -> ToolAnnotations | None:
    """Returns the annotations of a component's tool, or those that a module gave."""
    if tool.hints is not None:
        return ToolAnnotations.model_validate(tool.hints) if tool.hints else None
    return ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=tool.open_world,
    )
