"""Calls the tools and resources that a surface lists, by calling Carrel's own."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from carrel.awaiting import run_in_thread
from carrel.errors import ArgumentError, CarrelError, InternalError, UnknownNameError
from carrel.exchange import Call, ProgressHandler
from carrel.plugins.calls.result import LinkOffer, Result
from carrel.plugins.plugin_subset import PluginSubset
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.text.printable import escaped_json, printable_lines
from carrel.tools.arguments import check_arguments
from carrel.tools.naming import HOST
from carrel.tools.resources import Resource
from carrel.tools.tool import Tool, listed_tool
from carrel.tools.toolbox import Owner, Toolbox

from .shape import Blocks, Json, TargetMissingError, Text

if TYPE_CHECKING:
    from jsonschema_rs import Validator

    from carrel.config import Config
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.feature import Feature
    from carrel.tools.prompts import Prompt
    from carrel.tools.resources import Template

    from .surface import Surface, SurfaceResource, SurfaceTool

_log = logging.getLogger(__name__)

Started = Callable[[Call], None]


class SurfaceToolbox(Toolbox):
    """Lists a surface's tools and resources and nothing else.

    A call checks the arguments by the surface's schema, translates them, calls Carrel's tool as any
    client would, and translates the result.

    Args:
        surface: what is listed.
        config: as for `Toolbox`.
        features: likewise.
        plugin_set: likewise.
        on_pulled: likewise.
        is_restricted: whether tools and resources without a target are left out.
    """

    def __init__(
        self,
        surface: Surface,
        config: Config,
        *,
        features: Sequence[Feature] = (),
        plugin_set: PluginSet | None = None,
        on_pulled: Callable[[], None] | None = None,
        is_restricted: bool = False,
    ) -> None:
        super().__init__(config, features=features, plugin_set=plugin_set, on_pulled=on_pulled)
        self._surface = surface
        self._is_restricted = is_restricted
        self._validators: dict[str, Validator] = {}

    def successor(self, config: Config) -> Toolbox:
        """Returns the toolbox of another configuration, with the same surface."""
        plugin_set = self._plugin_set.successor(config)
        return SurfaceToolbox(self._surface, config, features=self._features, plugin_set=plugin_set)

    def restricted(self, config: Config, toolsets: Collection[str] | None) -> Toolbox:
        """See `Toolbox.restricted`."""
        return SurfaceToolbox(
            self._surface,
            config,
            features=self._features_of(toolsets),
            plugin_set=PluginSubset(self._plugin_set, config),
            is_restricted=True,
        )

    def owner_of_tool(self, name: str) -> Owner | None:
        """Returns what the target of a tool belongs to."""
        tool = self._surface.tools.get(name)
        return None if tool is None else super().owner_of_tool(tool.target)

    def tools(self) -> Sequence[Tool]:
        """Returns the surface's tools; those whose target is missing are listed too, unless this
        is restricted.
        """
        own = {tool.name: tool.plugin for tool in super().tools()}
        return [
            listed_tool(name, tool.spec, own.get(tool.target, HOST))
            for name, tool in self._surface.tools.items()
            if tool.target in own or not self._is_restricted
        ]

    def tool(self, name: str) -> Tool:
        """Returns the surface's tool of that name.

        Raises:
            UnknownNameError: there is none.
        """
        return listed_tool(name, self._surface_tool(name).spec, HOST)

    def start(
        self,
        name: str,  # noqa: ARG002 - every call is translated
        arguments: Mapping[str, Any] | None,  # noqa: ARG002
    ) -> RunningCall[Result] | None:
        """Returns None, so that `call` is used."""
        return None

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        call_started: Started | None = None,
    ) -> Result:
        """Calls a tool of the surface; see `Toolbox.call`."""
        tool, raw = self._surface_tool(name), arguments or {}
        try:
            checked = self._checked(tool, raw)
            result = await super().call(
                tool.target,
                tool.shape.arguments(checked),
                on_progress=on_progress,
                call_started=call_started,
            )
            return await run_in_thread(_presented, tool, checked, result)
        except Exception as error:  # noqa: BLE001 - `_failed` logs what is no CarrelError
            return _failed(tool, raw, error)

    def call_sync(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        refresh: bool = False,
    ) -> Result:
        """As `call`, but waits."""
        tool, raw = self._surface_tool(name), arguments or {}
        try:
            checked = self._checked(tool, raw)
            translated = tool.shape.arguments(checked)
            result = super().call_sync(
                tool.target, translated, on_progress=on_progress, refresh=refresh
            )
            return _presented(tool, checked, result)
        except Exception as error:  # noqa: BLE001 - `_failed` logs what is no CarrelError
            return _failed(tool, raw, error)

    def resources(self) -> Sequence[Resource]:
        """Returns the surface's resources, and those of features that it offers as they are."""
        own = [
            Resource(
                resource.uri, resource.name, None, resource.description, HOST, resource.mime_type
            )
            for resource in self._own_resources().values()
        ]
        return [*own, *self._resources_of_host()]

    def _resource_features(self) -> Sequence[Feature]:
        return [feature for feature in self._features if feature.name in self._surface.resources_of]

    def _own_resources(self) -> Mapping[str, SurfaceResource]:
        """Returns the surface's resources by URI; without those that have no target, if this is
        restricted.
        """
        found = self._surface.resources
        if not self._is_restricted:
            return found
        from carrel.tools.resources import find_resources

        targets = find_resources(self._plugin_set, self._config)
        return {uri: resource for uri, resource in found.items() if resource.target in targets}

    def has_resource(self, uri: str) -> bool:
        """See `Toolbox.has_resource`."""
        return uri in self._own_resources() or self._own(uri)

    def _own(self, uri: str) -> bool:
        """Returns whether a URI is that of a feature's resource."""
        return any(host.has(uri) for host in self._hosts())

    async def read_resource(self, uri: str, *, call_started: Started | None = None) -> Result:
        """Reads a resource of the surface, whose content is binary, or one of a feature; see
        `Toolbox.read_resource`.
        """
        if self._own(uri):
            try:
                return await super().read_resource(uri, call_started=call_started)
            except UnknownNameError as error:
                raise self._refused(uri) or error from None
        resource = self._surface_resource(uri)
        return _document(
            resource, await super().read_resource(resource.target, call_started=call_started)
        )

    def read_resource_sync(self, uri: str) -> Result:
        """As `read_resource`, but waits."""
        if self._own(uri):
            try:
                return super().read_resource_sync(uri)
            except UnknownNameError as error:
                raise self._refused(uri) or error from None
        resource = self._surface_resource(uri)
        return _document(resource, super().read_resource_sync(resource.target))

    def _refused(self, uri: str) -> CarrelError | None:
        """Returns the surface's error for a resource that is not there, if it has one."""
        make = getattr(self._surface.shapes, "resource_failure", None)
        error: CarrelError | None = None if make is None else make(unquote(uri.rpartition("/")[2]))
        return error

    @cached_property
    def prompts(self) -> NoPrompts:  # type: ignore[override]  # the part that servers use
        """No prompts or templates: no surface that lists its tools has any."""
        return NoPrompts()

    def _surface_tool(self, name: str) -> SurfaceTool:
        tools = self._surface.tools
        if self._is_restricted and name in tools and self.owner_of_tool(name) is None:
            raise UnknownNameError("tool", name, known=[tool.name for tool in self.tools()])
        if name not in tools:
            raise UnknownNameError("tool", name, known=list(tools))
        return tools[name]

    def _surface_resource(self, uri: str) -> SurfaceResource:
        resources = self._own_resources()
        if uri not in resources:
            raise UnknownNameError("resource", uri, known=list(resources))
        return resources[uri]

    def _checked(self, tool: SurfaceTool, arguments: Mapping[str, Any]) -> Json:
        """Returns the arguments without blank optional ones, as `check_arguments` does.

        Raises:
            ArgumentError: they do not satisfy the surface's schema.
        """
        name = tool.spec.name
        checked = check_arguments(listed_tool(name, tool.spec, HOST), arguments)
        if name not in self._validators:
            self._validators[name] = compile_schema(tool.spec.input_schema)
        faults = validation_faults(self._validators[name], checked)
        if faults:
            raise ArgumentError(faults, tool=name)
        return checked


class NoPrompts:
    """Replaces `carrel.tools.prompts.Prompts` where there are no prompts."""

    completes = False

    def templates(self) -> Sequence[Template]:
        """Returns an empty list."""
        return []

    def listed(self) -> Sequence[Prompt]:
        """Returns an empty list."""
        return []


def _presented(tool: SurfaceTool, arguments: Json, result: Result) -> Result:
    """Returns the result of Carrel's tool in the surface's shape."""
    shaped = tool.shape.result(arguments, result.data)
    meta = tool.shape.meta(result.meta or {}, result.data)
    if isinstance(shaped, Text):
        return _result(shaped.data, shaped.text, meta=meta)
    if isinstance(shaped, Blocks):
        blocks = tuple({"type": "text", "text": printable_lines(text)} for text in shaped.texts)
        return Result(result.utf8, shaped.data, blocks, structured=False)
    link = tool.shape.link(arguments, shaped) if tool.shape.link is not None else None
    return _result(shaped, meta=meta, link=link)


def _result(
    data: Json,
    text: str | None = None,
    *,
    meta: Mapping[str, Any] | None = None,
    link: LinkOffer | None = None,
) -> Result:
    """Returns a result with structured content and its text, which is JSON unless it is given.

    The text is a content block, so that no setting of the server changes it. It has no hidden
    characters.
    """
    utf8 = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    shown = escaped_json(utf8).decode() if text is None else printable_lines(text)
    return Result(utf8, data, ({"type": "text", "text": shown},), meta=meta, link=link)


def _failed(tool: SurfaceTool, arguments: Mapping[str, Any], error: Exception) -> Result:
    """Returns the surface's result for a failure; raises the error if the surface has none."""
    if not isinstance(error, CarrelError):
        _log.error("%s failed", tool.spec.name, exc_info=error)
        error = InternalError()
    if isinstance(error, UnknownNameError):
        # The client asked for a tool that is listed; its target is off, hidden or not loaded.
        error = TargetMissingError(tool.spec.name, tool.target, error)
    if tool.shape.failure is None:
        raise error
    return _result(tool.shape.failure(arguments, error))


def _document(resource: SurfaceResource, result: Result) -> Result:
    """Returns a resource's content: its JSON in Base64."""
    data = resource.shape(result.data)
    utf8 = json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    blob = base64.b64encode(utf8).decode("ascii")
    content = {"uri": resource.uri, "mimeType": resource.mime_type, "blob": blob}
    return Result(utf8, data, (content,), structured=False)
