"""Implements the tool `work_lookup`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.tools.host_spec import host_spec
from carrel.tools.host_tool import HostTool

from .run import MAX_IDS, NAME, Lookup
from .schema import input_schema, output_schema

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet

_DESCRIPTION: Final = """\
WHEN TO USE: Get records of works whose identifiers you have.
INPUTS: ids.
OUTPUTS: works, merged over sources, with provenance, and alternatives where sources differ; \
items: per id its outcome, place in works, and what each source said. failed is not not_found.
COSTS: One request per source and batch, of arXiv one in 3 s; twice when identifiers are learnt.
SIDE EFFECTS: None.
LIMITS: 100 ids."""


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tool if a plugin resolves identifiers; see `carrel.tools.feature`."""
    if any(manifest.lookup is not None for manifest in manifests):
        return [LookupTool(Lookup(plugins, config))]
    return []


class LookupTool(HostTool):
    """The host tool `work_lookup`."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        spec = host_spec(
            NAME, "Look up works", _DESCRIPTION, input_schema(MAX_IDS), output_schema()
        )
        super().__init__(spec, lookup.limits)

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Looks the works up, and merges their records."""
        result = self._lookup.run(arguments["ids"], call, sources=arguments.get("sources"))
        return result.to_json(
            references=bool(arguments.get("references")), omit=arguments.get("omit", ())
        )
