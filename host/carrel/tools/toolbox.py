"""Maps MCP tools to plugins' tools: names, argument checks, results, errors.

Used by the MCP server, the command line and the Python API.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from carrel._lazy import import_name
from carrel.awaiting import run_in_thread
from carrel.errors import (
    ArgumentError,
    CarrelError,
    HiddenToolError,
    MissingPluginsError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Call, ProgressHandler
from carrel.plugins.calls.result import Result
from carrel.plugins.compiling.compile_news import COMPILING
from carrel.plugins.leftout import LeftOut
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.plugin_subset import PluginSubset
from carrel.plugins.state import PluginState, notes_of

from .arguments import accepted_arguments, check_arguments
from .document import DOCUMENT, Document, Options, as_bytes, as_utf8
from .linked import linked
from .naming import HOST, Naming
from .tool import Tool, listed_tool

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.manifests.tool_spec import ToolSpec
    from carrel.plugins.plugin import Plugin
    from carrel.telemetry import UpstreamState

    from .feature import Feature, HostToolExtender, HostToolMaker
    from .host_resources import HostResourceMaker, HostResources
    from .host_tool import HostTool
    from .prompts import Prompts
    from .resources import Resource, Template

_log = logging.getLogger("carrel.tools")

#: The tool of plugins that search the web; those that `web.search` names are asked by `web_search`.
_SEARCH: Final = "web_search"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool, its name in the plugin, and the host tool with its toolset if no plugin implements
    it.
    """

    tool: Tool
    own_name: str
    host: HostTool | None = None
    toolset: str | None = None


class Owner(NamedTuple):
    """The owner of a tool, resource or prompt: a plugin, or a toolset of the host.

    Attributes:
        plugin: the plugin's name; None for a host's.
        toolset: the feature's name; None for a plugin's.
    """

    plugin: str | None = None
    toolset: str | None = None


class Toolbox:
    """Lists and calls all tools of a configuration. Thread-safe.

    Args:
        config: names the plugins and what they are granted.
        features: the features with host tools, such as `carrel.features.FEATURES`.
        plugin_set: the plugins; created if None.
        on_pulled: called from a thread when a plugin was pulled from its registry; without it,
            calls of such a plugin wait for the pull.
        naming: names tools, prompts and resources for clients; Carrel's own names when None.
    """

    def __init__(
        self,
        config: Config,
        *,
        features: Sequence[Feature] = (),
        plugin_set: PluginSet | None = None,
        on_pulled: Callable[[], None] | None = None,
        naming: Naming | None = None,
    ) -> None:
        self._config = config
        self._naming = naming or Naming()
        self._features = features
        self._plugin_set = plugin_set or PluginSet(config, on_pulled=on_pulled)
        for warning in config.warnings:
            _log.warning("%s: %s", config.source_path, warning)
        self._entries: dict[str, _Entry] | None = None
        self._hidden: dict[str, tuple[str, str]] = {}
        self._left_out = LeftOut(self._plugin_set, {})
        self._prompts: Prompts | None = None
        self._resources: list[Resource] | None = None
        self._host_resources: list[HostResources] | None = None

    def successor(self, config: Config) -> Toolbox:
        """Returns a toolbox of another configuration; it shares loaded plugins. Close both."""
        return Toolbox(
            config, features=self._features, plugin_set=self._plugin_set.successor(config)
        )

    def restricted(self, config: Config, toolsets: Collection[str] | None) -> Toolbox:
        """Returns a toolbox with some of the plugins and toolsets, and folders of its own.

        It lists and calls nothing else. It uses the plugins of this one, which is closed later.

        Args:
            config: this one's with other folders, and without the plugins to leave out.
            toolsets: the names of the features that stay; None for all.
        """
        return Toolbox(
            config,
            features=self._features_of(toolsets),
            plugin_set=PluginSubset(self._plugin_set, config),
            naming=self._naming,
        )

    def _features_of(self, toolsets: Collection[str] | None) -> Sequence[Feature]:
        return [
            feature for feature in self._features if toolsets is None or feature.name in toolsets
        ]

    def owner_of_tool(self, name: str) -> Owner | None:
        """Returns what a tool belongs to; None if there is none of that name."""
        entry = self._tools().get(name)
        if entry is None:
            return None
        return Owner(toolset=entry.toolset) if entry.toolset else Owner(plugin=entry.tool.plugin)

    def precompile(self) -> None:
        """Starts compiling the built-in plugins in the background, at low priority.

        For a long-running process, so that the first call does not wait for the compiler.
        """
        self._plugin_set.precompile()

    def tools(self) -> Sequence[Tool]:
        """Returns the tools, in the configuration's order; runs no guest code of built-in plugins.

        Host tools come last. The tools of a plugin that cannot be loaded are missing; `health`
        gives the reason.
        """
        return [entry.tool for entry in self._tools().values()]

    def tool(self, name: str) -> Tool:
        """Returns the tool of that name.

        Raises:
            UnknownNameError: no such tool, or the configuration hides it.
        """
        return self._entry(name).tool

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        call_started: Callable[[Call], None] | None = None,
    ) -> Result:
        """Calls a tool. Cancelling the awaiting task cancels the call and its guest.

        Args:
            name: as listed.
            arguments: from the client, None if it sent none; blank optional ones count as absent,
                except for a module.
            on_progress: called from worker threads with done, total or None, and a message.
            call_started: called with the call when its deadline starts.

        Raises:
            UnknownNameError: no such tool.
            CarrelError: any other failure, with a code for clients.
        """
        if self._entries is None or name not in self._entries:
            await run_in_thread(self._require, name)
        entry = self._entry(name)
        if entry.host is None:
            await self._ready(name, on_progress)
        running = self._start(entry, name, arguments, on_progress, call_started)
        return await running.wait()

    def start(self, name: str, arguments: Mapping[str, Any] | None) -> RunningCall[Result] | None:
        """Starts a call; returns None if that would block, and then `call` must be used.

        That is so for host tools, which run in a thread, and for plugins that are not loaded yet.

        Raises:
            UnknownNameError: no such tool.
            CarrelError: the arguments are refused.
        """
        entry = self._entry(name)
        if entry.host is not None or self._plugin_set.loaded(entry.tool.plugin) is None:
            return None
        return self._start(entry, name, arguments, None, None)

    def call_sync(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        refresh: bool = False,
    ) -> Result:
        """Calls a tool and waits; `KeyboardInterrupt` cancels it. Raises as `call` does.

        With `refresh`, requests bypass the cache.
        """

        def started(call: Call) -> None:
            call.refresh = refresh

        self._require(name)
        entry = self._entry(name)
        if entry.host is None:
            self._plugin_set.plugin(entry.tool.plugin, on_compile=_compile_reporter(on_progress))
        return self._start(entry, name, arguments, on_progress, started).result()

    def linked(self, result: Result) -> Result:
        """Returns a large result as a link to a resource, if its tool allows it.

        For servers, whose clients pay for every byte of a result. Writes to a store, so do not call
        it on the event loop.
        """
        return linked(result, self._hosts())

    def resources(self) -> Sequence[Resource]:
        """Returns the resources of plugins and of the host; those of plugins are listed once. When
        replaying, only recorded ones of plugins.
        """
        if self._resources is None:
            from .resources import find_resources

            found = find_resources(self._plugin_set, self._config, self._naming).values()
            self._resources = [resource for resource in found if self._is_readable(resource)]
        return [*self._resources, *self._resources_of_host()]

    def resource_templates(self) -> Sequence[Template]:
        """Returns the resource templates of plugins and of the host."""
        own = [template for host in self._hosts() for template in host.templates()]
        return [*self.prompts.templates(), *own]

    def has_resource(self, uri: str) -> bool:
        """Returns whether a URI is that of a resource, or matches a template; may load plugins."""
        if any(host.has(uri) for host in self._hosts()):
            return True
        from .resources import find_plugin

        try:
            find_plugin(self._plugin_set, self._config, uri)
        except UnknownNameError:
            return False
        return True

    def _resources_of_host(self) -> list[Resource]:
        return [resource for host in self._hosts() for resource in host.resources()]

    def _resource_features(self) -> Sequence[Feature]:
        """Returns the features whose resources are offered."""
        return self._features

    def _hosts(self) -> Sequence[HostResources]:
        """Returns the resources of features; made once."""
        if self._host_resources is None:
            made = []
            for feature in self._resource_features():
                if feature.resources is not None:
                    make: HostResourceMaker = import_name(feature.resources)
                    made.append(make(self._plugin_set, self._config))
            self._host_resources = [host for host in made if host is not None]
        return self._host_resources

    def _start_reading(self, uri: str) -> RunningCall[Result]:
        """Starts to read a resource; loads plugins, so it may take a while."""
        for host in self._hosts():
            if host.has(uri):
                return host.start_reading(uri)
        from .resources import find_plugin, start_reading

        name = find_plugin(self._plugin_set, self._config, uri)
        return start_reading(self._plugin_set, name, uri)

    def _is_readable(self, resource: Resource) -> bool:
        """Returns whether a resource can be read; when replaying, whether it was recorded."""
        if self._config.replay_dir is None:
            return True
        from .resources import start_reading

        running = None
        try:
            uri = resource.own_uri or resource.uri
            running = start_reading(self._plugin_set, resource.plugin, uri)
            running.result()
        except SourceError as error:
            # There is a response; reading the resource reports what is wrong with it.
            _log.debug("%s: %s", resource.uri, error)
            return running is not None and not running.call.has_ended()
        except CarrelError:
            return False
        return True

    async def read_resource(
        self, uri: str, *, call_started: Callable[[Call], None] | None = None
    ) -> Result:
        """Returns the resource at a URI. Cancelling the awaiting task cancels the call and its
        guest.

        Raises:
            UnknownNameError: no plugin offers it.
            CarrelError: the plugin or its source failed.
        """
        running = await run_in_thread(self._start_reading, uri)
        if call_started is not None:
            call_started(running.call)
        return await running.wait()

    def read_resource_sync(self, uri: str) -> Result:
        """As `read_resource`, but waits; `KeyboardInterrupt` cancels the call."""
        return self._start_reading(uri).result()

    @property
    def prompts(self) -> Prompts:
        """Prompts, resource templates and completion: what Extism modules have beyond tools."""
        if self._prompts is None:
            from .prompts import Prompts

            self._prompts = Prompts(self._plugin_set, self._config, self._naming)
        return self._prompts

    def on_list_changed(self, listener: Callable[[str], None]) -> None:
        """Sets the listener for changed lists; called from a worker thread."""
        self._plugin_set.changed.listener = listener

    def on_resource_updated(self, listener: Callable[[str], None]) -> None:
        """Sets the listener for URIs of changed resources; called from a worker thread."""
        self._plugin_set.updated.listener = listener

    def watch_resources(
        self, list_changed: Callable[[], None], updated: Callable[[str], None]
    ) -> None:
        """Starts to report changes of the host's resources, from a worker thread."""
        for host in self._hosts():
            host.listen(list_changed, updated)

    @property
    def config(self) -> Config:
        """The configuration, for features that are used from Python."""
        return self._config

    @property
    def plugin_set(self) -> PluginSet:
        """The plugins, for features that are used from Python."""
        return self._plugin_set

    def takes_bytes(self, plugin: str, document_format: str) -> bool:
        """Whether a plugin reads documents of a format as bytes, and not as text."""
        return self._plugin_set.plugin(plugin).takes_bytes(document_format)

    def parse_text(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> str:
        """A document through a plugin's sandboxed parser, as JSON text."""
        return self.parse_utf8(plugin, document_format, document, options).decode()

    def parse_utf8(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> bytes:
        """As `parse_text`, but in UTF-8."""
        return bytes(self.parse_view(plugin, document_format, document, options))

    def parse_view(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> memoryview:
        """Like `parse_utf8`, without copying a large result."""
        return self._parsed(self._plugin_set.plugin(plugin), document_format, document, options)

    def parse(
        self, plugin: str, document_format: str, document: Document, options: Options = None
    ) -> dict[str, Any]:
        """A document through a plugin's sandboxed parser, decoded and checked."""
        ready = self._plugin_set.plugin(plugin)
        return ready.checked_document(
            document_format, self._parsed(ready, document_format, document, options)
        )

    def _parsed(
        self, plugin: Plugin, document_format: str, document: Document, options: Options
    ) -> memoryview:
        if plugin.takes_bytes(document_format):
            return plugin.parse_bytes(document_format, as_bytes(document, name=DOCUMENT), options)
        if options:
            raise ArgumentError(
                [f"{document_format} is a text format, which takes no options"],
                plugin=plugin.name,
                tool=document_format,
            )
        text = as_utf8(document, name=DOCUMENT, plugin=plugin.name, document_format=document_format)
        return plugin.parse(document_format, text)

    def plugins(self) -> list[PluginState]:
        """Returns the state of every configured plugin."""
        return self._plugin_set.states()

    def known_plugins(self) -> list[PluginState]:
        """As `plugins`, but loads none: one that was never needed counts as one that works."""
        return self._plugin_set.states(load=False)

    def upstreams(self) -> list[UpstreamState]:
        """Returns the pace and the circuit breaker of every upstream that was asked."""
        return self._plugin_set.upstreams()

    def health(self) -> dict[str, Any]:
        """Returns the state of configuration, plugins and folders, without secrets."""
        from .health import health

        return health(self._config, self._plugin_set)

    def close(self) -> None:
        """Ends threads and connections; running calls finish."""
        for host in self._host_resources or ():
            host.close()
        for entry in (self._entries or {}).values():
            if entry.host is not None:
                entry.host.close()
        self._plugin_set.close()

    def _tools(self) -> dict[str, _Entry]:
        if self._entries is None:
            entries: dict[str, _Entry] = {}
            manifests: list[Manifest] = []
            failed: dict[str, CarrelError] = {}
            for plugin, manifest in self._plugin_set.manifests(failed.__setitem__):
                manifests.append(manifest)
                entry = self._config.plugin(plugin)
                if entry is not None:
                    for note in notes_of(entry, manifest):
                        _log.warning("%s: %s", plugin, note)
                for spec in self._listed(plugin, manifest):
                    name = self._naming.tool(plugin, manifest, spec.name)
                    grant = entry.grant_of_tool(spec.name) if entry is not None else None
                    if grant is not None:
                        self._hidden[name] = (plugin, grant)
                        continue
                    existing = entries.get(name)
                    # A built-in plugin keeps its tools' names; else the first in the configuration
                    # is used.
                    if existing is None or self._yields(existing.tool.plugin, plugin):
                        entries[name] = _Entry(listed_tool(name, spec, plugin), spec.name)
                    else:
                        _log.warning("%s: %s is a tool of %s", plugin, name, existing.tool.plugin)
            for error in failed.values():
                _log.warning("%s", error)
            self._left_out = LeftOut(self._plugin_set, failed)
            for toolset, host in self._host_tools(manifests):
                own_name = host.spec.name
                tool = listed_tool(own_name, host.spec, HOST)
                entries[own_name] = _Entry(tool, own_name, host, toolset)
            self._entries = entries
        return self._entries

    def _listed(self, plugin: str, manifest: Manifest) -> Sequence[ToolSpec]:
        """Returns a plugin's tools; one that `web_search` asks is left out, to be listed once."""
        if plugin not in self._config.web.search:
            return manifest.tools
        return [spec for spec in manifest.tools if spec.name != _SEARCH]

    def _host_tools(self, manifests: Sequence[Manifest]) -> Iterator[tuple[str, HostTool]]:
        names: list[str] = []
        tools: Sequence[HostTool] = []
        for feature in self._features:
            if feature.tools is not None:
                make: HostToolMaker = import_name(feature.tools)
                made = make(self._plugin_set, self._config, manifests)
                names += [feature.name] * len(made)
                tools = [*tools, *made]
        for feature in self._features:
            if feature.extends is not None:
                extend: HostToolExtender = import_name(feature.extends)
                tools = extend(tools, self._config)
        return zip(names, tools, strict=True)

    def _yields(self, holder: str, claimant: str) -> bool:
        """Returns whether a tool's name passes from another plugin to a built-in one."""
        before, after = self._config.plugin(holder), self._config.plugin(claimant)
        if before is None or after is None or before.url.startswith("builtin:"):
            return False
        return after.url.startswith("builtin:")

    def _entry(self, name: str) -> _Entry:
        entries = self._tools()
        if name not in entries:
            if name in self._hidden:
                plugin, grant = self._hidden[name]
                raise HiddenToolError(name, plugin=plugin, grant=grant)
            raise UnknownNameError("tool", name, known=list(entries))
        return entries[name]

    def _require(self, name: str) -> None:
        """Raises the reason why a tool is missing; loads plugins, so do not call it on the event
        loop.

        Raises:
            UnknownNameError: no such tool; with the plugins that could not be loaded.
            CarrelError: why its plugin could not be loaded.
        """
        if name in self._tools() or name in self._hidden or not self._left_out.failed:
            self._entry(name)
            return
        if not self._left_out.look_again():
            self._entries = None
        entries, left_out = self._tools(), self._left_out
        reason = None if name in entries else left_out.reason(name)
        if reason is not None:
            raise reason
        if name not in entries and left_out.failed:
            raise MissingPluginsError(name, known=list(entries), failed=left_out.failed)
        self._entry(name)

    async def _ready(self, name: str, on_progress: ProgressHandler | None) -> Plugin:
        """Returns the plugin of a tool; loads it in a thread, because that may compile."""
        plugin = self._entry(name).tool.plugin
        ready = self._plugin_set.loaded(plugin)
        if ready is None:
            report = _compile_reporter(on_progress)
            ready = await run_in_thread(self._plugin_set.plugin, plugin, report)
        return ready

    def _start(
        self,
        entry: _Entry,
        name: str,
        arguments: Mapping[str, Any] | None,
        on_progress: ProgressHandler | None,
        call_started: Callable[[Call], None] | None,
    ) -> RunningCall[Result]:
        """Starts a call of a plugin's tool, which is loaded if necessary, or of a host tool."""
        if entry.host is not None:
            host = entry.host
            accepted = check_arguments(entry.tool, arguments or {})
            faults = host.argument_faults(accepted)
            if faults:
                raise ArgumentError(faults, tool=name)
            call = host.new_call(on_progress)
            start = partial(host.start, accepted, call)
        else:
            plugin = self._plugin_set.plugin(entry.tool.plugin)
            checked = accepted_arguments(plugin, entry.tool, arguments)
            faults = plugin.argument_faults(entry.own_name, checked or {})
            if faults:
                raise ArgumentError(faults, plugin=plugin.name, tool=name)
            call = plugin.new_call(entry.own_name, on_progress)
            start = partial(plugin.start_call, entry.own_name, checked, call)
        if call_started is not None:
            call_started(call)
        return start()


def _compile_reporter(on_progress: ProgressHandler | None) -> Callable[[], None] | None:
    """Returns a function that reports to the client that its call waits for the compiler."""
    return None if on_progress is None else lambda: on_progress(0, None, COMPILING)
