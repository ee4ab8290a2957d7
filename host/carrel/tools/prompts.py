"""Lists and calls resource templates, prompts and completion of Extism modules.

A prompt's name has the plugin's name as prefix, as tools' names do. URIs and templates are
unchanged, so that opaque ones (`doi:…`) work. If two plugins offer the same, the first in the
configuration is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from carrel.awaiting import run_in_thread
from carrel.errors import ArgumentError, CarrelError, UnknownNameError

from .naming import Naming
from .resources import Template, find_templates, matches_any

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.extism.plugin import ModulePlugin
    from carrel.plugins.manifests.manifest import PromptSpec
    from carrel.plugins.plugin_set import PluginSet

Started = Callable[["Call"], None]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as clients see it.

    Attributes:
        name: `<plugin>_<prompt>`.
        spec: as the plugin lists it.
        plugin: the plugin's name in the configuration.
    """

    name: str
    spec: PromptSpec
    plugin: str


def find_prompts(plugin_set: PluginSet, config: Config, naming: Naming) -> dict[str, Prompt]:
    """Returns the prompts of the plugins that can be loaded, by the name that clients see."""
    found: dict[str, Prompt] = {}
    for plugin, manifest in plugin_set.manifests():
        entry = config.plugin(plugin)
        skipped = entry.skip_prompts if entry is not None else ()
        for spec in manifest.prompts:
            if not matches_any(skipped, spec.name):
                name = naming.prompt(plugin, manifest, spec.name)
                found.setdefault(name, Prompt(name, spec, plugin))
    return found


class Prompts:
    """Templates, prompts and completion of a configuration. Thread-safe.

    Templates and prompts are listed once; the first listing may load plugins.
    """

    def __init__(self, plugin_set: PluginSet, config: Config, naming: Naming) -> None:
        self._plugin_set = plugin_set
        self._config = config
        self._naming = naming

    @cached_property
    def _templates(self) -> dict[str, Template]:
        return find_templates(self._plugin_set, self._config, self._naming)

    @cached_property
    def _prompts(self) -> dict[str, Prompt]:
        return find_prompts(self._plugin_set, self._config, self._naming)

    @property
    def completes(self) -> bool:
        """Returns whether some plugin completes arguments."""
        return any(self._completing(plugin) is not None for plugin in self._plugin_set.names())

    def templates(self) -> Sequence[Template]:
        """Returns all templates."""
        return list(self._templates.values())

    def listed(self) -> Sequence[Prompt]:
        """Returns all prompts."""
        return list(self._prompts.values())

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None, *, call_started: Started | None = None
    ) -> dict[str, Any]:
        """Returns a prompt with its arguments, MCP's GetPromptResult. Cancelling the task cancels
        the call.

        Raises:
            UnknownNameError: no such prompt.
            ArgumentError: a required argument is missing.
            CarrelError: the plugin or its source failed.
        """
        prompts = await run_in_thread(lambda: self._prompts)
        if name not in prompts:
            raise UnknownNameError("prompt", name, known=list(prompts))
        prompt = prompts[name]
        faults = _argument_faults(prompt.spec, arguments or {})
        if faults:
            raise ArgumentError(faults, plugin=prompt.plugin, tool=name)
        plugin = await run_in_thread(self._module, prompt.plugin)
        call = plugin.new_call(prompt.spec.name)
        if call_started is not None:
            call_started(call)
        return await plugin.start_prompt(prompt.spec.name, arguments, call).wait()

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: Mapping[str, str],
        resolved: Mapping[str, str],
        *,
        call_started: Started | None = None,
    ) -> dict[str, Any]:
        """Returns completions of an argument, in MCP's form. Cancelling the task cancels the call.

        Args:
            reference: `type` ref/prompt with a `name`, or ref/resource with a `uri`.
            argument: its `name`, and the `value` so far.
            resolved: values of other arguments.
            call_started: called with the call.

        Raises:
            UnknownNameError: no such prompt or template.
            CarrelError: the plugin or its source failed.
        """
        name, own = await run_in_thread(self._referred, reference)
        plugin = await run_in_thread(self._completing, name)
        if plugin is None:
            return {"values": []}
        call = plugin.new_call("complete")
        if call_started is not None:
            call_started(call)
        return await plugin.start_completion(own, argument, resolved, call).wait()

    def _referred(self, reference: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """Returns the plugin of a reference, and the reference with the plugin's own name."""
        if reference["type"] == "ref/prompt":
            prompts = self._prompts
            prompt = prompts.get(reference["name"])
            if prompt is None:
                raise UnknownNameError("prompt", reference["name"], known=list(prompts))
            return prompt.plugin, {"type": "prompt", "name": prompt.spec.name}
        uri = reference["uri"]
        templates = self._templates
        if uri in templates:
            own = templates[uri].own_uri_template or uri
            return templates[uri].plugin, {"type": "resource", "uri": own}
        raise UnknownNameError("resource template", uri, known=list(templates))

    def _completing(self, name: str) -> ModulePlugin | None:
        """Returns the plugin of that name, loaded, if it completes arguments."""
        try:
            if not self._plugin_set.manifest(name).contract.startswith("hyper-mcp"):
                return None
            plugin = self._module(name)
        except CarrelError:
            return None
        return plugin if plugin.completes else None

    def _module(self, name: str) -> ModulePlugin:
        from carrel.plugins.extism.plugin import ModulePlugin

        plugin = self._plugin_set.plugin(name)
        assert isinstance(plugin, ModulePlugin), "only modules offer these"
        return plugin


def _argument_faults(prompt: PromptSpec, arguments: Mapping[str, str]) -> list[str]:
    """Returns the missing required arguments; the module validates the others."""
    faults = [
        f"{argument.name} is required"
        for argument in prompt.arguments
        if argument.required and argument.name not in arguments
    ]
    return faults[:20]
