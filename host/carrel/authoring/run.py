"""Runs a case on a plugin: makes a host's calls and validates the results as a host does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from carrel.errors import ArgumentError, ContractViolation, SourceError
from carrel.fetch.decode import decode_text
from carrel.lookup.answer import read_answers
from carrel.lookup.sources import LOOKUP
from carrel.plugins.calls.result import Result
from carrel.plugins.roles import read_full_text, read_links, read_search
from carrel.records import Id
from carrel.text.json_text import decode_object
from carrel.tools import accepted_arguments, listed_tool
from carrel.tools.resources import RESOURCE

from .reserved import reserved_faults, reserved_tools

if TYPE_CHECKING:
    from carrel.exchange import ProgressHandler
    from carrel.plugins.plugin import Plugin

    from .cases import Case

#: Members of an error that the plugin decides; the others follow from the code.
_OF_ERRORS = ("code", "message", "position", "retry_after_seconds")


def run_case(case: Case, plugin: Plugin) -> dict[str, Any]:
    """Returns the result of a case, or `{"error": …}` for an error that the plugin reported.

    Raises:
        CarrelError: any other failure of the call.
    """
    try:
        if case.tool is not None:
            return call_plugin(plugin, case.tool, case.arguments).data
        assert case.document is not None, "a case has a tool or a document"
        assert case.format is not None, "a document has a format"
        data = case.document.read_bytes()
        if plugin.takes_bytes(case.format):
            text = plugin.parse_bytes(case.format, data, case.options)
        else:
            text = plugin.parse(case.format, decode_text(data, case.content_type))
        return plugin.checked_document(case.format, text)
    except SourceError as error:
        return {"error": error_members(error, case.expected)}


def call_plugin(
    plugin: Plugin,
    tool: str,
    arguments: Mapping[str, Any],
    on_progress: ProgressHandler | None = None,
) -> Result:
    """Returns the checked result of a tool, or of a name that the host calls by itself.

    Args:
        plugin: ready to be called.
        tool: a name of its manifest, or a reserved one that the manifest offers.
        arguments: to be validated.
        on_progress: called with done, total or None, and a message.

    Raises:
        ArgumentError: a host would never send these arguments.
        CarrelError: the call failed.
    """
    if tool in reserved_tools(plugin.manifest):
        faults = reserved_faults(tool, arguments, plugin.manifest)
        checked = dict(arguments)
    else:
        spec = plugin.manifest.tool(tool)
        assert spec is not None, "only known tools are called"
        listed = listed_tool(plugin.manifest.client_name(tool), spec, plugin.name)
        checked = accepted_arguments(plugin, listed, arguments) or {}
        faults = plugin.argument_faults(tool, checked)
    if faults:
        raise ArgumentError(faults, plugin=plugin.name, tool=tool)
    call = plugin.new_call(tool, on_progress)
    if tool == RESOURCE:
        secrets = sorted(arguments.get("secrets", ()))
        return plugin.start_reading(arguments["uri"], secrets, call).result()
    if tool == LOOKUP:
        text = plugin.start_reserved(tool, checked, call).result()
        return _answers(plugin, checked["ids"], text)
    if tool.startswith("role:"):
        text = plugin.start_reserved(tool, checked, call).result()
        return _role_answer(plugin, tool, checked, text)
    return plugin.start_call(tool, checked, call).result()


def _role_answer(plugin: Plugin, tool: str, checked: Mapping[str, Any], text: bytes) -> Result:
    """Returns what a role's tool returned, if a host would refuse no record in it."""
    role = tool.removeprefix("role:")
    if role == "open_copies":
        return _answers(plugin, checked["ids"], text)
    refused: tuple[str, ...] = ()
    if role == "full_text":
        read_full_text(text, plugin.name)
    elif role == "search":
        refused = read_search(text, plugin.name).refused
    else:
        refused = read_links(text, plugin.name, role).refused
    if refused:
        raise ContractViolation("; ".join(refused[:5]), plugin=plugin.name, tool=tool)
    return Result(text, decode_object(text, plugin=plugin.name, tool=tool, strict=True))


def error_members(error: SourceError, expected: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the members of an error for `expected.json`: the usual ones, and those that it has
    already.
    """
    reported = error.to_dict()
    named = (expected or {}).get("error")
    keys = (*_OF_ERRORS, *(named if isinstance(named, dict) else ()))
    return {key: reported[key] for key in dict.fromkeys(keys) if key in reported}


def _answers(plugin: Plugin, ids: list[dict[str, Any]], text: bytes) -> Result:
    """Returns what a lookup returned, if a host would find no fault with any answer in it.

    An operator's host is lenient: a fault in one answer fails only that identifier.
    """
    requested = [Id(identifier["type"], identifier["id"]) for identifier in ids]
    value = decode_object(text, plugin=plugin.name, tool=LOOKUP, strict=True)
    faults = [
        f"{identifier.type} {identifier.id}: {answer.problem.message}"
        for identifier, answer in read_answers(text.decode(), requested, plugin.name).items()
        if answer.problem is not None and answer.problem.code == ContractViolation.code
    ]
    if faults:
        raise ContractViolation("; ".join(faults[:5]), plugin=plugin.name, tool=LOOKUP)
    return Result(text, value)
