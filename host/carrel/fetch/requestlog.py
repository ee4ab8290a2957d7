"""Logs one line per request and redirect hop, for operators.

Logger `carrel.fetch`, level INFO, in `key=value` form, with the same facts in the record's `fetch`
attribute for handlers that write JSON. A path is logged without its query: search terms are
private, and queries may contain secrets.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from carrel.exchange import FailureKind, Outcome, Response

from .url import Target

log = logging.getLogger("carrel.fetch")

_PLAIN = re.compile(r"[\x21\x23-\x3c\x3e-\x7e]{1,200}")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def write_line(
    *,
    plugin: str,
    tool: str,
    method: str,
    target: Target | None,
    seconds: float,
    cache: str = "miss",
    hop: int = 0,
    **facts: Any,
) -> None:
    """Writes the line if the level is enabled.

    Args:
        plugin: the one that made the request.
        tool: the tool or format that runs.
        method: upper case.
        target: None for a URL that could not be parsed; nothing of it is logged.
        seconds: how long it took.
        cache: `hit`, `miss`, `shared` for a request that joined another, or `none` for one refused.
        hop: redirects before this one.
        facts: `status`, `bytes`, `tries`, `denied` or `failed`, as known.
    """
    if not log.isEnabledFor(logging.INFO):
        return
    line: dict[str, Any] = {
        "plugin": plugin,
        "tool": tool,
        "method": method,
        "host": target.host if target else "-",
        "path": target.path if target else "-",
        **facts,
        "ms": round(seconds * 1000, 1),
        "cache": cache,
    }
    if hop:
        line["hop"] = hop
    text = " ".join(f"{key}={_plain(value)}" for key, value in line.items())
    log.info("%s", text, extra={"fetch": line})


def facts_of(outcome: Outcome) -> dict[str, Any]:
    """Returns the facts of an outcome for a line."""
    if isinstance(outcome, Response):
        return {"status": outcome.status, "bytes": outcome.size}
    if outcome.kind is FailureKind.DENIED:
        return {"denied": outcome.reason}
    facts: dict[str, Any] = {"failed": outcome.kind.value}
    if outcome.kind is FailureKind.UNREACHABLE and outcome.number:
        facts["status"] = outcome.number
    return facts


def _plain(value: Any) -> str:
    text = str(value)
    if _PLAIN.fullmatch(text):
        return text
    text = _UNPRINTABLE.sub("?", text)[:200].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
