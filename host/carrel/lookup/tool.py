"""Implements the tool `work_lookup`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.plugins.manifests.manifest import ToolSpec
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.tools.host_tool import start_in_thread

from .run import MAX_IDS, NAME, Lookup
from .schema import input_schema, output_schema

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call, ProgressHandler
    from carrel.plugins.calls.result import Result
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.host_tool import HostTool

_DESCRIPTION: Final = """\
WHEN TO USE: Get records of works whose identifiers you have.
INPUTS: ids.
OUTPUTS: works, merged over sources, with provenance, and alternatives where sources differ; \
items: per id its outcome, place in works, and what each source said. failed is not not_found.
COSTS: One request per source and batch, of arXiv one in 3 s; twice when identifiers are learnt.
SIDE EFFECTS: None.
LIMITS: 100 ids."""


def make_tools(plugins: PluginSet, config: Config, manifests: Sequence[Manifest]) -> list[HostTool]:
    """Returns the tool where a plugin resolves identifiers; see `carrel.tools.feature`."""
    if any(manifest.lookup is not None for manifest in manifests):
        return [LookupTool(Lookup(plugins, config))]
    return []


class LookupTool:
    """A host tool, see `carrel.tools.host_tool.HostTool`."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.spec = ToolSpec(
            name=NAME,
            title="Look up works",
            description=_DESCRIPTION,
            input_schema=input_schema(MAX_IDS),
            output_schema=output_schema(),
            read_only=True,
            destructive=False,
            idempotent=True,
            open_world=True,
        )
        self._validator = compile_schema(self.spec.input_schema)

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a call that starts its clocks now."""
        return self._lookup.new_call(on_progress)

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """Returns what is wrong with arguments."""
        return validation_faults(self._validator, arguments)

    def start(self, arguments: Mapping[str, Any], call: Call) -> RunningCall[Result]:
        """Starts the lookup in a thread of its own."""

        def work() -> bytes:
            result = self._lookup.run(arguments["ids"], call, sources=arguments.get("sources"))
            told = result.to_json(
                references=bool(arguments.get("references")), omit=arguments.get("omit", ())
            )
            text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
            # What was given may be no text, and is told as it was given as far as it goes.
            return text.encode("utf-8", "replace")

        return start_in_thread(work, "carrel-lookup", call)
