"""Implements hyper-mcp's host functions for modules.

Supported: progress, log lines, list-changed notifications, and keyring entries that the operator
granted. Refused, with hyper-mcp's own error: elicitation, sampling, access tokens, roots. Refusals
are logged, because modules rarely report them.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from carrel.text.printable import printable

from .wrap import USER_FUNCTIONS

if TYPE_CHECKING:
    from carrel.runtime.instance import Execution

    from .context import ModuleContext

_log = logging.getLogger("carrel.plugin")

_MAX_MESSAGES = 1000
_MAX_ARGUMENT = 64 * 1024
_MCP_LEVELS = {
    "debug": "debug",
    "info": "info",
    "notice": "info",
    "warning": "warn",
    "error": "error",
    "critical": "error",
    "alert": "error",
    "emergency": "error",
}
_CHANGED = {
    "notify_tool_list_changed": "tools",
    "notify_prompt_list_changed": "prompts",
    "notify_resource_list_changed": "resources",
}
_NOT_OFFERED = "this host does not let plugins ask the client"
_REFUSALS: dict[str, Any] = {
    "create_elicitation": {"action": "decline", "content": {"error": _NOT_OFFERED}},
    "create_message": {
        "role": "assistant",
        "content": {"type": "text", "text": _NOT_OFFERED},
        "model": "none",
        "stopReason": "error",
    },
    "get_access_token": None,
    "list_roots": {"roots": []},
}


def answer(execution: Execution, which: int, argument: str) -> str:
    """Runs one of hyper-mcp's host functions and returns its answer; empty for a notification."""
    name = USER_FUNCTIONS[which]
    if not execution.count_message(_MAX_MESSAGES):
        return json.dumps(_REFUSALS[name]) if name in _REFUSALS else ""
    if name in _REFUSALS:
        if name != "list_roots":
            _log.warning("%s: %s is not offered; it was refused", execution.call.plugin, name)
        return json.dumps(_REFUSALS[name])
    context: ModuleContext = execution.context  # type: ignore[assignment]
    if name in _CHANGED:
        context.changed(_CHANGED[name])
        return ""
    params = _decoded(argument)
    if name == "get_keyring_secret":
        return _secret(execution, context, params)
    if name == "notify_progress":
        _progress(execution, params)
    elif name == "notify_resource_updated":
        if isinstance(params.get("uri"), str):
            context.updated(params["uri"])
    elif name == "notify_logging_message":
        level = _MCP_LEVELS.get(str(params.get("level")), "info")
        data = params.get("data")
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        execution.log(level, text[:4096])
    else:
        _log.debug("%s: %s, which has no subscribers here", execution.call.plugin, name)
    return ""


def _decoded(argument: str) -> dict[str, Any]:
    from pydantic_core import from_json

    try:
        value = from_json(argument, allow_inf_nan=False) if len(argument) <= _MAX_ARGUMENT else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _secret(execution: Execution, context: ModuleContext, params: dict[str, Any]) -> str:
    service, user = params.get("service"), params.get("user")
    if not isinstance(service, str) or not isinstance(user, str):
        return ""
    value = context.secret(service, user)
    if value is None:
        _log.warning(
            "%s: the keyring entry %s of %s is not granted, or not there; to grant it: "
            "plugins.%s.runtime_config.allowed_secrets",
            execution.call.plugin,
            printable(user, 100),
            printable(service, 100),
            execution.call.plugin,
        )
    return value or ""


def _progress(execution: Execution, params: dict[str, Any]) -> None:
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    if isinstance(done, int | float):
        execution.call.progress(
            float(done),
            float(total) if isinstance(total, int | float) else None,
            message[:200] if isinstance(message, str) else "",
        )
