"""Records in the audit log the approvals that a server uses: at its start, and changes by reloads.

`carrel plugin lock` records its approvals itself. A lock that came otherwise, such as by version
control, is recorded here, when a server begins to use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.files.local_paths import without_paths

if TYPE_CHECKING:
    from carrel.plugins.state import PluginState
    from carrel.tools import Toolbox

    from .audit import AuditLog


def record_start(audit: AuditLog, toolbox: Toolbox) -> None:
    """Writes a line for each approved plugin that a server starts with; blocks."""
    for state in toolbox.known_plugins():
        if state.locked:
            audit.write("approval_used", plugin=state.name, **_facts(state))


def record_changes(audit: AuditLog, old: Toolbox, new: Toolbox) -> None:
    """Writes a line for each plugin whose approval or grant differs; blocks."""
    before = {state.name: state for state in old.known_plugins()}
    after = {state.name: state for state in new.known_plugins()}
    for name in sorted(before.keys() | after.keys()):
        event = _event(before.get(name), after.get(name))
        if event is not None:
            kind, facts = event
            audit.write(kind, plugin=name, **facts)


def _event(old: PluginState | None, new: PluginState | None) -> tuple[str, dict[str, Any]] | None:
    """Returns the event and its facts; None if nothing of interest changed."""
    facts = {} if new is None else _facts(new)
    was_locked, is_locked = old is not None and old.locked, new is not None and new.locked
    if is_locked and not (was_locked and old is not None and _facts(old) == facts):
        return "approval_used", facts
    if was_locked and (new is None or new.locked is None):
        return "approval_removed", facts
    if old is not None and new is not None and old.granted != new.granted:
        return "grant_changed", {"hosts_before": list(old.granted), "hosts": list(new.granted)}
    if (old is None or not old.enabled) and new is not None and new.enabled:
        return "plugin_enabled", facts
    if old is not None and old.enabled and (new is None or not new.enabled):
        return "plugin_disabled", {}
    return None


def _facts(state: PluginState) -> dict[str, Any]:
    return {
        "url": without_paths(state.url),
        "digest": None if state.digest is None else f"sha256:{state.digest}",
        "signer": state.signer,
        "hosts": list(state.granted),
    }
