"""A plugin's report of a failed call, checked and translated into an error for clients."""

from __future__ import annotations

from typing import Any

from carrel.errors import CODES, ContractViolation, SourceError
from carrel.exchange import Call
from carrel.runtime.component import PluginReport
from carrel.text.json_text import decode_object
from carrel.text.printable import printable

#: The codes of `contract/v1/errors.json` that plugins may use.
PLUGIN_CODES = frozenset(
    {
        "invalid_arguments",
        "not_found",
        "invalid_document",
        "upstream_error",
        "upstream_invalid",
        "upstream_unavailable",
        "rate_limited",
        "timeout",
        "too_large",
        "denied",
    }
)
#: Characters of a report; a valid one is a few lines.
MAX_REPORT = 2**16
_MAX_MESSAGE = 2000
_ACTIONS = frozenset(action for _, action in CODES.values())


def source_error(report: PluginReport, call: Call, *, strict: bool) -> SourceError:
    """Translates a plugin's report of a failed call into an error for clients.

    Args:
        report: as the plugin wrote it.
        call: the failed call.
        strict: whether the text is checked for what `decode_own_object` does not check.

    Raises:
        ContractViolation: the report is not what `contract/v1/errors.json` describes.
    """
    if len(report.text) > MAX_REPORT:
        raise ContractViolation(
            f"{call.plugin}: {call.tool} reported an error of more than {MAX_REPORT} characters",
            plugin=call.plugin,
            tool=call.tool,
        )
    raw = decode_object(report.text, plugin=call.plugin, tool=call.tool, strict=strict)
    code, message = raw.get("code"), raw.get("message")
    if code not in PLUGIN_CODES or not isinstance(message, str) or not message:
        raise ContractViolation(
            f"{call.plugin}: {call.tool} reported an error without a known code and a message",
            plugin=call.plugin,
            tool=call.tool,
        )
    extra: dict[str, Any] = {}
    seconds = raw.get("retry_after_seconds")
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
        extra["retry_after_seconds"] = seconds
    position = raw.get("position")
    if isinstance(position, dict):
        extra["position"] = {
            key: value if isinstance(value, int) else printable(str(value), 300)
            for key, value in position.items()
            if key in ("offset", "path")
        }
    if code == "denied" and call.denial is not None:
        extra["denial_context"] = {
            "reason": call.denial.reason,
            "url": printable(call.denial.url, 300),
            "grant": call.denial.grant,
        }
    if call.attempts:
        extra["attempts"] = call.attempts[-20:]
    retryable = raw.get("retryable")
    action = raw.get("action")
    return SourceError(
        code,
        printable(message, _MAX_MESSAGE),
        plugin=call.plugin,
        tool=call.tool,
        retryable=retryable if isinstance(retryable, bool) else None,
        action=action if action in _ACTIONS else None,
        extra=extra,
    )
