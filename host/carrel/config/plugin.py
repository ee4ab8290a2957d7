"""One entry of the `plugins` table: a plugin and its grant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from carrel.fetch.policy.endpoint import Endpoint
    from carrel.fetch.policy.rules import HostGrant
    from carrel.trust.policy import TrustPolicy

#: An override of a field of `carrel.exchange.Limits`.
Overrides = Mapping[str, float | int]


class PaceGrant(NamedTuple):
    """The operator's pace at a host, in place of the manifest's.

    Attributes:
        interval_ms: milliseconds between two requests in the long run.
        burst: requests that may be sent at once after a pause. Default: 1.
        ignore_upstream_rule: whether it applies even if it is faster than the rule of an upstream
            that Carrel knows. Default: false; then the slower of the two applies.
    """

    interval_ms: int
    burst: int = 1
    ignore_upstream_rule: bool = False


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """One entry of the `plugins` table: a plugin and its grant.

    Attributes:
        name: the entry's key: lower-case letters, digits and single underscores between them.
        url: where the component is: `builtin:NAME`, `file:///PATH` or `oci://REGISTRY/NAME:TAG`.
            Default for an entry named like a built-in plugin: that plugin. Otherwise required.
        relative_url: `file:PATH` from the configuration file's folder, where the file has it so;
            `url` is absolute all the same. Default: None.
        description: for people who read the file; not shown to clients. Default: empty.
        enabled: whether the plugin is loaded. Default: true.
        allowed_hosts: the operator's grant (`runtime_config.allowed_hosts`): host names, `*.name`,
            or these with the methods and paths that are granted. What a plugin may reach is this
            and its manifest. None means as declared. Default: None for a built-in plugin, else no
            host.
        endpoint: where the server of the operator's own is that the plugin asks
            (`runtime_config.endpoint`), for a plugin that declares one. Default: none.
        limits: overrides by the field names of `carrel.exchange.Limits`; they win over the
            top-level `limits` table. Default: none.
        settings: the plugin's own settings, passed to it as JSON; never secrets. Default: none.
        tools: the only tools that are offered (`runtime_config.tools`): regular expressions that
            match a whole tool name. None offers all. Default: None.
        skip_tools: tools that are not offered, likewise; they win over `tools`. Default: none.
        skip_prompts: prompts that are not offered, likewise. Default: none.
        skip_resources: resources that are not offered, by URI, likewise. Default: none.
        skip_resource_templates: resource templates that are not offered, by URI template, likewise.
            Default: none.
        env_vars: the configuration that an Extism module may read (`runtime_config.env_vars`); not
            the environment. Default: none.
        allowed_secrets: keyring entries, each a service and a user, that an Extism module may
            read (`runtime_config.allowed_secrets`). Default: none.
        secrets: the secrets of the manifest that the host attaches, by name. None means all for a
            built-in plugin and none for any other. Default: None.
        pace: host entry → its pace. Default: as declared.
        trace_hosts: hosts that are sent the header `traceparent` of the call's trace
            (`runtime_config.trace_hosts`). Default: none.
        trust: who must have signed the plugin; None means as the top-level `trust` says.
        notes: for a person: what the file requests and this plugin does not get.
    """

    name: str
    url: str
    description: str = ""
    enabled: bool = True
    allowed_hosts: tuple[str | HostGrant, ...] | None = ()
    limits: Overrides = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    skip_tools: tuple[str, ...] = ()
    skip_prompts: tuple[str, ...] = ()
    skip_resources: tuple[str, ...] = ()
    skip_resource_templates: tuple[str, ...] = ()
    env_vars: Mapping[str, str] = field(default_factory=dict)
    allowed_secrets: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] | None = None
    pace: Mapping[str, PaceGrant] = field(default_factory=dict)
    trace_hosts: tuple[str, ...] = ()
    trust: TrustPolicy | None = None
    notes: tuple[str, ...] = ()
    relative_url: str | None = None
    endpoint: Endpoint | None = None

    @property
    def is_builtin(self) -> bool:
        """Whether it is one of Carrel's own."""
        return self.url.startswith("builtin:")

    @property
    def locked_url(self) -> str:
        """The address in the lock file: one that moves with the configuration file."""
        return self.relative_url or self.url

    def skips(self, tool: str) -> bool:
        """Whether the operator hides `tool`, named as in the plugin's manifest."""
        return self.grant_of_tool(tool) is not None

    def grant_of_tool(self, tool: str) -> str | None:
        """Returns the setting that would show a hidden tool; None when it is shown."""
        hidden = self._skipped("skip_tools", tool)
        if hidden is not None or self.tools is None:
            return hidden
        import json
        import re

        if any(re.fullmatch(pattern, tool) for pattern in self.tools):
            return None
        return f"plugins.{self.name}.runtime_config.tools += {json.dumps(tool)}"

    def grant_of_resource(self, uri: str) -> str | None:
        """As for a tool; hiding the tool `resource` hides all of a component's resources."""
        return self.grant_of_tool("resource") or self._skipped("skip_resources", uri)

    def grant_of_prompt(self, prompt: str) -> str | None:
        """As for a tool."""
        return self._skipped("skip_prompts", prompt)

    def _skipped(self, key: str, name: str) -> str | None:
        patterns = getattr(self, key)
        if not patterns:
            return None
        import json
        import re

        for pattern in patterns:
            if re.fullmatch(pattern, name):
                return f"plugins.{self.name}.runtime_config.{key} -= {json.dumps(pattern)}"
        return None

    def grants_secret(self, name: str) -> bool:
        """Whether the host may attach the secret for this plugin.

        The name of the software is not confidential, so it needs no grant.
        """
        from carrel.fetch.identity import SOFTWARE

        if name == SOFTWARE:
            return True
        return self.is_builtin if self.secrets is None else name in self.secrets
