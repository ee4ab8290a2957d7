"""Collects the data of the page for people, as JSON: plugins, calls, upstreams, denials.

A principal sees its own calls and denials. The local user, and a principal that may operate the
server, see those of all, how many sessions there are, and why a reload failed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from carrel.files.local_paths import without_paths, without_paths_inside
from carrel.principal import LOCAL, OPERATE, Principal
from carrel.text.printable import printable
from carrel.version import __version__

from .gauges import state_of
from .live_calls import LiveCall, RecentDenial

if TYPE_CHECKING:
    from carrel.plugins.state import PluginState
    from carrel.telemetry import UpstreamState

    from .operations import Operations


def status(operations: Operations, principal: Principal) -> dict[str, Any]:
    """Returns what a principal may see of the server now; blocks."""
    gauges = operations.gauges
    ready = gauges.readiness()
    seen = None if sees_all(principal) else principal
    now = time.monotonic()
    return {
        "server": {
            "version": __version__,
            "state": "ready" if ready.is_ready else "unavailable",
            "reasons": list(ready.reasons),
            # The text of an error quotes the configuration, which has the scopes of all.
            "reload": without_paths_inside(gauges.last_reload() if seen is None else ready.reload),
            "principal": printable(principal.name, 200),
            "sees_all": seen is None,
            "sessions": gauges.sessions() if seen is None else None,
        },
        "plugins": [
            _plugin(plugin) for plugin in gauges.plugins() if _may_use(principal, plugin.name)
        ],
        "calls": [_call(call, now) for call in operations.live.calls(seen)],
        "upstreams": [
            _upstream(upstream)
            for upstream in gauges.upstreams()
            if _may_use(principal, upstream.plugin)
        ],
        "denials": [_denial(denial) for denial in operations.live.denials(seen)],
    }


def sees_all(principal: Principal) -> bool:
    """Returns whether a principal sees the calls and denials of others."""
    return principal is LOCAL or OPERATE in principal.scopes


def _may_use(principal: Principal, plugin: str) -> bool:
    granted = getattr(principal, "plugins", None)
    return sees_all(principal) or granted is None or plugin in granted


def _plugin(state: PluginState) -> dict[str, Any]:
    manifest = state.manifest
    summary: dict[str, Any] = {
        "name": printable(state.name, 100),
        "state": state_of(state),
        "version": None if manifest is None else printable(manifest.version, 100),
        "hosts": [printable(host, 253) for host in state.granted],
        "digest": None if state.digest is None else f"sha256:{state.digest}",
        "signer": state.signer if state.signer is None else printable(state.signer, 500),
        "source": printable(without_paths(state.url), 500),
        "locked": state.locked,
    }
    if state.error is not None:
        error = without_paths(state.error.message, state.error.paths)
        summary["error"] = {"code": state.error.error_code, "message": printable(error, 1000)}
    return summary


def _call(call: LiveCall, now: float) -> dict[str, Any]:
    return {
        "tool": printable(call.tool, 128),
        "plugin": printable(call.plugin, 100),
        "principal": printable(call.principal, 200),
        "session": None if call.facts is None else call.facts.session,
        "seconds": round(max(0.0, now - call.since), 1),
    }


def _upstream(state: UpstreamState) -> dict[str, Any]:
    return {
        "plugin": printable(state.plugin, 100),
        "upstream": printable(state.upstream, 253),
        "interval_seconds": round(state.interval, 4),
        "concurrency": state.concurrency,
        "in_flight": state.in_flight,
        "waiting": state.waiting,
        "paused_seconds": round(state.paused, 1),
        "breaker": "open" if state.open_for > 0 else "closed",
        "breaker_seconds": round(state.open_for, 1),
        "failures": state.failures,
    }


def _denial(denial: RecentDenial) -> dict[str, Any]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(denial.at)),
        "principal": printable(denial.principal, 200),
        "plugin": printable(denial.plugin, 100),
        "tool": printable(denial.tool, 128),
        "host": printable(denial.host, 253),
        "reason": printable(denial.reason, 100),
        "grant": printable(denial.grant, 1000),
        "count": denial.count,
    }
