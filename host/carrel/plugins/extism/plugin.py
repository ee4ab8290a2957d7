"""A plugin that is an Extism module, version 1 or 2 of hyper-mcp's interface."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from carrel.errors import (
    ArgumentError,
    CarrelError,
    ContractViolation,
    InternalError,
    LoadError,
    ModuleError,
    PluginError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Call, Fetcher, Verdict
from carrel.plugins.calls.result import Result
from carrel.plugins.calls.running_call import RunningCall
from carrel.plugins.plugin import Plugin
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.runtime.component import PluginReport
from carrel.runtime.extism.context import ModuleContext
from carrel.runtime.extism.module import SandboxedModule
from carrel.runtime.pending import Pending
from carrel.text.json_text import decode_object
from carrel.text.printable import printable
from carrel.text.utf8 import Utf8

from . import content
from .listing import module_manifest

if TYPE_CHECKING:
    import jsonschema_rs

    from carrel.plugins.grants.limits import LimitsOf
    from carrel.plugins.manifests.manifest import Manifest

_log = logging.getLogger("carrel.plugins")

#: Listing is quick and makes no requests; it happens before any call's limits are known.
_LISTING_CPU_SECONDS = 2.0
_LISTING_WALL_SECONDS = 5.0
_MAX_MESSAGE = 2000

#: export → the member of its result.
_LISTS = {
    "list_resources": "resources",
    "list_resource_templates": "resourceTemplates",
    "list_prompts": "prompts",
}
_ids = itertools.count(1)


class ModulePlugin(Plugin):
    """One module under one policy.

    Args:
        name: the entry's name in the configuration; also the prefix of its tools and prompts.
        module: verified.
        manifest: returns the manifest; None builds it from what the module lists.
        description: for people.
        hosts: the operator's grant.
        config: the values of `config_get`.
        make_fetcher: returns the fetcher for the manifest.
        limits: of calls, by the manifest.
        context: makes the host's state of a call.
    """

    takes_arguments_as_sent = True

    def __init__(
        self,
        name: str,
        module: SandboxedModule,
        *,
        manifest: Callable[[], Manifest] | None = None,
        description: str,
        hosts: Sequence[str],
        config: Mapping[str, str],
        make_fetcher: Callable[[Manifest], Fetcher],
        limits: LimitsOf,
        context: Callable[[], ModuleContext],
    ) -> None:
        super().__init__(
            name,
            module,
            manifest or self._list,
            make_fetcher=make_fetcher,
            limits=limits,
            trusted=False,
        )
        self._module = module
        self._description = description
        self._hosts = hosts
        self._config = config
        self._context = context
        self._first_version = {"call", "describe"} <= module.exports

    @property
    def completes(self) -> bool:
        """Whether the module completes arguments."""
        return not self._first_version and "complete" in self._module.exports

    def _submit_call(self, tool: str, arguments: Mapping[str, Any] | None, call: Call) -> Pending:
        """Starts a tool call; see `Plugin.start_call`."""
        params = _request_params(tool, arguments)
        if self._first_version:
            return self._submit("call", {"params": params}, call)
        return self._submit("call_tool", {"request": params}, call)

    def _result(self, call: Call, text: bytes) -> Result:
        """Checks a CallToolResult: content blocks, and structured content if there is some."""
        tool = call.tool
        spec = self.manifest.tool(tool)
        assert spec is not None, "only known tools are called"
        answer = decode_object(text, plugin=self.name, tool=tool)
        blocks = content.checked(content.read_blocks, answer, self.name, tool)
        if answer.get("isError") is True:
            message = printable(content.texts_of(blocks), _MAX_MESSAGE)
            raise ModuleError(
                f"{self.name}: {message or 'the module says that the call failed'}",
                plugin=self.name,
                tool=tool,
                content=blocks,
            )
        structured = answer.get("structuredContent")
        if spec.output_schema is not None:
            validator = self._validator(("output", tool), spec.output_schema)
            faults = ["there is no structuredContent"]
            if isinstance(structured, dict):
                faults = validation_faults(validator, structured)
            if faults:
                raise ContractViolation(
                    f"{self.name}: {tool} returned a result that its own schema refuses: "
                    f"{'; '.join(faults[:5])}",
                    plugin=self.name,
                    tool=tool,
                )
        if isinstance(structured, dict):
            written = _compact(structured)
            blocks = blocks or ({"type": "text", "text": written},)
            return Result(written.encode(), structured, content=blocks)
        data = {"content": list(blocks)}
        return Result(_compact(data).encode(), data, content=blocks, structured=False)

    def _submit_reading(
        self,
        uri: str,
        secrets: Sequence[str],  # noqa: ARG002 - a module declares none
        call: Call,
    ) -> Pending:
        """Starts to read a document; see `Plugin.start_reading`."""
        return self._submit("read_resource", {"request": {"uri": uri}}, call)

    def _document(self, uri: str, text: bytes) -> Result:  # noqa: ARG002 - the answer names its own
        """Checks a ReadResourceResult."""
        answer = decode_object(text, plugin=self.name, tool="read_resource")
        contents = content.checked(content.read_contents, answer, self.name, "read_resource")
        data = {"contents": list(contents)}
        return Result(_compact(data).encode(), data, content=contents, structured=False)

    def parse(
        self,
        document_format: str,
        document: str | Utf8,  # noqa: ARG002
        *,
        whole: Call | None = None,  # noqa: ARG002
    ) -> memoryview:
        """Modules have no formats."""
        raise UnknownNameError(f"format of {self.name}", document_format)

    def checked_document(
        self,
        document_format: str,
        text: memoryview,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Modules have no formats."""
        raise UnknownNameError(f"format of {self.name}", document_format)

    def start_prompt(
        self, name: str, arguments: Mapping[str, str] | None, call: Call
    ) -> RunningCall[dict[str, Any]]:
        """Starts to fill in a prompt; returns MCP's GetPromptResult."""
        params = _request_params(name, arguments)
        pending = self._submit("get_prompt", {"request": params}, call)
        return RunningCall(call, pending, self._prompt, self._as_error)

    def _prompt(self, text: bytes) -> dict[str, Any]:
        answer = decode_object(text, plugin=self.name, tool="get_prompt")
        prompt: dict[str, Any] = content.checked(
            content.read_prompt, answer, self.name, "get_prompt"
        )
        return prompt

    def start_completion(
        self,
        reference: Mapping[str, str],
        argument: Mapping[str, str],
        resolved: Mapping[str, str],
        call: Call,
    ) -> RunningCall[dict[str, Any]]:
        """Starts to complete an argument; returns the completion of MCP's CompleteResult.

        Args:
            reference: `type` prompt with a `name`, or `type` resource with a `uri`.
            argument: its `name`, and the `value` so far.
            resolved: arguments with values already.
            call: the call to run it in.
        """
        request: dict[str, Any] = {"ref": dict(reference), "argument": dict(argument)}
        if resolved:
            request["context"] = {"arguments": dict(resolved)}
        pending = self._submit("complete", {"request": request}, call)
        return RunningCall(call, pending, self._completion, self._as_error)

    def _completion(self, text: bytes) -> dict[str, Any]:
        answer = decode_object(text, plugin=self.name, tool="complete")
        completion: dict[str, Any] = content.checked(
            content.read_completion, answer, self.name, "complete"
        )
        return completion

    def _as_error(self, error: Exception, call: Call) -> CarrelError:
        """Translates the text that the module set as its error."""
        if not isinstance(error, PluginReport):
            return InternalError()
        message = printable(error.text.strip(), _MAX_MESSAGE)
        extra: dict[str, Any] = {"attempts": call.attempts[-20:]} if call.attempts else {}
        return ModuleError(
            f"{self.name}: {message or 'the module failed and did not say why'}",
            plugin=self.name,
            tool=call.tool,
            extra=extra,
        )

    def _compiled(self, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
        """Compiles with JSON Schema's default: `format` is an annotation and refuses nothing."""
        return compile_schema(schema, formats=False)

    def _submit(self, export: str, request: dict[str, Any], call: Call) -> Pending:
        if export not in self._module.exports:
            pending = Pending()
            message = f"{self.name}: the module exports no {export}"
            pending.settle(error=ContractViolation(message, plugin=self.name, tool=call.tool))
            return pending
        if not self._first_version:
            number = next(_ids)
            meta = {} if call.on_progress is None else {"progressToken": number}
            request = {**request, "context": {"id": number, "_meta": meta}}
        try:
            text = _compact(request)
        except ValueError:
            raise ArgumentError(
                ["a number is larger than any that JSON readers agree on"],
                plugin=self.name,
                tool=call.tool,
            ) from None
        return self._module.submit(
            export,
            text,
            call,
            config=self._config,
            context=self._context(),
            fetcher=self._get_fetcher(),
            ended=partial(self._settle, call),
        )

    def _verdict(self, call: Call, text: bytes) -> Verdict:  # noqa: ARG002 -- components look
        """Returns `UNREADABLE` for a result that reports an error."""
        if b'"isError"' not in text:
            return Verdict.READ
        try:
            failed = decode_object(text, plugin=self.name, tool="").get("isError") is True
        except CarrelError:
            failed = True
        return Verdict.UNREADABLE if failed else Verdict.READ

    def _list(self) -> Manifest:
        """Builds the manifest from the module's lists.

        Raises:
            LoadError: its tools cannot be listed, or a listed item is refused.
        """
        exports = self._module.exports
        listed: dict[str, list[Any]] = {}
        if self._first_version:
            listed["tools"] = self._ask("describe", "", "tools")
        elif "list_tools" in exports:
            listed["tools"] = self._ask("list_tools", self._listing_request(), "tools")
        if listed.get("tools") and not ({"call", "call_tool"} & exports):
            raise LoadError(f"{self.name}: lists tools, but exports no call_tool", plugin=self.name)
        for export, member in _LISTS.items():
            if self._first_version or export not in exports:
                continue
            try:
                listed[member] = self._ask(export, self._listing_request(), member)
            except LoadError as error:
                _log.warning("%s; the module goes without", error)
        return module_manifest(
            self.name,
            version=self.digest[:12],
            contract="hyper-mcp 1" if self._first_version else "hyper-mcp 2",
            description=self._description or "An Extism module.",
            hosts=self._hosts,
            listed=listed,
        )

    def _listing_request(self) -> str:
        return _compact({"context": {"id": next(_ids), "_meta": {}}})

    def _ask(self, export: str, text: str, member: str) -> list[Any]:
        """Reads one of the module's lists, without network."""
        limits = self._limits(None)._replace(
            cpu_seconds=_LISTING_CPU_SECONDS,
            wall_seconds=_LISTING_WALL_SECONDS,
            output_bytes=4 * 2**20,
        )
        call = Call(self.name, export, limits)
        pending = self._module.submit(
            export, text, call, config=self._config, context=self._context()
        )
        try:
            answer = decode_object(pending.utf8(), plugin=self.name, tool=export)
        except PluginReport as report:
            reason = self._as_error(report, call).message
        except (PluginError, SourceError) as error:
            reason = error.message
        else:
            items = answer.get(member, [])
            if isinstance(items, list):
                return items
            reason = f"{member} is not an array"
        raise LoadError(f"{self.name}: {export} failed: {reason}", plugin=self.name) from None


def _request_params(name: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns a request's parameters; absent arguments stay absent, as in hyper-mcp."""
    params: dict[str, Any] = {"name": name}
    if arguments is not None:
        params["arguments"] = dict(arguments)
    return params


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
